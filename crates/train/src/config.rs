//! What a run's configuration says about training. Compiles without libtorch, so that every binary
//! can check it.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};
use surakarta_net::Auxiliary;

/// The keys of training. A *sample* is one position; every length of time here is counted in samples
/// that the optimiser has seen, so that it means the same at any batch size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainConfig {
    /// Samples of one optimiser step.
    pub batch_size: usize,
    /// How often a new sample is used, on average, while it is in the window: together with the
    /// number of new samples it decides how many steps an iteration has.
    pub uses: f64,
    /// The newest samples that training draws from: whole shards, until they hold so many, held-out
    /// ones included. The window grows from there if `window_growth` is above 0: see
    /// [`window_at`](TrainConfig::window_at).
    pub window_samples: usize,
    /// How much the window grows for each new sample when it begins to grow. 0: it never does.
    pub window_growth: f64,
    /// How fast that rate falls: it goes with this power of all samples, less 1.
    pub window_exponent: f64,
    /// Share of games that are held out to test what was learned; never trained on.
    pub validation_share: f64,
    /// How many new samples `surakarta train` takes up at a time, from the oldest shard to the newest.
    /// 0: all at once. A run takes up an iteration at a time.
    pub stage_samples: u64,
    /// Learning rate after the warm-up.
    pub learning_rate: f64,
    /// Samples over which the learning rate rises from 0, in a straight line.
    pub warmup_samples: u64,
    /// Samples, after the warm-up, over which the learning rate falls along half a cosine to
    /// `final_learning_rate`, where it stays. 0: it never falls.
    pub decay_samples: u64,
    /// Learning rate at the end of the decay.
    pub final_learning_rate: f64,
    /// Decoupled weight decay: each step shrinks every weight matrix (not the biases) by this times
    /// the learning rate.
    pub weight_decay: f64,
    /// Decay rate of AdamW's mean of gradients.
    pub beta1: f64,
    /// Decay rate of AdamW's mean of squared gradients.
    pub beta2: f64,
    /// Longest allowed gradient, all parameters together (L2 norm); a longer one is shortened to it.
    /// 0: no limit.
    pub clip_norm: f64,
    /// Weight of the policy's cross-entropy in the loss.
    pub policy_weight: f64,
    /// Weight of the win/draw/loss head's cross-entropy in the loss.
    pub wdl_weight: f64,
    /// Weight of the piece margin's squared error in the loss.
    pub margin_weight: f64,
    /// Weight of the loss of [`Auxiliary::Occupancy`]; this head and those below exist in the network
    /// if their weights are above 0.
    pub occupancy_weight: f64,
    /// Weight of the loss of [`Auxiliary::Reply`].
    pub reply_weight: f64,
    /// Weight of the loss of [`Auxiliary::ShortTerm`].
    pub short_term_weight: f64,
    /// Weight of the loss of [`Auxiliary::SoftPolicy`].
    pub soft_policy_weight: f64,
    /// How much of the value target is the search's value; the rest is the game's result.
    pub search_value_share: f64,
    /// Samples over which weights are averaged for play: see
    /// [`average_kept_at`](TrainConfig::average_kept_at). 0: the last weights play.
    pub ema_samples: u64,
    /// Steps between two checkpoints within an iteration. 0: only at its end.
    pub checkpoint_steps: u64,
}

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            batch_size: 512,
            uses: 4.0,
            window_samples: 100_000,
            window_growth: 0.1,
            window_exponent: 0.65,
            validation_share: 0.0,
            stage_samples: 0,
            learning_rate: 2e-3,
            warmup_samples: 20_000,
            decay_samples: 0,
            final_learning_rate: 1e-4,
            weight_decay: 1e-4,
            beta1: 0.9,
            beta2: 0.999,
            clip_norm: 5.0,
            policy_weight: 1.0,
            wdl_weight: 1.0,
            margin_weight: 0.25,
            occupancy_weight: 0.0,
            reply_weight: 0.0,
            short_term_weight: 0.0,
            soft_policy_weight: 0.0,
            search_value_share: 0.25,
            ema_samples: 50_000,
            checkpoint_steps: 1_000,
        }
    }
}

