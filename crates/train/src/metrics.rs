//! What an iteration of training was like, and the sums that it is made of.

use serde::{Deserialize, Serialize};
use surakarta_net::Auxiliary;

use crate::calibration::Calibration;
use crate::log::Row;

/// What one iteration of training was like: a row of `metrics.csv`. Losses, entropies and accuracies
/// are means over its samples, each measured before the step that learned from it. Those of `validation`
/// are means over the samples of the games held out in the window, measured after the last step on
/// the weights that play. A field without a value is empty: there is no such head, or no validation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The iteration.
    pub iteration: u64,
    /// Optimiser steps since the beginning of training.
    pub steps: u64,
    /// Samples seen since the beginning of training.
    pub samples: u64,
    /// Learning rate of the last step.
    pub learning_rate: f32,
    /// The loss that is minimised: the losses of all heads, auxiliary ones too, times their weights.
    pub loss: f32,
    /// Cross-entropy of the policy over legal moves, in nats; `policy_entropy` is the least possible.
    pub policy_loss: f32,
    /// Cross-entropy of win, draw and loss, in nats; `wdl_entropy` is the least possible.
    pub wdl_loss: f32,
    /// Squared error of the piece margin, in (pieces / pieces at the start)².
    pub margin_loss: f32,
    /// Entropy of the policy targets, in nats.
    pub policy_entropy: f32,
    /// Entropy of the win, draw and loss targets, in nats.
    pub wdl_entropy: f32,
    /// How often the most probable move is also the target's.
    pub policy_accuracy: f32,
    /// How often P(win) − P(loss) has the sign of its target, of those whose target is not 0.
    pub value_accuracy: f32,
    /// Mean length (L2) of the gradient before clipping.
    pub gradient_norm: f32,
    /// Expected calibration error of the value: see [`Calibration::error`](crate::Calibration::error).
    pub calibration_error: Option<f32>,
    /// Cross-entropy of the occupancy of a point, in nats.
    pub occupancy_loss: Option<f32>,
    /// Cross-entropy of the opponent's next move over all moves, in nats.
    pub reply_loss: Option<f32>,
    /// Squared error of the short-term values, a mean over the horizons.
    pub short_term_loss: Option<f32>,
    /// Cross-entropy of the soft policy over legal moves, in nats.
    pub soft_policy_loss: Option<f32>,
    /// Samples of the games held out.
    pub validation_samples: Option<u64>,
    /// As `policy_loss`; the rest likewise.
    pub validation_policy_loss: Option<f32>,
    /// As `wdl_loss`.
    pub validation_wdl_loss: Option<f32>,
    /// As `margin_loss`.
    pub validation_margin_loss: Option<f32>,
    /// As `policy_accuracy`.
    pub validation_policy_accuracy: Option<f32>,
    /// As `value_accuracy`.
    pub validation_value_accuracy: Option<f32>,
    /// As `calibration_error`.
    pub validation_calibration_error: Option<f32>,
    /// As `occupancy_loss`.
    pub validation_occupancy_loss: Option<f32>,
    /// As `reply_loss`.
    pub validation_reply_loss: Option<f32>,
    /// As `short_term_loss`.
    pub validation_short_term_loss: Option<f32>,
    /// As `soft_policy_loss`.
    pub validation_soft_policy_loss: Option<f32>,
    /// Wall time of the iteration's steps in seconds, of this process alone where it was resumed.
    pub seconds: f32,
    /// Samples a second, in this process.
    pub samples_per_second: f32,
    /// Share of that time that a second thread spent on drawing and assembling batches.
    pub batch_share: f32,
    /// Share of that time spent in the optimiser.
    pub optimiser_share: f32,
    /// Share of that time spent on waiting for a batch.
    pub wait_share: Option<f32>,
    /// Processor time in seconds that the whole process had taken by then, self-play and ratings
    /// included. It begins again at 0 where a run was resumed.
    pub processor_seconds: Option<f32>,
    /// How often the value has the right sign in won and lost endgames of the tables that a run has.
    pub endgame_sign: Option<f32>,
    /// How often the policy's best move keeps the result there, where some moves do not.
    pub endgame_move: Option<f32>,
    /// Games of the iteration that a side gave up, where self-play may.
    pub games_given_up: Option<u64>,
    /// Those of them that were played to their end all the same.
    pub games_played_on: Option<u64>,
    /// Those of these that the side did not lose.
    pub games_given_up_wrongly: Option<u64>,
}

impl Row for Metrics {
    fn iteration(&self) -> u64 {
        self.iteration
    }
}

