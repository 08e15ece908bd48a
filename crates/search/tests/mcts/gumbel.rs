//! Gumbel's decisions worked out by hand, and what its search promises.

use std::collections::HashMap;

use surakarta_game::{Game, Move, OLYMPIAD, Position, RuleSet};
use surakarta_search::mcts::gumbel::{Arm, Sigma, mixed_value, schedule};
use surakarta_search::{
    Limits, MctsConfig, MctsPlayer, Method, Player, Root, Search, SearchConfig, stream,
};

use crate::script::{Hashed, Scripted, even, finish, game, outlook, random_game, search};

const SCRIPT: Hashed = Hashed { seed: 5, coarse: false };

/// Black has three moves and no capture is ever near.
const CORNERS: &str = "w5/6/6/6/6/b5 b 0 1";

fn gumbel() -> SearchConfig {
    SearchConfig { method: Method::Gumbel, ..SearchConfig::default() }
}

fn visits(search: &Search) -> Vec<u32> {
    search.moves().map(|stats| stats.visits).collect()
}

#[test]
fn schedules_halve() {
    // Two rounds: 16 / (2 · 4) = 2 visits each of four, then 16 / (2 · 2) = 4 of two.
    assert_eq!(schedule(4, 16), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    // Two rounds: 10 / (2 · 3) = 1 of three, 10 / (2 · 2) = 2 of two, and what is left.
    assert_eq!(schedule(3, 10), [0, 0, 0, 1, 1, 2, 2, 3, 3, 4]);
    // Too few for a round: those that come first have one.
    assert_eq!(schedule(16, 3), [0, 0, 0]);
    assert_eq!(schedule(1, 4), [0, 1, 2, 3]);
    assert!(schedule(8, 0).is_empty());
    for considered in 1..40 {
        for simulations in 0..200 {
            // Each entry asks for as many visits as some move has by then.
            let (schedule, mut visits) = (schedule(considered, simulations), vec![0; considered]);
            assert_eq!(schedule.len(), simulations);
            for wanted in schedule {
                *visits.iter_mut().find(|visits| **visits == wanted).unwrap() += 1;
            }
        }
    }
}

fn arm(prior: f32, visits: u32, value: f32) -> Arm {
    Arm { prior, visits, value }
}

#[test]
fn a_mixed_value_by_hand() {
    // (0.5 · 0.4 − 0.25 · 0.2) / 0.75 = 0.2, four times; (0.7 + 4 · 0.2) / 5.
    let arms = [arm(0.5, 3, 0.4), arm(0.25, 0, 9.0), arm(0.25, 1, -0.2)];
    assert!((mixed_value(0.7, &arms) - 0.3).abs() < 1e-7);
    assert_eq!(mixed_value(0.5, &[arm(1.0, 0, 9.0)]), 0.5);
}

#[test]
fn an_improved_policy_by_hand() {
    let arms = [arm(0.5, 3, 0.4), arm(0.25, 0, 9.0), arm(0.25, 1, -0.2)];
    // The slope is (2 + 3) · 0.2 = 1: σ = 0.4, 0.3 (the mixed value), −0.2. Rescaled from −0.2 … 0.4 to
    // 0 … 1 they are 1, 5/6 and 0.
    for (rescale, sigma) in [(false, [0.4, 0.3, -0.2]), (true, [1.0, 5.0 / 6.0, 0.0])] {
        let mut policy = Vec::new();
        Sigma { c_visit: 2.0, c_scale: 0.2, rescale }.policy(0.7, &arms, &mut policy);
        let weights: Vec<f64> =
            arms.iter().zip(sigma).map(|(arm, s): (_, f64)| arm.prior as f64 * s.exp()).collect();
        let sum: f64 = weights.iter().sum();
        for (p, weight) in policy.iter().zip(weights) {
            assert!((p - weight / sum).abs() < 1e-6, "{p} for {}", weight / sum);
        }
    }
}

#[test]
fn a_policy_survives_the_steepest_sigma() {
    let sigma = Sigma { c_visit: 1e6, c_scale: 10.0, rescale: true };
    let mut policy = Vec::new();
    // The best move has hardly any probability, and one none at all.
    let arms = [arm(1.0, 5, -1.0), arm(0.0, 1, 1.0), arm(0.0, 0, 0.0)];
    sigma.policy(0.0, &arms, &mut policy);
    assert_eq!(policy, [0.0, 1.0, 0.0]);
    assert_eq!(sigma.follow(0.0, &arms, &mut policy), 1);
    assert_eq!(sigma.best(0.0, &arms, &[], |_| true), Some(1));
    assert_eq!(sigma.best(0.0, &arms, &[], |n| n != 1), Some(2));
    assert_eq!(sigma.best(0.0, &arms, &[], |_| false), None);
}

#[test]
fn visits_below_the_root_follow_the_policy() {
    let sigma = Sigma { c_visit: 0.0, c_scale: 1.0, rescale: false };
    let mut arms = [arm(0.5, 0, 0.0), arm(0.3125, 0, 0.0), arm(0.1875, 0, 0.0)];
    // All worth the same, so π′ = P. P − n / (1 + Σ n): 0.5 is highest; 0 against 0.31 and 0.19; 1/6,
    // −0.02 and 0.19; 0.25, 0.06 and −0.06; 0.1, 0.11 and −0.01; 1/6, −0.02 and 0.02.
    for expected in [0, 1, 2, 0, 1, 0] {
        let next = sigma.follow(0.0, &arms, &mut Vec::new());
        assert_eq!(next, expected);
        arms[next].visits += 1;
    }
}

#[test]
fn a_search_by_hand() {
    let game = game(OLYMPIAD, CORNERS, "");
    let second = game.position().after(game.legal_moves()[1]);
    let script = |position: &Position, moves: &[Move]| {
        let mut policy = vec![0.0; moves.len()];
        policy[..3].copy_from_slice(&[0.5, 0.25, 0.25]);
        let value = if position.key() == second.key() { -1.0 } else { 0.0 };
        (policy, outlook(value))
    };
    // Two moves are considered, and σ is the most visits times q. The root, then: the first move, for
    // ln 0.5; the second, the first of equals, which is worth 1; among two with one visit the second
    // again, ln 0.25 + 1 against ln 0.5; the first, the only one left with one visit.
    let expected = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 2, 0], [2, 2, 0]];
    let config = SearchConfig {
        considered: 2,
        c_visit: 0.0,
        c_scale: 1.0,
        rescale_values: false,
        ..gumbel()
    };
    let mut tree = Search::new(config);
    let mut batch = surakarta_net::Batch::default();
    let mut found = Vec::new();
    tree.begin(&game, Root { simulations: 5, noise: false }, &mut stream(0, [0; 3]));
    while let surakarta_search::Step::Leaf(at) = tree.step(&mut batch) {
        crate::script::evaluate(&script, &mut batch);
        tree.accept(&batch, at);
        batch.clear();
        found.push(visits(&tree));
    }
    assert_eq!(found, expected);
    // The second move is worth 0.5 now, seen twice: ln 0.25 + 2 · 0.5 against ln 0.5.
    assert_eq!(tree.best(), Some(game.legal_moves()[1]));
    assert_eq!(tree.line().len(), 2);
    // The mixed value is (0 + 4 · (0.25 · 0.5 / 0.75)) / 5 = 2/15.
    let weights = [0.5, 0.25 * 1f64.exp(), 0.25 * (4.0 / 15.0f64).exp()];
    for ((_, p), weight) in tree.improved_policy().into_iter().zip(weights) {
        assert!((p as f64 - weight / weights.iter().sum::<f64>()).abs() < 1e-6);
    }
}

