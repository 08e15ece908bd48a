//! What results say about players.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::ArenaError;
use crate::game::ArenaGame;
use crate::guards::Guards;
use crate::match_up::{CrossRow, HeadToHead, SurpriseRow, cross_table};
use crate::ranking::{advantage, by_rank, by_size, complete_pairs, differences};
use crate::rating::{Clusters, RatedGame, RatingOptions, rate};
use crate::results::{ResultRow, Results};
use crate::sprt::Sprt;

/// Which of several games with the same players, colours, moves and result are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeats {
    /// The first: the others tell nothing new.
    #[default]
    Once,
    /// All of them.
    All,
}

/// How to rate, with players by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StandingsOptions {
    /// Fit the advantage of the first move; otherwise it is taken as zero.
    pub first_advantage: bool,
    /// What errors take as independent: colour-swapped pairs unless told otherwise.
    pub clusters: Clusters,
    /// Players whose ratings are given and fix the scale; otherwise the mean of all is zero.
    pub anchors: Vec<(String, f64)>,
    /// Virtual draws of each player against an imaginary one, see [`RatingOptions::prior`].
    pub prior: f64,
    /// Whether repeated games count.
    pub repeats: Repeats,
    /// The two players to look at in detail; where there are only two, they are, in their order.
    pub versus: Option<(String, String)>,
    /// A sequential test of these two players.
    pub sprt: Option<Sprt>,
}

/// Players by rank, their differences, and what to know about the games. What has no finite value is
/// `None` with a reason beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standings {
    /// Players, the strongest first.
    pub players: Vec<Standing>,
    /// Every two players, the one of higher rank first.
    pub differences: Vec<DifferenceRow>,
    /// Every two players that met, the one of higher rank first.
    pub cross_table: Vec<CrossRow>,
    /// What each two players scored beside what their ratings let expect.
    pub surprises: Vec<SurpriseRow>,
    /// Two players in detail; left out where standings are read.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub head_to_head: Option<HeadToHead>,
    /// The advantage of the first move, where it was asked for.
    pub first_advantage: Option<AdvantageRow>,
    /// The share of draws between equally strong players where nobody moves first, 0 to 1.
    pub draw_rate_at_equality: Option<f64>,
    /// Names of the players with a common scale, group by group, the largest first.
    pub groups: Vec<Vec<String>>,
    /// What the ratings are relative to: `mean 0`, `greedy = 0`.
    pub scale: String,
    /// What errors take as independent.
    pub clusters: Clusters,
    /// Virtual draws of each player, none if there is no prior.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior: Option<f64>,
    /// Games read.
    pub games: usize,
    /// Games that count, which are all but repeated ones unless those were asked for.
    pub counted: usize,
    /// Colour-swapped pairs of which both games count.
    pub pairs: usize,
    /// Games that differ in their moves (up to the symmetries of the board) or their result from
    /// any other with the same players and colours; `None` where no moves are known.
    pub distinct_games: Option<usize>,
    /// Positions after openings, those counted once that a symmetry turns into each other; `None`
    /// where none is known.
    pub distinct_openings: Option<usize>,
    /// How often games ended so, where that is known.
    pub endings: BTreeMap<String, usize>,
    /// What may mislead, as numbers and names.
    pub guards: Guards,
    /// The same, a sentence each.
    pub warnings: Vec<String>,
}

/// One player's rating and results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Games that count.
    pub games: usize,
    /// Colour-swapped pairs of which both games count.
    pub pairs: usize,
    /// Points a game: 1 a win, ½ a draw.
    pub score: f64,
    /// All its games.
    #[serde(flatten)]
    pub total: Tally,
    /// Those in which it moved first.
    pub as_first: Tally,
}

/// Games won, drawn and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Won.
    pub wins: usize,
    /// Drawn.
    pub draws: usize,
    /// Lost.
    pub losses: usize,
}

