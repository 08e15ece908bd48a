//! Legal moves and attacked points of a [`Position`].

use std::marker::PhantomData;

use crate::board::{MAX_SIZE, Point, points};
use crate::layout::{Board, LINES, with_board};
use crate::machine::{self, Machine, Task};
use crate::moves::Move;
use crate::pairs::Steps;
use crate::placement::{Captures, Loops, Nearest, Placement};
use crate::position::{Color, Position};

/// What an evaluation asks of a position, both sides seen by the one to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// How many steps to a neighbouring point each side would have, its own first.
    pub steps: [u32; 2],
    /// What stands next to the loops.
    pub loops: Loops,
}

/// A question about the pieces of the side to move and of the other, for a variant's board and any
/// machine.
struct Ask<B, Q> {
    own: u64,
    enemy: u64,
    question: Q,
    board: PhantomData<B>,
}

trait Question {
    type Answer;

    fn answer<B: Board, M: Machine>(self, m: M, placement: Placement<B>) -> Self::Answer;
}

impl<B: Board, Q: Question> Task for Ask<B, Q> {
    type Output = Q::Answer;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> Q::Answer {
        self.question.answer(m, Placement::<B>::new(self.own, self.enemy))
    }
}

fn ask<Q: Question>(position: &Position, question: Q) -> Q::Answer {
    let (own, enemy) = (position.own(), position.enemy());
    with_board!(position.variant(), B => {
        machine::run(Ask::<B, Q> { own, enemy, question, board: PhantomData })
    })
}

struct ListCaptures;

impl Question for ListCaptures {
    type Answer = Captures;

    #[inline(always)]
    fn answer<B: Board, M: Machine>(self, m: M, placement: Placement<B>) -> Captures {
        placement.captures(m)
    }
}

struct HasCapture;

impl Question for HasCapture {
    type Answer = bool;

    #[inline(always)]
    fn answer<B: Board, M: Machine>(self, m: M, placement: Placement<B>) -> bool {
        Nearest::of(m, &placement).count_runs(m) != 0
    }
}

struct CountMoves;

impl Question for CountMoves {
    type Answer = u64;

    #[inline(always)]
    fn answer<B: Board, M: Machine>(self, m: M, placement: Placement<B>) -> u64 {
        placement.count_moves(m)
    }
}

impl<B: Board> Placement<B> {
    /// How many moves there are, without listing them.
    #[inline(always)]
    pub(crate) fn count_moves<M: Machine>(&self, m: M) -> u64 {
        let steps = Steps::of::<B, M>(m, self.own.points, self.empty()).count();
        let slides = if B::LAYOUT.slides { self.count_slides() } else { 0 };
        (steps + slides + self.count_captures(m)) as u64
    }

    fn count_slides(&self) -> u32 {
        let occupied = self.own.points | self.enemy.points;
        points(self.own.points).map(|from| slides::<B>(from, occupied).count_ones()).sum()
    }
}

/// The targets of steps in a direction. What would leave the board falls beside it, at either end of the
/// word.
#[inline(always)]
pub(crate) fn step_targets(own: u64, empty: u64, by: i32) -> u64 {
    own.rotate_left(by as u32 % 64) & empty
}

#[inline(always)]
fn for_each_step(own: u64, empty: u64, by: i32, visit: &mut impl FnMut(Move)) {
    let mut targets = step_targets(own, empty, by);
    while targets != 0 {
        let to = targets.trailing_zeros();
        visit(Move::of_indices((to as i32 - by) as u8, to as u8));
        targets &= targets - 1;
    }
}

