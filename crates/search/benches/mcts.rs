//! The tree's own cost: searches of positions from random games with an evaluator that is almost
//! free. Criterion's elements are simulations; new evaluations per simulation are printed beside
//! them, and the evaluator alone is measured in the same run.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::RngExt;
use surakarta_game::{Game, OLYMPIAD};
use surakarta_net::Batch;
use surakarta_search::{Root, Search, SearchConfig, Step, stream};

/// Policy and value from a hash of the position: as peaked as a network's, without its cost.
fn evaluate(batch: &mut Batch) {
    for at in 0..batch.len() {
        let (position, moves, policy, outlook) = batch.item_mut(at);
        let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let key = position.own() ^ position.enemy().rotate_left(23);
        for (p, mv) in policy.iter_mut().zip(moves) {
            let x = mix(key ^ (mv.from().index() * 64 + mv.to().index()) as u64) as f32;
            *p = x * x * x;
        }
        let scale = 1.0 / policy.iter().sum::<f32>();
        policy.iter_mut().for_each(|p| *p *= scale);
        let lead = position.own().count_ones() as f32 - position.enemy().count_ones() as f32;
        let win = 0.5 + lead / 30.0 + (mix(key) as f32 / (1 << 24) as f32 - 0.5) / 10.0;
        outlook.wdl = [win, 0.0, 1.0 - win];
    }
}

/// Every fourth position of random games.
fn games() -> Vec<Game> {
    let mut rng = stream(1, [0; 3]);
    let mut games = Vec::new();
    while games.len() < 100 {
        let mut game = Game::new(OLYMPIAD);
        while game.result().is_none() {
            if game.moves().len().is_multiple_of(4) {
                games.push(game.clone());
            }
            let moves = game.legal_moves();
            game.play_legal(moves[rng.random_range(0..moves.len())]);
        }
    }
    games
}

/// Searches every position anew; returns simulations and evaluations.
fn run(search: &mut Search, games: &[Game], simulations: u32, batch: &mut Batch) -> (u64, u64) {
    let mut rng = stream(2, [0; 3]);
    let (mut descents, mut evaluations) = (0, 0);
    for game in games {
        search.clear();
        search.begin(game, Root { simulations, noise: true }, &mut rng);
        batch.clear();
        while let Step::Leaf(at) = search.step(batch) {
            evaluate(batch);
            search.accept(batch, at);
            batch.clear();
        }
        descents += search.work().simulations;
        evaluations += search.work().evaluations;
    }
    (descents, evaluations)
}

fn bench(criterion: &mut Criterion) {
    let games = games();
    let mut group = criterion.benchmark_group("mcts");
    let mut batch = Batch::default();
    for simulations in [50, 200, 400, 3200] {
        let mut search = Search::new(SearchConfig::default());
        let (descents, evaluations) = run(&mut search, &games, simulations, &mut batch);
        println!(
            "{simulations}: {:.3} evaluations a simulation",
            evaluations as f64 / descents as f64
        );
        group.throughput(Throughput::Elements(descents));
        group.bench_function(BenchmarkId::new("search", simulations), |b| {
            b.iter(|| run(&mut search, &games, simulations, &mut batch));
        });
    }
    let mut all = Batch::default();
    for game in &games {
        all.push(*game.position(), &game.legal_moves());
    }
    group.throughput(Throughput::Elements(all.len() as u64));
    group.bench_function("evaluator alone", |b| b.iter(|| evaluate(&mut all)));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = bench
}
criterion_main!(benches);
