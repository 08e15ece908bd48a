//! A network's layers, laid out for inference, and the arithmetic of one evaluation.

use surakarta_game::{Move, Position, Variant};

use crate::evaluator::Outlook;
use crate::inputs::{MAX_INPUTS, active, policy_index};
use crate::lanes::{LANES, Lanes, softmax};
use crate::shape::MlpShape;
use crate::vector::Vector;
use crate::weights::Weights;

/// Everything that evaluations only read.
#[derive(Debug)]
pub(crate) struct Layers {
    variant: Variant,
    hidden: Vec<Hidden>,
    policy: Head,
    /// Win, draw, loss, margin.
    outlook: Head,
}

/// A hidden layer by its inputs: one row of weights for each, so that an input which is 0 costs
/// nothing.
#[derive(Debug)]
struct Hidden {
    /// Whether it adds to the layer below.
    adds: bool,
    bias: Vec<Lanes>,
    rows: Vec<Lanes>,
}

/// An output layer by its outputs: one row of weights for each, so that an output which nobody asks
/// for costs nothing.
#[derive(Debug)]
struct Head {
    bias: Vec<f32>,
    rows: Vec<Lanes>,
}

/// What one evaluation writes on its way.
#[derive(Clone, Debug)]
pub(crate) struct Scratch {
    inputs: [u16; MAX_INPUTS],
    /// The hidden layer at hand.
    units: Vec<Lanes>,
    /// Its units above 0, ascending, and their values.
    active: Vec<u16>,
    values: Vec<f32>,
    logits: Vec<Lanes>,
}

impl Layers {
    /// `weights` are those of this shape.
    pub(crate) fn new(mlp: &MlpShape, weights: &Weights) -> Layers {
        let tensor = |name: String| weights.tensor(&name).expect("weights have all tensors");
        let linear =
            |layer: &str| (tensor(format!("{layer}.weight")), tensor(format!("{layer}.bias")));
        let mut hidden = Vec::new();
        for (i, &width) in mlp.hidden().iter().enumerate() {
            let (weight, bias) = linear(&format!("hidden.{i}"));
            let inputs = weight.len() / width;
            let turned: Vec<f32> = (0..inputs)
                .flat_map(|input| (0..width).map(move |unit| weight[unit * inputs + input]))
                .collect();
            hidden.push(Hidden { adds: mlp.adds(i), bias: vectors(bias), rows: vectors(&turned) });
        }
        let head = |layers: &[&str]| Head {
            bias: layers.iter().flat_map(|layer| linear(layer).1.to_vec()).collect(),
            rows: layers.iter().flat_map(|layer| vectors(linear(layer).0)).collect(),
        };
        Layers {
            variant: weights.variant(),
            hidden,
            policy: head(&["policy"]),
            outlook: head(&["wdl", "margin"]),
        }
    }

    /// How many moves have a logit.
    pub(crate) fn moves(&self) -> usize {
        self.policy.bias.len()
    }

    /// Adds the last hidden layer of the evaluation that a scratch was last used for to a list.
    pub(crate) fn keep_units(&self, scratch: &Scratch, list: &mut Vec<Lanes>) {
        list.extend_from_slice(&scratch.units[..self.policy.rows.len() / self.moves()]);
    }

    /// The logits of all moves for each of some last hidden layers, one row after another.
    #[inline(always)]
    pub(crate) fn all_logits<V: Vector, const POSITIONS: usize>(
        &self,
        units: &[Lanes],
        logits: &mut [f32],
    ) {
        self.policy.all::<V, POSITIONS>(units, logits);
    }

    /// The variant that the network plays.
    pub(crate) fn variant(&self) -> Variant {
        self.variant
    }

    pub(crate) fn scratch(&self) -> Scratch {
        let widest = self.hidden.iter().map(|layer| layer.bias.len()).max().unwrap_or(0);
        Scratch {
            inputs: [0; MAX_INPUTS],
            units: vec![Lanes::splat(0.0); widest],
            active: vec![0; (widest + 1) * LANES],
            values: vec![0.0; (widest + 1) * LANES],
            logits: Vec::new(),
        }
    }

