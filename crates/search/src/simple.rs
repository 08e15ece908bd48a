//! Players that do not search: a random one, and one that sees a single ply.

use rand::RngExt;
use surakarta_game::{Game, Move};

use crate::player::{Choice, Limits, Player, PlayerError, Work};
use crate::random::{Stream, stream};

/// The stream for the move at this point of the game, whatever was asked before: a hint asked for
/// in between changes nothing.
pub(crate) fn stream_at(seed: u64, game: &Game) -> Stream {
    stream(seed, [game.moves().len() as u64, 0, 0])
}

/// What a random player can be told: nothing yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RandomConfig {}

/// Plays every legal move with the same probability. It ignores limits.
#[derive(Clone, Debug)]
pub struct RandomPlayer {
    seed: u64,
}

impl RandomPlayer {
    /// A player whose games draw on seed 0 until [`Player::new_game`] says otherwise.
    pub fn new(_config: RandomConfig) -> RandomPlayer {
        RandomPlayer { seed: 0 }
    }
}

impl Player for RandomPlayer {
    fn new_game(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn choose(&mut self, game: &Game, _limits: &Limits) -> Result<Choice, PlayerError> {
        let moves = game.legal_moves();
        let mv = pick(&moves, &mut stream_at(self.seed, game))?;
        Ok(Choice { mv, value: None, line: Vec::new(), work: Work::default() })
    }
}

/// What a greedy player can be told: nothing yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GreedyConfig {}

/// Plays the move that leaves it best off one ply deep, at random among equals. A move that ends the
/// game counts by its outcome: a win is better, a loss worse than any count of pieces. Any other
/// counts by pieces, own less enemy, so that it captures whenever that neither ends the game badly
/// nor misses a win. It does not see the reply, and ignores limits.
#[derive(Clone, Debug)]
pub struct GreedyPlayer {
    seed: u64,
}

impl GreedyPlayer {
    /// A player whose games draw on seed 0 until [`Player::new_game`] says otherwise.
    pub fn new(_config: GreedyConfig) -> GreedyPlayer {
        GreedyPlayer { seed: 0 }
    }
}

impl Player for GreedyPlayer {
    fn new_game(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn choose(&mut self, game: &Game, _limits: &Limits) -> Result<Choice, PlayerError> {
        let mut after = game.clone();
        let mut best = Vec::new();
        let mut best_worth = (i8::MIN, i32::MIN);
        for mv in game.legal_moves() {
            after.play_legal(mv);
            let worth = worth(&after);
            after.undo();
            if worth > best_worth {
                best_worth = worth;
                best.clear();
            }
            if worth == best_worth {
                best.push(mv);
            }
        }
        let mv = pick(&best, &mut stream_at(self.seed, game))?;
        Ok(Choice { mv, value: None, line: Vec::new(), work: Work::default() })
    }
}

/// How well off the side that has just moved is: by outcome, then by pieces.
fn worth(game: &Game) -> (i8, i32) {
    let me = game.side_to_move().other();
    let outcome = game.result().map_or(0, |result| result.outcome.value_for(me));
    let position = game.position();
    (outcome, position.count(me) as i32 - position.count(me.other()) as i32)
}

fn pick(moves: &[Move], random: &mut Stream) -> Result<Move, PlayerError> {
    if moves.is_empty() {
        return Err(PlayerError::GameOver);
    }
    Ok(moves[random.random_range(0..moves.len())])
}
