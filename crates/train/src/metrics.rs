//! `metrics.csv`: a row for each iteration of training.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use surakarta_record::write_atomically;

use crate::error::TrainError;

/// What one iteration of training was like: a row of `metrics.csv`. Losses, entropies and accuracies
/// are means over its samples, each measured before the step that learned from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The iteration.
    pub iteration: u64,
    /// Optimiser steps since the beginning of training.
    pub steps: u64,
    /// Samples seen since the beginning of training.
    pub samples: u64,
    /// Learning rate of the last step.
    pub learning_rate: f32,
    /// The loss that is minimised: the three below times their weights.
    pub loss: f32,
    /// Cross-entropy of the policy over legal moves, in nats; `policy_entropy` is the least possible.
    pub policy_loss: f32,
    /// Cross-entropy of win, draw and loss, in nats; `wdl_entropy` is the least possible.
    pub wdl_loss: f32,
    /// Squared error of the piece margin, in (pieces / pieces at the start)².
    pub margin_loss: f32,
    /// Entropy of the policy targets, in nats.
    pub policy_entropy: f32,
    /// Entropy of the win, draw and loss targets, in nats.
    pub wdl_entropy: f32,
    /// How often the most probable move is also the target's.
    pub policy_accuracy: f32,
    /// How often P(win) − P(loss) has the sign of its target, of those whose target is not 0.
    pub value_accuracy: f32,
    /// Mean length (L2) of the gradient before clipping.
    pub gradient_norm: f32,
    /// Wall time of the iteration's steps in seconds, of this process alone where it was resumed.
    pub seconds: f32,
    /// Samples a second, in this process.
    pub samples_per_second: f32,
    /// Share of that time spent on assembling batches.
    pub batch_share: f32,
    /// Share of that time spent in the optimiser.
    pub optimiser_share: f32,
}

/// Sums over the steps of an iteration, from which its [`Metrics`] are made. In checkpoints they are
/// bit patterns: decimal numbers would have to be written and read exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "[u64; 13]", into = "[u64; 13]")]
pub struct Totals {
    /// Steps.
    pub steps: f64,
    /// Samples.
    pub samples: f64,
    /// Samples with a policy.
    pub with_policy: f64,
    /// The weighted loss, a mean for each step.
    pub loss: f64,
    /// Length of the gradient before clipping.
    pub gradient_norm: f64,
    /// Cross-entropy of the policy, in nats, over samples; the rest likewise.
    pub policy: f64,
    /// Cross-entropy of win, draw and loss, in nats.
    pub wdl: f64,
    /// Squared error of the margin.
    pub margin: f64,
    /// Entropy of the policy targets, in nats.
    pub policy_entropy: f64,
    /// Entropy of the win, draw and loss targets, in nats.
    pub wdl_entropy: f64,
    /// Samples whose most probable move is the target's.
    pub policy_hits: f64,
    /// Samples whose value has its target's sign.
    pub value_hits: f64,
    /// Samples whose value target has a sign.
    pub value_signs: f64,
}

impl Totals {
    fn fields(&mut self) -> [&mut f64; 13] {
        [
            &mut self.steps,
            &mut self.samples,
            &mut self.with_policy,
            &mut self.loss,
            &mut self.gradient_norm,
            &mut self.policy,
            &mut self.wdl,
            &mut self.margin,
            &mut self.policy_entropy,
            &mut self.wdl_entropy,
            &mut self.policy_hits,
            &mut self.value_hits,
            &mut self.value_signs,
        ]
    }

    /// Adds the sums of another stretch of steps.
    pub fn add(&mut self, mut other: Totals) {
        for (sum, more) in self.fields().into_iter().zip(other.fields()) {
            *sum += *more;
        }
    }

    /// The means of these sums; what they do not tell is left 0.
    pub fn means(&self) -> Metrics {
        let mean = |sum: f64, of: f64| if of > 0.0 { (sum / of) as f32 } else { 0.0 };
        Metrics {
            loss: mean(self.loss, self.steps),
            gradient_norm: mean(self.gradient_norm, self.steps),
            policy_loss: mean(self.policy, self.with_policy),
            wdl_loss: mean(self.wdl, self.samples),
            margin_loss: mean(self.margin, self.samples),
            policy_entropy: mean(self.policy_entropy, self.with_policy),
            wdl_entropy: mean(self.wdl_entropy, self.samples),
            policy_accuracy: mean(self.policy_hits, self.with_policy),
            value_accuracy: mean(self.value_hits, self.value_signs),
            ..Metrics::default()
        }
    }
}

impl From<[u64; 13]> for Totals {
    fn from(bits: [u64; 13]) -> Totals {
        let mut totals = Totals::default();
        for (sum, bits) in totals.fields().into_iter().zip(bits) {
            *sum = f64::from_bits(bits);
        }
        totals
    }
}