    /// Evaluates one position of this variant: probabilities of the moves, and the outlook. `BLOCK` vectors of a
    /// hidden layer and `OUTPUTS` moves (4, 8 or 16) are summed at once, as registers
    /// allow; no bit of the result depends on them.
    #[inline(always)]
    pub(crate) fn evaluate<V: Vector, const BLOCK: usize, const OUTPUTS: usize>(
        &self,
        scratch: &mut Scratch,
        position: &Position,
        moves: &[Move],
        policy: &mut [f32],
        outlook: &mut Outlook,
    ) {
        let Scratch { inputs, units, active: indices, values, logits } = scratch;

        let (first, later) = self.hidden.split_first().expect("a network has hidden layers");
        first.sum_rows::<V, BLOCK>(active(position, inputs), units, |sum, row, _| sum.plus(row));
        let mut width = first.bias.len();
        for layer in later {
            let count = list_active::<V>(&units[..width], indices, values);
            let values = &values[..count];
            layer.sum_rows::<V, BLOCK>(&indices[..count], units, |sum, row, i| {
                sum.plus_scaled(row, values[i])
            });
            width = layer.bias.len();
        }
        let units = &units[..width];

        let [win, draw, loss, margin] = self.outlook.outputs::<V, 4>([0, 1, 2, 3], units);
        let mut wdl = [Lanes::splat(f32::NEG_INFINITY)];
        wdl[0].0[..3].copy_from_slice(&[win, draw, loss]);
        softmax(&mut wdl);
        *outlook = Outlook { wdl: [wdl[0].0[0], wdl[0].0[1], wdl[0].0[2]], margin };

        let side = position.side_to_move();
        let index =
            |mv: Move| policy_index(self.variant, mv, side).expect("batches hold legal moves only");
        logits.clear();
        for some in moves.chunks(LANES) {
            let mut lanes = Lanes::splat(f32::NEG_INFINITY);
            for (few, logits) in some.chunks(OUTPUTS).zip(lanes.0.chunks_mut(OUTPUTS)) {
                let last = few.len() - 1;
                let mut outputs = [0; OUTPUTS];
                for (i, output) in outputs.iter_mut().enumerate() {
                    *output = index(few[i.min(last)]);
                }
                let outputs = self.policy.outputs::<V, OUTPUTS>(outputs, units);
                for (logit, output) in logits.iter_mut().zip(outputs).take(few.len()) {
                    *logit = output;
                }
            }
            logits.push(lanes);
        }
        softmax(logits);
        for (some, lanes) in policy.chunks_mut(LANES).zip(&*logits) {
            some.copy_from_slice(&lanes.0[..some.len()]);
        }
    }
}

impl Hidden {
    /// ReLU of the bias plus the rows of the active inputs, one after another, each added by `add`
    /// (sum, row, place in the list). A residual layer finds the layer below in `output`, and adds to
    /// it.
    #[inline(always)]
    fn sum_rows<V: Vector, const BLOCK: usize>(
        &self,
        active: &[u16],
        output: &mut [Lanes],
        add: impl Fn(V, &Lanes, usize) -> V,
    ) {
        let width = self.bias.len();
        let output = &mut output[..width];
        let mut start = 0;
        while width - start >= BLOCK {
            self.sum_block::<V, BLOCK>(start, active, output, &add);
            start += BLOCK;
        }
        while width - start >= 4 {
            self.sum_block::<V, 4>(start, active, output, &add);
            start += 4;
        }
        while start < width {
            self.sum_block::<V, 1>(start, active, output, &add);
            start += 1;
        }
    }

    #[inline(always)]
    fn sum_block<V: Vector, const BLOCK: usize>(
        &self,
        start: usize,
        active: &[u16],
        output: &mut [Lanes],
        add: &impl Fn(V, &Lanes, usize) -> V,
    ) {
        let width = self.bias.len();
        let bias: &[Lanes; BLOCK] = block(&self.bias[start..]);
        let mut sums = [V::start(&bias[0]); BLOCK];
        for n in 1..BLOCK {
            sums[n] = V::start(&bias[n]);
        }
        for (i, &input) in active.iter().enumerate() {
            let row: &[Lanes; BLOCK] = block(&self.rows[input as usize * width + start..]);
            for n in 0..BLOCK {
                sums[n] = add(sums[n], &row[n], i);
            }
        }
        for (output, sum) in output[start..].iter_mut().zip(sums) {
            *output = if self.adds { output.plus(sum.relu()) } else { sum.relu() };
        }
    }
}

