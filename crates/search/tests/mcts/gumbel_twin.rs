//! Gumbel's search as one would write it on a blackboard, with logarithms, which the search must equal
//! visit for visit.

use std::collections::HashMap;

use rand::RngExt;
use rand_distr::{Distribution, Gumbel};
use surakarta_game::{Game, Move, RuleSet};
use surakarta_search::{Method, Root, Search, SearchConfig, Stream, stream};

use crate::script::{Hashed, Script, finish, random_game};

#[derive(Default)]
struct Node {
    /// The value of every visit, seen by the side to move; the first is its own.
    values: Vec<f32>,
    moves: Vec<Move>,
    prior: HashMap<Move, f32>,
    children: HashMap<Move, Node>,
}

/// What one search knows at its root.
struct Halving {
    noise: HashMap<Move, f64>,
    before: HashMap<Move, usize>,
    considered: usize,
    /// How many simulations it will have, and has had.
    length: usize,
    done: usize,
}

impl Node {
    fn mean(&self) -> f32 {
        (self.values.iter().map(|&v| v as f64).sum::<f64>() / self.values.len() as f64) as f32
    }

    fn visits(&self, mv: Move) -> usize {
        self.children.get(&mv).map_or(0, |child| child.values.len())
    }

    /// ln P + σ(completed q) of each move.
    fn logits(&self, config: &SearchConfig) -> HashMap<Move, f64> {
        let tried: Vec<Move> =
            self.moves.iter().copied().filter(|&mv| self.visits(mv) > 0).collect();
        let q = |mv: Move| -self.children[&mv].mean() as f64;
        let n: usize = tried.iter().map(|&mv| self.visits(mv)).sum();
        let weight: f64 = tried.iter().map(|mv| self.prior[mv] as f64).sum();
        let weighted: f64 = tried.iter().map(|mv| self.prior[mv] as f64 / weight * q(*mv)).sum();
        let mixed = (self.values[0] as f64 + n as f64 * weighted) / (n as f64 + 1.0);
        let most = self.moves.iter().map(|&mv| self.visits(mv)).max().unwrap();
        let of_all = || tried.iter().map(|&mv| q(mv)).chain([mixed]);
        let (low, high) = (of_all().fold(1.0, f64::min), of_all().fold(-1.0, f64::max));
        let logit = |mv: Move| {
            let q = if self.visits(mv) > 0 { q(mv) } else { mixed };
            let q = if config.rescale_values { (q - low) / (high - low).max(1e-8) } else { q };
            let sigma = (config.c_visit as f64 + most as f64) * config.c_scale as f64 * q;
            (self.prior[&mv] as f64).ln() + sigma
        };
        self.moves.iter().map(|&mv| (mv, logit(mv))).collect()
    }

    fn policy(&self, config: &SearchConfig) -> HashMap<Move, f64> {
        let logits = self.logits(config);
        let highest = logits.values().copied().fold(f64::MIN, f64::max);
        let sum: f64 = logits.values().map(|x| (x - highest).exp()).sum();
        logits.into_iter().map(|(mv, x)| (mv, (x - highest).exp() / sum)).collect()
    }

    fn follow(&self, config: &SearchConfig) -> Move {
        let policy = self.policy(config);
        let n: usize = self.moves.iter().map(|&mv| self.visits(mv)).sum();
        let score = |mv: Move| policy[&mv] - self.visits(mv) as f64 / (1.0 + n as f64);
        self.highest(&self.moves, score)
    }

    fn highest(&self, moves: &[Move], score: impl Fn(Move) -> f64) -> Move {
        moves[1..]
            .iter()
            .fold(moves[0], |best, &mv| if score(mv) > score(best) { mv } else { best })
    }

    /// The best of those with so many new visits, or with the most.
    fn best(&self, config: &SearchConfig, halving: &Halving, visits: Option<usize>) -> Move {
        // At the end of a search without any, inherited visits count.
        let all = visits.is_none() && halving.length == 0;
        let before = |mv: Move| if all { 0 } else { halving.before[&mv] };
        let new = |mv: Move| self.visits(mv) - before(mv);
        let visits = visits.unwrap_or(self.moves.iter().map(|&mv| new(mv)).max().unwrap());
        let due: Vec<Move> = self.moves.iter().copied().filter(|&mv| new(mv) == visits).collect();
        let logits = self.logits(config);
        self.highest(&due, |mv| halving.noise.get(&mv).unwrap_or(&0.0) + logits[&mv])
    }

