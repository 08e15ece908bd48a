//! Forced playouts, and the policy that is learned from a search (Wu, "Accelerating self-play learning
//! in Go", arXiv 1902.10565, section 3.2).
//!
//! Noise finds a good move only if it is looked at more than once. Where noise is asked for, a move c
//! of the root that has been visited, and whose result is not proven, gets at least
//! n(c) = √(k · P(c) · N) visits, N being those of all moves. The policy would learn the noise from
//! them, so they are taken away again afterwards.

use super::search::Search;
use super::solver::Proof;
use super::tree::ROOT;

impl Search {
    /// The first move of the root that is owed a visit.
    pub(super) fn owed(&self) -> Option<usize> {
        // The first visit of a root is its own evaluation.
        let visits = self.simulations().checked_sub(1).filter(|_| self.forced > 0.0)?;
        self.tree.edges(ROOT).position(|edge| {
            let child = edge.child.map(|child| self.tree.node(child));
            let owed = forced_visits(self.forced, edge.prior, visits);
            child.is_some_and(|child| child.proof.is_none() && (child.visits as f32) < owed)
        })
    }

    /// The visits of each move of the root as far as the policy is to learn them.
    ///
    /// - At a proven root, those of the moves that are proven to keep its result.
    /// - Elsewhere, those of the moves that are not proven to lose. If visits were forced, moves other
    ///   than the [best](Search::best) lose up to n(c) of theirs, as long as PUCT would still not
    ///   choose them over the best, and the last one if they have lost all others.
    pub(super) fn learned_visits(&self) -> Vec<u32> {
        let Some(root) = self.tree.root() else { return Vec::new() };
        let counts = |proof: Option<Proof>| match root.proof {
            Some(result) => proof == Some(result),
            None => proof != Some(Proof::Loss),
        };
        let visits = |stats: super::MoveStats| if counts(stats.proof) { stats.visits } else { 0 };
        let mut learned: Vec<u32> = self.moves().map(visits).collect();
        if self.forced > 0.0 && root.proof.is_none() {
            self.prune(&mut learned);
        }
        learned
    }

    fn prune(&self, visits: &mut [u32]) {
        let exploration = self.config.exploration(self.simulations());
        let all = self.simulations().saturating_sub(1);
        let score = |value: Option<f32>, prior: f32, visits: u32| {
            value.map(|value| value + exploration * prior / (1 + visits) as f32)
        };
        let best = self.best();
        let chosen = self.moves().find(|stats| Some(stats.mv) == best);
        let highest = chosen.and_then(|best| score(best.value, best.prior, best.visits));
        for (stats, left) in self.moves().zip(visits).filter(|(stats, _)| Some(stats.mv) != best) {
            let least =
                *left - forced_visits(self.forced, stats.prior, all).min(*left as f32) as u32;
            let before = *left;
            while *left > least && score(stats.value, stats.prior, *left - 1) < highest {
                *left -= 1;
            }
            if *left == 1 && before > 1 {
                *left = 0;
            }
        }
    }
}

/// n(c) = √(k · P(c) · N).
fn forced_visits(k: f32, prior: f32, visits: u32) -> f32 {
    (k * prior * visits as f32).sqrt()
}
