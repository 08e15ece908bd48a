//! Gumbel searches repeat those of DeepMind's library mctx, which tests/mctx/generate.py has written
//! down: visits and moves exactly, policies and values closely.

use std::collections::HashMap;

use serde::Deserialize;
use surakarta_game::{Game, Move, OLYMPIAD, Position};
use surakarta_search::mcts::gumbel::{Arm, Sigma, schedule};
use surakarta_search::{Method, Search, SearchConfig, stream};

use crate::script::{outlook, search};

#[derive(Deserialize)]
struct Cases {
    /// Considered moves, simulations, and what `schedule` makes of them.
    schedules: Vec<(usize, usize, Vec<u32>)>,
    searches: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    /// The root's own evaluation not included.
    simulations: u32,
    considered: u32,
    c_visit: f32,
    c_scale: f32,
    rescale: bool,
    /// Of the root's moves; all 0 if the search is without.
    noise: Vec<f32>,
    /// The root is the first.
    nodes: Vec<Node>,
    action: usize,
    visits: Vec<u32>,
    weights: Vec<f64>,
    value: f64,
}

#[derive(Deserialize)]
struct Node {
    /// Seen by the side to move.
    value: f32,
    /// Of each move there is; `None` where it is illegal, empty where the game is over.
    logits: Vec<Option<f32>>,
    children: Vec<Option<usize>>,
}

impl Case {
    fn sigma(&self) -> Sigma {
        Sigma { c_visit: self.c_visit, c_scale: self.c_scale, rescale: self.rescale }
    }

    fn is_close(&self, weights: &[(usize, f64)], value: f64) {
        assert!((value - self.value).abs() < 1e-5, "{value} for {}", self.value);
        for &(mv, weight) in weights {
            let expected = self.weights[mv];
            assert!((weight - expected).abs() < 1e-5, "{weight} for {expected}");
        }
        assert!((weights.iter().map(|(_, w)| w).sum::<f64>() - 1.0).abs() < 1e-5);
    }
}

impl Node {
    fn legal(&self) -> Vec<usize> {
        (0..self.logits.len()).filter(|&mv| self.logits[mv].is_some()).collect()
    }

    /// Probabilities of the legal moves.
    fn priors(&self) -> Vec<f32> {
        let weights: Vec<f32> = self.logits.iter().flatten().map(|logit| logit.exp()).collect();
        let sum: f32 = weights.iter().sum();
        weights.iter().map(|w| w / sum).collect()
    }
}

fn cases() -> Cases {
    serde_json::from_str(include_str!("../mctx/cases.json")).unwrap()
}

#[test]
fn schedules_are_those_of_mctx() {
    let cases = cases();
    assert!(cases.schedules.len() >= 5);
    for (considered, simulations, expected) in cases.schedules {
        assert_eq!(schedule(considered, simulations), expected, "{considered}, {simulations}");
    }
}

/// A search of a bare tree, made of the decisions alone.
struct Bare<'a> {
    case: &'a Case,
    schedule: Vec<u32>,
    /// The values of each node's visits, seen by the side to move there.
    values: Vec<Vec<f32>>,
}

