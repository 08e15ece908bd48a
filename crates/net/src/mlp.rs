//! Native inference of fully connected networks: no libtorch, any batch size, one core.

use std::sync::Arc;

use crate::evaluator::{Batch, Evaluator, EvaluatorError};
use crate::hidden::TOGETHER;
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

/// The same arithmetic, compiled for one kind of processor. A value exists only on a processor that
/// can run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(pub(crate) Target);

/// The kinds of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// Those that this processor can run, fastest last.
    pub fn available() -> Vec<Kernel> {
        let mut kernels = vec![Kernel(Target::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let bits = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("popcnt");
            if avx2 && bits {
                kernels.push(Kernel(Target::Avx2));
                let avx512 = is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl");
                if avx512 {
                    kernels.push(Kernel(Target::Avx512));
                }
            }
        }
        kernels
    }

    /// The fastest one that this processor can run.
    pub fn best() -> Kernel {
        *Kernel::available().last().expect("one is portable")
    }

    pub(crate) fn target(self) -> Target {
        self.0
    }

    /// `portable`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Target::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Target::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Target::Avx512 => "avx512",
        }
    }
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
        match self.kernel.0 {
            Target::Portable => evaluate::<Lanes, 1, 4>(layers, scratch, batch, logits),
            // SAFETY: this kernel exists only where `available` found these features.
            #[cfg(target_arch = "x86_64")]
            Target::Avx2 => unsafe { evaluate_avx2(layers, scratch, batch, logits) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Target::Avx512 => unsafe { evaluate_avx512(layers, scratch, batch, logits) },
        }
        Ok(())
    }
}

impl Evaluator for Mlp {
    /// Fails only if a position is of another variant than the network.
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,popcnt")]
fn evaluate_avx2(layers: &Layers, scratch: &mut Scratch, batch: &mut Batch, logits: &mut [f32]) {
    evaluate::<Avx2, 1, 4>(layers, scratch, batch, logits);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,popcnt")]
fn evaluate_avx512(layers: &Layers, scratch: &mut Scratch, batch: &mut Batch, logits: &mut [f32]) {
    evaluate::<Avx512, 2, 8>(layers, scratch, batch, logits);
}
