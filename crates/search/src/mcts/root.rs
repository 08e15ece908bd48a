//! What is done at the root before a search, and read off it afterwards.

use rand_distr::{Distribution, Gamma};
use surakarta_game::Move;

use super::Method;
use super::search::Search;
use super::solver::{Proof, merit};
use super::tree::{Edge, ROOT, Tree};
use crate::{Stream, draw};

/// What a search found out about one move of the root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveStats {
    /// The move.
    pub mv: Move,
    /// Simulations that began with it, inherited ones included.
    pub visits: u32,
    /// Its prior as the search used it, with temperature and noise.
    pub prior: f32,
    /// Its mean value in [−1, 1], seen by the side to move at the root, once it is proven that of the
    /// proof; `None` without visits.
    pub value: Option<f32>,
    /// The result to which it is proven to lead, seen by the side to move at the root.
    pub proof: Option<Proof>,
}

impl Search {
    /// Every move of the root, in the order of the legal moves; none before its first evaluation.
    pub fn moves(&self) -> impl Iterator<Item = MoveStats> + '_ {
        self.tree.root().into_iter().flat_map(|_| stats(&self.tree, ROOT))
    }

    /// The policy to learn from PUCT: the visits of each move of the root that has any, less what a
    /// search had better not have spent.
    ///
    /// - At a proven root, only moves that are proven to keep its result count; elsewhere, all but
    ///   those that are proven to lose. Possibly none does.
    /// - Visits that were only [forced](super::SearchConfig::forced_playouts) are taken away.
    ///
    /// Where there is neither a proof nor force, they are one fewer than the simulations.
    pub fn policy_visits(&self) -> Vec<(Move, u32)> {
        let visits = self.moves().map(|stats| stats.mv).zip(self.learned_visits());
        visits.filter(|&(_, visits)| visits > 0).collect()
    }

    /// The root's result, seen by the side to move, once it is proven.
    pub fn proof(&self) -> Option<Proof> {
        self.tree.root().and_then(|root| root.proof)
    }

    /// The root's policy as the network gave it, without temperature and noise, in the order of
    /// [`moves`](Search::moves); empty before the root's evaluation.
    pub fn policy(&self) -> &[f32] {
        &self.policy
    }

    /// Mean value of the root in [−1, 1], seen by the side to move, once it is proven that of the
    /// proof; `None` before its evaluation.
    pub fn value(&self) -> Option<f32> {
        self.tree.root().filter(|root| root.visits > 0).map(|root| root.mean())
    }

    /// The move to play. PUCT: the most visited that is not proven to lose; among equals the one of the
    /// higher value, then of the higher prior, then the first; at a proven root, a move that keeps the
    /// result: the shortest win or the longest loss that is known, and only then the most visited.
    /// Gumbel: the one left over by the last halving, which with noise is as random as that. `None`
    /// before the root's evaluation or without a legal move.
    pub fn best(&self) -> Option<Move> {
        self.best_edge().map(|(mv, _)| mv)
    }

    /// The best move's edge: move and child.
    fn best_edge(&self) -> Option<(Move, Option<u32>)> {
        match self.config.method {
            Method::Puct => self.tree.root().and_then(|_| best(&self.tree, ROOT)),
            Method::Gumbel => self.survivor(),
        }
    }

    /// A move drawn with probability ∝ w^(1/temperature), where w are PUCT's visits that count for the
    /// [policy](Search::policy_visits), or the [improved policy](Search::improved_policy) of Gumbel; the
    /// [best](Search::best) at temperature 0, where none counts, and after a Gumbel search with noise,
    /// which has drawn it.
    pub fn sample(&self, temperature: f32, rng: &mut Stream) -> Option<Move> {
        let best = self.best()?;
        let weights: Vec<f64> = match self.config.method {
            Method::Puct => self.learned_visits().into_iter().map(f64::from).collect(),
            Method::Gumbel if !self.noise.is_empty() => return Some(best),
            Method::Gumbel => self.improved_policy().iter().map(|&(_, p)| p as f64).collect(),
        };
        let drawn = draw(&weights, temperature, rng);
        drawn.and_then(|at| self.moves().nth(at)).map_or(Some(best), |stats| Some(stats.mv))
    }

    /// The line that begins with the best move and goes on with the most visited ones.
    pub fn line(&self) -> Vec<Move> {
        self.line_from(self.best_edge())
    }

    /// The same, beginning with a given move of the root; empty if it has not been visited.
    pub fn line_of(&self, mv: Move) -> Vec<Move> {
        let edge = self.tree.root().and_then(|_| self.tree.edges(ROOT).find(|edge| edge.mv == mv));
        self.line_from(edge.map(|edge| (edge.mv, edge.child)))
    }

    fn line_from(&self, mut next: Option<(Move, Option<u32>)>) -> Vec<Move> {
        let mut line = Vec::new();
        // Beyond the last visit there is only the prior.
        while let Some((mv, Some(child))) = next {
            line.push(mv);
            next = best(&self.tree, child);
        }
        line
    }

    /// Whether the rest of the budget cannot change the most visited move, if that ends a search. Moves
    /// that are proven to lose are out of the race.
    pub(super) fn is_decided(&mut self) -> bool {
        let simulations = self.simulations();
        let left = self.budget - simulations;
        let asked = self.config.stop_early && self.config.method == Method::Puct;
        // Before half of the budget no lead is long enough.
        if !asked || simulations < self.undecided || left > self.budget / 2 {
            return false;
        }
        let (mut first, mut second) = (0, 0);
        let running = self.moves().filter(|stats| stats.proof != Some(Proof::Loss));
        for visits in running.map(|stats| stats.visits) {
            (first, second) = (first.max(visits), second.max(visits.min(first)));
        }
        let lead = first - second;
        // Each simulation lengthens the lead by one at most and leaves one fewer.
        self.undecided = simulations + left.saturating_sub(lead) / 2 + 1;
        lead > left
    }

    /// Draws from the symmetric Dirichlet distribution over the moves: normalised Gamma variates. Or
    /// what Gumbel wants instead.
    pub(super) fn draw_noise(&mut self, wanted: bool, moves: usize, rng: &mut Stream) {
        self.noise.clear();
        if self.config.method == Method::Gumbel {
            if wanted {
                self.draw_gumbel(rng);
            }
            return;
        }
        let alpha = self.config.noise_alpha as f64 / moves as f64;
        let Ok(gamma) = Gamma::new(alpha, 1.0) else { return };
        if !wanted || self.config.noise_fraction <= 0.0 {
            return;
        }
        let drawn: Vec<f64> = (0..moves).map(|_| gamma.sample(rng)).collect();
        let sum: f64 = drawn.iter().sum();
        // A tiny alpha can underflow everywhere; then there is nothing to mix in.
        if sum > 0.0 {
            self.noise.extend(drawn.iter().map(|x| (x / sum) as f32));
        }
    }

    /// Gives an evaluated root another policy than the network has given it: a probability for each of
    /// its [`moves`](Search::moves). Temperature and noise come on top.
    pub fn replace_policy(&mut self, policy: &[f32]) {
        self.policy.clear();
        self.policy.extend_from_slice(policy);
        self.tree.set_root_priors(policy);
        self.prepare_root();
    }

    /// Gives an evaluated root its policy with temperature and noise, replacing what an earlier
    /// search of the same root made of it.
    pub(super) fn prepare_root(&mut self) {
        if self.tree.root().is_none() {
            return;
        }
        if self.policy.is_empty() {
            self.policy.extend(self.tree.edges(ROOT).map(|edge| edge.prior));
        }
        if self.config.method == Method::Gumbel {
            return;
        }
        let mut priors = self.policy.clone();
        if self.config.root_temperature != 1.0 {
            let power = 1.0 / self.config.root_temperature;
            // Scaled by the highest, so that a low temperature leaves something to sum up.
            let highest = priors.iter().copied().fold(0.0, f32::max);
            priors.iter_mut().for_each(|prior| *prior = (*prior / highest).powf(power));
            let sum: f32 = priors.iter().sum();
            priors.iter_mut().for_each(|prior| *prior /= sum);
        }
        let fraction = self.config.noise_fraction;
        for (prior, noise) in priors.iter_mut().zip(&self.noise) {
            *prior = (1.0 - fraction) * *prior + fraction * noise;
        }
        self.tree.set_root_priors(&priors);
    }
}

