//! What training minimises, and what it reports on the way.

use tch::{Kind, Tensor, no_grad};

use crate::batch::BatchTensors;
use crate::config::TrainConfig;
use crate::error::TrainError;
use crate::forward::Outputs;
use crate::targets::Target;

/// The loss of a batch, and what its metrics are made of.
#[derive(Debug)]
pub struct Loss {
    /// The weighted sum of the means; the gradient is taken of it.
    pub total: Tensor,
    /// Sums over samples: policy and win/draw/loss cross-entropy, squared error of the margin, entropy
    /// of both targets, hits of the policy and of the value's sign, samples whose value target has a
    /// sign; then the loss of each auxiliary target of the batch: [8 + targets].
    pub sums: Tensor,
    /// P(win) − P(loss) of each sample: [n].
    pub values: Tensor,
}

impl Loss {
    /// How many sums there are before those of auxiliary targets.
    pub const SUMS: usize = 8;
}

/// The loss of outputs on a batch:
///
/// - policy: cross-entropy over the legal moves alone, a mean over the samples that have a policy;
/// - win/draw/loss: cross-entropy, a mean over all samples;
/// - margin: squared error, a mean over all samples;
/// - occupancy: cross-entropy, a mean over the points of all samples;
/// - reply: cross-entropy over all moves, a mean over the samples that have a reply;
/// - short-term value: squared error, a mean over the horizons of all samples;
/// - soft policy: as the policy.
///
/// # Errors
/// If outputs and batch are not of the same size and device, or the network lacks a head that the
/// batch has a target for.
pub fn loss(
    outputs: &Outputs,
    batch: &BatchTensors,
    config: &TrainConfig,
) -> Result<Loss, TrainError> {
    // The gap is so wide that a place without a move gets a probability of exactly 0.
    let logits = outputs.policy.f_gather(1, &batch.moves, false)?.f_add(&batch.gaps)?;
    let policy = cross_entropy(&logits, &batch.policy)?;
    let wdl = cross_entropy(&outputs.wdl, &batch.wdl)?;
    let margin = outputs.margin.f_sub(&batch.margin)?.f_square()?.f_sum(Kind::Float)?;
    let samples = batch.samples as f64;
    let with_policy = batch.with_policy.max(1) as f64;
    let total = policy
        .f_mul_scalar(config.policy_weight / with_policy)?
        .f_add(&wdl.f_mul_scalar(config.wdl_weight / samples)?)?
        .f_add(&margin.f_mul_scalar(config.margin_weight / samples)?)?;
    let mut total = total;
    let mut auxiliary = Vec::new();
    for target in &batch.auxiliary {
        let loss = auxiliary_loss(outputs, batch, target)?;
        let counted = counted(batch, target).max(1) as f64;
        let weight = config.auxiliary_weight(target.head()) / counted;
        total = total.f_add(&loss.f_mul_scalar(weight)?)?;
        auxiliary.push(loss.f_detach()?);
    }
    let sums = no_grad(|| -> Result<Tensor, tch::TchError> {
        let lead = |wdl: &Tensor| wdl.f_select(1, 0)?.f_sub(&wdl.f_select(1, 2)?);
        let target = lead(&batch.wdl)?;
        let agreement = lead(&outputs.wdl)?.f_mul(&target)?;
        let hits = logits.f_argmax(1, false)?.f_eq_tensor(&batch.best)?;
        let mut sums = vec![
            policy.f_detach()?,
            wdl.f_detach()?,
            margin.f_detach()?,
            entropy(&batch.policy)?,
            entropy(&batch.wdl)?,
            hits.f_sum(Kind::Float)?,
            agreement.f_gt(0.0)?.f_sum(Kind::Float)?,
            target.f_ne(0.0)?.f_sum(Kind::Float)?,
        ];
        sums.append(&mut auxiliary);
        Tensor::f_stack(&sums, 0)
    })?;
    let values = no_grad(|| {
        let wdl = outputs.wdl.f_softmax(1, Kind::Float)?;
        wdl.f_select(1, 0)?.f_sub(&wdl.f_select(1, 2)?)
    })?;
    Ok(Loss { total, sums, values })
}

/// How many samples count in the loss of an auxiliary head.
pub(crate) fn counted(batch: &BatchTensors, target: &Target<Tensor, Tensor>) -> usize {
    match target {
        Target::Reply { counted, .. } => *counted,
        Target::SoftPolicy(_) => batch.with_policy,
        Target::Occupancy(_) | Target::ShortTerm(_) => batch.samples,
    }
}

