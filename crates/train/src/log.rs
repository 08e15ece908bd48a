//! Tables that grow by the rows of an iteration and are cut back when a run goes on from before it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use surakarta_record::write_atomically;

use crate::error::TrainError;
use crate::metrics::Metrics;

/// A row of a table of training.
pub trait Row: Default + Serialize + DeserializeOwned {
    /// The iteration that it belongs to.
    fn iteration(&self) -> u64;
}

/// A CSV file with the rows of a run's iterations.
#[derive(Clone, Debug)]
pub struct Log<R> {
    path: PathBuf,
    rows: PhantomData<R>,
}

/// The file `metrics.csv` of a run.
pub type MetricsLog = Log<Metrics>;

impl<R: Row> Log<R> {
    /// Opens the log of a run that is about to train `next_iteration`: rows of that iteration and of
    /// later ones, left by a run that was interrupted before its checkpoint, are cut off, and so is
    /// a last line that was not written to its end. Columns that an older build did not have are
    /// added, empty. Without the file it begins a new one.
    ///
    /// # Errors
    /// If the file cannot be read or written, has a column that this build does not know, or a whole
    /// line is not a row.
    pub fn open(path: &Path, next_iteration: u64) -> Result<Log<R>, TrainError> {
        let log = Log { path: path.to_owned(), rows: PhantomData };
        if !path.exists() {
            return Ok(log);
        }
        let found = Self::read(path)?;
        let kept = found.iter().filter(|row| row.iteration() < next_iteration);
        let text = text(kept, true).map_err(|error| malformed(path, error))?;
        write_atomically(path, &text).map_err(|error| TrainError::io("write", path, error))?;
        Ok(log)
    }

    /// The rows of a log, without a last line that was not written to its end.
    ///
    /// # Errors
    /// If the file cannot be read, has a column that this build does not know, or a whole line is not
    /// a row.
    pub fn read(path: &Path) -> Result<Vec<R>, TrainError> {
        let mut text = fs::read(path).map_err(|error| TrainError::io("read", path, error))?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let known = self::text([&R::default()], true).map_err(|e| malformed(path, e))?;
        if whole == 0 && !known.starts_with(&text) {
            return Err(malformed(path, "its first line does not name the columns"));
        }
        text.truncate(whole);
        let mut reader = csv::Reader::from_reader(&text[..]);
        let rows: Result<Vec<R>, _> = reader.deserialize().collect();
        let rows = rows.map_err(|error| malformed(path, error))?;
        // What is not known would be lost when the rows are written again.
        let mut known = csv::Reader::from_reader(&known[..]);
        let known = known.headers().map_err(|error| malformed(path, error))?;
        let found = reader.headers().map_err(|error| malformed(path, error))?;
        match found.iter().find(|name| !known.iter().any(|known| known == *name)) {
            Some(name) => Err(malformed(path, format!("it has an unknown column `{name}`"))),
            None => Ok(rows),
        }
    }

    /// Adds the rows of an iteration. To resume exactly, write them before the checkpoint that ends
    /// the iteration.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&self, rows: &[R]) -> Result<(), TrainError> {
        let failed = |error| TrainError::io("write", &self.path, error);
        let append = OpenOptions::new().append(true).create(true).open(&self.path);
        let mut file = append.map_err(failed)?;
        let is_new = file.metadata().map_err(failed)?.len() == 0;
        let lines = text(rows, is_new).map_err(|error| malformed(&self.path, error))?;
        let write = |file: &mut File| file.write_all(&lines).and_then(|()| file.sync_data());
        write(&mut file).map_err(failed)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Rows as text, below a line of names if wanted.
fn text<'a, R: Row + 'a>(
    rows: impl IntoIterator<Item = &'a R>,
    names: bool,
) -> Result<Vec<u8>, String> {
    let mut writer = csv::WriterBuilder::new().has_headers(names).from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(|error| error.to_string())?;
    }
    writer.into_inner().map_err(|error| error.to_string())
}

fn malformed(path: &Path, error: impl std::fmt::Display) -> TrainError {
    TrainError::Metrics { path: path.to_owned(), problem: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(iteration: u64) -> Metrics {
        let (steps, loss) = (10 * iteration, 0.1 + iteration as f32);
        let reply_loss = (iteration > 2).then_some(0.5);
        Metrics { iteration, steps, loss, reply_loss, learning_rate: 1e-3, ..Metrics::default() }
    }

    #[test]
    fn a_resumed_run_goes_on_from_its_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        let log = MetricsLog::open(&path, 1).unwrap();
        for iteration in 1..=4 {
            log.append(&[row(iteration)]).unwrap();
        }
        let undisturbed = fs::read(&path).unwrap();
        // Killed in the middle of a line.
        fs::write(&path, &undisturbed[..undisturbed.len() - 5]).unwrap();
        assert_eq!(MetricsLog::read(&path).unwrap(), [row(1), row(2), row(3)]);
        // Its checkpoint is that of iteration 2.
        let log = MetricsLog::open(&path, 3).unwrap();
        assert_eq!(MetricsLog::read(&path).unwrap(), [row(1), row(2)]);
        log.append(&[row(3)]).unwrap();
        log.append(&[row(4)]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), undisturbed);
        // Killed before the first line was whole.
        fs::write(&path, &undisturbed[..7]).unwrap();
        MetricsLog::open(&path, 1).unwrap().append(&[row(1)]).unwrap();
        assert_eq!(MetricsLog::read(&path).unwrap(), [row(1)]);
    }

    #[test]
    fn logs_of_older_builds_are_read_and_those_of_newer_ones_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        let names = "iteration,steps,samples,learning_rate,loss,policy_loss,wdl_loss,margin_loss,\
                     policy_entropy,wdl_entropy,policy_accuracy,value_accuracy,gradient_norm,seconds,\
                     samples_per_second,batch_share,optimiser_share";
        let numbers = "1,10,0,0.001,1.1,0,0,0,0,0,0,0,0,0,0,0,0";
        fs::write(&path, format!("{names}\n{numbers}\n")).unwrap();
        assert_eq!(MetricsLog::read(&path).unwrap(), [row(1)]);
        MetricsLog::open(&path, 2).unwrap().append(&[row(3)]).unwrap();
        assert_eq!(MetricsLog::read(&path).unwrap(), [row(1), row(3)]);

        let text = format!("{names},mood\n{numbers},3\n");
        fs::write(&path, &text).unwrap();
        let error = MetricsLog::open(&path, 2).unwrap_err().to_string();
        assert!(
            error.contains("metrics.csv") && error.contains("unknown column `mood`"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn a_file_of_something_else_is_not_taken_for_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        for text in ["my notes", "my notes\n", "iteration,mood\n", "iteration,steps,mine"] {
            fs::write(&path, text).unwrap();
            let error = MetricsLog::open(&path, 1).unwrap_err().to_string();
            assert!(error.contains("metrics.csv is not a log of metrics"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_line_that_is_no_row_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        MetricsLog::open(&path, 0).unwrap().append(&[row(0)]).unwrap();
        let text = fs::read_to_string(&path).unwrap().replace("0.001", "fast");
        fs::write(&path, &text).unwrap();
        let error = MetricsLog::open(&path, 1).unwrap_err().to_string();
        assert!(error.contains("metrics.csv") && error.contains("line: 2"), "{error}");
        // Nothing is lost.
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}
