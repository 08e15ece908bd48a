//! Training, one iteration at a time.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use surakarta_net::Weights;
use surakarta_record::Sample;
use tch::{Kind, Tensor};

use crate::adamw::AdamW;
use crate::batch::TrainingBatch;
use crate::checkpoint::{Checkpoint, Progress};
use crate::config::{Device, TrainConfig};
use crate::error::TrainError;
use crate::loss::{Loss, loss};
use crate::metrics::{Metrics, Totals};
use crate::model::{Model, use_one_thread};

/// A network in training. On the processor the same weights, configuration and samples give the
/// same bits, whatever the interruptions.
#[derive(Debug)]
pub struct Learner {
    config: TrainConfig,
    model: Model,
    adamw: AdamW,
    progress: Progress,
    /// Room for the gradient, flat.
    gradient: Tensor,
}

/// The steps to take, and what surrounds them.
pub struct Iteration<'a> {
    /// Its number.
    pub number: u64,
    /// How many steps it has, those included that an interrupted learner has taken already.
    pub steps: u64,
    /// The samples of a step, given its number in the iteration (0 the first) and how many are
    /// wanted: `Window::batch`, with its seed and iteration. A resumed learner asks again, so the
    /// answer must depend on these two alone.
    pub draw: &'a dyn Fn(u64, usize) -> Vec<Sample>,
    /// Where to save checkpoints on the way: every
    /// [`checkpoint_steps`](TrainConfig::checkpoint_steps), and on a stop.
    pub checkpoint: Option<&'a Path>,
    /// Set from elsewhere to stop before the next step.
    pub stop: &'a AtomicBool,
}

/// How an iteration of training ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All steps are taken. To resume exactly, save first the row of metrics, then the weights, then
    /// [`checkpoint`](Learner::checkpoint): it says that the iteration is over.
    Done(Metrics),
    /// It was stopped; its checkpoint, if it has a place, is saved.
    Stopped,
}

/// How an iteration is coming along, after each step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Steps of the iteration that are done.
    pub step: u64,
    /// All of its steps.
    pub steps: u64,
    /// The weighted loss of this step.
    pub loss: f64,
    /// Samples a second since the iteration began or was resumed.
    pub samples_per_second: f64,
}

/// Wall time of the parts of a step.
#[derive(Default)]
struct Times {
    batch: Duration,
    optimiser: Duration,
    samples: u64,
}

impl Learner {
    /// Training from the beginning, with these weights.
    ///
    /// # Errors
    /// If the configuration makes no sense, or the device is missing or out of memory.
    pub fn new(
        config: TrainConfig,
        weights: &Weights,
        device: Device,
    ) -> Result<Learner, TrainError> {
        config.validate()?;
        let mut model = Model::new(weights, device)?;
        let (parameters, matrices) = model.parameters();
        let adamw = AdamW::new(&config, parameters, matrices, model.device())?;
        let gradient = model.flat().f_zeros_like()?;
        Ok(Learner { config, model, adamw, progress: Progress::default(), gradient })
    }

    /// Training from where a checkpoint left it.
    ///
    /// # Errors
    /// As [`Learner::new`].
    pub fn resume(
        config: TrainConfig,
        checkpoint: &Checkpoint,
        device: Device,
    ) -> Result<Learner, TrainError> {
        let mut learner = Learner::new(config, &checkpoint.weights, device)?;
        let [mean, square] =
            [&checkpoint.mean, &checkpoint.square].map(|part| learner.model.flatten(part));
        learner.adamw.restore(&mean, &square, checkpoint.progress.steps)?;
        learner.progress = checkpoint.progress.clone();
        Ok(learner)
    }

    /// All that it takes to go on from here.
    ///
    /// # Errors
    /// If training has diverged.
    pub fn checkpoint(&self) -> Result<Checkpoint, TrainError> {
        let (mean, square) = self.adamw.state();
        Ok(Checkpoint {
            weights: self.weights()?,
            mean: self.model.named(mean, "")?,
            square: self.model.named(square, "")?,
            progress: self.progress.clone(),
        })
    }

    /// The weights as they are now.
    ///
    /// # Errors
    /// If training has diverged.
    pub fn weights(&self) -> Result<Weights, TrainError> {
        let Progress { steps, samples, .. } = self.progress;
        self.model.weights(&format!("trained for {steps} steps on {samples} samples"))
    }