#[test]
fn a_capture_that_wins_is_found() {
    let game = game(OLYMPIAD, "6/6/6/6/w5/1bb3 b 0 1", "");
    let wins = game.position().captures();
    for rescale_values in [true, false] {
        let mut tree = Search::new(SearchConfig { rescale_values, ..gumbel() });
        search(&mut tree, &even, &game, 50, &mut stream(0, [0; 3]));
        assert!(wins.contains(&tree.best().unwrap()));
        let policy: HashMap<Move, f32> = tree.improved_policy().into_iter().collect();
        assert!(wins.iter().map(|mv| policy[mv]).sum::<f32>() > 0.9);
    }
}

#[test]
fn noise_draws_moves_by_the_policy_and_leaves_it_alone() {
    let game = Game::new(OLYMPIAD);
    let (mut rng, mut tree) = (stream(1, [0; 3]), Search::new(gumbel()));
    let mut drawn: HashMap<Move, u32> = HashMap::new();
    let draws = 20_000;
    for _ in 0..draws {
        // The root's evaluation alone: the maximum of noise + ln P is a draw from P.
        tree.begin(&game, Root { simulations: 1, noise: true }, &mut rng);
        finish(&mut tree, &SCRIPT);
        *drawn.entry(tree.best().unwrap()).or_default() += 1;
    }
    for ((mv, p), policy) in tree.improved_policy().into_iter().zip(tree.policy()) {
        assert!((p - policy).abs() < 1e-6);
        let share = drawn.get(&mv).copied().unwrap_or(0) as f32 / draws as f32;
        let error = (p * (1.0 - p) / draws as f32).sqrt();
        assert!((share - p).abs() < 4.5 * error, "{mv}: {share} for {p}");
    }
    // Temperature does not draw again.
    assert_eq!(tree.sample(5.0, &mut rng), tree.best());
}