/// The sum of a head's loss over the samples that count.
fn auxiliary_loss(
    outputs: &Outputs,
    batch: &BatchTensors,
    target: &Target<Tensor, Tensor>,
) -> Result<Tensor, TrainError> {
    let head = target.head();
    let found = outputs.auxiliary.iter().find(|(of, _)| *of == head);
    let (_, output) = found.ok_or(TrainError::NoHead(head.name()))?;
    Ok(match target {
        Target::Occupancy(classes) => {
            let places = classes.f_unsqueeze(1)?;
            let chosen = output.f_log_softmax(1, Kind::Float)?.f_gather(1, &places, false)?;
            let points = classes.size()[1] as f64;
            chosen.f_sum(Kind::Float)?.f_mul_scalar(-1.0 / points)?
        }
        Target::Reply { moves, shares, .. } => {
            let chosen = output.f_log_softmax(1, Kind::Float)?.f_gather(1, moves, false)?;
            chosen.f_mul(shares)?.f_sum(Kind::Float)?.f_neg()?
        }
        Target::ShortTerm(values) => {
            let squares = output.f_sub(values)?.f_square()?.f_sum(Kind::Float)?;
            squares.f_mul_scalar(1.0 / values.size()[1] as f64)?
        }
        Target::SoftPolicy(shares) => {
            let logits = output.f_gather(1, &batch.moves, false)?.f_add(&batch.gaps)?;
            cross_entropy(&logits, shares)?
        }
    })
}

/// −Σ target · log softmax(logits), over all rows.
fn cross_entropy(logits: &Tensor, target: &Tensor) -> Result<Tensor, tch::TchError> {
    logits.f_log_softmax(1, Kind::Float)?.f_mul(target)?.f_sum(Kind::Float)?.f_neg()
}

/// −Σ p · log p, over all rows, with 0 · log 0 = 0.
fn entropy(target: &Tensor) -> Result<Tensor, tch::TchError> {
    target.f_xlogy(target)?.f_sum(Kind::Float)?.f_neg()
}

#[cfg(test)]
mod tests {
    use surakarta_game::{Point, Position, Variant};
    use surakarta_net::{Auxiliary, HORIZONS, policy_index};
    use surakarta_record::Sample;

    use super::*;
    use crate::batch::{TrainingBatch, wdl_target};

    const VARIANT: Variant = Variant::Standard;
    const MOVES: usize = VARIANT.moves();

    /// Two samples: one with a policy, one of White without.
    fn samples() -> Vec<Sample> {
        let start = Position::default();
        let moves = start.moves();
        let policy = vec![(moves[1], 0.25), (moves[2], 0.75)];
        let last = "6/6/6/w5/5b/4bb b 0 30".parse().unwrap();
        let position: Position = "wwwwww/wwwwww/6/1b4/b1bbbb/bbbbbb w 1 1".parse().unwrap();
        let answers = position.moves();
        let with = Sample {
            position: start,
            policy,
            outcome: 1,
            margin: 0.5,
            value: Some(0.2),
            reply: vec![(answers[0], 0.5), (answers[4], 0.5)],
            future: vec![0.2, 0.6, 1.0],
            last,
        };
        let without = Sample {
            position,
            policy: Vec::new(),
            outcome: 0,
            margin: -0.25,
            value: None,
            reply: Vec::new(),
            future: vec![-0.5],
            last,
        };
        vec![with, without]
    }

    /// −Σ target · log softmax(logits).
    fn by_hand(logits: &[f64], target: &[f64]) -> f64 {
        let sum: f64 = logits.iter().map(|x| x.exp()).sum();
        logits.iter().zip(target).map(|(x, t)| -t * (x.exp() / sum).ln()).sum()
    }

