//! Pieces in the view of the side to move, with the stops that they stand on: what hot code works on.
//!
//! Captures need only a look at the eight loops: a run over a loop starts at the nearest piece on one
//! side of it along the circuit and ends at the nearest on the other. An own piece on a crossing point
//! may be nearest on both sides; its own stops count as empty then, and the second nearest piece is the
//! one it meets. The eight loops are eight lanes of a vector.

use std::marker::PhantomData;

use crate::board::MAX_SIZE;
use crate::layout::{Board, LINES};
use crate::machine::{LOOPS, Machine};
use crate::moves::Move;
use crate::stops::Stops;

/// The pieces of one side.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub(crate) points: u64,
    pub(crate) stops: Stops,
}

/// The pieces of both sides on a board.
#[derive(Clone, Copy)]
pub(crate) struct Placement<B> {
    pub(crate) own: Side,
    pub(crate) enemy: Side,
    board: PhantomData<B>,
}

impl<B: Board> Placement<B> {
    #[inline(always)]
    pub(crate) fn new(own: u64, enemy: u64) -> Placement<B> {
        let side =
            |points| Side { points, stops: B::LAYOUT.stop_tables.of_set(B::LAYOUT.size, points) };
        Placement { own: side(own), enemy: side(enemy), board: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn empty(&self) -> u64 {
        B::LAYOUT.board & !(self.own.points | self.enemy.points)
    }

    /// After a legal move, in the view of the other side.
    #[inline(always)]
    pub(crate) fn after(&self, mv: Move) -> Placement<B> {
        let of_point = &B::LAYOUT.stop_tables.of_point;
        let (from, to) = (of_point[mv.from().index()], of_point[mv.to().index()]);
        Placement {
            own: Side {
                points: self.enemy.points & !mv.to().bit(),
                stops: self.enemy.stops.without(to),
            },
            enemy: Side {
                points: self.own.points ^ (mv.from().bit() | mv.to().bit()),
                stops: self.own.stops.xor(from).xor(to),
            },
            board: PhantomData,
        }
    }

    /// After a step that changes these points and stops of the mover, in the view of the other side.
    #[inline(always)]
    pub(crate) fn after_step(&self, points: u64, stops: Stops) -> Placement<B> {
        let Side { points: own, stops: own_stops } = self.own;
        Placement {
            own: self.enemy,
            enemy: Side { points: own ^ points, stops: own_stops.xor(stops) },
            board: PhantomData,
        }
    }
}

/// The nearest pieces on either side of the eight loops, the inner circuit's four first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loops {
    /// By loop: the free stops between it and the nearest piece after it, along the circuit;
    /// [`BEYOND`](Loops::BEYOND) where the line that follows the loop has no piece.
    pub after: [u8; LOOPS],
    /// Likewise before it.
    pub before: [u8; LOOPS],
    /// A bit for each loop whose nearest pieces are own on both sides.
    pub own: u8,
    /// Likewise for the enemy.
    pub enemy: u8,
    /// Whether the side to move has a capture.
    pub captures: bool,
}

impl Loops {
    /// More than the free stops of a line that has a piece.
    pub const BEYOND: u8 = MAX_SIZE as u8;
}

/// The nearest pieces on either side of the eight loops.
#[derive(Clone, Copy)]
pub(crate) struct Nearest<L> {
    /// The first stop after the loop that is occupied, as a bit of a forward lane.
    first: L,
    /// The last stop before it, as a bit of a backward lane.
    last: L,
    /// The stops after `first` and before `last`.
    second: [L; 2],
    /// Loops without an own piece at `first`.
    not_own_first: L,
    /// Loops between an own piece and an enemy: one takes the other.
    plain: L,
    /// Loops with the same own piece on either side, which takes the second piece after the loop, and
    /// those where it takes the second before it.
    round: [L; 2],
}

impl<L: Copy> Nearest<L> {
    #[inline(always)]
    pub(crate) fn of<B: Board, M: Machine<Lanes = L>>(
        m: M,
        placement: &Placement<B>,
    ) -> Nearest<L> {
        let tables = &B::LAYOUT.stop_tables;
        let own = &placement.own.stops;
        let occupied = &own.or(placement.enemy.stops);
        let (forward, own_forward) = (m.forward(occupied), m.forward(own));
        let (backward, own_backward) = (m.backward(occupied), m.backward(own));
        let (first, last) = (m.lowest(forward), m.lowest(backward));
        let not_own_first = disjoint(m, first, own_forward);
        let not_own_last = disjoint(m, last, own_backward);
        let plain = m.xor(not_own_first, not_own_last);

        // The last stop's bit, were it the same crossing point as the first.
        let facing = m.or(
            m.and(first, m.lanes(&tables.facing)),
            m.swap_halves(m.and(first, m.lanes(&tables.facing_half_round))),
        );
        // Where the first piece is not own, nothing is the same. Where it is, there is a second stop
        // on either side: the piece's own other one, if no other.
        let same = m.without(m.equal(facing, last), not_own_first);
        let second = [m.lowest(m.xor(forward, first)), m.lowest(m.xor(backward, last))];
        Nearest {
            first,
            last,
            second,
            not_own_first,
            plain,
            round: [
                m.and(same, disjoint(m, second[0], own_forward)),
                m.and(same, disjoint(m, second[1], own_backward)),
            ],
        }
    }

    /// Captures by the loops that they run over, bit by bit: those over loop i with the bits i and
    /// i + 8. Two may be the same move.
    #[inline(always)]
    pub(crate) fn runs<M: Machine<Lanes = L>>(&self, m: M) -> u32 {
        m.mask(m.or(self.plain, self.round[0])) | m.mask(self.round[1]) << LOOPS
    }

