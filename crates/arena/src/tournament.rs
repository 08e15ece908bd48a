//! A tournament: who plays whom, from where, and under which conditions. How it is played: `session`.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use rand::Rng;
use surakarta_game::{Color, Position, RuleSet, Variant};
use surakarta_search::stream;

use crate::adjudication::Adjudication;
use crate::allowance::Allowance;
use crate::error::ArenaError;
use crate::format::{Format, Scored, swiss_round};
use crate::game::{ArenaGame, GameKey};
use crate::journal::{Header, JOURNAL};
use crate::number::quantity;
use crate::opening::{Opening, OpeningSet};
use crate::stopping::Until;

/// Keeps the streams of players apart from all others of the same seed.
const STREAM: u64 = u64::from_be_bytes(*b"matches.");

/// Who moves first in the games of two players.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colors {
    /// `alternating`: the players change colours in the second game from each opening.
    #[default]
    Alternating,
    /// `first`: the player who stands first in the list has Black throughout.
    First,
    /// `coin`: a seeded coin decides for each game.
    Coin,
}

impl fmt::Display for Colors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Colors::Alternating => "alternating",
            Colors::First => "first",
            Colors::Coin => "coin",
        })
    }
}

impl FromStr for Colors {
    type Err = String;

    fn from_str(text: &str) -> Result<Colors, String> {
        let all = [Colors::Alternating, Colors::First, Colors::Coin];
        all.into_iter().find(|colors| colors.to_string() == text).ok_or_else(|| {
            format!("`{text}` does not say who moves first; write alternating, first or coin")
        })
    }
}

/// Under which conditions the games of a tournament are played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conduct {
    /// Who moves first.
    pub colors: Colors,
    /// What each player is granted, in the order of the players; nothing beside its own limits where
    /// the list is shorter.
    pub allowances: Vec<Allowance>,
    /// When a game is taken as decided; off by default.
    pub adjudication: Adjudication,
    /// Which players cannot be set up in an opening: their games begin with the start position.
    pub from_start: Vec<bool>,
    /// When the tournament is over.
    pub until: Until,
}

/// What is to be played. Each pairing plays one pair of games from each opening, the second game
/// with colours swapped.
///
/// Every random number of a game is drawn from a stream keyed by the seed, the pairing, the pair and
/// the colour: the games do not depend on threads, on interruptions or on each other, unless a
/// player is limited by time.
#[derive(Clone, Debug)]
pub struct Tournament {
    pub(crate) players: Vec<String>,
    plan: Plan,
    pub(crate) rules: RuleSet,
    seed: u64,
    pub(crate) openings: OpeningSet,
    start: Opening,
    pub(crate) conduct: Conduct,
}

