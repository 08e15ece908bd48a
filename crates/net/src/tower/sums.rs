//! The sums of a layer: for every point, over all taps and channels.

use super::geometry::Taps;
use crate::lanes::{LANES, Lanes};
use crate::vector::Vector;

/// Vectors of channels, one row after another.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Vectors of a row.
    width: usize,
    lanes: Vec<Lanes>,
}

impl Rows {
    /// So many rows of so many channels, all 0.
    pub(super) fn new(rows: usize, channels: usize) -> Rows {
        let width = channels / LANES;
        Rows { width, lanes: vec![Lanes::splat(0.0); rows * width] }
    }

    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &[Lanes] {
        &self.lanes[row * self.width..][..self.width]
    }

    #[inline(always)]
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [Lanes] {
        &mut self.lanes[row * self.width..][..self.width]
    }

    /// Fills the rows after the points and the one that is 0 with the sums of pairs of points.
    #[inline(always)]
    pub(super) fn add_up(&mut self, taps: &Taps) {
        let first = taps.size() * taps.size() + 1;
        for (i, pair) in taps.sums().iter().enumerate() {
            for lane in 0..self.width {
                let [a, b] = pair.map(|row| self.lanes[row as usize * self.width + lane]);
                self.lanes[(first + i) * self.width + lane] = a.plus(b);
            }
        }
    }
}

/// A linear function of what each point sees, the same for all points.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    taps: Taps,
    /// Channels that come in.
    inputs: usize,
    bias: Vec<Lanes>,
    /// By vector of channels going out, then by tap, then by channel coming in.
    weights: Vec<Lanes>,
}

impl Layer {
    /// `weight` (tap, channel coming in, channel going out) as a function.
    pub(super) fn new(
        taps: Taps,
        inputs: usize,
        bias: &[f32],
        weight: impl Fn(usize, usize, usize) -> f32,
    ) -> Layer {
        let outputs = bias.len();
        let mut weights = Vec::with_capacity(taps.len() * inputs * outputs / LANES);
        for output in (0..outputs).step_by(LANES) {
            for (tap, input) in (0..taps.len()).flat_map(|t| (0..inputs).map(move |i| (t, i))) {
                weights.push(Lanes(std::array::from_fn(|i| weight(tap, input, output + i))));
            }
        }
        let bias = bias.chunks(LANES).map(|some| Lanes(std::array::from_fn(|i| some[i])));
        Layer { taps, inputs, bias: bias.collect(), weights }
    }

    /// Rows that its input must have: the points, one that is 0, and sums.
    pub(super) fn rows(&self) -> usize {
        self.taps.size() * self.taps.size() + 1 + self.taps.sums().len()
    }

    /// Makes the points in the rows of an input ready for [`sum`](Layer::sum).
    #[inline(always)]
    pub(super) fn prepare(&self, input: &mut Rows) {
        input.add_up(&self.taps);
    }

    /// Computes every point and hands each vector of each row to `done` (row going out, vector of the
    /// row, sum), which starts at the bias plus `more`. `BLOCK` vectors of channels are summed at once,
    /// as registers allow; no bit depends on it.
    #[inline(always)]
    pub(super) fn sum<V: Vector, const BLOCK: usize>(
        &self,
        input: &Rows,
        more: Option<&[Lanes]>,
        mut done: impl FnMut(usize, usize, V),
    ) {
        let width = self.bias.len();
        let mut start = 0;
        while width - start >= BLOCK {
            self.sum_lanes::<V, BLOCK>(input, more, start, &mut done);
            start += BLOCK;
        }
        while start < width {
            self.sum_lanes::<V, 1>(input, more, start, &mut done);
            start += 1;
        }
    }

    #[inline(always)]
    fn sum_lanes<V: Vector, const BLOCK: usize>(
        &self,
        input: &Rows,
        more: Option<&[Lanes]>,
        start: usize,
        done: &mut impl FnMut(usize, usize, V),
    ) {
        let size = self.taps.size();
        for rank in 0..size {
            let first = rank * size;
            // A rank of six points fits in registers as a whole, one of seven does not.
            if size == 6 {
                self.sum_points::<V, BLOCK, 6>(input, more, start, first, done);
            } else {
                self.sum_points::<V, BLOCK, 4>(input, more, start, first, done);
                self.sum_points::<V, BLOCK, 3>(input, more, start, first + 4, done);
            }
        }
    }

