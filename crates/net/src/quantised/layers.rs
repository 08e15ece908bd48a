//! A quantised network's layers, laid out for inference, and the arithmetic of one evaluation.

use surakarta_game::{Color, Move, Position, Variant};

use super::integers::{BLOCK, Integers, QUADS, SHORTS, Shorts, Signed, Units};
use super::weights::{Linear, QuantisedWeights};
use super::{LEVELS, weights};
use crate::evaluator::Outlook;
use crate::inputs::{MAX_INPUTS, bits, inputs, list, policy_index};
use crate::lanes::{LANES, Lanes, larger, softmax};

const WORDS: usize = MAX_INPUTS.div_ceil(64);

/// Everything that evaluations only read. Widths are filled up to whole blocks with units that stay 0.
#[derive(Debug)]
pub(super) struct Layers {
    variant: Variant,
    first: First,
    later: Vec<Later>,
    policy: Head<Signed>,
    /// Win, draw, loss, margin.
    outlook: Head<Shorts>,
}

/// One row of weights for each input.
#[derive(Debug)]
struct First {
    bias: Vec<Shorts>,
    rows: Vec<Shorts>,
    shift: i16,
}

/// One row for each four inputs: the four weights of the first output, those of the second, …
#[derive(Debug)]
struct Later {
    /// Whether it adds to the layer below.
    adds: bool,
    rows: Vec<Signed>,
    scale: Vec<Lanes>,
    bias: Vec<Lanes>,
}

/// One row for each output.
#[derive(Debug)]
struct Head<Row> {
    rows: Vec<Row>,
    scale: Vec<f32>,
    bias: Vec<f32>,
}

/// What one evaluation writes on its way.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// For each place in the batch, with Black and with White to move.
    kept: Vec<[Kept; 2]>,
    changed: [[u16; MAX_INPUTS]; 2],
    /// The layer below and the one at hand.
    units: [Vec<Units>; 2],
    /// Fours of units that are not all 0.
    quads: Vec<u16>,
    logits: Vec<Lanes>,
}

/// The first layer's sums for some inputs.
#[derive(Clone, Debug)]
struct Kept {
    inputs: [u64; WORDS],
    sums: Vec<Shorts>,
}

impl Layers {
    pub(super) fn new(weights: &QuantisedWeights) -> Layers {
        let mlp = weights.mlp();
        let widths = mlp.hidden();
        let later = weights.hidden.iter().enumerate().map(|(i, layer)| {
            let inputs = widths[i];
            Later { adds: mlp.adds(i + 1), ..Later::new(layer, inputs) }
        });
        let last = mlp.last();
        let (wdl, margin) = (&weights.wdl, &weights.margin);
        Layers {
            variant: weights.variant,
            first: First::new(&weights.first, inputs(weights.variant)),
            later: later.collect(),
            policy: Head {
                rows: rows(&weights.policy.weight, last, Signed),
                scale: weights.policy.scale.clone(),
                bias: weights.policy.bias.clone(),
            },
            outlook: Head {
                rows: rows(&[&wdl.weight[..], &margin.weight].concat(), last, Shorts),
                scale: [&wdl.scale[..], &margin.scale].concat(),
                bias: [&wdl.bias[..], &margin.bias].concat(),
            },
        }
    }

    /// How many moves have a logit.
    pub(super) fn moves(&self) -> usize {
        self.policy.bias.len()
    }

    /// The logits of all moves, after an evaluation with this scratch.
    #[inline(always)]
    pub(super) fn all_logits<I: Integers>(&self, scratch: &Scratch, logits: &mut [f32]) {
        let width = self.policy.rows.len() / self.moves();
        let units = &scratch.units[1][..width];
        for output in (0..logits.len()).step_by(4) {
            // The last four may overlap with those before.
            let output = output.min(logits.len() - 4);
            let four = [output, output + 1, output + 2, output + 3];
            logits[output..][..4].copy_from_slice(&self.policy.outputs::<I>(four, units));
        }
    }

