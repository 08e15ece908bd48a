//! A network's layers, laid out for inference, and the arithmetic of one evaluation.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::OnceLock;

use surakarta_game::{Move, Variant};

use crate::answer::{PolicyHead, answer};
use crate::evaluator::Batch;
use crate::hidden::{Active, Hidden, TOGETHER};
use crate::inputs::{MAX_INPUTS, active};
use crate::lanes::{LANES, Lanes};
use crate::shape::MlpShape;
use crate::vector::Vector;
use crate::weights::Weights;

/// Everything that evaluations only read.
#[derive(Debug)]
pub(crate) struct Layers {
    variant: Variant,
    hidden: Vec<Hidden>,
    policy: Head,
    /// The policy's head by its inputs, for the logits of all moves, if somebody has asked for them.
    all: OnceLock<Hidden>,
    /// Win, draw, loss, margin.
    outlook: Head,
}

/// An output layer by its outputs: one row of weights for each, so that an output which nobody asks
/// for costs nothing.
#[derive(Debug)]
struct Head {
    bias: Vec<f32>,
    rows: Vec<Lanes>,
}

/// What evaluations write on their way.
#[derive(Clone, Debug)]
pub(crate) struct Scratch {
    inputs: [u16; MAX_INPUTS],
    /// What is not 0 below the layer at hand.
    active: Active,
    /// The units of the layer at hand, one row after another.
    units: Vec<Lanes>,
    /// The logits of all moves, likewise.
    outputs: Vec<Lanes>,
    logits: Vec<Lanes>,
}

impl Layers {
    /// `weights` are those of this shape.
    pub(crate) fn new(mlp: &MlpShape, weights: &Weights) -> Layers {
        let tensor = |name: String| weights.tensor(&name).expect("weights have all tensors");
        let linear =
            |layer: &str| (tensor(format!("{layer}.weight")), tensor(format!("{layer}.bias")));
        let mut hidden = Vec::new();
        for i in 0..mlp.hidden().len() {
            let (weight, bias) = linear(&format!("hidden.{i}"));
            hidden.push(Hidden::new(weight, bias, mlp.adds(i)));
        }
        let head = |layers: &[&str]| Head {
            bias: layers.iter().flat_map(|layer| linear(layer).1.to_vec()).collect(),
            rows: layers.iter().flat_map(|layer| vectors(linear(layer).0)).collect(),
        };
        Layers {
            variant: weights.variant(),
            hidden,
            policy: head(&["policy"]),
            all: OnceLock::new(),
            outlook: head(&["wdl", "margin"]),
        }
    }

    /// How many moves have a logit.
    pub(crate) fn moves(&self) -> usize {
        self.policy.bias.len()
    }

    /// The variant that the network plays.
    pub(crate) fn variant(&self) -> Variant {
        self.variant
    }

    pub(crate) fn scratch(&self) -> Scratch {
        let widest = self.hidden.iter().map(|layer| layer.width()).max().unwrap_or(0);
        Scratch {
            inputs: [0; MAX_INPUTS],
            active: Active::new(MAX_INPUTS.max(widest * LANES)),
            units: vec![Lanes::splat(0.0); TOGETHER * widest],
            outputs: Vec::new(),
            logits: Vec::new(),
        }
    }

    /// Evaluates the positions of a batch of this variant from one on, so many, at most [`TOGETHER`].
    /// `PANELS` of a hidden layer's vectors and `OUTPUTS` moves (4, 8 or 16) are summed at once, as
    /// registers allow; no bit of the result depends on them.
    #[inline(always)]
    pub(crate) fn evaluate<V: Vector, const PANELS: usize, const OUTPUTS: usize>(
        &self,
        scratch: &mut Scratch,
        batch: &mut Batch,
        first: usize,
        count: usize,
    ) {
        let Scratch { inputs, active: listed, units, .. } = scratch;
        for i in 0..count {
            listed.list(i, active(batch.position(first + i), inputs));
        }
        let (lowest, later) = self.hidden.split_first().expect("a network has hidden layers");
        let mut width = lowest.width();
        lowest.forward::<V, PANELS, false, true>(listed, &mut units[..count * width]);
        for layer in later {
            for (i, units) in units[..count * width].chunks_exact(width).enumerate() {
                listed.list_positive::<V>(i, units);
            }
            width = layer.width();
            layer.forward::<V, PANELS, true, true>(listed, &mut units[..count * width]);
        }
        for i in 0..count {
            self.answer::<V, OUTPUTS>(scratch, batch, first + i, i * width..(i + 1) * width);
        }
    }