impl From<Totals> for [u64; 13] {
    fn from(mut totals: Totals) -> [u64; 13] {
        totals.fields().map(|sum| sum.to_bits())
    }
}

/// The file `metrics.csv` of a run.
#[derive(Clone, Debug)]
pub struct MetricsLog {
    path: PathBuf,
}

impl MetricsLog {
    /// Opens the log of a run that is about to train `next_iteration`: rows of that iteration and of
    /// later ones, left by a run that was interrupted before its checkpoint, are cut off, and so is
    /// a last line that was not written to its end. Without the file it begins a new one.
    ///
    /// # Errors
    /// If the file cannot be read or written, or a whole line is not a row of metrics.
    pub fn open(path: &Path, next_iteration: u64) -> Result<MetricsLog, TrainError> {
        let found = if path.exists() { Self::read(path)? } else { Vec::new() };
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in found.iter().filter(|row| row.iteration < next_iteration) {
            writer.serialize(row).map_err(|error| malformed(path, error))?;
        }
        let mut text = writer.into_inner().map_err(|error| malformed(path, error))?;
        if text.is_empty() {
            text = header();
        }
        write_atomically(path, &text).map_err(|error| TrainError::io("write", path, error))?;
        Ok(MetricsLog { path: path.to_owned() })
    }

    /// The rows of a log, without a last line that was not written to its end.
    ///
    /// # Errors
    /// If the file cannot be read, or a whole line is not a row of metrics.
    pub fn read(path: &Path) -> Result<Vec<Metrics>, TrainError> {
        let mut text = fs::read(path).map_err(|error| TrainError::io("read", path, error))?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        text.truncate(whole);
        let mut reader = csv::Reader::from_reader(&text[..]);
        reader.deserialize().map(|row| row.map_err(|error| malformed(path, error))).collect()
    }

    /// Adds the row of an iteration. To resume exactly, write it before the checkpoint that ends the
    /// iteration.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&self, metrics: &Metrics) -> Result<(), TrainError> {
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        writer.serialize(metrics).map_err(|error| malformed(&self.path, error))?;
        let line = writer.into_inner().map_err(|error| malformed(&self.path, error))?;
        let append = |mut file: File| file.write_all(&line).and_then(|()| file.sync_data());
        let file = OpenOptions::new().append(true).create(true).open(&self.path);
        file.and_then(append).map_err(|error| TrainError::io("write", &self.path, error))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The line of column names, which csv writes only with a first row.
fn header() -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.serialize(Metrics::default()).expect("a row of numbers");
    let mut text = writer.into_inner().expect("a buffer in memory");
    let end = text.iter().position(|&byte| byte == b'\n').expect("a line of names");
    text.truncate(end + 1);
    text
}

fn malformed(path: &Path, error: impl std::fmt::Display) -> TrainError {
    TrainError::Metrics { path: path.to_owned(), problem: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(iteration: u64) -> Metrics {
        Metrics { iteration, steps: 10 * iteration, loss: 0.1 + iteration as f32, ..row_zero() }
    }

    fn row_zero() -> Metrics {
        Metrics { learning_rate: 1e-3, ..Metrics::default() }
    }

    #[test]
    fn a_resumed_run_goes_on_from_its_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        let log = MetricsLog::open(&path, 1).unwrap();
        for iteration in 1..=4 {
            log.append(&row(iteration)).unwrap();
        }
        let undisturbed = fs::read(&path).unwrap();
        // Killed in the middle of a line.
        fs::write(&path, &undisturbed[..undisturbed.len() - 5]).unwrap();
        assert_eq!(MetricsLog::read(&path).unwrap(), [row(1), row(2), row(3)]);
        // Its checkpoint is that of iteration 2.
        let log = MetricsLog::open(&path, 3).unwrap();
        assert_eq!(MetricsLog::read(&path).unwrap(), [row(1), row(2)]);
        log.append(&row(3)).unwrap();
        log.append(&row(4)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), undisturbed);
    }

    #[test]
    fn a_new_log_has_the_names_of_its_columns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        MetricsLog::open(&path, 0).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("iteration,steps,samples,learning_rate,loss,"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn a_line_that_is_no_row_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        MetricsLog::open(&path, 0).unwrap().append(&row(0)).unwrap();
        let text = fs::read_to_string(&path).unwrap().replace("0.001", "fast");
        fs::write(&path, &text).unwrap();
        let error = MetricsLog::open(&path, 1).unwrap_err().to_string();
        assert!(error.contains("metrics.csv") && error.contains("line: 2"), "{error}");
        // Nothing is lost.
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}
