//! A lane: one of the random games that are played at a time.

use crate::game::Game;
use crate::layout::Board;
use crate::machine::{Machine, Task};
use crate::moves::Move;
use crate::pairs::Steps;
use crate::placement::{Nearest, Placement};
use crate::playout::{Playout, below};
use crate::position::Position;
use crate::rules::{Ending, GameResult, Outcome, Repetition};

/// Positions that a lane remembers, a power of two.
pub(super) const MEMORY: usize = 128;

/// Hashes of positions, a power of two.
const HASHES: usize = 512;

/// What the lanes of a batch start from.
pub(super) struct Start<'a, B> {
    game: &'a Game,
    placement: Placement<B>,
    /// The positions since the last capture, the present one left out.
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
    pub(super) fn new(game: &'a Game, max_plies: u32) -> Start<'a, B> {
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
            ply_cap: rules
                .ply_cap
                .map_or(u32::MAX, |cap| u32::from(cap).saturating_sub(position.ply())),
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
pub(super) struct Drawn {
    steps: Steps,
    step_count: u32,
    runs: u32,
    pick: u32,
}

/// One of the games of a batch. Plies are counted by a clock that goes on from game to game.
pub(super) struct Lane<B> {
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
    pub(super) fn new(start: &Start<B>) -> Lane<B> {
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

    pub(super) fn restart(&mut self, start: &Start<B>) {
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
    pub(super) fn draw<M: Machine>(&self, m: M, random: &mut impl FnMut() -> u64) -> Drawn {
        let steps = Steps::of::<B, M>(m, self.placement.own.points, self.placement.empty());
        let step_count = steps.count();
        let runs = Nearest::of(m, &self.placement).count_runs(m);
        Drawn { steps, step_count, runs, pick: below(random(), step_count + runs) }
    }

    /// Plays the drawn move, unless the game is over: false, then. A draw that must be repeated leaves
    /// all as it is.
    #[inline(always)]
    pub(super) fn advance<M: Machine>(&mut self, m: M, drawn: &Drawn, start: &Start<B>) -> bool {
        let seen = self.remember(self.placement.own.points);
        let again = start.times != u32::MAX && seen >= self.since && seen < self.clock;
        if again && self.occurrences() >= start.times {
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
    pub(super) fn playout(&self, start: &Start<B>) -> Playout {
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
