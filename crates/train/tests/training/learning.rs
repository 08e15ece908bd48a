//! A learner learns, repeats itself to the bit, goes on after any interruption, and stops before
//! it ruins its weights.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::positions::{random_samples, random_samples_of};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surakarta_game::{Symmetry, Variant};
use surakarta_net::{InputGroup, Shape, Weights};
use surakarta_record::Sample;
use surakarta_train::{
    Checkpoint, Device, Iteration, Learner, Metrics, Outcome, TrainConfig, TrainError,
};

fn config() -> TrainConfig {
    TrainConfig {
        batch_size: 32,
        warmup_samples: 320,
        checkpoint_steps: 0,
        ema_samples: 0,
        ..TrainConfig::default()
    }
}

fn weights() -> Weights {
    Weights::random(Shape::mlp(&[64, 32]).unwrap(), Variant::Standard, 7)
}

fn learner(config: TrainConfig) -> Learner {
    let weights = weights().with_heads(&config.heads(), 7);
    Learner::new(config, &weights, Device::Cpu).unwrap()
}

/// All heads, and weights that are averaged.
fn rich() -> TrainConfig {
    TrainConfig {
        occupancy_weight: 1.0,
        reply_weight: 0.3,
        short_term_weight: 0.5,
        soft_policy_weight: 1.0,
        ema_samples: 500,
        ..config()
    }
}

/// Draws that depend on the step alone.
fn draw(samples: &[Sample]) -> impl Fn(u64, usize) -> Vec<Sample> + Sync {
    move |step, size| {
        let mut rng = ChaCha8Rng::seed_from_u64(step);
        let mut draw = || {
            let sample = samples[rng.random_range(0..samples.len())].clone();
            sample.under(Symmetry::ALL[rng.random_range(0..8)])
        };
        (0..size).map(|_| draw()).collect()
    }
}

/// One iteration without interruption.
fn train(learner: &mut Learner, number: u64, steps: u64, samples: &[Sample]) -> Metrics {
    let (draw, stop) = (draw(samples), AtomicBool::new(false));
    let iteration =
        Iteration { number, steps, new_samples: 0, draw: &draw, checkpoint: None, stop: &stop };
    match learner.train_iteration(&iteration, &mut |_| ()).unwrap() {
        Outcome::Done(done) => done.0,
        Outcome::Stopped => panic!("nobody stopped it"),
    }
}

/// Metrics without what a clock measured.
fn timeless(metrics: Metrics) -> Metrics {
    let zero = Metrics::default();
    Metrics {
        seconds: zero.seconds,
        samples_per_second: zero.samples_per_second,
        batch_share: zero.batch_share,
        optimiser_share: zero.optimiser_share,
        wait_share: zero.wait_share,
        ..metrics
    }
}

#[test]
fn a_small_set_is_learned_by_heart() {
    let samples = random_samples(16, 1);
    let mut learner = learner(TrainConfig {
        learning_rate: 4e-3,
        weight_decay: 0.0,
        search_value_share: 0.5,
        ..config()
    });
    // Without symmetries, which would make it 128 samples.
    let draw = |_, size| samples.iter().cycle().take(size).cloned().collect();
    let stop = AtomicBool::new(false);
    let iteration = |number, steps| Iteration {
        number,
        steps,
        new_samples: 0,
        draw: &draw,
        checkpoint: None,
        stop: &stop,
    };
    let mut rows = Vec::new();
    for (number, steps) in [(0, 1), (1, 600), (2, 1)] {
        match learner.train_iteration(&iteration(number, steps), &mut |_| ()).unwrap() {
            Outcome::Done(done) => rows.push(done.0),
            Outcome::Stopped => panic!("nobody stopped it"),
        }
    }
    let (first, last) = (&rows[0], &rows[2]);
    // Targets differ from position to position: before learning their entropy is out of reach.
    assert!(first.policy_loss > first.policy_entropy + 1.0, "{first:?}");
    assert!(first.wdl_loss > first.wdl_entropy + 0.2, "{first:?}");
    assert!(last.policy_loss < last.policy_entropy + 0.01, "{last:?}");
    assert!(last.wdl_loss < last.wdl_entropy + 0.01, "{last:?}");
    assert!(last.margin_loss < 0.01 && first.margin_loss > 0.1, "{last:?}");
    // A loss below the entropy of its target would be a bug of the loss.
    assert!(last.policy_loss > last.policy_entropy - 1e-4, "{last:?}");
    assert!(last.wdl_loss > last.wdl_entropy - 1e-4, "{last:?}");
    assert_eq!((last.policy_accuracy, last.value_accuracy), (1.0, 1.0));
    assert_eq!((last.steps, last.samples), (602, 602 * 32));
    assert!(last.gradient_norm < first.gradient_norm, "{last:?}");
}

