//! Games to rate: the reference cases, and random ones.

// Every test program uses a part of it.
#![allow(dead_code)]

use std::collections::HashMap;
use std::path::PathBuf;

use rand::RngExt;
use surakarta_arena::{Clusters, RatedGame, RatingOptions};
use surakarta_search::Stream;

/// No more than the ratings, errors by pair.
pub(crate) const BY_PAIR: RatingOptions = RatingOptions {
    first_advantage: false,
    clusters: Clusters::Pairs,
    anchors: Vec::new(),
    prior: 0.0,
};

/// The rows of a file of a case.
pub(crate) fn rows(case: &str, file: &str) -> Vec<HashMap<String, String>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(case).join(file);
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// The games of a case, and its players in the order in which they appear.
pub(crate) fn case(name: &str) -> (Vec<String>, Vec<RatedGame>) {
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

/// Results of pairs between random players of random strength.
pub(crate) fn random_games(
    rng: &mut Stream,
    players: usize,
    pairs: usize,
    lopsided: f64,
) -> Vec<RatedGame> {
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
