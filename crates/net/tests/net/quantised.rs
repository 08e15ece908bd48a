use std::fs;

use surakarta_game::{Position, Variant};
use surakarta_net::{
    Auxiliary, Evaluator, Inference, Kernel, LoadProblem, Mlp, Network, Numbers, Quantised,
    QuantisedWeights, Shape, Trunk, Unquantisable, Weights, policy_index,
};

use crate::mlp::{batch, bits, evaluated, shapes};
use crate::twin::{dense_inputs, lively, lively_weights, policy_place, random_positions};

/// Every shape with one variant or another, and every variant with one shape or another.
fn networks() -> impl Iterator<Item = (Variant, Weights)> {
    let cases = Variant::ALL.into_iter().cycle().zip(shapes()).enumerate();
    cases.map(|(seed, (variant, shape))| (variant, lively(shape, variant, seed as u64)))
}

/// A tensor as plain integers.
fn integers(weights: &QuantisedWeights, name: &str) -> Vec<i64> {
    match numbers(weights, name) {
        Numbers::I8(x) => x.iter().map(|&x| x.into()).collect(),
        Numbers::I16(x) => x.iter().map(|&x| x.into()).collect(),
        Numbers::F32(_) => panic!("{name} holds floats"),
    }
}

fn floats(weights: &QuantisedWeights, name: &str) -> Vec<f32> {
    match numbers(weights, name) {
        Numbers::F32(x) => x.to_vec(),
        _ => panic!("{name} holds integers"),
    }
}

fn numbers<'a>(weights: &'a QuantisedWeights, name: &str) -> Numbers<'a> {
    let tensors = weights.tensors();
    tensors.into_iter().find(|(n, ..)| n == name).unwrap_or_else(|| panic!("no {name}")).2
}

/// The slow twin: the logits of all moves, and win, draw, loss and margin, by the table at
/// [`Quantised`], each product and each sum on its own.
struct Twin {
    first: (Vec<i64>, Vec<i64>, i64),
    later: Vec<(bool, Dense)>,
    heads: [Dense; 3],
}

struct Dense {
    weight: Vec<i64>,
    scale: Vec<f32>,
    bias: Vec<f32>,
}

impl Dense {
    fn of(weights: &QuantisedWeights, name: &str) -> Dense {
        Dense {
            weight: integers(weights, &format!("{name}.weight")),
            scale: floats(weights, &format!("{name}.scale")),
            bias: floats(weights, &format!("{name}.bias")),
        }
    }

    fn outputs(&self, units: &[i64]) -> Vec<f32> {
        let rows = self.weight.chunks_exact(units.len());
        let sums = rows.map(|row| row.iter().zip(units).map(|(w, x)| w * x).sum::<i64>());
        let scaled = sums.zip(self.scale.iter().zip(&self.bias));
        scaled
            .map(|(sum, (scale, bias))| i32::try_from(sum).expect("32 bits") as f32 * scale + bias)
            .collect()
    }
}

impl Twin {
    fn new(weights: &QuantisedWeights) -> Twin {
        let Trunk::Mlp(mlp) = weights.shape().trunk() else { panic!("an mlp") };
        let later = (1..mlp.hidden().len())
            .map(|i| (mlp.adds(i), Dense::of(weights, &format!("hidden.{i}"))));
        Twin {
            first: (
                integers(weights, "hidden.0.weight"),
                integers(weights, "hidden.0.bias"),
                integers(weights, "hidden.0.shift")[0],
            ),
            later: later.collect(),
            heads: ["policy", "wdl", "margin"].map(|name| Dense::of(weights, name)),
        }
    }