#[test]
fn every_variant_is_learned_and_no_other() {
    for variant in Variant::ALL {
        let samples = random_samples_of(variant, 64, 6);
        let weights = Weights::random(Shape::mlp(&[32]).unwrap(), variant, 7);
        let mut learner = Learner::new(config(), &weights, Device::Cpu).unwrap();
        let first = train(&mut learner, 0, 1, &samples);
        train(&mut learner, 1, 200, &samples);
        let last = train(&mut learner, 2, 1, &samples);
        assert!(last.policy_loss < first.policy_loss - 0.2, "{variant}: {first:?} {last:?}");
        assert_eq!(learner.weights().unwrap().variant(), variant);

        let others = random_samples_of(Variant::ALL[(variant as usize + 1) % 4], 8, 1);
        let stop = AtomicBool::new(false);
        let draw = |_, _| others.clone();
        let iteration = Iteration {
            number: 3,
            steps: 1,
            new_samples: 0,
            draw: &draw,
            checkpoint: None,
            stop: &stop,
        };
        let error = learner.train_iteration(&iteration, &mut |_| ()).unwrap_err();
        assert!(matches!(error, TrainError::OtherVariant { .. }), "{error}");
    }
}

#[test]
fn two_runs_are_equal_to_the_bit_and_another_batch_is_not() {
    let samples = random_samples(200, 2);
    let (mut one, mut other) = (learner(config()), learner(config()));
    for number in 0..2 {
        let rows = [&mut one, &mut other].map(|learner| train(learner, number, 25, &samples));
        let [a, b] = rows.map(timeless);
        assert_eq!(a, b);
    }
    assert_eq!(one.checkpoint().unwrap(), other.checkpoint().unwrap());
    train(&mut one, 2, 1, &samples);
    train(&mut other, 2, 1, &samples[1..]);
    assert_ne!(one.weights().unwrap().hash(), other.weights().unwrap().hash());
}

#[test]
fn every_head_learns_in_every_shape() {
    let samples = random_samples(16, 5);
    let shapes = [
        (Shape::mlp(&[64, 32]).unwrap(), 400),
        (Shape::conv(1, 16).unwrap(), 150),
        (Shape::circuit(1, 16, 2).unwrap(), 150),
    ];
    for (shape, steps) in shapes {
        let config = TrainConfig { learning_rate: 6e-3, weight_decay: 0.0, ..rich() };
        let weights = Weights::random(shape.with_heads(config.heads()), Variant::Standard, 7);
        let mut learner = Learner::new(config, &weights, Device::Cpu).unwrap();
        let first = train(&mut learner, 0, 1, &samples);
        train(&mut learner, 1, steps, &samples);
        let last = train(&mut learner, 2, 1, &samples);
        let losses = |row: &Metrics| {
            [row.occupancy_loss, row.reply_loss, row.short_term_loss, row.soft_policy_loss]
                .map(Option::unwrap)
        };
        for (head, (first, last)) in losses(&first).into_iter().zip(losses(&last)).enumerate() {
            let shape = weights.shape();
            assert!(last < 0.85 * first, "{shape:?} head {head}: {first} {last}");
        }
    }
    // Without weights there are no heads and no losses.
    let row = train(&mut learner(config()), 0, 1, &samples);
    assert_eq!((row.occupancy_loss, row.reply_loss, row.validation_samples), (None, None, None));
}

#[test]
fn blind_networks_learn_with_the_weights_that_play() {
    let samples = random_samples(100, 8);
    for shape in [Shape::mlp(&[32]).unwrap(), Shape::conv(1, 16).unwrap()] {
        for without in [vec![InputGroup::Attacks], vec![InputGroup::Pieces, InputGroup::Quiet]] {
            let shape = shape.clone().without(without);
            let weights = Weights::random(shape, Variant::Standard, 7);
            let start = || Learner::new(config(), &weights, Device::Cpu).unwrap();
            let mut whole = start();
            train(&mut whole, 0, 10, &samples);
            // What is learned is of this shape, or it could not be had.
            let learned = whole.weights().unwrap();
            assert_ne!(learned.hash(), weights.hash());
            train(&mut whole, 1, 10, &samples);
            // The rows that are written alike go on as if they had been alike all along.
            let mut parted = start();
            train(&mut parted, 0, 10, &samples);
            let checkpoint = parted.checkpoint().unwrap();
            let mut parted = Learner::resume(config(), &checkpoint, Device::Cpu).unwrap();
            train(&mut parted, 1, 10, &samples);
            assert_eq!(parted.checkpoint().unwrap(), whole.checkpoint().unwrap());
        }
    }
}

