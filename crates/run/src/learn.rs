//! Training as a stage of a run and as a command of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
#[cfg(feature = "torch")]
use anyhow::{Context, bail};
use surakarta_dataset::Sources;
use surakarta_net::Weights;
use surakarta_record::Window;
use surakarta_record::shard::{Catalogue, ShardInfo, list_shards, parse_shard_name, root_of};
use surakarta_selfplay::Resignations;

use crate::config::Config;
#[cfg(feature = "torch")]
use crate::config::differences;
use crate::directory::RunDirectory;
use crate::pipeline::Around;
use crate::selfplay::resignations;

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
    /// The folder of `metrics.csv`, `calibration.csv` and `tensorboard`.
    pub logs: PathBuf,
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

/// The games of a run as training sees them, kept from iteration to iteration.
pub(crate) struct Recorded {
    catalogue: Catalogue,
    pub(crate) window: Window,
}

impl Recorded {
    /// None yet; this share of them will be held out.
    pub(crate) fn holding_out(share: f64) -> Recorded {
        Recorded { catalogue: Catalogue::default(), window: Window::holding_out(share) }
    }
}

/// The training of one iteration of a run.
pub(crate) fn learn(
    config: &Config,
    directory: &RunDirectory,
    iteration: u32,
    games: &mut Recorded,
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
        logs: directory.root().to_owned(),
    };
    let number = u64::from(iteration);
    let mut paths = list_shards(&directory.shards())?;
    paths.retain(|path| shard_iteration(path).is_some_and(|of| of <= number));
    let shards = oldest_first(&mut games.catalogue, &paths)?;
    let new = shards.iter().filter(|shard| shard_iteration(&shard.path) == Some(number));
    let new_samples = new.clone().map(|shard| shard.samples).sum();
    let rule = config.selfplay.resign.as_ref();
    let resignations =
        rule.map(|rule| resignations(rule, new.map(|shard| shard.path.as_path()))).transpose()?;
    let stages = vec![Stage { number, end: shards.len(), new_samples, reuse: false, resignations }];
    // The folder of the run has its configuration.
    let plan = Plan { shards, stages, basis: BTreeMap::new() };
    train(config, &plan, &files, &mut games.window, around)?;
    Ok(())
}

fn shard_iteration(path: &Path) -> Option<u64> {
    parse_shard_name(path.file_name()?.to_str()?).map(|(iteration, _)| iteration)
}

/// What shards say of themselves, in the order in which they are taken up.
fn oldest_first(catalogue: &mut Catalogue, paths: &[PathBuf]) -> Result<Vec<ShardInfo>> {
    let (mut shards, errors) = catalogue.newest_first(paths);
    refuse_damaged(errors)?;
    shards.reverse();
    Ok(shards)
}

fn refuse_damaged(errors: Vec<surakarta_record::ShardError>) -> Result<()> {
    match errors.into_iter().next() {
        None => Ok(()),
        Some(error) => Err(anyhow::Error::new(error).context(
            "a shard cannot be learned from; move it away and give the same command again (a run plays its games again)",
        )),
    }
}

/// What is trained on, and when.
#[cfg_attr(not(feature = "torch"), allow(dead_code, reason = "nothing trains without libtorch"))]
struct Plan {
    /// The oldest first.
    shards: Vec<ShardInfo>,
    stages: Vec<Stage>,
    /// What an interrupted training must have begun with to go on: see [`basis`].
    basis: BTreeMap<String, String>,
}

/// A stretch of training between two rows of metrics.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "torch"), allow(dead_code, reason = "nothing trains without libtorch"))]
struct Stage {
    number: u64,
    /// How many shards there are by now.
    end: usize,
    /// Samples that came with this stage.
    new_samples: u64,
    /// Train on the whole window as if it were new.
    reuse: bool,
    /// The games of a run's iteration that were given up, where they may be.
    resignations: Option<Resignations>,
}

