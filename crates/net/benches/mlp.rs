//! Evaluations per second on one core, feature extraction and all legal moves included, beside the
//! slow twin. Positions come from random games.
//!
//! Run with `cargo bench -p surakarta-net`.

use std::hint::black_box;
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use surakarta_game::{Position, Variant};
use surakarta_net::{Batch, Evaluator, Kernel, MAX_INPUTS, Mlp, Shape, active};

#[path = "../tests/net/twin.rs"]
mod twin;

use twin::{dense_evaluation, lively_weights, random_positions};

const SHAPES: [&[usize]; 5] = [&[64], &[128, 64], &[256, 128], &[512, 128], &[256, 128, 128]];

/// Batches of 32, as self-play makes them.
fn batches(positions: &[Position]) -> Vec<Batch> {
    let fill = |positions: &[Position]| {
        let mut batch = Batch::default();
        for position in positions {
            batch.push(*position, &position.moves());
        }
        batch
    };
    positions.chunks(32).map(fill).collect()
}

/// The best of many short rounds, so that other work on the machine counts little.
fn per_second(mlp: &mut Mlp, batches: &mut [Batch]) -> f64 {
    let mut round = |batches: &mut [Batch]| {
        let start = Instant::now();
        for batch in &mut *batches {
            mlp.evaluate(batch).expect("native networks do not fail");
        }
        batches.iter().map(Batch::len).sum::<usize>() as f64 / start.elapsed().as_secs_f64()
    };
    (0..5)
        .flat_map(|_| batches.chunks_mut(32).map(&mut round).collect::<Vec<_>>())
        .fold(0.0, f64::max)
}

fn evaluations(c: &mut Criterion) {
    let positions = random_positions(Variant::Standard, 8_192, 1);
    let mut batches = batches(&positions);
    let moves: usize = positions.iter().map(|p| p.moves().len()).sum();
    println!("{:.1} moves a position", moves as f64 / positions.len() as f64);
    for hidden in SHAPES {
        let shape = Shape::mlp(hidden).expect("a shape").describe(Variant::Standard);
        let weights = lively_weights(Variant::Standard, hidden, 1);
        for kernel in Kernel::available() {
            let speed = per_second(&mut Mlp::with_kernel(&weights, kernel), &mut batches);
            println!("{shape}, {}: {speed:.0} evaluations/s", kernel.name());
        }
    }

    let mut group = c.benchmark_group("evaluate");
    group.throughput(Throughput::Elements(32));
    for hidden in SHAPES {
        let shape = Shape::mlp(hidden).expect("a shape").describe(Variant::Standard);
        let mut mlp = Mlp::new(&lively_weights(Variant::Standard, hidden, 1));
        group.bench_function(BenchmarkId::new(mlp.kernel(), shape), |b| {
            let mut at = 0;
            b.iter(|| {
                at = (at + 1) % batches.len();
                mlp.evaluate(&mut batches[at])
            });
        });
    }
    let weights = lively_weights(Variant::Standard, &[256, 128], 1);
    group.bench_function(
        BenchmarkId::new("dense twin", weights.shape().describe(Variant::Standard)),
        |b| {
            let moves: Vec<_> = positions[..32].iter().map(|p| (p, p.moves())).collect();
            b.iter(|| {
                for (position, moves) in &moves {
                    black_box(dense_evaluation(&weights, position, moves));
                }
            });
        },
    );
    for variant in [Variant::Standard, Variant::Sepur] {
        let positions = random_positions(variant, 32, 1);
        group.bench_function(BenchmarkId::new("inputs alone", variant), |b| {
            b.iter(|| {
                for position in &positions[..32] {
                    black_box(active(black_box(position), &mut [0; MAX_INPUTS]));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, evaluations);
criterion_main!(benches);
