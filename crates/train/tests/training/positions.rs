//! Positions and samples for the tests, from random games.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surakarta_game::{Game, OLYMPIAD, Position};
use surakarta_record::Sample;

/// Positions of random games that still have moves, the same ones for the same seed.
pub(crate) fn random_positions(count: usize, seed: u64) -> Vec<Position> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut game = Game::new(OLYMPIAD);
        while game.result().is_none() && positions.len() < count {
            if rng.random_bool(0.2) {
                positions.push(*game.position());
            }
            let moves = game.legal_moves();
            game.play_legal(moves[rng.random_range(0..moves.len())]);
        }
    }
    positions
}

/// Samples with invented targets: a policy on a few of the legal moves, an outcome and a margin that
/// have nothing to do with the position, a value for most.
pub(crate) fn random_samples(count: usize, seed: u64) -> Vec<Sample> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sample = |position: Position| {
        let moves = position.moves();
        let mut policy: Vec<_> = (0..3)
            .map(|_| (moves[rng.random_range(0..moves.len())], rng.random_range(1..20) as f32))
            .collect();
        policy.sort_by_key(|&(mv, _)| mv);
        policy.dedup_by_key(|&mut (mv, _)| mv);
        let sum: f32 = policy.iter().map(|&(_, share)| share).sum();
        policy.iter_mut().for_each(|(_, share)| *share /= sum);
        Sample {
            position,
            policy,
            outcome: rng.random_range(-1..=1),
            margin: rng.random_range(-12..=12) as f32 / 12.0,
            value: rng.random_bool(0.8).then(|| rng.random_range(-1.0..1.0)),
        }
    };
    random_positions(count, seed).into_iter().map(sample).collect()
}