impl Tally {
    /// Counts a game by its points: 1, ½ or 0.
    pub(crate) fn add(&mut self, points: f64) {
        match points {
            1.0 => self.wins += 1,
            0.0 => self.losses += 1,
            _ => self.draws += 1,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

impl DifferenceRow {
    /// The same from the side of one of the two.
    pub(crate) fn seen_by(&self, player: &str) -> DifferenceRow {
        let mut row = self.clone();
        if row.first != player {
            std::mem::swap(&mut row.first, &mut row.second);
            row.difference = row.difference.map(|elo| -elo);
            row.superiority = row.superiority.map(|p| 1.0 - p);
        }
        row
    }
}

/// The advantage of the first move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdvantageRow {
    /// Elo.
    pub elo: Option<f64>,
    /// Half the 95 % interval.
    pub error: Option<f64>,
    /// Why something is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Standings {
    /// Rates the named players by their games, in whatever order these are.
    ///
    /// # Errors
    /// If a game, or an option, names a player who is not in the list.
    pub fn of(
        names: &[String],
        games: &[ArenaGame],
        options: &StandingsOptions,
    ) -> Result<Standings, ArenaError> {
        let mut results = Results::of_players(names);
        results.add(games)?;
        Standings::of_results(&results, options)
    }

    /// Rates the players of results, in whatever order these are; only games outside pairs count in
    /// their own order, for a sequential test without pairs.
    ///
    /// # Errors
    /// If an option names a player who is not among them.
    pub fn of_results(
        results: &Results,
        options: &StandingsOptions,
    ) -> Result<Standings, ArenaError> {
        let names = &results.players;
        let anchors =
            options.anchors.iter().map(|(name, rating)| Ok((results.find(name)?, *rating)));
        let anchors = anchors.collect::<Result<Vec<_>, ArenaError>>()?;
        let versus = match &options.versus {
            Some((a, b)) => Some([results.find(a)?, results.find(b)?]),
            None => (names.len() == 2).then_some([0, 1]),
        };
        let all = in_order(&results.games);
        let repeated = repeated(&all);
        let counts = |n: &usize| options.repeats == Repeats::All || !repeated[*n];
        let games: Vec<&ResultRow> = (0..all.len()).filter(counts).map(|n| all[n]).collect();
        let pairs = numbered(&games);
        let rated: Vec<RatedGame> = games
            .iter()
            .zip(&pairs)
            .map(|(game, &pair)| {
                let ResultRow { first, second, score, .. } = **game;
                RatedGame { first, second, score, pair }
            })
            .collect();
        let StandingsOptions { first_advantage, clusters, prior, .. } = *options;
        let rating = RatingOptions { first_advantage, clusters, anchors, prior };
        let ratings = rate(names.len(), &rated, &rating);
        let complete = complete_pairs(&games);
        let order = by_rank(names, &rated, &complete, &ratings);
        let players: Vec<Standing> = order.iter().map(|(_, standing)| standing.clone()).collect();
        let order: Vec<usize> = order.into_iter().map(|(player, _)| player).collect();
        let mut endings = BTreeMap::new();
        for ending in games.iter().filter_map(|game| game.ending) {
            *endings.entry(ending.name().to_owned()).or_default() += 1;
        }
        let known = results.games.iter().any(|game| game.moves.is_some());
        let openings: HashSet<u128> =
            results.games.iter().filter_map(|game| game.opening).collect();
        let groups = by_size(&ratings)
            .into_iter()
            .map(|group| group.iter().map(|&player| names[player].clone()).collect())
            .collect();
        let head_to_head = versus.map(|[a, b]| HeadToHead::of([a, b], names, &games, options.sprt));
        let mut standings = Standings {
            players,
            differences: differences(&order, names, &ratings),
            cross_table: cross_table(&order, names, &rated),
            surprises: SurpriseRow::of(&ratings, &order, names),
            head_to_head,
            first_advantage: first_advantage.then(|| advantage(&ratings)),
            draw_rate_at_equality: ratings.draw_rate_at_equality(),
            groups,
            scale: scale(options),
            clusters,
            prior: (prior > 0.0).then_some(prior),
            games: results.games.len(),
            counted: games.len(),
            pairs: complete.len(),
            distinct_games: known.then(|| repeated.iter().filter(|&&again| !again).count()),
            distinct_openings: (!openings.is_empty()).then_some(openings.len()),
            endings,
            guards: Guards::of(results, &games, &complete),
            warnings: Vec::new(),
        };
        standings.hold_scale(options);
        let mut guards = std::mem::take(&mut standings.guards);
        standings.warnings.extend(guards.complete(&standings, options));
        standings.guards = guards;
        standings.warnings.extend(results.notes.iter().cloned());
        Ok(standings)
    }

    /// The row of two players, whichever has the higher rank: how much stronger `a` is than `b`.
    pub fn difference(&self, a: &str, b: &str) -> Option<DifferenceRow> {
        let row = self
            .differences
            .iter()
            .find(|row| [(a, b), (b, a)].contains(&(row.first.as_str(), row.second.as_str())))?;
        Some(row.seen_by(a))
    }

    /// Says it where given ratings do not fix the scale of the others.
    fn hold_scale(&mut self, options: &StandingsOptions) {
        let lost: Vec<&str> = options
            .anchors
            .iter()
            .filter(|(name, _)| self.players.iter().any(|p| p.name == *name && p.rating.is_none()))
            .map(|(name, _)| name.as_str())
            .collect();
        if !lost.is_empty() {
            "mean 0".clone_into(&mut self.scale);
            self.warnings.push(format!(
                "`{}` cannot fix the scale, as it has no finite rating: the mean is 0",
                lost.join("`, `")
            ));
        }
    }
}

fn scale(options: &StandingsOptions) -> String {
    let given = options.anchors.iter().map(|(name, rating)| format!("{name} = {rating}"));
    match options.anchors.len() {
        0 => "mean 0".to_owned(),
        _ => given.collect::<Vec<_>>().join(", "),
    }
}

/// Games in the order of their pairs, whatever the order given: which of several repeated games
/// counts depends on it. Those outside pairs come last, as they are.
fn in_order(games: &[ResultRow]) -> Vec<&ResultRow> {
    let place = |game: &&ResultRow| {
        game.pair.map_or((u64::MAX, 0, 0, 0), |pair| {
            (pair, game.first, game.second, (2.0 * game.score) as u8)
        })
    };
    let mut order: Vec<&ResultRow> = games.iter().collect();
    order.sort_by_key(place);
    order
}

/// Which games repeat an earlier one.
fn repeated(games: &[&ResultRow]) -> Vec<bool> {
    let mut seen = HashSet::new();
    let again = |game: &&ResultRow| {
        let Some(moves) = game.moves else { return false };
        !seen.insert((game.first, game.second, moves, (2.0 * game.score) as u8))
    };
    games.iter().map(again).collect()
}

/// Numbers of pairs for the ratings: games without a pair have one of their own.
fn numbered(games: &[&ResultRow]) -> Vec<u64> {
    let mut next = games.iter().filter_map(|game| game.pair).max().map_or(0, |last| last + 1);
    let mut alone = || {
        next += 1;
        next - 1
    };
    games.iter().map(|game| game.pair.unwrap_or_else(&mut alone)).collect()
}