/// Trains on shards in stages, from the oldest to the newest, as
/// [`stage_samples`](surakarta_train::TrainConfig::stage_samples) says, with a window's worth of them
/// in memory at a time; writes weights, checkpoint, and rows of metrics. False if it was stopped; the
/// same call goes on then. Every byte of the shards is read first: those that are damaged are named and left
/// out, and a training that began with them does not go on without them.
///
/// # Errors
/// If an interrupted training was begun otherwise, no shard is whole or one is of another variant than the
/// configuration's, a file cannot be read or written, or training diverges.
pub fn train_on_shards(
    config: &Config,
    shards: &[PathBuf],
    files: &Files,
    window: &mut Window,
    around: &Around,
) -> Result<bool> {
    let sources = Sources::open(shards)?;
    for error in &sources.left_out {
        tracing::warn!("left out: {error}");
    }
    let whole: Vec<_> = sources.shards.into_iter().map(|source| source.path).collect();
    let shards = oldest_first(&mut Catalogue::default(), &whole)?;
    let stages = stages(&shards, config.train.stage_samples);
    let basis = basis(config, &shards, &files.from)?;
    train(config, &Plan { shards, stages, basis }, files, window, around)
}

/// Everything that the weights depend on which a training of its own makes: keys of the configuration,
/// the content of the shards, and the weights that it begins with.
fn basis(
    config: &Config,
    shards: &[ShardInfo],
    from: &Beginning,
) -> Result<BTreeMap<String, String>> {
    let mut basis = config.flat();
    basis.retain(|key, _| {
        let counts = ["run.seed", "run.variant"].contains(&key.as_str())
            || key.starts_with("network.")
            || key.starts_with("train.");
        counts && key != "train.checkpoint_steps"
    });
    let data = format!("{} shards with the checksum {:016x}", shards.len(), root_of(shards));
    basis.insert("--data".to_owned(), data);
    let weights = match from {
        Beginning::Checkpoint(path) => surakarta_train::Checkpoint::load(path)?.weights,
        Beginning::Weights(path) => Weights::load_for(path, config.run.variant)?,
        Beginning::Fresh => return Ok(basis),
    };
    basis.insert("--init".to_owned(), format!("the weights {}", weights.hash()));
    Ok(basis)
}

/// Cuts shards, the oldest first, where each stage has its new samples; 0: one stage.
fn stages(shards: &[ShardInfo], stage_samples: u64) -> Vec<Stage> {
    let mut stages = Vec::new();
    let mut new_samples = 0;
    for (place, shard) in shards.iter().enumerate() {
        new_samples += shard.samples;
        let is_last = place + 1 == shards.len();
        if is_last || stage_samples > 0 && new_samples >= stage_samples {
            let (number, reuse) = (stages.len() as u64, stage_samples == 0);
            let (end, resignations) = (place + 1, None);
            stages.push(Stage { number, end, new_samples, reuse, resignations });
            new_samples = 0;
        }
    }
    stages
}

/// Takes the stages that are still to be taken, then writes weights and checkpoint.
#[cfg(feature = "torch")]
fn train(
    config: &Config,
    plan: &Plan,
    files: &Files,
    window: &mut Window,
    around: &Around,
) -> Result<bool> {
    let mut learner = begin(config, files, &plan.basis)?;
    let done = learner.progress().iteration;
    // Unless all is written and it was killed before the last line.
    let finished = files.checkpoint.exists() && files.weights.exists();
    // A run has its folder to itself.
    let alone = !plan.basis.is_empty();
    if alone && !files.partial.exists() && !finished {
        // No log is written before there is something to go on from, so these are another's.
        for name in ["metrics.csv", "calibration.csv", "tensorboard"] {
            let path = files.logs.join(name);
            if path.exists() {
                bail!(
                    "{} is there, and no interrupted training that it belongs to; choose another --out",
                    path.display()
                );
            }
        }
    }
    for (place, stage) in plan.stages.iter().enumerate().filter(|_| !finished) {
        if stage.number < done {
            continue;
        }
        let recorded = learner.progress().recorded + stage.new_samples;
        load_window(config, &plan.shards[..stage.end], recorded, window)?;
        if alone && !files.partial.exists() {
            learner.checkpoint()?.save(&files.partial)?;
        }
        if !train_stage(config, &mut learner, stage, files, window, around)? {
            return Ok(false);
        }
        if place + 1 < plan.stages.len() {
            learner.checkpoint()?.save(&files.partial)?;
        }
    }
    if !finished {
        learner.weights()?.save(&files.weights)?;
        learner.checkpoint()?.save(&files.checkpoint)?;
    }
    if files.partial.exists() {
        std::fs::remove_file(&files.partial)
            .with_context(|| format!("cannot remove {}", files.partial.display()))?;
    }
    Ok(true)
}

