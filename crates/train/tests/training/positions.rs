//! Positions, samples and games for tests and benches, all at random.
#![allow(dead_code)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surakarta_game::{Game, OLYMPIAD, Position, Variant};
use surakarta_record::{GameRecord, PlyRecord, Policy, Sample, SearchKind, ShardHeader};

/// Positions of random games of a variant that still have moves, the same ones for the same seed.
pub(crate) fn random_positions(variant: Variant, count: usize, seed: u64) -> Vec<Position> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut game = Game::from_position(OLYMPIAD, Position::start(variant));
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
    random_samples_of(Variant::Standard, count, seed)
}

/// The same of any variant.
pub(crate) fn random_samples_of(variant: Variant, count: usize, seed: u64) -> Vec<Sample> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut later = ChaCha8Rng::seed_from_u64(!seed);
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
            reply: vec![(moves[later.random_range(0..moves.len())], 1.0)],
            future: (0..later.random_range(1..20))
                .map(|_| later.random_range(-1.0..=1.0))
                .collect(),
            last: position.after(moves[0]),
        }
    };
    random_positions(variant, count, seed).into_iter().map(sample).collect()
}

/// Games of random moves, one ply in three with a search that left visits to several moves.
pub(crate) fn random_games(count: u64, seed: u64) -> Vec<GameRecord> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut game = |number| {
        let mut game = Game::new(OLYMPIAD);
        let mut plies = Vec::new();
        while game.result().is_none() {
            let moves = game.legal_moves();
            let mv = moves[rng.random_range(0..moves.len())];
            let full = rng.random_range(0..3) == 0;
            let (search, policy) = if full {
                let visits = moves.iter().map(|&mv| (mv, rng.random_range(0..30))).collect();
                (SearchKind::Full, Policy::Visits(visits))
            } else {
                (SearchKind::Fast, Policy::None)
            };
            plies.push(PlyRecord::new(mv, search, 200, Some(rng.random_range(-1.0..1.0)), policy));
            game.play_legal(mv);
        }
        GameRecord::of(&game, number, plies)
    };
    (0..count).map(&mut game).collect()
}

/// The header of a shard of such games.
pub(crate) fn random_shard_header(games: usize) -> ShardHeader {
    ShardHeader { player: "random".to_owned(), games: games as u64, ..ShardHeader::default() }
}
