//! A tower's layers, laid out for inference, and the arithmetic of one evaluation.

use std::marker::PhantomData;

use surakarta_game::board::GRID;
use surakarta_game::{Color, Move, Variant};

use super::geometry::{Taps, point_of_grid};
use super::sums::{Dense, Layer, Rows};
use crate::answer::{PolicyHead, answer};
use crate::evaluator::Batch;
use crate::inputs::{MAX_INPUTS, POINT_STATES, active, mover_move};
use crate::lanes::{LANES, Lanes, larger};
use crate::shape::{MOVE_CHANNELS, Trunk};
use crate::vector::Vector;
use crate::weights::Weights;

/// Everything that evaluations only read.
#[derive(Debug)]
pub(super) struct Layers {
    variant: Variant,
    channels: usize,
    stem: Stem,
    blocks: Vec<Block>,
    /// What each point says as the origin of a move, then as its target.
    ends: Layer,
    /// By policy index.
    move_bias: Vec<f32>,
    value: Dense,
    /// Win, draw, loss, margin.
    outlook: Dense,
    point_of_grid: [u8; GRID],
}

/// The first layer: its inputs are 0 or 1, and most are 0.
#[derive(Debug)]
struct Stem {
    /// The points that see a point, each with the tap through which it does.
    seen_by: Vec<Vec<(u8, u8)>>,
    /// By group and tap.
    weights: Rows,
    /// The inputs that belong to no point, and the bias.
    globals: Dense,
    bias: Vec<Lanes>,
}

/// y = ReLU(first * x), x ← ReLU(x + second * y + pool · [mean y, max y]).
#[derive(Debug)]
struct Block {
    first: Layer,
    second: Layer,
    pool: Dense,
}

/// What one evaluation writes on its way.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    inputs: [u16; MAX_INPUTS],
    x: Rows,
    y: Rows,
    ends: Rows,
    pooled: Vec<Lanes>,
    whole: Vec<Lanes>,
    logits: Vec<Lanes>,
}

/// Tensors by name.
struct Tensors<'a>(&'a Weights);

impl Tensors<'_> {
    fn get(&self, name: &str) -> &[f32] {
        self.0.tensor(name).expect("weights have all tensors")
    }

    /// A convolution: weight (out, in, taps) and bias.
    fn layer(&self, name: &str, taps: Taps, inputs: usize) -> Layer {
        let (weight, bias) =
            (self.get(&format!("{name}.weight")), self.get(&format!("{name}.bias")));
        let n = taps.len();
        Layer::new(taps, inputs, bias, |tap, input, output| {
            weight[(output * inputs + input) * n + tap]
        })
    }

    /// Weights (out, in) with these biases.
    fn dense(&self, names: &[&str], bias: &[f32]) -> Dense {
        let weight: Vec<f32> =
            names.iter().flat_map(|name| self.get(&format!("{name}.weight")).to_vec()).collect();
        let inputs = weight.len() / bias.len();
        Dense::new(inputs, bias, |input, output| weight[output * inputs + input])
    }

    fn biases(&self, names: &[&str]) -> Vec<f32> {
        names.iter().flat_map(|name| self.get(&format!("{name}.bias")).to_vec()).collect()
    }
}

impl Layers {
    /// Of weights whose trunk is a tower; none for others.
    pub(super) fn new(weights: &Weights) -> Option<Layers> {
        let (variant, tensors) = (weights.variant(), Tensors(weights));
        let channels = match weights.shape().trunk() {
            Trunk::Mlp(_) => return None,
            Trunk::Conv(conv) => conv.channels(),
            Trunk::Circuit(circuit) => circuit.channels(),
        };
        let none = vec![0.0; channels];
        let pool = |i: usize| tensors.dense(&[&format!("block.{i}.pool")], &none);
        let board = |name: String| tensors.layer(&name, Taps::board(variant), channels);
        let blocks = match weights.shape().trunk() {
            Trunk::Mlp(_) => Vec::new(),
            Trunk::Conv(conv) => (0..conv.blocks())
                .map(|i| Block {
                    first: board(format!("block.{i}.first")),
                    second: board(format!("block.{i}.second")),
                    pool: pool(i),
                })
                .collect(),
            Trunk::Circuit(circuit) => (0..circuit.blocks())
                .map(|i| Block {
                    first: both(&tensors, i, variant, channels, circuit.reach()),
                    second: tensors.layer(
                        &format!("block.{i}.mix"),
                        Taps::point(variant),
                        channels,
                    ),
                    pool: pool(i),
                })
                .collect(),
        };
        let ends = ["policy.from", "policy.to"].map(|end| tensors.get(&format!("{end}.weight")));
        let outlook = ["wdl", "margin"];
        Some(Layers {
            variant,
            channels,
            stem: Stem::new(&tensors, variant, channels),
            blocks,
            ends: Layer::new(
                Taps::point(variant),
                channels,
                &tensors.biases(&["policy.from", "policy.to"]),
                |_, input, output| {
                    ends[output / MOVE_CHANNELS][output % MOVE_CHANNELS * channels + input]
                },
            ),
            move_bias: tensors.get("policy.bias").to_vec(),
            value: tensors.dense(&["value"], tensors.get("value.bias")),
            outlook: tensors.dense(&outlook, &tensors.biases(&outlook)),
            point_of_grid: point_of_grid(variant),
        })
    }

