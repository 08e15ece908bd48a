//! The rules at speed, each beside its slow twin: `cargo bench -p surakarta-game`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surakarta_game::{
    Game, OLYMPIAD, Position, Variant, perft, play_out, play_out_many, reference,
};

/// A game of random moves to its end, for each of these seeds.
fn random_games(seeds: std::ops::Range<u64>) -> Vec<Game> {
    let game = |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut game = Game::new(OLYMPIAD);
        let mut moves = Vec::new();
        while game.result().is_none() {
            game.legal_moves_into(&mut moves);
            game.play_legal(*moves.choose(&mut rng).expect("a game that goes on has a move"));
        }
        game
    };
    seeds.map(game).collect()
}

fn slow_perft(position: &Position, depth: u32) -> u64 {
    let moves = reference::moves(position);
    if depth == 1 {
        return moves.len() as u64;
    }
    moves.into_iter().map(|mv| slow_perft(&position.after(mv), depth - 1)).sum()
}

/// Leaves counted from the start.
fn count_leaves(c: &mut Criterion) {
    let start = Position::default();
    let mut group = c.benchmark_group("perft");
    group.throughput(Throughput::Elements(perft(&start, 5)));
    group.bench_function("depth 5", |b| b.iter(|| perft(black_box(&start), 5)));
    group.throughput(Throughput::Elements(perft(&start, 3)));
    group.bench_function("depth 3, slow twin", |b| b.iter(|| slow_perft(black_box(&start), 3)));
    for variant in Variant::ALL.into_iter().skip(1) {
        let start = Position::start(variant);
        group.throughput(Throughput::Elements(perft(&start, 4)));
        let name = format!("depth 4 of {variant}");
        group.bench_function(name, |b| b.iter(|| perft(black_box(&start), 4)));
    }
    group.finish();
}

/// Plies of random games, with the list of moves, the draw of one and the test for an ending.
fn play(c: &mut Criterion) {
    let games = random_games(0..20);
    let plies: usize = games.iter().map(|game| game.moves().len()).sum();
    let mut group = c.benchmark_group("random games");
    group.throughput(Throughput::Elements(plies as u64));
    group.bench_function("olympiad, moves listed", |b| b.iter(|| random_games(black_box(0..20))));

    let start = Game::new(OLYMPIAD);
    let stream = |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        move || rng.next_u64()
    };
    let count = || {
        let mut plies = 0;
        let done = |_, playout: surakarta_game::Playout| plies += u64::from(playout.plies);
        play_out_many(&start, u32::MAX, 20, stream, done);
        plies
    };
    group.throughput(Throughput::Elements(count()));
    group.bench_function("olympiad", |b| {
        b.iter(|| (0..20).map(|n| play_out(&start, u32::MAX, stream(n)).plies).sum::<u32>())
    });
    group.bench_function("olympiad, in lanes", |b| b.iter(count));

    let game = &games[0];
    group.throughput(Throughput::Elements(game.moves().len() as u64));
    group.bench_function("olympiad, slow twin (without the draw)", |b| {
        b.iter(|| {
            for now in 1..=game.positions().len() {
                let positions = &game.positions()[..now];
                black_box(reference::legal_moves(&OLYMPIAD, positions));
                black_box(reference::result(&OLYMPIAD, positions));
            }
        })
    });
    group.finish();
}

/// Positions of random games, asked for their moves and their attacked points.
fn ask(c: &mut Criterion) {
    let games = random_games(0..10);
    let positions: Vec<Position> =
        games.iter().flat_map(|game| game.positions()).copied().collect();
    let mut group = c.benchmark_group("positions");
    group.throughput(Throughput::Elements(positions.len() as u64));
    let mut moves = Vec::new();
    group.bench_function("moves", |b| {
        b.iter(|| {
            for position in &positions {
                position.moves_into(&mut moves);
                black_box(&moves);
            }
        })
    });
    group.bench_function("moves, slow twin", |b| {
        b.iter(|| positions.iter().map(|position| reference::moves(position).len()).sum::<usize>())
    });
    group.bench_function("attacks", |b| {
        b.iter(|| positions.iter().fold(0, |all, position| all ^ position.attacks()[0]))
    });
    group.bench_function("attacks, slow twin", |b| {
        b.iter(|| positions.iter().fold(0, |all, position| all ^ reference::attacks(position)[0]))
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = count_leaves, play, ask
}
criterion_main!(benches);
