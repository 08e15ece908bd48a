//! Many games: who plays whom, on which threads, and what is kept of it.

use std::collections::HashSet;
use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use rand::Rng;
use rayon::ThreadPool;
use surakarta_game::{Color, RuleSet, Variant};
use surakarta_search::{Limits, Player, stream};

use crate::error::ArenaError;
use crate::game::{ArenaGame, GameKey, Seat, play_game};
use crate::journal::{Header, Journal};
use crate::opening::OpeningSet;
use crate::progress::Progress;

/// Keeps the streams of players apart from all others of the same seed.
const STREAM: u64 = u64::from_be_bytes(*b"matches.");

/// Makes a player, given its place in the list of names. Each thread makes its own, once, and again
/// after a crash.
pub type Factory<'a> =
    dyn Fn(usize) -> Result<Box<dyn Player>, Box<dyn Error + Send + Sync>> + Sync + 'a;

/// Follows a tournament: takes a game that has just finished, and how far it all is.
pub type Watcher<'a> = dyn Fn(Option<&ArenaGame>, &Progress) + Sync + 'a;

/// What is to be played. Each pairing plays one pair of games from each opening, the second game
/// with colours swapped.
///
/// Every random number of a game is drawn from a stream keyed by the seed, the pairing, the pair and
/// the colour: the games do not depend on threads, on interruptions or on each other, unless a
/// player is limited by time.
#[derive(Clone, Debug)]
pub struct Tournament {
    players: Vec<String>,
    pairings: Vec<[usize; 2]>,
    rules: RuleSet,
    seed: u64,
    openings: OpeningSet,
}

/// What surrounds a tournament and has no influence on its games.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    /// The threads that play, a game each at a time.
    pub pool: &'a ThreadPool,
    /// Where finished games are kept, and where an interrupted tournament goes on.
    pub journal: Option<&'a Path>,
    /// Once true, the games in progress are finished and no other begins.
    pub stop: Option<&'a AtomicBool>,
    /// Called once with no game, then for each finished game, one at a time, in the order in which
    /// they finish.
    pub on_progress: Option<&'a Watcher<'a>>,
}

impl<'a> Session<'a> {
    /// Plays without a journal and in silence.
    pub fn new(pool: &'a ThreadPool) -> Session<'a> {
        Session { pool, journal: None, stop: None, on_progress: None }
    }
}

/// The games of a tournament, in its own order whatever the order in which they finished.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedGames {
    /// Finished games, those of the journal included.
    pub games: Vec<ArenaGame>,
    /// Whether these are all.
    pub complete: bool,
}

