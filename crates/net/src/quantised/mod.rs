//! Quantised inference of fully connected networks: integers of eight and sixteen bits, exact in any
//! order, and floats only to scale what comes out of a layer.

mod integers;
mod layers;
mod scheme;
mod weights;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::Arc;

pub use scheme::Unquantisable;
pub use weights::{Numbers, QUANTISED_VERSION, QuantisedWeights};

use crate::evaluator::{Batch, Evaluator, EvaluatorError};
use crate::hidden::TOGETHER;
use crate::kernel::{Kernel, for_each_kernel};
use integers::{Integers, Portable};
use layers::{Layers, Scratch};
#[cfg(target_arch = "x86_64")]
use x86::{Avx2, Vnni};

/// The largest activation; the smallest is 0.
pub(crate) const LEVELS: i32 = 127;

/// The largest weight of the outlook's heads on so many units: one for which sums fit 32 bits.
fn most_outlook_weight(width: usize) -> i64 {
    let most = i64::from(i32::MAX) / (i64::from(LEVELS) * width as i64);
    most.min(i16::MAX.into())
}

/// A quantised network, ready to evaluate. Clones share the weights.
///
/// The evaluation of a position has the same bits in any batch, after any other and with any
/// [`Kernel`]. What is computed, a being activations and `round` going to the nearest, to the even one
/// of two:
///
/// | layer | sums | gives |
/// |---|---|---|
/// | first | s = bias + weights of the inputs that are 1, 16 bits | a = (s + half) >> shift, at least 0 and at most 127 |
/// | later | s = Σ weight · a, 32 bits | a = round(s · scale + bias), at least 0 and at most 127; a residual layer adds that to the one below, again up to 127 |
/// | heads | s = Σ weight · a, 32 bits | s · scale + bias: logits, or the margin |
///
/// Sums of the first layer are kept for each place in the batch and each side to move: a position that
/// differs little from the one before it there costs only the inputs that changed.
#[derive(Clone, Debug)]
pub struct Quantised {
    layers: Arc<Layers>,
    scratch: Scratch,
    kernel: Kernel,
}

impl Quantised {
    /// The network with these weights, on the best kernel.
    pub fn new(weights: &QuantisedWeights) -> Quantised {
        Quantised::with_kernel(weights, Kernel::best())
    }

    /// The same on a kernel of choice.
    pub fn with_kernel(weights: &QuantisedWeights, kernel: Kernel) -> Quantised {
        let layers = Layers::new(weights);
        Quantised { scratch: layers.scratch(), layers: Arc::new(layers), kernel }
    }

    /// Evaluates, and computes the logits of all moves, as [`Mlp::evaluate_all`](crate::Mlp::evaluate_all)
    /// does.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn evaluate_all(
        &mut self,
        batch: &mut Batch,
        logits: &mut Vec<f32>,
    ) -> Result<(), EvaluatorError> {
        logits.clear();
        logits.resize(batch.len() * self.layers.moves(), 0.0);
        self.run(batch, logits)
    }

    /// The name of the kernel, for headers of files that depend on evaluations.
    pub fn kernel(&self) -> &'static str {
        self.kernel.name()
    }
}

impl Quantised {
    /// Evaluates, and fills in a row of logits for each position unless there is no room for any.
    fn run(&mut self, batch: &mut Batch, logits: &mut [f32]) -> Result<(), EvaluatorError> {
        let (layers, scratch) = (&*self.layers, &mut self.scratch);
        batch.expect_variant(layers.variant())?;
        evaluate_on(self.kernel, layers, scratch, batch, logits);
        batch.expect_numbers()
    }
}

impl Evaluator for Quantised {
    /// Fails only if a position is of another variant than the network, or weights are so large that it
    /// says no numbers.
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        self.run(batch, &mut [])
    }
}

#[inline(always)]
fn evaluate<I: Integers>(
    layers: &Layers,
    scratch: &mut Scratch,
    batch: &mut Batch,
    logits: &mut [f32],
) {
    let mut rows = logits.chunks_mut(TOGETHER * layers.moves());
    for first in (0..batch.len()).step_by(TOGETHER) {
        let count = TOGETHER.min(batch.len() - first);
        layers.evaluate::<I>(scratch, batch, first, count);
        if let Some(rows) = rows.next() {
            layers.all_logits::<I>(scratch, rows);
        }
    }
}

for_each_kernel! {
    fn evaluate_on(
        layers: &Layers, scratch: &mut Scratch, batch: &mut Batch, logits: &mut [f32],
    );
    portable: evaluate::<Portable>,
    avx2: evaluate::<Avx2>,
    avx512: evaluate::<Vnni>,
}