impl Head {
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

impl Head {
    /// All outputs for each row of units below: the same bits as [`Head::outputs`], in an order that
    /// loads less. Weights of some outputs at a time stay in the first cache.
    #[inline(always)]
    fn all<V: Vector, const POSITIONS: usize>(&self, units: &[Lanes], results: &mut [f32]) {
        const CACHED: usize = 16 * 1024;
        let outputs = self.bias.len();
        let width = self.rows.len() / outputs;
        let positions = units.len() / width;
        let some = (CACHED / size_of::<Lanes>() / width).next_multiple_of(4);
        for first in (0..outputs).step_by(some) {
            let last = outputs.min(first + some);
            let mut at = 0;
            while at < positions {
                for output in (first..last).step_by(4) {
                    // The last four may overlap with those before.
                    let output = output.min(outputs - 4);
                    if positions - at >= POSITIONS {
                        self.tile::<V, POSITIONS>(at, output, units, results);
                    } else {
                        self.tile::<V, 1>(at, output, units, results);
                    }
                }
                at += if positions - at >= POSITIONS { POSITIONS } else { 1 };
            }
        }
    }

    /// Four outputs of some positions.
    #[inline(always)]
    fn tile<V: Vector, const POSITIONS: usize>(
        &self,
        at: usize,
        output: usize,
        units: &[Lanes],
        results: &mut [f32],
    ) {
        let outputs = self.bias.len();
        let width = self.rows.len() / outputs;
        let rows = &self.rows[output * width..][..4 * width];
        let units = &units[at * width..][..POSITIONS * width];
        let zero = V::part(&Lanes::splat(0.0), 0);
        let mut parts = [[[zero; 2]; 4]; POSITIONS];
        for part in 0..V::PARTS {
            let mut sums = [[zero; 4]; POSITIONS];
            for i in 0..width {
                let mut x = [zero; POSITIONS];
                for (n, x) in x.iter_mut().enumerate() {
                    *x = V::part(&units[n * width + i], part);
                }
                for k in 0..4 {
                    let row = V::part(&rows[k * width + i], part);
                    for (sums, x) in sums.iter_mut().zip(x) {
                        sums[k] = V::part_plus_product(sums[k], row, x);
                    }
                }
            }
            for (parts, sums) in parts.iter_mut().zip(sums) {
                for (parts, sum) in parts.iter_mut().zip(sums) {
                    parts[part] = sum;
                }
            }
        }
        let bias = &self.bias[output..][..4];
        for (n, parts) in parts.into_iter().enumerate() {
            let [a, b, c, d] = parts;
            let four = [V::of_parts(a), V::of_parts(b), V::of_parts(c), V::of_parts(d)];
            let results = &mut results[(at + n) * outputs + output..][..4];
            for ((result, total), bias) in results.iter_mut().zip(V::totals(four)).zip(bias) {
                *result = total + bias;
            }
        }
    }
}

/// Lists the units above 0, ascending, with their values, and returns how many there are.
#[inline(always)]
fn list_active<V: Vector>(units: &[Lanes], active: &mut [u16], values: &mut [f32]) -> usize {
    let room = "the lists have room for one vector more than there are units";
    let mut count = 0;
    for (i, unit) in units.iter().enumerate() {
        let places = active[count..].first_chunk_mut().expect(room);
        let values = values[count..].first_chunk_mut().expect(room);
        count += V::list_positive(unit, (i * LANES) as u16, places, values);
    }
    count
}

#[inline(always)]
fn block<const BLOCK: usize>(lanes: &[Lanes]) -> &[Lanes; BLOCK] {
    lanes.first_chunk().expect("a row has whole blocks")
}

fn vectors(numbers: &[f32]) -> Vec<Lanes> {
    let (chunks, rest) = numbers.as_chunks();
    assert!(rest.is_empty(), "widths are whole vectors");
    chunks.iter().map(|&lanes| Lanes(lanes)).collect()
}
