//! Training, one iteration at a time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use surakarta_net::Weights;
use surakarta_record::Sample;
use tch::{Kind, Tensor, no_grad};

use crate::adamw::AdamW;
use crate::batch::{BatchTensors, TrainingBatch};
use crate::calibration::Calibration;
use crate::checkpoint::{Checkpoint, Progress};
use crate::config::{InvalidTrainConfig, TrainConfig};
use crate::device::Device;
use crate::error::TrainError;
use crate::loss::{Loss, counted, loss};
use crate::metrics::{Metrics, Totals};
use crate::model::{Model, use_one_thread};
use crate::prefetch::{Draw, Ready, batches};

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
    /// The average of the weights that plays, flat; none without averaging.
    average: Option<Tensor>,
}

/// The steps to take, and what surrounds them.
pub struct Iteration<'a> {
    /// Its number.
    pub number: u64,
    /// How many steps it has, those included that an interrupted learner has taken already.
    pub steps: u64,
    /// How many samples it brought, held-out ones included: they are added to
    /// [`Progress::recorded`] when it is over.
    pub new_samples: u64,
    /// The samples of a step, given its number in the iteration (0 the first) and how many are
    /// wanted: `Window::batch`, with its seed and iteration. A second thread asks ahead of the
    /// optimiser, and a resumed learner asks again, so the answer must depend on these two alone.
    pub draw: &'a Draw<'a>,
    /// Where to save checkpoints on the way: every
    /// [`checkpoint_steps`](TrainConfig::checkpoint_steps), and on a stop.
    pub checkpoint: Option<&'a Path>,
    /// Set from elsewhere to stop before the next step.
    pub stop: &'a AtomicBool,
}

/// How an iteration of training ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All steps are taken: their metrics, and how well predicted values were calibrated. To resume
    /// exactly, save first the rows of metrics, then the weights, then
    /// [`checkpoint`](Learner::checkpoint): it says that the iteration is over.
    Done(Box<(Metrics, Calibration)>),
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
    wait: Duration,
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
        let average = match config.ema_samples {
            0 => None,
            _ => Some(copied(model.flat())?),
        };
        let progress = Progress::default();
        Ok(Learner { config, model, adamw, progress, gradient, average })
    }

    /// The same with a [basis](Progress::basis), which its checkpoints keep.
    pub fn on_basis(mut self, basis: BTreeMap<String, String>) -> Learner {
        self.progress.basis = basis;
        self
    }

    /// Training from where a checkpoint left it.
    ///
    /// # Errors
    /// As [`Learner::new`], or if only one of configuration and checkpoint averages weights.
    pub fn resume(
        config: TrainConfig,
        checkpoint: &Checkpoint,
        device: Device,
    ) -> Result<Learner, TrainError> {
        let mut learner = Learner::new(config, &checkpoint.weights, device)?;
        let [mean, square] =
            [&checkpoint.mean, &checkpoint.square].map(|part| learner.model.flatten(part));
        learner.adamw.restore(&mean, &square, checkpoint.progress.steps)?;
        let allowed = match (&mut learner.average, &checkpoint.average) {
            (None, None) => None,
            (Some(average), Some(saved)) => {
                let flat = Tensor::f_from_slice(&learner.model.flatten(saved))?;
                no_grad(|| average.f_copy_(&flat))?;
                None
            }
            // An average that began now would pass for one of all steps so far.
            (Some(_), None) => Some("0, as the checkpoint has no averaged weights to go on from"),
            (None, Some(_)) => Some("above 0, as the checkpoint goes on averaging weights"),
        };
        if let Some(allowed) = allowed {
            let value = learner.config.ema_samples as f64;
            return Err(InvalidTrainConfig { key: "ema_samples", value, allowed }.into());
        }
        learner.progress = checkpoint.progress.clone();
        Ok(learner)
    }

    /// All that it takes to go on from here.
    ///
    /// # Errors
    /// If training has diverged.
    pub fn checkpoint(&self) -> Result<Checkpoint, TrainError> {
        let (mean, square) = self.adamw.state();
        let average = self.average.as_ref();
        Ok(Checkpoint {
            weights: self.model.weights(&self.source())?,
            mean: self.model.named(mean, "")?,
            square: self.model.named(square, "")?,
            average: average.map(|average| self.model.named(average, "")).transpose()?,
            progress: self.progress.clone(),
        })
    }

    /// The weights for play: the averaged ones, or those of the last step without averaging.
    ///
    /// # Errors
    /// If training has diverged.
    pub fn weights(&self) -> Result<Weights, TrainError> {
        match &self.average {
            None => self.model.weights(&self.source()),
            Some(average) => {
                let samples = self.config.ema_samples;
                self.model.named(average, &format!("{}, averaged over {samples}", self.source()))
            }
        }
    }

    fn source(&self) -> String {
        let Progress { steps, samples, .. } = self.progress;
        format!("trained for {steps} steps on {samples} samples")
    }

    /// What the weights for play make of these samples; nothing is learned.
    ///
    /// # Errors
    /// If a sample is of another variant, or the device fails.
    pub fn evaluate(
        &mut self,
        samples: impl Iterator<Item = Sample>,
    ) -> Result<Totals, TrainError> {
        use_one_thread();
        let raw = copied(self.model.flat())?;
        if let Some(average) = &self.average {
            let flat = self.model.flat();
            no_grad(|| flat.f_copy_(average))?;
        }
        let totals = self.totals_of(samples);
        let flat = self.model.flat();
        no_grad(|| flat.f_copy_(&raw))?;
        totals
    }

    fn totals_of(&self, samples: impl Iterator<Item = Sample>) -> Result<Totals, TrainError> {
        let mut samples = samples.peekable();
        let mut totals = Totals::default();
        while samples.peek().is_some() {
            let chunk: Vec<_> = samples.by_ref().take(self.config.batch_size).collect();
            let batch = TrainingBatch::assemble(self.model.variant(), &chunk, &self.config)?;
            let batch = batch.to_tensors(self.model.device())?;
            let Loss { total, sums, values } =
                no_grad(|| loss(&self.model.forward(&batch.inputs)?, &batch, &self.config))?;
            let read = read(&[&sums, &total.f_view(1)?, &values])?;
            totals.add(measured(&batch, &read, 0.0));
        }
        Ok(totals)
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
        let config = self.config.clone();
        let (variant, device) = (self.model.variant(), self.model.device());
        std::thread::scope(|scope| {
            let steps = self.progress.step..iteration.steps;
            let ready = batches(scope, steps, iteration.draw, variant, &config, device);
            self.take_steps(iteration, &ready, report)
        })
    }

    fn take_steps(
        &mut self,
        iteration: &Iteration,
        ready: &Receiver<Result<Ready, TrainError>>,
        report: &mut dyn FnMut(Report),
    ) -> Result<Outcome, TrainError> {
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
            let began = Instant::now();
            // The thread sends a batch for each step, or its reason not to.
            let Ready { batch, took } = ready.recv().map_err(|_| TrainError::NoSamples)??;
            times.wait += began.elapsed();
            times.batch += took;
            let loss = self.step(&batch, &mut times)?;
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
            wait_share: Some(times.wait.as_secs_f32() / seconds),
            ..self.progress.totals.means()
        };
        self.progress.iteration += 1;
        self.progress.step = 0;
        self.progress.recorded += iteration.new_samples;
        let totals = std::mem::take(&mut self.progress.totals);
        Ok(Outcome::Done(Box::new((metrics, totals.calibration))))
    }

    /// One step; returns its loss.
    fn step(&mut self, batch: &BatchTensors, times: &mut Times) -> Result<f64, TrainError> {
        let outputs = self.model.forward(&batch.inputs)?;
        let Loss { total, sums, values } = loss(&outputs, batch, &self.config)?;
        let norm = self.model.gradient(&total, &self.gradient)?;
        let read = read(&[&sums, &total.f_detach()?.f_view(1)?, &values, &norm.f_view(1)?])?;
        let (loss, norm) = (read[Loss::SUMS + batch.auxiliary.len()], read[read.len() - 1]);
        for (what, value) in [("the loss", loss), ("the gradient's norm", norm)] {
            if !value.is_finite() {
                let Progress { iteration, step, .. } = self.progress;
                return Err(TrainError::NotFinite { iteration, step, what, value });
            }
        }

        let began = Instant::now();
        let rate = self.config.learning_rate_at(self.progress.samples);
        self.adamw.step(self.model.flat(), &mut self.gradient, norm, rate)?;
        if let Some(average) = &mut self.average {
            let kept = self.config.average_kept_at(self.progress.steps + 1);
            let _ = no_grad(|| average.f_lerp_(self.model.flat(), 1.0 - kept))?;
        }
        times.optimiser += began.elapsed();

        times.samples += batch.samples as u64;
        self.progress.step += 1;
        self.progress.steps += 1;
        self.progress.samples += batch.samples as u64;
        self.progress.totals.add(measured(batch, &read, norm));
        Ok(loss)
    }
}

