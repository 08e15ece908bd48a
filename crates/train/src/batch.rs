//! From samples to the arrays that a step learns from.

use ndarray::{Array1, Array2};
use surakarta_game::{MAX_MOVES, Variant};
use surakarta_net::{MAX_INPUTS, active, inputs, policy_index};
use surakarta_record::Sample;
use tch::Tensor;

use crate::config::TrainConfig;
use crate::error::TrainError;
use crate::targets::{Target, target};

/// Added to the logit of a place that holds no move: large enough that its probability is exactly 0,
/// finite so that 0 times its logarithm is 0.
const GAP: f32 = -1e9;

/// n samples of one variant as arrays, everything in the view of the side to move. Policies are kept for legal
/// moves only: k is the most that a position of the batch has.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingBatch {
    /// 0 or 1: [n, [`inputs`] of the variant].
    pub inputs: Array2<f32>,
    /// Policy index (below [`Variant::moves`]) of each legal move, then 0 in places without a move: [n, k].
    pub moves: Array2<i64>,
    /// 0 in places with a move, −10⁹ in those without: [n, k].
    pub gaps: Array2<f32>,
    /// The target's share of each move, all 0 for a sample without policy: [n, k].
    pub policy: Array2<f32>,
    /// The place (0 to k − 1) of the target's best move, −1 for a sample without policy: [n].
    pub best: Array1<i64>,
    /// Target probabilities of win, draw and loss: [n, 3].
    pub wdl: Array2<f32>,
    /// Target margin: [n, 1].
    pub margin: Array2<f32>,
    /// How each game ended: 1 won, 0 drawn, −1 lost: [n].
    pub outcomes: Vec<i8>,
    /// Targets of the auxiliary heads that have a weight.
    pub auxiliary: Vec<Target<Array2<i64>, Array2<f32>>>,
}

/// A batch on a device.
#[derive(Debug)]
pub struct BatchTensors {
    /// n.
    pub samples: usize,
    /// How many of them have a policy.
    pub with_policy: usize,
    /// As [`TrainingBatch::inputs`].
    pub inputs: Tensor,
    /// As [`TrainingBatch::moves`].
    pub moves: Tensor,
    /// As [`TrainingBatch::gaps`].
    pub gaps: Tensor,
    /// As [`TrainingBatch::policy`].
    pub policy: Tensor,
    /// As [`TrainingBatch::best`].
    pub best: Tensor,
    /// As [`TrainingBatch::wdl`].
    pub wdl: Tensor,
    /// As [`TrainingBatch::margin`].
    pub margin: Tensor,
    /// As [`TrainingBatch::outcomes`].
    pub outcomes: Vec<i8>,
    /// As [`TrainingBatch::auxiliary`].
    pub auxiliary: Vec<Target<Tensor, Tensor>>,
}

/// Win, draw and loss that a value head is to learn: the game's result, mixed with the search's
/// value v by its share. v alone says nothing of draws; it enters as the outcome of a game without
/// them, ((1 + v)/2, 0, (1 − v)/2). So P(win) − P(loss) is exactly (1 − share) · result + share · v,
/// and draws keep the rate of the results times (1 − share). A sample without v has its result alone.
pub fn wdl_target(outcome: i8, value: Option<f32>, share: f32) -> [f32; 3] {
    let mut target = [0.0; 3];
    let Some(value) = value else {
        target[(1 - outcome.signum()) as usize] = 1.0;
        return target;
    };
    target[(1 - outcome.signum()) as usize] = 1.0 - share;
    target[0] += share * (1.0 + value) / 2.0;
    target[2] += share * (1.0 - value) / 2.0;
    target
}

