//! What the auxiliary heads are to learn.

use ndarray::Array2;
use surakarta_game::{Color, Symmetry, points};
use surakarta_net::{Auxiliary, HORIZONS, policy_index};
use surakarta_record::Sample;
use tch::Tensor;

use crate::error::TrainError;

/// The power of the policy's target that [`Auxiliary::SoftPolicy`] learns.
const SOFTENING: f32 = 0.25;

/// The target of an auxiliary head for n samples, as arrays or as tensors, seen by the side to move.
#[derive(Clone, Debug, PartialEq)]
pub enum Target<I, F> {
    /// What is on each point when the game is over, by `point_index` in the mover's view: 0 its own
    /// piece, 1 an enemy piece, 2 nothing: [n, points].
    Occupancy(I),
    /// The opponent's next move: policy indices in the view of the side to move now, and their shares,
    /// 0 in places without a move: [n, r].
    Reply {
        /// The indices.
        moves: I,
        /// The shares; they sum to 1 or, for a sample without a reply, to 0.
        shares: F,
        /// Samples with a reply.
        counted: usize,
    },
    /// [`short_term`] values: [n, horizons].
    ShortTerm(F),
    /// The policy's target to the power of ¼, normalised, in the policy's places: [n, k].
    SoftPolicy(F),
}

impl<I, F> Target<I, F> {
    /// Whose target it is.
    pub const fn head(&self) -> Auxiliary {
        match self {
            Target::Occupancy(_) => Auxiliary::Occupancy,
            Target::Reply { .. } => Auxiliary::Reply,
            Target::ShortTerm(_) => Auxiliary::ShortTerm,
            Target::SoftPolicy(_) => Auxiliary::SoftPolicy,
        }
    }
}

/// The mean of the values that lie ahead, the nearest weighted most: `future` as in
/// [`Sample::future`], where the kth value counts (1 − λ) λ^k and the result at the end all that is
/// left, λ^n. With λ = h / (h + 1) the mean looks h values ahead, were there no end (Wu's
/// KataGoMethods.md, "short-term value targets").
pub fn short_term(future: &[f32], horizon: f32) -> f32 {
    let kept = horizon / (horizon + 1.0);
    let Some((&result, values)) = future.split_last() else {
        return 0.0;
    };
    values.iter().rev().fold(result, |later, value| value + kept * (later - value))
}

/// The target of a head. `policy` is that of the batch.
pub(crate) fn target(
    head: Auxiliary,
    samples: &[Sample],
    policy: &Array2<f32>,
) -> Target<Array2<i64>, Array2<f32>> {
    match head {
        Auxiliary::Occupancy => Target::Occupancy(occupancy(samples)),
        Auxiliary::Reply => reply(samples),
        Auxiliary::ShortTerm => {
            let mut values = Array2::zeros((samples.len(), HORIZONS.len()));
            for (mut row, sample) in values.rows_mut().into_iter().zip(samples) {
                for (value, horizon) in row.iter_mut().zip(HORIZONS) {
                    *value = short_term(&sample.future, horizon);
                }
            }
            Target::ShortTerm(values)
        }
        Auxiliary::SoftPolicy => {
            let mut soft = policy.mapv(|share| share.powf(SOFTENING));
            for mut row in soft.rows_mut() {
                let sum = row.sum();
                if sum > 0.0 {
                    row /= sum;
                }
            }
            Target::SoftPolicy(soft)
        }
    }
}

fn occupancy(samples: &[Sample]) -> Array2<i64> {
    let points_of = samples.first().map_or(0, |sample| sample.position.variant().points());
    let mut classes = Array2::from_elem((samples.len(), points_of), 2);
    for (mut row, sample) in classes.rows_mut().into_iter().zip(samples) {
        let (variant, side) = (sample.position.variant(), sample.position.side_to_move());
        for (class, color) in [(0, side), (1, side.other())] {
            let set = sample.last.pieces(color);
            let seen = match side {
                Color::Black => set,
                Color::White => Symmetry::FLIP_RANKS.set(variant, set),
            };
            for point in points(seen) {
                row[variant.point_index(point).expect("a point of the board")] = class;
            }
        }
    }
    classes
}

fn reply(samples: &[Sample]) -> Target<Array2<i64>, Array2<f32>> {
    // One place at least: reductions over none are errors.
    let width = samples.iter().map(|sample| sample.reply.len()).max().unwrap_or(0).max(1);
    let mut moves = Array2::zeros((samples.len(), width));
    let mut shares = Array2::zeros((samples.len(), width));
    for (row, sample) in samples.iter().enumerate() {
        let (variant, side) = (sample.position.variant(), sample.position.side_to_move());
        for (place, &(mv, share)) in sample.reply.iter().enumerate() {
            if let Some(index) = policy_index(variant, mv, side) {
                moves[[row, place]] = index as i64;
                shares[[row, place]] = share;
            }
        }
    }
    let counted = samples.iter().filter(|sample| !sample.reply.is_empty()).count();
    Target::Reply { moves, shares, counted }
}

