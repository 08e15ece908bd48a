//! A Gumbel search of a root: whose turn it is, and what is read off afterwards. The formulas are in
//! [`gumbel`](super::gumbel).

use rand_distr::{Distribution, Gumbel};
use surakarta_game::Move;

use super::gumbel::{Arm, Sigma, schedule};
use super::root::stats;
use super::search::Search;
use super::tree::{ROOT, Tree};
use super::{Method, SearchConfig};
use crate::Stream;

/// Sequential halving under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Halving {
    /// Visits that each of the root's moves had when it began. Only later ones count in it.
    before: Vec<u32>,
    /// Visits of the root when it began, its own evaluation included; 0 if it has not.
    begun: u32,
    schedule: Vec<u32>,
    /// The moves of the node under consideration, and their policy: kept for their memory alone.
    arms: Vec<Arm>,
    policy: Vec<f64>,
}

impl Halving {
    /// Forgets that it has begun.
    pub(super) fn reset(&mut self) {
        self.begun = 0;
    }

    /// The edge to follow from an evaluated node.
    #[inline]
    pub(super) fn select(
        &mut self,
        config: &SearchConfig,
        noise: &[f32],
        tree: &Tree,
        at: u32,
    ) -> usize {
        let node = tree.node(at);
        arms(tree, at, &mut self.arms);
        if at != ROOT {
            return config.sigma().follow(node.value, &self.arms, &mut self.policy);
        }
        let wanted = self.schedule[(node.visits - self.begun) as usize];
        let is_due = |n: usize| self.arms[n].visits - self.before[n] == wanted;
        let due = config.sigma().best(node.value, &self.arms, noise, is_due);
        due.expect("the schedule asks for as many visits as some move has")
    }
}

impl SearchConfig {
    fn sigma(&self) -> Sigma {
        Sigma { c_visit: self.c_visit, c_scale: self.c_scale, rescale: self.rescale_values }
    }
}

impl Search {
    /// Gives the visits that are still to come, the budget having been set, a halving of their own if
    /// the one under way does not reach as far.
    pub(super) fn plan_halving(&mut self) {
        if self.config.method != Method::Gumbel {
            return;
        }
        // The root's first visit is its own evaluation.
        let visits = self.simulations().max(1);
        let to_come = self.budget.saturating_sub(visits) as usize;
        // Where the budget is raised in small steps, as against a clock, each halving is as long as all
        // before it together: none would get beyond its first round otherwise.
        let length = to_come.max(self.work().simulations as usize);
        let halving = &mut self.halving;
        let planned = halving.begun as usize + halving.schedule.len();
        if halving.begun > 0 && visits as usize + to_come <= planned {
            return;
        }
        halving.begun = visits;
        halving.before.clear();
        match self.tree.root() {
            Some(_) => halving.before.extend(stats(&self.tree, ROOT).map(|stats| stats.visits)),
            None => halving.before.resize(self.root_moves, 0),
        }
        halving.schedule = schedule(self.root_moves.min(self.config.considered as usize), length);
    }

    /// Draws a Gumbel variate for each move.
    pub(super) fn draw_gumbel(&mut self, rng: &mut Stream) {
        if let Ok(gumbel) = Gumbel::new(0.0, 1.0) {
            let gumbel = gumbel.sample_iter(rng).map(|g: f64| g as f32);
            self.noise.extend(gumbel.take(self.root_moves));
        }
    }

    /// The root's improved policy π′ (see [`gumbel`](super::gumbel)), in the order of the legal moves:
    /// what a Gumbel search has to teach. Empty before the root's evaluation.
    pub fn improved_policy(&self) -> Vec<(Move, f32)> {
        let Some(root) = self.tree.root() else { return Vec::new() };
        let (mut root_arms, mut policy) = (Vec::new(), Vec::new());
        arms(&self.tree, ROOT, &mut root_arms);
        self.config.sigma().policy(root.value, &root_arms, &mut policy);
        self.moves().zip(policy).map(|(stats, p)| (stats.mv, p as f32)).collect()
    }

    /// The move that a Gumbel search plays and its child: the best, noise included, of those with
    /// the most visits in the last halving. If that has had none, inherited ones count.
    pub(super) fn survivor(&self) -> Option<(Move, Option<u32>)> {
        let root = self.tree.root()?;
        let mut root_arms = Vec::new();
        arms(&self.tree, ROOT, &mut root_arms);
        let visits = root_arms.iter().zip(&self.halving.before);
        let mut visits: Vec<u32> = visits.map(|(arm, before)| arm.visits - before).collect();
        if visits.iter().all(|&n| n == 0) {
            visits = root_arms.iter().map(|arm| arm.visits).collect();
        }
        let most = visits.iter().max()?;
        let is_left = |n: usize| visits[n] == *most;
        let best = self.config.sigma().best(root.value, &root_arms, &self.noise, is_left)?;
        self.tree.edges(ROOT).nth(best).map(|edge| (edge.mv, edge.child))
    }
}

fn arms(tree: &Tree, at: u32, arms: &mut Vec<Arm>) {
    arms.clear();
    arms.extend(stats(tree, at).map(|stats| Arm {
        prior: stats.prior,
        visits: stats.visits,
        value: stats.value.unwrap_or(0.0),
    }));
}