    fn outputs(&self, position: &Position) -> [Vec<f32>; 3] {
        let inputs = dense_inputs(position);
        let (weight, bias, shift) = &self.first;
        let half = (1 << shift) / 2;
        let sums = weight.chunks_exact(inputs.len()).zip(bias).map(|(row, bias)| {
            bias + row.iter().zip(&inputs).map(|(w, x)| w * *x as i64).sum::<i64>()
        });
        let mut units: Vec<i64> = sums
            .map(|sum| {
                let rounded = i64::from(i16::try_from(sum + half).expect("16 bits"));
                rounded.div_euclid(1 << shift).clamp(0, 127)
            })
            .collect();
        for (adds, layer) in &self.later {
            let levels = layer.outputs(&units).into_iter().map(|x| {
                if x >= 127.0 {
                    127
                } else if x <= 0.0 {
                    0
                } else {
                    x.round_ties_even() as i64
                }
            });
            units = match adds {
                true => levels.zip(&units).map(|(x, below)| (x + below).min(127)).collect(),
                false => levels.collect(),
            };
        }
        std::array::from_fn(|i| self.heads[i].outputs(&units))
    }
}

#[test]
fn agrees_with_the_slow_twin_to_the_bit() {
    for (variant, weights) in networks() {
        let weights = QuantisedWeights::new(&weights).unwrap();
        let twin = Twin::new(&weights);
        let positions = random_positions(variant, 1_000, 7);
        let results = evaluated(&mut Quantised::new(&weights), &positions, &[32]);
        let mut probabilities = 0;
        for (position, (policy, outlook)) in positions.iter().zip(results) {
            let [logits, wdl, margin] = twin.outputs(position);
            assert_eq!(outlook.margin.to_bits(), margin[0].to_bits(), "{position}");
            // Softmax is the one of the f32 networks and has tests of its own.
            let close = |ours: &[f32], logits: &[f32]| {
                let most = logits.iter().copied().fold(f32::MIN, f32::max);
                let powers: Vec<f64> = logits.iter().map(|x| f64::from(x - most).exp()).collect();
                let sum: f64 = powers.iter().sum();
                for (&ours, power) in ours.iter().zip(powers) {
                    assert!((f64::from(ours) - power / sum).abs() < 1e-6, "{position}");
                }
            };
            close(&outlook.wdl, &wdl);
            let moves = position.moves();
            let legal: Vec<f32> =
                moves.iter().map(|&mv| logits[policy_place(position, mv)]).collect();
            close(&policy, &legal);
            probabilities += policy.len();
        }
        assert!(probabilities > 10_000, "{variant}");
    }
}

#[test]
fn has_the_same_bits_in_any_batch_after_any_other_on_any_kernel() {
    for (seed, (variant, weights)) in networks().enumerate() {
        let weights = QuantisedWeights::new(&weights).unwrap();
        let positions = random_positions(variant, 300, 100 + seed as u64);
        // Each by a network that has seen nothing yet.
        let fresh = Quantised::with_kernel(&weights, Kernel::available()[0]);
        let expected: Vec<_> = positions
            .iter()
            .map(|position| evaluated(&mut fresh.clone(), &[*position], &[1]).swap_remove(0))
            .collect();
        for kernel in Kernel::available() {
            let mut network = Quantised::with_kernel(&weights, kernel);
            assert_eq!(network.kernel(), kernel.name());
            for step in [1, 7, 101] {
                // Neighbours in a game, and positions that have little in common.
                let order: Vec<usize> =
                    (0..positions.len()).map(|i| i * step % positions.len()).collect();
                let shuffled: Vec<Position> = order.iter().map(|&i| positions[i]).collect();
                let results = evaluated(&mut network, &shuffled, &[1, 1, 7, 64, 2, 33]);
                for (&i, result) in order.iter().zip(&results) {
                    let name = kernel.name();
                    assert_eq!(bits(result), bits(&expected[i]), "{name}: {}", positions[i]);
                }
            }
        }
    }
}

