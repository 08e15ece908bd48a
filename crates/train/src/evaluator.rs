//! Evaluation through libtorch, batch by batch.

use surakarta_game::Variant;
use surakarta_net::{
    Batch, Evaluator, EvaluatorError, MAX_INPUTS, Outlook, Weights, active, inputs, policy_index,
};
use tch::{Kind, Tensor, no_grad};

use crate::device::Device;
use crate::error::TrainError;
use crate::model::{Model, use_one_thread};
use crate::script::Script;

/// Evaluates positions with tch, always in batches of one size: libtorch sums in another order at
/// another size, and an evaluation must not depend on what else is evaluated. Nor may it depend on the
/// place in the batch, so the size is 1 or a multiple of 16.
#[derive(Debug)]
pub struct TorchEvaluator {
    layers: Layers,
    variant: Variant,
    device: tch::Device,
    size: usize,
    rows: Rows,
}

/// Whose forward pass it is.
#[derive(Debug)]
enum Layers {
    Model(Box<Model>),
    Script(Script),
}

/// The inputs of positions, row by row, or what a network made of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows(pub(crate) Vec<f32>);

/// What a network says of some positions: logits of all moves, then of win, draw and loss, and the
/// margins, position by position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) policy: Vec<f32>,
    pub(crate) wdl: Vec<f32>,
    pub(crate) margin: Vec<f32>,
}

impl TorchEvaluator {
    /// A network with these weights that evaluates `size` positions at a time, one or the next multiple
    /// of 16; a smaller batch is padded and costs as much.
    ///
    /// # Errors
    /// If the device is missing or has no memory left.
    pub fn new(
        weights: &Weights,
        device: Device,
        size: usize,
    ) -> Result<TorchEvaluator, TrainError> {
        let model = Model::new(weights, device)?;
        let (variant, device) = (weights.variant(), model.device());
        Ok(TorchEvaluator::of(Layers::Model(Box::new(model)), variant, device, size))
    }

    /// The same of a TorchScript module.
    pub(crate) fn of_script(script: Script, size: usize) -> TorchEvaluator {
        let (variant, device) = (script.variant(), script.device());
        TorchEvaluator::of(Layers::Script(script), variant, device, size)
    }

    fn of(layers: Layers, variant: Variant, device: tch::Device, size: usize) -> TorchEvaluator {
        TorchEvaluator { layers, variant, device, size: alike(size), rows: Rows::default() }
    }

    /// Positions that are evaluated at a time.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// What the network says of rows of inputs, [`size`](TorchEvaluator::size) of them at most; more
    /// rows of zeros are added up to that.
    pub(crate) fn run(&self, rows: &mut Rows) -> Result<Said, TrainError> {
        use_one_thread();
        let width = inputs(self.variant);
        let n = rows.0.len() / width;
        rows.0.resize(self.size * width, 0.0);
        let (policy, wdl, margin) = no_grad(|| -> Result<_, TrainError> {
            let x = Tensor::f_from_slice(&rows.0)?.f_view([self.size as i64, width as i64])?;
            let x = x.f_to_device(self.device)?;
            match &self.layers {
                Layers::Model(model) => {
                    let outputs = model.forward(&x)?;
                    Ok((outputs.policy, outputs.wdl, outputs.margin))
                }
                Layers::Script(script) => script.forward(&x),
            }
        })?;
        let read = |tensor: &Tensor, width: usize| -> Result<Vec<f32>, TrainError> {
            let tensor = tensor.f_to_device(tch::Device::Cpu)?.f_to_kind(Kind::Float)?;
            let numbers = Vec::<f32>::try_from(tensor.f_narrow(0, 0, n as i64)?.f_flatten(0, -1)?)?;
            // A module of one's own may say anything.
            match numbers.iter().all(|x| x.is_finite()) {
                true if numbers.len() == n * width => Ok(numbers),
                true => Err(TrainError::Torch(format!(
                    "a network gave {} numbers for {n} positions instead of {width} each",
                    numbers.len()
                ))),
                false => Err(TrainError::NotANumber),
            }
        };
        let moves = self.variant.moves();
        Ok(Said { policy: read(&policy, moves)?, wdl: read(&wdl, 3)?, margin: read(&margin, 1)? })
    }
}

impl Rows {
    /// Adds the inputs of the positions of a batch from `first` up to `end`.
    pub(crate) fn add(&mut self, batch: &Batch, first: usize, end: usize) {
        let mut buffer = [0; MAX_INPUTS];
        for at in first..end {
            let position = batch.position(at);
            let start = self.0.len();
            self.0.resize(start + inputs(position.variant()), 0.0);
            for &i in active(position, &mut buffer) {
                self.0[start + i as usize] = 1.0;
            }
        }
    }
}

impl Said {
    /// Writes what was said of the positions from `first` on into their batch.
    pub(crate) fn write(&mut self, batch: &mut Batch, first: usize) {
        let n = self.margin.len();
        let width = self.policy.len() / n.max(1);
        for row in 0..n {
            let logits = &self.policy[row * width..][..width];
            let (position, moves, policy, outlook) = batch.item_mut(first + row);
            let (variant, side) = (position.variant(), position.side_to_move());
            for (p, &mv) in policy.iter_mut().zip(moves) {
                let index = policy_index(variant, mv, side);
                *p = index.map_or(f32::NEG_INFINITY, |index| logits[index]);
            }
            softmax(policy);
            let wdl = &mut self.wdl[3 * row..][..3];
            softmax(wdl);
            *outlook = Outlook { wdl: [wdl[0], wdl[1], wdl[2]], margin: self.margin[row] };
        }
    }
}

impl Evaluator for TorchEvaluator {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        batch.expect_variant(self.variant)?;
        for first in (0..batch.len()).step_by(self.size) {
            let mut rows = std::mem::take(&mut self.rows);
            rows.0.clear();
            rows.add(batch, first, batch.len().min(first + self.size));
            let said = self.run(&mut rows);
            self.rows = rows;
            said.map_err(|error| EvaluatorError(error.to_string()))?.write(batch, first);
        }
        Ok(())
    }
}

/// The size of a batch whose rows libtorch treats alike: it sums the last rows in another order where
/// there is no multiple of so many, as the test of every kind of shape shows.
fn alike(size: usize) -> usize {
    if size > 1 { size.next_multiple_of(16) } else { 1 }
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
