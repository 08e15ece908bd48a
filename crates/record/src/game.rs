//! What a game leaves behind.

use surakarta_game::{Game, GameResult, Move, Position, RuleSet};
use xxhash_rust::xxh3::Xxh3;

use crate::sample::Sample;

/// A finished game: where it began, every ply, and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct GameRecord {
    /// Its number in the iteration: with the run's seed it is the key of the game's random stream.
    pub number: u64,
    /// The position that it began with.
    pub start: Position,
    /// Every ply from there.
    pub plies: Vec<PlyRecord>,
    /// Ending and outcome.
    pub result: GameResult,
}

/// One ply: the move that was played and what the search behind it found.
#[derive(Clone, Debug, PartialEq)]
pub struct PlyRecord {
    /// The move.
    pub mv: Move,
    /// How it was chosen.
    pub search: SearchKind,
    /// Visits of the root, inherited ones included; 0 without a tree.
    pub simulations: u32,
    /// Value of the root in [−1, 1], seen by the side to move; kept to 1/32767. `None` without one.
    pub value: Option<f32>,
    /// What the search makes of the moves.
    pub policy: Policy,
}

/// How a move was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SearchKind {
    /// To open the game, given or drawn without a search: not to be learned from.
    Opening = 0,
    /// By a short search, whose policy is not to be learned.
    Fast = 1,
    /// By a full search.
    Full = 2,
}

impl SearchKind {
    /// The name used in tables: `opening`, `fast` or `full`.
    pub const fn name(self) -> &'static str {
        match self {
            SearchKind::Opening => "opening",
            SearchKind::Fast => "fast",
            SearchKind::Full => "full",
        }
    }
}

/// A policy over legal moves; moves that it leaves out have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Policy {
    /// Not kept.
    #[default]
    None,
    /// Visits of each move: exact, as PUCT left them, or as many of them as are to be learned.
    Visits(Vec<(Move, u32)>),
    /// Probabilities in 1/255, as Gumbel's completed values give them.
    Improved(Vec<(Move, u8)>),
}

/// A value in [−1, 1] in units of 1/32767, as shards keep it; values beyond are brought back to the
/// nearest end.
pub fn quantise(value: f32) -> i16 {
    (value.clamp(-1.0, 1.0) * i16::MAX as f32).round() as i16
}

/// The value that [`quantise`] stands for. Quantising it again changes nothing.
pub fn dequantise(units: i16) -> f32 {
    units as f32 / i16::MAX as f32
}

impl PlyRecord {
    /// The record of a ply in the form in which it comes back from a shard: the value on its grid,
    /// the policy in the order of moves and without moves that have nothing.
    pub fn new(
        mv: Move,
        search: SearchKind,
        simulations: u32,
        value: Option<f32>,
        policy: Policy,
    ) -> PlyRecord {
        let ply = PlyRecord { mv, search, simulations, value, policy };
        ply.canonical()
    }

    /// The same ply in the form in which it comes back from a shard: see [`PlyRecord::new`].
    #[must_use]
    pub fn canonical(mut self) -> PlyRecord {
        // What is no number stays so, for the shard to refuse.
        self.value = self.value.map(|value| match value.is_nan() {
            true => value,
            false => dequantise(quantise(value)),
        });
        self.policy = self.policy.canonical();
        self
    }

    /// Whether the position before this ply is one to learn from: a full search left a policy.
    pub fn is_sample(&self) -> bool {
        self.search == SearchKind::Full && self.policy.total() > 0
    }
}

impl Policy {
    /// An improved policy from probabilities, each rounded to the nearest 1/255. Those below half a unit
    /// are left out.
    pub fn improved(policy: impl IntoIterator<Item = (Move, f32)>) -> Policy {
        let units = |p: f32| (p.clamp(0.0, 1.0) * u8::MAX as f32).round() as u8;
        let shares = policy.into_iter().map(|(mv, p)| (mv, units(p)));
        Policy::Improved(shares.filter(|&(_, n)| n > 0).collect())
    }

    /// Visits or units of 1/255 in all.
    pub fn total(&self) -> u64 {
        match self {
            Policy::None => 0,
            Policy::Visits(visits) => visits.iter().map(|&(_, n)| n as u64).sum(),
            Policy::Improved(shares) => shares.iter().map(|&(_, n)| n as u64).sum(),
        }
    }

