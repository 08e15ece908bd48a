//! Samples a second on one core: drawing from the window, assembling a batch, whole steps of
//! training; and the shares of a step as the learner itself reports them.
//!
//! Run with `cargo bench -p surakarta-train`.

#[cfg(feature = "torch")]
#[path = "../tests/training/positions.rs"]
mod positions;

#[cfg(feature = "torch")]
mod torch {
    use std::hint::black_box;
    use std::sync::atomic::AtomicBool;

    use criterion::{BenchmarkId, Criterion, Throughput};
    use surakarta_game::Variant;
    use surakarta_net::{Shape, Weights};
    use surakarta_record::{Window, write_shard};
    use surakarta_train::{Device, Iteration, Learner, Outcome, TrainConfig, TrainingBatch};

    use crate::positions::{random_games, random_shard_header};

    const BATCH: usize = 512;
    const STEPS: u64 = 10;

    pub(crate) fn benches(criterion: &mut Criterion) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.shard");
        let games = random_games(300, 1);
        write_shard(&path, &random_shard_header(games.len()), &games).expect("a shard");
        let mut window = Window::default();
        assert!(window.load(&[path], usize::MAX).is_empty());

        let mut group = criterion.benchmark_group("samples");
        group.throughput(Throughput::Elements(BATCH as u64));
        let mut step = 0;
        group.bench_function("draw", |bencher| {
            bencher.iter(|| {
                step += 1;
                black_box(window.batch(1, 0, step, BATCH))
            });
        });
        let samples = window.batch(1, 0, 0, BATCH);
        group.bench_function("assemble", |bencher| {
            let config = TrainConfig::default();
            let assemble = || TrainingBatch::assemble(Variant::Standard, &samples, &config);
            bencher.iter(|| black_box(assemble()));
        });
        for hidden in [&[256, 128][..], &[512, 256], &[64]] {
            let shape = Shape::mlp(hidden).expect("a valid shape");
            let weights = Weights::random(shape, Variant::Standard, 1);
            let name = format!("{hidden:?}");
            let config = TrainConfig { batch_size: BATCH, ..TrainConfig::default() };
            let mut learner = Learner::new(config, &weights, Device::Cpu).expect("a learner");
            let mut number = 0;
            let mut last = None;
            group.throughput(Throughput::Elements(STEPS * BATCH as u64));
            group.bench_function(BenchmarkId::new("train", &name), |bencher| {
                bencher.iter(|| {
                    let iteration = Iteration {
                        number,
                        steps: STEPS,
                        new_samples: 0,
                        draw: &|step, size| window.batch(1, number, step, size),
                        checkpoint: None,
                        stop: &AtomicBool::new(false),
                    };
                    last = learner.train_iteration(&iteration, &mut |_| ()).ok();
                    number += 1;
                });
            });
            if let Some(Outcome::Done(done)) = last {
                let (batch, optimiser) = (done.0.batch_share, done.0.optimiser_share);
                let wait = done.0.wait_share.unwrap_or_default();
                println!(
                    "{name}: {batch:.2} of it batches beside it, {wait:.2} waiting for them, {optimiser:.2} the optimiser"
                );
            }
        }
        group.finish();
    }
}

#[cfg(feature = "torch")]
criterion::criterion_group!(benches, torch::benches);
#[cfg(feature = "torch")]
criterion::criterion_main!(benches);

#[cfg(not(feature = "torch"))]
fn main() {}
