//! PUCT as one would write it on a blackboard, which the search must equal to the last bit.

use std::collections::HashMap;

use rand::RngExt;
use surakarta_game::{Game, Move, RuleSet};
use surakarta_search::{Proof, Root, Search, SearchConfig, Stream, stream};

use crate::script::{Hashed, Script, finish, random_game};

/// Whether noise was asked for at the root.
#[derive(Clone, Copy, PartialEq)]
struct Noise(bool);

#[derive(Default)]
struct Node {
    /// The value of every visit, seen by the side to move.
    values: Vec<f32>,
    moves: Vec<Move>,
    prior: HashMap<Move, f32>,
    children: HashMap<Move, Node>,
    /// The moves with a child, in the order in which their priors are added up.
    visited: Vec<Move>,
    /// The exact result for the side to move, and the plies to it.
    exact: Option<(i8, i32)>,
}

impl Node {
    fn mean(&self) -> f32 {
        (self.values.iter().map(|&v| v as f64).sum::<f64>() / self.values.len() as f64) as f32
    }

    /// One simulation; returns its value, seen by the side to move.
    fn simulate(
        &mut self,
        game: &mut Game,
        script: &Hashed,
        config: &SearchConfig,
        root: Option<Noise>,
    ) -> f32 {
        let value = if self.exact.is_some() {
            self.mean()
        } else if let Some(result) = game.result() {
            let position = game.position();
            let outcome = result.outcome.value_for(position.side_to_move());
            self.exact = config.solve.then_some((outcome, 0));
            let margin = position.own().count_ones() as f32 - position.enemy().count_ones() as f32;
            blend(config, outcome as f32, margin / position.variant().pieces() as f32)
        } else if self.values.is_empty() {
            self.moves = game.legal_moves();
            let (policy, outlook) = script.evaluate(game.position(), &self.moves);
            self.prior = self.moves.iter().copied().zip(policy).collect();
            blend(config, outlook.value(), outlook.margin)
        } else {
            let mv =
                self.forced(config, root).unwrap_or_else(|| self.choose(config, root.is_some()));
            if !self.children.contains_key(&mv) {
                self.visited.push(mv);
            }
            game.play(mv).unwrap();
            let value = -self.children.entry(mv).or_default().simulate(game, script, config, None);
            game.undo();
            self.solve().unwrap_or(value)
        };
        self.values.push(value);
        value
    }

    /// The value of a node that can be proven by its children.
    fn solve(&mut self) -> Option<f32> {
        let mut proven = Vec::new();
        for mv in &self.moves {
            if let Some(child) = self.children.get(mv)
                && let Some((result, plies)) = child.exact
            {
                // A shorter win and a longer loss are better, then a higher value.
                proven.push((-result, result as i32 * plies, -child.mean(), plies + 1));
            }
        }
        let mut best = *proven.first()?;
        for next in &proven {
            if (next.0, next.1, next.2) > (best.0, best.1, best.2) {
                best = *next;
            }
        }
        if best.0 < 1 && proven.len() < self.moves.len() {
            return None;
        }
        self.exact = Some((best.0, best.3));
        self.values.fill(best.2);
        Some(best.2)
    }

    /// The first move of the root with fewer visits than √(k · P · N).
    fn forced(&self, config: &SearchConfig, root: Option<Noise>) -> Option<Move> {
        let all = self.values.len() as f32 - 1.0;
        let owed = |mv: &&Move| {
            let visits = self.children.get(*mv).filter(|child| child.exact.is_none());
            let least = f32::sqrt(config.forced_playouts * self.prior[*mv] * all);
            visits.is_some_and(|child| (child.values.len() as f32) < least)
        };
        self.moves.iter().find(owed).copied().filter(|_| root == Some(Noise(true)))
    }

