//! What the games of a tournament say about its players.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;
use surakarta_game::{Color, Ending};

use crate::error::ArenaError;
use crate::game::ArenaGame;
use crate::opening::up_to_symmetry;
use crate::rating::{Anchor, Clusters, RatedGame, RatingOptions, Ratings, rate};

/// How to rate, with players by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StandingsOptions {
    /// Fit the advantage of the first move; otherwise it is taken as zero.
    pub first_advantage: bool,
    /// What errors take as independent: colour-swapped pairs unless told otherwise.
    pub clusters: Clusters,
    /// A player and its rating, which fix the scale; otherwise the mean of all is zero.
    pub anchor: Option<(String, f64)>,
}

/// Players by rank, their differences, and what to know about the games. What has no finite value is
/// `None` with a reason beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standings {
    /// Players, the strongest first.
    pub players: Vec<Standing>,
    /// Every two players, the one of higher rank first.
    pub differences: Vec<DifferenceRow>,
    /// The advantage of the first move, where it was asked for.
    pub first_advantage: Option<AdvantageRow>,
    /// What the ratings are relative to: `mean 0`, `greedy = 0`.
    pub scale: String,
    /// What errors take as independent: `pairs` or `games`.
    pub clusters: &'static str,
    /// Games.
    pub games: usize,
    /// Colour-swapped pairs of which both games are finished.
    pub pairs: usize,
    /// Games that differ in their moves from any other with the same players and colours.
    pub distinct_games: usize,
    /// Positions after openings, those counted once that a symmetry turns into each other.
    pub distinct_openings: usize,
    /// How often games ended so.
    pub endings: BTreeMap<&'static str, usize>,
    /// What may mislead, a sentence each.
    pub warnings: Vec<String>,
}

/// One player's rating and results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Its name.
    pub name: String,
    /// Elo.
    pub rating: Option<f64>,
    /// Half the 95 % interval, relative to what fixes the scale.
    pub error: Option<f64>,
    /// Why it has no rating or no error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of its group of comparable players, 0 the largest.
    pub group: Option<usize>,
    /// Games.
    pub games: usize,
    /// Colour-swapped pairs of which both games are finished.
    pub pairs: usize,
    /// Points a game: 1 a win, ½ a draw.
    pub score: f64,
    /// All its games.
    #[serde(flatten)]
    pub total: Tally,
    /// Those with Black, who moves first.
    pub as_first: Tally,
}

/// Games won, drawn and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Won.
    pub wins: usize,
    /// Drawn.
    pub draws: usize,
    /// Lost.
    pub losses: usize,
}

impl Tally {
    fn add(&mut self, value: i8) {
        match value {
            1 => self.wins += 1,
            0 => self.draws += 1,
            _ => self.losses += 1,
        }
    }

    /// Games.
    pub fn games(&self) -> usize {
        self.wins + self.draws + self.losses
    }

    /// Points a game, 0 to 1; 0 without games.
    pub fn score(&self) -> f64 {
        (self.wins as f64 + self.draws as f64 / 2.0) / self.games().max(1) as f64
    }
}

/// How much stronger one player is than another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DifferenceRow {
    /// The one of higher rank.
    pub first: String,
    /// The other.
    pub second: String,
    /// Elo of `first` above `second`.
    pub difference: Option<f64>,
    /// Half the 95 % interval of the difference.
    pub error: Option<f64>,
    /// Probability that `first` is the stronger.
    pub superiority: Option<f64>,
    /// Why something is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The advantage of the first move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AdvantageRow {
    /// Elo.
    pub elo: Option<f64>,
    /// Half the 95 % interval.
    pub error: Option<f64>,
    /// Why something is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

const NO_SPREAD: &str = "no variation between pairs from which to take an error";

