//! Bradley–Terry ratings by maximum likelihood, with their errors.
//!
//! The expected score of the player who moves first against the other is
//! 1 / (1 + 10^((R₂ − R₁ − W) / 400)), W being the advantage of the first move; a draw counts as half
//! a win and half a loss. At the maximum of the likelihood every player's expected score is the one
//! obtained. Errors come from the sandwich covariance A⁻¹ B A⁻¹: A is the information matrix of the
//! model, B the sum of squared scores (derivatives of the likelihood) of clusters of games, so that
//! neither draws nor the correlation of the two games of a pair have to be modelled.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::connection::{Connection, Meeting, bounds_advantage};
use crate::davidson;
use crate::fit::{Fit, Model};
use crate::normal::{self, Z95};
use crate::number::quantity;
use crate::surprise::Surprise;

/// A result as ratings see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatedGame {
    /// The player who moved first, by its number.
    pub first: usize,
    /// The other one.
    pub second: usize,
    /// Points of the one who moved first: 1, ½ or 0.
    pub score: f64,
    /// The colour-swapped pair that it belongs to: any number that the two games share and no other
    /// game has.
    pub pair: u64,
}

/// Which games are taken as independent of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clusters {
    /// Colour-swapped pairs are; the two games of a pair share an opening.
    #[default]
    Pairs,
    /// Each game is.
    Games,
}

/// How to rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RatingOptions {
    /// Fit the advantage of the first move; otherwise it is zero.
    pub first_advantage: bool,
    /// What errors take as independent.
    pub clusters: Clusters,
    /// Players, by their numbers, whose ratings are given and have no error: they fix the scale.
    /// Groups without one, and everybody if there is none, have mean zero, and the error of a rating
    /// is relative to that mean.
    pub anchors: Vec<(usize, f64)>,
    /// Virtual draws of each player against one more player, who is the same for all and whose rating
    /// is fitted like theirs: a prior, which gives a finite rating to everybody who has played. The
    /// draws have no first mover. 0 is none.
    pub prior: f64,
}

impl fmt::Display for Clusters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Clusters::Pairs => "pairs",
            Clusters::Games => "games",
        })
    }
}

/// A number in Elo and what it may be off by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The most likely value.
    pub elo: f64,
    /// Half the width of its 95 % interval. `None` where the games show no variation from which to
    /// take one: a single pair, or pairs that all gave the same.
    pub error: Option<f64>,
}

/// Why a player has no finite rating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrated {
    /// It has not played.
    NoGames,
    /// It won all of so many games.
    WonAll(usize),
    /// It lost all of so many games.
    LostAll(usize),
    /// It won every game against some players and lost every game against the others.
    WonOrLostAll(usize),
}

impl fmt::Display for Unrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |n: &usize| match n {
            1 => "its only game".to_owned(),
            n => format!("all {n} games"),
        };
        match self {
            Unrated::NoGames => write!(f, "no games"),
            Unrated::WonAll(n) => write!(f, "won {}", all(n)),
            Unrated::LostAll(n) => write!(f, "lost {}", all(n)),
            Unrated::WonOrLostAll(n) => {
                let games = quantity(n, "game");
                write!(f, "{games}, all won against the weaker and all lost against the stronger")
            }
        }
    }
}

/// Why two players have no finite difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomparable {
    /// No chain of games connects them.
    NeverMet,
    /// Every chain of games between them was won throughout by the same side.
    OneSided,
}

impl fmt::Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Incomparable::NeverMet => "no chain of games connects them",
            Incomparable::OneSided => "all points between them went one way",
        })
    }
}

/// How much stronger one player is than another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// In Elo, with the covariance of both ratings taken into account.
    pub elo: Estimate,
    /// Likelihood of superiority: the probability that the difference is above zero; `None` where it
    /// has no error, or both ratings are given.
    pub superiority: Option<f64>,
}

/// The ratings of players, by their numbers.
pub struct Ratings {
    ratings: Vec<Result<Estimate, Unrated>>,
    advantage: Option<Estimate>,
    draw_rate: Option<f64>,
    surprises: Vec<Surprise>,
    groups: Vec<Vec<usize>>,
    connection: Connection,
    /// Each player's parameter.
    parameter: Vec<Option<usize>>,
    fit: Fit,
}

impl Ratings {
    /// The rating of a player, or why it has none.
    pub fn rating(&self, player: usize) -> Result<Estimate, Unrated> {
        self.ratings[player]
    }

    /// The advantage of the first move, if it was asked for. `None` too if the results set no bound
    /// to it, as when everybody had the same colour throughout: then it is taken as zero.
    pub fn first_advantage(&self) -> Option<Estimate> {
        self.advantage
    }

    /// The share of draws between equally strong players where the first move is no advantage, fitted
    /// in Davidson's form so that as many draws are expected as there were; `None` without games.
    pub fn draw_rate_at_equality(&self) -> Option<f64> {
        self.draw_rate
    }

