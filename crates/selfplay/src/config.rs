use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::resign::Resign;

/// How games are played against oneself. The search's own constants are apart, in
/// [`surakarta_search::SearchConfig`].
///
/// Keys that are off by default are written only where they are on, so that the headers of shards
/// that know nothing of them stay as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfplayConfig {
    /// Games of one shard file.
    pub games_per_shard: u32,
    /// Games that one worker plays in lockstep; each adds one leaf to its batches.
    pub games_in_flight: u32,
    /// Random plies before the first search: a number from this range for each game.
    pub opening_plies: [u32; 2],
    /// Plies drawn from the network's policy without a search after those: a number from this range for
    /// each game.
    #[serde(skip_serializing_if = "is_none")]
    pub policy_plies: [u32; 2],
    /// The temperature at which they are drawn.
    #[serde(skip_serializing_if = "is_one")]
    pub policy_temperature: f64,
    /// A file of openings, one of which each game begins with, before any random plies.
    pub openings: Option<PathBuf>,
    /// Share of games that instead begin with the first moves of an earlier game, up to a random ply.
    #[serde(skip_serializing_if = "is_zero")]
    pub fork_share: f64,
    /// Simulations of a full search, whose policy is recorded and learned.
    pub full_simulations: u32,
    /// Simulations of a fast search, which only moves the game on.
    pub fast_simulations: u32,
    /// Share of searches that are full (playout cap randomisation, KataGo 2019).
    pub full_share: f64,
    /// Moves are drawn at the first [`temperature`](Self::temperature) for a number of plies from this
    /// range, by visits or by Gumbel's improved policy; then it falls. Full searches of Gumbel draw
    /// theirs in all plies, whatever the temperature.
    pub sampled_plies: [u32; 2],
    /// The temperature at first: a move is drawn with probability ∝ w^(1/temperature), w being its
    /// visits, and is the best one at 0.
    #[serde(skip_serializing_if = "is_one")]
    pub temperature: f64,
    /// The temperature that it falls to.
    #[serde(skip_serializing_if = "is_zero")]
    pub temperature_end: f64,
    /// Plies in which what is left to fall is halved; 0: it falls at once.
    #[serde(skip_serializing_if = "is_zero")]
    pub temperature_halflife: f64,
    /// Whether a game ends, adjudicated, where endgame tables prove its result: what is learned from it is
    /// then the truth, and nothing is spent on the rest.
    pub end_by_tables: bool,
    /// When games that are lost are given up; never without.
    pub resign: Option<Resign>,
}

fn is_none(range: &[u32; 2]) -> bool {
    *range == [0, 0]
}

fn is_one(value: &f64) -> bool {
    *value == 1.0
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// A tree of so many takes about 50 MB.
const MOST_SIMULATIONS: u32 = 100_000;

impl Default for SelfplayConfig {
    fn default() -> Self {
        SelfplayConfig {
            games_per_shard: 128,
            games_in_flight: 16,
            opening_plies: [0, 8],
            policy_plies: [0, 0],
            policy_temperature: 1.0,
            openings: None,
            fork_share: 0.0,
            full_simulations: 200,
            fast_simulations: 50,
            full_share: 0.25,
            sampled_plies: [12, 24],
            temperature: 1.0,
            temperature_end: 0.0,
            temperature_halflife: 0.0,
            end_by_tables: false,
            resign: None,
        }
    }
}

impl SelfplayConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// A sentence that names the first key with a value that makes no sense.
    pub fn validate(&self) -> Result<(), String> {
        let counts = [
            ("games_per_shard", self.games_per_shard),
            ("games_in_flight", self.games_in_flight),
            ("full_simulations", self.full_simulations),
            ("fast_simulations", self.fast_simulations),
        ];
        for (key, value) in counts {
            if value == 0 {
                return Err(format!("{key} is 0; it must be 1 or more"));
            }
        }
        // Every game in flight keeps a tree of them in memory.
        for (key, value) in [
            ("full_simulations", self.full_simulations),
            ("fast_simulations", self.fast_simulations),
        ] {
            if value > MOST_SIMULATIONS {
                return Err(format!("{key} is {value}; it must be at most {MOST_SIMULATIONS}"));
            }
        }
        for (key, range) in [
            ("opening_plies", self.opening_plies),
            ("policy_plies", self.policy_plies),
            ("sampled_plies", self.sampled_plies),
        ] {
            if range[0] > range[1] {
                return Err(format!(
                    "{key} is [{}, {}]; write the smaller number first",
                    range[0], range[1]
                ));
            }
        }
        if !(self.full_share > 0.0 && self.full_share <= 1.0) {
            return Err(format!(
                "full_share is {}; it must be above 0, or nothing would be recorded to learn from, and at most 1",
                self.full_share
            ));
        }
        if !(self.policy_temperature > 0.0 && self.policy_temperature.is_finite()) {
            return Err(format!(
                "policy_temperature is {}; it must be a number above 0",
                self.policy_temperature
            ));
        }
        for (key, value) in [
            ("temperature", self.temperature),
            ("temperature_end", self.temperature_end),
            ("temperature_halflife", self.temperature_halflife),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(format!("{key} is {value}; it must be 0 or a number above"));
            }
        }
        if !(0.0..=1.0).contains(&self.fork_share) {
            return Err(format!("fork_share is {}; it must lie between 0 and 1", self.fork_share));
        }
        self.resign.as_ref().map_or(Ok(()), Resign::validate)
    }

    /// The temperature at which the move of a ply is drawn.
    ///
    /// `ply` counts from the moves that the game was given to begin with, 0 the first after them, and
    /// `sampled` is what the game has drawn from [`sampled_plies`](Self::sampled_plies). Before that ply it
    /// is T, the [first](Self::temperature), and from it on E + (T − E) · 2^(−(ply − sampled) / H), with E
    /// the [last](Self::temperature_end) and H the [half-life](Self::temperature_halflife); E itself
    /// where H is 0.
    pub fn temperature_at(&self, ply: usize, sampled: usize) -> f32 {
        let (first, end) = (self.temperature, self.temperature_end);
        let halflives = ply.saturating_sub(sampled) as f64 / self.temperature_halflife;
        let left = match () {
            () if ply < sampled => 1.0,
            () if self.temperature_halflife == 0.0 => 0.0,
            () => (-halflives).exp2(),
        };
        (end + (first - end) * left) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperature_falls_as_it_is_told_to() {
        let usual = SelfplayConfig::default();
        let at = |config: &SelfplayConfig, ply| config.temperature_at(ply, 12);
        assert_eq!([0, 11, 12, 90].map(|ply| at(&usual, ply)), [1.0, 1.0, 0.0, 0.0]);
        let step = SelfplayConfig { temperature: 0.8, temperature_end: 0.2, ..usual.clone() };
        assert_eq!([0, 11, 12, 90].map(|ply| at(&step, ply)), [0.8, 0.8, 0.2, 0.2]);
        let slope = SelfplayConfig { temperature_halflife: 10.0, ..step };
        let fallen = [0, 12, 22, 32].map(|ply| at(&slope, ply));
        assert_eq!(fallen, [0.8, 0.8, 0.5, 0.35]);
        assert!((at(&slope, 500) - 0.2).abs() < 1e-6);
        let rising = SelfplayConfig { temperature: 0.0, temperature_end: 1.0, ..usual };
        assert_eq!([11, 12].map(|ply| at(&rising, ply)), [0.0, 1.0]);
    }
}
