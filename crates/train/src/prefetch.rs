//! Batches that are ready before the optimiser asks for them.

use std::ops::Range;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use surakarta_record::Sample;

use crate::batch::{BatchTensors, TrainingBatch};
use crate::config::TrainConfig;
use crate::error::TrainError;
use crate::model::use_one_thread;

/// How many batches wait at most.
const AHEAD: usize = 3;

/// Where the samples of a step come from, given its number and how many are wanted.
pub(crate) type Draw<'a> = dyn Fn(u64, usize) -> Vec<Sample> + Sync + 'a;

/// A batch, and how long it took to draw and assemble it.
pub(crate) struct Ready {
    pub(crate) batch: BatchTensors,
    pub(crate) took: Duration,
}

/// Draws and assembles the batches of these steps, in their order, in a thread of its own. It ends
/// after the first error, or when nobody receives any more. What a batch holds depends on its step
/// alone, so the thread changes no bit of the training.
pub(crate) fn batches<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    steps: Range<u64>,
    draw: &'env Draw<'env>,
    variant: surakarta_game::Variant,
    config: &'env TrainConfig,
    device: tch::Device,
) -> Receiver<Result<Ready, TrainError>> {
    let (sender, receiver) = sync_channel(AHEAD);
    scope.spawn(move || {
        use_one_thread();
        for step in steps {
            let began = Instant::now();
            let samples = draw(step, config.batch_size);
            let batch = if samples.is_empty() {
                Err(TrainError::NoSamples)
            } else {
                TrainingBatch::assemble(variant, &samples, config)
                    .and_then(|batch| batch.to_tensors(device))
            };
            let failed = batch.is_err();
            let ready = batch.map(|batch| Ready { batch, took: began.elapsed() });
            if sender.send(ready).is_err() || failed {
                break;
            }
        }
    });
    receiver
}
