//! Solving a class and its turned one backwards.
//!
//! Play that never captures comes to the count of pieces, so a position is worth its count unless a
//! side that the count does not content can force a capture that leads to better. The positions from
//! which it can are found by the number of plies that it takes: where it has such a capture itself, and
//! from then on backwards, where a step of its own leads to one that is known, or every move of its
//! opponent does. What is never reached is counted.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use rayon::prelude::*;
use surakarta_game::Position;

use crate::class::{Class, Code, Value};
use crate::index::Index;

/// A class with a code for each of its positions.
pub(crate) struct Solved {
    pub(crate) index: Index,
    pub(crate) codes: Vec<Code>,
}

impl Solved {
    pub(crate) fn class(&self) -> Class {
        self.index.class()
    }

    pub(crate) fn code(&self, own: u64, enemy: u64) -> Code {
        self.codes[self.index.number_of(own, enemy)]
    }
}

/// The solution of a class was not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsolved {
    /// It was told to stop.
    Stopped,
    /// A capture takes more plies to force than a code can hold.
    TooLong,
}

/// A class while it is solved.
struct Side<'a> {
    index: Index,
    codes: Vec<AtomicU8>,
    /// The class that captures lead to; nothing is left to capture without it.
    captured: Option<&'a Solved>,
}

impl Side<'_> {
    fn code(&self, own: u64, enemy: u64) -> Code {
        Code(self.codes[self.index.number_of(own, enemy)].load(Relaxed))
    }

    /// The value of each capture, seen by the side that makes it.
    fn for_each_capture(&self, position: &Position, mut visit: impl FnMut(Value)) {
        position.for_each_capture(|mv| {
            let after = position.after(mv);
            visit(self.captured.map_or(Value::Win, |class| {
                class.code(after.own(), after.enemy()).value(class.class()).opposite()
            }));
        });
    }
}

/// Told of positions that have been looked at, it says whether to go on.
pub(crate) type Watched<'a> = &'a (dyn Fn(usize) -> bool + Sync);

/// Numbers that one thread looks at in one go.
const CHUNK: usize = 1 << 14;

/// Solves a class and its [turned](Class::turned) one. `sides` are their numbers and the solved
/// classes that their captures lead to: two, of which the first is that of the smaller side, or one
/// of sides that have as many pieces. `watch` is told how many positions have been looked at forwards,
/// twice all of them in the end, and says whether to go on.
pub(crate) fn solve(
    sides: Vec<(Index, Option<&Solved>)>,
    watch: Watched,
) -> Result<Vec<Solved>, Unsolved> {
    let sides: Vec<Side> = sides
        .into_iter()
        .map(|(index, captured)| {
            let codes = (0..index.len()).map(|_| AtomicU8::new(Code::COUNTED.0)).collect();
            Side { index, codes, captured }
        })
        .collect();
    let goals = if sides.len() == 1 { &[Value::Win][..] } else { &[Value::Win, Value::Draw] };
    for &goal in goals {
        Pass { forcer: &sides[0], defender: &sides[sides.len() - 1], goal, watch }.run()?;
    }
    let solved = |side: Side| Solved {
        index: side.index,
        codes: side.codes.into_iter().map(|code| Code(code.into_inner())).collect(),
    };
    Ok(sides.into_iter().map(solved).collect())
}

/// The positions from which one side forces a value.
struct Pass<'a> {
    /// The class with the side to move that forces.
    forcer: &'a Side<'a>,
    /// That with its opponent to move: the same where both have as many pieces.
    defender: &'a Side<'a>,
    /// What is forced, seen by the side that does.
    goal: Value,
    watch: Watched<'a>,
}