#[test]
fn the_weights_that_play_are_the_average() {
    let samples = random_samples(100, 6);
    let config = TrainConfig { ema_samples: 1_000_000, ..config() };
    let mut averaged = learner(config.clone());
    let mut plain = learner(TrainConfig { ema_samples: 0, ..config });
    let numbers = |weights: &Weights| -> Vec<f32> {
        weights.tensors().flat_map(|(_, _, data)| data.to_vec()).collect()
    };
    let mut sum = vec![0.0f64; numbers(&weights()).len()];
    for step in 0..20 {
        train(&mut averaged, step, 1, &samples);
        train(&mut plain, step, 1, &samples);
        // The average changes nothing in the training itself.
        assert_eq!(averaged.checkpoint().unwrap().weights, plain.weights().unwrap());
        let now = numbers(&plain.weights().unwrap());
        sum.iter_mut().zip(now).for_each(|(sum, now)| *sum += f64::from(now));
        // So early it is the mean of all steps.
        let average = numbers(&averaged.weights().unwrap());
        for (average, sum) in average.into_iter().zip(&sum) {
            let mean = sum / (step + 1) as f64;
            assert!((f64::from(average) - mean).abs() < 1e-6, "{step}: {average} {mean}");
        }
    }
    // Testing uses it, and leaves everything as it was.
    let before = averaged.checkpoint().unwrap();
    let tested = averaged.evaluate(samples.iter().cloned()).unwrap();
    assert_eq!(averaged.checkpoint().unwrap(), before);
    let mut playing = Learner::new(config_of_play(), &averaged.weights().unwrap(), Device::Cpu);
    let same = playing.as_mut().unwrap().evaluate(samples.iter().cloned()).unwrap();
    assert_eq!(tested, same);
    assert_eq!(tested.samples, 100.0);
    assert_ne!(plain.evaluate(samples.into_iter()).unwrap(), tested);
}

fn config_of_play() -> TrainConfig {
    TrainConfig { ema_samples: 0, ..config() }
}

