use std::collections::HashMap;

use rand::RngExt;
use surakarta_game::{
    AGREEMENT, CONTEST, Color, Ending, Game, Move, NO_REPEAT, OLYMPIAD, Outcome, Position,
    Repetition, RuleSet, THREEFOLD, Variant, reference,
};

use crate::sources::{limited, play_random, random_game, scattered, stream};

fn sorted(mut moves: Vec<Move>) -> Vec<Move> {
    moves.sort();
    moves
}

/// Plays a game at random, asking the slow twin at every ply; gives its ending.
fn compare(rules: RuleSet, start: Position, seed: u64) -> Ending {
    let mut rng = stream(seed);
    let mut game = Game::from_position(rules, start);
    loop {
        let result = reference::result(&rules, game.positions());
        assert_eq!(game.result(), result, "{rules}, {} moves from {start}", game.moves().len());
        let twins = game.positions().iter().filter(|p| p.key() == game.position().key());
        assert_eq!(game.occurrences(), twins.count() as u32);
        if let Some(result) = result {
            return result.ending;
        }
        let moves = sorted(game.legal_moves());
        assert_eq!(moves, sorted(reference::legal_moves(&rules, game.positions())));
        play_random(&mut game, &mut rng);
    }
}

#[test]
fn games_end_as_the_slow_twin_says_under_every_rule_set() {
    let mut endings: HashMap<(&str, Ending), u32> = HashMap::new();
    let mut rng = stream(30);
    for rules in RuleSet::ALL {
        for seed in 0..200 {
            // Short limits, so that different endings meet.
            let mut rules = limited(
                rules,
                [rules.no_capture, None, Some(8), Some(20)][rng.random_range(0..4)],
                [Some(150), Some(9), Some(30), Some(80)][rng.random_range(0..4)],
            );
            if rules.repetition == THREEFOLD.repetition && rng.random_ratio(1, 4) {
                rules.repetition = Repetition::Ends(rng.random_range(2..6));
            }
            let variant = Variant::ALL[rng.random_range(0..Variant::ALL.len())];
            let start =
                if seed % 3 == 0 { Position::start(variant) } else { scattered(variant, &mut rng) };
            *endings.entry((rules.name(), compare(rules, start, seed))).or_default() += 1;
        }
    }
    let seen = |rules: RuleSet, ending| endings.contains_key(&(rules.name(), ending));
    for rules in RuleSet::ALL {
        for ending in [Ending::CapturedAll, Ending::NoProgress, Ending::PlyCap] {
            assert!(seen(rules, ending), "{ending} under {rules}: {endings:?}");
        }
        let ends = matches!(rules.repetition, Repetition::Ends(_));
        assert_eq!(seen(rules, Ending::Repetition), ends, "{rules}: {endings:?}");
        assert_eq!(seen(rules, Ending::NoCaptureLeft), rules == CONTEST, "{rules}: {endings:?}");
    }
}

#[test]
fn named_rule_sets_without_further_limits_agree_with_the_slow_twin() {
    for rules in [OLYMPIAD, THREEFOLD, NO_REPEAT, CONTEST] {
        for seed in 0..8 {
            compare(rules, Position::default(), seed);
        }
        for (variant, seed) in Variant::ALL.into_iter().zip(0..) {
            compare(rules, Position::start(variant), seed);
        }
    }
    compare(AGREEMENT, Position::default(), 0);
}

#[test]
fn taking_moves_back_restores_everything() {
    let mut rng = stream(31);
    for rules in RuleSet::ALL {
        for n in 0..40 {
            let start = scattered(Variant::ALL[n % Variant::ALL.len()], &mut rng);
            let mut game = Game::from_position(limited(rules, Some(30), Some(120)), start);
            let mut history = Vec::new();
            while game.result().is_none() {
                history.push(game.clone());
                play_random(&mut game, &mut rng);
            }
            let moves = game.moves().to_vec();
            while let Some(before) = history.pop() {
                assert_eq!(game.undo(), Some(moves[history.len()]));
                // Playing on without a judgement is playing, but for the result.
                let mut unjudged = game.clone();
                unjudged.play_unjudged(moves[history.len()]);
                assert_eq!(unjudged.moves(), &moves[..=history.len()]);
                assert_eq!(unjudged.position(), &game.position().after(moves[history.len()]));
                assert_eq!(unjudged.result(), None);
                unjudged.undo();
                assert_eq!(unjudged.legal_moves(), game.legal_moves());
                assert_eq!(game.positions(), before.positions());
                assert_eq!(game.moves(), before.moves());
                assert_eq!(game.result(), before.result());
                assert_eq!(game.occurrences(), before.occurrences());
                assert_eq!(game.legal_moves(), before.legal_moves());
            }
            assert_eq!(game.undo(), None);
        }
    }
}