#[test]
fn is_close_to_what_it_was_made_from() {
    for (variant, weights) in networks() {
        let quantised = QuantisedWeights::new(&weights).unwrap();
        let positions = random_positions(variant, 1_000, 3);
        let exact = evaluated(&mut Mlp::new(&weights), &positions, &[32]);
        let rounded = evaluated(&mut Quantised::new(&quantised), &positions, &[32]);
        let (mut most, mut sum, mut spread) = (0.0f32, 0.0, 0.0);
        for ((policy, outlook), (rounded, about)) in exact.iter().zip(&rounded) {
            let error = (outlook.value() - about.value()).abs();
            most = most.max(error);
            sum += error;
            spread += (outlook.value() - exact[0].1.value()).abs();
            for (p, q) in policy.iter().zip(rounded) {
                assert!((p - q).abs() < 0.25, "{p} and {q}");
            }
        }
        let (mean, spread) = (sum / positions.len() as f32, spread / positions.len() as f32);
        let shape = weights.shape().describe(variant);
        assert!(mean < 0.03 && most < 0.3, "{shape}: {mean} and {most}, values differ by {spread}");
    }
}

#[test]
fn large_weights_are_given_room() {
    // Sums that sixteen bits do not hold at the step that activations would ask for.
    let shape = Shape::mlp(&[16]).unwrap();
    let weights = lively(shape.clone(), Variant::Standard, 1);
    let tensors = weights.tensors().map(|(name, dims, data)| {
        let data: Vec<f32> = match name {
            // What never happens in a game weighs most: an attacked piece of the mover on every point.
            "hidden.0.weight" => (0..data.len())
                .map(|i| if (72..144).contains(&(i % 436)) { 2e4 } else { data[i] })
                .collect(),
            "hidden.0.bias" => data.iter().map(|_| -2.0e4 * 20.0).collect(),
            _ => data.to_vec(),
        };
        (name.to_owned(), dims.to_vec(), data)
    });
    let tensors: Vec<_> = tensors.collect();
    let weights = Weights::from_tensors(shape, Variant::Standard, "large", tensors).unwrap();
    let quantised = QuantisedWeights::new(&weights).unwrap();
    let positions = random_positions(Variant::Standard, 200, 1);
    let twin = Twin::new(&quantised);
    let results = evaluated(&mut Quantised::new(&quantised), &positions, &[32]);
    for (position, (_, outlook)) in positions.iter().zip(results) {
        assert_eq!(outlook.margin.to_bits(), twin.outputs(position)[2][0].to_bits());
    }
    let dead = Weights::from_tensors(
        weights.shape().clone(),
        Variant::Standard,
        "dead",
        weights
            .tensors()
            .map(|(n, dims, data)| (n.to_owned(), dims.to_vec(), vec![0.0; data.len()])),
    );
    QuantisedWeights::new(&dead.unwrap()).unwrap();
    let tower = Weights::random(Shape::conv(1, 16).unwrap(), Variant::Standard, 1);
    let error = QuantisedWeights::new(&tower).unwrap_err();
    assert!(matches!(error, Unquantisable::Shape(_)), "{error}");
}

#[test]
fn scales_beyond_floats_are_refused() {
    // A nearly dead layer: a bias of −1 is more of its steps than an f32 holds.
    let weights = lively_weights(Variant::Standard, &[32, 16], 1);
    let tensors = weights.tensors().map(|(name, dims, data)| {
        let data = match name {
            "hidden.1.weight" => data.iter().map(|x| x * 1e-40).collect(),
            "hidden.1.bias" => [-1.0, 0.0, 0.0, 0.0].repeat(4),
            _ => data.to_vec(),
        };
        (name.to_owned(), dims.to_vec(), data)
    });
    let tensors: Vec<_> = tensors.collect();
    let shape = weights.shape().clone();
    let weights = Weights::from_tensors(shape, Variant::Standard, "dead", tensors).unwrap();
    assert_eq!(QuantisedWeights::new(&weights), Err(Unquantisable::TooLarge));
}

fn written(weights: &QuantisedWeights) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.safetensors");
    weights.save(&path).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    fs::read(path).unwrap()
}

fn loaded(bytes: &[u8]) -> Result<QuantisedWeights, LoadProblem> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.safetensors");
    fs::write(&path, bytes).unwrap();
    QuantisedWeights::load(&path).map_err(|error| {
        let text = error.to_string();
        assert!(text.contains("q.safetensors") && !text.contains('\n'), "{text}");
        error.problem
    })
}