    /// The variant that the network plays.
    pub(super) fn variant(&self) -> Variant {
        self.variant
    }

    pub(super) fn scratch(&self) -> Scratch {
        let rows = |layer: fn(&Block) -> &Layer| {
            let rows = self.blocks.iter().map(|block| layer(block).rows()).max();
            rows.unwrap_or(0).max(self.ends.rows())
        };
        Scratch {
            inputs: [0; MAX_INPUTS],
            x: Rows::new(rows(|block| &block.first), self.channels),
            y: Rows::new(rows(|block| &block.second), self.channels),
            ends: Rows::new(self.variant.points(), 2 * MOVE_CHANNELS),
            pooled: vec![Lanes::splat(0.0); 2 * self.channels / LANES],
            whole: vec![Lanes::splat(0.0); self.channels / LANES],
            logits: Vec::new(),
        }
    }

    /// Evaluates one position of a batch, of this variant. `BLOCK`
    /// vectors of channels are summed at once; no bit of the result depends on it.
    #[inline(always)]
    pub(super) fn evaluate<V: Vector, const BLOCK: usize>(
        &self,
        scratch: &mut Scratch,
        batch: &mut Batch,
        at: usize,
    ) {
        let Scratch { inputs, x, y, ends, pooled, whole, logits } = scratch;
        let points = self.variant.points();
        self.stem.apply(active(batch.position(at), inputs), points, x, whole);
        for block in &self.blocks {
            block.first.prepare(x);
            block.first.sum::<V, BLOCK>(x, None, |row, lane, sum| {
                y.row_mut(row)[lane] = sum.relu();
            });
            pool(y, points, pooled);
            block.pool.apply::<V>(pooled, whole, false);
            block.second.sum::<V, BLOCK>(y, Some(whole), |row, lane, sum| {
                let x = &mut x.row_mut(row)[lane];
                *x = sum.plus(x).relu();
            });
        }

        pool(x, points, pooled);
        self.value.apply::<V>(pooled, whole, true);
        let mut said = [Lanes::splat(0.0)];
        self.outlook.apply::<V>(whole, &mut said, false);
        let [win, draw, loss, margin, ..] = said[0].0;
        let outcomes = [win, draw, loss, margin];

        self.ends.sum::<V, BLOCK>(x, None, |row, lane, sum| ends.row_mut(row)[lane] = sum.lanes());
        let side = batch.position(at).side_to_move();
        let policy = Ends { layers: self, ends, side, vector: PhantomData::<V> };
        answer::<1>(self.variant, outcomes, &policy, batch, at, logits);
    }
}

/// The policy's head above what each point says.
struct Ends<'a, V> {
    layers: &'a Layers,
    ends: &'a Rows,
    side: Color,
    vector: PhantomData<V>,
}

impl<V: Vector> PolicyHead<1> for Ends<'_, V> {
    #[inline(always)]
    fn logits(&self, [mv]: [Move; 1], [index]: [usize; 1]) -> [f32; 1] {
        let seen = mover_move(self.layers.variant, mv, self.side);
        let point_of_grid = &self.layers.point_of_grid;
        let from = self.ends.row(point_of_grid[seen.from().index()] as usize);
        let to = self.ends.row(point_of_grid[seen.to().index()] as usize);
        let half = MOVE_CHANNELS / LANES;
        let mut sum = V::start(&Lanes::splat(0.0));
        for (from, to) in from[..half].iter().zip(&to[half..]) {
            sum = sum.plus_product(from, to);
        }
        [sum.lanes().sum() + self.layers.move_bias[index]]
    }
}

