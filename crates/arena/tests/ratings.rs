//! Ratings against Ordo's, and against slow and obvious solvers on random results.

mod twin;

use std::collections::HashMap;
use std::path::PathBuf;

use rand::RngExt;
use surakarta_arena::{Clusters, Incomparable, RatedGame, RatingOptions, Unrated, rate};
use surakarta_search::{Stream, stream};

const BY_PAIR: RatingOptions = RatingOptions {
    first_advantage: false,
    clusters: Clusters::Pairs,
    anchors: Vec::new(),
    prior: 0.0,
};

fn rows(case: &str, file: &str) -> Vec<HashMap<String, String>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(case).join(file);
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// The games of a case, and its players in the order in which they appear.
fn case(name: &str) -> (Vec<String>, Vec<RatedGame>) {
    let mut players: Vec<String> = Vec::new();
    let mut number = |name: &String| {
        players.iter().position(|player| player == name).unwrap_or_else(|| {
            players.push(name.clone());
            players.len() - 1
        })
    };
    let games = rows(name, "games.csv")
        .iter()
        .map(|row| RatedGame {
            first: number(&row["first"]),
            second: number(&row["second"]),
            score: match row["result"].as_str() {
                "1-0" => 1.0,
                "0-1" => 0.0,
                _ => 0.5,
            },
            pair: row["pair"].parse().unwrap(),
        })
        .collect();
    (players, games)
}

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

/// Results of pairs between random players of random strength.
fn random_games(rng: &mut Stream, players: usize, pairs: usize, lopsided: f64) -> Vec<RatedGame> {
    let strength: Vec<f64> = (0..players).map(|_| rng.random_range(-lopsided..lopsided)).collect();
    let mut games = Vec::new();
    for pair in 0..pairs as u64 {
        let a = rng.random_range(0..players as u32) as usize;
        let b = (a + rng.random_range(1..players as u32) as usize) % players;
        let luck = rng.random_range(-0.5..0.5);
        // Now and then a pair lacks its second game, as after a stop.
        let both = if rng.random_bool(0.9) { 2 } else { 1 };
        for (first, second) in [(a, b), (b, a)].into_iter().take(both) {
            let odds = strength[first] - strength[second] + 0.3 + luck;
            let p = 1.0 / (1.0 + f64::exp(-odds));
            let (x, half) = (rng.random_range(0.0..1.0), 0.2 * p.min(1.0 - p));
            let score = if x < p - half {
                1.0
            } else if x < p + half {
                0.5
            } else {
                0.0
            };
            games.push(RatedGame { first, second, score, pair });
        }
    }
    games
}

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
