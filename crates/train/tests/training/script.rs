//! TorchScript modules play, and what is none is refused.

use std::fs;

use surakarta_game::{Position, Variant};
use surakarta_net::{Batch, Evaluator, Inference, Shape, Weights};
use surakarta_train::{Device, TorchEvaluator, TorchNetwork, export_script};

use crate::positions::random_positions;

fn evaluated(evaluator: &mut dyn Evaluator, variant: Variant) -> Vec<f32> {
    let mut batch = Batch::default();
    for position in random_positions(variant, 50, 11) {
        batch.push(position, &position.moves());
    }
    evaluator.evaluate(&mut batch).unwrap();
    let of = |at: usize| {
        let outlook = batch.outlook(at);
        let said = outlook.wdl.into_iter().chain([outlook.margin]);
        said.chain(batch.policy(at).iter().copied()).collect::<Vec<_>>()
    };
    (0..batch.len()).flat_map(of).collect()
}

#[test]
fn an_exported_network_says_what_it_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pt");
    let shapes = [Shape::mlp(&[32]), Shape::conv(1, 16), Shape::circuit(1, 16, 3)];
    for (shape, variant) in shapes.into_iter().zip(Variant::ALL) {
        let weights = Weights::random(shape.unwrap(), variant, 3);
        export_script(&weights, &path).unwrap();
        let network = TorchNetwork::load_script(&path, variant, Device::Cpu).unwrap();
        let theirs = evaluated(&mut *network.evaluator(16).unwrap(), variant);
        let mut model = TorchEvaluator::new(&weights, Device::Cpu, 16).unwrap();
        let ours = evaluated(&mut model, variant);
        // However often it is asked.
        let mut often = network.evaluator(16).unwrap();
        for _ in 0..4 {
            assert_eq!(evaluated(&mut *often, variant), theirs);
        }
        for (a, b) in theirs.iter().zip(&ours) {
            assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
    }
    // Nothing is left beside it.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_is_no_number_is_an_error() {
    let weights = Weights::random(Shape::mlp(&[16]).unwrap(), Variant::Standard, 3);
    let huge = weights.tensors().map(|(name, dims, data)| {
        (name.to_owned(), dims.to_vec(), data.iter().map(|x| 1e30 * x).collect())
    });
    let huge = Weights::from_tensors(weights.shape().clone(), Variant::Standard, "", huge).unwrap();
    let position = Position::default();
    let mut batch = Batch::default();
    batch.push(position, &position.moves());
    let mut evaluator = TorchEvaluator::new(&huge, Device::Cpu, 1).unwrap();
    let error = evaluator.evaluate(&mut batch).unwrap_err().to_string();
    assert!(error.contains("not all finite"), "{error}");
}

#[test]
fn other_files_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pt");
    let refused = |variant, said: &str| {
        let error = TorchNetwork::load_script(&path, variant, Device::Cpu).unwrap_err().to_string();
        assert!(error.contains("model.pt") && error.contains(said), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    };
    refused(Variant::Standard, "cannot read");
    fs::write(&path, "no module").unwrap();
    refused(Variant::Standard, "cannot be used as a TorchScript network");
    let weights = Weights::random(Shape::mlp(&[16]).unwrap(), Variant::Standard, 3);
    export_script(&weights, &path).unwrap();
    // Of another board.
    refused(Variant::Sepur, "cannot be used as a TorchScript network");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    refused(Variant::Standard, "cannot be used as a TorchScript network");
}