/// The points that a piece of a board with slides reaches along the outer circuit over empty points,
/// and that are no neighbours: a slide to those is a step.
pub(crate) fn slides<B: Board>(from: Point, occupied: u64) -> u64 {
    let circuit = &B::LAYOUT.circuits[1][..B::LAYOUT.stops];
    // The piece has left its start.
    let occupied = occupied & !from.bit();
    let mut reached = 0;
    for start in (0..circuit.len()).filter(|&stop| circuit[stop] == from.index() as u8) {
        let forward = (1..circuit.len()).map(|n| start + n);
        let backward = (1..circuit.len()).map(|n| start + circuit.len() - n);
        let empty = |stop: &usize| occupied >> circuit[stop % circuit.len()] & 1 == 0;
        for stop in forward.take_while(empty).chain(backward.take_while(empty)) {
            reached |= 1 << circuit[stop % circuit.len()];
        }
    }
    let steps = B::LAYOUT
        .directions
        .iter()
        .fold(from.bit(), |steps, &by| steps | step_targets(from.bit(), B::LAYOUT.board, by));
    reached & !steps
}

/// [`slides`] of a variant, none if it has none.
fn slides_of(position: &Position, from: Point) -> u64 {
    with_board!(position.variant(), B => {
        if B::LAYOUT.slides { slides::<B>(from, position.occupied()) } else { 0 }
    })
}

struct Surveyed;

impl Question for Surveyed {
    type Answer = Survey;

    #[inline(always)]
    fn answer<B: Board, M: Machine>(self, m: M, placement: Placement<B>) -> Survey {
        let empty = placement.empty();
        let steps = |from| {
            let targets = |&by: &i32| step_targets(from, empty, by).count_ones();
            B::LAYOUT.directions.iter().map(targets).sum()
        };
        Survey {
            steps: [steps(placement.own.points), steps(placement.enemy.points)],
            loops: Nearest::of(m, &placement).survey(m),
        }
    }
}

struct Attacks;

impl Question for Attacks {
    type Answer = [u64; 2];

    /// Those of the side to move first.
    #[inline(always)]
    fn answer<B: Board, M: Machine>(self, _: M, placement: Placement<B>) -> [u64; 2] {
        let own = placement.own.stops.forward;
        let occupied = placement.own.stops.or(placement.enemy.stops).forward;
        let tables = &B::LAYOUT.stop_tables;
        let mut attacked = [0; 2];
        for circuit in 0..2 {
            if occupied[circuit] == 0 {
                continue;
            }
            let mut stops = [0u32; 2];
            for line in 0..LINES as u32 {
                // Turned so that the loop lies between the last stop and the first.
                let turned = occupied[circuit].rotate_right(8 * line);
                let own = own[circuit].rotate_right(8 * line);
                let point =
                    |stop: u32| tables.forward_points[circuit][((stop + 8 * line) % 32) as usize];
                let side = |stop: u32| (own >> stop & 1 == 0) as usize;
                let (first, last) = ends(turned);
                if point(first) != point(last) {
                    stops[side(last)] |= up_to(first).rotate_left(8 * line);
                    stops[side(first)] |= from(last).rotate_left(8 * line);
                } else {
                    // The piece's own stops count as empty, but it doesn't attack itself.
                    let own_stops = 1 << first | 1 << last;
                    let others = turned & !own_stops;
                    let reach = match others {
                        0 => u32::MAX,
                        _ => up_to(ends(others).0) | from(ends(others).1),
                    };
                    stops[side(first)] |= (reach & !own_stops).rotate_left(8 * line);
                }
            }
            for (set, stops) in attacked.iter_mut().zip(stops) {
                for (line, points) in tables.points_of_line[circuit].iter().enumerate() {
                    *set |= points[(stops >> (8 * line)) as usize % (1 << MAX_SIZE)];
                }
            }
        }
        attacked
    }
}

/// Lowest and highest of the stops, which are not none.
#[inline(always)]
const fn ends(stops: u32) -> (u32, u32) {
    (stops.trailing_zeros(), 31 - stops.leading_zeros())
}

/// The stops up to `stop`.
#[inline(always)]
const fn up_to(stop: u32) -> u32 {
    u32::MAX >> (31 - stop)
}

/// The stops from `stop` on.
#[inline(always)]
const fn from(stop: u32) -> u32 {
    u32::MAX << stop
}

