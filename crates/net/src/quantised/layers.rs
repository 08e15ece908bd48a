//! A quantised network's layers, laid out for inference, and the arithmetic of one evaluation.

use std::marker::PhantomData;
use std::ops::Range;

use surakarta_game::{Color, Move, Variant};

use super::integers::{BLOCK, Integers, QUADS, SHORTS, Shorts, Signed, Units};
use super::weights::{Linear, QuantisedWeights};
use super::{LEVELS, weights};
use crate::answer::{PolicyHead, answer};
use crate::evaluator::Batch;
use crate::hidden::TOGETHER;
use crate::inputs::{MAX_INPUTS, bits, inputs, list};
use crate::lanes::{LANES, Lanes, larger};

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

/// One row of weights for each input, in panels of a [`BLOCK`] of units: input after input of the first
/// panel, then those of the second, …
#[derive(Debug)]
struct First {
    inputs: usize,
    bias: Vec<Shorts>,
    rows: Vec<[Shorts; 2]>,
    shift: i16,
}

/// One row for each four inputs, in such panels: the four weights of the first output, those of the
/// second, …
#[derive(Debug)]
struct Later {
    /// Whether it adds to the layer below.
    adds: bool,
    quads: usize,
    rows: Vec<[Signed; 4]>,
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

/// What evaluations write on their way.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// For each place in the batch, with Black and with White to move.
    kept: Vec<[Kept; 2]>,
    changes: Vec<Changes>,
    /// The layer below and the one at hand, one row after another.
    units: [Vec<Units>; 2],
    /// For each position the fours of units below that are not all 0, and how many there are.
    quads: Vec<Vec<u16>>,
    counts: [usize; TOGETHER],
    logits: Vec<Lanes>,
}

/// Inputs that come and go, and how many.
#[derive(Clone, Debug)]
struct Changes {
    added: [u16; MAX_INPUTS],
    removed: [u16; MAX_INPUTS],
    counts: [usize; 2],
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

    /// The logits of all moves for each of the positions that a scratch was last used for.
    #[inline(always)]
    pub(super) fn all_logits<I: Integers>(&self, scratch: &Scratch, logits: &mut [f32]) {
        let width = self.policy.rows.len() / self.moves();
        let rows = logits.chunks_exact_mut(self.moves());
        for (logits, units) in rows.zip(scratch.units[1].chunks_exact(width)) {
            for output in (0..logits.len()).step_by(4) {
                // The last four may overlap with those before.
                let output = output.min(logits.len() - 4);
                let four = [output, output + 1, output + 2, output + 3];
                logits[output..][..4].copy_from_slice(&self.policy.outputs::<I>(four, units));
            }
        }
    }

    /// The variant that the network plays.
    pub(super) fn variant(&self) -> Variant {
        self.variant
    }

    pub(super) fn scratch(&self) -> Scratch {
        let widths = self.later.iter().map(|layer| layer.width());
        let widest = widths.fold(self.first.width(), usize::max);
        let units = vec![Units::default(); TOGETHER * widest];
        let none = Changes { added: [0; MAX_INPUTS], removed: [0; MAX_INPUTS], counts: [0; 2] };
        Scratch {
            kept: Vec::new(),
            changes: vec![none; TOGETHER],
            units: [units.clone(), units],
            quads: vec![vec![0; (widest + 1) * QUADS]; TOGETHER],
            counts: [0; TOGETHER],
            logits: Vec::new(),
        }
    }

