//! How f32 weights become those of a quantised network: the same ones on any machine.
//!
//! 1. The f32 network sees the positions of [`GAMES`] random games of the variant with a fixed seed. The
//!    largest activation of each hidden layer is what 127 stands for; one step is a 127th of it. Layers
//!    that are added to each other have one step.
//! 2. In the first layer, a weight is a multiple of step / 2^shift, with the largest shift for which no
//!    sum can leave sixteen bits whatever the position. If even shift 0 is too fine, the step grows.
//! 3. In later layers and heads, each output has a scale of its own: its largest weight becomes ±127, in
//!    the outlook's heads the largest for which no sum can leave 32 bits, at most ±32767.
//!
//! All is rounded to the nearest, computed in f64 and in a fixed order.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use surakarta_game::{Game, OLYMPIAD, Position};

use super::weights::{First, Linear, QuantisedWeights};
use super::{LEVELS, most_outlook_weight};
use crate::inputs::{MAX_INPUTS, active, inputs};
use crate::shape::{MlpShape, Trunk};
use crate::weights::Weights;

/// Random games that the activations are measured in.
const GAMES: usize = 32;

/// A network cannot be quantised.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unquantisable {
    /// Its shape has no quantised inference.
    #[error("only networks of kind mlp can be quantised, and this is {0}")]
    Shape(String),
    /// No step fits a layer, or a scale or bias is beyond f32 in its steps.
    #[error(
        "a layer's weights are too large, or too small beside its biases, to be quantised; train it with more weight decay"
    )]
    TooLarge,
}

impl QuantisedWeights {
    /// Quantises weights; auxiliary heads are left out. The note becomes `quantised from HASH: NOTE`.
    ///
    /// # Errors
    /// If they are not those of a fully connected network, or beyond all bounds.
    pub fn new(weights: &Weights) -> Result<QuantisedWeights, Unquantisable> {
        let (shape, variant) = (weights.shape(), weights.variant());
        let Trunk::Mlp(mlp) = shape.trunk() else {
            return Err(Unquantisable::Shape(shape.describe(variant)));
        };
        let mut steps = steps(mlp, &activations(mlp, weights));
        let first = first(mlp, weights, &mut steps).ok_or(Unquantisable::TooLarge)?;
        let later = (1..steps.len()).map(|i| {
            linear(weights, &format!("hidden.{i}"), steps[i - 1], 1.0 / steps[i], LEVELS.into())
        });
        let last = steps[steps.len() - 1];
        let most = most_outlook_weight(mlp.last());
        let outlook = |name: &str| wide(linear(weights, name, last, 1.0, most));
        let quantised = QuantisedWeights {
            first,
            hidden: later.map(narrow).collect(),
            policy: narrow(linear(weights, "policy", last, 1.0, LEVELS.into())),
            wdl: outlook("wdl"),
            margin: outlook("margin"),
            shape: shape.clone().with_heads([]),
            variant,
            source: format!("quantised from {}: {}", weights.hash(), weights.source()),
        };
        // All but the scales is within its bounds by the scheme.
        quantised.check().map_err(|_| Unquantisable::TooLarge)?;
        Ok(quantised)
    }
}

fn tensor<'a>(weights: &'a Weights, name: &str, part: &str) -> &'a [f32] {
    weights.tensor(&format!("{name}.{part}")).expect("weights have all tensors")
}

/// The largest activation of each hidden layer in random games.
fn activations(mlp: &MlpShape, weights: &Weights) -> Vec<f64> {
    let variant = weights.variant();
    let mut most = vec![0.0f64; mlp.hidden().len()];
    let layers: Vec<Dense> = (0..most.len()).map(|i| Dense::hidden(weights, i)).collect();
    let mut buffer = [0; MAX_INPUTS];
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    for _ in 0..GAMES {
        let mut game = Game::from_position(OLYMPIAD, Position::start(variant));
        while game.result().is_none() {
            let mut below = vec![0.0; inputs(variant)];
            for &input in active(game.position(), &mut buffer) {
                below[usize::from(input)] = 1.0;
            }
            for (i, (most, layer)) in most.iter_mut().zip(&layers).enumerate() {
                let mut units = layer.activations(&below);
                if mlp.adds(i) {
                    units.iter_mut().zip(&below).for_each(|(unit, below)| *unit += below);
                }
                *most = units.iter().copied().fold(*most, f64::max);
                below = units;
            }
            let moves = game.position().moves();
            game.play_legal(moves[rng.next_u32() as usize % moves.len()]);
        }
    }
    most
}

/// A layer by its inputs, of which most are 0.
struct Dense<'a> {
    bias: &'a [f32],
    /// For each input, what it adds to each unit.
    columns: Vec<f64>,
}