impl Metrics {
    /// Takes in what was measured on samples of games held out, if there are any.
    pub fn validated(&mut self, totals: &Totals) {
        let means = totals.means();
        let some = |value: f32| (totals.samples > 0.0).then_some(value);
        self.validation_samples = (totals.samples > 0.0).then_some(totals.samples as u64);
        self.validation_policy_loss = some(means.policy_loss);
        self.validation_wdl_loss = some(means.wdl_loss);
        self.validation_margin_loss = some(means.margin_loss);
        self.validation_policy_accuracy = some(means.policy_accuracy);
        self.validation_value_accuracy = some(means.value_accuracy);
        self.validation_calibration_error = means.calibration_error;
        self.validation_occupancy_loss = means.occupancy_loss;
        self.validation_reply_loss = means.reply_loss;
        self.validation_short_term_loss = means.short_term_loss;
        self.validation_soft_policy_loss = means.soft_policy_loss;
    }
}

/// Sums over the steps of an iteration, from which its [`Metrics`] are made. In checkpoints they are
/// bit patterns: decimal numbers would have to be written and read exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u64>", into = "Vec<u64>")]
pub struct Totals {
    /// Steps.
    pub steps: f64,
    /// Samples.
    pub samples: f64,
    /// Samples with a policy.
    pub with_policy: f64,
    /// The weighted loss, a mean for each step.
    pub loss: f64,
    /// Length of the gradient before clipping.
    pub gradient_norm: f64,
    /// Cross-entropy of the policy, in nats, over samples; the rest likewise.
    pub policy: f64,
    /// Cross-entropy of win, draw and loss, in nats.
    pub wdl: f64,
    /// Squared error of the margin.
    pub margin: f64,
    /// Entropy of the policy targets, in nats.
    pub policy_entropy: f64,
    /// Entropy of the win, draw and loss targets, in nats.
    pub wdl_entropy: f64,
    /// Samples whose most probable move is the target's.
    pub policy_hits: f64,
    /// Samples whose value has its target's sign.
    pub value_hits: f64,
    /// Samples whose value target has a sign.
    pub value_signs: f64,
    /// The loss of each of [`Auxiliary::ALL`], and the samples that it is summed over.
    pub auxiliary: [(f64, f64); Auxiliary::ALL.len()],
    /// Predicted values beside results.
    pub calibration: Calibration,
}

impl Totals {
    fn fields(&mut self) -> Vec<&mut f64> {
        let mut fields = vec![
            &mut self.steps,
            &mut self.samples,
            &mut self.with_policy,
            &mut self.loss,
            &mut self.gradient_norm,
            &mut self.policy,
            &mut self.wdl,
            &mut self.margin,
            &mut self.policy_entropy,
            &mut self.wdl_entropy,
            &mut self.policy_hits,
            &mut self.value_hits,
            &mut self.value_signs,
        ];
        fields.extend(self.auxiliary.iter_mut().flat_map(|(loss, samples)| [loss, samples]));
        let bins = self.calibration.bins.iter_mut();
        fields
            .extend(bins.flat_map(|bin| [&mut bin.samples, &mut bin.predicted, &mut bin.results]));
        fields
    }

    /// Adds the sums of another stretch of steps.
    pub fn add(&mut self, mut other: Totals) {
        for (sum, more) in self.fields().into_iter().zip(other.fields()) {
            *sum += *more;
        }
    }

    /// The means of these sums; what they do not tell is left 0.
    pub fn means(&self) -> Metrics {
        let mean = |sum: f64, of: f64| if of > 0.0 { (sum / of) as f32 } else { 0.0 };
        let of = |head: Auxiliary| {
            let (loss, samples) = self.auxiliary[head as usize];
            (samples > 0.0).then(|| (loss / samples) as f32)
        };
        Metrics {
            loss: mean(self.loss, self.steps),
            gradient_norm: mean(self.gradient_norm, self.steps),
            policy_loss: mean(self.policy, self.with_policy),
            wdl_loss: mean(self.wdl, self.samples),
            margin_loss: mean(self.margin, self.samples),
            policy_entropy: mean(self.policy_entropy, self.with_policy),
            wdl_entropy: mean(self.wdl_entropy, self.samples),
            policy_accuracy: mean(self.policy_hits, self.with_policy),
            value_accuracy: mean(self.value_hits, self.value_signs),
            calibration_error: self.calibration.error(),
            occupancy_loss: of(Auxiliary::Occupancy),
            reply_loss: of(Auxiliary::Reply),
            short_term_loss: of(Auxiliary::ShortTerm),
            soft_policy_loss: of(Auxiliary::SoftPolicy),
            ..Metrics::default()
        }
    }
}

impl TryFrom<Vec<u64>> for Totals {
    type Error = String;

    fn try_from(bits: Vec<u64>) -> Result<Totals, String> {
        let mut totals = Totals::default();
        let fields = totals.fields();
        if fields.len() != bits.len() {
            return Err(format!("there are {} sums instead of {}", bits.len(), fields.len()));
        }
        for (sum, bits) in fields.into_iter().zip(bits) {
            *sum = f64::from_bits(bits);
        }
        Ok(totals)
    }
}

impl From<Totals> for Vec<u64> {
    fn from(mut totals: Totals) -> Vec<u64> {
        totals.fields().into_iter().map(|sum| sum.to_bits()).collect()
    }
}
