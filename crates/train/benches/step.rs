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
    use surakarta_train::{
        AdamW, Device, Iteration, Learner, Model, Outcome, TrainConfig, TrainingBatch, loss,
    };

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
        parts(criterion, &TrainingBatch::assemble(Variant::Standard, &samples, &train()).unwrap());
    }

    fn train() -> TrainConfig {
        TrainConfig { batch_size: BATCH, ..TrainConfig::default() }
    }

    /// Of one step on a batch, the parts that the optimiser's thread goes through, each with those
    /// before it: forward, loss, gradient; and the update alone.
    fn parts(criterion: &mut Criterion, batch: &TrainingBatch) {
        let batch = batch.to_tensors(tch::Device::Cpu).expect("a batch");
        let weights =
            Weights::random(Shape::mlp(&[256, 128]).expect("a shape"), Variant::Standard, 1);
        let mut model = Model::new(&weights, Device::Cpu).expect("a model");
        let (parameters, matrices) = model.parameters();
        let mut adamw = AdamW::new(&train(), parameters, matrices, model.device()).expect("AdamW");
        let mut gradient = model.flat().zeros_like();
        tch::set_num_threads(1);
        let mut group = criterion.benchmark_group("step");
        group.throughput(Throughput::Elements(BATCH as u64));
        group.bench_function("forward", |bencher| bencher.iter(|| model.forward(&batch.inputs)));
        let lost = || loss(&model.forward(&batch.inputs).expect("outputs"), &batch, &train());
        group.bench_function("loss", |bencher| bencher.iter(lost));
        group.bench_function("gradient", |bencher| {
            bencher.iter(|| model.gradient(&lost().expect("a loss").total, &gradient));
        });
        group.bench_function("update", |bencher| {
            bencher.iter(|| adamw.step(model.flat(), &mut gradient, 1.0, 1e-9));
        });
        group.finish();
    }
}

#[cfg(feature = "torch")]
criterion::criterion_group!(benches, torch::benches);
#[cfg(feature = "torch")]
criterion::criterion_main!(benches);

#[cfg(not(feature = "torch"))]
fn main() {}