    /// The logits of all moves for each of the positions that a scratch was last used for, one row after
    /// another: one more layer over the units that are not 0. Sums have another order than those of
    /// legal moves.
    #[inline(always)]
    pub(crate) fn all_logits<V: Vector, const PANELS: usize>(
        &self,
        scratch: &mut Scratch,
        logits: &mut [f32],
    ) {
        let layer = self.all.get_or_init(|| self.policy.turned());
        let Scratch { active, units, outputs, .. } = scratch;
        let below = self.policy.rows.len() / self.moves();
        let count = logits.len() / self.moves();
        for (i, units) in units[..count * below].chunks_exact(below).enumerate() {
            active.list_positive::<V>(i, units);
        }
        let width = layer.width();
        outputs.resize(TOGETHER * width, Lanes::splat(0.0));
        layer.forward::<V, PANELS, true, false>(active, &mut outputs[..count * width]);
        for (logits, row) in logits.chunks_exact_mut(self.moves()).zip(outputs.chunks_exact(width))
        {
            for (logits, row) in logits.chunks_mut(LANES).zip(row) {
                logits.copy_from_slice(&row.0[..logits.len()]);
            }
        }
    }

    /// What the heads say of a position, given where its last units are.
    #[inline(always)]
    fn answer<V: Vector, const OUTPUTS: usize>(
        &self,
        scratch: &mut Scratch,
        batch: &mut Batch,
        at: usize,
        units: Range<usize>,
    ) {
        let Scratch { units: all, logits, .. } = scratch;
        let units = &all[units];
        let outcomes = self.outlook.outputs::<V, 4>([0, 1, 2, 3], units);
        let policy = Above { head: &self.policy, units, vector: PhantomData::<V> };
        answer::<OUTPUTS>(self.variant, outcomes, &policy, batch, at, logits);
    }
}

/// The policy's head above the last units of a position.
struct Above<'a, V> {
    head: &'a Head,
    units: &'a [Lanes],
    vector: PhantomData<V>,
}

impl<V: Vector, const N: usize> PolicyHead<N> for Above<'_, V> {
    #[inline(always)]
    fn logits(&self, _: [Move; N], indices: [usize; N]) -> [f32; N] {
        self.head.outputs::<V, N>(indices, self.units)
    }
}

impl Head {
    /// The same head as a layer by its inputs.
    fn turned(&self) -> Hidden {
        let weight: Vec<f32> = self.rows.iter().flat_map(|lanes| lanes.0).collect();
        Hidden::new(&weight, &self.bias, false)
    }

    /// Some of the outputs, a multiple of four, given the units below.
    #[inline(always)]
    fn outputs<V: Vector, const N: usize>(&self, outputs: [usize; N], units: &[Lanes]) -> [f32; N] {
        let width = units.len();
        let mut rows = [&self.rows[..0]; N];
        for (row, output) in rows.iter_mut().zip(outputs) {
            *row = &self.rows[output * width..][..width];
        }
        let mut sums = [V::start(&Lanes::splat(0.0)); N];
        for (i, unit) in units.iter().enumerate() {
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum = sum.plus_product(&row[i], unit);
            }
        }
        let mut results = [0.0; N];
        for (four, results) in sums.as_chunks().0.iter().zip(results.as_chunks_mut().0) {
            *results = V::totals(*four);
        }
        for (result, output) in results.iter_mut().zip(outputs) {
            *result += self.bias[output];
        }
        results
    }
}

fn vectors(numbers: &[f32]) -> Vec<Lanes> {
    let (chunks, rest) = numbers.as_chunks();
    assert!(rest.is_empty(), "widths are whole vectors");
    chunks.iter().map(|&lanes| Lanes(lanes)).collect()
}
