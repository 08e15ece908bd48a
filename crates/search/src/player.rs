//! What the arena and a person at the terminal see of a search.

use std::time::Duration;

use surakarta_game::{Color, Ending, Game, Move};

/// How much a player may think about one move. Several limits hold together: the first one reached
/// ends the search. A player without any limit that applies to it uses its own default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Visits of the root of a tree, inherited ones included.
    pub simulations: Option<u32>,
    /// Moves made by alpha-beta, quiescence included, or states added to the tree of Descent.
    pub nodes: Option<u64>,
    /// Plies of iterative deepening.
    pub depth: Option<u32>,
    /// Wall time. A search limited so is not reproducible.
    pub time: Option<Duration>,
    /// The clocks of the whole game, of which a player gives each move a share.
    pub clock: Option<Clock>,
}

impl Limits {
    /// The same with the clock turned into a time for this move: a limit that searches know.
    #[must_use]
    pub fn for_move_of(self, color: Color) -> Limits {
        let share = self.clock.map(|clock| clock.share(color));
        let time = [self.time, share].into_iter().flatten().min();
        Limits { time, clock: None, ..self }
    }
}

/// What both players have left of their time for the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The time left to Black and to White, by [`Color`].
    pub remaining: [Duration; 2],
    /// What Black and White get back after each of their moves.
    pub increment: [Duration; 2],
}

impl Clock {
    /// What a player does well to spend on the next move: a twentieth of the time left and most of the
    /// increment, and never more than half of what is left. Games of reasonable players take about
    /// thirty moves of each.
    pub fn share(&self, color: Color) -> Duration {
        let left = self.remaining[color as usize];
        (left / 20 + self.increment[color as usize] * 3 / 4).min(left / 2)
    }
}

/// A chosen move and what the search found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The move to play.
    pub mv: Move,
    /// Expected result in [−1, 1], seen by the side to move; `None` from a player that has none.
    pub value: Option<f32>,
    /// The line that the search expects, the chosen move first; empty if it keeps none.
    pub line: Vec<Move>,
    /// What the choice cost.
    pub work: Work,
}

/// What a search has done for one choice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Descents from the root.
    pub simulations: u64,
    /// Moves made by alpha-beta, or states added to the tree of Descent.
    pub nodes: u64,
    /// Positions that a network evaluated.
    pub evaluations: u64,
    /// Plies searched completely, or the longest line of a tree.
    pub depth: u32,
}

/// A player could not choose.
#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    /// The game is over or the side to move has no legal move.
    #[error("there is no move to choose: the game is over")]
    GameOver,
    /// The network behind the player failed.
    #[error(transparent)]
    Evaluator(#[from] surakarta_net::EvaluatorError),
    /// The program behind the player has lost the game by what it did.
    #[error("{reason}")]
    Engine {
        /// `crash`, `time` or `illegal-move`.
        ending: Ending,
        /// What it did.
        reason: String,
    },
}

impl PlayerError {
    /// How the game ends of which this is the end.
    pub const fn ending(&self) -> Ending {
        match self {
            PlayerError::Engine { ending, .. } => *ending,
            PlayerError::GameOver | PlayerError::Evaluator(_) => Ending::Crash,
        }
    }
}

/// Anything that chooses moves. One player plays one game at a time.
pub trait Player: Send {
    /// Forgets the last game, and draws every random number of the next one from this seed.
    fn new_game(&mut self, seed: u64);

    /// Chooses a move in a game that is not over. The same moves since `new_game`, the same seed and
    /// limits without time give the same choice.
    ///
    /// # Errors
    /// If the game is over, the network fails, or the program behind the player does.
    fn choose(&mut self, game: &Game, limits: &Limits) -> Result<Choice, PlayerError>;

    /// Takes notice that the game is over, as it stands at its end.
    fn end_game(&mut self, _game: &Game) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_shared_out_and_never_used_up() {
        let increment = Duration::from_millis(100);
        let mut left = Duration::from_secs(10);
        for _ in 0..500 {
            let clock =
                Clock { remaining: [Duration::ZERO, left], increment: [Duration::ZERO, increment] };
            let share = clock.share(Color::White);
            assert!(share < left && share > increment / 2, "{share:?} of {left:?}");
            left = left - share + increment;
            assert_eq!(clock.share(Color::Black), Duration::ZERO);
        }
        // Where the increment is spent, the rest stays about the same.
        assert!(left > increment && left < 10 * increment, "{left:?}");
    }

    #[test]
    fn the_shorter_of_clock_and_time_holds() {
        let [ten, second] = [Duration::from_millis(10), Duration::from_secs(1)];
        let clock = Clock { remaining: [second, 100 * second], increment: [Duration::ZERO; 2] };
        let limits = Limits { time: Some(2 * second), clock: Some(clock), ..Limits::default() };
        let of = |color| limits.for_move_of(color).time;
        assert_eq!([of(Color::Black), of(Color::White)], [Some(5 * ten), Some(2 * second)]);
        assert_eq!(limits.for_move_of(Color::Black).clock, None);
        assert_eq!(Limits::default().for_move_of(Color::Black), Limits::default());
    }
}