impl<'a> Bare<'a> {
    /// The tree after the whole search.
    fn searched(case: &'a Case) -> Bare<'a> {
        let considered = case.nodes[0].legal().len().min(case.considered as usize);
        let schedule = schedule(considered, case.simulations as usize);
        let mut bare = Bare { case, schedule, values: vec![Vec::new(); case.nodes.len()] };
        (0..=case.simulations).for_each(|_| _ = bare.simulate(0));
        bare
    }

    fn mean(&self, node: usize) -> f32 {
        let values = &self.values[node];
        (values.iter().map(|&v| v as f64).sum::<f64>() / values.len() as f64) as f32
    }

    fn arms(&self, node: usize) -> Vec<Arm> {
        let shown = &self.case.nodes[node];
        let arm = |(mv, prior): (usize, f32)| {
            let child = shown.children[mv].filter(|&child| !self.values[child].is_empty());
            let visits = child.map_or(0, |child| self.values[child].len() as u32);
            Arm { prior, visits, value: child.map_or(0.0, |child| -self.mean(child)) }
        };
        shown.legal().into_iter().zip(shown.priors()).map(arm).collect()
    }

    fn noise(&self) -> Vec<f32> {
        self.case.nodes[0].legal().into_iter().map(|mv| self.case.noise[mv]).collect()
    }

    fn simulate(&mut self, node: usize) -> f32 {
        let shown = &self.case.nodes[node];
        let value = if self.values[node].is_empty() || shown.logits.is_empty() {
            shown.value
        } else {
            let (arms, sigma) = (self.arms(node), self.case.sigma());
            let arm = if node == 0 {
                let due = self.schedule[self.values[0].len() - 1];
                sigma.best(shown.value, &arms, &self.noise(), |n| arms[n].visits == due).unwrap()
            } else {
                sigma.follow(shown.value, &arms, &mut Vec::new())
            };
            let child = shown.children[shown.legal()[arm]].expect("a move that mctx has tried");
            -self.simulate(child)
        };
        self.values[node].push(value);
        value
    }
}

#[test]
fn bare_trees_are_searched_as_by_mctx() {
    let searches = cases().searches;
    assert!(searches.len() >= 50);
    for (number, case) in searches.iter().enumerate() {
        let (legal, bare) = (case.nodes[0].legal(), Bare::searched(case));
        let (own, arms) = (case.nodes[0].value, bare.arms(0));
        for (&mv, arm) in legal.iter().zip(&arms) {
            assert_eq!(arm.visits, case.visits[mv], "case {number}");
        }
        let most = arms.iter().map(|arm| arm.visits).max().unwrap();
        let best = case.sigma().best(own, &arms, &bare.noise(), |n| arms[n].visits == most);
        assert_eq!(best.map(|arm| legal[arm]), Some(case.action), "case {number}");
        let mut policy = Vec::new();
        case.sigma().policy(own, &arms, &mut policy);
        let weights: Vec<_> = legal.into_iter().zip(policy).collect();
        case.is_close(&weights, bare.mean(0) as f64);
    }
}

/// A bare tree laid out on the board: positions that nothing else leads to.
#[derive(Default)]
struct Layout {
    /// By position: the node and the legal moves that its own stand for.
    nodes: HashMap<[u64; 2], (usize, Vec<Move>)>,
}

impl Layout {
    fn place(&mut self, case: &Case, node: usize, game: &mut Game) {
        let shown = &case.nodes[node];
        let key = game.position().key();
        self.nodes.insert(key, (node, Vec::new()));
        let (mut moves, mut free) = (Vec::new(), game.legal_moves().into_iter());
        for mv in shown.legal() {
            let child = shown.children[mv];
            let fits = |mv: &Move| {
                let after = game.position().after(*mv);
                child.is_none() || !self.nodes.contains_key(&after.key())
            };
            let real = free.by_ref().find(fits).expect("a move to a new position");
            moves.push(real);
            if let Some(child) = child {
                game.play(real).unwrap();
                assert!(game.result().is_none());
                self.place(case, child, game);
                game.undo();
            }
        }
        self.nodes.get_mut(&key).unwrap().1 = moves;
    }
}

#[test]
fn games_are_searched_as_bare_trees_by_mctx() {
    let mut searched = 0;
    for case in cases().searches {
        // On the board no end comes where the tree has one. Visited once, it is a leaf like others.
        let values = Bare::searched(&case).values;
        let goes_on = case.nodes.iter().zip(&values);
        let goes_on = goes_on.filter(|(node, _)| node.logits.is_empty()).any(|(_, v)| v.len() > 1);
        if goes_on || case.noise.iter().any(|&g| g != 0.0) {
            continue;
        }
        searched += 1;
        let (mut layout, mut game) = (Layout::default(), Game::new(OLYMPIAD));
        layout.place(&case, 0, &mut game);
        // Other moves have no probability: as good as illegal.
        let script = |position: &Position, moves: &[Move]| {
            let (node, own) = &layout.nodes[&position.key()];
            let node = &case.nodes[*node];
            let mut policy = vec![0.0; moves.len()];
            for (mv, prior) in own.iter().zip(node.priors()) {
                policy[moves.iter().position(|other| other == mv).unwrap()] = prior;
            }
            (policy, outlook(node.value))
        };
        let own = &layout.nodes[&game.position().key()].1;
        let mut tree = Search::new(SearchConfig {
            method: Method::Gumbel,
            considered: case.considered.min(own.len() as u32),
            c_visit: case.c_visit,
            c_scale: case.c_scale,
            rescale_values: case.rescale,
            ..SearchConfig::default()
        });
        search(&mut tree, &script, &game, case.simulations + 1, &mut stream(0, [0; 3]));

        let legal = case.nodes[0].legal();
        for stats in tree.moves() {
            let stands_for = own.iter().position(|&mv| mv == stats.mv);
            assert_eq!(stats.visits, stands_for.map_or(0, |n| case.visits[legal[n]]));
        }
        let action = legal.iter().position(|&mv| mv == case.action).unwrap();
        assert_eq!(tree.best(), Some(own[action]));
        let policy: HashMap<Move, f32> = tree.improved_policy().into_iter().collect();
        let weights: Vec<_> =
            legal.iter().zip(own).map(|(&mv, own)| (mv, policy[own] as f64)).collect();
        case.is_close(&weights, tree.value().unwrap() as f64);
    }
    assert!(searched >= 12, "only {searched} searches");
}
