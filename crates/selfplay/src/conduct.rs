//! How each move of a record was chosen, as far as the record itself does not say.

use rand::RngExt;
use surakarta_game::{Game, RuleSet, Variant};
use surakarta_record::{GameRecord, SearchKind, ShardHeader};
use surakarta_search::{Method, SearchConfig};

use crate::SelfplayConfig;
use crate::opening::{Beginnings, Openings};

/// How the move of a ply was chosen, beside its [kind](SearchKind).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conduct {
    /// Simulations that were asked for; 0 without a search. Those that the record counts include what
    /// the search inherited.
    pub simulations: u32,
    /// The temperature at which the move was drawn: from the visits or the improved policy, or from the
    /// network's policy in the opening; 0 for the best move. `None` where the move was given or drawn
    /// uniformly, and after a full search of Gumbel, which draws by its own noise.
    pub temperature: Option<f32>,
    /// Whether there was noise at the root.
    pub noise: bool,
}

/// What the header of a shard says of how its games were searched.
///
/// Full searches have `full_simulations` and noise, fast ones `fast_simulations` and none. The
/// temperature is a [function](SelfplayConfig::temperature_at) of the ply, counted from what the game
/// was given to begin with, and of a number that the game has drawn from `sampled_plies`. That number is
/// in no record: it is drawn again from the game's [stream](surakarta_search::stream), whose key is the
/// header's seed and (iteration, number, 0). The stream gives, in this order: the number of random plies
/// from `opening_plies`; for each of them the place of its move among the legal ones; and the number from
/// `sampled_plies`. How many plies are of the policy is the first number, from `policy_plies`, of the
/// stream (iteration, number, 1), from which nothing is drawn if there are none. The plies of kind
/// `opening` that remain, the first ones, were given.
#[derive(Clone, Debug)]
pub struct Manner {
    config: SelfplayConfig,
    search: SearchConfig,
    variant: Variant,
    rules: RuleSet,
    seed: u64,
    iteration: u64,
}

impl Manner {
    /// `None` if the games were not played by a network in self-play.
    pub fn of(header: &ShardHeader) -> Option<Manner> {
        if header.player != "mcts" {
            return None;
        }
        let ShardHeader { variant, rules, seed, iteration, .. } = *header;
        let config = toml::from_str(&section(header, "selfplay.")?).ok()?;
        let search = toml::from_str(&section(header, "search.")?).ok()?;
        Some(Manner { config, search, variant, rules, seed, iteration })
    }

    /// How each ply of a game was chosen, which had this number when it was played. In a game that was
    /// over before its first search the plies of the policy are not told from the others.
    pub fn conduct(&self, number: u64, game: &GameRecord) -> Vec<Conduct> {
        let mut conduct = vec![Conduct::default(); game.plies.len()];
        let opening = game.plies.iter().take_while(|ply| ply.search == SearchKind::Opening).count();
        let Some(draws) = self.draws(number, game, opening) else { return conduct };
        for ply in &mut conduct[opening - draws.policy_plies..opening] {
            ply.temperature = Some(self.config.policy_temperature as f32);
        }
        let searched = conduct.iter_mut().zip(&game.plies).enumerate().skip(opening);
        for (number, (conduct, ply)) in searched {
            let full = ply.search == SearchKind::Full;
            let by_noise = full && self.search.method == Method::Gumbel;
            let temperature = self.config.temperature_at(number - draws.given, draws.sampled);
            *conduct = Conduct {
                simulations: match full {
                    true => self.config.full_simulations,
                    false => self.config.fast_simulations,
                },
                temperature: (!by_noise).then_some(temperature),
                noise: full && (by_noise || self.search.noise_fraction > 0.0),
            };
        }
        conduct
    }

    /// What the game's streams were asked before its first search; `None` if there was none, or the
    /// record is not of such a game.
    fn draws(&self, number: u64, record: &GameRecord, opening: usize) -> Option<Draws> {
        let openings = Openings {
            variant: self.variant,
            rules: self.rules,
            config: &self.config,
            beginnings: &Beginnings::default(),
            seed: self.seed,
            iteration: self.iteration,
        };
        let policy_plies = openings.policy_plies(&mut openings.beginning(number)) as usize;
        let mut random = openings.stream(number);
        let [least, most] = self.config.opening_plies;
        let at_random = random.random_range(least..=most) as usize;
        let given = opening.checked_sub(at_random + policy_plies)?;
        if opening == record.plies.len() {
            return None;
        }
        let mut game = Game::from_position(self.rules, record.start);
        for (ply, record) in record.plies[..given + at_random].iter().enumerate() {
            if ply >= given {
                let moves = game.legal_moves();
                let drawn = moves.get(random.random_range(0..moves.len().max(1)));
                drawn.filter(|&&mv| mv == record.mv)?;
            }
            game.play(record.mv).ok()?;
        }
        let [least, most] = self.config.sampled_plies;
        let sampled = random.random_range(least..=most) as usize;
        Some(Draws { given, policy_plies, sampled })
    }
}

/// What a game has drawn before its first search.
struct Draws {
    given: usize,
    policy_plies: usize,
    sampled: usize,
}

/// A section of the configuration as a header keeps it, as TOML; `None` if it has none.
fn section(header: &ShardHeader, prefix: &str) -> Option<String> {
    let keys = header.settings.iter().filter_map(|(key, value)| {
        let key = key.strip_prefix(prefix)?;
        // What games fork off from, and what ends them, are no keys of the configuration.
        (!["forks", "tables"].contains(&key)).then(|| format!("{key} = {value}\n"))
    });
    let text: String = keys.collect();
    (!text.is_empty()).then_some(text)
}
