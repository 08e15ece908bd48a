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
use crate::moves::Move;
use crate::pairs::Steps;
use crate::placement::{Nearest, Placement};
use crate::position::Position;
use crate::rules::{Ending, GameResult, Outcome, Repetition};

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
/// uniform numbers of 64 bits, one or, rarely, more for a ply; the chances of two moves differ by less
/// than 2⁻⁵⁶.
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

/// Positions that a lane remembers, a power of two.
const MEMORY: usize = 128;

/// Hashes of positions, a power of two.
const HASHES: usize = 512;

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

/// What the lanes of a batch start from.
struct Start<'a, B> {
    game: &'a Game,
    placement: Placement<B>,
    /// Own pieces in the positions since the last capture, the present one left out.
    history: &'a [Position],
    quiet: u32,
    /// Plies without a capture that end a game.
    no_capture: u32,
    /// Plies from here to the cap of the rules, and to where a game is broken off.
    ply_cap: u32,
    max_plies: u32,
    /// Occurrences that end a game.
    times: u32,
}

impl<'a, B: Board> Start<'a, B> {
    fn new(game: &'a Game, max_plies: u32) -> Start<'a, B> {
        let position = game.position();
        let (rules, quiet) = (game.rules(), position.quiet_plies());
        let positions = game.positions();
        let (before, _) = positions.split_at(positions.len() - 1);
        Start {
            game,
            placement: Placement::new(position.own(), position.enemy()),
            history: &before[before.len().saturating_sub(quiet as usize)..],
            quiet,
            no_capture: rules.no_capture.map_or(u32::MAX, u32::from),
            ply_cap: rules.ply_cap.map_or(u32::MAX, |cap| u32::from(cap) - position.ply()),
            max_plies,
            times: match rules.repetition {
                Repetition::Ends(times) => times.into(),
                Repetition::Allowed | Repetition::Illegal => u32::MAX,
            },
        }
    }
}

/// A move drawn in a lane: the `pick`-th of its steps and runs.
#[derive(Clone, Copy, Default)]
struct Drawn {
    steps: Steps,
    step_count: u32,
    runs: u32,
    pick: u32,
}

/// One of the games of a batch. Plies are counted by a clock that goes on from game to game.
struct Lane<B> {
    placement: Placement<B>,
    clock: u32,
    /// When the present game began.
    began: u32,
    /// When the oldest position stood that the present one could repeat.
    since: u32,
    /// When the rules next have a look at the game beyond its repetitions.
    deadline: u32,
    /// By a hash of a position: when one with this hash last stood. What is older than `since` is
    /// forgotten.
    seen: [u32; HASHES],
    /// By the clock: the pieces of the side that was to move. Between captures, those of the other side
    /// are the own ones of the next ply.
    own: [u64; MEMORY],
    ending: Option<Ending>,
}

impl<B: Board> Lane<B> {
    fn new(start: &Start<B>) -> Lane<B> {
        let mut lane = Lane {
            placement: start.placement,
            clock: 0,
            began: 0,
            since: 0,
            deadline: 0,
            seen: [0; HASHES],
            own: [0; MEMORY],
            ending: None,
        };
        lane.restart(start);
        lane
    }

    fn restart(&mut self, start: &Start<B>) {
        // Before the clock could run over, all that it dates is forgotten.
        if self.clock >= 1 << 31 {
            (self.clock, self.seen) = (0, [0; HASHES]);
        }
        // The clock has a ply that is older than any of this game.
        self.clock += 1;
        self.since = self.clock;
        if start.times != u32::MAX {
            for position in start.history {
                self.remember(position.own());
                self.clock += 1;
            }
        }
        self.began = self.clock;
        self.placement = start.placement;
        self.ending = None;
        self.deadline = self.deadline(start, start.quiet);
    }

    /// When something must end the game at the latest, `quiet` plies after a capture.
    fn deadline(&self, start: &Start<B>, quiet: u32) -> u32 {
        let end = self.began.saturating_add(start.ply_cap.min(start.max_plies));
        end.min(self.clock.saturating_add(start.no_capture.saturating_sub(quiet)))
    }