impl<'a> Dense<'a> {
    fn hidden(weights: &'a Weights, layer: usize) -> Dense<'a> {
        let name = format!("hidden.{layer}");
        let (weight, bias) = (tensor(weights, &name, "weight"), tensor(weights, &name, "bias"));
        let inputs = weight.len() / bias.len();
        let column = |input| weight.iter().skip(input).step_by(inputs).map(|&w| f64::from(w));
        Dense { bias, columns: (0..inputs).flat_map(column).collect() }
    }

    fn activations(&self, below: &[f64]) -> Vec<f64> {
        let mut sums: Vec<f64> = self.bias.iter().map(|&bias| bias.into()).collect();
        let columns = self.columns.chunks_exact(sums.len()).zip(below);
        for (column, &x) in columns.filter(|(_, x)| **x != 0.0) {
            sums.iter_mut().zip(column).for_each(|(sum, weight)| *sum += weight * x);
        }
        sums.iter_mut().for_each(|sum| *sum = sum.max(0.0));
        sums
    }
}

/// What a difference of 1 between activations stands for in each layer.
fn steps(mlp: &MlpShape, most: &[f64]) -> Vec<f64> {
    let mut steps: Vec<f64> =
        most.iter().map(|&most| if most > 0.0 { most / f64::from(LEVELS) } else { 1.0 }).collect();
    // A layer's step is that of the topmost one that is added to it, which has the largest activations.
    for i in (1..steps.len()).rev() {
        if mlp.adds(i) {
            steps[i - 1] = steps[i - 1].max(steps[i]);
        }
    }
    for i in 1..steps.len() {
        if mlp.adds(i) {
            steps[i] = steps[i - 1];
        }
    }
    steps
}

/// The first layer, or `None` if no step fits; the steps of this layer and those added to it may grow.
fn first(mlp: &MlpShape, weights: &Weights, steps: &mut [f64]) -> Option<First> {
    let variant = weights.variant();
    let (weight, bias) =
        (tensor(weights, "hidden.0", "weight"), tensor(weights, "hidden.0", "bias"));
    for shift in (0..=8).rev() {
        let unit = steps[0] / f64::from(1 << shift);
        if let Some(first) = First::rounded(weight, bias, unit, shift)
            && first.reach(variant) <= i16::MAX.into()
        {
            return Some(first);
        }
    }
    for _ in 0..64 {
        steps[0] *= 2.0;
        for i in 1..steps.len() {
            if mlp.adds(i) {
                steps[i] = steps[i - 1];
            } else {
                break;
            }
        }
        if let Some(first) = First::rounded(weight, bias, steps[0], 0)
            && first.reach(variant) <= i16::MAX.into()
        {
            return Some(first);
        }
    }
    None
}

impl First {
    /// Weights as multiples of a unit, unless one leaves sixteen bits.
    fn rounded(weight: &[f32], bias: &[f32], unit: f64, shift: i16) -> Option<First> {
        let round = |x: &f32| {
            let x = (f64::from(*x) / unit).round_ties_even();
            (x.abs() <= i16::MAX.into()).then_some(x as i16)
        };
        Some(First {
            weight: weight.iter().map(round).collect::<Option<_>>()?,
            bias: bias.iter().map(round).collect::<Option<_>>()?,
            shift,
        })
    }
}

/// A layer whose inputs have this step: the largest weight of each output becomes `most`. What comes out
/// is multiplied by `gain`.
fn linear(weights: &Weights, name: &str, step: f64, gain: f64, most: i64) -> Linear<i64> {
    let (weight, bias) = (tensor(weights, name, "weight"), tensor(weights, name, "bias"));
    let mut layer = Linear { weight: Vec::new(), scale: Vec::new(), bias: Vec::new() };
    for (row, &bias) in weight.chunks_exact(weight.len() / bias.len()).zip(bias) {
        let largest = row.iter().map(|w| f64::from(w.abs())).fold(0.0, f64::max);
        let unit = if largest > 0.0 { largest / most as f64 } else { 1.0 };
        let rounded = row.iter().map(|&w| (f64::from(w) / unit).round_ties_even() as i64);
        layer.weight.extend(rounded.map(|w| w.clamp(-most, most)));
        layer.scale.push((unit * step * gain) as f32);
        layer.bias.push((f64::from(bias) * gain) as f32);
    }
    layer
}

fn narrow(layer: Linear<i64>) -> Linear<i8> {
    let Linear { weight, scale, bias } = layer;
    Linear { weight: weight.into_iter().map(|w| w as i8).collect(), scale, bias }
}

fn wide(layer: Linear<i64>) -> Linear<i16> {
    let Linear { weight, scale, bias } = layer;
    Linear { weight: weight.into_iter().map(|w| w as i16).collect(), scale, bias }
}
