//! Native inference and libtorch say the same of a position, and neither minds its neighbours.

use crate::positions::random_positions;
use surakarta_game::{Position, Variant};
use surakarta_net::{Batch, Evaluator, InputGroup, MlpShape, Network, Shape, Trunk, Weights};
use surakarta_train::{Device, TorchEvaluator};

/// Weights that prefer something: those of an untrained network hardly do.
fn weights(variant: Variant, shape: Shape) -> Weights {
    let weights = Weights::random(shape, variant, 3);
    let louder = weights.tensors().map(|(name, dims, data)| {
        let head = ["policy", "wdl", "margin"].iter().any(|head| name.starts_with(head));
        let loud = |(i, &x): (usize, &f32)| match () {
            () if name.ends_with("bias") => (i as f32).sin() / 4.0,
            // Products of two, already larger.
            () if name.contains("from") || name.contains("to") => 3.0 * x,
            () if head => 10.0 * x,
            () => x,
        };
        (name.to_owned(), dims.to_vec(), data.iter().enumerate().map(loud).collect())
    });
    Weights::from_tensors(weights.shape().clone(), weights.variant(), "", louder).unwrap()
}

fn mlp(hidden: &[usize]) -> Shape {
    Shape::mlp(hidden).unwrap()
}

fn evaluated(evaluator: &mut dyn Evaluator, positions: &[Position]) -> Batch {
    let mut batch = Batch::default();
    for position in positions {
        batch.push(*position, &position.moves());
    }
    evaluator.evaluate(&mut batch).unwrap();
    batch
}

#[test]
fn native_and_torch_agree_on_1000_random_positions() {
    let residual = MlpShape::new(&[64, 64, 32], true).unwrap();
    let towers = [
        Shape::conv(2, 32),
        Shape::circuit(2, 32, 3),
        Shape::conv(1, 48),
        Shape::circuit(1, 16, 5),
    ];
    let towers = towers.map(Result::unwrap);
    let mlps = [mlp(&[256, 128]), mlp(&[64]), mlp(&[48, 32, 16]), Trunk::Mlp(residual).into()];
    let blind = [mlp(&[64]), towers[0].clone(), towers[1].clone()]
        .map(|shape| shape.without([InputGroup::Attacks, InputGroup::Counts]));
    let shapes = mlps.into_iter().chain(towers).chain(blind);
    for (variant, shape) in Variant::ALL.into_iter().cycle().zip(shapes) {
        let positions = random_positions(variant, 1_000, 11);
        let weights = weights(variant, shape.clone());
        let native = evaluated(&mut *Network::new(&weights).evaluator(), &positions);
        let mut torch = TorchEvaluator::new(&weights, Device::Cpu, 64).unwrap();
        let torch = evaluated(&mut torch, &positions);
        let (mut difference, mut boldest) = (0.0f32, 0.0f32);
        for at in 0..positions.len() {
            let (a, b) = (native.outlook(at), torch.outlook(at));
            let heads = a.wdl.iter().zip(&b.wdl).chain([(&a.margin, &b.margin)]);
            for (a, b) in heads.chain(native.policy(at).iter().zip(torch.policy(at))) {
                difference = difference.max((a - b).abs());
            }
            boldest = native.policy(at).iter().copied().fold(boldest, f32::max);
        }
        assert!(difference < 1e-4, "{variant} {shape:?}: they differ by {difference}");
        // Uniform policies would agree whatever the network does.
        assert!(boldest > 0.3, "{shape:?}: {boldest}");
    }
}

#[test]
fn torch_evaluates_a_position_alike_in_any_company() {
    let towers = [Shape::conv(2, 32), Shape::circuit(2, 32, 3)].map(Result::unwrap);
    for shape in [mlp(&[64, 32]), mlp(&[256, 128])].into_iter().chain(towers) {
        let positions = random_positions(Variant::Sepur, 100, 12);
        let weights = weights(Variant::Sepur, shape);
        for size in [16, 32, 48] {
            let mut torch = TorchEvaluator::new(&weights, Device::Cpu, size).unwrap();
            let together = evaluated(&mut torch, &positions);
            for (at, position) in positions.iter().enumerate() {
                let alone = evaluated(&mut torch, &[*position]);
                assert_eq!(alone.policy(0), together.policy(at));
                assert_eq!(alone.outlook(0), together.outlook(at));
            }
        }
    }
}

#[test]
fn torch_refuses_another_variant() {
    let weights = weights(Variant::Rural, mlp(&[16]));
    let mut torch = TorchEvaluator::new(&weights, Device::Cpu, 4).unwrap();
    let mut batch = Batch::default();
    let start = Position::start(Variant::Sepur);
    batch.push(start, &start.moves());
    let error = torch.evaluate(&mut batch).unwrap_err().to_string();
    assert!(error.contains("for the variant rural") && error.contains("one of sepur"), "{error}");
}