impl Standings {
    /// Rates the named players by their games, in whatever order these are.
    ///
    /// # Errors
    /// If a game, or the anchor, names a player who is not in the list.
    pub fn of(
        names: &[String],
        games: &[ArenaGame],
        options: &StandingsOptions,
    ) -> Result<Standings, ArenaError> {
        let number: HashMap<&str, usize> =
            names.iter().enumerate().map(|(n, name)| (name.as_str(), n)).collect();
        let find = |name: &str| {
            let found = number.get(name).copied();
            found.ok_or_else(|| ArenaError::UnknownPlayer(name.to_owned(), names.join(", ")))
        };
        let anchor = match &options.anchor {
            Some((name, rating)) => Anchor::Player(find(name)?, *rating),
            None => Anchor::Mean,
        };
        let mut rated = Vec::with_capacity(games.len());
        for game in games {
            rated.push(RatedGame {
                first: find(&game.black)?,
                second: find(&game.white)?,
                score: game.score(),
                pair: u64::from(game.key.pairing) << 32 | u64::from(game.key.pair),
            });
        }
        let StandingsOptions { first_advantage, clusters, .. } = *options;
        let ratings =
            rate(names.len(), &rated, &RatingOptions { first_advantage, clusters, anchor });
        let players = by_rank(names, games, &rated, &ratings);
        let ranked: Vec<(usize, &str)> = players
            .iter()
            .filter_map(|p| Some((*number.get(p.name.as_str())?, &*p.name)))
            .collect();
        let differences = differences(&ranked, &ratings);
        let first_advantage = first_advantage.then(|| advantage(&ratings));
        let distinct: HashSet<_> = games
            .iter()
            .map(|game| (&game.black, &game.white, game.moves().collect::<Vec<_>>()))
            .collect();
        let openings: HashSet<_> =
            games.iter().map(|game| up_to_symmetry(&game.opening.position())).collect();
        let mut endings = BTreeMap::new();
        for game in games {
            *endings.entry(game.ending.name()).or_default() += 1;
        }
        let mut standings = Standings {
            players,
            differences,
            first_advantage,
            scale: options
                .anchor
                .as_ref()
                .map_or("mean 0".to_owned(), |(name, rating)| format!("{name} = {rating}")),
            clusters: match clusters {
                Clusters::Pairs => "pairs",
                Clusters::Games => "games",
            },
            games: games.len(),
            pairs: complete_pairs(&rated, |_| true),
            distinct_games: distinct.len(),
            distinct_openings: openings.len(),
            endings,
            warnings: Vec::new(),
        };
        standings.warn(games, options, &ratings, names);
        Ok(standings)
    }

    /// The row of two players, whichever has the higher rank: how much stronger `a` is than `b`.
    pub fn difference(&self, a: &str, b: &str) -> Option<DifferenceRow> {
        let row = self
            .differences
            .iter()
            .find(|row| [(a, b), (b, a)].contains(&(row.first.as_str(), row.second.as_str())))?;
        let mut row = row.clone();
        if row.first != a {
            std::mem::swap(&mut row.first, &mut row.second);
            row.difference = row.difference.map(|elo| -elo);
            row.superiority = row.superiority.map(|p| 1.0 - p);
        }
        Some(row)
    }

    fn warn(
        &mut self,
        games: &[ArenaGame],
        options: &StandingsOptions,
        ratings: &Ratings,
        names: &[String],
    ) {
        let repeated = self.games - self.distinct_games;
        if repeated > 0 {
            self.warnings.push(format!(
                "{repeated} of {} games repeat an earlier one of the same players and colours move by move: they tell nothing new, and the errors are too small",
                self.games
            ));
        }
        let mut faults: BTreeMap<(&str, Ending), usize> = BTreeMap::new();
        for game in games {
            if matches!(game.ending, Ending::Crash | Ending::IllegalMove | Ending::Time) {
                let loser = [Color::Black, Color::White]
                    .into_iter()
                    .find(|&color| game.outcome.value_for(color) < 0);
                if let Some(loser) = loser {
                    *faults.entry((game.player(loser), game.ending)).or_default() += 1;
                }
            }
        }
        for ((name, ending), n) in faults {
            self.warnings.push(format!("`{name}` lost {n} of its games by {ending}"));
        }
        if ratings.groups().len() > 1 {
            let groups: Vec<String> = ratings
                .groups()
                .iter()
                .map(|group| {
                    group.iter().map(|&p| names[p].as_str()).collect::<Vec<_>>().join(", ")
                })
                .collect();
            self.warnings.push(format!(
                "there is no common scale: each of these groups has its own ({})",
                groups.join(" | ")
            ));
        }
        if let Some((name, _)) = &options.anchor
            && let Some(anchor) = self.players.iter().find(|player| player.name == *name)
            && anchor.rating.is_none()
        {
            self.scale = "mean 0".to_owned();
            self.warnings.push(format!(
                "`{name}` cannot fix the scale, as it has no finite rating: the mean is 0"
            ));
        }
    }
}

