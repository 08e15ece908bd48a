//! Small trees worked out by hand, wins and repetitions.

use surakarta_game::{Game, Move, OLYMPIAD, Position, RuleSet, THREEFOLD};
use surakarta_net::Outlook;
use surakarta_search::{Search, SearchConfig, stream};

use crate::script::{even, game, outlook, search};

/// c = 1 and no first-play reduction: numbers that a pencil can follow.
fn plain() -> Search {
    Search::new(SearchConfig {
        c_init: 1.0,
        fpu_reduction: 0.0,
        root_fpu_reduction: 0.0,
        ..SearchConfig::default()
    })
}

/// Black has three moves and no capture is ever near.
const CORNERS: &str = "w5/6/6/6/6/b5 b 0 1";

fn visits(search: &Search) -> Vec<u32> {
    search.moves().map(|stats| stats.visits).collect()
}

#[test]
fn priors_alone() {
    let game = game(OLYMPIAD, CORNERS, "");
    let script = |_: &Position, moves: &[Move]| {
        let mut policy = vec![0.0; moves.len()];
        policy[..3].copy_from_slice(&[0.5, 0.25, 0.25]);
        (policy, outlook(0.0))
    };
    // After the root: 0.5 is highest; √2 · 0.5 / 2 = √2 · 0.25, the first of equals; then the
    // second, the third, and the first again at √5 · 0.5 / 3.
    let expected = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [2, 1, 1], [3, 1, 1]];
    for (n, expected) in expected.into_iter().enumerate() {
        let mut tree = plain();
        search(&mut tree, &script, &game, n as u32 + 1, &mut stream(0, [0; 3]));
        assert_eq!(visits(&tree), expected, "after {} simulations", n + 1);
    }
}

#[test]
fn values_against_priors() {
    let game = game(OLYMPIAD, CORNERS, "");
    let second = game.position().after(game.legal_moves()[1]);
    let script = |position: &Position, moves: &[Move]| {
        let value = if position.key() == second.key() { -1.0 } else { 0.0 };
        (even(position, moves).0, outlook(value))
    };
    // First the first of equals; then the second, whose value is 1; again, at 1 + √3/6 against
    // 1/3 + √3/3 for the unvisited third; its mean falls to 1/2, and the third is next at
    // 1/4 + 2/3 against 1/2 + 2/9; then the second at 1/2 + √5/9.
    let expected = [[1, 0, 0], [1, 1, 0], [1, 2, 0], [1, 2, 1], [1, 3, 1]];
    for (n, expected) in expected.into_iter().enumerate() {
        let mut tree = plain();
        search(&mut tree, &script, &game, n as u32 + 2, &mut stream(0, [0; 3]));
        assert_eq!(visits(&tree), expected, "after {} simulations", n + 2);
    }
    let mut tree = plain();
    search(&mut tree, &script, &game, 5, &mut stream(0, [0; 3]));
    assert_eq!(tree.value(), Some(0.2));
    assert_eq!(tree.moves().nth(1).unwrap().value, Some(0.5));
    assert_eq!(tree.line()[0], tree.best().unwrap());
    assert_eq!(tree.line().len(), 2);
    assert_eq!(tree.work().depth, 2);
}

#[test]
fn margins_count_where_they_are_asked_for() {
    let game = game(OLYMPIAD, CORNERS, "");
    let script = |position: &Position, moves: &[Move]| {
        (even(position, moves).0, Outlook { margin: 0.5, ..outlook(0.25) })
    };
    for (margin_weight, expected) in [(0.0, 0.25), (0.25, 0.3)] {
        let mut tree = Search::new(SearchConfig { margin_weight, ..SearchConfig::default() });
        search(&mut tree, &script, &game, 1, &mut stream(0, [0; 3]));
        assert!((tree.value().unwrap() - expected).abs() < 1e-6);
    }
}

#[test]
fn a_capture_that_wins_is_found() {
    // Black runs from b1 over a loop and takes the last white piece.
    let game = game(OLYMPIAD, "6/6/6/6/w5/1bb3 b 0 1", "");
    let wins: Vec<Move> = game.position().captures();
    assert!(!wins.is_empty());
    let mut tree = Search::new(SearchConfig::default());
    search(&mut tree, &even, &game, 400, &mut stream(0, [0; 3]));
    let best = tree.moves().find(|stats| Some(stats.mv) == tree.best()).unwrap();
    assert!(wins.contains(&best.mv));
    assert_eq!(best.value, Some(1.0));
    assert_eq!(tree.line(), [best.mv]);
    assert!(tree.value().unwrap() > 0.8);
}

/// White to move can go back to f6 and so repeat the start.
fn shuffled(rules: RuleSet, white: &str, black: &str) -> Game {
    game(rules, &format!("{white}/6/6/6/6/{black} b 0 1"), "a1a2 f6f5 a2a1")
}

#[test]
fn a_repetition_wins_or_loses_by_count() {
    let repeats: Move = "f5f6".parse().unwrap();
    for (white, black, value) in [("w4w", "b5", 1.0), ("5w", "b4b", -1.0), ("5w", "b5", 0.0)] {
        let game = shuffled(OLYMPIAD, white, black);
        let mut tree = Search::new(SearchConfig::default());
        search(&mut tree, &even, &game, 300, &mut stream(0, [0; 3]));
        let stats = tree.moves().find(|stats| stats.mv == repeats).unwrap();
        assert_eq!(stats.value, Some(value));
        if value != 0.0 {
            assert_eq!(tree.best() == Some(repeats), value > 0.0);
        }
    }
}

#[test]
fn the_path_decides_what_repeats() {
    let repeats: Move = "f5f6".parse().unwrap();
    // The same position without its history, and under rules that want a third occurrence.
    let fresh = game(OLYMPIAD, "w5/5w/6/6/6/b5 w 3 2", "");
    for game in [fresh, shuffled(THREEFOLD, "w4w", "b5")] {
        let mut tree = Search::new(SearchConfig::default());
        search(&mut tree, &even, &game, 300, &mut stream(0, [0; 3]));
        let stats = tree.moves().find(|stats| stats.mv == repeats).unwrap();
        assert!(stats.value.unwrap() < 1.0);
    }
}