    #[test]
    fn is_what_a_hand_computes() {
        let samples = samples();
        // The highest logits of all belong to illegal moves: they must not count.
        let logits = |row: usize, at: usize| ((at * (row + 3)) as f64).sin() * 2.0;
        let legal: Vec<usize> = samples[0]
            .position
            .moves()
            .into_iter()
            .map(|mv| policy_index(VARIANT, mv, samples[0].position.side_to_move()).unwrap())
            .collect();
        let mut policy: Vec<f32> =
            (0..2 * MOVES).map(|i| logits(i / MOVES, i % MOVES) as f32).collect();
        (0..MOVES).filter(|at| !legal.contains(at)).for_each(|at| policy[at] += 50.0);
        let wdl = [0.3, -0.2, 0.9, -1.0, 0.1, 0.5];
        let margin = [0.1, 0.25];
        let outputs = Outputs {
            policy: Tensor::from_slice(&policy).view([2, MOVES as i64]),
            wdl: Tensor::from_slice(&wdl.map(|x| x as f32)).view([2, 3]),
            margin: Tensor::from_slice(&margin.map(|x| x as f32)).view([2, 1]),
            auxiliary: Vec::new(),
        };
        let config = TrainConfig {
            policy_weight: 0.8,
            wdl_weight: 1.5,
            margin_weight: 0.4,
            ..TrainConfig::default()
        };
        let batch = TrainingBatch::assemble(VARIANT, &samples, &TrainConfig::default()).unwrap();
        let batch = batch.to_tensors(tch::Device::Cpu).unwrap();
        let found = loss(&outputs, &batch, &config).unwrap();

        let legal_logits: Vec<f64> = legal.iter().map(|&at| logits(0, at)).collect();
        let mut target = vec![0.0; legal.len()];
        (target[1], target[2]) = (0.25, 0.75);
        let policy = by_hand(&legal_logits, &target);
        let targets = samples.iter().map(|s| wdl_target(s.outcome, s.value, 0.25).map(f64::from));
        let wdl: f64 =
            wdl.chunks(3).zip(targets.clone()).map(|(wdl, target)| by_hand(wdl, &target)).sum();
        let margin = 0.4f64.powi(2) + 0.5f64.powi(2);
        let entropy = |p: &[f64]| p.iter().filter(|&&p| p > 0.0).map(|p| -p * p.ln()).sum::<f64>();
        let total = 0.8 * policy + 1.5 * wdl / 2.0 + 0.4 * margin / 2.0;
        let best = |p: &[f64]| (0..p.len()).max_by(|&a, &b| p[a].total_cmp(&p[b]));
        let sums = [
            policy,
            wdl,
            margin,
            entropy(&target),
            targets.map(|target| entropy(&target)).sum(),
            f64::from(best(&legal_logits) == best(&target)),
            // The first is a win by its target, the outputs say loss; the second is drawn.
            0.0,
            1.0,
        ];
        assert!((found.total.double_value(&[]) - total).abs() < 1e-5, "{total}");
        for (i, sum) in sums.into_iter().enumerate() {
            let found = found.sums.double_value(&[i as i64]);
            assert!((found - sum).abs() < 1e-5, "sum {i}: {found} instead of {sum}");
        }
    }

