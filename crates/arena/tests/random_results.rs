//! Ratings against slow and obvious solvers on random results.

mod cases;
mod twin;

use cases::{BY_PAIR, random_games};
use rand::RngExt;
use surakarta_arena::{Clusters, RatedGame, RatingOptions, rate};
use surakarta_search::stream;

#[test]
fn agrees_with_the_slow_twin() {
    let mut rng = stream(1, [2, 3, 4]);
    let mut compared = 0;
    for _ in 0..1000 {
        let players = rng.random_range(2..6u32) as usize;
        let pairs = players * rng.random_range(4..20u32) as usize;
        let mut games = random_games(&mut rng, players, pairs, 1.5);
        // The order in which games are given does not matter.
        for k in 1..games.len() {
            games.swap(k, rng.random_range(0..=k as u32) as usize);
        }
        let first_advantage = rng.random_bool(0.5);
        let clusters = if rng.random_bool(0.5) { Clusters::Pairs } else { Clusters::Games };
        let options = RatingOptions { first_advantage, clusters, ..BY_PAIR };
        let ratings = rate(players, &games, &options);
        if ratings.groups().len() != 1
            || ratings.groups()[0].len() != players
            || ratings.first_advantage().is_some() != first_advantage
        {
            continue;
        }
        compared += 1;
        let twin = twin::rate(players, &games, first_advantage, clusters);
        let close = |ours: f64, slow: f64, what: &str| {
            let scale = 1.0f64.max(slow.abs());
            assert!((ours - slow).abs() < 1e-4 * scale, "{what}: {ours}, slowly {slow}");
        };
        let error_close = |ours: Option<f64>, slow: f64, what: &str| match ours {
            Some(error) => close(error, slow, what),
            None => assert!(slow < 0.1, "{what}: none, slowly {slow}"),
        };
        for player in 0..players {
            let ours = ratings.rating(player).unwrap();
            close(ours.elo, twin.elo[player], "rating");
            error_close(ours.error, twin.error(&[(player, 1.0)]), "error");
            for other in (0..players).filter(|&other| other != player) {
                let ours = ratings.difference(player, other).unwrap();
                close(ours.elo.elo, twin.elo[player] - twin.elo[other], "difference");
                let slow = twin.error(&[(player, 1.0), (other, -1.0)]);
                error_close(ours.elo.error, slow, "error of a difference");
            }
        }
        if let Some(ours) = ratings.first_advantage() {
            close(ours.elo, twin.elo[players], "advantage");
            error_close(ours.error, twin.error(&[(players, 1.0)]), "error of the advantage");
        }
    }
    assert!(compared > 700, "only {compared} were comparable");
}

#[test]
fn finite_is_what_stays_bounded_without_a_prior() {
    let mut rng = stream(5, [6, 7, 8]);
    let (mut finite, mut infinite, mut bounded, mut unbounded) = (0, 0, 0, 0);
    for _ in 0..3000 {
        let players = rng.random_range(2..6u32) as usize;
        let pairs = rng.random_range(1..8u32) as usize;
        let mut games = random_games(&mut rng, players, pairs, 3.0);
        if rng.random_bool(0.3) {
            // Colours fixed: whoever is lower in the list moves first.
            games.retain(|game| game.first < game.second);
        }
        let ratings = rate(players, &games, &BY_PAIR);
        let slow = twin::Finite::new(players, &games, false);
        for a in 0..players {
            for b in 0..a {
                let ours = ratings.difference(a, b).is_ok();
                assert_eq!(ours, slow.is_finite(&[(a, 1.0), (b, -1.0)]), "{a} {b} {games:?}");
                *(if ours { &mut finite } else { &mut infinite }) += 1;
            }
        }
        let options = RatingOptions { first_advantage: true, ..BY_PAIR };
        let ours = rate(players, &games, &options).first_advantage().is_some();
        let slow = twin::Finite::new(players, &games, true);
        assert_eq!(ours, slow.is_finite(&[(players, 1.0)]), "{games:?}");
        *(if ours { &mut bounded } else { &mut unbounded }) += 1;
    }
    for seen in [finite, infinite, bounded, unbounded] {
        assert!(seen > 300, "{finite} {infinite} {bounded} {unbounded}");
    }
}

#[test]
fn the_order_of_games_does_not_matter_to_the_last_bit() {
    let mut rng = stream(41, [0, 0, 0]);
    let mut games = random_games(&mut rng, 4, 300, 1.0);
    let options = RatingOptions { first_advantage: true, ..BY_PAIR };
    let wanted = rate(4, &games, &options);
    // Within each pair first, then all.
    for n in 0..20 {
        match n {
            0 => games.chunk_by_mut(|a, b| a.pair == b.pair).for_each(<[RatedGame]>::reverse),
            _ => (1..games.len())
                .for_each(|k| games.swap(k, rng.random_range(0..=k as u32) as usize)),
        }
        let found = rate(4, &games, &options);
        assert_eq!(found.surprises(), wanted.surprises());
        assert_eq!(found.first_advantage(), wanted.first_advantage());
        (0..4).for_each(|player| assert_eq!(found.rating(player), wanted.rating(player)));
    }
}