impl Target<Array2<i64>, Array2<f32>> {
    /// The target on a device.
    pub(crate) fn to_tensors(
        &self,
        device: tch::Device,
    ) -> Result<Target<Tensor, Tensor>, TrainError> {
        let integers = |array: &Array2<i64>| Tensor::try_from(array)?.f_to_device(device);
        let floats = |array: &Array2<f32>| Tensor::try_from(array)?.f_to_device(device);
        Ok(match self {
            Target::Occupancy(classes) => Target::Occupancy(integers(classes)?),
            Target::Reply { moves, shares, counted } => Target::Reply {
                moves: integers(moves)?,
                shares: floats(shares)?,
                counted: *counted,
            },
            Target::ShortTerm(values) => Target::ShortTerm(floats(values)?),
            Target::SoftPolicy(shares) => Target::SoftPolicy(floats(shares)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use surakarta_game::{Move, Point, Position, Variant};
    use surakarta_net::mover_move;

    use super::*;

    /// The sum as written.
    fn slow(future: &[f32], horizon: f32) -> f32 {
        let kept = f64::from(horizon / (horizon + 1.0));
        let n = future.len() - 1;
        let values = (0..n).map(|k| (1.0 - kept) * kept.powi(k as i32) * f64::from(future[k]));
        (values.sum::<f64>() + kept.powi(n as i32) * f64::from(future[n])) as f32
    }

    #[test]
    fn short_term_values_are_weighted_means() {
        assert_eq!(short_term(&[1.0], 6.0), 1.0);
        assert!((short_term(&[0.5, -1.0], 1.0) - (0.25 - 0.5)).abs() < 1e-6);
        for n in 0..60 {
            let mut future: Vec<f32> = (0..n).map(|k| (k as f32 * 1.7).sin()).collect();
            future.push(-1.0);
            for horizon in HORIZONS {
                let (fast, slow) = (short_term(&future, horizon), slow(&future, horizon));
                assert!((fast - slow).abs() < 1e-5, "{n} {horizon}: {fast} {slow}");
            }
        }
        // The weights' centre of gravity is the horizon.
        let ahead: Vec<f32> = (0..2_000).map(|k| k as f32).collect();
        for horizon in HORIZONS {
            assert!((short_term(&ahead, horizon) - horizon).abs() < 1e-3);
        }
    }

    fn sample(side: Color, reply: Vec<(Move, f32)>) -> Sample {
        let notation = match side {
            Color::Black => "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1",
            Color::White => "wwwwww/wwwwww/6/1b4/b1bbbb/bbbbbb w 1 1",
        };
        Sample {
            position: notation.parse().unwrap(),
            policy: Vec::new(),
            outcome: 0,
            margin: 0.0,
            value: None,
            reply,
            future: vec![0.0],
            last: "6/6/6/w5/5b/4bb b 0 30".parse().unwrap(),
        }
    }

    #[test]
    fn occupancy_is_seen_by_the_mover() {
        let index =
            |name: &str| Variant::Standard.point_index(name.parse::<Point>().unwrap()).unwrap();
        let samples = [sample(Color::Black, Vec::new()), sample(Color::White, Vec::new())];
        let classes = occupancy(&samples);
        let mut expected = [[2; 36]; 2];
        for name in ["e1", "f1", "f2"] {
            expected[0][index(name)] = 0;
        }
        expected[0][index("a3")] = 1;
        // White sees the ranks mirrored, and Black as the enemy.
        for name in ["e6", "f6", "f5"] {
            expected[1][index(name)] = 1;
        }
        expected[1][index("a4")] = 0;
        for (row, expected) in classes.rows().into_iter().zip(expected) {
            assert_eq!(row.to_vec(), expected);
        }
    }

    #[test]
    fn replies_are_seen_by_the_side_to_move_now() {
        let white = Position::parse("wwwwww/wwwwww/6/1b4/b1bbbb/bbbbbb w 1 1", Variant::Standard);
        let moves = white.unwrap().moves();
        let answers = vec![(moves[0], 0.25), (moves[3], 0.75)];
        let own = Position::default().moves()[2];
        // Black's reply to a move of White, and White's to one of Black; the third game is over.
        let samples = [
            sample(Color::Black, answers.clone()),
            sample(Color::White, vec![(own, 1.0)]),
            sample(Color::White, Vec::new()),
        ];
        let Target::Reply { moves, shares, counted } = reply(&samples) else { panic!() };
        assert_eq!((moves.dim(), counted), ((3, 2), 2));
        let index = |mv: Move| Variant::Standard.move_index(mv).unwrap() as i64;
        assert_eq!(
            moves.row(0).to_vec(),
            answers.iter().map(|&(mv, _)| index(mv)).collect::<Vec<_>>()
        );
        assert_eq!(shares.row(0).to_vec(), [0.25, 0.75]);
        assert_eq!(moves[[1, 0]], index(mover_move(Variant::Standard, own, Color::White)));
        assert_eq!(shares.row(1).to_vec(), [1.0, 0.0]);
        assert_eq!(shares.row(2).to_vec(), [0.0, 0.0]);
    }

    #[test]
    fn the_soft_policy_is_the_fourth_root() {
        let policy = Array2::from_shape_vec((2, 3), vec![0.81, 0.19, 0.0, 0.0, 0.0, 0.0]).unwrap();
        let Target::SoftPolicy(soft) = target(Auxiliary::SoftPolicy, &[], &policy) else {
            panic!()
        };
        let roots = [0.81f32.sqrt().sqrt(), 0.19f32.sqrt().sqrt()];
        let sum = roots[0] + roots[1];
        for (found, expected) in
            soft.iter().zip([roots[0] / sum, roots[1] / sum, 0.0, 0.0, 0.0, 0.0])
        {
            assert!((found - expected).abs() < 1e-6);
        }
    }
}