    /// Notes that these pieces are to move; gives when pieces with the same hash last were.
    #[inline(always)]
    fn remember(&mut self, own: u64) -> u32 {
        self.own[self.clock as usize % MEMORY] = own;
        let hash = own.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - HASHES.ilog2());
        std::mem::replace(&mut self.seen[hash as usize], self.clock)
    }

    /// How often the present position has occurred, this time included.
    #[cold]
    fn occurrences(&self) -> u32 {
        let (own, enemy) = (self.placement.own.points, self.placement.enemy.points);
        let at = |clock: u32| self.own[clock as usize % MEMORY];
        // It takes each side two moves to come back.
        let mut occurrences = 1;
        let mut back = 4;
        while back <= self.clock - self.since {
            let earlier = self.clock - back;
            occurrences += (at(earlier) == own && at(earlier + 1) == enemy) as u32;
            back += 2;
        }
        occurrences
    }

    /// Draws a move.
    #[inline(always)]
    fn draw<M: Machine>(&self, m: M, random: &mut impl FnMut() -> u64) -> Drawn {
        let steps = Steps::of::<B, M>(m, self.placement.own.points, self.placement.empty());
        let step_count = steps.count();
        let runs = Nearest::of(m, &self.placement).count_runs(m);
        Drawn { steps, step_count, runs, pick: below(random(), step_count + runs) }
    }

    /// Plays the drawn move, unless the game is over: false, then. A draw that must be repeated leaves
    /// all as it is.
    #[inline(always)]
    fn advance<M: Machine>(&mut self, m: M, drawn: &Drawn, start: &Start<B>) -> bool {
        let seen = self.remember(self.placement.own.points);
        if seen >= self.since && seen < self.clock && self.occurrences() >= start.times {
            return self.end(Ending::Repetition);
        }
        if self.clock >= self.deadline {
            return self.end_by_deadline(drawn, start);
        }
        if drawn.pick < drawn.step_count {
            let pair = drawn.steps.nth::<B, M>(m, drawn.pick);
            self.placement = self.placement.after_step(pair.points, pair.stops);
            self.clock += 1;
            return true;
        }
        if drawn.runs == 0 {
            return self.end(Ending::NoMoves);
        }
        let Some(mv) = self.drawn_capture(m, drawn.pick - drawn.step_count) else {
            return true;
        };
        self.placement = self.placement.after(mv);
        self.clock += 1;
        self.since = self.clock;
        self.deadline = self.deadline(start, 0);
        self.placement.own.points != 0 || self.end(Ending::CapturedAll)
    }

    fn drawn_capture<M: Machine>(&self, m: M, n: u32) -> Option<Move> {
        m.run(NthRun { placement: self.placement, n })
    }

    #[cold]
    fn end_by_deadline(&mut self, drawn: &Drawn, start: &Start<B>) -> bool {
        let plies = self.clock - self.began;
        let quiet = match self.since > self.began {
            true => self.clock - self.since,
            false => start.quiet + plies,
        };
        if quiet >= start.no_capture {
            self.end(Ending::NoProgress)
        } else if drawn.step_count + drawn.runs == 0 {
            self.end(Ending::NoMoves)
        } else if plies >= start.ply_cap {
            self.end(Ending::PlyCap)
        } else {
            false
        }
    }

    /// Ends the game; gives false, as all that ends a game does.
    fn end(&mut self, ending: Ending) -> bool {
        self.ending = Some(ending);
        false
    }

    /// How the game went, now that it is over.
    fn playout(&self, start: &Start<B>) -> Playout {
        let plies = self.clock - self.began;
        let quiet = match self.since > self.began {
            true => self.clock - self.since,
            false => start.quiet + plies,
        };
        let (own, enemy) = (self.placement.own.points, self.placement.enemy.points);
        let position = start.game.position().later(plies, own, enemy, quiet);
        let outcome = Outcome::by_count(&position);
        let result = self.ending.map(|ending| GameResult { ending, outcome });
        Playout { result, position, plies }
    }
}

struct NthRun<B> {
    placement: Placement<B>,
    n: u32,
}

impl<B: Board> Task for NthRun<B> {
    type Output = Option<Move>;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> Option<Move> {
        Nearest::of(m, &self.placement).read::<B, M>(m).nth(m, self.n)
    }
}
