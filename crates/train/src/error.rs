//! What can go wrong in training.

use std::io;
use std::path::{Path, PathBuf};

/// Training could not go on. Every message is one sentence.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {error}", path = path.display())]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A file is not a checkpoint, or a damaged one.
    #[error("{path} cannot be resumed from: {problem}", path = path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A file is not a log of metrics.
    #[error("{path} is not a log of metrics: {problem}; move it away to begin a new one", path = path.display())]
    Metrics {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The configuration makes no sense.
    #[error(transparent)]
    Config(#[from] crate::config::InvalidTrainConfig),
    /// The loss or its gradient is no longer a number. The step was not taken: weights and
    /// checkpoints are those of the step before.
    #[error(
        "training stopped at step {step} of iteration {iteration}: {what} is {value}; the last good weights are kept; lower `learning_rate` or `clip_norm`"
    )]
    NotFinite {
        /// The iteration.
        iteration: u64,
        /// The step within it, 0 the first.
        step: u64,
        /// `the loss` or `the gradient's norm`.
        what: &'static str,
        /// NaN or an infinity.
        value: f64,
    },
    /// A weight or the optimiser's state is no longer a number.
    #[error("training has diverged: {0}; the last good weights are kept; lower `learning_rate`")]
    Diverged(#[from] surakarta_net::InvalidWeights),
    /// The learner stands in the middle of another iteration.
    #[error("the checkpoint is in the middle of iteration {found}, not of iteration {wanted}")]
    OtherIteration {
        /// The iteration that it is in.
        found: u64,
        /// The iteration that was to be trained.
        wanted: u64,
    },
    /// A sample is of another variant than the network.
    #[error(
        "a sample is of the variant {found} and the network of {wanted}; train on shards of {wanted} only"
    )]
    OtherVariant {
        /// The sample's.
        found: surakarta_game::Variant,
        /// The network's.
        wanted: surakarta_game::Variant,
    },
    /// There is nothing to learn from.
    #[error("there are no samples to train on: the window holds no recorded position")]
    NoSamples,
    /// A head is to be trained that the network does not have.
    #[error(
        "the network has no head {0}, which [train] gives a weight; start from weights that have it"
    )]
    NoHead(&'static str),
    /// The device is not there.
    #[error("the device {0} is not available; set `device` to cpu, or use a libtorch with CUDA")]
    NoDevice(crate::device::Device),
    /// A file is no TorchScript module that plays.
    #[error("{path} cannot be used as a TorchScript network: {problem}", path = path.display())]
    Script {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A network says NaN or an infinity of a position.
    #[error("its outputs are not all finite numbers; train or export it anew")]
    NotANumber,
    /// The binary cannot train.
    #[error("this binary was built without libtorch; build it with the feature `torch` to train")]
    NoTorch,
    /// libtorch failed: no memory, say.
    #[error("libtorch failed: {0}")]
    Torch(String),
}

impl TrainError {
    pub(crate) fn io(action: &'static str, path: &Path, error: io::Error) -> TrainError {
        TrainError::Io { action, path: path.to_owned(), error }
    }
}

#[cfg(feature = "torch")]
impl From<tch::TchError> for TrainError {
    fn from(error: tch::TchError) -> TrainError {
        // libtorch adds a trace of its own frames after the first lines, and advice to the first.
        let text = error.to_string().replace("Internal torch error:", "");
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        TrainError::Torch(line.split(". ").next().unwrap_or_default().to_owned())
    }
}