impl Pass<'_> {
    fn run(&self) -> Result<(), Unsolved> {
        let mut found = self.find_captures()? + self.find_defenceless()?;
        let mut plies = 1;
        while found > 0 {
            plies += 1;
            if plies > Code::MOST_PLIES {
                return Err(Unsolved::TooLong);
            }
            // The defender first: it must not see what the other finds in this turn.
            found = self.step_back_to_defender(plies)? + self.step_back_to_forcer(plies)?;
        }
        Ok(())
    }

    fn forced(&self, plies: u8) -> Code {
        Code::forced(self.forcer.index.class(), self.goal, plies)
    }

    fn suffered(&self, plies: u8) -> Code {
        Code::forced(self.defender.index.class(), self.goal.opposite(), plies)
    }

    /// Where the side that forces captures at once.
    fn find_captures(&self) -> Result<u64, Unsolved> {
        let code = self.forced(1);
        self.sweep(self.forcer, Code::COUNTED, |number, own, enemy| {
            let position = self.forcer.index.position_of(own, enemy);
            let mut captures = false;
            self.forcer.for_each_capture(&position, |value| captures |= value >= self.goal);
            captures && mark(self.forcer, number, code)
        })
    }

    /// Where every move of the defender is a capture that gives the goal away, or gives more.
    fn find_defenceless(&self) -> Result<u64, Unsolved> {
        let code = self.suffered(1);
        self.sweep(self.defender, Code::COUNTED, |number, own, enemy| {
            self.is_lost(own, enemy, 1) && mark(self.defender, number, code)
        })
    }

    /// Where every move of the defender leads to what is known, the last of it one ply less away.
    fn step_back_to_defender(&self, plies: u8) -> Result<u64, Unsolved> {
        let code = self.suffered(plies);
        self.sweep_back(self.forcer, self.forced(plies - 1), self.defender, |number, own, enemy| {
            self.is_lost(own, enemy, plies) && mark(self.defender, number, code)
        })
    }

    /// Where a step leads to what is known, one ply less away.
    fn step_back_to_forcer(&self, plies: u8) -> Result<u64, Unsolved> {
        let code = self.forced(plies);
        self.sweep_back(self.defender, self.suffered(plies - 1), self.forcer, |number, _, _| {
            mark(self.forcer, number, code)
        })
    }

    /// Whether the defender, to move, has moves and all of them give the other side its goal, steps in
    /// fewer plies from there.
    fn is_lost(&self, own: u64, enemy: u64, plies: u8) -> bool {
        let position = self.defender.index.position_of(own, enemy);
        let class = self.forcer.index.class();
        let (mut lost, mut moves) = (true, false);
        position.for_each_quiet_move(|mv| {
            moves = true;
            if lost {
                let after = position.after(mv);
                let code = self.forcer.code(after.own(), after.enemy());
                let value = code.value(class);
                // The count is less than the goal. Of what is forced in this many plies, the defender must not
                // see what has been found in this turn.
                lost = value > self.goal || value == self.goal && code.plies() < plies;
            }
        });
        if lost {
            self.defender.for_each_capture(&position, |value| {
                moves = true;
                lost &= value.opposite() >= self.goal;
            });
        }
        lost && moves
    }

    /// Calls `visit` with the positions whose code is this one, and counts where it says yes.
    fn sweep(
        &self,
        side: &Side,
        code: Code,
        visit: impl Fn(usize, u64, u64) -> bool + Sync,
    ) -> Result<u64, Unsolved> {
        let chunks = (0..side.index.len()).into_par_iter().step_by(CHUNK);
        let sums = chunks.map(|start| {
            let range: Range<usize> = start..(start + CHUNK).min(side.index.len());
            // Sweeps backwards are told as none: nobody knows how many there will be.
            if !(self.watch)(if code == Code::COUNTED { range.len() } else { 0 }) {
                return Err(Unsolved::Stopped);
            }
            let mut sum = 0;
            let chosen = |number: usize| side.codes[number].load(Relaxed) == code.0;
            side.index.visit(range, chosen, |number, own, enemy| {
                sum += visit(number, own, enemy) as u64;
            });
            Ok(sum)
        });
        sums.try_reduce(|| 0, |a, b| Ok(a + b))
    }

    /// Calls `visit` with the positions of `before` that are not known yet and from which a step leads
    /// to those of `side` that have a code, and counts where it says yes. Steps lead back as they lead
    /// on.
    fn sweep_back(
        &self,
        side: &Side,
        code: Code,
        before: &Side,
        visit: impl Fn(usize, u64, u64) -> bool + Sync,
    ) -> Result<u64, Unsolved> {
        let found = std::sync::atomic::AtomicU64::new(0);
        self.sweep(side, code, |_, own, enemy| {
            let turned = before.index.position_of(enemy, own);
            turned.for_each_quiet_move(|mv| {
                // Black has moved back, and is to move.
                let (from, to) = (mv.from().bit(), mv.to().bit());
                let earlier = enemy & !from | to;
                let number = before.index.number_of(earlier, own);
                if before.codes[number].load(Relaxed) == Code::COUNTED.0
                    && visit(number, earlier, own)
                {
                    found.fetch_add(1, Relaxed);
                }
            });
            false
        })?;
        Ok(found.into_inner())
    }
}

/// Gives a position its code. All that do so in one turn give it the same.
fn mark(side: &Side, number: usize, code: Code) -> bool {
    side.codes[number].swap(code.0, Relaxed) == Code::COUNTED.0
}
