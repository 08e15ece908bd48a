use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use surakarta_game::{Position, Variant};
use surakarta_net::{Kernel, Shape, Tower};

use crate::mlp::{bits, evaluated};
use crate::tower_twin::tower_evaluation;
use crate::twin::{lively, random_positions};

/// Whole and broken blocks of vectors, deep and flat, near and far.
fn shapes() -> [Shape; 6] {
    [
        Shape::conv(2, 64),
        Shape::circuit(2, 48, 3),
        Shape::conv(1, 80),
        Shape::circuit(3, 16, 11),
        Shape::circuit(1, 64, 1),
        Shape::conv(3, 32),
    ]
    .map(Result::unwrap)
}

#[test]
fn agrees_with_the_twin() {
    // Every shape with one variant, and every variant with one shape or another.
    for (seed, (variant, shape)) in Variant::ALL.into_iter().cycle().zip(shapes()).enumerate() {
        let weights = lively(shape.clone(), variant, seed as u64);
        let positions = &random_positions(variant, 40, seed as u64)[..40];
        let results = evaluated(&mut Tower::new(&weights), positions, &[7]);
        let mut boldest = 0.0f32;
        for (position, (policy, outlook)) in positions.iter().zip(results) {
            let (twin_policy, twin_wdl, twin_margin) =
                tower_evaluation(&weights, position, &position.moves());
            assert_eq!(policy.len(), twin_policy.len());
            let ours = policy.iter().chain(&outlook.wdl).chain([&outlook.margin]);
            let twins = twin_policy.iter().chain(&twin_wdl).chain([&twin_margin]);
            for (&x, &twin) in ours.zip(twins) {
                assert!(
                    (f64::from(x) - twin).abs() < 1e-3,
                    "{shape:?}: {x} for {twin}, {position}"
                );
            }
            boldest = policy.iter().copied().fold(boldest, f32::max);
        }
        assert!(boldest > 0.2, "{shape:?}: {boldest}");
    }
}

#[test]
fn has_the_same_bits_in_any_batch_on_any_kernel() {
    for (seed, (variant, shape)) in Variant::ALL.into_iter().cycle().zip(shapes()).enumerate() {
        let weights = lively(shape, variant, seed as u64);
        let positions = &random_positions(variant, 30, 100 + seed as u64)[..30];
        let expected = evaluated(&mut Tower::new(&weights), positions, &[1]);
        let mut order: Vec<usize> = (0..positions.len()).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
        for kernel in Kernel::available() {
            let mut tower = Tower::with_kernel(&weights, kernel);
            assert_eq!(tower.kernel(), kernel.name());
            for i in (1..order.len()).rev() {
                order.swap(i, rng.next_u32() as usize % (i + 1));
            }
            let shuffled: Vec<Position> = order.iter().map(|&i| positions[i]).collect();
            let results = evaluated(&mut tower, &shuffled, &[1, 7, 2]);
            for (&i, result) in order.iter().zip(&results) {
                let name = kernel.name();
                assert_eq!(bits(result), bits(&expected[i]), "{name}: {}", positions[i]);
            }
        }
    }
}