    /// Evaluates the positions of a batch of this variant from one on, so many, at most [`TOGETHER`].
    #[inline(always)]
    pub(super) fn evaluate<I: Integers>(
        &self,
        scratch: &mut Scratch,
        batch: &mut Batch,
        first: usize,
        count: usize,
    ) {
        let Scratch { kept, changes, units: [below, units], quads, counts, .. } = scratch;
        while kept.len() < first + count {
            let fresh = Kept { inputs: [0; WORDS], sums: self.first.bias.clone() };
            kept.push([fresh.clone(), fresh]);
        }
        let kept = &mut kept[first..first + count];
        let mut sides = [0; TOGETHER];
        for (i, kept) in kept.iter_mut().enumerate() {
            let position = batch.position(first + i);
            sides[i] = usize::from(position.side_to_move() == Color::White);
            self.first.change(bits(position), &mut kept[sides[i]], &mut changes[i]);
        }
        let mut width = self.first.width();
        for panel in 0..width {
            for (i, kept) in kept.iter_mut().enumerate() {
                let units = &mut units[i * width + panel];
                self.first.panel::<I>(panel, &changes[i], &mut kept[sides[i]].sums, units);
            }
        }
        for layer in &self.later {
            std::mem::swap(below, units);
            let rows = below.chunks_exact(width).zip(quads.iter_mut()).zip(counts.iter_mut());
            for ((row, quads), listed) in rows.take(count) {
                *listed = list_quads::<I>(row, quads);
            }
            let wide = layer.width();
            for panel in 0..wide {
                for i in 0..count {
                    let below = &below[i * width..][..width];
                    let quads = &quads[i][..counts[i]];
                    layer.panel::<I>(panel, below, quads, &mut units[i * wide + panel]);
                }
            }
            width = wide;
        }
        for i in 0..count {
            self.answer::<I>(scratch, batch, first + i, i * width..(i + 1) * width);
        }
    }

    /// What the heads say of a position, given where its last units are.
    #[inline(always)]
    fn answer<I: Integers>(
        &self,
        scratch: &mut Scratch,
        batch: &mut Batch,
        at: usize,
        units: Range<usize>,
    ) {
        let Scratch { units: [_, all], logits, .. } = scratch;
        let units = &all[units];
        let outcomes = self.outlook.outputs::<I>(units);
        let policy = Above { head: &self.policy, units, integers: PhantomData::<I> };
        answer::<4>(self.variant, outcomes, &policy, batch, at, logits);
    }
}

/// The policy's head above the last units of a position.
struct Above<'a, I> {
    head: &'a Head<Signed>,
    units: &'a [Units],
    integers: PhantomData<I>,
}

impl<I: Integers> PolicyHead<4> for Above<'_, I> {
    #[inline(always)]
    fn logits(&self, _: [Move; 4], indices: [usize; 4]) -> [f32; 4] {
        self.head.outputs::<I>(indices, self.units)
    }
}

impl First {
    fn new(first: &weights::First, inputs: usize) -> First {
        let weights::First { weight, bias, shift } = first;
        let filled = bias.len().next_multiple_of(BLOCK);
        let row = |(panel, input): (usize, usize)| -> [Shorts; 2] {
            std::array::from_fn(|n| {
                Shorts(std::array::from_fn(|i| {
                    let output = panel * BLOCK + n * SHORTS + i;
                    if output < bias.len() { weight[output * inputs + input] } else { 0 }
                }))
            })
        };
        let panels = 0..filled / BLOCK;
        let rows = panels.flat_map(|panel| (0..inputs).map(move |input| (panel, input))).map(row);
        let rows = rows.collect();
        // Half of what the shift drops, so that it rounds.
        let half = 1 << shift >> 1;
        let bias = bias.iter().map(|bias| bias.wrapping_add(half)).collect();
        First { inputs, rows, bias: blocks(bias, Shorts), shift: *shift }
    }

    /// Blocks of units.
    fn width(&self) -> usize {
        self.bias.len() / 2
    }

    /// Says what changes from the inputs that were kept to these, the shorter way, which may be from none.
    #[inline(always)]
    fn change(&self, inputs: [u64; WORDS], kept: &mut Kept, changes: &mut Changes) {
        let (mut now, mut new, mut gone) = (0, [0; WORDS], [0; WORDS]);
        for i in 0..WORDS {
            now += inputs[i].count_ones();
            new[i] = inputs[i] & !kept.inputs[i];
            gone[i] = kept.inputs[i] & !inputs[i];
        }
        let changed: u32 = new.iter().chain(&gone).map(|word| word.count_ones()).sum();
        if now <= changed {
            kept.sums.copy_from_slice(&self.bias);
            changes.counts = [list(inputs, &mut changes.added).len(), 0];
        } else {
            let added = list(new, &mut changes.added).len();
            changes.counts = [added, list(gone, &mut changes.removed).len()];
        }
        kept.inputs = inputs;
    }

