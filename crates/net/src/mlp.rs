//! Native inference of fully connected networks: no libtorch, any batch size, one core.

use std::sync::Arc;

use crate::evaluator::{Batch, Evaluator, EvaluatorError};
use crate::hidden::TOGETHER;
use crate::kernel::{Kernel, for_each_kernel};
use crate::lanes::Lanes;
use crate::layers::{Layers, Scratch};
use crate::shape::Trunk;
use crate::vector::Vector;
#[cfg(target_arch = "x86_64")]
use crate::vector::{Avx2, Avx512};
use crate::weights::Weights;

/// A fully connected network, ready to evaluate. Clones share the weights.
///
/// The evaluation of a position has the same bits in any batch and with any [`Kernel`].
#[derive(Clone, Debug)]
pub struct Mlp {
    layers: Arc<Layers>,
    scratch: Scratch,
    kernel: Kernel,
}

impl Mlp {
    /// The network with these weights, on the best kernel.
    ///
    /// # Panics
    /// If they are not those of an `mlp`.
    pub fn new(weights: &Weights) -> Mlp {
        Mlp::with_kernel(weights, Kernel::best())
    }

    /// The same on a kernel of choice.
    ///
    /// # Panics
    /// As [`Mlp::new`].
    pub fn with_kernel(weights: &Weights, kernel: Kernel) -> Mlp {
        let Trunk::Mlp(shape) = weights.shape().trunk() else {
            panic!("not an mlp: {:?}", weights.shape());
        };
        let layers = Layers::new(shape, weights);
        Mlp { scratch: layers.scratch(), layers: Arc::new(layers), kernel }
    }

    /// The name of the kernel, for headers of files that depend on evaluations.
    pub fn kernel(&self) -> &'static str {
        self.kernel.name()
    }
}

impl Mlp {
    /// Evaluates, and computes the logits of all [`Variant::moves`](surakarta_game::Variant::moves),
    /// legal or not, by [`policy_index`](crate::policy_index): a row for each position of the batch, in a
    /// buffer that the caller keeps. They agree with the policy up to rounding. A search needs none of
    /// that; comparisons with libraries do.
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

    /// Evaluates, and fills in a row of logits for each position unless there is no room for any.
    fn run(&mut self, batch: &mut Batch, logits: &mut [f32]) -> Result<(), EvaluatorError> {
        let (layers, scratch) = (&*self.layers, &mut self.scratch);
        batch.expect_variant(layers.variant())?;
        evaluate_on(self.kernel, layers, scratch, batch, logits);
        batch.expect_numbers()
    }
}

impl Evaluator for Mlp {
    /// Fails only if a position is of another variant than the network, or weights are so large that it
    /// says no numbers.
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        self.run(batch, &mut [])
    }
}

#[inline(always)]
fn evaluate<V: Vector, const PANELS: usize, const OUTPUTS: usize>(
    layers: &Layers,
    scratch: &mut Scratch,
    batch: &mut Batch,
    logits: &mut [f32],
) {
    let mut rows = logits.chunks_mut(TOGETHER * layers.moves());
    for first in (0..batch.len()).step_by(TOGETHER) {
        let count = TOGETHER.min(batch.len() - first);
        layers.evaluate::<V, PANELS, OUTPUTS>(scratch, batch, first, count);
        if let Some(rows) = rows.next() {
            layers.all_logits::<V, PANELS>(scratch, rows);
        }
    }
}

for_each_kernel! {
    fn evaluate_on(
        layers: &Layers, scratch: &mut Scratch, batch: &mut Batch, logits: &mut [f32],
    );
    portable: evaluate::<Lanes, 1, 4>,
    avx2: evaluate::<Avx2, 1, 4>,
    avx512: evaluate::<Avx512, 2, 8>,
}
