//! A match between two players without a network, to measure a change of alpha-beta:
//!
//! ```text
//! cargo run --release -p surakarta-search --example selfmatch -- alphabeta:100000 alphabeta:10000 100
//! ```
//!
//! Pairs of games with colours exchanged, each pair from an opening of 4 to 8 random plies of its own.

use std::time::Instant;

use rand::RngExt;
use surakarta_game::{Color, Game, OLYMPIAD, Outcome};
use surakarta_search::{
    AlphaBetaConfig, AlphaBetaPlayer, GreedyConfig, GreedyPlayer, Limits, Player, RandomConfig,
    RandomPlayer, RolloutConfig, RolloutPlayer, stream,
};

fn player(name: &str) -> Option<Box<dyn Player>> {
    Some(match name.split_once(':').unwrap_or((name, "")) {
        ("random", _) => Box::new(RandomPlayer::new(RandomConfig::default())),
        ("greedy", _) => Box::new(GreedyPlayer::new(GreedyConfig::default())),
        ("rollout", simulations) => {
            let simulations = Some(simulations.parse().ok()?);
            let limits = Limits { simulations, ..Limits::default() };
            Box::new(RolloutPlayer::new(RolloutConfig { limits, ..Default::default() }))
        }
        ("alphabeta", nodes) => {
            let limits = Limits { nodes: Some(nodes.parse().ok()?), ..Limits::default() };
            Box::new(AlphaBetaPlayer::new(AlphaBetaConfig { limits, ..Default::default() }))
        }
        _ => return None,
    })
}

/// An opening that is not over.
fn opening(seed: u64) -> Game {
    let rng = &mut stream(seed, [1, 0, 0]);
    let mut game = Game::new(OLYMPIAD);
    for _ in 0..rng.random_range(4..=8) {
        let moves = game.legal_moves();
        if !moves.is_empty() {
            game.play_legal(moves[rng.random_range(0..moves.len())]);
        }
    }
    if game.result().is_some() { opening(seed + 1_000_000_000) } else { game }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: selfmatch PLAYER PLAYER PAIRS, with players random, greedy, rollout:SIMULATIONS, alphabeta:NODES";
    let [a, b, pairs] = &arguments[..] else { panic!("{usage}") };
    let mut players = [a, b].map(|name| player(name).expect(usage));
    let pairs: u64 = pairs.parse().expect(usage);

    let mut points = Vec::new();
    let (mut nodes, mut seconds, mut depths, mut moves, mut plies) =
        ([0; 2], [0.0; 2], [0; 2], [0; 2], 0);
    for pair in 0..pairs {
        let mut sum = 0.0;
        for first in 0..2 {
            let mut game = opening(pair);
            players.iter_mut().for_each(|player| player.new_game(pair));
            while game.result().is_none() {
                let turn = (game.side_to_move() == Color::White) as usize ^ first;
                let started = Instant::now();
                let choice = players[turn].choose(&game, &Limits::default()).expect("not over");
                seconds[turn] += started.elapsed().as_secs_f64();
                nodes[turn] += choice.work.nodes;
                depths[turn] += choice.work.depth;
                moves[turn] += 1;
                game.play(choice.mv).expect("legal");
            }
            plies += game.moves().len();
            let a_is = if first == 0 { Color::Black } else { Color::White };
            sum += match game.result().map(|result| result.outcome) {
                Some(Outcome::Win(color)) => (color == a_is) as u8 as f64,
                _ => 0.5,
            };
        }
        points.push(sum / 2.0);
    }

    let n = points.len() as f64;
    let mean = points.iter().sum::<f64>() / n;
    let variance = points.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let error = 1.96 * (variance / n).sqrt();
    let elo = |p: f64| -400.0 * (1.0 / p.clamp(0.001, 0.999) - 1.0).log10();
    println!(
        "{a} against {b}: {:.1} % ± {:.1} in {pairs} pairs, Elo {:+.0} [{:+.0}, {:+.0}], {:.0} plies a game",
        100.0 * mean,
        100.0 * error,
        elo(mean),
        elo(mean - error),
        elo(mean + error),
        plies as f64 / (2.0 * n),
    );
    for (i, name) in [a, b].into_iter().enumerate() {
        println!(
            "{name}: {:.2} M nodes/s, depth {:.2}, {:.2} ms a move",
            nodes[i] as f64 / seconds[i] / 1e6,
            depths[i] as f64 / moves[i] as f64,
            1e3 * seconds[i] / moves[i] as f64,
        );
    }
}
