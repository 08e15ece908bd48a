//! What holds for every player that needs no network.

use rand::RngExt;
use surakarta_game::{Color, Game, OLYMPIAD, Outcome, Position, RuleSet, Variant};
use surakarta_search::{
    AlphaBetaConfig, AlphaBetaPlayer, GreedyConfig, GreedyPlayer, Limits, Player, PlayerError,
    RandomConfig, RandomPlayer, RolloutConfig, RolloutPlayer, Stream, stream,
};

fn players() -> Vec<Box<dyn Player>> {
    let playouts = RolloutConfig { playout_plies: 60, ..Default::default() };
    vec![
        Box::new(RandomPlayer::new(RandomConfig::default())),
        Box::new(GreedyPlayer::new(GreedyConfig::default())),
        Box::new(RolloutPlayer::new(playouts)),
        Box::new(AlphaBetaPlayer::new(AlphaBetaConfig { table_mib: 1, ..Default::default() })),
    ]
}

const LITTLE: Limits =
    Limits { simulations: Some(8), nodes: Some(200), depth: None, time: None, clock: None };

/// The position after some random plies of any variant, from the start or from scattered pieces.
fn some_game(rules: RuleSet, rng: &mut Stream) -> Game {
    let variant = Variant::ALL[rng.random_range(0..Variant::ALL.len())];
    let mut game = Game::from_position(rules, Position::start(variant));
    if rng.random() {
        let black = rng.random::<u64>() & rng.random::<u64>() & rng.random::<u64>();
        let white = rng.random::<u64>() & rng.random::<u64>() & rng.random::<u64>() & !black;
        let (black, white) = (black & variant.board(), white & variant.board());
        let side = if rng.random() { Color::Black } else { Color::White };
        if let Ok(start) = Position::new(variant, black, white, side, 0) {
            game = Game::from_position(rules, start);
        }
    }
    for _ in 0..rng.random_range(0..60) {
        let moves = game.legal_moves();
        if !moves.is_empty() {
            game.play_legal(moves[rng.random_range(0..moves.len())]);
        }
    }
    game
}

#[test]
fn play_only_legal_moves_under_every_rule_set() {
    let rng = &mut stream(1, [0; 3]);
    for mut player in players() {
        let (mut played, mut over) = (0, 0);
        for n in 0..2500 {
            let game = some_game(RuleSet::ALL[n % RuleSet::ALL.len()], rng);
            let before = game.positions().to_vec();
            match player.choose(&game, &LITTLE) {
                Ok(choice) => {
                    // `play` checks the repetitions of no-repeat, too.
                    game.clone().play(choice.mv).expect("a legal move");
                    let value = choice.value.unwrap_or(0.0);
                    assert!((-1.0..=1.0).contains(&value));
                    let mut line = game.clone();
                    for &mv in &choice.line {
                        line.play(mv).expect("a legal line");
                    }
                    played += 1;
                }
                Err(error) => {
                    assert!(matches!(error, PlayerError::GameOver));
                    assert!(game.result().is_some());
                    over += 1;
                }
            }
            assert_eq!(game.positions(), before);
        }
        assert!(played > 1500 && over > 50, "{played} {over}");
    }
}

#[test]
fn the_same_seed_gives_the_same_game() {
    for (n, (mut one, mut two)) in players().into_iter().zip(players()).enumerate() {
        let play = |player: &mut dyn Player, seed: u64| {
            player.new_game(seed);
            let mut game = Game::new(OLYMPIAD);
            while game.result().is_none() && game.moves().len() < 60 {
                game.play(player.choose(&game, &LITTLE).expect("not over").mv).expect("legal");
            }
            game.moves().to_vec()
        };
        let first = play(&mut *one, 5);
        play(&mut *one, 6);
        assert_eq!(play(&mut *one, 5), first);
        assert_eq!(play(&mut *two, 5), first);
        // Alpha-beta alone draws no random numbers.
        assert_eq!(play(&mut *two, 6) == first, n == 3);
    }
}

#[test]
fn random_plays_every_move_as_often() {
    let game = Game::new(OLYMPIAD);
    let mut player = RandomPlayer::new(RandomConfig::default());
    let moves = game.legal_moves();
    let mut counts = vec![0; moves.len()];
    for seed in 0..16_000 {
        player.new_game(seed);
        let mv = player.choose(&game, &Limits::default()).expect("not over").mv;
        counts[moves.iter().position(|&m| m == mv).expect("legal")] += 1;
    }
    // Six standard deviations around a thousand.
    assert!(counts.iter().all(|count| (1000_i32 - count).abs() < 184), "{counts:?}");
}