    /// How far it has come.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Takes the steps of an iteration that are still to be taken, and calls `report` after each.
    ///
    /// # Errors
    /// - [`TrainError::NotFinite`] before a step whose loss or gradient is NaN or infinite, which is
    ///   then not taken;
    /// - if there are no samples or one is of another variant, the device fails, or a checkpoint cannot
    ///   be written;
    /// - if the learner stands in the middle of another iteration.
    pub fn train_iteration(
        &mut self,
        iteration: &Iteration,
        report: &mut dyn FnMut(Report),
    ) -> Result<Outcome, TrainError> {
        let found = self.progress.iteration;
        if self.progress.step > 0 && found != iteration.number {
            return Err(TrainError::OtherIteration { found, wanted: iteration.number });
        }
        self.progress.iteration = iteration.number;
        use_one_thread();
        let start = Instant::now();
        let mut times = Times::default();
        while self.progress.step < iteration.steps {
            let due = due(self.progress.step, self.config.checkpoint_steps);
            let stop = iteration.stop.load(Ordering::Relaxed);
            if let Some(path) = iteration.checkpoint.filter(|_| stop || due && times.samples > 0) {
                self.checkpoint()?.save(path)?;
            }
            if stop {
                return Ok(Outcome::Stopped);
            }
            let loss = self.step(iteration, &mut times)?;
            let samples_per_second = times.samples as f64 / start.elapsed().as_secs_f64();
            let (step, steps) = (self.progress.step, iteration.steps);
            report(Report { step, steps, loss, samples_per_second });
        }
        let seconds = start.elapsed().as_secs_f32();
        let last = self.progress.samples.saturating_sub(self.config.batch_size as u64);
        let metrics = Metrics {
            iteration: iteration.number,
            steps: self.progress.steps,
            samples: self.progress.samples,
            learning_rate: self.config.learning_rate_at(last) as f32,
            seconds,
            samples_per_second: times.samples as f32 / seconds,
            batch_share: times.batch.as_secs_f32() / seconds,
            optimiser_share: times.optimiser.as_secs_f32() / seconds,
            ..self.progress.totals.means()
        };
        self.progress.iteration += 1;
        self.progress.step = 0;
        self.progress.totals = Totals::default();
        Ok(Outcome::Done(metrics))
    }

    /// One step; returns its loss.
    fn step(&mut self, iteration: &Iteration, times: &mut Times) -> Result<f64, TrainError> {
        let began = Instant::now();
        let samples = (iteration.draw)(self.progress.step, self.config.batch_size);
        if samples.is_empty() {
            return Err(TrainError::NoSamples);
        }
        let share = self.config.search_value_share as f32;
        let batch = TrainingBatch::assemble(self.model.variant(), &samples, share)?;
        let batch = batch.to_tensors(self.model.device())?;
        times.batch += began.elapsed();

        let outputs = self.model.forward(&batch.inputs)?;
        let Loss { total, sums } = loss(&outputs, &batch, &self.config)?;
        let norm = self.model.gradient(&total, &self.gradient)?;
        // One copy from the device instead of ten.
        let read = [sums, total.f_detach()?.f_view(1)?, norm.f_view(1)?];
        let read = Tensor::f_cat(&read, 0)?.f_to_kind(Kind::Double)?;
        let read = Vec::<f64>::try_from(read.f_to_device(tch::Device::Cpu)?)?;
        let (loss, norm) = (read[Loss::SUMS], read[Loss::SUMS + 1]);
        for (what, value) in [("the loss", loss), ("the gradient's norm", norm)] {
            if !value.is_finite() {
                let Progress { iteration, step, .. } = self.progress;
                return Err(TrainError::NotFinite { iteration, step, what, value });
            }
        }

        let began = Instant::now();
        let rate = self.config.learning_rate_at(self.progress.samples);
        self.adamw.step(self.model.flat(), &mut self.gradient, norm, rate)?;
        times.optimiser += began.elapsed();

        times.samples += batch.samples as u64;
        self.progress.step += 1;
        self.progress.steps += 1;
        self.progress.samples += batch.samples as u64;
        self.progress.totals.add(Totals {
            steps: 1.0,
            samples: batch.samples as f64,
            with_policy: batch.with_policy as f64,
            loss,
            gradient_norm: norm,
            policy: read[0],
            wdl: read[1],
            margin: read[2],
            policy_entropy: read[3],
            wdl_entropy: read[4],
            policy_hits: read[5],
            value_hits: read[6],
            value_signs: read[7],
        });
        Ok(loss)
    }
}

fn due(step: u64, every: u64) -> bool {
    every > 0 && step.is_multiple_of(every)
}
