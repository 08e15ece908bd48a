//! Bradley–Terry ratings by maximum likelihood, with their errors.
//!
//! The expected score of the player who moves first against the other is
//! 1 / (1 + 10^((R₂ − R₁ − W) / 400)), W being the advantage of the first move; a draw counts as half
//! a win and half a loss. At the maximum of the likelihood every player's expected score is the one
//! obtained. Errors come from the sandwich covariance A⁻¹ B A⁻¹: A is the information matrix of the
//! model, B the sum of squared scores (derivatives of the likelihood) of clusters of games, so that
//! neither draws nor the correlation of the two games of a pair have to be modelled.

use std::fmt;

use crate::connection::{Connection, Meeting, bounds_advantage};
use crate::fit::Fit;
use crate::normal::{self, Z95};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clusters {
    /// Colour-swapped pairs are; the two games of a pair share an opening.
    #[default]
    Pairs,
    /// Each game is.
    Games,
}

/// What fixes the scale: ratings are differences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Anchor {
    /// The mean of the players (of each group, where there are several) is zero. The error of a
    /// rating is relative to that mean.
    #[default]
    Mean,
    /// A player, by its number, has a given rating and no error; groups without it keep mean zero.
    Player(usize, f64),
}

/// How to rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RatingOptions {
    /// Fit the advantage of the first move; otherwise it is zero.
    pub first_advantage: bool,
    /// What errors take as independent.
    pub clusters: Clusters,
    /// What fixes the scale.
    pub anchor: Anchor,
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
        match self {
            Unrated::NoGames => write!(f, "no games"),
            Unrated::WonAll(n) => write!(f, "won all {n} games"),
            Unrated::LostAll(n) => write!(f, "lost all {n} games"),
            Unrated::WonOrLostAll(n) => {
                write!(f, "{n} games, all won against the weaker and all lost against the stronger")
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
    /// has no error.
    pub superiority: Option<f64>,
}

/// The ratings of players, by their numbers.
pub struct Ratings {
    ratings: Vec<Result<Estimate, Unrated>>,
    advantage: Option<Estimate>,
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
                Ok(Difference { elo, superiority: elo.error.map(los) })
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
    let mut meetings = vec![Meeting::default(); players * players];
    for game in games {
        assert!(game.first < players && game.second < players && game.first != game.second);
        let meeting = &mut meetings[game.first * players + game.second];
        meeting.games += 1.0;
        meeting.score += game.score;
    }
    let connection = Connection::new(players, &meetings);
    let groups = connection.groups();
    let mut parameter = vec![None; players];
    for (n, &player) in groups.iter().flatten().enumerate() {
        parameter[player] = Some(n);
    }
    let unrated = |player| unrated(players, player, &meetings);
    let mut ratings: Vec<Result<Estimate, Unrated>> =
        (0..players).map(|player| Err(unrated(player))).collect();
    let within: Vec<Meeting> = (0..players * players)
        .map(|k| match connection.comparable(k / players, k % players) {
            true => meetings[k],
            false => Meeting::default(),
        })
        .collect();
    let advantage = options.first_advantage && bounds_advantage(players, &within);
    let fit = Fit::new(players, &within, &parameter, &groups, advantage);
    let mut fit = fit.with_covariance(games, &connection, &parameter, options.clusters);
    let anchor = match options.anchor {
        Anchor::Mean => None,
        Anchor::Player(player, rating) => parameter[player].map(|n| (player, n, rating)),
    };
    if let Some((player, n, rating)) = anchor
        && let Some(group) = groups.iter().find(|group| group.contains(&player))
    {
        let members: Vec<usize> = group.iter().filter_map(|&p| parameter[p]).collect();
        fit.anchor(&members, n, rating);
    }
    for &player in groups.iter().flatten() {
        if let Some(n) = parameter[player] {
            ratings[player] = Ok(fit.estimate(n));
        }
    }
    if let Some((player, _, elo)) = anchor {
        ratings[player] = Ok(Estimate { elo, error: Some(0.0) });
    }
    let advantage = fit.advantage_estimate();
    Ratings { ratings, advantage, groups, connection, parameter, fit }
}

fn unrated(players: usize, player: usize, meetings: &[Meeting]) -> Unrated {
    let (mut games, mut score) = (0.0, 0.0);
    for other in 0..players {
        let (black, white) =
            (meetings[player * players + other], meetings[other * players + player]);
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
