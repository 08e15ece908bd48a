//! What holds in any tree, however a search ended.

use rand::RngExt;
use surakarta_game::{Game, OLYMPIAD};
use surakarta_net::{Batch, Evaluator, EvaluatorError, Outlook};

use super::search::{Bounds, Search};
use super::tree::{ROOT, Tree};
use super::{DescentConfig, Method};
use crate::random::{Stream, stream};

/// Says anything, and fails once in a while.
struct Fickle(Stream);

impl Evaluator for Fickle {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        for at in 0..batch.len() {
            let win = self.0.random::<f32>();
            let outlook = Outlook { wdl: [win, 0.0, 1.0 - win], margin: 0.0 };
            *batch.item_mut(at).3 = outlook;
        }
        let fails = self.0.random_bool(0.01);
        if fails { Err(EvaluatorError("no luck".to_owned())) } else { Ok(()) }
    }
}

/// Everything is as it follows from what lies below; the number of nodes.
fn assert_sound(tree: &Tree) -> usize {
    let mut open = vec![ROOT];
    let mut nodes = 0;
    while let Some(at) = open.pop() {
        nodes += 1;
        let (node, edges) = (tree.node(at), tree.edges(at));
        let best = edges[tree.best(at)].worth;
        let all = edges.iter().all(|edge| edge.worth.resolved);
        assert_eq!(node.worth.resolved, best.completion == 1 || all);
        assert_eq!((node.worth.value, node.worth.completion), (best.value, best.completion));
        assert!(node.visits > 0);
        let through: u32 = edges.iter().map(|edge| edge.visits).sum();
        assert!(through <= node.visits);
        for edge in edges {
            let Some(child) = edge.child.map(u32::from) else {
                assert_eq!(edge.visits, 0);
                continue;
            };
            let below = tree.node(child);
            assert_eq!(edge.visits, below.visits);
            assert_eq!(edge.worth.resolved, below.worth.resolved);
            assert_eq!(edge.worth.value, -below.worth.value);
            assert_eq!(edge.worth.completion, -below.worth.completion);
            open.push(child);
        }
    }
    nodes
}

#[test]
fn a_tree_is_sound_wherever_the_search_stops() {
    let rng = &mut stream(1, [0; 3]);
    let (mut nodes, mut failures, mut full) = (0, 0, 0);
    for n in 0..100 {
        let method = Method::ALL[n % 2];
        let config = DescentConfig { method, max_states: 1000, ..DescentConfig::default() };
        let mut search = Search::new(&config);
        let mut evaluator = Fickle(stream(2, [n as u64, 0, 0]));
        let mut game = Game::new(OLYMPIAD);
        for _ in 0..6 {
            let some = rng.random_bool(0.5);
            let simulations = if some { rng.random_range(1..60) } else { u32::MAX };
            let bounds = Bounds { simulations, nodes: rng.random_range(1..3000), deadline: None };
            let result = search.run(&game, &bounds, &mut evaluator);
            failures += result.is_err() as u32;
            assert_eq!(search.game.positions(), game.positions());
            if search.tree.root().is_some() {
                nodes += assert_sound(&search.tree);
                let states = search.tree.states();
                assert!(states <= 1000 && search.work.nodes <= bounds.nodes.max(16).max(60));
                full += (states > 900) as u32;
            }
            let moves = game.legal_moves();
            game.play_legal(moves[rng.random_range(0..moves.len())]);
            if game.result().is_some() {
                break;
            }
        }
    }
    assert!(nodes > 3000 && failures > 20 && full > 5, "{nodes} {failures} {full}");
}
