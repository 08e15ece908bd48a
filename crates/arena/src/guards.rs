//! What may mislead in results, found and said.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use surakarta_game::Ending;

use crate::normal::quantile;
use crate::number::quantity;
use crate::results::{ResultRow, Results};
use crate::standings::{Repeats, Standings, StandingsOptions};

/// Pairs below which a player's games are called few.
const FEW_PAIRS: usize = 30;

/// A 95 % error in Elo above which a rating says little.
const WIDE: f64 = 100.0;

/// The share of a player's games lost on time from which on its rating is one of the machine.
const TIME_LOSSES: f64 = 0.01;

/// An opening is one-sided where one side takes more than this share of the points.
const ONE_SIDED: f64 = 0.9;

/// Pairs (or games) that a surprise must rest on, and openings that a complaint about them must.
const ENOUGH: usize = 10;

/// What may mislead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Guards {
    /// Games that repeat an earlier one.
    pub repeated_games: usize,
    /// Openings of which both colours' games, or more, are known.
    pub openings: usize,
    /// Those of them in which the same side took more than nine tenths of the points, whoever
    /// played it.
    pub one_sided_openings: usize,
    /// Points a game of whoever moved first, in complete pairs.
    pub first_player_score: Option<f64>,
    /// Games that each player lost by something else than play.
    pub faults: Vec<Faults>,
    /// Players that were not the same program throughout, and what they were.
    pub changed: Vec<Changed>,
    /// Players with few games or a wide interval.
    pub few_games: Vec<String>,
    /// Players whose result against each other contradicts their ratings beyond chance.
    pub non_transitive: Vec<[String; 2]>,
}

/// Games that a player lost by something else than play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Faults {
    /// The player.
    pub name: String,
    /// Its games.
    pub games: usize,
    /// Lost on time.
    pub time: usize,
    /// Lost by a crash.
    pub crash: usize,
    /// Lost by an illegal move.
    pub illegal_move: usize,
}

/// A player under whose name several programs played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The player.
    pub name: String,
    /// What it was, as the journals have it.
    pub identities: Vec<String>,
}

impl Guards {
    /// Looks at all results, and at those that count with their complete pairs.
    pub(crate) fn of(results: &Results, games: &[&ResultRow], complete: &[[usize; 2]]) -> Guards {
        let (openings, one_sided_openings) = openings(games, complete);
        let points: f64 = complete.iter().flatten().map(|&game| games[game].score).sum();
        let changed = results.identities.iter().filter(|(_, found)| found.len() > 1);
        Guards {
            repeated_games: 0,
            openings,
            one_sided_openings,
            first_player_score: (!complete.is_empty())
                .then(|| points / (2 * complete.len()) as f64),
            faults: faults(results, games),
            changed: changed
                .map(|(name, found)| Changed {
                    name: name.clone(),
                    identities: found.iter().cloned().collect(),
                })
                .collect(),
            ..Guards::default()
        }
    }

    /// Adds what the ratings show, and says everything.
    pub(crate) fn complete(
        &mut self,
        standings: &Standings,
        options: &StandingsOptions,
    ) -> Vec<String> {
        self.repeated_games =
            standings.distinct_games.map_or(0, |distinct| standings.games - distinct);
        let paired = standings.pairs > 0;
        let few = standings.players.iter().filter(|player| {
            let units = if paired { player.pairs } else { player.games / 2 };
            let wide = player.error.is_some_and(|error| error > WIDE);
            player.games > 0 && (units < FEW_PAIRS || wide)
        });
        self.few_games = few.map(|player| player.name.clone()).collect();
        let tested: Vec<_> =
            standings.surprises.iter().filter(|s| s.z.is_some() && s.clusters >= ENOUGH).collect();
        // Bonferroni: among so many pairs of players, one false alarm in twenty tables.
        let limit = quantile(1.0 - 0.025 / tested.len().max(1) as f64);
        let beyond = tested.iter().filter(|s| s.z.is_some_and(|z| z.abs() > limit));
        self.non_transitive = beyond.map(|s| [s.first.clone(), s.second.clone()]).collect();
        self.say(standings, options)
    }

