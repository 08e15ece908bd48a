//! The folder of a run: the files that exist are its whole state.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use surakarta_record::write_atomically;

use crate::config::Config;

/// A run's folder, held by this process alone.
///
/// ```text
/// config.toml                          the configuration it was begun with, every value
/// shards/000007-0000000128.shard       games of the 7th iteration, from game 128 on
/// weights/iteration-0007.safetensors   the network after it; 0000 is the one it began with
/// weights/best.safetensors             the highest rated
/// checkpoints/iteration-0007.…         weights and optimiser: what training goes on from
/// ratings/iteration-0010-….jsonl       the games of a rating
/// metrics.csv  elo.csv                 what a person plots
/// calibration.csv                      predicted values beside results
/// tensorboard/                         the metrics once more
/// ```
pub struct RunDirectory {
    root: PathBuf,
    // Unlocked when the process ends, however it ends.
    _lock: fs::File,
}

impl RunDirectory {
    /// Opens the folder of a run, or makes it.
    ///
    /// # Errors
    /// If it holds another run, was begun with another configuration (the differences are shown),
    /// or another process works in it.
    pub fn open(root: &Path, config: &Config) -> Result<RunDirectory> {
        let kept = root.join("config.toml");
        if root.exists()
            && !kept.exists()
            && fs::read_dir(root)?.any(|e| e.is_ok_and(|e| e.file_name() != "lock"))
        {
            bail!("{} is not the folder of a run; choose another with --dir", root.display());
        }
        for folder in ["shards", "weights", "checkpoints", "ratings"] {
            let path = root.join(folder);
            fs::create_dir_all(&path)
                .with_context(|| format!("cannot make the folder {}", path.display()))?;
        }
        let lock = fs::File::create(root.join("lock"))
            .with_context(|| format!("cannot write in {}", root.display()))?;
        if let Err(fs::TryLockError::WouldBlock) = lock.try_lock() {
            bail!(
                "another process is working on the run in {}; wait for it or stop it",
                root.display()
            );
        }
        if kept.exists() {
            let before = Config::load(&kept)?;
            let differences = before.differences(config);
            if !differences.is_empty() {
                bail!(
                    "the run in {} was begun with another configuration:\n  {}\nUndo the change, or start another run with --dir",
                    root.display(),
                    differences.join("\n  ")
                );
            }
        } else {
            // Also what the given file leaves out: defaults may be others when the run goes on.
            write_file(&kept, config.to_text()?.as_bytes())?;
        }
        let directory = RunDirectory { root: root.to_owned(), _lock: lock };
        directory.remove_finished()?;
        Ok(directory)
    }

    /// Removes what training would have gone on from, where it was killed between its last
    /// checkpoint and doing so itself.
    fn remove_finished(&self) -> Result<()> {
        let learned = self.learned()?;
        for iteration in self.checkpoints("partial-")?.into_iter().filter(|&of| of <= learned) {
            let path = self.partial_checkpoint(iteration);
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        Ok(())
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of all shards.
    pub fn shards(&self) -> PathBuf {
        self.root.join("shards")
    }

    /// The network after an iteration; 0 is the one that the run began with.
    pub fn weights(&self, iteration: u32) -> PathBuf {
        weights_path(&self.root, iteration)
    }

    /// A copy of the highest rated network.
    pub fn best(&self) -> PathBuf {
        best_weights(&self.root)
    }

    /// What training goes on from after an iteration.
    pub fn checkpoint(&self, iteration: u32) -> PathBuf {
        self.root.join("checkpoints").join(format!("iteration-{iteration:04}.safetensors"))
    }

    /// Where the training of an iteration goes on that was interrupted.
    pub fn partial_checkpoint(&self, iteration: u32) -> PathBuf {
        self.root.join("checkpoints").join(format!("partial-{iteration:04}.safetensors"))
    }

    /// The last iteration whose training is finished; 0 if none is.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn learned(&self) -> Result<u32> {
        Ok(self.checkpoints("iteration-")?.into_iter().max().unwrap_or(0))
    }

    /// The iterations of the checkpoints whose names begin so.
    fn checkpoints(&self, beginning: &str) -> Result<Vec<u32>> {
        let folder = self.root.join("checkpoints");
        let files = fs::read_dir(&folder)
            .with_context(|| format!("cannot read the folder {}", folder.display()))?;
        let number = |name: &str| -> Option<u32> {
            name.strip_prefix(beginning)?.strip_suffix(".safetensors")?.parse().ok()
        };
        let mut found = Vec::new();
        for file in files {
            found.extend(file?.file_name().to_str().and_then(number));
        }
        Ok(found)
    }
}

/// The network after an iteration of the run in a folder; 0 is the one that it began with.
pub fn weights_path(root: &Path, iteration: u32) -> PathBuf {
    root.join("weights").join(format!("iteration-{iteration:04}.safetensors"))
}

/// The iteration of a network by its file's name.
pub(crate) fn weights_number(path: &Path) -> Option<u32> {
    path.file_name()?
        .to_str()?
        .strip_prefix("iteration-")?
        .strip_suffix(".safetensors")?
        .parse()
        .ok()
}

/// The highest rated network of the run in a folder.
pub fn best_weights(root: &Path) -> PathBuf {
    root.join("weights/best.safetensors")
}

/// The newest network of the run in a folder, if there is one.
pub fn latest_weights(root: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(root.join("weights")).ok()?;
    let names = files.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let newest = names
        .filter(|name| name.starts_with("iteration-") && name.ends_with(".safetensors"))
        .max()?;
    Some(root.join("weights").join(newest))
}

/// Writes a file that is whole or not there.
///
/// # Errors
/// If the disk refuses; the message names the file.
pub fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    write_atomically(path, content).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let text = "run = { name = \"a\", seed = 1, iterations = 9, games = 1 }\n\
                    network = { kind = \"mlp\", hidden = [16] }\n";
        Config::parse(text).unwrap()
    }

    #[test]
    fn a_run_keeps_the_values_that_its_configuration_leaves_out() {
        let config = config();
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::open(folder.path(), &config).unwrap();
        let kept = fs::read_to_string(run.root().join("config.toml")).unwrap();
        assert_eq!(Config::parse(&kept).unwrap(), config);
        let keys: toml::Table = toml::from_str(&kept).unwrap();
        assert!(keys["train"].get("learning_rate").is_some(), "{kept}");
        assert!(keys["selfplay"].get("full_simulations").is_some(), "{kept}");
    }

    #[test]
    fn what_a_finished_training_left_is_removed() {
        let config = config();
        let folder = tempfile::tempdir().unwrap();
        let open = || RunDirectory::open(folder.path(), &config).unwrap();
        let run = open();
        let files = [run.checkpoint(7), run.partial_checkpoint(7), run.partial_checkpoint(8)];
        files.iter().for_each(|path| write_file(path, b"").unwrap());
        drop(run);
        drop(open());
        assert_eq!(files.map(|path| path.exists()), [true, false, true]);
    }
}
