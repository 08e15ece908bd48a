use std::collections::{HashMap, HashSet};

use rand::{Rng, RngExt};
use surakarta_game::{
    AGREEMENT, CONTEST, Ending, Game, NO_REPEAT, OLYMPIAD, Playout, Position, Repetition, RuleSet,
    THREEFOLD, Variant, play_out, play_out_many, reference,
};

use crate::sources::{limited, play_random, positions_of_all, scattered, stream};

/// The random game that a seed gives, or its first plies.
fn playout(game: &Game, max_plies: u32, seed: u64) -> Playout {
    let mut rng = stream(seed);
    play_out(game, max_plies, || rng.next_u64())
}

/// Follows a random game ply by ply, asking the slow twin each time. The same seed broken off after
/// every number of plies shows its moves.
fn compare(game: &Game, seed: u64) -> Playout {
    let whole = playout(game, u32::MAX, seed);
    let mut replayed = game.clone();
    for plies in 0..=whole.plies {
        let part = playout(game, plies, seed);
        assert_eq!(part.plies, plies);
        if plies > 0 {
            let before = *replayed.position();
            let mut moves = reference::legal_moves(game.rules(), replayed.positions());
            moves.retain(|&mv| before.after(mv) == part.position);
            let [mv] = moves[..] else { panic!("no move from {before} to {}", part.position) };
            replayed.play(mv).expect("a legal move");
        }
        assert_eq!(part.position, *replayed.position());
        let result = reference::result(game.rules(), replayed.positions());
        assert_eq!(
            part.result,
            result,
            "{} after {plies} plies from {}",
            game.rules(),
            game.start()
        );
    }
    assert_eq!(playout(game, whole.plies, seed), whole);
    assert!(whole.result.is_some());
    whole
}

#[test]
fn random_games_are_played_and_ended_as_the_slow_twin_says() {
    let mut rng = stream(50);
    let mut endings: HashMap<_, u32> = HashMap::new();
    for seed in 0..100 {
        let named = RuleSet::ALL[seed as usize % RuleSet::ALL.len()];
        let mut rules = limited(
            named,
            [named.no_capture, named.no_capture, Some(127), Some(128)][rng.random_range(0..4)],
            [named.ply_cap, named.ply_cap, Some(60)][rng.random_range(0..3)],
        );
        if let (Repetition::Ends(_), true) = (rules.repetition, rng.random()) {
            rules.repetition = Repetition::Ends(rng.random_range(2..5));
        }
        let variant = Variant::ALL[rng.random_range(0..Variant::ALL.len())];
        let start =
            if rng.random() { Position::start(variant) } else { scattered(variant, &mut rng) };
        // With some history, which the present position may repeat.
        let mut game = Game::from_position(rules, start);
        for _ in 0..rng.random_range(0..30) {
            if game.result().is_none() {
                play_random(&mut game, &mut rng);
            }
        }
        let ending = compare(&game, seed).result.expect("an ending").ending;
        *endings.entry(ending).or_default() += 1;
    }
    assert!(endings.len() >= 5, "{endings:?}");
    // White's only piece is shut in its corner, as long as Black's other piece moves.
    let shut_in = Game::from_position(OLYMPIAD, "wb4/bb4/6/6/6/5b b 0 1".parse().unwrap());
    let ending = |seed| compare(&shut_in, seed).result.expect("an ending").ending;
    let no_moves = (0..40).filter(|&seed| ending(seed) == Ending::NoMoves).count();
    assert!(no_moves > 3, "{no_moves}");
    for rules in [OLYMPIAD, THREEFOLD, NO_REPEAT, CONTEST, AGREEMENT] {
        compare(&Game::new(rules), 1);
    }
}

/// Shuffling pieces from the first ply on, the history before a random game makes it end.
#[test]
fn positions_before_a_random_game_count_as_repeated() {
    let mut seen = HashSet::new();
    for seed in 0..2_000 {
        let mut game = Game::from_position(OLYMPIAD, "6/6/6/6/w5/5b b 0 1".parse().unwrap());
        for text in ["f1f2", "a2a1", "f2f1"] {
            game.play(text.parse().unwrap()).unwrap();
        }
        // Only a1a2 leads back to the start.
        let part = playout(&game, 1, seed);
        let repeats = part.position.key() == game.start().key();
        assert_eq!(part.result.is_some(), repeats, "{}", part.position);
        seen.insert(repeats);
    }
    assert_eq!(seen.len(), 2);
}

#[test]
fn every_move_is_drawn_as_often_as_any_other() {
    let mut rng = stream(51);
    let mut captures = 0;
    for position in positions_of_all(52, 60) {
        let game = Game::from_position(AGREEMENT, position);
        let moves = reference::moves(&position);
        if game.result().is_some() || moves.is_empty() {
            continue;
        }
        captures += reference::captures(&position).len();
        let mut drawn: HashMap<Position, u32> = HashMap::new();
        let each = 200;
        for _ in 0..each * moves.len() {
            let part = play_out(&game, 1, || rng.next_u64());
            *drawn.entry(part.position).or_default() += 1;
        }
        let expected: HashSet<Position> = moves.iter().map(|&mv| position.after(mv)).collect();
        assert_eq!(drawn.keys().copied().collect::<HashSet<_>>(), expected, "{position}");
        // Six standard deviations of a count with this mean.
        let most = 6.0 * (each as f64).sqrt();
        for (next, times) in drawn {
            assert!((times as f64 - each as f64).abs() < most, "{position} to {next}: {times}");
        }
    }
    assert!(captures > 100, "{captures}");
}

#[test]
fn several_games_at_a_time_are_the_same_games() {
    let starts = [
        Game::new(OLYMPIAD),
        Game::new(limited(AGREEMENT, None, Some(300))),
        Game::from_position(THREEFOLD, Position::start(Variant::Sepur)),
        Game::from_position(OLYMPIAD, Position::start(Variant::Rural)),
        Game::from_position(OLYMPIAD, "6/6/6/6/b5/6 b 0 1".parse().unwrap()),
    ];
    for (game, games) in starts.iter().flat_map(|game| [0, 1, 3, 4, 5, 7, 100].map(|n| (game, n))) {
        for max_plies in [0, 1, 50, u32::MAX] {
            let mut played = vec![None; games as usize];
            let streams = |number| {
                let mut rng = stream(number);
                move || rng.next_u64()
            };
            play_out_many(game, max_plies, games, streams, |number, playout| {
                assert_eq!(played[number as usize].replace(playout), None);
            });
            for (number, done) in played.into_iter().enumerate() {
                assert_eq!(done, Some(playout(game, max_plies, number as u64)));
            }
        }
    }
}

#[test]
fn a_broken_off_game_is_decided_by_counting() {
    let game = Game::from_position(OLYMPIAD, "6/6/6/6/w5/4bb b 0 1".parse().unwrap());
    let part = playout(&game, 0, 1);
    assert_eq!((part.result, part.position, part.plies), (None, *game.position(), 0));
    assert_eq!(part.outcome(), surakarta_game::Outcome::Win(surakarta_game::Color::Black));
}
