//! Proofs worked out by hand.

use surakarta_game::{Move, OLYMPIAD, Position, RuleSet};
use surakarta_search::{
    Limits, MctsConfig, MctsPlayer, Player, Proof, Search, SearchConfig, stream,
};

use crate::endgames::exhaustive;
use crate::script::{Scripted, even, game, outlook, search};

fn solver() -> Search {
    Search::new(SearchConfig { solve: true, ..SearchConfig::default() })
}

/// Black runs over a loop and takes the last white piece.
const TAKES: &str = "6/6/6/6/w5/1bb3 b 0 1";

#[test]
fn a_search_stops_at_a_proven_win() {
    let takes = game(OLYMPIAD, TAKES, "");
    let mut tree = solver();
    search(&mut tree, &even, &takes, 400, &mut stream(0, [0; 3]));
    let wins: Vec<Move> = takes.position().captures();
    let simulations = tree.simulations();
    assert!(simulations < 100, "{simulations}");
    assert_eq!((tree.proof(), tree.value()), (Some(Proof::Win), Some(1.0)));
    assert!(wins.contains(&tree.best().unwrap()));
    assert_eq!(tree.line(), [tree.best().unwrap()]);
    assert_eq!(tree.policy_visits(), [(tree.best().unwrap(), 1)]);
    let drawn: Vec<Move> =
        (0..20).map(|n| tree.sample(1.0, &mut stream(n, [0; 3])).unwrap()).collect();
    assert_eq!(drawn, [tree.best().unwrap(); 20]);
    tree.extend(1000);
    crate::script::finish(&mut tree, &even);
    assert_eq!(tree.simulations(), simulations);

    let mut without = Search::new(SearchConfig::default());
    search(&mut without, &even, &takes, 400, &mut stream(0, [0; 3]));
    assert_eq!((without.proof(), without.simulations()), (None, 400));
    assert!(without.moves().all(|stats| stats.proof.is_none()));
}

#[test]
fn a_player_stops_thinking_too() {
    let takes = game(OLYMPIAD, TAKES, "");
    let hour = std::time::Duration::from_secs(3600);
    let mut player = MctsPlayer::new(MctsConfig::default(), Box::new(Scripted(even)));
    let limits = Limits { time: Some(hour), ..Limits::default() };
    let choice = player.choose(&takes, &limits).unwrap();
    assert_eq!((choice.value, choice.line.len()), (Some(1.0), 1));
    assert!(choice.work.simulations < 100);
}

/// White to move can go back to f6 and so repeat the start, as in the tests of trees.
fn shuffled(rules: &str, white: &str, black: &str) -> surakarta_game::Game {
    let rules: RuleSet = rules.parse().unwrap();
    game(rules, &format!("{white}/6/6/6/6/{black} b 0 1"), "a1a2 f6f5 a2a1")
}

#[test]
fn a_move_that_is_proven_to_lose_is_left_alone() {
    let repeats: Move = "f5f6".parse().unwrap();
    let game = shuffled("olympiad", "5w", "b4b");
    // The policy wants that move above all.
    let wants = |_: &Position, moves: &[Move]| {
        let rest = 0.1 / moves.len() as f32;
        let policy = moves.iter().map(|&mv| if mv == repeats { 0.9 + rest } else { rest });
        (policy.collect(), outlook(0.0))
    };
    let of = |tree: &Search| tree.moves().find(|stats| stats.mv == repeats).unwrap();
    let mut tree = solver();
    search(&mut tree, &wants, &game, 2, &mut stream(0, [0; 3]));
    assert_eq!((of(&tree).visits, of(&tree).proof), (1, Some(Proof::Loss)));
    // Nothing else has been looked at, and still it is not the move to play or to learn.
    assert_ne!(tree.best(), Some(repeats));
    assert_eq!(tree.sample(1.0, &mut stream(0, [0; 3])), tree.best());
    assert!(tree.policy_visits().is_empty() && tree.line().is_empty());
    search(&mut tree, &wants, &game, 60, &mut stream(0, [0; 3]));
    assert_eq!((of(&tree).visits, of(&tree).value), (1, Some(-1.0)));
    assert!(tree.policy_visits().iter().all(|&(mv, _)| mv != repeats));
    assert_eq!(tree.policy_visits().iter().map(|&(_, visits)| visits).sum::<u32>(), 58);

    let mut without = Search::new(SearchConfig::default());
    search(&mut without, &wants, &game, 60, &mut stream(0, [0; 3]));
    assert!(of(&without).visits > 1);
}

#[test]
fn a_drawing_move_draws_where_all_others_lose() {
    // One ply before the end by count; a piece fewer loses unless the last move takes one.
    let rules = "olympiad,no-capture=1";
    for (white, black, proof) in [("5w", "b5", Proof::Draw), ("5w", "b4b", Proof::Loss)] {
        let start = format!("{white}/6/6/6/6/{black} w 0 1");
        let game = game(rules.parse().unwrap(), &start, "");
        let mut tree = solver();
        search(&mut tree, &even, &game, 400, &mut stream(0, [0; 3]));
        assert_eq!(tree.proof(), Some(proof));
        // Each move once, and the root.
        assert_eq!(tree.simulations() as usize, 1 + game.legal_moves().len());
        assert_eq!(tree.policy_visits().len(), game.legal_moves().len());
        assert_eq!(tree.value(), Some(proof as i8 as f32 - 1.0));
    }
}

#[test]
fn a_proof_holds_on_its_own_path_alone() {
    // White steps to a2 in front of black's way from b1 around the corner. Where it has stood there
    // before, with Black to move, that ends the game as a draw; on the other path Black takes it.
    let rules: RuleSet = "olympiad,no-capture=8".parse().unwrap();
    let start = "6/6/6/1w4/6/1b4 w 0 1";
    let steps: Move = "a3a2".parse().unwrap();
    let root = game(rules, start, "");
    let by_repeating = game(rules, start, "b3a2 b1b2 a2a3 b2b1");
    let by_another_way = game(rules, start, "b3a4 b1b2 a4a3 b2b1");
    assert_eq!(by_repeating.position(), by_another_way.position());
    let mut common = solver();
    search(&mut common, &even, &root, 2000, &mut stream(0, [0; 3]));
    // Trees that go on from the common root, and one that is led from one path to the other.
    let mut led = solver();
    for (game, proof) in
        [(&by_repeating, Proof::Draw), (&by_another_way, Proof::Loss), (&by_repeating, Proof::Draw)]
    {
        let mut after = game.clone();
        after.play(steps).unwrap();
        assert_eq!(after.result().is_some(), proof == Proof::Draw);
        assert_eq!(exhaustive(&mut after, &mut 100_000).unwrap().opposite(), proof);
        for tree in [&mut common.clone(), &mut led] {
            search(tree, &even, game, 3000, &mut stream(0, [0; 3]));
            assert!(tree.work().simulations > 0);
            let stats = tree.moves().find(|stats| stats.mv == steps).unwrap();
            assert_eq!(stats.proof, Some(proof));
        }
    }
}

#[test]
fn a_proof_is_about_the_result_and_its_value_about_the_margin_too() {
    let takes = game(OLYMPIAD, TAKES, "");
    let mut tree =
        Search::new(SearchConfig { solve: true, margin_weight: 0.5, ..SearchConfig::default() });
    search(&mut tree, &even, &takes, 400, &mut stream(0, [0; 3]));
    // Two pieces of twelve are left: (1 + 0.5 / 6) / 1.5.
    assert_eq!(tree.proof(), Some(Proof::Win));
    assert!((tree.value().unwrap() - 13.0 / 18.0).abs() < 1e-6);
}