impl TrainingBatch {
    /// Puts samples of a variant together, as they are: to turn the board, see [`Sample::under`]. Of
    /// the configuration, `search_value_share` counts (see [`wdl_target`]) and which heads there are.
    ///
    /// # Errors
    /// If a sample is of another variant.
    pub fn assemble(
        variant: Variant,
        samples: &[Sample],
        config: &TrainConfig,
    ) -> Result<TrainingBatch, TrainError> {
        let other = samples.iter().map(|sample| sample.position.variant()).find(|&v| v != variant);
        if let Some(found) = other {
            return Err(TrainError::OtherVariant { found, wanted: variant });
        }
        let share = config.search_value_share as f32;
        let n = samples.len();
        let mut inputs = Array2::zeros((n, inputs(variant)));
        let mut wdl = Array2::zeros((n, 3));
        let mut margin = Array2::zeros((n, 1));
        // Legal moves and their shares of all samples in a row; the width is known only afterwards.
        let mut moves = Vec::with_capacity(32 * n);
        let mut shares = Vec::with_capacity(32 * n);
        let mut ends = Vec::with_capacity(n);
        let mut share_of = [0.0; MAX_MOVES];
        let mut buffer = [0; MAX_INPUTS];
        for (row, sample) in samples.iter().enumerate() {
            let position = &sample.position;
            let side = position.side_to_move();
            let mut input = inputs.row_mut(row);
            for &i in active(position, &mut buffer) {
                input[i as usize] = 1.0;
            }
            let target = sample.policy.iter();
            let place = |mv| policy_index(variant, mv, side);
            let target = target.filter_map(|&(mv, share)| Some((place(mv)?, share)));
            for (at, share) in target.clone() {
                share_of[at] = share;
            }
            position.for_each_move(|mv| {
                if let Some(at) = place(mv) {
                    moves.push(at as i64);
                    shares.push(share_of[at]);
                }
            });
            for (at, _) in target {
                share_of[at] = 0.0;
            }
            ends.push(moves.len());
            for (place, p) in
                wdl_target(sample.outcome, sample.value, share).into_iter().enumerate()
            {
                wdl[[row, place]] = p;
            }
            margin[[row, 0]] = sample.margin;
        }
        let starts = || std::iter::once(0).chain(ends.iter().copied());
        let ranges: Vec<_> = starts().zip(&ends).map(|(start, &end)| start..end).collect();
        // One place at least: reductions over none are errors.
        let k = ranges.iter().map(ExactSizeIterator::len).max().unwrap_or(0).max(1);
        let mut batch = TrainingBatch {
            inputs,
            moves: Array2::zeros((n, k)),
            gaps: Array2::from_elem((n, k), GAP),
            policy: Array2::zeros((n, k)),
            best: Array1::from_elem(n, -1),
            wdl,
            margin,
            outcomes: samples.iter().map(|sample| sample.outcome).collect(),
            auxiliary: Vec::new(),
        };
        for (row, range) in ranges.into_iter().enumerate() {
            let mut most = 0.0;
            for (place, at) in range.enumerate() {
                batch.moves[[row, place]] = moves[at];
                batch.gaps[[row, place]] = 0.0;
                batch.policy[[row, place]] = shares[at];
                if shares[at] > most {
                    most = shares[at];
                    batch.best[row] = place as i64;
                }
            }
        }
        let targets = config.heads().into_iter().map(|head| target(head, samples, &batch.policy));
        batch.auxiliary = targets.collect();
        Ok(batch)
    }

