//! Limits, kept trees, chance, errors.

use std::time::Duration;

use surakarta_game::{Game, Move, OLYMPIAD, THREEFOLD};
use surakarta_net::{Batch, Evaluator, EvaluatorError};
use surakarta_search::descent::Method;
use surakarta_search::{
    Choice, DescentConfig, DescentPlayer, Limits, Player, PlayerError, RandomConfig, RandomPlayer,
};

use crate::script::{Scripted, by, even, game, noise, player, simulations};

/// Its choices in a game against a random player.
fn choices(mut player: DescentPlayer, seed: u64, limits: &Limits) -> Vec<Choice> {
    let mut other = RandomPlayer::new(RandomConfig::default());
    player.new_game(seed);
    other.new_game(1);
    let (mut game, mut choices) = (Game::new(OLYMPIAD), Vec::new());
    while game.result().is_none() {
        let choice = player.choose(&game, limits).unwrap();
        game.play(choice.mv).unwrap();
        choices.push(choice);
        if game.result().is_none() {
            game.play(other.choose(&game, &Limits::default()).unwrap().mv).unwrap();
        }
    }
    choices
}

#[test]
fn the_same_seed_plays_the_same_game() {
    for method in Method::ALL {
        let limits = Limits { nodes: Some(600), ..Limits::default() };
        let varied = || DescentConfig { exploration: 0.3, ..by(method) };
        let one = choices(player(varied(), noise), 1, &limits);
        assert_eq!(one, choices(player(varied(), noise), 1, &limits));
        assert_ne!(one, choices(player(varied(), noise), 2, &limits));
        // Without exploration no seed matters, and a used player is as a new one.
        let mut used = player(by(method), noise);
        used.choose(&Game::new(OLYMPIAD), &limits).unwrap();
        assert_eq!(choices(used, 1, &limits), choices(player(by(method), noise), 2, &limits));
    }
}

#[test]
fn limits_hold_and_those_asked_for_come_first() {
    let game = Game::new(OLYMPIAD);
    let spent = |config: &DescentConfig, limits: &Limits| {
        player(config.clone(), noise).choose(&game, limits).unwrap().work
    };
    let mut config = DescentConfig::default();
    assert_eq!(spent(&config, &Limits::default()).simulations, 400);
    config.limits = simulations(70);
    assert_eq!(spent(&config, &Limits::default()).simulations, 70);
    assert_eq!(spent(&config, &simulations(30)).simulations, 30);
    // Limits of depth say nothing to it.
    assert_eq!(spent(&config, &Limits { depth: Some(5), ..Limits::default() }).simulations, 70);
    let hour = Some(Duration::from_secs(3600));
    assert_eq!(spent(&config, &Limits { time: hour, ..simulations(90) }).simulations, 90);

    for method in Method::ALL {
        let config = by(method);
        // Even without time it looks at every move.
        let no_time = Limits { time: Some(Duration::ZERO), ..Limits::default() };
        let none = spent(&config, &no_time);
        assert_eq!((none.simulations, none.nodes, none.depth), (1, 16, 1));
        for nodes in [1, 16, 40, 1000, 5000] {
            let work = spent(&config, &Limits { nodes: Some(nodes), ..Limits::default() });
            assert!(work.nodes <= nodes.max(16) && work.nodes + 60 > nodes, "{work:?}");
            assert!(work.evaluations <= work.nodes && work.evaluations > work.nodes / 2);
        }
    }
}