    /// Makes the changes to the sums of some units, and writes their activations.
    #[inline(always)]
    fn panel<I: Integers>(
        &self,
        panel: usize,
        changes: &Changes,
        sums: &mut [Shorts],
        units: &mut Units,
    ) {
        let rows = &self.rows[panel * self.inputs..][..self.inputs];
        let kept: &mut [Shorts; 2] = sums[2 * panel..].first_chunk_mut().expect("whole blocks");
        let mut sums = [I::load(&kept[0]), I::load(&kept[1])];
        for &input in &changes.added[..changes.counts[0]] {
            let row = &rows[usize::from(input)];
            sums = [I::plus(sums[0], &row[0]), I::plus(sums[1], &row[1])];
        }
        for &input in &changes.removed[..changes.counts[1]] {
            let row = &rows[usize::from(input)];
            sums = [I::minus(sums[0], &row[0]), I::minus(sums[1], &row[1])];
        }
        I::store(sums[0], &mut kept[0]);
        I::store(sums[1], &mut kept[1]);
        I::clip(sums, self.shift, units);
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
        let row = |(panel, quad): (usize, usize)| -> [Signed; 4] {
            std::array::from_fn(|n| {
                Signed(std::array::from_fn(|i| {
                    weight(panel * BLOCK + n * LANES + i / 4, 4 * quad + i % 4)
                }))
            })
        };
        let panels = 0..filled / BLOCK;
        let rows = panels.flat_map(|panel| (0..quads).map(move |quad| (panel, quad))).map(row);
        let lanes = |numbers: &[f32]| -> Vec<Lanes> {
            let at = |i: usize| numbers.get(i).copied().unwrap_or(0.0);
            (0..filled / LANES).map(|n| Lanes(std::array::from_fn(|i| at(n * LANES + i)))).collect()
        };
        Later {
            adds: false,
            quads,
            rows: rows.collect(),
            scale: lanes(&layer.scale),
            bias: lanes(&layer.bias),
        }
    }

    /// Blocks of units.
    fn width(&self) -> usize {
        self.bias.len() / 4
    }

    /// Some activations from those below; a residual layer is as wide as the one below.
    #[inline(always)]
    fn panel<I: Integers>(&self, panel: usize, below: &[Units], quads: &[u16], units: &mut Units) {
        let rows = &self.rows[panel * self.quads..][..self.quads];
        let mut sums = [I::zero(); 4];
        for &quad in quads {
            let quad = usize::from(quad);
            let row = &rows[quad];
            let quad = I::quad(below[quad / QUADS].quad(quad % QUADS));
            for n in 0..4 {
                sums[n] = I::plus_quads(sums[n], &row[n], quad);
            }
        }
        for (n, sum) in sums.into_iter().enumerate() {
            let (scale, bias) = (&self.scale[4 * panel + n], &self.bias[4 * panel + n]);
            let mut levels = quantised(I::sums(sum), scale, bias);
            if self.adds {
                let below = below[panel].sixteen(n);
                for (level, below) in levels.iter_mut().zip(below) {
                    *level = (*level + below).min(LEVELS as u8);
                }
            }
            *units.sixteen_mut(n) = levels;
        }
    }
}

/// Lists the fours that are not all 0 and returns how many there are.
#[inline(always)]
fn list_quads<I: Integers>(units: &[Units], quads: &mut [u16]) -> usize {
    let mut count = 0;
    for (i, block) in units.iter().enumerate() {
        let places = quads[count..].first_chunk_mut().expect("room for one block more");
        count += I::list_quads(block, (i * QUADS) as u16, places);
    }
    count
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
