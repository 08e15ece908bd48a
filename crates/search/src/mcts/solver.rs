//! Exact results carried up the tree: MCTS-Solver (Winands, Björnsson and Saito, Computers and Games
//! 2008), with draws.
//!
//! A node with a move to a lost position is won; one all of whose moves lead to proven positions has
//! the best of them. A move to a position that is won for the opponent is never chosen again. One to a
//! proven draw may be: the visit ends there, without a descent, and backs up what the draw is worth.
//! Nodes above a proof keep what was backed up before it.
//!
//! **A proof holds for the node alone, never for its position.** How a game goes on and ends depends
//! on its history: a position may repeat an earlier one or not, and plies without a capture are
//! counted from the last one. The tree is no graph. A node stands for one sequence of moves from the
//! start of the game, so the endings below it are those of that sequence; and a tree is kept only for
//! a game that goes on from its root. Nothing here looks a position up.

use super::tree::{Node, Tree};

/// A proven result, seen by the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proof {
    /// The opponent can win, whatever is played.
    Loss,
    /// Neither side can force more.
    Draw,
    /// The side to move can win.
    Win,
}

impl Proof {
    /// The proof that a finished game is, from its [value](surakarta_game::Outcome::value_for) for the
    /// side to move.
    pub(super) const fn of_value(value: i8) -> Proof {
        match value {
            ..0 => Proof::Loss,
            0 => Proof::Draw,
            1.. => Proof::Win,
        }
    }

    /// −1, 0 or 1.
    pub(super) const fn value(self) -> f32 {
        match self {
            Proof::Loss => -1.0,
            Proof::Draw => 0.0,
            Proof::Win => 1.0,
        }
    }

    /// The same result, seen by the other side.
    #[must_use]
    pub const fn opposite(self) -> Proof {
        match self {
            Proof::Loss => Proof::Win,
            Proof::Draw => Proof::Draw,
            Proof::Win => Proof::Loss,
        }
    }
}

/// How good a move with this child is in a proven node, as far as proofs go: first its result, then
/// the shorter win or the longer loss.
pub(super) fn merit(child: &Node) -> Option<(Proof, i32)> {
    let result = child.proof?.opposite();
    let plies = child.plies as i32;
    let patience = match result {
        Proof::Loss => plies,
        Proof::Draw => 0,
        Proof::Win => -plies,
    };
    Some((result, patience))
}

impl Tree {
    /// Takes notice at a node that the child behind an edge has been proven. True if that proves the
    /// node: its value is then that of its best move, and every visit counts so much.
    ///
    /// A node has its proof from the first move that proves it, so a win may be shorter than known.
    #[inline(never)]
    pub(super) fn prove(&mut self, at: u32, edge: usize) -> bool {
        let Some(child) = self.edge(at, edge).child else { return false };
        let best = match self.node(child).proof {
            Some(Proof::Loss) => child,
            proof => {
                if proof == Some(Proof::Win) {
                    self.bar(at, edge);
                }
                let Some(best) = self.best_of_proven(at) else { return false };
                best
            }
        };
        let Node { proof, value, plies, .. } = *self.node(best);
        self.node_mut(at).settle(proof.map(Proof::opposite), -value, plies.saturating_add(1));
        true
    }

    /// The best of a node's children if all of them are there and proven; the first of equals.
    fn best_of_proven(&self, at: u32) -> Option<u32> {
        let mut best = None;
        for edge in self.edges(at) {
            let child = edge.child?;
            let node = self.node(child);
            let rank = (merit(node)?, -node.value);
            if best.is_none_or(|(highest, _)| rank > highest) {
                best = Some((rank, child));
            }
        }
        best.map(|(_, child)| child)
    }
}
