//! Networks for Surakarta: inputs, shapes, the weights file and native CPU inference.

mod evaluator;

pub use evaluator::{Batch, Evaluator, EvaluatorError, Outlook};