fn copied(tensor: &Tensor) -> Result<Tensor, TrainError> {
    let mut copy = tensor.f_zeros_like()?;
    no_grad(|| copy.f_copy_(tensor))?;
    Ok(copy)
}

/// One copy from the device instead of many.
fn read(tensors: &[&Tensor]) -> Result<Vec<f64>, TrainError> {
    let read = Tensor::f_cat(tensors, 0)?.f_to_kind(Kind::Double)?;
    Ok(Vec::<f64>::try_from(read.f_to_device(tch::Device::Cpu)?)?)
}

/// The sums of a batch from its [`Loss`]: the sums, the loss, then the values.
fn measured(batch: &BatchTensors, read: &[f64], gradient_norm: f64) -> Totals {
    let (sums, rest) = read.split_at(Loss::SUMS + batch.auxiliary.len());
    let mut totals = Totals {
        steps: 1.0,
        samples: batch.samples as f64,
        with_policy: batch.with_policy as f64,
        loss: rest[0],
        gradient_norm,
        policy: sums[0],
        wdl: sums[1],
        margin: sums[2],
        policy_entropy: sums[3],
        wdl_entropy: sums[4],
        policy_hits: sums[5],
        value_hits: sums[6],
        value_signs: sums[7],
        ..Totals::default()
    };
    for (target, &sum) in batch.auxiliary.iter().zip(&sums[Loss::SUMS..]) {
        totals.auxiliary[target.head() as usize] = (sum, counted(batch, target) as f64);
    }
    for (&value, &outcome) in rest[1..].iter().zip(&batch.outcomes) {
        totals.calibration.add(value, f64::from(outcome));
    }
    totals
}

fn due(step: u64, every: u64) -> bool {
    every > 0 && step.is_multiple_of(every)
}