/// A key of the configuration has a value that makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{key}` is {value}; it must be {allowed}")]
pub struct InvalidTrainConfig {
    /// The key, as written in the configuration.
    pub key: &'static str,
    /// The value that was given.
    pub value: f64,
    /// What is allowed instead.
    pub allowed: &'static str,
}

impl TrainConfig {
    /// Checks every key.
    ///
    /// # Errors
    /// The first key whose value makes no sense, and what it may be.
    pub fn validate(&self) -> Result<(), InvalidTrainConfig> {
        let check = |ok: bool, key, value, allowed| {
            if ok { Ok(()) } else { Err(InvalidTrainConfig { key, value, allowed }) }
        };
        let size = self.batch_size;
        check(
            (1..=1 << 16).contains(&size),
            "batch_size",
            size as f64,
            "a whole number from 1 to 65536",
        )?;
        let window = self.window_samples;
        check(window > 0, "window_samples", window as f64, "1 or more")?;
        for (key, value) in [
            ("uses", self.uses),
            ("learning_rate", self.learning_rate),
            ("final_learning_rate", self.final_learning_rate),
        ] {
            check(value > 0.0 && value.is_finite(), key, value, "a number above 0")?;
        }
        for (key, value) in [
            ("weight_decay", self.weight_decay),
            ("clip_norm", self.clip_norm),
            ("policy_weight", self.policy_weight),
            ("wdl_weight", self.wdl_weight),
            ("margin_weight", self.margin_weight),
            ("occupancy_weight", self.occupancy_weight),
            ("reply_weight", self.reply_weight),
            ("short_term_weight", self.short_term_weight),
            ("soft_policy_weight", self.soft_policy_weight),
        ] {
            check(value >= 0.0 && value.is_finite(), key, value, "0 or a number above")?;
        }
        let weights = [self.policy_weight, self.wdl_weight, self.margin_weight];
        let trains = weights.iter().sum::<f64>() > 0.0 || !self.heads().is_empty();
        check(
            trains,
            "policy_weight",
            0.0,
            "above 0 where all the other weights of the loss are 0",
        )?;
        for (key, value) in [("beta1", self.beta1), ("beta2", self.beta2)] {
            check((0.0..1.0).contains(&value), key, value, "at least 0 and less than 1")?;
        }
        let share = self.validation_share;
        check(
            (0.0..1.0).contains(&share),
            "validation_share",
            share,
            "at least 0 and less than 1",
        )?;
        let exponent = self.window_exponent;
        let allowed = "above 0 and at most 1";
        check(exponent > 0.0 && exponent <= 1.0, "window_exponent", exponent, allowed)?;
        for (key, value) in
            [("search_value_share", self.search_value_share), ("window_growth", self.window_growth)]
        {
            check((0.0..=1.0).contains(&value), key, value, "from 0 to 1")?;
        }
        Ok(())
    }

    /// The weight of an auxiliary head's loss.
    pub fn auxiliary_weight(&self, head: Auxiliary) -> f64 {
        match head {
            Auxiliary::Occupancy => self.occupancy_weight,
            Auxiliary::Reply => self.reply_weight,
            Auxiliary::ShortTerm => self.short_term_weight,
            Auxiliary::SoftPolicy => self.soft_policy_weight,
        }
    }

    /// The auxiliary heads that a network of this configuration has: those with a weight.
    pub fn heads(&self) -> Vec<Auxiliary> {
        let heads = Auxiliary::ALL.into_iter();
        heads.filter(|&head| self.auxiliary_weight(head) > 0.0).collect()
    }