#[derive(Clone, Debug)]
enum Plan {
    /// All pairings are known.
    Fixed(Vec<[usize; 2]>),
    /// So many rounds, drawn as results come in, of so many pairs of games each.
    Swiss { rounds: usize, pairs: usize },
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
        Tournament::of(Format::RoundRobin, players, openings, rules, seed)
    }

    /// The players paired in a given format, each pairing with a pair of games from each opening; a
    /// Swiss tournament shares the openings out among its rounds.
    ///
    /// # Errors
    /// As [`Tournament::new`], or if there are too few players for the format.
    pub fn of(
        format: Format,
        players: &[String],
        openings: OpeningSet,
        rules: RuleSet,
        seed: u64,
    ) -> Result<Tournament, ArenaError> {
        format.check(players.len())?;
        let pairs = openings.openings.len();
        let pairings = format.pairings(players.len());
        let mut tournament = Tournament::new(players, pairings, openings, rules, seed)?;
        if let Format::Swiss(rounds) = format {
            if !pairs.is_multiple_of(rounds) {
                return Err(ArenaError::Players(format!(
                    "{} cannot be shared out among {}",
                    quantity(pairs, "opening"),
                    quantity(rounds, "round")
                )));
            }
            tournament.plan = Plan::Swiss { rounds, pairs: pairs / rounds };
        }
        Ok(tournament)
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
        let start = Opening { start: Position::start(openings.variant), moves: Vec::new() };
        Ok(Tournament {
            players: players.to_vec(),
            plan: Plan::Fixed(pairings),
            rules,
            seed,
            openings,
            start,
            conduct: Conduct::default(),
        })
    }

    /// The same under other conditions.
    ///
    /// # Errors
    /// If it is to be over before its last game and is not a match of two players, or a sequential test
    /// and players do not change colours.
    pub fn conducted(self, conduct: Conduct) -> Result<Tournament, ArenaError> {
        if matches!(conduct.until, Until::Sprt(_)) && conduct.colors != Colors::Alternating {
            return Err(ArenaError::Players(
                "a sequential test counts pairs with colours swapped; leave colors alternating"
                    .to_owned(),
            ));
        }
        let two = matches!(&self.plan, Plan::Fixed(pairings) if pairings.len() == 1);
        if conduct.until != Until::Schedule && !two {
            return Err(ArenaError::Players(
                "only a match of two players can be a race or a test; name two players".to_owned(),
            ));
        }
        Ok(Tournament { conduct, ..self })
    }

    /// The names of the players.
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// Whether the arena sets limits of time: its games cannot be reproduced.
    pub fn is_timed(&self) -> bool {
        self.conduct.allowances.iter().any(Allowance::is_timed)
    }

    /// How many games it has, if no decision comes before the last.
    pub fn games(&self) -> usize {
        match &self.plan {
            Plan::Fixed(pairings) => 2 * pairings.len() * self.openings.openings.len(),
            Plan::Swiss { rounds, pairs } => 2 * rounds * pairs * (self.players.len() / 2),
        }
    }

    /// The pairings of the next round, given those of the rounds before and all of their games; none
    /// after the last. All but Swiss tournaments have one round.
    pub(crate) fn next_round(
        &self,
        drawn: &[[usize; 2]],
        games: &[ArenaGame],
    ) -> Option<Vec<[usize; 2]>> {
        match &self.plan {
            Plan::Fixed(pairings) => drawn.is_empty().then(|| pairings.clone()),
            Plan::Swiss { rounds, pairs } => {
                let a_round = self.players.len() / 2;
                let played = drawn.len() / a_round;
                (played < *rounds)
                    .then(|| swiss_round(&self.scores(drawn, games, played, *pairs as f64), drawn))
            }
        }
    }

    /// What each player has made of the rounds of a Swiss tournament; a bye is worth a win in every
    /// game.
    fn scores(
        &self,
        drawn: &[[usize; 2]],
        games: &[ArenaGame],
        rounds: usize,
        pairs: f64,
    ) -> Vec<Scored> {
        let mut scores = vec![Scored::default(); self.players.len()];
        for (player, scored) in scores.iter_mut().enumerate() {
            scored.byes = rounds - drawn.iter().filter(|pairing| pairing.contains(&player)).count();
            scored.points = 2.0 * pairs * scored.byes as f64;
        }
        for game in games {
            let sides = self.sides(drawn[game.key.pairing as usize], game.key);
            scores[sides[0]].points += game.score();
            scores[sides[1]].points += 1.0 - game.score();
        }
        scores
    }

    /// The games of a round, in the order in which they begin: pair by pair over all its pairings, so
    /// that all players have about as many games at any time. The first pairing has a given number.
    pub(crate) fn schedule(&self, first: usize, pairings: usize) -> Vec<GameKey> {
        let pairs = match self.plan {
            Plan::Fixed(_) => self.openings.openings.len(),
            Plan::Swiss { pairs, .. } => pairs,
        };
        let pairings = first as u32..(first + pairings) as u32;
        let keys = (0..pairs as u32).flat_map(|pair| {
            pairings.clone().flat_map(move |pairing| {
                [false, true].map(|swapped| GameKey { pair, pairing, swapped })
            })
        });
        keys.collect()
    }

    /// The players with Black and White.
    pub(crate) fn sides(&self, [first, second]: [usize; 2], key: GameKey) -> [usize; 2] {
        let swapped = match self.conduct.colors {
            Colors::Alternating => key.swapped,
            Colors::First => false,
            Colors::Coin => self.draw(key, 2) & 1 == 1,
        };
        if swapped { [second, first] } else { [first, second] }
    }

    /// Where a game between two players begins.
    pub(crate) fn opening(&self, pairing: [usize; 2], key: GameKey) -> Option<&Opening> {
        let round = match self.plan {
            Plan::Fixed(_) => 0,
            Plan::Swiss { pairs, .. } => key.pairing as usize / (self.players.len() / 2) * pairs,
        };
        let opening = self.openings.openings.get(round + key.pair as usize)?;
        let from_start =
            pairing.iter().any(|&p| self.conduct.from_start.get(p).is_some_and(|&flag| flag));
        Some(if from_start { &self.start } else { opening })
    }

    /// What a player is granted.
    pub(crate) fn allowance(&self, player: usize) -> Allowance {
        self.conduct.allowances.get(player).copied().unwrap_or_default()
    }

    /// The seed of a player in a game.
    pub(crate) fn player_seed(&self, key: GameKey, color: Color) -> u64 {
        self.draw(key, color as u64)
    }

    /// A number that belongs to a game and a purpose: 0 and 1 are the seeds of its players.
    fn draw(&self, key: GameKey, purpose: u64) -> u64 {
        let game = u64::from(key.pairing) << 32 | u64::from(key.pair);
        // The purposes of a game, and those of its swapped one, stand apart.
        let side = match purpose {
            0 | 1 => u64::from(key.swapped) << 1 | purpose,
            _ => u64::from(key.swapped) | purpose << 1,
        };
        stream(self.seed, [STREAM, game, side]).next_u64()
    }

    /// What a journal must agree on to be this tournament's.
    pub(crate) fn header(&self) -> Header<'_> {
        let Conduct { colors, allowances, adjudication, from_start, until } = &self.conduct;
        let (pairings, swiss) = match &self.plan {
            Plan::Fixed(pairings) => (pairings.as_slice(), None),
            Plan::Swiss { rounds, .. } => (&[][..], Some(*rounds)),
        };
        let granted: Vec<String> = allowances.iter().map(ToString::to_string).collect();
        let unusual = |text: String, usual: bool| Some(text).filter(|_| !usual);
        Header {
            journal: JOURNAL,
            version: 1,
            players: &self.players,
            pairings,
            swiss,
            pairs: self.openings.openings.len(),
            variant: self.openings.variant.to_string(),
            rules: self.rules.to_string(),
            seed: self.seed,
            openings: &self.openings.source,
            colors: unusual(colors.to_string(), *colors == Colors::default()),
            limits: Some(granted).filter(|granted| granted.iter().any(|text| !text.is_empty())),
            adjudication: Some(adjudication).filter(|rules| !rules.is_off()),
            from_start: Some(from_start.as_slice()).filter(|all| all.contains(&true)),
            until: unusual(until.to_string(), *until == Until::Schedule),
        }
    }
}