/// The first layer of a `circuit` block: 3×3 points and the circuits, as one.
fn both(tensors: &Tensors, block: usize, variant: Variant, channels: usize, reach: usize) -> Layer {
    let name = |part: &str| format!("block.{block}.{part}");
    let board = tensors.get(&name("board.weight"));
    let circuit = tensors.get(&name("circuit.weight"));
    let taps = Taps::board_and_circuits(variant, reach);
    let walked = taps.len() - 9;
    let bias = tensors.get(&name("board.bias"));
    Layer::new(taps, channels, bias, |tap, input, output| {
        let row = output * channels + input;
        match tap.checked_sub(9) {
            None => board[row * 9 + tap],
            Some(tap) => circuit[row * walked + tap],
        }
    })
}

impl Stem {
    fn new(tensors: &Tensors, variant: Variant, channels: usize) -> Stem {
        let size = variant.size() as isize;
        let on_board = |rank: isize, file: isize| {
            ((0..size).contains(&rank) && (0..size).contains(&file))
                .then_some((rank * size + file) as u8)
        };
        // A tap that looks one up sees this point from the one below.
        let seen_by = (0..size * size).map(|point| {
            let taps = (-1..=1).flat_map(|rank| (-1..=1).map(move |file| (rank, file)));
            let seen_from = taps.enumerate().filter_map(|(tap, (rank, file))| {
                Some((tap as u8, on_board(point / size - rank, point % size - file)?))
            });
            seen_from.collect()
        });
        let weight = tensors.get("stem.weight");
        let mut weights = Rows::new(POINT_STATES * 9, channels);
        for row in 0..POINT_STATES * 9 {
            for (lane, lanes) in weights.row_mut(row).iter_mut().enumerate() {
                let of = |i: usize| weight[(lane * LANES + i) * POINT_STATES * 9 + row];
                *lanes = Lanes(std::array::from_fn(of));
            }
        }
        let bias = tensors.get("stem.bias");
        Stem {
            seen_by: seen_by.collect(),
            weights,
            globals: tensors.dense(&["globals"], &vec![0.0; channels]),
            bias: bias.as_chunks().0.iter().map(|&lanes| Lanes(lanes)).collect(),
        }
    }

    /// The channels of every point for these inputs, which are ascending.
    #[inline(always)]
    fn apply(&self, inputs: &[u16], points: usize, x: &mut Rows, alike: &mut [Lanes]) {
        let on_points = POINT_STATES * points;
        let split = inputs.partition_point(|&input| (input as usize) < on_points);
        let (here, everywhere) = inputs.split_at(split);
        alike.copy_from_slice(&self.bias);
        for &input in everywhere {
            self.globals.add_row(input as usize - on_points, alike);
        }
        for point in 0..points {
            x.row_mut(point).copy_from_slice(alike);
        }
        for &input in here {
            let (group, point) = (input as usize / points, input as usize % points);
            for &(tap, from) in &self.seen_by[point] {
                let weights = self.weights.row(group * 9 + tap as usize);
                for (x, &weights) in x.row_mut(from as usize).iter_mut().zip(weights) {
                    *x = x.plus(weights);
                }
            }
        }
        for point in 0..points {
            x.row_mut(point).iter_mut().for_each(|x| *x = x.map(|x| larger(x, 0.0)));
        }
    }
}

/// Mean, then maximum, of each channel over the points.
#[inline(always)]
fn pool(rows: &Rows, points: usize, pooled: &mut [Lanes]) {
    let (mean, most) = pooled.split_at_mut(pooled.len() / 2);
    mean.copy_from_slice(rows.row(0));
    most.copy_from_slice(rows.row(0));
    for point in 1..points {
        for ((mean, most), &x) in mean.iter_mut().zip(&mut *most).zip(rows.row(point)) {
            *mean = mean.plus(x);
            *most = most.zip(x, larger);
        }
    }
    let share = 1.0 / points as f32;
    mean.iter_mut().for_each(|x| *x = x.map(|x| x * share));
}
