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
