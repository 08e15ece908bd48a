//! Training as a stage of a run and as a command of its own.

use std::path::{Path, PathBuf};

use anyhow::Result;
use surakarta_record::{ShardReader, Window};

use crate::config::Config;
use crate::directory::RunDirectory;
use crate::pipeline::Around;

/// Where training reads and writes.
#[derive(Clone, Debug)]
pub struct Files {
    /// What it begins with: a checkpoint, or weights without a history.
    pub from: Beginning,
    /// Where an interrupted training goes on.
    pub partial: PathBuf,
    /// The weights it makes.
    pub weights: PathBuf,
    /// The checkpoint it ends with.
    pub checkpoint: PathBuf,
    /// The log of metrics.
    pub metrics: PathBuf,
}

/// What training begins with.
#[derive(Clone, Debug)]
pub enum Beginning {
    /// A checkpoint: weights with their optimiser.
    Checkpoint(PathBuf),
    /// Weights alone.
    Weights(PathBuf),
    /// A fresh network.
    Fresh,
}

/// Fails if training cannot run here at all.
///
/// # Errors
/// If the binary has no libtorch or the device is missing.
pub fn check_device(config: &Config) -> Result<()> {
    Ok(surakarta_train::check(config.run.device)?)
}

/// The training of one iteration of a run.
pub(crate) fn learn(
    config: &Config,
    directory: &RunDirectory,
    iteration: u32,
    window: &mut Window,
    around: &Around,
) -> Result<()> {
    let files = Files {
        from: match iteration {
            1 => Beginning::Weights(directory.weights(0)),
            _ => Beginning::Checkpoint(directory.checkpoint(iteration - 1)),
        },
        partial: directory.partial_checkpoint(iteration),
        weights: directory.weights(iteration),
        checkpoint: directory.checkpoint(iteration),
        metrics: directory.root().join("metrics.csv"),
    };
    let shards = surakarta_record::shard::list_shards(&directory.shards())?;
    let known: Vec<_> = shards
        .into_iter()
        .filter(|path| shard_iteration(path).is_some_and(|of| of <= u64::from(iteration)))
        .collect();
    let mut new = 0;
    for path in known.iter().filter(|path| shard_iteration(path) == Some(u64::from(iteration))) {
        new += ShardReader::open(path)?.samples();
    }
    train(config, u64::from(iteration), &known, Some(new), &files, window, around)?;
    Ok(())
}

fn shard_iteration(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    surakarta_record::shard::parse_shard_name(name).map(|(iteration, _)| iteration)
}

/// Trains on shards and writes weights, checkpoint and a row of metrics. As many steps as so many
/// new samples ask for, or the whole window as if it were new. False if it was stopped; the same
/// call goes on then.
///
/// # Errors
/// If a shard is damaged or of another variant than the configuration's, a file cannot be read or written, or training diverges.
#[cfg(feature = "torch")]
pub fn train(
    config: &Config,
    iteration: u64,
    shards: &[PathBuf],
    new_samples: Option<u64>,
    files: &Files,
    window: &mut Window,
    around: &Around,
) -> Result<bool> {
    use anyhow::{Context, bail};
    use indicatif::{ProgressBar, ProgressStyle};
    use surakarta_net::Weights;
    use surakarta_train::{Checkpoint, Iteration, Learner, MetricsLog, Outcome};

    let settings = &config.train;
    if let Some(error) = window.load(shards, settings.window_samples).into_iter().next() {
        return Err(error).context(
            "a shard cannot be learned from; move it away and give the same command again (a run plays its games again)",
        );
    }
    if window.is_empty() {
        bail!("there is nothing to learn from: the shards hold no full search with its policy");
    }
    let variant = config.run.variant;
    if let Some(found) = window.variant().filter(|&found| found != variant) {
        bail!(
            "the shards hold games of {found}, and [run] variant is {variant}; write variant = \"{found}\" or give other shards"
        );
    }
    let device = config.run.device;
    let mut learner = if files.partial.exists() {
        let checkpoint = Checkpoint::load_as(&files.partial, &config.network, variant)?;
        Learner::resume(settings.clone(), &checkpoint, device)?
    } else {
        match &files.from {
            Beginning::Checkpoint(path) => {
                let checkpoint = Checkpoint::load_as(path, &config.network, variant)?;
                Learner::resume(settings.clone(), &checkpoint, device)?
            }
            Beginning::Weights(path) => {
                let weights = Weights::load_as(path, &config.network, variant)?;
                Learner::new(settings.clone(), &weights, device)?
            }
            Beginning::Fresh => {
                let weights = Weights::random(config.network.clone(), variant, config.run.seed);
                Learner::new(settings.clone(), &weights, device)?
            }
        }
    };
    let log = MetricsLog::open(&files.metrics, iteration)?;
    let steps = settings.steps_for(new_samples.unwrap_or(window.len() as u64));
    let bar = around.bars.add(ProgressBar::new(steps));
    if let Ok(style) =
        ProgressStyle::with_template("{prefix} {bar:24} {pos}/{len} steps, ETA {eta}: {msg}")
    {
        bar.set_style(style);
    }
    bar.set_prefix(format!("training {iteration}"));
    bar.set_position(learner.progress().step);
    let window = &*window;
    let draw = |step: u64, size: usize| window.batch(config.run.seed, iteration, step, size);
    let outcome = learner.train_iteration(
        &Iteration {
            number: iteration,
            steps,
            draw: &draw,
            checkpoint: Some(&files.partial),
            stop: around.stop,
        },
        &mut |report| {
            bar.set_position(report.step);
            let rate = report.samples_per_second / 1000.0;
            bar.set_message(format!("loss {:.3}, {rate:.0}k samples/s", report.loss));
        },
    );
    bar.finish_and_clear();
    around.bars.remove(&bar);
    match outcome? {
        Outcome::Stopped => Ok(false),
        Outcome::Done(metrics) => {
            log.append(&metrics)?;
            learner.weights()?.save(&files.weights)?;
            learner.checkpoint()?.save(&files.checkpoint)?;
            if files.partial.exists() {
                std::fs::remove_file(&files.partial)
                    .with_context(|| format!("cannot remove {}", files.partial.display()))?;
            }
            tracing::info!(
                "training {iteration}: {steps} steps on a window of {} samples in {:.1} s, {:.0} samples/s; policy {:.3} (least {:.3}), value {:.3} (least {:.3})",
                window.len(),
                metrics.seconds,
                metrics.samples_per_second,
                metrics.policy_loss,
                metrics.policy_entropy,
                metrics.wdl_loss,
                metrics.wdl_entropy,
            );
            Ok(true)
        }
    }
}

/// Training needs the feature `torch`.
///
/// # Errors
/// Always.
#[cfg(not(feature = "torch"))]
pub fn train(
    _: &Config,
    _: u64,
    _: &[PathBuf],
    _: Option<u64>,
    _: &Files,
    _: &mut Window,
    _: &Around,
) -> Result<bool> {
    Err(surakarta_train::TrainError::NoTorch.into())
}