impl Position {
    /// Calls `visit` with every legal move, no ending rule applied: steps, slides, then captures, each
    /// once and always in the same order.
    #[inline]
    pub fn for_each_move(&self, mut visit: impl FnMut(Move)) {
        self.for_each_quiet_move(&mut visit);
        self.for_each_capture(visit);
    }

    /// Calls `visit` with every move that takes nothing, each once: steps, then slides.
    #[inline]
    pub fn for_each_quiet_move(&self, mut visit: impl FnMut(Move)) {
        let (own, empty) = (self.own(), self.empty());
        let layout = self.variant().layout();
        for &by in layout.directions {
            for_each_step(own, empty, by, &mut visit);
        }
        if layout.slides {
            for from in points(own) {
                points(slides_of(self, from)).for_each(|to| visit(Move::new(from, to)));
            }
        }
    }

    /// Calls `visit` with every capture, each once.
    #[inline]
    pub fn for_each_capture(&self, visit: impl FnMut(Move)) {
        ask(self, ListCaptures).as_slice().iter().copied().for_each(visit);
    }

    /// The legal moves, no ending rule applied, in a list that is cleared first.
    pub fn moves_into(&self, moves: &mut Vec<Move>) {
        moves.clear();
        self.for_each_move(|mv| moves.push(mv));
    }

    /// The legal moves, no ending rule applied.
    pub fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::with_capacity(32);
        self.moves_into(&mut moves);
        moves
    }

    /// What stands next to the loops, and the steps of both sides.
    pub fn survey(&self) -> Survey {
        ask(self, Surveyed)
    }

    /// The captures among the legal moves.
    pub fn captures(&self) -> Vec<Move> {
        ask(self, ListCaptures).as_slice().to_vec()
    }

    /// How many legal moves there are, without listing them.
    pub fn count_moves(&self) -> u64 {
        ask(self, CountMoves)
    }

    /// The n-th legal move, counted from 0 in the order of [`for_each_move`](Self::for_each_move),
    /// without listing those before it; `None` at their number and beyond.
    pub fn nth_move(&self, n: u64) -> Option<Move> {
        let (own, empty) = (self.own(), self.empty());
        let layout = self.variant().layout();
        let mut left = n;
        let nth_of = |set: u64, left: &mut u64| {
            let here = set.count_ones() as u64;
            if *left < here {
                return points(set).nth(*left as usize);
            }
            *left -= here;
            None
        };
        for &by in layout.directions {
            if let Some(to) = nth_of(step_targets(own, empty, by), &mut left) {
                return Some(Move::of_indices((to.index() as i32 - by) as u8, to.index() as u8));
            }
        }
        if layout.slides {
            for from in points(own) {
                if let Some(to) = nth_of(slides_of(self, from), &mut left) {
                    return Some(Move::new(from, to));
                }
            }
        }
        ask(self, ListCaptures).as_slice().get(usize::try_from(left).ok()?).copied()
    }

    /// Whether the side to move has a capture.
    pub fn has_capture(&self) -> bool {
        ask(self, HasCapture)
    }

    /// Whether the side to move has any legal move.
    pub fn has_move(&self) -> bool {
        let (own, empty) = (self.own(), self.empty());
        let mut directions = self.variant().layout().directions.iter();
        directions.any(|&by| step_targets(own, empty, by) != 0)
            || points(own).any(|from| slides_of(self, from) != 0)
            || self.has_capture()
    }

    /// Whether the move is legal, no ending rule applied.
    pub fn is_legal(&self, mv: Move) -> bool {
        let mut found = false;
        self.for_each_move(|other| found |= other == mv);
        found
    }

    /// The points that each colour attacks, black's first: those that a run of one of its pieces
    /// reaches over at least one loop and otherwise empty points, whatever stands there. An empty
    /// point counts as attacked, and an own piece (a defended one), but never the running piece.
    pub fn attacks(&self) -> [u64; 2] {
        let [own, enemy] = ask(self, Attacks);
        match self.side_to_move() {
            Color::Black => [own, enemy],
            Color::White => [enemy, own],
        }
    }
}