#[test]
fn without_noise_moves_are_drawn_by_the_improved_policy() {
    let game = Game::new(OLYMPIAD);
    let (mut rng, mut tree) = (stream(2, [0; 3]), Search::new(gumbel()));
    search(&mut tree, &SCRIPT, &game, 60, &mut rng);
    assert_eq!(tree.sample(0.0, &mut rng), tree.best());
    let policy = tree.improved_policy();
    for temperature in [0.5, 1.0, 2.0] {
        let weight = |p: f32| (p as f64).powf(1.0 / temperature);
        let sum: f64 = policy.iter().map(|&(_, p)| weight(p)).sum();
        let mut drawn: HashMap<Move, u32> = HashMap::new();
        for _ in 0..4000 {
            let mv = tree.sample(temperature as f32, &mut rng).unwrap();
            *drawn.entry(mv).or_default() += 1;
        }
        for &(mv, p) in &policy {
            let (p, share) = (weight(p) / sum, drawn.get(&mv).copied().unwrap_or(0) as f64 / 4e3);
            assert!((share - p).abs() < 4.5 * (p * (1.0 - p) / 4e3).sqrt() + 1e-9);
        }
    }
}

#[test]
fn a_budget_is_exact_and_counts_what_is_inherited() {
    for seed in 0..40 {
        let mut rng = stream(seed, [1, 0, 0]);
        let mut game = random_game(RuleSet::ALL[seed as usize % 5], &mut rng);
        let mut tree = Search::new(gumbel());
        let mut inherited = 0;
        while game.result().is_none() && game.moves().len() < 160 {
            let budget = 1 + 17 * (game.moves().len() as u32 % 7);
            let noise = seed % 2 == 0;
            tree.begin(&game, Root { simulations: budget, noise }, &mut rng);
            let before: Vec<u32> = match tree.simulations() {
                0 => vec![0; game.legal_moves().len()],
                _ => visits(&tree),
            };
            finish(&mut tree, &SCRIPT);
            assert_eq!(tree.simulations(), budget.max(inherited));
            // The move is one of those that the halving visited most.
            let mv = tree.best().unwrap();
            let gained =
                || tree.moves().zip(&before).map(|(stats, n)| (stats.mv, stats.visits - n));
            let most = gained().map(|(_, n)| n).max();
            assert_eq!(gained().find(|&(other, _)| other == mv).map(|(_, n)| n), most);
            assert!(gained().filter(|&(_, n)| n > 0).count() <= 16);
            inherited = tree.moves().find(|stats| stats.mv == mv).unwrap().visits;
            game.play(mv).unwrap();
        }
    }
}

#[test]
fn asked_again_it_says_the_same() {
    for seed in 0..20 {
        let mut rng = stream(seed, [2, 0, 0]);
        let game = random_game(OLYMPIAD, &mut rng);
        let mut tree = Search::new(SearchConfig { considered: 4, ..gumbel() });
        search(&mut tree, &SCRIPT, &game, 30, &mut rng);
        let first = tree.best();
        search(&mut tree, &SCRIPT, &game, 30, &mut rng);
        assert_eq!((tree.best(), tree.work().simulations), (first, 0));
    }
}