#[test]
fn a_game_replays_from_its_start_and_moves() {
    let mut rng = stream(32);
    for rules in RuleSet::ALL {
        let game = random_game(rules, Position::default(), &mut rng);
        let mut again = Game::from_position(*game.rules(), *game.start());
        for &mv in game.moves() {
            again.play(mv).expect("it was legal");
        }
        assert_eq!(again.positions(), game.positions());
        assert_eq!(again.result(), game.result());
    }
}

/// Share of games, in percent.
fn share(games: &[Game], test: impl Fn(&Game) -> bool) -> f64 {
    100.0 * games.iter().filter(|game| test(game)).count() as f64 / games.len() as f64
}

fn many_games(rules: RuleSet, n: u64) -> Vec<Game> {
    (0..n).map(|seed| random_game(rules, Position::default(), &mut stream(seed))).collect()
}

fn ended(ending: Ending) -> impl Fn(&Game) -> bool {
    move |game| game.result().is_some_and(|result| result.ending == ending)
}

fn won(outcome: Outcome) -> impl Fn(&Game) -> bool {
    move |game| game.result().is_some_and(|result| result.outcome == outcome)
}

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

/// Known from 200,000 games elsewhere. A share of 5,000 games has a standard error of at most 0.7
/// points, their mean length one of about 1 ply.
#[test]
fn random_games_under_olympiad_are_like_known_ones() {
    let games = many_games(OLYMPIAD, 5_000);
    let plies: usize = games.iter().map(|game| game.moves().len()).sum();
    near(plies as f64 / games.len() as f64, 159.0, 4.0);
    near(share(&games, won(Outcome::Win(Color::Black))), 34.0, 2.5);
    near(share(&games, won(Outcome::Draw)), 31.0, 2.5);
    near(share(&games, won(Outcome::Win(Color::White))), 35.0, 2.5);
    near(share(&games, ended(Ending::Repetition)), 27.0, 2.5);
    let counts = games.iter().flat_map(|game| game.positions()).map(Position::count_moves);
    let (moves, positions) = counts.fold((0, 0), |(sum, n), moves| (sum + moves, n + 1));
    near(moves as f64 / positions as f64, 26.0, 1.0);
}

/// Two thirds of them; over all games 20 pieces are left on average.
#[test]
fn most_random_games_under_contest_end_without_a_capture_left() {
    let games = many_games(CONTEST, 2_000);
    near(share(&games, ended(Ending::NoCaptureLeft)), 66.7, 5.0);
    let pieces: u32 = games.iter().map(|game| game.position().occupied().count_ones()).sum();
    near(pieces as f64 / games.len() as f64, 20.0, 1.0);
}

#[test]
fn without_positions_the_slow_twin_has_nothing_to_say() {
    assert!(reference::legal_moves(&OLYMPIAD, &[]).is_empty());
    assert_eq!(reference::result(&OLYMPIAD, &[]), None);
}

/// A move that no rule allows gives a game without meaning, never a panic.
#[test]
fn illegal_moves_played_as_legal_ones_make_no_panic() {
    let mut rng = stream(33);
    for variant in Variant::ALL {
        for _ in 0..50 {
            let mut game = Game::from_position(OLYMPIAD, scattered(variant, &mut rng));
            for _ in 0..40 {
                let point = |n: usize| {
                    surakarta_game::Point::new(n)
                        .unwrap_or_else(|| surakarta_game::Point::at(0, 0).expect("a1"))
                };
                let mv = Move::new(point(rng.random_range(0..64)), point(rng.random_range(0..64)));
                game.play_legal(mv);
                let position = *game.position();
                let asked =
                    position.moves().len() as u64 + position.attacks()[0] + position.ply() as u64;
                assert!(asked > 0 && position.nth_move(u64::MAX).is_none());
                surakarta_game::perft(&position, 2);
                surakarta_game::play_out(&game, 20, || rng.random());
            }
        }
    }
}