    /// How many samples it holds.
    pub fn len(&self) -> usize {
        self.inputs.nrows()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The batch on a device; on the processor each array is copied once.
    ///
    /// # Errors
    /// If the device has no memory left.
    pub fn to_tensors(&self, device: tch::Device) -> Result<BatchTensors, TrainError> {
        let floats = |array: &Array2<f32>| Tensor::try_from(array)?.f_to_device(device);
        Ok(BatchTensors {
            samples: self.len(),
            with_policy: self.best.iter().filter(|&&best| best >= 0).count(),
            inputs: floats(&self.inputs)?,
            moves: Tensor::try_from(&self.moves)?.f_to_device(device)?,
            gaps: floats(&self.gaps)?,
            policy: floats(&self.policy)?,
            best: Tensor::try_from(&self.best)?.f_to_device(device)?,
            wdl: floats(&self.wdl)?,
            margin: floats(&self.margin)?,
            outcomes: self.outcomes.clone(),
            auxiliary: self
                .auxiliary
                .iter()
                .map(|target| target.to_tensors(device))
                .collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use surakarta_game::{Game, Move, OLYMPIAD, Position};

    use super::*;

    /// Samples along one game of arbitrary moves; one in five has no policy.
    fn samples(variant: Variant) -> Vec<Sample> {
        let mut game = Game::from_position(OLYMPIAD, Position::start(variant));
        let mut samples = Vec::new();
        while game.result().is_none() {
            let n = samples.len();
            let moves = game.legal_moves();
            let mv = moves[7 * n % moves.len()];
            let policy = match n % 5 {
                0 => Vec::new(),
                1 => vec![(mv, 1.0)],
                _ => vec![(moves[0], 0.25), (moves[moves.len() - 1], 0.75)],
            };
            samples.push(Sample {
                position: *game.position(),
                policy,
                outcome: (n % 3) as i8 - 1,
                margin: (n % 25) as f32 / 12.0 - 1.0,
                value: (!n.is_multiple_of(4)).then_some(n as f32 / 50.0 % 1.0),
                reply: Vec::new(),
                future: vec![0.0],
                last: *game.position(),
            });
            game.play(mv).unwrap();
        }
        assert!(samples.len() > 30);
        samples
    }

    /// The move in the view of the side to move, by the definition.
    fn seen(mv: Move, position: &Position) -> usize {
        policy_index(position.variant(), mv, position.side_to_move()).unwrap()
    }

    #[test]
    fn holds_each_sample_as_its_parts_say() {
        Variant::ALL.into_iter().for_each(compare);
    }

    fn compare(variant: Variant) {
        let samples = samples(variant);
        let batch = TrainingBatch::assemble(variant, &samples, &TrainConfig::default()).unwrap();
        assert_eq!(batch.inputs.ncols(), inputs(variant));
        assert_eq!(batch.len(), samples.len());
        let most = samples.iter().map(|sample| sample.position.moves().len()).max().unwrap();
        assert_eq!(batch.moves.dim(), (samples.len(), most));
        for (row, sample) in samples.iter().enumerate() {
            let mut buffer = [0; MAX_INPUTS];
            let listed = active(&sample.position, &mut buffer);
            for (i, &input) in batch.inputs.row(row).iter().enumerate() {
                assert_eq!(input, f32::from(listed.contains(&(i as u16))));
            }
            // As dense vectors over all moves.
            let (mut legal, mut policy) =
                (vec![false; variant.moves()], vec![0.0; variant.moves()]);
            for place in 0..most {
                let at = batch.moves[[row, place]] as usize;
                if batch.gaps[[row, place]] == 0.0 {
                    assert!(!legal[at]);
                    legal[at] = true;
                    policy[at] = batch.policy[[row, place]];
                } else {
                    assert_eq!((batch.gaps[[row, place]], batch.policy[[row, place]]), (GAP, 0.0));
                }
            }
            let (mut expected_legal, mut expected) =
                (vec![false; variant.moves()], vec![0.0; variant.moves()]);
            for mv in sample.position.moves() {
                expected_legal[seen(mv, &sample.position)] = true;
            }
            for &(mv, share) in &sample.policy {
                expected[seen(mv, &sample.position)] = share;
            }
            assert_eq!(legal, expected_legal);
            assert_eq!(policy, expected);
            let best = sample.policy.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            match best {
                None => assert_eq!(batch.best[row], -1),
                Some(&(mv, _)) => {
                    let at = batch.moves[[row, batch.best[row] as usize]] as usize;
                    assert_eq!(at, seen(mv, &sample.position));
                }
            }
            assert_eq!(batch.margin[[row, 0]], sample.margin);
            let wdl = wdl_target(sample.outcome, sample.value, 0.25);
            assert_eq!(batch.wdl.row(row).to_vec(), wdl);
        }
    }

    #[test]
    fn the_value_target_mixes_result_and_search_exactly() {
        assert_eq!(wdl_target(1, None, 0.25), [1.0, 0.0, 0.0]);
        assert_eq!(wdl_target(0, None, 0.25), [0.0, 1.0, 0.0]);
        assert_eq!(wdl_target(-1, None, 0.25), [0.0, 0.0, 1.0]);
        assert_eq!(wdl_target(0, Some(0.5), 0.25), [0.1875, 0.75, 0.0625]);
        for outcome in [-1, 0, 1] {
            for (value, share) in [(-1.0, 0.25), (-0.3, 0.0), (0.0, 1.0), (0.7, 0.5), (1.0, 0.25)] {
                let target = wdl_target(outcome, Some(value), share);
                let mixed = (1.0 - share) * f32::from(outcome) + share * value;
                assert!((target[0] - target[2] - mixed).abs() < 1e-6);
                assert!((target.iter().sum::<f32>() - 1.0).abs() < 1e-6);
                assert!(target.iter().all(|&p| p >= 0.0));
            }
        }
    }

    #[test]
    fn no_samples_make_an_empty_batch() {
        for variant in Variant::ALL {
            assert!(
                TrainingBatch::assemble(variant, &[], &TrainConfig::default()).unwrap().is_empty()
            );
        }
    }

    #[test]
    fn variants_are_not_mixed() {
        let mixed = [samples(Variant::Rural), samples(Variant::Standard)].concat();
        let error =
            TrainingBatch::assemble(Variant::Rural, &mixed, &TrainConfig::default()).unwrap_err();
        let (found, wanted) = (Variant::Standard, Variant::Rural);
        let expected = TrainError::OtherVariant { found, wanted }.to_string();
        assert_eq!(error.to_string(), expected);
        assert!(expected.contains("standard") && expected.contains("rural"), "{expected}");
    }
}
