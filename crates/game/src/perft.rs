use crate::board::points;
use crate::layout::{Board, with_board};
use crate::machine::{self, Machine, Task};
use crate::movegen::{slides, step_targets};
use crate::moves::Move;
use crate::placement::Placement;
use crate::position::Position;

/// Leaves of the tree of legal moves at a depth, no ending rule applied. The last ply is counted
/// without being played. It calls itself once a ply: depths in the thousands, which could end only
/// where moves are forced, need a deep stack.
pub fn perft(position: &Position, depth: u32) -> u64 {
    with_board!(position.variant(), B => {
        machine::run(Perft { placement: Placement::<B>::new(position.own(), position.enemy()), depth })
    })
}

struct Perft<B> {
    placement: Placement<B>,
    depth: u32,
}

impl<B: Board> Task for Perft<B> {
    type Output = u64;

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> u64 {
        let Perft { placement, depth } = self;
        match depth {
            0 => return 1,
            1 => return placement.count_moves(m),
            _ => (),
        }
        // Plain loops: a closure would be compiled without the machine's instructions.
        let mut leaves = 0;
        let (own, empty) = (placement.own.points, placement.empty());
        for &by in B::LAYOUT.directions {
            for to in points(step_targets(own, empty, by)) {
                let from = to.index() as i32 - by;
                let mv = Move::of_indices(from as u8, to.index() as u8);
                leaves += below(m, &placement, mv, depth);
            }
        }
        if B::LAYOUT.slides {
            for from in points(own) {
                for to in points(slides::<B>(from, !empty)) {
                    leaves += below(m, &placement, Move::new(from, to), depth);
                }
            }
        }
        for &mv in placement.captures(m).as_slice() {
            leaves += below(m, &placement, mv, depth);
        }
        leaves
    }
}

/// The leaves below a move at `depth`, 2 or more.
#[inline(always)]
fn below<B: Board, M: Machine>(m: M, placement: &Placement<B>, mv: Move, depth: u32) -> u64 {
    let placement = placement.after(mv);
    match depth {
        2 => placement.count_moves(m),
        _ => m.run(Perft { placement, depth: depth - 1 }),
    }
}
