//! Networks for Surakarta: inputs, shapes, the weights file and native CPU inference.
//!
//! A network sees a position with the eyes of the side to move ([`active`], [`policy_index`]). Its
//! [`Shape`] says which tensors it has, its [`Weights`] hold them and live in a safetensors file.
//! A [`Network`] is what plays without libtorch, whatever the file holds; whatever evaluates positions for
//! a search is an [`Evaluator`].

mod answer;
mod evaluator;
mod file;
mod hidden;
mod inputs;
mod kernel;
mod lanes;
mod layers;
mod mlp;
mod network;
mod quantised;
mod shape;
mod tower;
mod vector;
mod weights;

pub use evaluator::{Batch, Evaluator, EvaluatorError, Inference, Outlook};
pub use file::{FORMAT_VERSION, LoadError, LoadProblem, SaveError};
pub use inputs::{
    INPUT_VERSION, InputGroup, MAX_INPUTS, active, inputs, mover_move, policy_index, seen_as,
};
pub use kernel::Kernel;
pub use mlp::Mlp;
pub use network::{Network, NetworkFile};
pub use quantised::{Numbers, QUANTISED_VERSION, Quantised, QuantisedWeights, Unquantisable};
pub use shape::{
    Auxiliary, CircuitShape, ConvShape, HORIZONS, InvalidShape, MOVE_CHANNELS, MlpShape, OCCUPANTS,
    Shape, TensorSpec, Trunk,
};
pub use tower::Tower;
pub use weights::{InvalidWeights, Weights};