    fn say(&self, standings: &Standings, options: &StandingsOptions) -> Vec<String> {
        let mut said = Vec::new();
        if self.repeated_games > 0 {
            let counted = match options.repeats {
                Repeats::Once => "each is counted once",
                Repeats::All => "they tell nothing new, and the errors are too small",
            };
            said.push(format!(
                "{} of {} repeat an earlier one of the same players and colours move by move: {counted}",
                self.repeated_games,
                quantity(standings.games, "game")
            ));
        }
        for faults in &self.faults {
            let Faults { name, games, time, crash, illegal_move } = faults;
            let all = quantity(games, "game");
            if *time as f64 > TIME_LOSSES * *games as f64 {
                said.push(format!(
                    "`{name}` lost {time} of its {all} by time: fewer at once, or more time"
                ));
            }
            if *crash > 0 {
                said.push(format!("`{name}` lost {crash} of its {all} by crash"));
            }
            if *illegal_move > 0 {
                said.push(format!("`{name}` lost {illegal_move} of its {all} by illegal-move"));
            }
        }
        for Changed { name, identities } in &self.changed {
            said.push(format!(
                "`{name}` was not the same program throughout ({}): its rating mixes them",
                identities.join(" | ")
            ));
        }
        if standings.groups.len() > 1 {
            let groups: Vec<String> =
                standings.groups.iter().map(|group| group.join(", ")).collect();
            said.push(format!(
                "there is no common scale: each of these groups has its own ({})",
                groups.join(" | ")
            ));
        }
        for [a, b] in &self.non_transitive {
            let Some(row) =
                standings.surprises.iter().find(|row| row.first == *a && row.second == *b)
            else {
                continue;
            };
            said.push(format!(
                "`{a}` scored {:.1} % against `{b}` where their ratings say {:.1} % (z = {:+.1}): strength is not one number here",
                100.0 * row.score,
                100.0 * row.expected,
                row.z.unwrap_or_default()
            ));
        }
        if let Some(score) = self.first_player_score
            && self.openings >= ENOUGH
            && (self.one_sided_openings as f64 > 0.75 * self.openings as f64
                || (score - 0.5).abs() > ONE_SIDED - 0.5)
        {
            said.push(format!(
                "{} of {} openings are one-sided, whoever plays them (who moves first scores {:.1} %): the colours decide such pairs, which tell little about the players",
                self.one_sided_openings,
                self.openings,
                100.0 * score
            ));
        }
        if !self.few_games.is_empty() {
            said.push(format!(
                "few games (under {FEW_PAIRS} pairs, or an interval wider than ±{WIDE:.0}): {}; play more before you conclude anything",
                self.few_games.join(", ")
            ));
        }
        said
    }
}

/// Openings with games of both colours, and how many of them are one-sided. Where openings are not
/// known, each pair is taken as one.
fn openings(games: &[&ResultRow], complete: &[[usize; 2]]) -> (usize, usize) {
    let mut points: HashMap<(bool, u128), (f64, f64)> = HashMap::new();
    for (n, pair) in complete.iter().enumerate() {
        for game in pair.iter().map(|&game| games[game]) {
            let key = game.opening.map_or((false, n as u128), |opening| (true, opening));
            let (total, score) = points.entry(key).or_default();
            *total += 1.0;
            *score += game.score;
        }
    }
    let one_sided = |(games, score): &&(f64, f64)| (score / games - 0.5).abs() > ONE_SIDED - 0.5;
    (points.len(), points.values().filter(one_sided).count())
}

fn faults(results: &Results, games: &[&ResultRow]) -> Vec<Faults> {
    let mut counts: BTreeMap<usize, [usize; 3]> = BTreeMap::new();
    for game in games {
        let kind = match game.ending {
            Some(Ending::Time) => 0,
            Some(Ending::Crash) => 1,
            Some(Ending::IllegalMove) => 2,
            _ => continue,
        };
        let loser = match game.score {
            0.0 => game.first,
            1.0 => game.second,
            _ => continue,
        };
        counts.entry(loser).or_default()[kind] += 1;
    }
    let row = |(player, [time, crash, illegal_move]): (usize, [usize; 3])| Faults {
        name: results.players[player].clone(),
        games: games.iter().filter(|game| [game.first, game.second].contains(&player)).count(),
        time,
        crash,
        illegal_move,
    };
    counts.into_iter().map(row).collect()
}