    /// How many samples the window holds when N have been recorded in all, held-out ones included in
    /// both:
    ///
    /// W(N) = c · (1 + g · ((N/c)^α − 1) / α) for N > c, else c,
    ///
    /// with c = `window_samples`, g = `window_growth` and α = `window_exponent`. At N = c it begins to
    /// grow by g samples for each new one, and that rate falls as (N/c)^(α − 1) (Wu 2019,
    /// arXiv:1902.10565, appendix C). As g is at most 1, what has left the window never returns.
    pub fn window_at(&self, recorded: u64) -> usize {
        let (c, exponent) = (self.window_samples as f64, self.window_exponent);
        let grown = ((recorded as f64 / c).max(1.0).powf(exponent) - 1.0) / exponent;
        (c * (1.0 + self.window_growth * grown)) as usize
    }

    /// How much of the average weights a step keeps that is the nth since training began, 1 the first;
    /// the rest of the average are the weights after it. e^(−batch / `ema_samples`), but no more than
    /// (n − 1)/n: until then it is the plain mean of all steps, in which the first weights do not
    /// count. 0 without averaging.
    pub fn average_kept_at(&self, step: u64) -> f64 {
        if self.ema_samples == 0 {
            return 0.0;
        }
        let kept = (-(self.batch_size as f64) / self.ema_samples as f64).exp();
        kept.min(step.saturating_sub(1) as f64 / step.max(1) as f64)
    }

    /// How many steps an iteration has that brought this many new samples: at least one, so that
    /// every iteration leaves new weights.
    pub fn steps_for(&self, new_samples: u64) -> u64 {
        let steps = self.uses * new_samples as f64 / self.batch_size as f64;
        (steps.round() as u64).max(1)
    }

    /// The learning rate of a step that begins after `samples` have been seen: a straight line up to
    /// the end of the warm-up, then constant or half a cosine.
    pub fn learning_rate_at(&self, samples: u64) -> f64 {
        if samples < self.warmup_samples {
            // The first step counts its own batch, or it would learn nothing.
            let seen = (samples + self.batch_size as u64).min(self.warmup_samples);
            return self.learning_rate * seen as f64 / self.warmup_samples as f64;
        }
        if self.decay_samples == 0 {
            return self.learning_rate;
        }
        let progress = (samples - self.warmup_samples) as f64 / self.decay_samples as f64;
        let remaining = 0.5 * (1.0 + (PI * progress.min(1.0)).cos());
        self.final_learning_rate + (self.learning_rate - self.final_learning_rate) * remaining
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl Fn(&mut TrainConfig)) -> Result<(), InvalidTrainConfig> {
        let mut config = TrainConfig::default();
        change(&mut config);
        config.validate()
    }

    #[test]
    fn errors_name_the_key() {
        assert_eq!(with(|_| ()), Ok(()));
        assert_eq!(with(|c| c.batch_size = 0).unwrap_err().key, "batch_size");
        assert_eq!(with(|c| c.uses = 0.0).unwrap_err().key, "uses");
        assert_eq!(with(|c| c.learning_rate = f64::NAN).unwrap_err().key, "learning_rate");
        assert_eq!(with(|c| c.weight_decay = -0.1).unwrap_err().key, "weight_decay");
        assert_eq!(with(|c| c.beta2 = 1.0).unwrap_err().key, "beta2");
        assert_eq!(with(|c| c.reply_weight = -1.0).unwrap_err().key, "reply_weight");
        let nothing = |c: &mut TrainConfig| {
            (c.policy_weight, c.wdl_weight, c.margin_weight) = (0.0, 0.0, 0.0);
        };
        assert_eq!(with(nothing).unwrap_err().key, "policy_weight");
        assert_eq!(with(|c| c.window_exponent = 0.0).unwrap_err().key, "window_exponent");
        assert_eq!(with(|c| c.window_growth = 1.1).unwrap_err().key, "window_growth");
        assert_eq!(with(|c| c.validation_share = 1.0).unwrap_err().key, "validation_share");
        let error = with(|c| c.search_value_share = 1.5).unwrap_err();
        assert_eq!(error.to_string(), "`search_value_share` is 1.5; it must be from 0 to 1");
    }