    fn choose(&self, config: &SearchConfig, root: bool) -> Move {
        let n = self.values.len() as f32;
        let c = config.c_init + config.c_base.map_or(0.0, |base| ((n + base + 1.0) / base).ln());
        let reduction = if root { config.root_fpu_reduction } else { config.fpu_reduction };
        let visited = self.visited.iter().fold(0.0, |sum, mv| sum + self.prior[mv]);
        let urgency = self.mean() - reduction * f32::sqrt(visited);
        let score = |mv: &Move| {
            let child = self.children.get(mv);
            let q = child.map_or(urgency, |child| -child.mean());
            let share = 1.0 / (1 + child.map_or(0, |child| child.values.len())) as f32;
            let lost = child.is_some_and(|child| child.exact.is_some_and(|exact| exact.0 == 1));
            if lost { f32::NEG_INFINITY } else { q + c * n.sqrt() * self.prior[mv] * share }
        };
        let mut best = self.moves[0];
        for mv in &self.moves[1..] {
            if score(mv) > score(&best) {
                best = *mv;
            }
        }
        best
    }

    fn proof(&self) -> Option<Proof> {
        self.exact.map(|(result, _)| [Proof::Loss, Proof::Draw, Proof::Win][(result + 1) as usize])
    }

    /// Takes over the priors that the search uses at its root: noise is drawn there.
    fn become_root(&mut self, search: &Search) {
        self.prior = search.moves().map(|stats| (stats.mv, stats.prior)).collect();
        self.visited = self.moves.clone();
        self.visited.retain(|mv| self.children.contains_key(mv));
    }
}

fn blend(config: &SearchConfig, value: f32, margin: f32) -> f32 {
    (value + config.margin_weight * margin) / (1.0 + config.margin_weight)
}

fn random_config(rng: &mut Stream) -> SearchConfig {
    SearchConfig {
        c_init: rng.random_range(0.2..4.0),
        c_base: rng.random_bool(0.5).then(|| rng.random_range(10.0..20_000.0)),
        fpu_reduction: rng.random_range(0.0..0.8),
        root_fpu_reduction: rng.random_range(0.0..0.8),
        root_temperature: if rng.random_bool(0.5) { 1.0 } else { rng.random_range(0.5..2.0) },
        margin_weight: if rng.random_bool(0.5) { 0.0 } else { rng.random_range(0.0..0.3) },
        solve: rng.random_bool(0.5),
        forced_playouts: if rng.random_bool(0.5) { 0.0 } else { rng.random_range(0.0..4.0) },
        ..SearchConfig::default()
    }
}

/// Some moves of a game, each searched by both, the trees kept from move to move.
fn compare(seed: u64) {
    let mut rng = stream(seed, [7, 0, 0]);
    let config = random_config(&mut rng);
    let script = Hashed { seed, coarse: rng.random_bool(0.3) };
    let mut game = random_game(RuleSet::ALL[seed as usize % 5], &mut rng);
    let mut search = Search::new(config.clone());
    let mut root = Node::default();
    let most = if seed.is_multiple_of(16) { 1500 } else { 200 };
    for _ in 0..5 {
        let simulations = rng.random_range(1..most);
        let noise = rng.random_bool(0.5);
        search.begin(&game, Root { simulations: 1, noise }, &mut rng);
        finish(&mut search, &script);
        if root.values.is_empty() {
            root.simulate(&mut game, &script, &config, Some(Noise(noise)));
        }
        root.become_root(&search);
        search.extend(simulations);
        finish(&mut search, &script);
        while root.values.len() < simulations as usize && root.exact.is_none() {
            root.simulate(&mut game, &script, &config, Some(Noise(noise)));
        }

        assert_eq!(search.simulations() as usize, root.values.len());
        assert_eq!(search.value(), Some(root.mean()), "value, seed {seed}");
        assert_eq!(search.proof(), root.proof(), "seed {seed}");
        assert!(search.moves().map(|stats| stats.mv).eq(root.moves.iter().copied()));
        for stats in search.moves() {
            let child = root.children.get(&stats.mv);
            let visits = child.map_or(0, |child| child.values.len());
            assert_eq!(stats.visits as usize, visits, "{}, seed {seed}", stats.mv);
            assert_eq!(stats.value, child.map(|child| -child.mean()));
            assert_eq!(stats.proof, child.and_then(Node::proof).map(Proof::opposite));
        }

        let mv = if rng.random_bool(0.8) {
            search.sample(1.0, &mut rng).unwrap()
        } else {
            root.moves[rng.random_range(0..root.moves.len())]
        };
        game.play(mv).unwrap();
        root = root.children.remove(&mv).unwrap_or_default();
        if game.result().is_some() {
            break;
        }
    }
}

#[test]
fn visits_and_values_equal_the_twins() {
    (0..400).for_each(compare);
}
