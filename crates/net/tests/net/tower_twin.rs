//! Towers by their definition: nested loops over points, taps and channels, in f64.

use surakarta_game::{Color, Move, Point, Position, Symmetry, Variant};
use surakarta_net::{Trunk, Weights};

use crate::twin::dense_inputs;

/// Channels of each point: `[point][channel]`.
type Board = Vec<Vec<f64>>;

struct Tower<'a>(&'a Weights);

impl Tower<'_> {
    fn tensor(&self, name: &str) -> Vec<f64> {
        self.0.tensor(name).expect("a tensor").iter().map(|&x| f64::from(x)).collect()
    }

    /// W x, without a bias.
    fn product(&self, layer: &str, x: &[f64]) -> Vec<f64> {
        let weight = self.tensor(&format!("{layer}.weight"));
        weight.chunks(x.len()).map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect()
    }

    fn linear(&self, layer: &str, x: &[f64]) -> Vec<f64> {
        sum(&self.product(layer, x), &self.tensor(&format!("{layer}.bias")))
    }

    /// Adds a 3×3 convolution of x to y.
    fn add_board(&self, layer: &str, x: &Board, y: &mut Board) {
        let weight = self.tensor(&format!("{layer}.weight"));
        let size = self.0.variant().size() as i32;
        let inputs = x[0].len();
        for (to, y) in y.iter_mut().enumerate() {
            for (out, y) in y.iter_mut().enumerate() {
                for (rank, file) in (0..3).flat_map(|rank| (0..3).map(move |file| (rank, file))) {
                    let (r, f) = (to as i32 / size + rank - 1, to as i32 % size + file - 1);
                    if !(0..size).contains(&r) || !(0..size).contains(&f) {
                        continue;
                    }
                    for (input, x) in x[(r * size + f) as usize].iter().enumerate() {
                        let at = (out * inputs + input) * 9 + (rank * 3 + file) as usize;
                        *y += weight[at] * x;
                    }
                }
            }
        }
    }

    /// Adds the convolution along both circuits of x to y, stop by stop.
    fn add_circuits(&self, layer: &str, reach: usize, x: &Board, y: &mut Board) {
        let weight = self.tensor(&format!("{layer}.weight"));
        let variant = self.0.variant();
        let (inputs, taps) = (x[0].len(), 2 * reach + 1);
        for circuit in 0..2 {
            let stops: Vec<Point> = variant.circuit(circuit).collect();
            for (at, &stop) in stops.iter().enumerate() {
                let y = &mut y[variant.point_index(stop).expect("a point")];
                for tap in 0..taps {
                    let seen = stops[(at + stops.len() + tap - reach) % stops.len()];
                    let x = &x[variant.point_index(seen).expect("a point")];
                    for (out, y) in y.iter_mut().enumerate() {
                        for (input, x) in x.iter().enumerate() {
                            *y += weight[(out * inputs + input) * taps + tap] * x;
                        }
                    }
                }
            }
        }
    }

    /// A board that says the bias of a layer everywhere.
    fn bias(&self, layer: &str) -> Board {
        vec![self.tensor(&format!("{layer}.bias")); self.0.variant().points()]
    }

    fn stem(&self, position: &Position) -> Board {
        let points = self.0.variant().points();
        let inputs = dense_inputs(position);
        let groups: Board = (0..points)
            .map(|p| (0..11).map(|group| inputs[group * points + p]).collect())
            .collect();
        let mut x = self.bias("stem");
        self.add_board("stem", &groups, &mut x);
        let globals = self.product("globals", &inputs[11 * points..]);
        relu(x.into_iter().map(|x| sum(&x, &globals)).collect())
    }

    fn trunk(&self, position: &Position) -> Board {
        let mut x = self.stem(position);
        let name = |i: usize, part: &str| format!("block.{i}.{part}");
        match self.0.shape().trunk() {
            Trunk::Mlp(_) => panic!("not a tower"),
            Trunk::Conv(conv) => {
                for i in 0..conv.blocks() {
                    let mut y = self.bias(&name(i, "first"));
                    self.add_board(&name(i, "first"), &x, &mut y);
                    let y = relu(y);
                    let mut z = self.bias(&name(i, "second"));
                    self.add_board(&name(i, "second"), &y, &mut z);
                    x = self.end_block(&name(i, "pool"), x, &y, z);
                }
            }
            Trunk::Circuit(circuit) => {
                for i in 0..circuit.blocks() {
                    let mut y = self.bias(&name(i, "board"));
                    self.add_board(&name(i, "board"), &x, &mut y);
                    self.add_circuits(&name(i, "circuit"), circuit.reach(), &x, &mut y);
                    let y = relu(y);
                    let z = y.iter().map(|y| self.linear(&name(i, "mix"), y)).collect();
                    x = self.end_block(&name(i, "pool"), x, &y, z);
                }
            }
        }
        x
    }

    fn end_block(&self, pool: &str, x: Board, y: &Board, z: Board) -> Board {
        let pooled = self.product(pool, &pooled(y));
        relu(x.iter().zip(z).map(|(x, z)| sum(&sum(x, &z), &pooled)).collect())
    }
}

fn sum(x: &[f64], y: &[f64]) -> Vec<f64> {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

fn relu(board: Board) -> Board {
    board.into_iter().map(|x| x.into_iter().map(|x| x.max(0.0)).collect()).collect()
}

/// Means, then maxima.
fn pooled(board: &Board) -> Vec<f64> {
    let channel = |c: usize| board.iter().map(move |x| x[c]);
    let means = (0..board[0].len()).map(|c| channel(c).sum::<f64>() / board.len() as f64);
    means.chain((0..board[0].len()).map(|c| channel(c).fold(f64::MIN, f64::max))).collect()
}

fn softmax(logits: Vec<f64>) -> Vec<f64> {
    let most = logits.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = logits.iter().map(|x| (x - most).exp()).sum();
    logits.iter().map(|x| (x - most).exp() / sum).collect()
}

/// Probabilities of the moves, of win, draw and loss, and the margin.
pub(crate) fn tower_evaluation(
    weights: &Weights,
    position: &Position,
    moves: &[Move],
) -> (Vec<f64>, Vec<f64>, f64) {
    let tower = Tower(weights);
    let variant: Variant = weights.variant();
    let x = tower.trunk(position);
    let value: Vec<f64> =
        tower.linear("value", &pooled(&x)).into_iter().map(|x| x.max(0.0)).collect();
    let bias = tower.tensor("policy.bias");
    let logits = moves.iter().map(|&mv| {
        let flipped = mv.under(variant, Symmetry::FLIP_RANKS);
        let seen = if position.side_to_move() == Color::White { flipped } else { mv };
        let end = |end: &str, point: Point| {
            tower.linear(&format!("policy.{end}"), &x[variant.point_index(point).expect("a point")])
        };
        let (from, to) = (end("from", seen.from()), end("to", seen.to()));
        from.iter().zip(to).map(|(a, b)| a * b).sum::<f64>()
            + bias[variant.move_index(seen).expect("a move of the geometry")]
    });
    let logits = logits.collect();
    (softmax(logits), softmax(tower.linear("wdl", &value)), tower.linear("margin", &value)[0])
}