fn by_rank(
    names: &[String],
    games: &[ArenaGame],
    rated: &[RatedGame],
    ratings: &Ratings,
) -> Vec<Standing> {
    let mut total = vec![Tally::default(); names.len()];
    let mut as_first = vec![Tally::default(); names.len()];
    for (game, rated) in games.iter().zip(rated) {
        let value = game.outcome.value_for(Color::Black);
        as_first[rated.first].add(value);
        total[rated.first].add(value);
        total[rated.second].add(-value);
    }
    let mut groups: Vec<&Vec<usize>> = ratings.groups().iter().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let standing = |player: usize| {
        let found = ratings.rating(player);
        let error = found.ok().and_then(|estimate| estimate.error);
        let reason = match found {
            Err(unrated) => Some(unrated.to_string()),
            Ok(_) => error.is_none().then(|| NO_SPREAD.to_owned()),
        };
        Standing {
            name: names[player].clone(),
            rating: found.ok().map(|estimate| estimate.elo),
            error,
            reason,
            group: groups.iter().position(|group| group.contains(&player)),
            games: total[player].games(),
            pairs: complete_pairs(rated, |game| game.first == player || game.second == player),
            score: total[player].score(),
            total: total[player],
            as_first: as_first[player],
        }
    };
    let mut players: Vec<Standing> = (0..names.len()).map(standing).collect();
    // Without a finite rating: the winners above everybody, the losers below.
    let class = |player: &Standing| match player.rating {
        None if player.score > 0.5 => 0,
        Some(_) => 1,
        None => 2,
    };
    let strength = |player: &Standing| player.rating.unwrap_or(player.score);
    players.sort_by(|a, b| {
        (class(a), a.group)
            .cmp(&(class(b), b.group))
            .then(strength(b).total_cmp(&strength(a)))
            .then(b.score.total_cmp(&a.score))
    });
    players
}

/// Pairs of which both games are among those chosen.
fn complete_pairs(rated: &[RatedGame], chosen: impl Fn(&RatedGame) -> bool) -> usize {
    let mut games: HashMap<u64, usize> = HashMap::new();
    for game in rated.iter().filter(|game| chosen(game)) {
        *games.entry(game.pair).or_default() += 1;
    }
    games.values().filter(|&&n| n == 2).count()
}

fn differences(ranked: &[(usize, &str)], ratings: &Ratings) -> Vec<DifferenceRow> {
    let mut rows = Vec::new();
    for (k, &(a, first)) in ranked.iter().enumerate() {
        for &(b, second) in &ranked[k + 1..] {
            let found = ratings.difference(a, b);
            let elo = found.ok().map(|difference| difference.elo);
            let error = elo.and_then(|elo| elo.error);
            rows.push(DifferenceRow {
                first: first.to_owned(),
                second: second.to_owned(),
                difference: elo.map(|elo| elo.elo),
                error,
                superiority: found.ok().and_then(|difference| difference.superiority),
                reason: match found {
                    Err(reason) => Some(reason.to_string()),
                    Ok(_) => error.is_none().then(|| NO_SPREAD.to_owned()),
                },
            });
        }
    }
    rows
}

fn advantage(ratings: &Ratings) -> AdvantageRow {
    let found = ratings.first_advantage();
    let error = found.and_then(|estimate| estimate.error);
    let reason = match found {
        None => Some("the results set no bound to it, and it was taken as zero".to_owned()),
        Some(_) => error.is_none().then(|| NO_SPREAD.to_owned()),
    };
    AdvantageRow { elo: found.map(|estimate| estimate.elo), error, reason }
}
