//! The player around the search.

use std::time::Duration;

use surakarta_game::{Game, Move, OLYMPIAD};
use surakarta_net::{Batch, Evaluator, EvaluatorError};
use surakarta_search::{
    Choice, Limits, MctsConfig, MctsPlayer, Player, PlayerError, RandomConfig, RandomPlayer,
};

use crate::script::{Hashed, Scripted, even, game};

fn player(config: MctsConfig) -> MctsPlayer {
    MctsPlayer::new(config, Box::new(Scripted(Hashed { seed: 3, coarse: false })))
}

fn simulations(n: u32) -> Limits {
    Limits { simulations: Some(n), ..Limits::default() }
}

/// Its choices in a game against a random player.
fn choices(mut player: MctsPlayer, seed: u64, limits: &Limits) -> Vec<Choice> {
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
    let varied = || MctsConfig { noise: true, temperature_plies: 20, ..MctsConfig::default() };
    let limits = simulations(60);
    let one = choices(player(varied()), 1, &limits);
    assert_eq!(one, choices(player(varied()), 1, &limits));
    assert_ne!(one, choices(player(varied()), 2, &limits));
    // Without noise and temperature no seed matters.
    let certain = choices(player(MctsConfig::default()), 1, &limits);
    assert_eq!(certain, choices(player(MctsConfig::default()), 2, &limits));
}

#[test]
fn a_player_is_as_new_in_a_new_game() {
    let mut used = player(MctsConfig::default());
    used.new_game(5);
    used.choose(&Game::new(OLYMPIAD), &simulations(500)).unwrap();
    let limits = simulations(60);
    let (used, fresh) = (choices(used, 1, &limits), player(MctsConfig::default()));
    assert_eq!(used, choices(fresh, 1, &limits));
}

#[test]
fn without_its_tree_a_player_chooses_as_a_new_one_would() {
    let config = MctsConfig { reuse: false, ..MctsConfig::default() };
    let limits = simulations(60);
    let mut forgetful = player(config.clone());
    let (mut game, mut differ) = (Game::new(OLYMPIAD), false);
    let mut keeper = player(MctsConfig::default());
    for _ in 0..12 {
        let choice = forgetful.choose(&game, &limits).unwrap();
        assert_eq!(choice, player(config.clone()).choose(&game, &limits).unwrap());
        differ |= choice != keeper.choose(&game, &limits).unwrap();
        game.play(choice.mv).unwrap();
    }
    assert!(differ);
}

#[test]
fn a_search_ends_when_its_memory_is_spent() {
    let mut config = MctsConfig { memory_mib: 1, ..MctsConfig::default() };
    config.search.stop_early = false;
    let mut bounded = player(config);
    let mut game = Game::new(OLYMPIAD);
    for _ in 0..6 {
        let choice = bounded.choose(&game, &simulations(1_000_000)).unwrap();
        let bytes = bounded.search().bytes();
        // The last simulation adds one node and its moves.
        assert!((1 << 20..(1 << 20) + 4096).contains(&bytes), "{bytes}");
        assert!((1_000..10_000).contains(&bounded.search().simulations()));
        game.play(choice.mv).unwrap();
    }
}

#[test]
fn limits_asked_for_come_before_its_own() {
    let game = Game::new(OLYMPIAD);
    let mut config = MctsConfig::default();
    config.search.stop_early = false;
    let spent = |config: &MctsConfig, limits: &Limits| {
        player(config.clone()).choose(&game, limits).unwrap().work.simulations
    };
    assert_eq!(spent(&config, &Limits::default()), 400);
    config.limits = simulations(70);
    assert_eq!(spent(&config, &Limits::default()), 70);
    assert_eq!(spent(&config, &simulations(30)), 30);
    // Limits of alpha-beta say nothing to it.
    assert_eq!(spent(&config, &Limits { nodes: Some(5), ..Limits::default() }), 70);
    let hour = Some(Duration::from_secs(3600));
    assert_eq!(spent(&config, &Limits { time: hour, ..simulations(90) }), 90);
    let no_time = Some(Duration::ZERO);
    assert_eq!(spent(&config, &Limits { time: no_time, ..simulations(90) }), 1);
}

#[test]
fn the_tree_is_kept_from_move_to_move() {
    let mut player = player(MctsConfig::default());
    let mut game = Game::new(OLYMPIAD);
    let first = player.choose(&game, &simulations(1000)).unwrap();
    assert!(first.line.len() >= 3 && first.line[0] == first.mv);
    first.line[..2].iter().for_each(|&mv| game.play(mv).unwrap());
    let second = player.choose(&game, &simulations(1000)).unwrap();
    assert!(second.work.simulations < 1000);
    assert_eq!(second.work.nodes, 0);
    assert!(second.work.evaluations <= second.work.simulations);
}

#[test]
fn it_takes_what_is_offered() {
    let takes = game(OLYMPIAD, "6/6/6/6/w5/1bb3 b 0 1", "");
    let mut blind = MctsPlayer::new(MctsConfig::default(), Box::new(Scripted(even)));
    let choice = blind.choose(&takes, &Limits::default()).unwrap();
    let wins: Vec<Move> = takes.position().captures();
    assert!(wins.contains(&choice.mv));
    assert!(choice.value.unwrap() > 0.5);
}

#[test]
fn a_finished_game_and_a_failing_network_are_errors() {
    let over = game(OLYMPIAD, "6/6/6/6/6/b5 w 0 1", "");
    let error = player(MctsConfig::default()).choose(&over, &Limits::default()).unwrap_err();
    assert!(matches!(error, PlayerError::GameOver));

    struct Failing(u32);
    impl Evaluator for Failing {
        fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
            self.0 += 1;
            if self.0 == 20 {
                return Err(EvaluatorError("out of memory".into()));
            }
            Scripted(even).evaluate(batch)
        }
    }
    let mut player = MctsPlayer::new(MctsConfig::default(), Box::new(Failing(0)));
    let game = Game::new(OLYMPIAD);
    let error = player.choose(&game, &Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "the network could not be evaluated: out of memory");
    // The next try goes on from there.
    let choice = player.choose(&game, &simulations(100)).unwrap();
    assert_eq!(choice.work.simulations, 100 - 19);
}
