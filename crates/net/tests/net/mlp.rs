use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use surakarta_game::{Position, Variant};
use surakarta_net::{
    Batch, Evaluator, Kernel, Mlp, MlpShape, Network, Outlook, QuantisedWeights, Shape, Trunk,
    Weights, policy_index,
};

use crate::twin::{dense_evaluation, lively, lively_weights, random_positions};

/// Widths with and without rests of every block size, every depth, residual layers and plain ones.
pub(crate) fn shapes() -> impl Iterator<Item = Shape> {
    let plain: [&[usize]; 6] =
        [&[16], &[256, 128], &[336, 48, 80], &[64, 32, 128, 16], &[512, 16], &[192]];
    let residual: [&[usize]; 2] = [&[208, 80, 80], &[128, 128, 128, 16]];
    let plain = plain.map(|hidden| MlpShape::new(hidden, false));
    let residual = residual.map(|hidden| MlpShape::new(hidden, true));
    plain.into_iter().chain(residual).map(|shape| Trunk::Mlp(shape.unwrap()).into())
}

/// Policy and outlook of each position, evaluated in batches of the given sizes, over and over.
pub(crate) fn evaluated(
    network: &mut dyn Evaluator,
    positions: &[Position],
    sizes: &[usize],
) -> Vec<(Vec<f32>, Outlook)> {
    let mut sizes = sizes.iter().cycle();
    let mut rest = positions;
    let mut batch = Batch::default();
    let mut results = Vec::new();
    while let (Some(&size), false) = (sizes.next(), rest.is_empty()) {
        let now;
        (now, rest) = rest.split_at(size.min(rest.len()));
        batch.clear();
        for position in now {
            batch.push(*position, &position.moves());
        }
        network.evaluate(&mut batch).unwrap();
        results.extend((0..batch.len()).map(|at| (batch.policy(at).to_vec(), *batch.outlook(at))));
    }
    results
}

pub(crate) fn batch(positions: &[Position]) -> Batch {
    let mut batch = Batch::default();
    for position in positions {
        batch.push(*position, &position.moves());
    }
    batch
}

pub(crate) fn bits((policy, outlook): &(Vec<f32>, Outlook)) -> Vec<u32> {
    policy.iter().chain(&outlook.wdl).chain([&outlook.margin]).map(|x| x.to_bits()).collect()
}

#[test]
fn agrees_with_the_dense_twin() {
    // Every shape with one variant or another, and every variant with one shape or another.
    let cases = Variant::ALL.into_iter().cycle().zip(shapes());
    for (seed, (variant, shape)) in cases.enumerate() {
        let weights = lively(shape, variant, seed as u64);
        let positions = random_positions(variant, 1_000, seed as u64);
        let results = evaluated(&mut Mlp::new(&weights), &positions, &[32]);
        for (position, (policy, outlook)) in positions.iter().zip(results) {
            let (twin_policy, twin_wdl, twin_margin) =
                dense_evaluation(&weights, position, &position.moves());
            assert_eq!(policy.len(), twin_policy.len());
            let ours = policy.iter().chain(&outlook.wdl).chain([&outlook.margin]);
            let twins = twin_policy.iter().chain(&twin_wdl).chain([&twin_margin]);
            for (&x, &twin) in ours.zip(twins) {
                assert!((f64::from(x) - twin).abs() < 1e-4, "{x} for {twin} in {position}");
            }
        }
    }
}

#[test]
fn has_the_same_bits_in_any_batch_on_any_kernel() {
    let cases = Variant::ALL.into_iter().cycle().zip(shapes());
    for (seed, (variant, shape)) in cases.enumerate() {
        let weights = lively(shape, variant, seed as u64);
        let positions = random_positions(variant, 300, 100 + seed as u64);
        let expected = evaluated(&mut Mlp::new(&weights), &positions, &[1]);
        let mut order: Vec<usize> = (0..positions.len()).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
        for kernel in Kernel::available() {
            let mut mlp = Mlp::with_kernel(&weights, kernel);
            assert_eq!(mlp.kernel(), kernel.name());
            for i in (1..order.len()).rev() {
                order.swap(i, rng.next_u32() as usize % (i + 1));
            }
            let shuffled: Vec<Position> = order.iter().map(|&i| positions[i]).collect();
            let results = evaluated(&mut mlp, &shuffled, &[1, 7, 64, 2, 33]);
            for (&i, result) in order.iter().zip(&results) {
                let name = kernel.name();
                assert_eq!(bits(result), bits(&expected[i]), "{name}: {}", positions[i]);
            }
        }
    }
}

#[test]
fn a_network_says_the_same_for_ever() {
    // Shards quote the weights' hash alone: these bits may change only with the input version.
    let weights = lively_weights(Variant::Standard, &[64, 32], 1);
    let (policy, outlook) =
        evaluated(&mut Mlp::new(&weights), &[Position::default()], &[1]).swap_remove(0);
    let expected = [1033031817, 1031972112, 1058532930, 1041549386, 1048952664, 1057530963];
    assert_eq!(bits(&(policy[..2].to_vec(), outlook)), expected);
}

