//! Nodes of alpha-beta: searches of 100,000 nodes, each with an empty table, of positions from random
//! games. Criterion's elements are nodes, moves made in quiescence included. In the same run, the
//! evaluation and the rules' own cost of making moves (a perft leaf by `Game`), to compare.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rand::RngExt;
use surakarta_game::{Game, OLYMPIAD};
use surakarta_search::alphabeta::evaluate;
use surakarta_search::{AlphaBetaConfig, AlphaBetaPlayer, Limits, Player, stream};

const NODES: u64 = 100_000;

/// One position from each of some random games, 4 to 40 plies after the start.
fn games() -> Vec<Game> {
    let mut rng = stream(1, [0; 3]);
    let mut games = Vec::new();
    while games.len() < 20 {
        let mut game = Game::new(OLYMPIAD);
        for _ in 0..rng.random_range(4..=40) {
            let moves = game.legal_moves();
            if !moves.is_empty() {
                game.play_legal(moves[rng.random_range(0..moves.len())]);
            }
        }
        if game.result().is_none() {
            games.push(game);
        }
    }
    games
}

fn moves_made(game: &mut Game, depth: u32) -> u64 {
    let mut made = 0;
    for mv in game.legal_moves() {
        game.play_legal(mv);
        made += 1 + if depth > 1 { moves_made(game, depth - 1) } else { 0 };
        game.undo();
    }
    made
}

fn bench(criterion: &mut Criterion) {
    let games = games();
    let mut group = criterion.benchmark_group("alphabeta");
    group.sample_size(10);

    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    let mut player = AlphaBetaPlayer::new(AlphaBetaConfig::default());
    group.throughput(Throughput::Elements(NODES * games.len() as u64));
    group.bench_function("search", |b| {
        b.iter(|| {
            for game in &games {
                player.new_game(0);
                let choice = player.choose(game, &limits).expect("the game goes on");
                assert_eq!(choice.work.nodes, NODES);
            }
        });
    });

    group.throughput(Throughput::Elements(games.len() as u64));
    group.bench_function("evaluate", |b| {
        b.iter(|| games.iter().map(|game| evaluate(game.position())).sum::<i32>());
    });

    let made = moves_made(&mut games[0].clone(), 3);
    group.throughput(Throughput::Elements(made));
    group.bench_function("play and undo", |b| {
        b.iter_batched_ref(
            || games[0].clone(),
            |game| assert_eq!(moves_made(game, 3), made),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
