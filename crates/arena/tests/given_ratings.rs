//! Ratings beside given ones, and with a prior.

mod cases;

use cases::{BY_PAIR, case};
use rand::RngExt;
use surakarta_arena::{RatedGame, RatingOptions, Unrated, rate};
use surakarta_search::stream;

#[test]
fn an_anchor_moves_ratings_and_takes_their_covariance_into_account() {
    let (players, games) = case("c5");
    for first_advantage in [false, true] {
        let options = RatingOptions { first_advantage, ..BY_PAIR };
        let mean = rate(players.len(), &games, &options);
        let anchored =
            rate(5, &games, &RatingOptions { anchors: vec![(2, 1500.0)], ..options.clone() });
        assert_eq!(anchored.rating(2).unwrap().elo, 1500.0);
        assert_eq!(anchored.rating(2).unwrap().error, Some(0.0));
        for player in [0, 1, 3, 4] {
            let difference = mean.difference(player, 2).unwrap();
            let rating = anchored.rating(player).unwrap();
            assert!((rating.elo - 1500.0 - difference.elo.elo).abs() < 1e-9);
            let (a, b) = (rating.error.unwrap(), difference.elo.error.unwrap());
            assert!((a / b - 1.0).abs() < 1e-9);
            let again = anchored.difference(player, 2).unwrap();
            assert!((again.elo.error.unwrap() / b - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn given_ratings_stay_and_the_others_solve_their_own_equations() {
    let (players, games) = case("c5");
    let given = vec![(0, -300.0), (4, 350.0)];
    for first_advantage in [false, true] {
        let options = RatingOptions { first_advantage, anchors: given.clone(), ..BY_PAIR };
        let ratings = rate(players.len(), &games, &options);
        let elo = |player| ratings.rating(player).unwrap().elo;
        let advantage = ratings.first_advantage().map_or(0.0, |advantage| advantage.elo);
        let (mut left, mut left_first) = ([0.0; 5], 0.0);
        for game in &games {
            let odds = elo(game.first) - elo(game.second) + advantage;
            let surprise = game.score - 1.0 / (1.0 + 10f64.powf(-odds / 400.0));
            left[game.first] += surprise;
            left[game.second] -= surprise;
            left_first += surprise;
        }
        assert!(left[1..4].iter().all(|x| x.abs() < 1e-8), "{left:?}");
        assert!(left[0].abs() > 0.01 && left[4].abs() > 0.01, "what is given is not fitted");
        assert!(!first_advantage || left_first.abs() < 1e-8);
        for &(player, value) in &given {
            assert_eq!(elo(player), value);
            assert_eq!(ratings.rating(player).unwrap().error, Some(0.0));
        }
        assert_eq!(ratings.difference(4, 0).unwrap().elo.elo, 650.0);
        assert_eq!(ratings.difference(4, 0).unwrap().superiority, None);
        // Two fixed points leave less open than one.
        let one = rate(5, &games, &RatingOptions { anchors: vec![(0, -300.0)], ..options });
        for player in [1, 2, 3] {
            let error = |ratings: &surakarta_arena::Ratings| ratings.rating(player).unwrap().error;
            assert!(error(&ratings) < error(&one));
        }
    }
}

#[test]
fn given_ratings_connect_players_that_never_met() {
    let (players, games) = case("c7");
    // The two groups, by who met whom.
    let partner = |a: usize| {
        let met = games.iter().find(|g| g.first == a || g.second == a).unwrap();
        met.first + met.second - a
    };
    let other = (1..4).find(|&b| b != partner(0)).unwrap();
    let options = RatingOptions { anchors: vec![(0, 100.0), (other, 500.0)], ..BY_PAIR };
    let ratings = rate(players.len(), &games, &options);
    assert_eq!(ratings.groups().len(), 1);
    let alone = rate(players.len(), &games, &BY_PAIR);
    let (a, b) = (partner(0), partner(other));
    let wanted = alone.difference(a, 0).unwrap().elo.elo + 100.0;
    assert!((ratings.rating(a).unwrap().elo - wanted).abs() < 1e-6);
    assert!(ratings.difference(a, b).is_ok());
}

#[test]
fn errors_of_new_players_on_a_given_scale_cover_the_truth() {
    // Sandwich errors beside what repeated draws of the games show.
    let truth = [0.0, 200.0, 80.0];
    let mut rng = stream(21, [0, 0, 0]);
    let (mut covered, runs) = (0, 400);
    for _ in 0..runs {
        let mut games = Vec::new();
        for pair in 0..60 {
            for (first, second) in [(2, pair % 2), (pair % 2, 2)] {
                let p = 1.0 / (1.0 + 10f64.powf((truth[second] - truth[first]) / 400.0));
                let score = f64::from(u8::from(rng.random_bool(p)));
                games.push(RatedGame { first, second, score, pair: pair as u64 });
            }
        }
        let options = RatingOptions { anchors: vec![(0, 0.0), (1, 200.0)], ..BY_PAIR };
        let rating = rate(3, &games, &options).rating(2).unwrap();
        covered += i32::from((rating.elo - truth[2]).abs() < rating.error.unwrap());
    }
    let share = f64::from(covered) / f64::from(runs);
    assert!((0.92..0.98).contains(&share), "{share}");
}

#[test]
fn a_prior_is_that_of_katago() {
    // Two virtual draws, by KataGo's script; differences, as its scale has another zero.
    let known: [(&str, &[(&str, f64)]); 2] = [
        ("c7", &[("d", 50.9999), ("a", 16.593), ("b", -16.593), ("c", -50.9999)]),
        (
            "c5",
            &[
                ("az", 280.4262),
                ("mcts400", 126.4585),
                ("mcts100", 26.4412),
                ("greedy", -128.7936),
                ("random", -328.2344),
            ],
        ),
    ];
    for (name, theirs) in known {
        let (players, games) = case(name);
        let ratings = rate(players.len(), &games, &RatingOptions { prior: 2.0, ..BY_PAIR });
        let elo = |name: &str| {
            let player = players.iter().position(|player| player == name).unwrap();
            ratings.rating(player).unwrap().elo
        };
        for (a, x) in theirs {
            for (b, y) in theirs {
                let difference = elo(a) - elo(b);
                assert!((difference - (x - y)).abs() < 0.01, "{name}: {a} {b} {difference}");
            }
        }
        assert!(
            (0..players.len()).map(|p| ratings.rating(p).unwrap().elo).sum::<f64>().abs() < 1e-6
        );
    }
}

#[test]
fn a_prior_rates_everybody_who_has_played() {
    let (_, games) = case("c4");
    let options = RatingOptions { prior: 2.0, first_advantage: true, ..BY_PAIR };
    let ratings = rate(3, &games, &options);
    let difference = ratings.difference(0, 1).unwrap();
    assert!(difference.elo.elo > 300.0 && difference.elo.error.unwrap() > 100.0, "{difference:?}");
    assert_eq!(ratings.rating(2), Err(Unrated::NoGames));
    assert_eq!(ratings.groups(), [vec![0, 1]]);
}
