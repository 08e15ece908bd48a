//! Playing a tournament: on which threads, and what is kept of it.

use std::collections::{BTreeSet, HashSet};
use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use rayon::ThreadPool;
use surakarta_game::Color;
use surakarta_search::Player;
use surakarta_tablebase::Tables;

use crate::error::ArenaError;
use crate::events::{Event, Events};
use crate::game::{ArenaGame, ArenaPly, GameKey, Seat, Thought, play_measured};
use crate::journal::{Contents, Journal, SessionLine};
use crate::progress::Progress;
use crate::stopping::{Decision, Judge};
use crate::tournament::Tournament;

/// Makes a player, given its place in the list of names. Each thread makes its own, once a round, and
/// again after a crash.
pub type Factory<'a> =
    dyn Fn(usize) -> Result<Box<dyn Player>, Box<dyn Error + Send + Sync>> + Sync + 'a;

/// Follows a tournament: takes games that are new to it, and how far it all is.
pub type Watcher<'a> = dyn Fn(&[ArenaGame], &Progress) + Sync + 'a;

/// What surrounds a tournament and has no influence on its games.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    /// The threads that play, a game each at a time.
    pub pool: &'a ThreadPool,
    /// Where finished games are kept, and where an interrupted tournament goes on.
    pub journal: Option<&'a Path>,
    /// Once true, the games in progress are finished and no other begins.
    pub stop: Option<&'a AtomicBool>,
    /// Called once with the games of the journal, then with each finished game, one at a time, in the
    /// order in which they finish.
    pub on_progress: Option<&'a Watcher<'a>>,
    /// Where every event is written as it happens.
    pub events: Option<&'a Events>,
    /// What each player is, beyond its name: the hash of a network, an engine's own name and version.
    /// The journal keeps it, so that a change between two sessions is seen.
    pub identities: &'a [String],
    /// The endgame tables that [`Adjudication::tables`](crate::Adjudication) names.
    pub tables: Option<&'a Tables>,
}

impl<'a> Session<'a> {
    /// Plays without a journal and in silence.
    pub fn new(pool: &'a ThreadPool) -> Session<'a> {
        Session {
            pool,
            journal: None,
            stop: None,
            on_progress: None,
            events: None,
            identities: &[],
            tables: None,
        }
    }
}

/// The games of a tournament, in its own order whatever the order in which they finished.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedGames {
    /// Finished games, those of the journal included, and without those after a decision.
    pub games: Vec<ArenaGame>,
    /// Whether these are all.
    pub complete: bool,
    /// Why it is over before its last scheduled game, if it is.
    pub decision: Option<Decision>,
    /// What each player was beside its name, in this session and those of the journal: more than one
    /// means that it changed. Empty for players of whom nothing is known.
    pub identities: Vec<BTreeSet<String>>,
    /// What share of a processor players had on average while they thought in this session; `None`
    /// where the system does not tell, or nothing was played. For players that think in other
    /// processes, or wait, it means nothing.
    pub processor: Option<f64>,
}

impl Tournament {
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
        let (journal, Contents { games: mut read, sessions }) = match session.journal {
            Some(path) => {
                let (journal, contents) = Journal::open(path, &self.header())?;
                (Some(journal), contents)
            }
            None => (None, Contents::default()),
        };
        let damaged = |line: usize, reason: String| {
            let path = session.journal.unwrap_or(Path::new("")).to_owned();
            ArenaError::Journal { path, line, reason }
        };
        let unknown = |line| damaged(line, "the tournament has no such game".to_owned());
        let mut table = Table::new(self, factory, session, journal, sessions, read.len());
        let mut drawn: Vec<[usize; 2]> = Vec::new();
        while let Some(round) = self.next_round(&drawn, &table.ledger().games) {
            let keys = self.schedule(drawn.len(), round.len());
            for &[a, b] in
                round.iter().filter(|&&[a, b]| drawn.contains(&[a, b]) || drawn.contains(&[b, a]))
            {
                let (a, b) = (&self.players[a], &self.players[b]);
                tracing::warn!("`{a}` and `{b}` meet again: no round is left without such a pair");
            }
            drawn.extend(round);
            let now = read.extract_if(.., |(_, game)| (game.key.pairing as usize) < drawn.len());
            for (line, game) in now {
                self.check(&drawn, &game).map_err(|reason| damaged(line, reason))?;
                table.keep(game);
            }
            let open = table.open(&keys);
            if let (Some(&(line, _)), false) = (read.first(), open.is_empty()) {
                return Err(unknown(line));
            }
            if !open.is_empty() && !table.over() {
                table.begin()?;
                table.play(&drawn, &open)?;
            }
            if !table.open(&keys).is_empty() {
                break;
            }
        }
        if let Some(&(line, _)) = read.first() {
            return Err(unknown(line));
        }
        table.finish()
    }

    /// Whether a game of the journal is one of this tournament's.
    fn check(&self, drawn: &[[usize; 2]], game: &ArenaGame) -> Result<(), String> {
        let pairing = drawn.get(game.key.pairing as usize);
        let place = pairing.and_then(|&p| Some((p, self.opening(p, game.key)?)));
        let Some((pairing, opening)) = place else {
            return Err("the tournament has no such game".to_owned());
        };
        let [black, white] = self.sides(pairing, game.key).map(|player| &self.players[player]);
        if (black, white) != (&game.black, &game.white) {
            return Err(format!("the tournament has {black} against {white} there"));
        }
        if *opening != game.opening {
            return Err("the tournament has another opening there".to_owned());
        }
        game.record(0).replay(self.rules).map(drop).map_err(|error| error.to_string())
    }
}