/// Every edge of a node, in the order of its moves.
pub(super) fn stats(tree: &Tree, at: u32) -> impl Iterator<Item = MoveStats> + '_ {
    tree.edges(at).map(|edge| {
        let child = edge.child.map(|child| tree.node(child));
        MoveStats {
            mv: edge.mv,
            visits: child.map_or(0, |child| child.visits),
            prior: edge.prior,
            value: child.map(|child| -child.mean()),
            proof: child.and_then(|child| child.proof).map(Proof::opposite),
        }
    })
}

/// The best edge's move and child.
fn best(tree: &Tree, at: u32) -> Option<(Move, Option<u32>)> {
    let result = tree.node(at).proof;
    let rank = |(stats, edge): &(MoveStats, Edge)| {
        let merit = edge.child.and_then(|child| merit(tree.node(child)));
        // In an open node a proven draw is a move like others, for its visits to tell.
        let (sound, patience) = match result {
            Some(_) => (stats.proof == result, merit.map_or(0, |(_, patience)| patience)),
            None => (stats.proof != Some(Proof::Loss), 0),
        };
        (sound, patience, stats.visits, stats.value.unwrap_or(0.0), stats.prior)
    };
    let edges = stats(tree, at).zip(tree.edges(at));
    let best = edges.reduce(|best, next| if rank(&next) > rank(&best) { next } else { best });
    best.map(|(stats, edge)| (stats.mv, edge.child))
}
