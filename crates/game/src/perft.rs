use crate::position::Position;

/// Leaves of the tree of legal moves at a depth, no ending rule applied. The last ply is counted
/// without being played.
pub fn perft(position: &Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.count_moves(),
        _ => {
            let mut leaves = 0;
            position.for_each_move(|mv| leaves += perft(&position.after(mv), depth - 1));
            leaves
        }
    }
}