    #[test]
    fn unknown_keys_are_refused_and_absent_ones_have_defaults() {
        let config: TrainConfig = serde_json::from_str(r#"{"batch_size": 64}"#).unwrap();
        assert_eq!(config, TrainConfig { batch_size: 64, ..TrainConfig::default() });
        let error = serde_json::from_str::<TrainConfig>(r#"{"batchsize": 64}"#).unwrap_err();
        assert!(error.to_string().contains("batchsize"), "{error}");
    }

    #[test]
    fn the_learning_rate_rises_then_follows_its_schedule() {
        let mut config = TrainConfig {
            batch_size: 100,
            learning_rate: 0.1,
            warmup_samples: 1_000,
            final_learning_rate: 0.02,
            ..TrainConfig::default()
        };
        let near = |samples, rate: f64, config: &TrainConfig| {
            let found = config.learning_rate_at(samples);
            assert!((found - rate).abs() < 1e-12, "{found} instead of {rate} after {samples}");
        };
        near(0, 0.01, &config);
        near(400, 0.05, &config);
        near(900, 0.1, &config);
        near(1_000_000, 0.1, &config);
        config.decay_samples = 2_000;
        near(1_000, 0.1, &config);
        near(2_000, 0.06, &config);
        near(3_000, 0.02, &config);
        near(9_000, 0.02, &config);
        config.warmup_samples = 0;
        near(0, 0.1, &config);
    }

    #[test]
    fn steps_use_each_new_sample_as_often_as_asked() {
        let config = TrainConfig { batch_size: 512, uses: 4.0, ..TrainConfig::default() };
        assert_eq!(config.steps_for(51_200), 400);
        assert_eq!(config.steps_for(0), 1);
    }
    #[test]
    fn a_weight_makes_a_head() {
        assert_eq!(TrainConfig::default().heads(), []);
        let config =
            TrainConfig { soft_policy_weight: 0.5, occupancy_weight: 0.1, ..Default::default() };
        assert_eq!(config.heads(), [Auxiliary::Occupancy, Auxiliary::SoftPolicy]);
    }

    #[test]
    fn the_window_grows_with_a_power_of_the_samples() {
        let mut config =
            TrainConfig { window_samples: 1_000, window_growth: 0.0, ..TrainConfig::default() };
        assert_eq!([0, 1_000, 1_000_000].map(|n| config.window_at(n)), [1_000; 3]);
        (config.window_growth, config.window_exponent) = (0.4, 0.5);
        assert_eq!([0, 1_000].map(|n| config.window_at(n)), [1_000; 2]);
        // 1,000 · (1 + 0.4 · (√4 − 1) / 0.5), and the rate at the beginning.
        assert_eq!(config.window_at(4_000), 1_800);
        assert_eq!(config.window_at(1_010), 1_003);
        config.window_growth = 1.0;
        for n in 1_000..9_000 {
            assert!(config.window_at(n + 1) <= config.window_at(n) + 1, "{n}");
        }
    }

    #[test]
    fn the_average_forgets_within_its_samples() {
        let config = TrainConfig { batch_size: 10, ema_samples: 1_000, ..TrainConfig::default() };
        assert_eq!(config.average_kept_at(1), 0.0);
        assert_eq!(config.average_kept_at(4), 0.75);
        let late: f64 = (1_000..1_100).map(|step| config.average_kept_at(step)).product();
        assert!((late - (-1.0f64).exp()).abs() < 1e-9, "{late}");
        let none = TrainConfig { ema_samples: 0, ..config };
        assert_eq!(none.average_kept_at(9), 0.0);
    }
}
