//! What the arena costs beside its players, and how long ratings take.

#[allow(dead_code)]
#[path = "../tests/twin/mod.rs"]
mod twin;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::RngExt;
use surakarta_arena::{Clusters, RatedGame, RatingOptions, Session, Tournament, rate};
use surakarta_game::{Game, OLYMPIAD, Variant};
use surakarta_search::{Limits, Player, RandomPlayer, stream};

const PAIRS: usize = 50;

fn games(c: &mut Criterion) {
    let mut group = c.benchmark_group("games");
    group.throughput(Throughput::Elements(2 * PAIRS as u64));
    let names = ["one", "other"].map(str::to_owned);
    let tournament = Tournament::round_robin(&names, PAIRS, 8, Variant::Standard, OLYMPIAD, 1)
        .expect("openings");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let player = || Box::new(RandomPlayer::new(Default::default()));
    let factory = |_| Ok(player() as Box<dyn Player>);
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("journal.jsonl");
    group.bench_function("arena", |b| {
        b.iter(|| tournament.play(&factory, &Session::new(&pool)));
    });
    group.bench_function("arena with journal", |b| {
        b.iter(|| {
            let _ = std::fs::remove_file(&journal);
            let session = Session { journal: Some(&journal), ..Session::new(&pool) };
            tournament.play(&factory, &session)
        });
    });
    // The same number of games with nothing around them: a player and the rules.
    group.bench_function("bare", |b| {
        b.iter(|| {
            let mut player = player();
            for seed in 0..2 * PAIRS as u64 {
                player.new_game(seed);
                let mut game = Game::new(OLYMPIAD);
                while let Ok(choice) = player.choose(&game, &Limits::default()) {
                    game.play_legal(choice.mv);
                }
            }
        });
    });
    group.finish();
}

fn ratings(c: &mut Criterion) {
    let mut rng = stream(1, [0, 0, 0]);
    let games: Vec<RatedGame> = (0..1_000_000u64)
        .map(|n| {
            let first = rng.random_range(0..100u32) as usize;
            let second = (first + rng.random_range(1..100u32) as usize) % 100;
            let strength = second as f64 - first as f64;
            let p = 1.0 / (1.0 + (strength / 30.0).exp());
            let score = if rng.random_bool(p) { 1.0 } else { 0.0 };
            RatedGame { first, second, score, pair: n / 2 }
        })
        .collect();
    let mut group = c.benchmark_group("ratings");
    group.sample_size(10);
    let options = RatingOptions { first_advantage: true, ..RatingOptions::default() };
    group
        .bench_function("100 players, 1,000,000 games", |b| b.iter(|| rate(100, &games, &options)));
    // The slow and obvious solver takes them two by two: few of them for the ratio.
    let few: Vec<RatedGame> = games
        .iter()
        .filter(|game| game.first < 10 && game.second < 10)
        .take(1000)
        .copied()
        .collect();
    group.bench_function("10 players, 1,000 games", |b| b.iter(|| rate(10, &few, &options)));
    group.bench_function("10 players, 1,000 games, slow twin", |b| {
        b.iter(|| twin::rate(10, &few, true, Clusters::Pairs));
    });
    group.finish();
}

criterion_group!(benches, games, ratings);
criterion_main!(benches);