/// A tournament that is being played.
struct Table<'a> {
    tournament: &'a Tournament,
    factory: &'a Factory<'a>,
    session: &'a Session<'a>,
    began: Instant,
    resumed: usize,
    begun: bool,
    /// Who played in the journal's sessions, and in this one once it has begun.
    sessions: Vec<SessionLine>,
    ledger: Mutex<Ledger>,
    /// Set by an error or a decision: no other game begins.
    over: AtomicBool,
}

/// What the threads share of finished games.
struct Ledger {
    journal: Option<Journal>,
    done: HashSet<GameKey>,
    games: Vec<ArenaGame>,
    judge: Judge,
    error: Option<ArenaError>,
    thought: Thought,
}

impl<'a> Table<'a> {
    fn new(
        tournament: &'a Tournament,
        factory: &'a Factory<'a>,
        session: &'a Session<'a>,
        journal: Option<Journal>,
        sessions: Vec<SessionLine>,
        resumed: usize,
    ) -> Table<'a> {
        let ledger = Ledger {
            journal,
            done: HashSet::new(),
            games: Vec::new(),
            judge: Judge::new(tournament.conduct.until),
            error: None,
            thought: Thought::default(),
        };
        Table {
            tournament,
            factory,
            session,
            began: Instant::now(),
            resumed,
            begun: false,
            sessions,
            ledger: Mutex::new(ledger),
            over: AtomicBool::new(false),
        }
    }

    fn ledger(&mut self) -> &mut Ledger {
        self.ledger.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Takes a game that was finished before; of one that stands there twice, the first.
    fn keep(&mut self, game: ArenaGame) {
        let ledger = self.ledger();
        if ledger.done.insert(game.key) {
            let decided = ledger.judge.add(&game).is_some();
            ledger.games.push(game);
            self.over.fetch_or(decided, Ordering::Relaxed);
        }
    }

    /// Which of these are not finished.
    fn open(&mut self, keys: &[GameKey]) -> Vec<GameKey> {
        let done = &self.ledger().done;
        keys.iter().copied().filter(|key| !done.contains(key)).collect()
    }

    fn over(&self) -> bool {
        let asked = self.session.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        asked || self.over.load(Ordering::Relaxed)
    }

    /// Before the first game of this session: says who plays, in the journal too if that is new.
    fn begin(&mut self) -> Result<(), ArenaError> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let Session { identities, events, on_progress, .. } = *self.session;
        let now = SessionLine {
            session: env!("CARGO_PKG_VERSION").to_owned(),
            identities: identities.to_vec(),
        };
        if !identities.is_empty() && self.sessions.last() != Some(&now) {
            if let Some(journal) = &mut self.ledger().journal {
                journal.append(&now)?;
            }
            self.sessions.push(now);
        }
        let progress = self.progress(self.resumed);
        if let Some(events) = events {
            let (players, games) = (&self.tournament.players, progress.total);
            events.send(&Event::Begin { players, games, resumed: self.resumed })?;
        }
        if let Some(show) = on_progress {
            show(&self.ledger().games, &progress);
        }
        Ok(())
    }

    fn progress(&self, done: usize) -> Progress {
        Progress {
            done,
            total: self.tournament.games(),
            resumed: self.resumed,
            elapsed: self.began.elapsed(),
        }
    }

    /// Plays games of the pairings drawn so far, on all threads of the pool.
    fn play(&mut self, drawn: &[[usize; 2]], open: &[GameKey]) -> Result<(), ArenaError> {
        let next = AtomicUsize::new(0);
        let table = &*self;
        table.session.pool.broadcast(|_| {
            let mut players = Vec::from_iter(table.tournament.players.iter().map(|_| None));
            while !table.over()
                && let Some(&key) = open.get(next.fetch_add(1, Ordering::Relaxed))
            {
                let game = table.game(key, drawn[key.pairing as usize], &mut players);
                let mut ledger =
                    table.ledger.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if let Err(error) = game.and_then(|game| table.add(&mut ledger, game)) {
                    ledger.error.get_or_insert(error);
                    table.over.store(true, Ordering::Relaxed);
                }
            }
        });
        self.ledger().error.take().map_or(Ok(()), Err)
    }

    fn add(
        &self,
        ledger: &mut Ledger,
        (game, thought): (ArenaGame, Thought),
    ) -> Result<(), ArenaError> {
        // After an error nothing is written: what follows would hide what is missing.
        if ledger.error.is_some() {
            return Ok(());
        }
        if let Some(journal) = &mut ledger.journal {
            journal.append(&game)?;
        }
        let progress = self.progress(ledger.games.len() + 1);
        if ledger.judge.add(&game).is_some() {
            self.over.store(true, Ordering::Relaxed);
        }
        if let Some(events) = self.session.events {
            events.send(&Event::result(&game, &progress))?;
        }
        if let Some(show) = self.session.on_progress {
            show(std::slice::from_ref(&game), &progress);
        }
        ledger.thought.processor += thought.processor;
        ledger.thought.wall += thought.wall;
        ledger.done.insert(game.key);
        ledger.games.push(game);
        Ok(())
    }

    fn game(
        &self,
        key: GameKey,
        pairing: [usize; 2],
        players: &mut [Option<Box<dyn Player>>],
    ) -> Result<(ArenaGame, Thought), ArenaError> {
        let tournament = self.tournament;
        let sides = tournament.sides(pairing, key);
        for side in sides {
            if players[side].is_none() {
                let made = (self.factory)(side).map_err(|source| ArenaError::Factory {
                    name: tournament.players[side].clone(),
                    source,
                })?;
                players[side] = Some(made);
            }
        }
        let Some(opening) = tournament.opening(pairing, key) else {
            unreachable!("the schedule has as many pairs as there are openings");
        };
        let start = opening.game(tournament.rules);
        let start = start.map_err(|error| ArenaError::Opening(key.pair as usize, error))?;
        let Ok([Some(black), Some(white)]) = players.get_disjoint_mut(sides) else {
            unreachable!("two different players have just been made");
        };
        let seat = |player, color: Color| Seat {
            name: &tournament.players[sides[color as usize]],
            player,
            seed: tournament.player_seed(key, color),
            allowance: tournament.allowance(sides[color as usize]),
        };
        let seats = [seat(black.as_mut(), Color::Black), seat(white.as_mut(), Color::White)];
        let mut failed = Ok(());
        let mut tell = |event: Event<'_>| {
            if let (Some(events), Ok(())) = (self.session.events, &failed) {
                failed = events.send(&event);
            }
        };
        let [black, white] = [seats[0].name, seats[1].name];
        tell(Event::Game { game: key, black, white, opening });
        let mut ply = 0;
        let mut watch = |made: &ArenaPly| {
            tell(Event::Ply { game: key, ply, made });
            ply += 1;
        };
        let judge = (&tournament.conduct.adjudication, self.session.tables);
        let played = play_measured(key, opening, start, seats, judge, &mut watch);
        if played.0.fault.is_some() {
            // Whatever state it is in, the next game begins with a new one.
            for side in sides {
                players[side] = None;
            }
        }
        failed.map(|()| played)
    }

    fn finish(mut self) -> Result<PlayedGames, ArenaError> {
        let total = self.tournament.games();
        let mut identities = vec![BTreeSet::new(); self.tournament.players.len()];
        for line in &self.sessions {
            for (all, identity) in identities.iter_mut().zip(&line.identities) {
                all.insert(identity.clone());
            }
        }
        let (events, ledger) = (self.session.events, self.ledger());
        if let Some(journal) = &ledger.journal {
            journal.sync()?;
        }
        let Thought { processor, wall } = ledger.thought;
        let processor = (processor > 0.0).then(|| processor / wall);
        let mut games = std::mem::take(&mut ledger.games);
        games.sort_by_key(|game| game.key);
        let decision = ledger.judge.decision().cloned();
        if let Some(decision) = &decision {
            games.truncate(decision.games);
        }
        let complete = decision.is_some() || games.len() == total;
        if let Some(events) = events {
            let verdict = decision.as_ref().map(|decision| decision.verdict.as_str());
            events.send(&Event::Finish { complete, verdict })?;
        }
        Ok(PlayedGames { games, complete, decision, identities, processor })
    }
}