#[test]
fn an_untrained_network_hardly_prefers_anything() {
    for variant in Variant::ALL {
        let shape = surakarta_net::Shape::mlp(&[256, 128]).unwrap();
        let weights = Weights::random(shape, variant, 9);
        let positions = random_positions(variant, 100, 9);
        for (policy, outlook) in evaluated(&mut Mlp::new(&weights), &positions, &[16]) {
            let sum: f32 = policy.iter().sum();
            assert!((sum - 1.0).abs() < 1e-5);
            assert!(policy.iter().all(|p| p * (policy.len() as f32) < 2.0), "{policy:?}");
            assert!(outlook.value().abs() < 0.2 && outlook.margin.abs() < 0.5, "{outlook:?}");
        }
    }
}

#[test]
fn another_variant_than_the_networks_is_an_error() {
    for network in Variant::ALL {
        let mut mlp = Mlp::new(&lively_weights(network, &[16], 2));
        for played in Variant::ALL {
            let mut batch = Batch::default();
            for position in [Position::start(network), Position::start(played)] {
                batch.push(position, &position.moves());
            }
            match mlp.evaluate(&mut batch) {
                Ok(()) => assert_eq!(played, network),
                Err(error) => {
                    assert_ne!(played, network);
                    let error = error.to_string();
                    assert!(error.contains(&format!("for the variant {network} ")), "{error}");
                    assert!(error.contains(&format!("one of {played};")), "{error}");
                }
            }
        }
    }
}

#[test]
fn clones_share_nothing_that_changes() {
    let weights = lively_weights(Variant::Standard, &[64], 4);
    let positions = random_positions(Variant::Standard, 50, 4);
    let mut mlp = Mlp::new(&weights);
    let expected = evaluated(&mut mlp, &positions, &[8]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let mut clone = mlp.clone();
            let (positions, expected) = (&positions, &expected);
            scope.spawn(move || assert_eq!(&evaluated(&mut clone, positions, &[5]), expected));
        }
    });
}

#[test]
fn all_logits_are_those_of_legal_moves_and_more() {
    let cases = Variant::ALL.into_iter().cycle().zip(shapes());
    for (variant, shape) in cases {
        let weights = lively(shape, variant, 5);
        let positions = random_positions(variant, 60, 5);
        for (kernel, size) in
            Kernel::available().into_iter().flat_map(|k| [(k, 1), (k, 5), (k, 60)])
        {
            let mut network = Mlp::with_kernel(&weights, kernel);
            let (mut logits, mut all) = (Vec::new(), Vec::new());
            for some in positions.chunks(size) {
                let mut batch = batch(some);
                network.evaluate_all(&mut batch, &mut logits).unwrap();
                assert_eq!(logits.len(), some.len() * variant.moves());
                all.extend((0..some.len()).map(|at| {
                    let logits = logits[at * variant.moves()..][..variant.moves()].to_vec();
                    (batch.policy(at).to_vec(), *batch.outlook(at), logits)
                }));
            }
            let expected = evaluated(&mut network.clone(), &positions, &[7]);
            for ((position, (policy, outlook, logits)), expected) in
                positions.iter().zip(all).zip(expected)
            {
                // Softmax of the legal ones, as one long softmax would have it.
                let moves = position.moves();
                let index = |&mv| policy_index(variant, mv, position.side_to_move()).unwrap();
                let legal: Vec<f32> = moves.iter().map(|mv| logits[index(mv)]).collect();
                let most = legal.iter().copied().fold(f32::MIN, f32::max);
                let sum: f32 = legal.iter().map(|x| (x - most).exp()).sum();
                for (p, x) in policy.iter().zip(&legal) {
                    assert!((p - (x - most).exp() / sum).abs() < 1e-5, "{position}");
                }
                assert_eq!(bits(&(policy, outlook)), bits(&expected), "{position}");
                assert!(logits.iter().all(|&x| x != 0.0));
            }
        }
    }
}

#[test]
fn weights_that_overflow_are_an_error() {
    let shapes = [Shape::mlp(&[16]), Shape::mlp(&[32, 16]), Shape::conv(1, 16)];
    for (shape, head) in shapes.into_iter().flat_map(|s| {
        let shape = s.unwrap();
        ["policy", "wdl", "margin"].map(|head| (shape.clone(), head))
    }) {
        let weights = lively(shape.clone(), Variant::Standard, 3);
        let tensors = weights.tensors().map(|(name, dims, data)| {
            let huge = name.starts_with(head) && name.ends_with("weight");
            let data = data.iter().map(|x| if huge { x.signum() * 3e38 } else { *x }).collect();
            (name.to_owned(), dims.to_vec(), data)
        });
        let tensors: Vec<_> = tensors.collect();
        let weights = Weights::from_tensors(shape, Variant::Standard, "huge", tensors).unwrap();
        let quantised = QuantisedWeights::new(&weights).ok();
        let networks = [Some(Network::new(&weights)), quantised.map(|q| Network::quantised(&q))];
        for network in networks.into_iter().flatten() {
            let mut batch = batch(&random_positions(Variant::Standard, 40, 3));
            let error = network.evaluator().evaluate(&mut batch).unwrap_err().to_string();
            assert!(error.contains("says NaN or infinity of the position "), "{head}: {error}");
        }
    }
}
