//! Random games: the rest of a game with every move drawn from all legal ones, each as likely.
//!
//! A step is chosen without listing any. Captures are counted by the loops that they run over, so that
//! two runs may be one move; when a drawn run's move is that of an earlier run, the draw is repeated,
//! which leaves every distinct move equally likely. Repetition is looked up in a table of hashes, and
//! found by comparing whole positions.

use std::marker::PhantomData;

use crate::game::Game;
use crate::layout::{Board, with_board};
use crate::machine::{self, Machine, Task};
use crate::position::Position;
use crate::rules::{GameResult, Outcome, Repetition};

mod lane;

use lane::{Drawn, Lane, MEMORY, Start};

/// How a random game went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Playout {
    /// Ending and outcome, or `None` if the game was broken off.
    pub result: Option<GameResult>,
    /// The last position.
    pub position: Position,
    /// Plies that were drawn.
    pub plies: u32,
}

impl Playout {
    /// The outcome; that of counting the pieces where the game was broken off.
    pub fn outcome(&self) -> Outcome {
        self.result.map_or_else(|| Outcome::by_count(&self.position), |result| result.outcome)
    }
}

/// Games that [`play_out_many`] plays at the same time: enough to hide the latencies of one behind
/// the work of the others.
pub const LANES: usize = 4;

/// Plays a game to its end with random moves, or for `max_plies` if it lasts longer. `random` gives
/// uniform numbers of 64 bits: one or, rarely, more for a ply, and one that is not used where the game
/// ends; the chances of two moves differ by less than 2⁻⁵⁶.
///
/// ```
/// use rand::{Rng, SeedableRng};
/// use surakarta_game::{Game, OLYMPIAD, play_out};
///
/// let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let playout = play_out(&Game::new(OLYMPIAD), u32::MAX, || random.next_u64());
/// assert!(playout.result.is_some(), "random games under these rules end");
/// ```
pub fn play_out(game: &Game, max_plies: u32, random: impl FnMut() -> u64) -> Playout {
    if let Some(result) = game.result() {
        return Playout { result: Some(result), position: *game.position(), plies: 0 };
    }
    if !is_fast(game) {
        return play_out_slowly(game, max_plies, random);
    }
    let mut playout = None;
    let mut random = Some(random);
    let batch = Batch::<_, _, 1> {
        game,
        max_plies,
        games: 1,
        streams: |_| random.take().expect("one game"),
        done: |_, one| playout = Some(one),
    };
    batch.play();
    playout.expect("one game")
}

/// Plays `games` random games from the same one, several at a time: [`play_out`] with each of the
/// generators that `streams` makes for the numbers 0 to `games` − 1. Calls `done` for each as it ends,
/// with its number; what it gets is what `play_out` gives.
pub fn play_out_many<R: FnMut() -> u64>(
    game: &Game,
    max_plies: u32,
    games: u64,
    streams: impl FnMut(u64) -> R,
    done: impl FnMut(u64, Playout),
) {
    if game.result().is_none() && is_fast(game) && games >= LANES as u64 {
        return Batch::<_, _, LANES> { game, max_plies, games, streams, done }.play();
    }
    let (mut streams, mut done) = (streams, done);
    for number in 0..games {
        done(number, play_out(game, max_plies, streams(number)));
    }
}

/// Whether a [`Lane`] can play the game: it has steps and captures alone, looks at no captures but those
/// that it draws, and remembers all positions since the last capture.
fn is_fast(game: &Game) -> bool {
    let rules = game.rules();
    let remembers = match rules.repetition {
        Repetition::Allowed => true,
        Repetition::Ends(_) => rules.no_capture.is_some_and(|limit| (limit as usize) < MEMORY),
        Repetition::Illegal => false,
    };
    remembers && !rules.ends_without_captures && !game.position().variant().layout().slides
}

/// The twin of the fast way, for all rules and variants.
fn play_out_slowly(game: &Game, max_plies: u32, mut random: impl FnMut() -> u64) -> Playout {
    let mut game = game.clone();
    let mut moves = Vec::new();
    let mut plies = 0;
    while game.result().is_none() && plies < max_plies {
        game.legal_moves_into(&mut moves);
        game.play_legal(moves[below(random(), moves.len() as u32) as usize]);
        plies += 1;
    }
    Playout { result: game.result(), position: *game.position(), plies }
}

/// A number below `n` from a uniform one of 64 bits (Lemire, 2019, "Fast random integer generation in
/// an interval", without its rejection).
#[inline(always)]
fn below(random: u64, n: u32) -> u32 {
    ((random as u128 * n as u128) >> 64) as u32
}

/// Games to play, `K` at a time. There are at least `K`.
struct Batch<'a, S, D, const K: usize> {
    game: &'a Game,
    max_plies: u32,
    games: u64,
    streams: S,
    done: D,
}

impl<R, S, D, const K: usize> Batch<'_, S, D, K>
where
    R: FnMut() -> u64,
    S: FnMut(u64) -> R,
    D: FnMut(u64, Playout),
{
    fn play(self) {
        with_board!(self.game.position().variant(), B => {
            machine::run(OnBoard::<B, Self> { batch: self, board: PhantomData })
        })
    }
}

struct OnBoard<B, T> {
    batch: T,
    board: PhantomData<B>,
}

impl<B: Board, R, S, D, const K: usize> Task for OnBoard<B, Batch<'_, S, D, K>>
where
    R: FnMut() -> u64,
    S: FnMut(u64) -> R,
    D: FnMut(u64, Playout),
{
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Batch { game, max_plies, games, mut streams, mut done } = self.batch;
        let start = Start::<B>::new(game, max_plies);
        let mut lanes: [(Lane<B>, R, u64); K] =
            std::array::from_fn(|n| (Lane::new(&start), streams(n as u64), n as u64));
        let mut next = K as u64;
        let mut running = K;
        while running > 0 {
            // Each phase is short, so that the processor works on several lanes at once.
            let mut drawn = [Drawn::default(); K];
            for ((lane, random, _), drawn) in lanes[..running].iter_mut().zip(&mut drawn) {
                *drawn = lane.draw(m, random);
            }
            let mut n = 0;
            while n < running {
                let (lane, random, number) = &mut lanes[n];
                if lane.advance(m, &drawn[n], &start) {
                    n += 1;
                    continue;
                }
                done(*number, lane.playout(&start));
                if next < games {
                    (*random, *number) = (streams(next), next);
                    lane.restart(&start);
                    next += 1;
                    n += 1;
                } else {
                    running -= 1;
                    lanes.swap(n, running);
                    drawn.swap(n, running);
                }
            }
        }
    }
}