impl Tournament {
    /// Every player against every other, `pairs` colour-swapped pairs each, from openings of
    /// `opening_plies` random plies of a variant. Of two players, this is a match.
    ///
    /// # Errors
    /// If there are fewer than two players, two of the same name, or too few distinct openings.
    pub fn round_robin(
        players: &[String],
        pairs: usize,
        opening_plies: u32,
        variant: Variant,
        rules: RuleSet,
        seed: u64,
    ) -> Result<Tournament, ArenaError> {
        let openings = OpeningSet::random(variant, rules, seed, opening_plies, pairs)?;
        let n = players.len();
        let pairings = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b])).collect();
        Tournament::new(players, pairings, openings, rules, seed)
    }

    /// The given pairings of players, each by its place in the list, with a pair of games from each
    /// opening.
    ///
    /// # Errors
    /// If there are fewer than two players, two of the same name, a pairing of one player with
    /// itself or beyond the list, or an opening with an illegal move or of another variant than the
    /// set.
    pub fn new(
        players: &[String],
        pairings: Vec<[usize; 2]>,
        openings: OpeningSet,
        rules: RuleSet,
        seed: u64,
    ) -> Result<Tournament, ArenaError> {
        if players.len() < 2 {
            let said = "a tournament needs two players or more; name them".to_owned();
            return Err(ArenaError::Players(said));
        }
        let mut seen = HashSet::new();
        if let Some(name) = players.iter().find(|name| !seen.insert(name.as_str())) {
            let said = format!("player `{name}` is named twice; name each player once");
            return Err(ArenaError::Players(said));
        }
        if let Some([a, b]) = pairings.iter().find(|[a, b]| a == b || players.len() <= *a.max(b)) {
            let said = format!("players {a} and {b} cannot be paired; pair two of those named");
            return Err(ArenaError::Players(said));
        }
        for (n, opening) in openings.openings.iter().enumerate() {
            let (found, wanted) = (opening.start.variant(), openings.variant);
            if found != wanted {
                return Err(ArenaError::OtherVariant(n, found, wanted));
            }
            opening.game(rules).map_err(|error| ArenaError::Opening(n, error))?;
        }
        Ok(Tournament { players: players.to_vec(), pairings, rules, seed, openings })
    }

    /// The names of the players.
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// Every game in the order in which they begin: pair by pair over all pairings, so that all
    /// players have about as many games at any time.
    pub fn schedule(&self) -> impl Iterator<Item = GameKey> + '_ {
        let pairs = 0..self.openings.openings.len() as u32;
        let pairings = 0..self.pairings.len() as u32;
        pairs.flat_map(move |pair| {
            pairings.clone().flat_map(move |pairing| {
                [false, true].map(|swapped| GameKey { pair, pairing, swapped })
            })
        })
    }

    /// Plays what the journal does not hold yet.
    ///
    /// # Errors
    /// If a player cannot be made, or the journal cannot be read or written or belongs to another
    /// tournament; games that were finished before stay in the journal.
    pub fn play(
        &self,
        factory: &Factory<'_>,
        session: &Session<'_>,
    ) -> Result<PlayedGames, ArenaError> {
        let (journal, games) = self.resume(session.journal)?;
        let done: HashSet<GameKey> = games.iter().map(|game| game.key).collect();
        let open: Vec<GameKey> = self.schedule().filter(|key| !done.contains(key)).collect();
        let progress = |done| Progress {
            done,
            total: open.len() + games.len(),
            resumed: games.len(),
            elapsed: std::time::Duration::ZERO,
        };
        let began = Instant::now();
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let ledger = Mutex::new(Ledger { journal, games: games.clone(), error: None });
        if let Some(show) = session.on_progress {
            show(None, &progress(games.len()));
        }
        session.pool.broadcast(|_| {
            let stopped = || {
                let asked = session.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
                asked || failed.load(Ordering::Relaxed)
            };
            let mut players = Vec::from_iter(self.players.iter().map(|_| None));
            while !stopped()
                && let Some(&key) = open.get(next.fetch_add(1, Ordering::Relaxed))
            {
                let game = self.game(key, &mut players, factory);
                let mut ledger = ledger.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                match game.and_then(|game| ledger.add(game)) {
                    Err(error) => {
                        ledger.error.get_or_insert(error);
                        failed.store(true, Ordering::Relaxed);
                    }
                    Ok(()) => {
                        if let Some(show) = session.on_progress {
                            let elapsed = began.elapsed();
                            let done = ledger.games.len();
                            show(ledger.games.last(), &Progress { elapsed, ..progress(done) });
                        }
                    }
                }
            }
        });
        let ledger = ledger.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(error) = ledger.error {
            return Err(error);
        }
        let mut finished = ledger.games;
        finished.sort_by_key(|game| game.key);
        let complete = finished.len() == open.len() + games.len();
        Ok(PlayedGames { games: finished, complete })
    }

    /// Opens the journal and takes its games, each once.
    fn resume(&self, path: Option<&Path>) -> Result<(Option<Journal>, Vec<ArenaGame>), ArenaError> {
        let Some(path) = path else { return Ok((None, Vec::new())) };
        let header = Header {
            journal: "surakarta-arena",
            version: 1,
            players: &self.players,
            pairings: &self.pairings,
            pairs: self.openings.openings.len(),
            variant: self.openings.variant.to_string(),
            rules: self.rules.to_string(),
            seed: self.seed,
            openings: &self.openings.source,
        };
        let (journal, mut games) = Journal::open(path, &header)?;
        for (n, game) in games.iter().enumerate() {
            self.check(game).map_err(|reason| ArenaError::Journal {
                path: path.to_owned(),
                line: n + 2,
                reason,
            })?;
        }
        let mut seen = HashSet::new();
        games.retain(|game| seen.insert(game.key));
        Ok((Some(journal), games))
    }

    /// Whether a game of the journal is one of this tournament's.
    fn check(&self, game: &ArenaGame) -> Result<(), String> {
        let GameKey { pair, pairing, swapped } = game.key;
        let opening = self.openings.openings.get(pair as usize);
        let (Some(opening), Some(players)) = (opening, self.pairings.get(pairing as usize)) else {
            return Err("the tournament has no such game".to_owned());
        };
        let [black, white] = by_color(*players, swapped).map(|player| &self.players[player]);
        if (black, white) != (&game.black, &game.white) {
            return Err(format!("the tournament has {black} against {white} there"));
        }
        if *opening != game.opening {
            return Err("the tournament has another opening there".to_owned());
        }
        game.record(0).replay(self.rules).map(drop).map_err(|error| error.to_string())
    }

    fn game(
        &self,
        key: GameKey,
        players: &mut [Option<Box<dyn Player>>],
        factory: &Factory<'_>,
    ) -> Result<ArenaGame, ArenaError> {
        let sides = by_color(self.pairings[key.pairing as usize], key.swapped);
        for side in sides {
            if players[side].is_none() {
                let made = factory(side).map_err(|source| ArenaError::Factory {
                    name: self.players[side].clone(),
                    source,
                })?;
                players[side] = Some(made);
            }
        }
        let opening = &self.openings.openings[key.pair as usize];
        let start = opening.game(self.rules);
        let start = start.map_err(|error| ArenaError::Opening(key.pair as usize, error))?;
        let Ok([Some(black), Some(white)]) = players.get_disjoint_mut(sides) else {
            unreachable!("two different players have just been made");
        };
        let seat = |player, color: Color| Seat {
            name: &self.players[sides[color as usize]],
            player,
            seed: self.player_seed(key, color),
            limits: Limits::default(),
        };
        let seats = [seat(black.as_mut(), Color::Black), seat(white.as_mut(), Color::White)];
        let game = play_game(key, opening, start, seats);
        if game.fault.is_some() {
            // Whatever state it is in, the next game begins with a new one.
            for side in sides {
                players[side] = None;
            }
        }
        Ok(game)
    }

    fn player_seed(&self, key: GameKey, color: Color) -> u64 {
        let game = u64::from(key.pairing) << 32 | u64::from(key.pair);
        let side = u64::from(key.swapped) << 1 | color as u64;
        stream(self.seed, [STREAM, game, side]).next_u64()
    }
}

/// The players with Black and White.
fn by_color([first, second]: [usize; 2], swapped: bool) -> [usize; 2] {
    if swapped { [second, first] } else { [first, second] }
}

/// What the threads share of finished games.
struct Ledger {
    journal: Option<Journal>,
    games: Vec<ArenaGame>,
    error: Option<ArenaError>,
}

impl Ledger {
    fn add(&mut self, game: ArenaGame) -> Result<(), ArenaError> {
        if let Some(journal) = &mut self.journal {
            journal.append(&game)?;
        }
        self.games.push(game);
        Ok(())
    }
}