/// The learner where an interrupted training left it, or at the beginning.
#[cfg(feature = "torch")]
fn begin(
    config: &Config,
    files: &Files,
    basis: &BTreeMap<String, String>,
) -> Result<surakarta_train::Learner> {
    use surakarta_train::{Checkpoint, Learner};

    let (settings, device) = (config.train.clone(), config.run.device);
    let (shape, variant, seed) = (config.shape(), config.run.variant, config.run.seed);
    if files.partial.exists() && !basis.is_empty() {
        let checkpoint = Checkpoint::load(&files.partial)?;
        let differences = differences(&checkpoint.progress.basis, basis);
        if !differences.is_empty() {
            bail!(
                "the training in {} was begun otherwise: {}; undo the change, or choose another --out",
                files.logs.display(),
                differences.join(", ")
            );
        }
        return Ok(Learner::resume(settings, &checkpoint, device)?);
    }
    let checkpoint = match &files.from {
        _ if files.partial.exists() => Some(&files.partial),
        Beginning::Checkpoint(path) => Some(path),
        Beginning::Weights(_) | Beginning::Fresh => None,
    };
    if let Some(path) = checkpoint {
        let checkpoint = Checkpoint::load_as(path, &shape, variant)?;
        return Ok(Learner::resume(settings, &checkpoint, device)?.on_basis(basis.clone()));
    }
    let weights = match &files.from {
        Beginning::Weights(path) => Weights::load_to_train(path, &shape, variant, seed)?,
        _ => Weights::random(shape, variant, seed),
    };
    Ok(Learner::new(settings, &weights, device)?.on_basis(basis.clone()))
}

#[cfg(feature = "torch")]
fn load_window(
    config: &Config,
    shards: &[ShardInfo],
    recorded: u64,
    window: &mut Window,
) -> Result<()> {
    refuse_damaged(window.hold(shards.iter().rev(), config.train.window_at(recorded)))?;
    let variant = config.run.variant;
    match window.variant() {
        Some(found) if found != variant => bail!(
            "the shards hold games of {found}, and [run] variant is {variant}; write variant = \"{found}\" or give other shards"
        ),
        _ if !window.is_empty() => Ok(()),
        _ if config.train.validation_share > 0.0 => bail!(
            "there is nothing to learn from: the shards hold no full search with its policy, or all their games are held out; give more shards or lower validation_share"
        ),
        _ => {
            bail!("there is nothing to learn from: the shards hold no full search with its policy")
        }
    }
}

/// Endgames of each class that a network is graded by.
#[cfg(feature = "torch")]
const GRADED: usize = 256;