    /// Each move's share, in the order kept here; the shares sum to 1, up to rounding. Empty if there
    /// is nothing to share.
    pub fn shares(&self) -> Vec<(Move, f32)> {
        let total = self.total();
        if total == 0 {
            return Vec::new();
        }
        let share = |n: u32| (n as f64 / total as f64) as f32;
        match self {
            Policy::None => Vec::new(),
            Policy::Visits(visits) => visits.iter().map(|&(mv, n)| (mv, share(n))).collect(),
            Policy::Improved(units) => units.iter().map(|&(mv, n)| (mv, share(n.into()))).collect(),
        }
    }

    /// The same policy in the order of moves, without moves that have nothing.
    #[must_use]
    pub fn canonical(mut self) -> Policy {
        match &mut self {
            Policy::None => {}
            Policy::Visits(visits) => {
                visits.retain(|&(_, n)| n > 0);
                visits.sort_unstable();
            }
            Policy::Improved(units) => {
                units.retain(|&(_, n)| n > 0);
                units.sort_unstable();
            }
        }
        self
    }
}

impl GameRecord {
    /// The record of a finished game: its plies in order, one for each move, brought into the form
    /// in which they come back from a shard.
    ///
    /// # Panics
    /// If the game is not over or the plies are not its moves: a bug in the caller.
    pub fn of(game: &Game, number: u64, plies: Vec<PlyRecord>) -> GameRecord {
        assert!(plies.iter().map(|ply| ply.mv).eq(game.moves().iter().copied()));
        let result = game.result().expect("a finished game");
        let plies = plies.into_iter().map(PlyRecord::canonical).collect();
        GameRecord { number, start: *game.start(), plies, result }
    }

    /// The position that the last ply led to.
    pub fn last_position(&self) -> Position {
        self.plies.iter().fold(self.start, |position, ply| position.after(ply.mv))
    }

    /// What there is to learn from the game, in its order: one sample for each ply that
    /// [is one](PlyRecord::is_sample).
    pub fn samples(&self) -> impl Iterator<Item = Sample> + '_ {
        let last = self.last_position();
        let plies = self.positions().zip(&self.plies).enumerate();
        plies
            .filter(|(_, (_, ply))| ply.is_sample())
            .map(move |(number, (position, _))| Sample::new(self, number, position, last))
    }

    /// A hash of its start and moves: games that went the same way have the same one, wherever and
    /// however they were played.
    pub fn course(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(self.start.to_string().as_bytes());
        for ply in &self.plies {
            hash.update(&[ply.mv.from().index() as u8, ply.mv.to().index() as u8]);
        }
        hash.digest()
    }

    /// The positions before each ply, then the last one.
    pub fn positions(&self) -> impl Iterator<Item = Position> + '_ {
        let moves = self.plies.iter().map(|ply| ply.mv);
        let rest = moves.scan(self.start, |position, mv| {
            *position = position.after(mv);
            Some(*position)
        });
        std::iter::once(self.start).chain(rest)
    }

    /// Plays the game again and checks every move and the ending, as far as the rules decide them.
    ///
    /// # Errors
    /// The number of the first ply that is illegal under these rules, or of the last if the rules
    /// end the game otherwise.
    pub fn replay(&self, rules: RuleSet) -> Result<Game, ReplayError> {
        let mut game = Game::from_position(rules, self.start);
        for (ply, record) in self.plies.iter().enumerate() {
            game.play(record.mv).map_err(|error| ReplayError { ply, reason: error.to_string() })?;
        }
        let ply = self.plies.len();
        match game.result() {
            Some(result) if result != self.result => {
                let reason = format!("the rules end it by {}", result.ending);
                return Err(ReplayError { ply, reason });
            }
            Some(_) => {}
            None if self.result.ending.is_by_rule() => {
                let reason = format!("the rules do not end it by {}", self.result.ending);
                return Err(ReplayError { ply, reason });
            }
            None => game.end(self.result.ending, self.result.outcome),
        }
        Ok(game)
    }
}

/// A record contradicts the rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ply {ply} contradicts the rules: {reason}")]
pub struct ReplayError {
    /// The ply, 0 the first.
    pub ply: usize,
    /// What is wrong with it.
    pub reason: String,
}
