//! Ratings and their errors against Ordo's, and in cases where the answer is known.

mod cases;

use cases::{BY_PAIR, case, random_games, rows};
use surakarta_arena::{Clusters, Incomparable, RatedGame, RatingOptions, Unrated, rate};
use surakarta_search::stream;

#[test]
fn ratings_are_those_of_ordo() {
    for name in ["c1", "c2", "c3", "c5"] {
        let (players, games) = case(name);
        for (file, first_advantage) in [("ordo.csv", false), ("ordo_advantage.csv", true)] {
            let options = RatingOptions { first_advantage, clusters: Clusters::Games, ..BY_PAIR };
            let ratings = rate(players.len(), &games, &options);
            assert_eq!(ratings.first_advantage().is_some(), first_advantage);
            for row in rows(name, file) {
                let player = players.iter().position(|player| *player == row["PLAYER"]).unwrap();
                let ours = ratings.rating(player).unwrap();
                let theirs: f64 = row["RATING"].parse().unwrap();
                assert!((ours.elo - theirs).abs() < 0.01, "{name} {file}: {ours:?} {theirs}");
                if let Ok(error) = row["ERROR"].parse::<f64>() {
                    let ratio = ours.error.unwrap() / error;
                    assert!((ratio - 1.0).abs() < 0.05, "{name} {file}: error off by {ratio}");
                }
            }
        }
    }
}

#[test]
fn errors_of_differences_are_those_of_ordo() {
    for name in ["c1", "c2", "c3", "c5"] {
        let (players, games) = case(name);
        let options = RatingOptions { first_advantage: true, clusters: Clusters::Games, ..BY_PAIR };
        let ratings = rate(players.len(), &games, &options);
        let path = format!("{}/tests/data/{name}/ordo_differences.csv", env!("CARGO_MANIFEST_DIR"));
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(path).unwrap();
        let table: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let number = |row: &csv::StringRecord| {
            players.iter().position(|player| player == row[1].trim()).unwrap()
        };
        let mut compared = 0;
        for row in &table {
            for (column, error) in row.iter().skip(2).enumerate() {
                let difference = ratings.difference(number(row), number(&table[column])).unwrap();
                let ratio = difference.elo.error.unwrap() / error.parse::<f64>().unwrap();
                assert!((ratio - 1.0).abs() < 0.05, "{name}: error off by {ratio}");
                compared += 1;
            }
        }
        assert_eq!(compared, players.len() * (players.len() - 1) / 2);
    }
}

#[test]
fn two_players_by_pair_have_the_pentanomial_error() {
    for name in ["c1", "c2", "c3"] {
        let (_, games) = case(name);
        let difference = rate(2, &games, &BY_PAIR).difference(0, 1).unwrap();
        // Points a game of the first player, pair by pair.
        let points: Vec<f64> = games
            .chunks(2)
            .map(|pair| {
                let of = |g: &RatedGame| if g.first == 0 { g.score } else { 1.0 - g.score };
                pair.iter().map(of).sum::<f64>() / 2.0
            })
            .collect();
        let n = points.len() as f64;
        let mean = points.iter().sum::<f64>() / n;
        let variance = points.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let elo = |score: f64| -400.0 * (1.0 / score - 1.0).log10();
        assert!((difference.elo.elo - elo(mean)).abs() < 1e-6);
        let half = 1.959_963_984_540_054 * (variance / n).sqrt();
        let error = (elo(mean + half) - elo(mean - half)) / 2.0;
        let ratio = difference.elo.error.unwrap() / error;
        assert!((ratio - 1.0).abs() < 0.02, "{name}: {ratio}");
    }
}

#[test]
fn superiority_is_the_share_of_the_difference_above_zero() {
    let (_, games) = case("c3");
    let difference = rate(2, &games, &BY_PAIR).difference(0, 1).unwrap();
    let (elo, error) = (difference.elo.elo, difference.elo.error.unwrap());
    let opposite = rate(2, &games, &BY_PAIR).difference(1, 0).unwrap();
    assert!((difference.superiority.unwrap() + opposite.superiority.unwrap() - 1.0).abs() < 1e-12);
    // What Ordo simulates with games as clusters; its error is 3 % larger.
    let by_game = RatingOptions { clusters: Clusters::Games, first_advantage: true, ..BY_PAIR };
    let ordo = rate(2, &games, &by_game).difference(0, 1).unwrap().superiority.unwrap();
    assert!((ordo - 0.946).abs() < 0.01, "{ordo}");
    assert!(elo > 0.0 && elo < error && difference.superiority.unwrap() < 0.975);
}

#[test]
fn perfect_scores_have_no_rating() {
    let (_, games) = case("c4");
    let ratings = rate(3, &games, &RatingOptions { first_advantage: true, ..BY_PAIR });
    assert_eq!(ratings.rating(0), Err(Unrated::WonAll(20)));
    assert_eq!(ratings.rating(1), Err(Unrated::LostAll(20)));
    assert_eq!(ratings.rating(2), Err(Unrated::NoGames));
    assert_eq!(ratings.difference(0, 1), Err(Incomparable::OneSided));
    assert_eq!(ratings.difference(1, 2), Err(Incomparable::NeverMet));
    assert_eq!(ratings.first_advantage(), None);
}