/// Takes the steps of a stage and writes its rows of metrics. False if it was stopped.
#[cfg(feature = "torch")]
fn train_stage(
    config: &Config,
    learner: &mut surakarta_train::Learner,
    stage: &Stage,
    files: &Files,
    window: &Window,
    around: &Around,
) -> Result<bool> {
    use indicatif::{ProgressBar, ProgressStyle};
    use surakarta_net::Network;
    use surakarta_train::{EventLog, Iteration, Log, Outcome, Reliability, scalars};

    use crate::grade::grade;

    let (settings, number) = (&config.train, stage.number);
    let before = learner.progress().steps - learner.progress().step;
    let log = surakarta_train::MetricsLog::open(&files.logs.join("metrics.csv"), number)?;
    let reliability = Log::<Reliability>::open(&files.logs.join("calibration.csv"), number)?;
    let events = EventLog::open(&files.logs.join("tensorboard"), before)?;
    let steps = settings.steps_for(match stage.reuse {
        true => window.len() as u64,
        // Of which so many are expected to be trained on.
        false => (stage.new_samples as f64 * (1.0 - settings.validation_share)).round() as u64,
    });
    let bar = around.bars.add(ProgressBar::new(steps));
    if let Ok(style) =
        ProgressStyle::with_template("{prefix} {bar:24} {pos}/{len} steps, ETA {eta}: {msg}")
    {
        bar.set_style(style);
    }
    bar.set_prefix(format!("training {number}"));
    bar.set_position(learner.progress().step);
    let draw = |step: u64, size: usize| window.batch(config.run.seed, number, step, size);
    let outcome = learner.train_iteration(
        &Iteration {
            number,
            steps,
            new_samples: stage.new_samples,
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
    let (mut metrics, calibration) = match outcome? {
        Outcome::Stopped => return Ok(false),
        Outcome::Done(done) => *done,
    };
    let validation = learner.evaluate(window.held_out())?;
    metrics.validated(&validation);
    if let Some(Resignations { given_up, played_on, wrong }) = stage.resignations {
        metrics.games_given_up = Some(given_up);
        metrics.games_played_on = Some(played_on);
        metrics.games_given_up_wrongly = Some(wrong);
    }
    if let Some(tables) = &around.tables {
        let mut evaluator = Network::new(&learner.weights()?).evaluator();
        let grades = grade(&mut *evaluator, tables, config.run.variant, GRADED, config.run.seed)?;
        metrics.endgame_sign = Some(grades.all.sign as f32);
        metrics.endgame_move = Some(grades.all.r#move as f32);
    }
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    metrics.processor_seconds = Some(spent.tv_sec as f32 + spent.tv_nsec as f32 / 1e9);
    let mut bins = calibration.rows(number, "training");
    bins.extend(validation.calibration.rows(number, "validation"));
    log.append(std::slice::from_ref(&metrics))?;
    reliability.append(&bins)?;
    events.append(metrics.steps, &scalars(&metrics))?;
    tracing::info!(
        "training {number}: {steps} steps on a window of {} samples in {:.1} s, {:.0} samples/s; policy {:.3} (least {:.3}), value {:.3} (least {:.3}){}",
        window.len(),
        metrics.seconds,
        metrics.samples_per_second,
        metrics.policy_loss,
        metrics.policy_entropy,
        metrics.wdl_loss,
        metrics.wdl_entropy,
        match (metrics.validation_policy_loss, metrics.validation_wdl_loss) {
            (Some(policy), Some(wdl)) =>
                format!("; on games held out policy {policy:.3}, value {wdl:.3}"),
            _ => String::new(),
        }
    );
    Ok(true)
}

/// Training needs the feature `torch`.
#[cfg(not(feature = "torch"))]
fn train(_: &Config, _: &Plan, _: &Files, _: &mut Window, _: &Around) -> Result<bool> {
    Err(surakarta_train::TrainError::NoTorch.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(name: &str, samples: u64) -> ShardInfo {
        let header = surakarta_record::ShardHeader::default();
        ShardInfo { path: name.into(), header, samples, root: samples }
    }

    #[test]
    fn stages_take_up_whole_shards() {
        let shards = [shard("a", 10), shard("b", 25), shard("c", 40), shard("d", 5)];
        let cut = |samples| {
            let stages = stages(&shards, samples);
            assert!(stages.iter().zip(0..).all(|(stage, number)| stage.number == number));
            stages.into_iter().map(|s| (s.end, s.new_samples)).collect::<Vec<_>>()
        };
        assert_eq!(cut(0), [(4, 80)]);
        assert_eq!(cut(30), [(2, 35), (3, 40), (4, 5)]);
        assert_eq!(cut(1_000), [(4, 80)]);
        assert_eq!(cut(1).len(), 4);
        assert!(stages(&[], 10).is_empty());
    }
}
