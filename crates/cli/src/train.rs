use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use indicatif::MultiProgress;
use surakarta_record::Window;
use surakarta_record::shard::list_shards;
use surakarta_run::config::Config;
use surakarta_run::learn::{Beginning, Files, train_on_shards};
use surakarta_run::pipeline::Around;

use crate::{interrupt, output};

/// Train a network on shards.
///
/// The configuration's sections [network] and [train] say what and how, and the shards must be of its
/// variant. With stage_samples they are taken up from the oldest to the newest, a window of them at a
/// time in memory. The folder gets the weights, a checkpoint with the optimiser's state, metrics.csv,
/// calibration.csv and event files for TensorBoard; the same command goes on with a training that was
/// interrupted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta train --data games --config configs/cpu.toml --out trained
  surakarta train --data runs/quickstart/shards games --config configs/quickstart.toml --out trained")]
pub(crate) struct Arguments {
    /// Shards, or folders of shards.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// The configuration.
    #[arg(long)]
    config: PathBuf,
    /// The folder for the results.
    #[arg(long)]
    out: PathBuf,
    /// Weights to begin with [default: `init` of the configuration, or else a fresh network].
    #[arg(long)]
    init: Option<PathBuf>,
}

/// Keeps other processes out of a folder while it lives, however this process ends.
fn lock(folder: &Path) -> Result<File> {
    let lock = File::create(folder.join("lock"))
        .with_context(|| format!("cannot write in {}", folder.display()))?;
    if let Err(TryLockError::WouldBlock) = lock.try_lock() {
        bail!(
            "another process trains in {}; wait for it or choose another --out",
            folder.display()
        );
    }
    Ok(lock)
}

pub(crate) fn main(arguments: Arguments, bars: &MultiProgress) -> Result<()> {
    let config = Config::load(&arguments.config)?;
    let mut shards = Vec::new();
    for path in arguments.data {
        if path.is_dir() {
            let found = list_shards(&path)
                .with_context(|| format!("cannot read the folder {}", path.display()))?;
            if found.is_empty() {
                bail!("the folder {} holds no shards", path.display());
            }
            shards.extend(found);
        } else {
            shards.push(path);
        }
    }
    // A shard may be given by itself and with its folder.
    let mut known = HashSet::new();
    shards.retain(|path| known.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    let out = arguments.out;
    output::make_folder(&out)?;
    let _lock = lock(&out)?;
    let files = Files {
        from: arguments
            .init
            .or_else(|| config.run.init.clone())
            .map_or(Beginning::Fresh, Beginning::Weights),
        partial: out.join("partial.safetensors"),
        weights: out.join("weights.safetensors"),
        checkpoint: out.join("checkpoint.safetensors"),
        logs: out,
    };
    // With both it was killed at its very end.
    if files.checkpoint.exists() && !files.partial.exists() {
        bail!(
            "{} is the result of a finished training; choose another --out",
            files.checkpoint.display()
        );
    }
    let stop = interrupt::watch()?;
    let around = Around { stop, bars, on_table: &|_, _| Ok(()), tables: config.tables()? };
    let mut window = Window::holding_out(config.train.validation_share);
    let finished = train_on_shards(&config, &shards, &files, &mut window, &around)?;
    let left_out = !window.is_empty() && window.shards().len() < shards.len();
    if config.train.stage_samples == 0 && left_out {
        tracing::warn!(
            "only the newest {} samples were used, of {} of {} shards: raise window_samples for more, or set stage_samples",
            window.len(),
            window.shards().len(),
            shards.len()
        );
    }
    if finished {
        output::line(files.weights.display())?;
    } else {
        tracing::warn!("stopped; the same command goes on");
    }
    Ok(())
}
