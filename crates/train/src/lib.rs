//! Training through tch: model, losses, AdamW, checkpoints, metrics.
//!
//! A [`Learner`] takes batches of samples and improves a network; a [`Checkpoint`] is all that it
//! needs to go on later, to the bit, and [`MetricsLog`] keeps what it reports. [`TorchEvaluator`] plays
//! with the network through libtorch. Without the feature `torch` only the configuration, the
//! checkpoint's layout and the log remain.

#[cfg(feature = "torch")]
mod adamw;
#[cfg(feature = "torch")]
mod batch;
mod calibration;
mod checkpoint;
mod config;
mod device;
mod error;
#[cfg(feature = "torch")]
mod evaluator;
#[cfg(feature = "torch")]
mod forward;
#[cfg(feature = "torch")]
mod learner;
mod library;
mod log;
#[cfg(feature = "torch")]
mod loss;
mod metrics;
#[cfg(feature = "torch")]
mod model;
#[cfg(feature = "torch")]
mod network;
#[cfg(feature = "torch")]
mod prefetch;
#[cfg(feature = "torch")]
mod queue;
#[cfg(feature = "torch")]
mod script;
#[cfg(feature = "torch")]
mod targets;
mod tensorboard;

pub use calibration::{BINS, Calibration, Reliability};
pub use checkpoint::{CHECKPOINT_VERSION, Checkpoint, Progress};
pub use config::{InvalidTrainConfig, TrainConfig};
pub use device::{Device, UnknownDevice};
pub use error::TrainError;
pub use library::{check, library};
pub use log::{Log, MetricsLog, Row};
pub use metrics::{Metrics, Totals};
pub use tensorboard::{EventLog, scalars};

#[cfg(feature = "torch")]
pub use {
    adamw::AdamW,
    batch::{BatchTensors, TrainingBatch, wdl_target},
    evaluator::TorchEvaluator,
    forward::Outputs,
    learner::{Iteration, Learner, Outcome, Report},
    loss::{Loss, loss},
    model::Model,
    network::TorchNetwork,
    script::export_script,
    targets::{Target, short_term},
};
