//! What a game leaves behind.

use surakarta_game::{Game, GameResult, Move, Position, RuleSet};

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
    /// At random, to open the game: not to be learned from.
    Opening = 0,
    /// By a short search, whose policy is not to be learned.
    Fast = 1,
    /// By a full search.
    Full = 2,
}

/// A policy over legal moves; moves that it leaves out have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Policy {
    /// Not kept.
    #[default]
    None,
    /// Visits of each move: exact, as PUCT left them.
    Visits(Vec<(Move, u32)>),
    /// Probabilities in 1/255, as Gumbel's completed values give them.
    Improved(Vec<(Move, u8)>),
}

impl GameRecord {
    /// The record of a finished game: its plies in order, one for each move.
    ///
    /// # Panics
    /// If the game is not over or the plies are not its moves: a bug in the caller.
    pub fn of(game: &Game, number: u64, plies: Vec<PlyRecord>) -> GameRecord {
        assert!(plies.iter().map(|ply| ply.mv).eq(game.moves().iter().copied()));
        let result = game.result().expect("a finished game");
        GameRecord { number, start: *game.start(), plies, result }
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