    #[test]
    fn auxiliary_losses_are_what_a_hand_computes() {
        let samples = samples();
        let config = TrainConfig {
            occupancy_weight: 0.3,
            reply_weight: 0.6,
            short_term_weight: 0.9,
            soft_policy_weight: 1.2,
            ..TrainConfig::default()
        };
        let points = VARIANT.points();
        let number = |i: usize, k: f64| ((i as f64) * k).sin();
        let made = |dims: &[i64], k: f64| {
            let n = dims.iter().product::<i64>() as usize;
            let numbers: Vec<f32> = (0..n).map(|i| number(i, k) as f32).collect();
            Tensor::from_slice(&numbers).view(dims)
        };
        let sizes =
            [vec![2, 3, points as i64], vec![2, MOVES as i64], vec![2, 3], vec![2, MOVES as i64]];
        let scales = [0.7, 1.1, 0.4, 1.9];
        let outputs = Outputs {
            policy: Tensor::zeros([2, MOVES as i64], (Kind::Float, tch::Device::Cpu)),
            wdl: Tensor::zeros([2, 3], (Kind::Float, tch::Device::Cpu)),
            margin: Tensor::zeros([2, 1], (Kind::Float, tch::Device::Cpu)),
            auxiliary: (0..4).map(|i| (Auxiliary::ALL[i], made(&sizes[i], scales[i]))).collect(),
        };
        let found = |config: &TrainConfig| {
            let batch = TrainingBatch::assemble(VARIANT, &samples, config).unwrap();
            loss(&outputs, &batch.to_tensors(tch::Device::Cpu).unwrap(), config).unwrap()
        };

        // Own, enemy and empty at each point: the second sample is White's, who sees it mirrored.
        let mut occupancy = 0.0;
        for (row, sample) in samples.iter().enumerate() {
            for file in 0..6 {
                for rank in 0..6 {
                    let seen = if row == 0 { rank } else { 5 - rank };
                    let point = Point::at(file, rank).unwrap();
                    let class = match sample.last.color_at(point) {
                        None => 2,
                        Some(color) => usize::from(color != sample.position.side_to_move()),
                    };
                    let at = VARIANT.point_index(Point::at(file, seen).unwrap()).unwrap();
                    let logits = [0, 1, 2].map(|c| number(row * 3 * points + c * points + at, 0.7));
                    let mut target = [0.0; 3];
                    target[class] = 1.0;
                    occupancy += by_hand(&logits, &target) / points as f64;
                }
            }
        }
        let mut target = vec![0.0; MOVES];
        for (mv, share) in &samples[0].reply {
            target[VARIANT.move_index(*mv).unwrap()] += f64::from(*share);
        }
        let logits: Vec<f64> = (0..MOVES).map(|i| number(i, 1.1)).collect();
        let reply = by_hand(&logits, &target);
        let mut short_term = 0.0;
        for (i, horizon) in HORIZONS.into_iter().enumerate() {
            let kept = f64::from(horizon / (horizon + 1.0));
            let mean = (1.0 - kept) * (0.2 + kept * 0.6) + kept * kept;
            short_term += (number(i, 0.4) - mean).powi(2) / 3.0;
            short_term += (number(3 + i, 0.4) + 0.5).powi(2) / 3.0;
        }
        let legal = samples[0].position.moves();
        let logits: Vec<f64> =
            legal.iter().map(|&mv| number(VARIANT.move_index(mv).unwrap(), 1.9)).collect();
        let mut soft = vec![0.0; legal.len()];
        let roots = [0.25f64.powf(0.25), 0.75f64.powf(0.25)];
        (soft[1], soft[2]) = (roots[0] / (roots[0] + roots[1]), roots[1] / (roots[0] + roots[1]));
        let soft_policy = by_hand(&logits, &soft);

        let with = found(&config);
        for (i, sum) in [occupancy, reply, short_term, soft_policy].into_iter().enumerate() {
            let found = with.sums.double_value(&[(Loss::SUMS + i) as i64]);
            assert!((found - sum).abs() < 1e-4, "{i}: {found} instead of {sum}");
        }
        let without = found(&TrainConfig::default()).total.double_value(&[]);
        let more = with.total.double_value(&[]) - without;
        // One sample has a reply and a policy, both have the rest.
        let expected =
            0.3 * occupancy / 2.0 + 0.6 * reply + 0.9 * short_term / 2.0 + 1.2 * soft_policy;
        assert!((more - expected).abs() < 1e-4, "{more} instead of {expected}");
        // A network without the head is refused.
        let batch = TrainingBatch::assemble(VARIANT, &samples, &config).unwrap();
        let batch = batch.to_tensors(tch::Device::Cpu).unwrap();
        let error = loss(&Outputs { auxiliary: Vec::new(), ..outputs }, &batch, &config);
        assert!(error.unwrap_err().to_string().contains("occupancy"));
    }

    #[test]
    fn illegal_moves_get_no_gradient() {
        let samples = samples();
        let batch = TrainingBatch::assemble(VARIANT, &samples, &TrainConfig::default()).unwrap();
        let tensors = batch.to_tensors(tch::Device::Cpu).unwrap();
        let policy = Tensor::zeros([2, MOVES as i64], (Kind::Float, tch::Device::Cpu));
        let policy = policy.set_requires_grad(true);
        let outputs = Outputs {
            policy: policy.shallow_clone(),
            wdl: Tensor::zeros([2, 3], (Kind::Float, tch::Device::Cpu)),
            margin: Tensor::zeros([2, 1], (Kind::Float, tch::Device::Cpu)),
            auxiliary: Vec::new(),
        };
        let total = loss(&outputs, &tensors, &TrainConfig::default()).unwrap().total;
        let gradient = &Tensor::run_backward(&[total], &[policy], false, false)[0];
        // d/dx of cross-entropy is softmax − target: uniform over 16 moves here.
        let legal = samples[0].position.moves();
        let mut expected = vec![0.0; 2 * MOVES];
        for (place, mv) in legal.iter().enumerate() {
            let target = [0.0, 0.25, 0.75].get(place).unwrap_or(&0.0);
            expected[VARIANT.move_index(*mv).unwrap()] = 1.0 / legal.len() as f64 - target;
        }
        for (i, expected) in expected.into_iter().enumerate() {
            let (row, at) = ((i / MOVES) as i64, (i % MOVES) as i64);
            let found = gradient.double_value(&[row, at]);
            assert!((found - expected).abs() < 1e-6, "{row} {at}: {found} instead of {expected}");
        }
    }
}
