//! Native inference of `conv` and `circuit` networks: no libtorch, any batch size, one core.

mod geometry;
mod layers;
mod sums;

use std::sync::Arc;

use crate::evaluator::{Batch, Evaluator, EvaluatorError};
use crate::lanes::Lanes;
use crate::mlp::{Kernel, Target};
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
    /// Fails only if a position is of another variant than the network.
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        let (layers, scratch) = (&*self.layers, &mut self.scratch);
        batch.expect_variant(layers.variant())?;
        match self.kernel.0 {
            Target::Portable => evaluate::<Lanes, 1>(layers, scratch, batch),
            // SAFETY: this kernel exists only where `available` found these features.
            #[cfg(target_arch = "x86_64")]
            Target::Avx2 => unsafe { evaluate_avx2(layers, scratch, batch) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Target::Avx512 => unsafe { evaluate_avx512(layers, scratch, batch) },
        }
        Ok(())
    }
}

#[inline(always)]
fn evaluate<V: Vector, const BLOCK: usize>(
    layers: &Layers,
    scratch: &mut Scratch,
    batch: &mut Batch,
) {
    for at in 0..batch.len() {
        let (position, moves, policy, outlook) = batch.item_mut(at);
        layers.evaluate::<V, BLOCK>(scratch, position, moves, policy, outlook);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,popcnt")]
fn evaluate_avx2(layers: &Layers, scratch: &mut Scratch, batch: &mut Batch) {
    evaluate::<Avx2, 1>(layers, scratch, batch);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,popcnt")]
fn evaluate_avx512(layers: &Layers, scratch: &mut Scratch, batch: &mut Batch) {
    evaluate::<Avx512, 4>(layers, scratch, batch);
}