    /// What each two players scored beside what their ratings let expect, the lower number first.
    pub fn surprises(&self) -> &[Surprise] {
        &self.surprises
    }

    /// Players with finite differences, two or more in a group. Each group has a scale of its own.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// How much stronger `a` is than `b`, or why that has no finite answer.
    ///
    /// # Errors
    /// If the two are not in one group.
    pub fn difference(&self, a: usize, b: usize) -> Result<Difference, Incomparable> {
        match (self.parameter[a], self.parameter[b]) {
            (Some(p), Some(q)) if self.connection.comparable(a, b) => {
                let elo = self.fit.difference(p, q);
                let los = |error| normal::distribution(Z95 * elo.elo / error);
                let error = elo.error.filter(|&error| error > 0.0);
                Ok(Difference { elo, superiority: error.map(los) })
            }
            _ if self.connection.reaches(a, b) || self.connection.reaches(b, a) => {
                Err(Incomparable::OneSided)
            }
            _ => Err(Incomparable::NeverMet),
        }
    }
}

/// Rates `players` players, numbered from 0, by their games.
///
/// Players without a finite rating (see [`Unrated`]) are left out, and the games against them, which
/// say nothing about the others. Time grows with the games, and with the cube of the players.
///
/// # Panics
/// If a game names a player beyond their number, or one player twice.
pub fn rate(players: usize, games: &[RatedGame], options: &RatingOptions) -> Ratings {
    let neutral = (options.prior > 0.0).then_some(players);
    let n = players + usize::from(neutral.is_some());
    let mut meetings = vec![Meeting::default(); n * n];
    for game in games {
        assert!(game.first < players && game.second < players && game.first != game.second);
        let meeting = &mut meetings[game.first * n + game.second];
        meeting.games += 1.0;
        meeting.score += game.score;
        meeting.draws += f64::from(u8::from(game.score == 0.5));
    }
    let mut ratings: Vec<Result<Estimate, Unrated>> =
        (0..players).map(|player| Err(unrated(n, player, &meetings))).collect();
    if let Some(neutral) = neutral {
        for player in (0..players).filter(|&player| ratings[player] != Err(Unrated::NoGames)) {
            let draws = Meeting { games: options.prior, score: options.prior / 2.0, draws: 0.0 };
            meetings[player * n + neutral] = draws;
        }
    }
    let anchored: Vec<usize> = options.anchors.iter().map(|&(player, _)| player).collect();
    let connection = Connection::new(n, &meetings, &anchored);
    let mut groups = connection.groups();
    let mut parameter = vec![None; n];
    for (k, &player) in groups.iter().flatten().enumerate() {
        parameter[player] = Some(k);
    }
    let within: Vec<Meeting> = (0..n * n)
        .map(|k| match connection.comparable(k / n, k % n) {
            true => meetings[k],
            false => Meeting::default(),
        })
        .collect();
    let fit = Fit::new(&Model {
        n,
        meetings: &within,
        parameter: &parameter,
        groups: &groups,
        given: &options.anchors,
        neutral,
        has_advantage: options.first_advantage && bounds_advantage(n, &within, &anchored, neutral),
    });
    let (clusters, prior) = (options.clusters, options.prior);
    let (fit, residuals) = fit.with_covariance(games, &connection, &parameter, clusters, prior);
    for &player in groups.iter().flatten().filter(|&&player| player < players) {
        if let Some(k) = parameter[player] {
            ratings[player] = Ok(fit.estimate(k));
        }
    }
    for &(player, elo) in options.anchors.iter().filter(|&&(player, _)| parameter[player].is_some())
    {
        ratings[player] = Ok(Estimate { elo, error: Some(0.0) });
    }
    let met = within.iter().enumerate().filter(|(_, meeting)| meeting.games > 0.0);
    let drawn: Vec<(f64, Meeting)> = met
        .filter(|(k, _)| Some(k % n) != neutral)
        .filter_map(|(k, &m)| Some((fit.expected(parameter[k / n]?, parameter[k % n]?), m)))
        .collect();
    let draw_rate = davidson::draw_rate_at_equality(&drawn);
    let surprises = residuals.surprises(&fit, &parameter);
    for group in &mut groups {
        group.retain(|&player| player < players);
    }
    let advantage = fit.advantage_estimate();
    Ratings { ratings, advantage, draw_rate, surprises, groups, connection, parameter, fit }
}

fn unrated(n: usize, player: usize, meetings: &[Meeting]) -> Unrated {
    let (mut games, mut score) = (0.0, 0.0);
    for other in 0..n {
        let (black, white) = (meetings[player * n + other], meetings[other * n + player]);
        games += black.games + white.games;
        score += black.score + white.games - white.score;
    }
    match games as usize {
        0 => Unrated::NoGames,
        n if score == games => Unrated::WonAll(n),
        n if score == 0.0 => Unrated::LostAll(n),
        n => Unrated::WonOrLostAll(n),
    }
}
