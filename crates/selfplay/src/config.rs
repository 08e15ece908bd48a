use serde::{Deserialize, Serialize};

/// How games are played against oneself. The search's own constants are apart, in
/// [`surakarta_search::SearchConfig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfplayConfig {
    /// Games of one shard file.
    pub games_per_shard: u32,
    /// Games that one worker plays in lockstep; each adds one leaf to its batches.
    pub games_in_flight: u32,
    /// Random plies before the first search: a number from this range for each game.
    pub opening_plies: [u32; 2],
    /// Simulations of a full search, whose policy is recorded and learned.
    pub full_simulations: u32,
    /// Simulations of a fast search, which only moves the game on.
    pub fast_simulations: u32,
    /// Share of searches that are full (playout cap randomisation, KataGo 2019).
    pub full_share: f64,
    /// Moves are sampled for a number of plies from this range, by visits or by Gumbel's improved
    /// policy, then the best one is played. Full searches of Gumbel draw theirs in all plies.
    pub sampled_plies: [u32; 2],
    /// Whether a game ends, adjudicated, where endgame tables prove its result: what is learned from it is
    /// then the truth, and nothing is spent on the rest.
    pub end_by_tables: bool,
}

/// A tree of so many takes about 50 MB.
const MOST_SIMULATIONS: u32 = 100_000;

impl Default for SelfplayConfig {
    fn default() -> Self {
        SelfplayConfig {
            games_per_shard: 128,
            games_in_flight: 16,
            opening_plies: [0, 8],
            full_simulations: 200,
            fast_simulations: 50,
            full_share: 0.25,
            sampled_plies: [12, 24],
            end_by_tables: false,
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
        for (key, range) in
            [("opening_plies", self.opening_plies), ("sampled_plies", self.sampled_plies)]
        {
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
        Ok(())
    }
}
