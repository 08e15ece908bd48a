//! Fully connected networks.

use serde::{Deserialize, Serialize};

use super::{InvalidShape, Tensors};
use crate::lanes::LANES;

/// Fully connected layers over sparse binary inputs, each followed by ReLU. In a configuration:
/// `kind = "mlp"`, `hidden = [256, 128]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Mlp {
    hidden: Vec<usize>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    residual: bool,
}

/// As written by hand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    hidden: Vec<usize>,
    #[serde(default)]
    residual: bool,
}

/// The most hidden layers.
pub(super) const MAX_LAYERS: usize = 4;
/// The widest hidden layer.
pub(super) const MAX_WIDTH: usize = 4096;
/// Widths are multiples of this, so that a layer is a whole number of vectors.
pub(super) const WIDTH_STEP: usize = LANES;

impl Mlp {
    /// Hidden layers of these widths. With `residual`, a layer as wide as the one below adds to it
    /// instead of replacing it: x + ReLU(W x + b).
    ///
    /// # Errors
    /// If there are no layers or more than 4, a width is not a multiple of 16 from 16 to 4096, or no
    /// layer could be residual.
    pub fn new(hidden: &[usize], residual: bool) -> Result<Mlp, InvalidShape> {
        Unchecked { hidden: hidden.to_vec(), residual }.try_into()
    }

    /// Widths of the hidden layers, first to last: 1 to 4 of them.
    pub fn hidden(&self) -> &[usize] {
        &self.hidden
    }

    /// Whether hidden layer `i` (0 the first) is added to the one below.
    pub fn adds(&self, i: usize) -> bool {
        self.residual && i > 0 && self.hidden[i] == self.hidden[i - 1]
    }

    /// The width of the last hidden layer, on which the heads stand.
    pub fn last(&self) -> usize {
        self.hidden[self.hidden.len() - 1]
    }

    /// `hidden.{i}` for each hidden layer; returns the width of the last.
    pub(super) fn tensors(&self, inputs: usize, tensors: &mut Tensors) -> usize {
        let mut inputs = inputs;
        for (i, &width) in self.hidden.iter().enumerate() {
            tensors.layer(&format!("hidden.{i}"), &[width, inputs]);
            inputs = width;
        }
        inputs
    }
}

impl TryFrom<Unchecked> for Mlp {
    type Error = InvalidShape;

    fn try_from(Unchecked { hidden, residual }: Unchecked) -> Result<Self, InvalidShape> {
        if !(1..=MAX_LAYERS).contains(&hidden.len()) {
            return Err(InvalidShape::Layers(hidden.len()));
        }
        for &width in &hidden {
            if width == 0 || width > MAX_WIDTH || width % WIDTH_STEP != 0 {
                return Err(InvalidShape::Width(width));
            }
        }
        if residual && hidden.windows(2).all(|pair| pair[0] != pair[1]) {
            return Err(InvalidShape::NothingResidual);
        }
        Ok(Mlp { hidden, residual })
    }
}