#[test]
fn budgets_raised_in_small_steps_still_halve() {
    let game = Game::new(OLYMPIAD);
    let mut tree = Search::new(gumbel());
    tree.begin(&game, Root { simulations: 1, noise: false }, &mut stream(0, [0; 3]));
    finish(&mut tree, &SCRIPT);
    for budget in (17..=801).step_by(16) {
        tree.extend(budget);
        finish(&mut tree, &SCRIPT);
        assert_eq!(tree.simulations(), budget);
    }
    // Shared out evenly, 800 would be 50 for each of 16.
    let best = tree.moves().find(|stats| Some(stats.mv) == tree.best()).unwrap();
    assert!(best.visits > 100, "{}", best.visits);
}

#[test]
fn a_leaf_can_be_asked_for_again_or_given_up() {
    let game = Game::new(OLYMPIAD);
    let root = Root { simulations: 60, noise: false };
    let mut tree = Search::new(gumbel());
    let mut batch = surakarta_net::Batch::default();
    tree.begin(&game, root, &mut stream(0, [0; 3]));
    let mut n = 0;
    while let surakarta_search::Step::Leaf(at) = tree.step(&mut batch) {
        n += 1;
        match n % 4 {
            0 => continue,
            // Beginning again, or raising the budget, while a leaf waits.
            1 => tree.begin(&game, root, &mut stream(0, [0; 3])),
            2 => tree.extend(60 + n),
            _ => {}
        }
        if n % 4 != 1 {
            crate::script::evaluate(&SCRIPT, &mut batch);
            tree.accept(&batch, at);
        }
        batch.clear();
    }
    assert!(tree.simulations() >= 60);
    assert!(game.legal_moves().contains(&tree.best().unwrap()));
}

#[test]
fn a_finished_game_and_a_forced_move() {
    let over = game(OLYMPIAD, "6/6/6/6/6/b5 w 0 1", "");
    let mut tree = Search::new(gumbel());
    search(&mut tree, &even, &over, 30, &mut stream(0, [0; 3]));
    assert_eq!((tree.simulations(), tree.best(), tree.value()), (0, None, None));
    assert!(tree.line().is_empty() && tree.improved_policy().is_empty());
    assert_eq!(tree.sample(1.0, &mut stream(0, [0; 3])), None);

    let forced = game(OLYMPIAD, "6/6/6/6/w5/bw4 b 0 1", "");
    for (skip_forced, expected) in [(true, 1), (false, 30)] {
        let mut tree = Search::new(SearchConfig { skip_forced, ..gumbel() });
        search(&mut tree, &even, &forced, 30, &mut stream(0, [0; 3]));
        assert_eq!(tree.simulations(), expected);
        assert_eq!(tree.best(), Some(forced.legal_moves()[0]));
        assert_eq!(tree.improved_policy(), [(forced.legal_moves()[0], 1.0)]);
    }
}

#[test]
fn a_player_keeps_its_limits_and_its_seed() {
    let config = |noise| MctsConfig { search: gumbel(), noise, ..MctsConfig::default() };
    let choose = |noise, seed, simulations| {
        let mut player = MctsPlayer::new(config(noise), Box::new(Scripted(SCRIPT)));
        player.new_game(seed);
        let limits = Limits { simulations: Some(simulations), ..Limits::default() };
        player.choose(&Game::new(OLYMPIAD), &limits).unwrap()
    };
    assert_eq!(choose(false, 1, 70), choose(false, 2, 70));
    assert_eq!(choose(true, 1, 70), choose(true, 1, 70));
    assert_eq!(choose(false, 1, 70).work.simulations, 70);
    let moves: std::collections::HashSet<Move> =
        (0..20).map(|seed| choose(true, seed, 5).mv).collect();
    assert!(moves.len() > 2, "{}", moves.len());
    for seed in 0..20 {
        let choice = choose(true, seed, 40);
        assert_eq!(choice.line[0], choice.mv);
    }
}

#[test]
fn values_that_make_no_sense_are_named() {
    for (config, key) in [
        (SearchConfig { considered: 0, ..gumbel() }, "considered is 0"),
        (SearchConfig { c_visit: -1.0, ..gumbel() }, "c_visit is -1"),
        (SearchConfig { c_scale: 0.0, ..gumbel() }, "c_scale is 0"),
    ] {
        let error = config.validate().unwrap_err();
        assert!(error.contains(key), "{error}");
    }
    assert_eq!(gumbel().validate(), Ok(()));
}
