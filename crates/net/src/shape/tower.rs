//! Networks that keep a vector of channels for each point of the board: `conv` and `circuit`.
//!
//! Both begin alike. The *stem* is a 3×3 convolution of the four groups of inputs that belong to
//! points, plus, for every point alike, a linear function of the other inputs. A tower of residual
//! blocks follows, each a pair of layers; what the board looks like as a whole reaches every point by
//! *global pooling*: mean and maximum of each channel over all points, through a linear layer (as in
//! KataGo, Wu 2019, arXiv:1902.10565). With x the block's input and * a layer without ReLU:
//!
//! - `conv`: y = ReLU(first * x), out = ReLU(x + second * y + pool · [mean y, max y]); both 3×3;
//! - `circuit`: y = ReLU(board * x + circuit * x), out = ReLU(x + mix · y + pool · [mean y, max y]).
//!   `board` is 3×3 and `mix` acts on each point alone. `circuit` is a circular one-dimensional
//!   convolution along both circuits, in their walking order, with the same weights: at each stop it
//!   sees the stops up to `reach` before and behind. A point that is passed twice adds what both stops
//!   see, a corner, which no circuit passes, gets nothing.
//!
//! Beside the board everything is 0.

use serde::{Deserialize, Serialize};

use super::{InvalidShape, Tensors};
use crate::inputs::POINT_STATES;
use crate::lanes::LANES;

/// A tower of residual blocks of 3×3 convolutions. In a configuration: `kind = "conv"`, `blocks = 4`,
/// `channels = 64`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "UncheckedConv")]
pub struct Conv {
    blocks: usize,
    channels: usize,
}

/// A tower whose blocks look along the circuits and around each point. In a configuration:
/// `kind = "circuit"`, `blocks = 4`, `channels = 64`, `reach = 3`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "UncheckedCircuit")]
pub struct Circuit {
    blocks: usize,
    channels: usize,
    reach: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedConv {
    blocks: usize,
    channels: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedCircuit {
    blocks: usize,
    channels: usize,
    reach: usize,
}

/// The most blocks of a tower.
pub(super) const MAX_BLOCKS: usize = 40;
/// The most channels of a tower.
pub(super) const MAX_CHANNELS: usize = 512;
/// Channels are multiples of this, so that a point's are a whole number of vectors.
pub(super) const CHANNEL_STEP: usize = LANES;
/// The furthest reach: beyond it a stop would see its circuit's other end twice.
pub(super) const MAX_REACH: usize = 11;

impl Conv {
    /// A tower of so many blocks and channels.
    ///
    /// # Errors
    /// If there are more than 40 blocks or none, or the channels are not a multiple of 16 from 16 to
    /// 512.
    pub fn new(blocks: usize, channels: usize) -> Result<Conv, InvalidShape> {
        UncheckedConv { blocks, channels }.try_into()
    }

    /// Residual blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Channels of each point.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The stem, then `block.{i}.first`, `.second` and `.pool`.
    pub(super) fn tensors(&self, inputs: usize, points: usize, tensors: &mut Tensors) {
        let c = self.channels;
        stem(c, inputs, points, tensors);
        for i in 0..self.blocks {
            tensors.layer(&format!("block.{i}.first"), &[c, c, 3, 3]);
            tensors.layer(&format!("block.{i}.second"), &[c, c, 3, 3]);
            tensors.matrix(&format!("block.{i}.pool"), &[c, 2 * c]);
        }
    }
}

impl Circuit {
    /// A tower of so many blocks and channels that looks so many stops along the circuits.
    ///
    /// # Errors
    /// As [`Conv::new`], or if the reach is not 1 to 11.
    pub fn new(blocks: usize, channels: usize, reach: usize) -> Result<Circuit, InvalidShape> {
        UncheckedCircuit { blocks, channels, reach }.try_into()
    }

    /// Residual blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Channels of each point.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Stops that a block sees before and behind each stop.
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// The stem, then `block.{i}.board` and `.circuit` (one bias for both), `.mix` and `.pool`.
    pub(super) fn tensors(&self, inputs: usize, points: usize, tensors: &mut Tensors) {
        let c = self.channels;
        stem(c, inputs, points, tensors);
        for i in 0..self.blocks {
            tensors.layer(&format!("block.{i}.board"), &[c, c, 3, 3]);
            tensors.matrix(&format!("block.{i}.circuit"), &[c, c, 2 * self.reach + 1]);
            tensors.layer(&format!("block.{i}.mix"), &[c, c]);
            tensors.matrix(&format!("block.{i}.pool"), &[c, 2 * c]);
        }
    }
}

/// `stem` over the groups of points and `globals` over all other inputs.
fn stem(channels: usize, inputs: usize, points: usize, tensors: &mut Tensors) {
    tensors.layer("stem", &[channels, POINT_STATES, 3, 3]);
    tensors.matrix("globals", &[channels, inputs - POINT_STATES * points]);
}

fn check(blocks: usize, channels: usize) -> Result<(), InvalidShape> {
    if !(1..=MAX_BLOCKS).contains(&blocks) {
        return Err(InvalidShape::Blocks(blocks));
    }
    if channels == 0 || channels > MAX_CHANNELS || !channels.is_multiple_of(CHANNEL_STEP) {
        return Err(InvalidShape::Channels(channels));
    }
    Ok(())
}

impl TryFrom<UncheckedConv> for Conv {
    type Error = InvalidShape;

    fn try_from(UncheckedConv { blocks, channels }: UncheckedConv) -> Result<Self, InvalidShape> {
        check(blocks, channels)?;
        Ok(Conv { blocks, channels })
    }
}

impl TryFrom<UncheckedCircuit> for Circuit {
    type Error = InvalidShape;

    fn try_from(unchecked: UncheckedCircuit) -> Result<Self, InvalidShape> {
        let UncheckedCircuit { blocks, channels, reach } = unchecked;
        check(blocks, channels)?;
        if !(1..=MAX_REACH).contains(&reach) {
            return Err(InvalidShape::Reach(reach));
        }
        Ok(Circuit { blocks, channels, reach })
    }
}