    /// How many runs there are.
    #[inline(always)]
    pub(crate) fn count_runs<M: Machine<Lanes = L>>(&self, m: M) -> u32 {
        // Two masks counted cost less than one put together.
        m.mask(m.or(self.plain, self.round[0])).count_ones() + m.mask(self.round[1]).count_ones()
    }

    /// What an evaluation asks of the loops.
    #[inline(always)]
    pub(crate) fn survey<M: Machine<Lanes = L>>(&self, m: M) -> Loops {
        let (first, last) = (m.words(self.first), m.words(self.last));
        let distance = |bit: u32| (bit.trailing_zeros() as u8).min(Loops::BEYOND);
        let (not_own, plain) = (m.mask(self.not_own_first), m.mask(self.plain));
        let without_piece = m.mask(m.equal(self.first, m.zero()));
        Loops {
            after: first.map(distance),
            before: last.map(distance),
            own: !(not_own | plain) as u8,
            enemy: (not_own & !plain & !without_piece) as u8,
            captures: self.count_runs(m) != 0,
        }
    }

    /// The runs, ready to be read.
    #[inline(always)]
    pub(crate) fn read<B: Board, M: Machine<Lanes = L>>(&self, m: M) -> Runs<B> {
        Runs {
            first: m.words(self.first),
            last: m.words(self.last),
            second: self.second.map(|lanes| m.words(lanes)),
            own_first: !m.mask(self.not_own_first),
            plain: m.mask(self.plain),
            runs: self.runs(m),
            board: PhantomData,
        }
    }
}

/// All bits of a lane where two words have no bit in common, else none.
#[inline(always)]
fn disjoint<M: Machine>(m: M, a: M::Lanes, b: M::Lanes) -> M::Lanes {
    m.equal(m.and(a, b), m.zero())
}

/// At most two captures for each of the eight loops.
pub(crate) const MAX_CAPTURES: usize = 2 * LOOPS;

/// Captures by the loops that they run over, each with its start and target.
pub(crate) struct Runs<B> {
    first: [u32; LOOPS],
    last: [u32; LOOPS],
    second: [[u32; LOOPS]; 2],
    own_first: u32,
    plain: u32,
    /// See [`Nearest::runs`].
    runs: u32,
    board: PhantomData<B>,
}

impl<B: Board> Runs<B> {
    /// The move of a run, by its bit in [`Nearest::runs`].
    #[inline(always)]
    fn capture(&self, run: usize) -> Move {
        let lane = run % LOOPS;
        let (circuit, turned) = (lane / LINES, 8 * (lane as u32 % LINES as u32));
        let tables = &B::LAYOUT.stop_tables;
        let after = |bit: u32| {
            tables.forward_points[circuit][((bit.trailing_zeros() + turned) % 32) as usize]
        };
        let before = |bit: u32| {
            tables.backward_points[circuit][((bit.trailing_zeros() + 32 - turned) % 32) as usize]
        };
        let first = after(self.first[lane]);
        let (from, to) = if self.plain >> lane & 1 != 0 {
            let last = before(self.last[lane]);
            if self.own_first >> lane & 1 != 0 { (first, last) } else { (last, first) }
        } else if run < LOOPS {
            (first, after(self.second[0][lane]))
        } else {
            (first, before(self.second[1][lane]))
        };
        Move::of_indices(from, to)
    }

    /// The n-th run's move, or `None` if that of an earlier run is the same.
    #[inline(always)]
    pub(crate) fn nth<M: Machine>(&self, m: M, n: u32) -> Option<Move> {
        let run = m.nth_bit(self.runs as u64, n);
        let mv = self.capture(run as usize);
        let mut earlier = self.runs & ((1 << run) - 1);
        while earlier != 0 {
            if self.capture(earlier.trailing_zeros() as usize) == mv {
                return None;
            }
            earlier &= earlier - 1;
        }
        Some(mv)
    }

    /// The distinct captures, loop by loop.
    #[inline(always)]
    pub(crate) fn distinct(&self) -> Captures {
        let mut captures = Captures::NONE;
        let mut lanes = (self.runs | self.runs >> LOOPS) & ((1 << LOOPS) - 1);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            for run in [lane, lane + LOOPS] {
                if self.runs >> run & 1 != 0 {
                    captures.push(self.capture(run));
                }
            }
            lanes &= lanes - 1;
        }
        captures
    }
}

/// Distinct captures.
#[derive(Clone, Copy)]
pub(crate) struct Captures {
    moves: [Move; MAX_CAPTURES],
    len: usize,
}

impl Captures {
    pub(crate) const NONE: Captures =
        Captures { moves: [Move::of_indices(0, 0); MAX_CAPTURES], len: 0 };

    #[inline(always)]
    fn push(&mut self, mv: Move) {
        if !self.as_slice().contains(&mv) {
            self.moves[self.len] = mv;
            self.len += 1;
        }
    }

    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[Move] {
        &self.moves[..self.len]
    }
}

impl<B: Board> Placement<B> {
    /// The distinct captures, loop by loop.
    #[inline(always)]
    pub(crate) fn captures<M: Machine>(&self, m: M) -> Captures {
        let nearest = Nearest::of(m, self);
        if nearest.count_runs(m) == 0 { Captures::NONE } else { nearest.read::<B, M>(m).distinct() }
    }

    /// How many distinct captures there are.
    #[inline(always)]
    pub(crate) fn count_captures<M: Machine>(&self, m: M) -> u32 {
        let nearest = Nearest::of(m, self);
        match nearest.count_runs(m) {
            // Only two runs or more can be the same move.
            count @ ..2 => count,
            _ => nearest.read::<B, M>(m).distinct().as_slice().len() as u32,
        }
    }
}