#[test]
fn the_tree_is_kept_and_stays_in_bounds() {
    for method in Method::ALL {
        let config = DescentConfig { max_states: 3000, ..by(method) };
        let mut player = player(config, noise);
        let mut game = Game::new(THREEFOLD);
        let first = player.choose(&game, &simulations(1_000_000)).unwrap();
        assert!(first.work.nodes <= 3000 && first.work.nodes > 2900);
        assert_eq!(first.line[0], first.mv);
        // Nothing more fits until the root moves on.
        let again = player.choose(&game, &simulations(1_000_000)).unwrap();
        assert_eq!((again.work.nodes, again.mv), (0, first.mv));
        let kept = player.states().filter(|state| state.depth >= 2).count();
        let inherited: Vec<_> = player.states().collect();
        let often = player.moves().max_by_key(|found| found.visits).unwrap();
        game.play(often.mv).unwrap();
        let opened = |mv: &Move| {
            let position = game.position().after(*mv);
            inherited.iter().any(|state| state.depth == 2 && state.position == position)
        };
        let reply = game.legal_moves().into_iter().find(opened).unwrap();
        game.play(reply).unwrap();
        let second = player.choose(&game, &simulations(1)).unwrap();
        assert_eq!(second.work.simulations, 0);
        let below: Vec<_> = player.states().collect();
        assert!(!below.is_empty() && below.len() <= kept);
        for state in below {
            let before = inherited.iter().filter(|old| {
                (old.position, old.visits, old.value) == (state.position, state.visits, state.value)
            });
            assert!(before.into_iter().any(|old| old.depth == state.depth + 2));
        }
        let third = player.choose(&game, &simulations(1_000_000)).unwrap();
        assert!(third.work.nodes > 0);
        // Another game has nothing of this one.
        let other = Game::new(OLYMPIAD);
        assert_eq!(player.choose(&other, &simulations(1)).unwrap().work.simulations, 1);
    }
}

#[test]
fn exploration_follows_the_ordinal_law() {
    let start = Game::new(OLYMPIAD);
    let limits = Limits { nodes: Some(60), ..Limits::default() };
    for (method, exploration) in [(Method::Ubfm, 0.4), (Method::Descent, 0.4), (Method::Ubfm, 1.0)]
    {
        let config = DescentConfig { exploration, ..by(method) };
        let certain = player(by(method), noise).choose(&start, &limits).unwrap().mv;
        let mut varied = player(config, noise);
        varied.choose(&start, &limits).unwrap();
        // The move that is played without chance, then the others by value.
        let mut ranked: Vec<_> = varied.moves().collect();
        ranked.sort_by(|a, b| {
            let rank = |m: &surakarta_search::descent::MoveValue| (m.mv == certain, m.value);
            rank(b).partial_cmp(&rank(a)).unwrap()
        });
        let ranked: Vec<Move> = ranked.into_iter().map(|found| found.mv).collect();
        let mut counts = vec![0.0; ranked.len()];
        let games = 3000;
        for seed in 0..games {
            varied.new_game(seed);
            let mv = varied.choose(&start, &limits).unwrap().mv;
            counts[ranked.iter().position(|&m| m == mv).unwrap()] += 1.0;
        }
        let mut rest = 1.0;
        for (j, count) in counts.into_iter().enumerate() {
            let left = (ranked.len() - j) as f64;
            let p = rest * (1.0 - exploration as f64 + exploration as f64 / left);
            rest -= p;
            let deviation = (games as f64 * p * (1.0 - p)).sqrt();
            let expected = games as f64 * p;
            assert!((count - expected).abs() < 5.0 * deviation + 1.0, "{j}: {count} {expected}");
        }
    }
}

#[test]
fn a_finished_game_and_a_failing_network_are_errors() {
    let over = game(OLYMPIAD, "6/6/6/6/6/b5 w 0 1", "");
    let error = player(by(Method::Ubfm), even).choose(&over, &Limits::default()).unwrap_err();
    assert!(matches!(error, PlayerError::GameOver));

    struct Failing(u32);
    impl Evaluator for Failing {
        fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
            self.0 += 1;
            if self.0 == 20 {
                return Err(EvaluatorError("out of memory".into()));
            }
            Scripted(noise).evaluate(batch)
        }
    }
    for method in Method::ALL {
        let mut player = DescentPlayer::new(by(method), Box::new(Failing(0)));
        let game = Game::new(OLYMPIAD);
        let error = player.choose(&game, &Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), "the network could not be evaluated: out of memory");
        // The next try goes on from there.
        assert_eq!(player.states().count(), 19);
        let choice = player.choose(&game, &simulations(100)).unwrap();
        let before = if method == Method::Ubfm { 19 } else { 1 };
        assert_eq!(choice.work.simulations, 100 - before);
    }
}