    #[inline(always)]
    fn sum_points<V: Vector, const BLOCK: usize, const POINTS: usize>(
        &self,
        input: &Rows,
        more: Option<&[Lanes]>,
        start: usize,
        first: usize,
        done: &mut impl FnMut(usize, usize, V),
    ) {
        let begin: [V; BLOCK] = std::array::from_fn(|lane| {
            let begin = V::start(&self.bias[start + lane]);
            more.map_or(begin, |more| begin.plus(&more[start + lane]))
        });
        let mut sums = [begin; POINTS];
        let vectors = self.inputs / LANES;
        let taps = self.taps.len();
        for tap in 0..taps {
            let Some(rows) = self.taps.rows::<POINTS>(tap, first) else { continue };
            let rows: [&[Lanes]; POINTS] =
                std::array::from_fn(|n| &input.row(rows[n] as usize)[..vectors]);
            let weights: [&[Lanes]; BLOCK] = std::array::from_fn(|lane| {
                &self.weights[((start + lane) * taps + tap) * self.inputs..][..self.inputs]
            });
            for vector in 0..vectors {
                let factors: [&Lanes; POINTS] = std::array::from_fn(|n| &rows[n][vector]);
                let weights: [&[Lanes; LANES]; BLOCK] = std::array::from_fn(|lane| {
                    weights[lane][vector * LANES..].first_chunk().expect("whole vectors")
                });
                for channel in 0..LANES {
                    for (sums, factors) in sums.iter_mut().zip(&factors) {
                        for (sum, weights) in sums.iter_mut().zip(&weights) {
                            *sum = sum.plus_scaled(&weights[channel], factors.0[channel]);
                        }
                    }
                }
            }
        }
        for (point, sums) in sums.into_iter().enumerate() {
            for (lane, sum) in sums.into_iter().enumerate() {
                done(first + point, start + lane, sum);
            }
        }
    }
}

/// A linear function of one vector.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    bias: Vec<Lanes>,
    /// By input: the weights of all outputs.
    rows: Vec<Lanes>,
}

impl Dense {
    /// `weight` (input, output) as a function; outputs are filled up with zeros to whole vectors.
    pub(super) fn new(inputs: usize, bias: &[f32], weight: impl Fn(usize, usize) -> f32) -> Dense {
        let filled = |output: usize, f: &dyn Fn(usize) -> f32| {
            Lanes(std::array::from_fn(
                |i| if output + i < bias.len() { f(output + i) } else { 0.0 },
            ))
        };
        let starts = || (0..bias.len()).step_by(LANES);
        let rows = (0..inputs)
            .flat_map(|input| starts().map(move |output| (input, output)))
            .map(|(input, output)| filled(output, &|output| weight(input, output)));
        Dense {
            rows: rows.collect(),
            bias: starts().map(|output| filled(output, &|output| bias[output])).collect(),
        }
    }

    /// The outputs for these inputs.
    #[inline(always)]
    pub(super) fn apply<V: Vector>(&self, inputs: &[Lanes], outputs: &mut [Lanes], relu: bool) {
        let width = self.bias.len();
        for (lane, output) in outputs[..width].iter_mut().enumerate() {
            let mut sum = V::start(&self.bias[lane]);
            for (i, inputs) in inputs.iter().enumerate() {
                for (j, &input) in inputs.0.iter().enumerate() {
                    sum = sum.plus_scaled(&self.rows[(i * LANES + j) * width + lane], input);
                }
            }
            *output = if relu { sum.relu() } else { sum.lanes() };
        }
    }

    /// Adds the weights of an input that is 1.
    #[inline(always)]
    pub(super) fn add_row(&self, input: usize, outputs: &mut [Lanes]) {
        let width = self.bias.len();
        for (output, weights) in outputs.iter_mut().zip(&self.rows[input * width..][..width]) {
            *output = output.plus(*weights);
        }
    }
}