    /// One simulation; returns its value, seen by the side to move.
    fn simulate(
        &mut self,
        game: &mut Game,
        script: &Hashed,
        config: &SearchConfig,
        halving: Option<&Halving>,
    ) -> f32 {
        let value = if let Some(result) = game.result() {
            result.outcome.value_for(game.side_to_move()) as f32
        } else if self.values.is_empty() {
            self.moves = game.legal_moves();
            let (policy, outlook) = script.evaluate(game.position(), &self.moves);
            self.prior = self.moves.iter().copied().zip(policy).collect();
            outlook.value()
        } else {
            let mv = match halving {
                Some(halving) => self.best(config, halving, Some(halving.wanted())),
                None => self.follow(config),
            };
            game.play(mv).unwrap();
            let value = -self.children.entry(mv).or_default().simulate(game, script, config, None);
            game.undo();
            value
        };
        self.values.push(value);
        value
    }
}

impl Halving {
    /// The visits that the next move must have: round by round, as the paper tells it.
    fn wanted(&self) -> usize {
        if self.considered == 1 {
            return self.done;
        }
        let rounds = (self.considered as f64).log2().ceil() as usize;
        let (mut left, mut done, mut visits) = (self.considered, self.done, 0);
        loop {
            let each = (self.length / (rounds * left)).max(1);
            if done < each * left {
                return visits + done / left;
            }
            (done, visits) = (done - each * left, visits + each);
            left = (left / 2).max(2);
        }
    }
}

fn random_config(rng: &mut Stream) -> SearchConfig {
    SearchConfig {
        method: Method::Gumbel,
        considered: rng.random_range(1..20),
        c_visit: rng.random_range(0.0..80.0),
        c_scale: rng.random_range(0.02..1.0),
        rescale_values: rng.random_bool(0.7),
        ..SearchConfig::default()
    }
}

/// Some moves of a game, each searched by both, the trees kept from move to move.
fn compare(seed: u64) {
    let mut rng = stream(seed, [8, 0, 0]);
    let config = random_config(&mut rng);
    let script = Hashed { seed, coarse: false };
    let mut game = random_game(RuleSet::ALL[seed as usize % 5], &mut rng);
    let mut search = Search::new(config.clone());
    let mut root = Node::default();
    for _ in 0..5 {
        let simulations = rng.random_range(1..150);
        let noise = rng.random_bool(0.5);
        let moves = game.legal_moves();
        let mut same = rng.clone();
        search.begin(&game, Root { simulations, noise }, &mut rng);
        let gumbel = Gumbel::new(0.0, 1.0).unwrap();
        let drawn = moves.iter().map(|&mv| (mv, (gumbel.sample(&mut same) as f64 as f32) as f64));
        let mut halving = Halving {
            noise: if noise { drawn.collect() } else { HashMap::new() },
            before: moves.iter().map(|&mv| (mv, root.visits(mv))).collect(),
            considered: moves.len().min(config.considered as usize),
            length: (simulations as usize).saturating_sub(root.values.len().max(1)),
            done: 0,
        };
        finish(&mut search, &script);
        while root.values.len() < simulations as usize {
            let is_first = root.values.is_empty();
            root.simulate(&mut game, &script, &config, Some(&halving));
            halving.done += if is_first { 0 } else { 1 };
        }

        assert_eq!(search.simulations() as usize, root.values.len());
        assert_eq!(search.value(), Some(root.mean()), "value, seed {seed}");
        for stats in search.moves() {
            assert_eq!(stats.visits as usize, root.visits(stats.mv), "{}, seed {seed}", stats.mv);
        }
        let policy = root.policy(&config);
        for (mv, p) in search.improved_policy() {
            assert!((p as f64 - policy[&mv]).abs() < 1e-6, "{p} for {}", policy[&mv]);
        }
        let best = root.best(&config, &halving, None);
        assert_eq!(search.best(), Some(best), "seed {seed}");

        let mv = if rng.random_bool(0.8) { best } else { moves[rng.random_range(0..moves.len())] };
        game.play(mv).unwrap();
        root = root.children.remove(&mv).unwrap_or_default();
        if game.result().is_some() {
            break;
        }
    }
}

#[test]
fn visits_equal_the_twins() {
    (0..200).for_each(compare);
}
