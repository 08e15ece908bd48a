//! Native inference of `conv` and `circuit` networks: no libtorch, any batch size, one core.

mod geometry;
mod layers;
mod sums;

use std::sync::Arc;

use crate::evaluator::{Batch, Evaluator, EvaluatorError};
use crate::kernel::{Kernel, for_each_kernel};
use crate::lanes::Lanes;
use crate::vector::Vector;
#[cfg(target_arch = "x86_64")]
use crate::vector::{Avx2, Avx512};
use crate::weights::Weights;
use layers::{Layers, Scratch};

/// A tower, ready to evaluate. Clones share the weights.
///
/// The evaluation of a position has the same bits in any batch and with any [`Kernel`].
#[derive(Clone, Debug)]
pub struct Tower {
    layers: Arc<Layers>,
    scratch: Scratch,
    kernel: Kernel,
}

impl Tower {
    /// The network with these weights, on the best kernel.
    ///
    /// # Panics
    /// If they are those of an `mlp`.
    pub fn new(weights: &Weights) -> Tower {
        Tower::with_kernel(weights, Kernel::best())
    }

    /// The same on a kernel of choice.
    ///
    /// # Panics
    /// As [`Tower::new`].
    pub fn with_kernel(weights: &Weights, kernel: Kernel) -> Tower {
        let layers = Layers::new(weights).expect("the weights of a tower");
        Tower { scratch: layers.scratch(), layers: Arc::new(layers), kernel }
    }

    /// The name of the kernel, for headers of files that depend on evaluations.
    pub fn kernel(&self) -> &'static str {
        self.kernel.name()
    }
}

impl Evaluator for Tower {
    /// Fails only if a position is of another variant than the network, or weights are so large that it
    /// says no numbers.
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        let (layers, scratch) = (&*self.layers, &mut self.scratch);
        batch.expect_variant(layers.variant())?;
        evaluate_on(self.kernel, layers, scratch, batch);
        batch.expect_numbers()
    }
}

#[inline(always)]
fn evaluate<V: Vector, const BLOCK: usize>(
    layers: &Layers,
    scratch: &mut Scratch,
    batch: &mut Batch,
) {
    for at in 0..batch.len() {
        layers.evaluate::<V, BLOCK>(scratch, batch, at);
    }
}

for_each_kernel! {
    fn evaluate_on(layers: &Layers, scratch: &mut Scratch, batch: &mut Batch);
    portable: evaluate::<Lanes, 1>,
    avx2: evaluate::<Avx2, 1>,
    avx512: evaluate::<Avx512, 4>,
}
