//! Play through libtorch.

use surakarta_net::{
    Batch, Evaluator, EvaluatorError, MAX_INPUTS, Outlook, Weights, active, inputs, policy_index,
};
use tch::{Kind, Tensor, no_grad};

use crate::config::Device;
use crate::error::TrainError;
use crate::forward::Outputs;
use crate::model::{Model, use_one_thread};

/// Evaluates positions with tch, always in batches of one size: libtorch sums in another order at
/// another size, and an evaluation must not depend on what else is evaluated.
#[derive(Debug)]
pub struct TorchEvaluator {
    model: Model,
    size: usize,
    /// Inputs of one batch: [size, [`inputs`] of the variant].
    inputs: Vec<f32>,
}

impl TorchEvaluator {
    /// A network with these weights that evaluates `size` positions (at least one) at a time; a
    /// smaller batch is padded and costs as much.
    ///
    /// # Errors
    /// If the device is missing or has no memory left.
    pub fn new(
        weights: &Weights,
        device: Device,
        size: usize,
    ) -> Result<TorchEvaluator, TrainError> {
        let size = size.max(1);
        let model = Model::new(weights, device)?;
        Ok(TorchEvaluator { model, size, inputs: vec![0.0; size * inputs(weights.variant())] })
    }

    /// Evaluates the positions from `first` on, at most `size` of them.
    fn evaluate_from(&mut self, first: usize, batch: &mut Batch) -> Result<(), TrainError> {
        let end = batch.len().min(first + self.size);
        let variant = self.model.variant();
        self.inputs.fill(0.0);
        let mut buffer = [0; MAX_INPUTS];
        for (row, at) in self.inputs.chunks_exact_mut(inputs(variant)).zip(first..end) {
            for &i in active(batch.position(at), &mut buffer) {
                row[i as usize] = 1.0;
            }
        }
        let Outputs { policy, wdl, margin, .. } = no_grad(|| {
            let size = [self.size as i64, inputs(variant) as i64];
            let inputs = Tensor::f_from_slice(&self.inputs)?.f_view(size)?;
            self.model.forward(&inputs.f_to_device(self.model.device())?)
        })?;
        let read = |tensor: &Tensor| -> Result<Vec<f32>, TrainError> {
            Ok(Vec::try_from(tensor.f_to_device(tch::Device::Cpu)?.f_flatten(0, -1)?)?)
        };
        let logits = read(&policy)?;
        let wdl = read(&wdl.f_softmax(1, Kind::Float)?)?;
        let margin = read(&margin)?;
        let width = logits.len() / self.size;
        for (row, at) in (first..end).enumerate() {
            let logits = &logits[row * width..][..width];
            let (position, moves, policy, outlook) = batch.item_mut(at);
            for (p, &mv) in policy.iter_mut().zip(moves) {
                let index = policy_index(variant, mv, position.side_to_move());
                *p = index.map_or(f32::NEG_INFINITY, |index| logits[index]);
            }
            softmax(policy);
            *outlook = Outlook {
                wdl: [wdl[3 * row], wdl[3 * row + 1], wdl[3 * row + 2]],
                margin: margin[row],
            };
        }
        Ok(())
    }
}

impl Evaluator for TorchEvaluator {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        batch.expect_variant(self.model.variant())?;
        use_one_thread();
        for first in (0..batch.len()).step_by(self.size) {
            self.evaluate_from(first, batch).map_err(|error| EvaluatorError(error.to_string()))?;
        }
        Ok(())
    }
}

/// Turns logits into probabilities.
fn softmax(logits: &mut [f32]) {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for p in logits.iter_mut() {
        *p = (*p - most).exp();
        sum += *p;
    }
    logits.iter_mut().for_each(|p| *p /= sum);
}