#[test]
fn come_back_as_they_were_and_damage_is_never_loaded() {
    let auxiliary = Shape::mlp(&[32, 16]).unwrap().with_heads(Auxiliary::ALL);
    let weights = lively(auxiliary, Variant::Standard, 5).with_source("α \"note\"\n");
    let quantised = QuantisedWeights::new(&weights).unwrap();
    assert!(quantised.shape().heads().is_empty());
    let source = format!("quantised from {}: α \"note\"\n", weights.hash());
    assert_eq!(quantised.source(), source);
    assert_ne!(quantised.hash(), weights.hash());
    assert_eq!(quantised.hash(), quantised.clone().with_source("another").hash());

    let file = written(&quantised);
    assert_eq!(loaded(&file).unwrap(), quantised);
    assert_eq!(written(&loaded(&file).unwrap()), file, "equal weights make equal bytes");

    let header = 8 + u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let places = (0..header).chain((header..file.len()).step_by(97));
    for (n, place) in places.enumerate() {
        for flip in [1 << (n % 8), 0xff, 0x20] {
            let mut damaged = file.clone();
            damaged[place] ^= flip;
            // White space between tokens may change without harm.
            if let Ok(read) = loaded(&damaged) {
                assert_eq!(read, quantised, "byte {place} with {flip:#x}");
                assert!(place < header);
            }
        }
        assert!(loaded(&file[..place]).is_err(), "cut at {place}");
    }
}

#[test]
fn the_two_kinds_of_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (f32s, q) = (folder.path().join("w.safetensors"), folder.path().join("q.safetensors"));
    let weights = lively_weights(Variant::Rural, &[32, 16], 1);
    let quantised = QuantisedWeights::new(&weights).unwrap();
    weights.save(&f32s).unwrap();
    quantised.save(&q).unwrap();
    assert!(matches!(Weights::load(&q).unwrap_err().problem, LoadProblem::Quantised));
    let error = QuantisedWeights::load(&f32s).unwrap_err();
    assert!(matches!(error.problem, LoadProblem::NotQuantised), "{error}");
    let position = Position::start(Variant::Rural);
    for (path, hash, expected) in [
        (&f32s, weights.hash(), evaluated(&mut Mlp::new(&weights), &[position], &[1])),
        (&q, quantised.hash(), evaluated(&mut Quantised::new(&quantised), &[position], &[1])),
    ] {
        let network = Network::load_for(path, Variant::Rural).unwrap();
        assert_eq!(network.hash(), hash);
        assert_eq!(evaluated(&mut *network.evaluator(), &[position], &[1]), expected);
        let error = Network::load_for(path, Variant::Standard).unwrap_err();
        assert!(matches!(error.problem, LoadProblem::OtherVariant { .. }), "{error}");
    }
}

#[test]
fn another_variant_than_the_networks_is_an_error() {
    let weights = lively_weights(Variant::Standard, &[16], 2);
    let mut network = Quantised::new(&QuantisedWeights::new(&weights).unwrap());
    network.evaluate(&mut batch(&[Position::start(Variant::Standard)])).unwrap();
    let mixed = [Position::start(Variant::Standard), Position::start(Variant::Rural)];
    let error = network.evaluate(&mut batch(&mixed)).unwrap_err().to_string();
    assert!(error.contains("for the variant standard "), "{error}");
}

#[test]
fn all_logits_are_those_of_legal_moves_and_more() {
    for (variant, weights) in networks() {
        let quantised = QuantisedWeights::new(&weights).unwrap();
        let positions = random_positions(variant, 60, 5);
        for (kernel, size) in
            Kernel::available().into_iter().flat_map(|k| [(k, 1), (k, 5), (k, 60)])
        {
            let mut network = Quantised::with_kernel(&quantised, kernel);
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
                    assert!((p - (x - most).exp() / sum).abs() < 1e-6, "{position}");
                }
                assert_eq!(bits(&(policy, outlook)), bits(&expected), "{position}");
                assert!(logits.iter().all(|&x| x != 0.0));
            }
        }
    }
}
