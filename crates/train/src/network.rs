//! A network of any origin, evaluated through libtorch.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use surakarta_game::Variant;
use surakarta_net::{Evaluator, EvaluatorError, Inference, Weights};
use xxhash_rust::xxh3::xxh3_128;

use crate::device::Device;
use crate::error::TrainError;
use crate::evaluator::TorchEvaluator;
use crate::queue::Queue;
use crate::script::Script;

/// Positions of a padded batch on a CUDA device. On the processor a worker's own batch is padded.
const DEVICE_BATCH: usize = 256;

/// A network that libtorch evaluates: one in the project's own weights, or a TorchScript module of
/// yours.
///
/// On the processor every worker has a copy; a CUDA device is shared, and evaluates the positions of
/// all workers together.
#[derive(Debug)]
pub struct TorchNetwork {
    origin: Origin,
    variant: Variant,
    device: Device,
    hash: String,
    /// Of a device that is shared.
    queue: Option<Queue>,
}

#[derive(Debug)]
enum Origin {
    Weights(Arc<Weights>),
    Script(Arc<Path>, Vec<u8>),
}

impl TorchNetwork {
    /// The network with these weights on a device.
    ///
    /// # Errors
    /// If the device is missing or has no memory left.
    pub fn new(weights: Weights, device: Device) -> Result<TorchNetwork, TrainError> {
        let (variant, hash) = (weights.variant(), weights.hash());
        // Nobody asks them.
        let weights = weights.with_heads(&[], 0);
        TorchNetwork::of(Origin::Weights(Arc::new(weights)), variant, device, hash)
    }

    /// A TorchScript module on a device: its `forward` takes a float tensor [n, inputs] of 0 and 1
    /// and returns policy logits [n, moves], logits of win, draw and loss [n, 3] and margins [n, 1],
    /// all seen by the side to move.
    ///
    /// # Errors
    /// If the file cannot be read, is no such module or not for this variant, or the device is
    /// missing or has no memory left.
    pub fn load_script(
        path: &Path,
        variant: Variant,
        device: Device,
    ) -> Result<TorchNetwork, TrainError> {
        let bytes = fs::read(path).map_err(|error| TrainError::io("read", path, error))?;
        let hash = format!("{:032x}", xxh3_128(&bytes));
        TorchNetwork::of(Origin::Script(path.into(), bytes), variant, device, hash)
    }

    fn of(
        origin: Origin,
        variant: Variant,
        device: Device,
        hash: String,
    ) -> Result<TorchNetwork, TrainError> {
        let mut network = TorchNetwork { origin, variant, device, hash, queue: None };
        // Fails here rather than in every worker.
        let evaluator = network.load(match device {
            Device::Cpu => 1,
            Device::Cuda(_) => DEVICE_BATCH,
        })?;
        if let Device::Cuda(_) = device {
            let queue = Queue::start(evaluator, variant);
            network.queue = Some(queue.map_err(|error| TrainError::Torch(error.to_string()))?);
        }
        Ok(network)
    }

    fn load(&self, size: usize) -> Result<TorchEvaluator, TrainError> {
        match &self.origin {
            Origin::Weights(weights) => TorchEvaluator::new(weights, self.device, size),
            Origin::Script(path, bytes) => {
                let script = Script::from_bytes(path, bytes, self.variant, self.device)?;
                Ok(TorchEvaluator::of_script(script, size))
            }
        }
    }
}

impl Inference for TorchNetwork {
    fn evaluator(&self, size: usize) -> Result<Box<dyn Evaluator>, EvaluatorError> {
        if let Some(queue) = &self.queue {
            return Ok(Box::new(queue.clone()));
        }
        let evaluator = self.load(size);
        Ok(Box::new(evaluator.map_err(|error| EvaluatorError(error.to_string()))?))
    }

    fn hash(&self) -> &str {
        &self.hash
    }

    fn kernel(&self) -> String {
        format!("libtorch {}", self.device)
    }
}

#[cfg(test)]
mod tests {
    use surakarta_game::{Game, OLYMPIAD, Position};
    use surakarta_net::{Batch, Shape};

    use super::*;

    #[test]
    fn a_queue_says_what_its_network_says_whoever_asks_together() {
        let shape = Shape::conv(1, 16).unwrap();
        let weights = Weights::random(shape, Variant::Rural, 3);
        // A batch smaller than some requests, and larger than others.
        let size = 16;
        let evaluator = TorchEvaluator::new(&weights, Device::Cpu, size).unwrap();
        let queue = Queue::start(evaluator, Variant::Rural).unwrap();
        let filled = |n: usize| {
            let mut batch = Batch::default();
            let mut game = Game::from_position(OLYMPIAD, Position::start(Variant::Rural));
            for i in 0..n {
                let moves = game.legal_moves();
                batch.push(*game.position(), &moves);
                game.play(moves[i % moves.len()]).unwrap();
            }
            batch
        };
        let bits = |batch: &Batch| -> Vec<u32> {
            let all = (0..batch.len()).flat_map(|at| {
                let outlook = batch.outlook(at);
                let said = outlook.wdl.into_iter().chain([outlook.margin]);
                said.chain(batch.policy(at).iter().copied()).collect::<Vec<_>>()
            });
            all.map(f32::to_bits).collect()
        };
        let expected = |n: usize| {
            let mut batch = filled(n);
            let mut alone = TorchEvaluator::new(&weights, Device::Cpu, size).unwrap();
            alone.evaluate(&mut batch).unwrap();
            bits(&batch)
        };
        let expected: Vec<_> = (0..24).map(expected).collect();
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let (mut queue, expected) = (queue.clone(), &expected);
                scope.spawn(move || {
                    for n in (0..24).map(|i| (i * 5 + worker) % 24) {
                        let mut batch = filled(n);
                        queue.evaluate(&mut batch).unwrap();
                        assert_eq!(bits(&batch), expected[n]);
                    }
                });
            }
        });
    }
}