/// Trains two iterations and dies at random steps: at each it goes on from the file alone.
fn train_with_interruptions(
    path: &Path,
    samples: &[Sample],
    seed: u64,
) -> (Checkpoint, Vec<Metrics>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let config = TrainConfig { checkpoint_steps: 7, ..rich() };
    let shape = weights().shape().clone().with_heads(config.heads());
    let draw = draw(samples);
    let mut rows = Vec::new();
    let mut interruptions = 0;
    learner(config.clone()).checkpoint().unwrap().save(path).unwrap();
    loop {
        let checkpoint = Checkpoint::load_as(path, &shape, weights().variant()).unwrap();
        let number = checkpoint.progress.iteration;
        if number == 2 {
            assert!(interruptions > 4, "{interruptions}");
            return (checkpoint, rows);
        }
        let mut learner = Learner::resume(config.clone(), &checkpoint, Device::Cpu).unwrap();
        let stop = AtomicBool::new(false);
        // One kind of end saves, the other one loses what came after the last regular checkpoint.
        let (mut left, killed) = (rng.random_range(1..15), rng.random_bool(0.5));
        let end = checkpoint.progress.step + left;
        let draw = |step, size| if killed && step >= end { Vec::new() } else { draw(step, size) };
        let iteration = Iteration {
            number,
            steps: 40,
            new_samples: 0,
            draw: &draw,
            checkpoint: Some(path),
            stop: &stop,
        };
        let ended = learner.train_iteration(&iteration, &mut |report| {
            assert!(report.loss.is_finite() && report.steps == 40);
            left -= 1;
            stop.store(!killed && left == 0, Ordering::Relaxed);
        });
        match ended {
            Ok(Outcome::Done(done)) => {
                rows.push(done.0);
                learner.checkpoint().unwrap().save(path).unwrap();
            }
            Ok(Outcome::Stopped) | Err(TrainError::NoSamples) => interruptions += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn averaging_neither_begins_nor_ends_on_the_way() {
    let averaging = TrainConfig { ema_samples: 500, ..config() };
    for (before, now, problem) in [
        (config(), averaging.clone(), "`ema_samples` is 500; it must be 0, as"),
        (averaging, config(), "`ema_samples` is 0; it must be above 0, as"),
    ] {
        let checkpoint = learner(before).checkpoint().unwrap();
        let error = Learner::resume(now, &checkpoint, Device::Cpu).unwrap_err().to_string();
        assert!(error.starts_with(problem), "{error}");
    }
}

#[test]
fn interruptions_leave_no_trace() {
    let samples = random_samples(200, 3);
    let mut undisturbed = learner(rich());
    let expected = [0, 1].map(|number| timeless(train(&mut undisturbed, number, 40, &samples)));
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..3 {
        let path = folder.path().join(format!("{seed}.checkpoint"));
        let (checkpoint, rows) = train_with_interruptions(&path, &samples, seed);
        assert_eq!(checkpoint, undisturbed.checkpoint().unwrap());
        let rows: Vec<_> = rows.into_iter().map(timeless).collect();
        assert_eq!(rows, expected);
    }
}

#[test]
fn stops_before_a_step_that_would_ruin_the_weights() {
    let mut samples = random_samples(64, 4);
    let mut learner = learner(TrainConfig { checkpoint_steps: 2, ..config() });
    train(&mut learner, 0, 3, &samples);
    let good = learner.checkpoint().unwrap();
    samples[0].margin = f32::NAN;
    let draw = |step, size: usize| match step {
        5 => samples[..size].to_vec(),
        _ => samples[size..].to_vec(),
    };
    let stop = AtomicBool::new(false);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("last.checkpoint");
    let iteration = Iteration {
        number: 1,
        steps: 9,
        new_samples: 0,
        draw: &draw,
        checkpoint: Some(&path),
        stop: &stop,
    };
    let error = learner.train_iteration(&iteration, &mut |_| ()).unwrap_err();
    assert!(matches!(error, TrainError::NotFinite { iteration: 1, step: 5, .. }), "{error}");
    assert!(error.to_string().contains("step 5 of iteration 1: the loss is NaN"), "{error}");
    // What is in memory is the last good step, and whole.
    let kept = learner.checkpoint().unwrap();
    assert_eq!((kept.progress.step, kept.progress.steps), (5, 8));
    assert_ne!(kept.weights, good.weights);
    assert_eq!(Checkpoint::load(&path).unwrap().progress.step, 4);

    // Finite weights so large that the outputs overflow.
    let tensors = weights();
    let tensors = tensors.tensors().map(|(name, dims, data)| {
        let scale = if name.ends_with("weight") { 1e20 } else { 1.0 };
        (name.to_owned(), dims.to_vec(), data.iter().map(|x| x * scale).collect())
    });
    let shape = weights().shape().clone();
    let huge = Weights::from_tensors(shape, weights().variant(), "", tensors).unwrap();
    let mut learner = Learner::new(config(), &huge, Device::Cpu).unwrap();
    let iteration = Iteration { number: 0, checkpoint: None, ..iteration };
    let error = learner.train_iteration(&iteration, &mut |_| ()).unwrap_err();
    assert!(matches!(error, TrainError::NotFinite { iteration: 0, step: 0, .. }), "{error}");
    assert_eq!(learner.weights().unwrap().hash(), huge.hash());
}

#[test]
fn what_cannot_be_trained_is_refused_in_one_sentence() {
    let bad = TrainConfig { beta1: 1.0, ..config() };
    let error = Learner::new(bad, &weights(), Device::Cpu).unwrap_err().to_string();
    assert!(error.contains("`beta1` is 1"), "{error}");
    let error = Learner::new(config(), &weights(), Device::Cuda(99)).unwrap_err().to_string();
    assert!(error.contains("cuda:99"), "{error}");

    let samples = random_samples(50, 5);
    let (draw, stop) = (draw(&samples), AtomicBool::new(false));
    let mut learner = learner(config());
    let mut iteration = Iteration {
        number: 4,
        steps: 9,
        new_samples: 0,
        draw: &draw,
        checkpoint: None,
        stop: &stop,
    };
    let stop_soon = &mut |_| stop.store(true, Ordering::Relaxed);
    assert_eq!(learner.train_iteration(&iteration, stop_soon).unwrap(), Outcome::Stopped);
    assert_eq!(learner.progress().step, 1);
    iteration.number = 5;
    let error = learner.train_iteration(&iteration, &mut |_| ()).unwrap_err().to_string();
    assert_eq!(error, "the checkpoint is in the middle of iteration 4, not of iteration 5");
}
