//! What a run's configuration says about training. Compiles without libtorch, so that every binary
//! can check it.

use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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
    /// The newest samples that training draws from: whole shards, until they hold so many.
    pub window_samples: usize,
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
    /// How much of the value target is the search's value; the rest is the game's result.
    pub search_value_share: f64,
    /// Steps between two checkpoints within an iteration. 0: only at its end.
    pub checkpoint_steps: u64,
}

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            batch_size: 512,
            uses: 4.0,
            window_samples: 500_000,
            learning_rate: 1e-3,
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
            search_value_share: 0.25,
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
        ] {
            check(value >= 0.0 && value.is_finite(), key, value, "0 or a number above")?;
        }
        for (key, value) in [("beta1", self.beta1), ("beta2", self.beta2)] {
            check((0.0..1.0).contains(&value), key, value, "at least 0 and less than 1")?;
        }
        let share = self.search_value_share;
        check((0.0..=1.0).contains(&share), "search_value_share", share, "from 0 to 1")
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

/// Where tensors live: written `cpu`, `cuda` (the first GPU) or `cuda:N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Device {
    /// The processor, with one thread.
    #[default]
    Cpu,
    /// A CUDA device by its number.
    Cuda(usize),
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

/// The text names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a device; write cpu, cuda or cuda:N")]
pub struct UnknownDevice(String);

impl FromStr for Device {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "cpu" => Ok(Device::Cpu),
            "cuda" => Ok(Device::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .filter(|number| number.bytes().all(|b| b.is_ascii_digit()))
                .and_then(|number| number.parse().ok())
                .map(Device::Cuda)
                .ok_or_else(|| UnknownDevice(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Device {
    type Error = UnknownDevice;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Device> for String {
    fn from(device: Device) -> String {
        device.to_string()
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
    fn devices_have_names() {
        for (text, device) in [("cpu", Device::Cpu), ("cuda:3", Device::Cuda(3))] {
            assert_eq!(text.parse(), Ok(device));
            assert_eq!(device.to_string(), text);
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
        for text in ["gpu", "cuda:", "cuda:+1", "cuda:x", ""] {
            assert!(text.parse::<Device>().is_err(), "{text}");
        }
    }
}