#[test]
fn greedy_captures_unless_the_game_ends_badly() {
    let rng = &mut stream(2, [0; 3]);
    let mut player = GreedyPlayer::new(GreedyConfig::default());
    let (mut captured, mut won, mut spared) = (0, 0, 0);
    for n in 0..4000 {
        let game = some_game(RuleSet::ALL[n % RuleSet::ALL.len()], rng);
        let Ok(choice) = player.choose(&game, &Limits::default()) else { continue };
        let me = game.side_to_move();
        let outcome = |mv| {
            let mut after = game.clone();
            after.play_legal(mv);
            after.result().map_or(0, |result| result.outcome.value_for(me))
        };
        let (moves, captures) = (game.legal_moves(), game.position().captures());
        let best = moves.iter().map(|&mv| outcome(mv)).max();
        assert_eq!(Some(outcome(choice.mv)), best);
        let could = captures.iter().any(|&mv| Some(outcome(mv)) == best);
        assert_eq!(game.position().is_capture(choice.mv), could);
        captured += could as u32;
        won += (best == Some(1)) as u32;
        spared += moves.iter().any(|&mv| Some(outcome(mv)) < best && best < Some(1)) as u32;
    }
    assert!(captured > 500 && won > 50 && spared > 20, "{captured} {won} {spared}");
}

#[test]
fn rollouts_are_counted_and_the_tree_stays_in_bounds() {
    let game = Game::new(OLYMPIAD);
    let choose = |config: RolloutConfig, limits: Limits| {
        RolloutPlayer::new(config).choose(&game, &limits).expect("not over")
    };
    let some = |n| Limits { simulations: Some(n), ..Limits::default() };
    let own = RolloutConfig { limits: some(33), ..Default::default() };
    assert_eq!(choose(own.clone(), Limits::default()).work.simulations, 33);
    assert_eq!(choose(own, some(1)).work.simulations, 1);
    let nothing = RolloutConfig { limits: Limits::default(), ..Default::default() };
    let others = Limits { nodes: Some(5), ..Limits::default() };
    assert_eq!(choose(nothing, others).work.simulations, 400);

    for playouts in [0, 1, 3, 5] {
        let config = RolloutConfig { playouts, ..Default::default() };
        assert_eq!(choose(config, some(21)).work.simulations, 21);
    }

    // The root's sixteen moves fill this tree: nothing is looked at beyond them.
    let small = RolloutConfig { max_nodes: 17, ..Default::default() };
    assert_eq!(choose(small, some(500)).work.depth, 1);
    assert!(choose(RolloutConfig::default(), some(500)).work.depth > 1);
}

#[test]
fn rollouts_find_a_win_in_one() {
    // White's last piece stands on the far side of a loop.
    let start: Position = "6/6/6/w5/6/2b2b b 0 1".parse().expect("a position");
    let game = Game::from_position(OLYMPIAD, start);
    let capture = game.position().captures()[0];
    let mut player = RolloutPlayer::new(RolloutConfig::default());
    let choice = player.choose(&game, &Limits::default()).expect("not over");
    assert_eq!((choice.mv, choice.value), (capture, Some(1.0)));
}

#[test]
fn alphabeta_scores_95_percent_against_greedy() {
    let mut alphabeta = AlphaBetaPlayer::new(AlphaBetaConfig::default());
    let mut greedy = GreedyPlayer::new(GreedyConfig::default());
    let (mut points, mut games) = (0.0, 0.0);
    for pair in 0..20 {
        let rng = &mut stream(pair, [1, 0, 0]);
        let mut opening = Game::new(OLYMPIAD);
        for _ in 0..rng.random_range(4..=8) {
            let moves = opening.legal_moves();
            opening.play_legal(moves[rng.random_range(0..moves.len())]);
        }
        for color in [Color::Black, Color::White] {
            let mut game = opening.clone();
            alphabeta.new_game(pair);
            greedy.new_game(pair);
            while game.result().is_none() {
                let player: &mut dyn Player =
                    if game.side_to_move() == color { &mut alphabeta } else { &mut greedy };
                let choice = player.choose(&game, &Limits::default()).expect("not over");
                game.play(choice.mv).expect("legal");
            }
            games += 1.0;
            points += match game.result().map(|result| result.outcome) {
                Some(Outcome::Win(winner)) => (winner == color) as u8 as f64,
                _ => 0.5,
            };
        }
    }
    assert!(points >= 0.95 * games, "{points} of {games}");
}