    /// The variant that the network plays.
    pub(super) fn variant(&self) -> Variant {
        self.variant
    }

    pub(super) fn scratch(&self) -> Scratch {
        let first = self.first.bias.len() * SHORTS / BLOCK;
        let later = self.later.iter().map(|layer| layer.bias.len() * LANES / BLOCK);
        let widest = later.fold(first, usize::max);
        let units = vec![Units::default(); widest];
        Scratch {
            kept: Vec::new(),
            changed: [[0; MAX_INPUTS]; 2],
            units: [units.clone(), units],
            quads: vec![0; (widest + 1) * QUADS],
            logits: Vec::new(),
        }
    }

    /// Evaluates one position of this variant, the one at this place of its batch: probabilities of the
    /// moves, and the outlook.
    #[inline(always)]
    pub(super) fn evaluate<I: Integers, const WIDE: usize>(
        &self,
        scratch: &mut Scratch,
        at: usize,
        position: &Position,
        moves: &[Move],
        policy: &mut [f32],
        outlook: &mut Outlook,
    ) {
        let Scratch { kept, changed, units: [below, units], quads, logits } = scratch;
        while kept.len() <= at {
            let fresh = Kept { inputs: [0; WORDS], sums: self.first.bias.clone() };
            kept.push([fresh.clone(), fresh]);
        }
        let side = position.side_to_move();
        let kept = &mut kept[at][usize::from(side == Color::White)];

        self.first.update::<I, WIDE>(bits(position), kept, changed, units);
        for layer in &self.later {
            std::mem::swap(below, units);
            layer.forward::<I, WIDE>(below, units, quads);
        }
        let width = self.policy.rows.len() / self.policy.bias.len();
        let units = &units[..width];

        let outcomes = self.outlook.outputs::<I>(units);
        let mut wdl = [Lanes::splat(f32::NEG_INFINITY)];
        wdl[0].0[..3].copy_from_slice(&outcomes[..3]);
        softmax(&mut wdl);
        *outlook = Outlook { wdl: [wdl[0].0[0], wdl[0].0[1], wdl[0].0[2]], margin: outcomes[3] };

        let index =
            |mv: Move| policy_index(self.variant, mv, side).expect("batches hold legal moves only");
        logits.clear();
        for some in moves.chunks(LANES) {
            let mut lanes = Lanes::splat(f32::NEG_INFINITY);
            for (few, logits) in some.chunks(4).zip(lanes.0.chunks_mut(4)) {
                let last = few.len() - 1;
                let mut outputs = [0; 4];
                for (i, output) in outputs.iter_mut().enumerate() {
                    *output = index(few[i.min(last)]);
                }
                let outputs = self.policy.outputs::<I>(outputs, units);
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

impl First {
    fn new(first: &weights::First, inputs: usize) -> First {
        let weights::First { weight, bias, shift } = first;
        let column =
            |input: usize| weight.chunks_exact(inputs).map(move |row| row[input]).collect();
        let turned = (0..inputs).flat_map(|input| blocks(column(input), Shorts));
        // Half of what the shift drops, so that it rounds.
        let half = 1 << shift >> 1;
        let bias = bias.iter().map(|bias| bias.wrapping_add(half)).collect();
        First { rows: turned.collect(), bias: blocks(bias, Shorts), shift: *shift }
    }

    /// Brings the sums from the inputs that were kept to these, the shorter way, and writes the
    /// activations.
    #[inline(always)]
    fn update<I: Integers, const WIDE: usize>(
        &self,
        inputs: [u64; WORDS],
        kept: &mut Kept,
        changed: &mut [[u16; MAX_INPUTS]; 2],
        units: &mut [Units],
    ) {
        let [added, removed] = changed;
        let (mut now, mut new, mut gone) = (0, [0; WORDS], [0; WORDS]);
        for i in 0..WORDS {
            now += inputs[i].count_ones();
            new[i] = inputs[i] & !kept.inputs[i];
            gone[i] = kept.inputs[i] & !inputs[i];
        }
        let changes: u32 = new.iter().chain(&gone).map(|word| word.count_ones()).sum();
        let anew = now <= changes;
        let (added, removed) = match anew {
            true => (list(inputs, added), &[][..]),
            false => (list(new, added), list(gone, removed)),
        };
        kept.inputs = inputs;
        if anew {
            kept.sums.copy_from_slice(&self.bias);
        }
        let width = kept.sums.len();
        let mut start = 0;
        while width - start >= WIDE {
            self.block::<I, WIDE>(start, added, removed, &mut kept.sums, units);
            start += WIDE;
        }
        while start < width {
            self.block::<I, 2>(start, added, removed, &mut kept.sums, units);
            start += 2;
        }
    }

    /// Some vectors of the sums, so many that they stay in registers, and an even number.
    #[inline(always)]
    fn block<I: Integers, const N: usize>(
        &self,
        start: usize,
        added: &[u16],
        removed: &[u16],
        sums: &mut [Shorts],
        units: &mut [Units],
    ) {
        let width = sums.len();
        let kept: &mut [Shorts; N] = sums[start..].first_chunk_mut().expect(WHOLE);
        let mut sums = [I::load(&kept[0]); N];
        for n in 1..N {
            sums[n] = I::load(&kept[n]);
        }
        for &input in added {
            let row: &[Shorts; N] = block(&self.rows[input as usize * width + start..]);
            for n in 0..N {
                sums[n] = I::plus(sums[n], &row[n]);
            }
        }
        for &input in removed {
            let row: &[Shorts; N] = block(&self.rows[input as usize * width + start..]);
            for n in 0..N {
                sums[n] = I::minus(sums[n], &row[n]);
            }
        }
        for n in 0..N {
            I::store(sums[n], &mut kept[n]);
        }
        let units = &mut units[start / 2..][..N / 2];
        for (n, units) in units.iter_mut().enumerate() {
            I::clip([sums[2 * n], sums[2 * n + 1]], self.shift, units);
        }
    }
}

impl Later {
    fn new(layer: &Linear<i8>, inputs: usize) -> Later {
        let outputs = layer.bias.len();
        let weight = |output: usize, input: usize| {
            let there = output < outputs && input < inputs;
            if there { layer.weight[output * inputs + input] } else { 0 }
        };
        let filled = outputs.next_multiple_of(BLOCK);
        let quads = inputs.next_multiple_of(BLOCK) / 4;
        let row = |quad: usize| {
            (0..filled).flat_map(move |output| (0..4).map(move |i| (output, 4 * quad + i)))
        };
        let numbers: Vec<i8> =
            (0..quads).flat_map(row).map(|(output, input)| weight(output, input)).collect();
        let lanes = |numbers: &[f32]| -> Vec<Lanes> {
            let at = |i: usize| numbers.get(i).copied().unwrap_or(0.0);
            (0..filled / LANES).map(|n| Lanes(std::array::from_fn(|i| at(n * LANES + i)))).collect()
        };
        Later {
            adds: false,
            rows: blocks(numbers, Signed),
            scale: lanes(&layer.scale),
            bias: lanes(&layer.bias),
        }
    }

    /// Activations from those below; a residual layer is as wide as the one below.
    #[inline(always)]
    fn forward<I: Integers, const WIDE: usize>(
        &self,
        below: &[Units],
        units: &mut [Units],
        quads: &mut [u16],
    ) {
        let width = self.bias.len();
        let inputs = self.rows.len() / width / QUADS;
        let below = &below[..inputs];
        let mut count = 0;
        for (i, block) in below.iter().enumerate() {
            let places = quads[count..].first_chunk_mut().expect("room for one block more");
            count += I::list_quads(block, (i * QUADS) as u16, places);
        }
        let quads = &quads[..count];
        let mut start = 0;
        while width - start >= WIDE {
            self.block::<I, WIDE>(start, below, quads, units);
            start += WIDE;
        }
        while start < width {
            self.block::<I, 4>(start, below, quads, units);
            start += 4;
        }
    }

    /// Some vectors of outputs, so many that their sums stay in registers, and a multiple of four.
    #[inline(always)]
    fn block<I: Integers, const N: usize>(
        &self,
        start: usize,
        below: &[Units],
        quads: &[u16],
        units: &mut [Units],
    ) {
        let width = self.bias.len();
        let mut sums = [I::zero(); N];
        for &quad in quads {
            let quad = usize::from(quad);
            let row: &[Signed; N] = block(&self.rows[quad * width + start..]);
            let quad = I::quad(below[quad / QUADS].quad(quad % QUADS));
            for n in 0..N {
                sums[n] = I::plus_quads(sums[n], &row[n], quad);
            }
        }
        for (n, sum) in sums.into_iter().enumerate() {
            let (block, part) = ((start + n) / 4, (start + n) % 4);
            let (scale, bias) = (&self.scale[start + n], &self.bias[start + n]);
            let mut levels = quantised(I::sums(sum), scale, bias);
            if self.adds {
                let below = below[block].sixteen(part);
                for (level, below) in levels.iter_mut().zip(below) {
                    *level = (*level + below).min(LEVELS as u8);
                }
            }
            *units[block].sixteen_mut(part) = levels;
        }
    }
}

/// The activations nearest to scaled sums, of two the even one.
#[inline(always)]
fn quantised(sums: [i32; LANES], scale: &Lanes, bias: &Lanes) -> [u8; LANES] {
    /// 1.5 · 2²³: adding it rounds to an integer, which then stands in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const MOST: f32 = LEVELS as f32;
    let mut levels = [0; LANES];
    for i in 0..LANES {
        let x = larger(sums[i] as f32 * scale.0[i] + bias.0[i], 0.0);
        let x = if x < MOST { x } else { MOST };
        levels[i] = (x + ROUND).to_bits() as u8;
    }
    levels
}

impl Head<Signed> {
    /// Four of the outputs.
    #[inline(always)]
    fn outputs<I: Integers>(&self, outputs: [usize; 4], units: &[Units]) -> [f32; 4] {
        let width = units.len();
        let mut rows = [&self.rows[..0]; 4];
        for (row, output) in rows.iter_mut().zip(outputs) {
            *row = &self.rows[output * width..][..width];
        }
        let sums = I::dots(rows, units);
        let mut results = [0.0; 4];
        for i in 0..4 {
            results[i] = sums[i] as f32 * self.scale[outputs[i]] + self.bias[outputs[i]];
        }
        results
    }
}

impl Head<Shorts> {
    /// All four outputs.
    #[inline(always)]
    fn outputs<I: Integers>(&self, units: &[Units]) -> [f32; 4] {
        let width = 2 * units.len();
        let mut rows = [&self.rows[..0]; 4];
        for (i, row) in rows.iter_mut().enumerate() {
            *row = &self.rows[i * width..][..width];
        }
        let sums = I::wide_dots(rows, units);
        let mut results = [0.0; 4];
        for i in 0..4 {
            results[i] = sums[i] as f32 * self.scale[i] + self.bias[i];
        }
        results
    }
}

const WHOLE: &str = "a row has whole blocks";

#[inline(always)]
fn block<T, const N: usize>(row: &[T]) -> &[T; N] {
    row.first_chunk().expect(WHOLE)
}

/// Numbers in vectors, filled up with zeros to a whole [`BLOCK`].
fn blocks<T: Copy + Default, const N: usize, Vector>(
    mut numbers: Vec<T>,
    vector: fn([T; N]) -> Vector,
) -> Vec<Vector> {
    numbers.resize(numbers.len().next_multiple_of(BLOCK), T::default());
    numbers.as_chunks().0.iter().map(|&chunk| vector(chunk)).collect()
}

/// Rows of so many numbers, each filled up.
fn rows<T: Copy + Default, const N: usize, Vector>(
    numbers: &[T],
    width: usize,
    vector: fn([T; N]) -> Vector,
) -> Vec<Vector> {
    numbers.chunks_exact(width).flat_map(|row| blocks(row.to_vec(), vector)).collect()
}