#[test]
fn groups_that_never_met_are_rated_each_by_itself() {
    let (players, games) = case("c7");
    let ratings = rate(4, &games, &BY_PAIR);
    let group = |a: usize| {
        let same = |g: &&RatedGame| [g.first, g.second].contains(&a);
        let alone: Vec<RatedGame> = games.iter().filter(same).copied().collect();
        rate(4, &alone, &BY_PAIR)
    };
    let other = |a: usize| (0..4).find(|&b| b != a && ratings.difference(a, b).is_ok()).unwrap();
    for (a, name) in players.iter().enumerate() {
        assert_eq!(ratings.rating(a), group(a).rating(a), "{name}");
        let sum = ratings.rating(a).unwrap().elo + ratings.rating(other(a)).unwrap().elo;
        assert!(sum.abs() < 1e-9);
        for b in (0..4).filter(|&b| b != a && b != other(a)) {
            assert_eq!(ratings.difference(a, b), Err(Incomparable::NeverMet));
        }
    }
}

#[test]
fn a_player_above_all_others_leaves_their_ratings_alone() {
    let (players, mut games) = case("c5");
    let n = players.len();
    let before = rate(n, &games, &BY_PAIR);
    for pair in 0..n {
        let pair_number = 10_000 + pair as u64;
        games.push(RatedGame { first: n, second: pair, score: 1.0, pair: pair_number });
        games.push(RatedGame { first: pair, second: n, score: 0.0, pair: pair_number });
    }
    let after = rate(n + 1, &games, &BY_PAIR);
    assert_eq!(after.rating(n), Err(Unrated::WonAll(2 * n)));
    for player in 0..n {
        assert_eq!(before.rating(player), after.rating(player));
        assert_eq!(after.difference(n, player), Err(Incomparable::OneSided));
    }
}

#[test]
fn the_draw_rate_at_equality_is_davidsons() {
    // From an independent derivation, without and with the advantage of the first move.
    for (name, without, with) in
        [("c1", 0.321_731_160, 0.327_663_543), ("c5", 0.222_982_982, 0.223_247_136)]
    {
        let (players, games) = case(name);
        for (first_advantage, known) in [(false, without), (true, with)] {
            let options = RatingOptions { first_advantage, ..BY_PAIR };
            let found = rate(players.len(), &games, &options).draw_rate_at_equality().unwrap();
            assert!((found - known).abs() < 1e-4, "{name}: {found} instead of {known}");
        }
    }
    assert_eq!(rate(2, &case("c3").1, &BY_PAIR).draw_rate_at_equality(), Some(0.0));
    assert_eq!(rate(2, &[], &BY_PAIR).draw_rate_at_equality(), None);
}

#[test]
fn surprises_are_about_as_large_as_their_errors_say() {
    // Players on one line: z is a standard normal variable.
    let (mut squares, mut beyond, mut n) = (0.0, 0, 0.0);
    for seed in 0..60 {
        let mut rng = stream(31, [seed, 0, 0]);
        let games = random_games(&mut rng, 5, 1500, 0.7);
        let options = RatingOptions { first_advantage: true, ..BY_PAIR };
        let ratings = rate(5, &games, &options);
        assert_eq!(ratings.surprises().len(), 10);
        for surprise in ratings.surprises() {
            let z = surprise.z.unwrap();
            let off = (surprise.score - surprise.expected) / surprise.error.unwrap();
            assert_eq!(z, off);
            squares += z * z;
            beyond += i32::from(z.abs() > 1.96);
            n += 1.0;
        }
    }
    assert!((squares / n - 1.0).abs() < 0.2, "{}", squares / n);
    assert!((f64::from(beyond) / n - 0.05).abs() < 0.03, "{beyond} of {n}");
}

#[test]
fn rock_paper_scissors_is_a_surprise() {
    let mut games = Vec::new();
    for pair in 0..300u64 {
        let a = pair as usize % 3;
        let b = (a + 1) % 3;
        let won = if pair % 5 < 4 { 1.0 } else { 0.0 };
        games.push(RatedGame { first: a, second: b, score: won, pair });
        games.push(RatedGame { first: b, second: a, score: 1.0 - won, pair });
    }
    let ratings = rate(3, &games, &BY_PAIR);
    assert!(ratings.surprises().iter().all(|s| s.z.unwrap().abs() > 5.0));
    let signs: Vec<f64> = ratings.surprises().iter().map(|s| s.z.unwrap().signum()).collect();
    assert_eq!(signs, [1.0, -1.0, 1.0], "0 over 1, 2 over 0, 1 over 2");
    // Two players' ratings fit whatever they scored.
    let two = rate(2, &case("c1").1, &BY_PAIR);
    assert_eq!((two.surprises().len(), two.surprises()[0].z), (1, None));
}

#[test]
fn games_without_variation_give_no_error() {
    // One pair; and ten pairs that all went alike.
    for pairs in [1, 10] {
        let games: Vec<RatedGame> = (0..pairs)
            .flat_map(|pair| {
                [(0, 1, 1.0), (1, 0, 0.5)].map(|(first, second, score)| RatedGame {
                    first,
                    second,
                    score,
                    pair,
                })
            })
            .collect();
        let ratings = rate(2, &games, &BY_PAIR);
        let difference = ratings.difference(0, 1).unwrap();
        assert!((difference.elo.elo - 400.0 * 3f64.log10()).abs() < 1e-6);
        assert_eq!((difference.elo.error, difference.superiority), (None, None));
        assert_eq!(ratings.rating(0).unwrap().error, None);
    }
}

#[test]
fn a_nearly_perfect_score_is_rated() {
    // One draw in 20,000 games.
    let games: Vec<RatedGame> = (0..20_000)
        .map(|n| RatedGame {
            first: n % 2,
            second: 1 - n % 2,
            score: if n == 0 { 0.5 } else { f64::from(n % 2 == 0) },
            pair: n as u64 / 2,
        })
        .collect();
    let difference = rate(2, &games, &BY_PAIR).difference(0, 1).unwrap();
    assert!((difference.elo.elo - 400.0 * 39_999f64.log10()).abs() < 1e-6);
    assert!(difference.elo.error.is_some());
}
