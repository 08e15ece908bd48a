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
use crate::linear::{Cholesky, product};
use crate::normal::{self, Z95};

/// Elo of one natural unit of the model: 400 / ln 10.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

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
    if let Anchor::Player(player, rating) = options.anchor {
        let group = groups.iter().find(|group| group.contains(&player));
        if let (Some(group), Some(anchor)) = (group, parameter[player]) {
            let members: Vec<usize> = group.iter().filter_map(|&p| parameter[p]).collect();
            fit.anchor(&members, anchor, rating / ELO);
        }
    }
    for &player in groups.iter().flatten() {
        if let Some(n) = parameter[player] {
            ratings[player] = Ok(fit.estimate(n));
        }
    }
    let advantage = advantage.then(|| fit.estimate(fit.players));
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

/// The most likely parameters in natural units: one for each rated player, group by group, then the
/// advantage of the first move if it is fitted.
struct Fit {
    players: usize,
    values: Vec<f64>,
    has_advantage: bool,
    /// The inverse of the information matrix, sums over each group held at zero.
    inverse: Vec<f64>,
    /// The sandwich covariance.
    covariance: Vec<f64>,
}

impl Fit {
    /// Newton's method with step halving: the likelihood is concave, and its maximum finite.
    fn new(
        n: usize,
        meetings: &[Meeting],
        parameter: &[Option<usize>],
        groups: &[Vec<usize>],
        has_advantage: bool,
    ) -> Fit {
        let players = groups.iter().map(Vec::len).sum();
        let size = players + usize::from(has_advantage);
        let met: Vec<(usize, usize, Meeting)> = meetings
            .iter()
            .enumerate()
            .filter(|(_, meeting)| meeting.games > 0.0)
            .filter_map(|(k, meeting)| Some((parameter[k / n]?, parameter[k % n]?, *meeting)))
            .collect();
        let mut fit = Fit {
            players,
            values: vec![0.0; size],
            has_advantage,
            inverse: Vec::new(),
            covariance: Vec::new(),
        };
        for _ in 0..200 {
            let (gradient, information) = fit.derivatives(&met, groups);
            let Some(cholesky) = Cholesky::new(size, information) else { break };
            let mut step = gradient;
            cholesky.solve(&mut step);
            let longest = step.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let from = fit.values.clone();
            let before = fit.likelihood(&met);
            let mut length = 1.0;
            loop {
                for ((value, from), step) in fit.values.iter_mut().zip(&from).zip(&step) {
                    *value = from + length * step;
                }
                // Close to the maximum rounding hides the gain, and full steps are right.
                if longest < 1e-4 || fit.likelihood(&met) >= before || length < 1e-9 {
                    break;
                }
                length /= 2.0;
            }
            if longest < 1e-11 {
                break;
            }
        }
        let (_, information) = fit.derivatives(&met, groups);
        let cholesky = Cholesky::new(size, information);
        // Not positive definite only where results are so lopsided that floats cannot tell.
        fit.inverse = cholesky.map_or(vec![f64::NAN; size * size], |c| c.inverse());
        fit
    }

    fn advantage(&self) -> f64 {
        if self.has_advantage { self.values[self.players] } else { 0.0 }
    }

    /// Natural log-odds of the player who moves first.
    fn odds(&self, first: usize, second: usize) -> f64 {
        self.values[first] - self.values[second] + self.advantage()
    }

    fn likelihood(&self, met: &[(usize, usize, Meeting)]) -> f64 {
        let log = |x: f64| -(-x.abs()).exp().ln_1p() + x.min(0.0);
        let of = |&(first, second, m): &(usize, usize, Meeting)| {
            let odds = self.odds(first, second);
            m.score * log(odds) + (m.games - m.score) * log(-odds)
        };
        met.iter().map(of).sum()
    }

    /// Gradient of the likelihood, and information matrix with the square of each group's sum added,
    /// which holds that sum at zero and changes nothing else.
    fn derivatives(
        &self,
        met: &[(usize, usize, Meeting)],
        groups: &[Vec<usize>],
    ) -> (Vec<f64>, Vec<f64>) {
        let size = self.values.len();
        let mut gradient = vec![0.0; size];
        let mut information = vec![0.0; size * size];
        for &(first, second, meeting) in met {
            let p = logistic(self.odds(first, second));
            let entries = self.entries(first, second);
            for (a, x) in entries {
                gradient[a] += x * (meeting.score - meeting.games * p);
                for (b, y) in entries {
                    information[a * size + b] += x * y * meeting.games * p * (1.0 - p);
                }
            }
        }
        let mut begin = 0;
        for group in groups {
            let members = begin..begin + group.len();
            begin = members.end;
            // About as large as the other entries, for the sake of precision.
            let trace: f64 = members.clone().map(|k| information[k * size + k]).sum();
            let weight = trace / (group.len() * group.len()) as f64;
            for a in members.clone() {
                for b in members.clone() {
                    information[a * size + b] += weight;
                }
            }
        }
        (gradient, information)
    }

    /// How the log-odds of a game depend on the parameters; without an advantage its entry is zero.
    fn entries(&self, first: usize, second: usize) -> [(usize, f64); 3] {
        let advantage = if self.has_advantage { (self.players, 1.0) } else { (0, 0.0) };
        [(first, 1.0), (second, -1.0), advantage]
    }

    fn with_covariance(
        mut self,
        games: &[RatedGame],
        connection: &Connection,
        parameter: &[Option<usize>],
        clusters: Clusters,
    ) -> Fit {
        let size = self.values.len();
        // In the order of pairs, whatever the order given: sums of floats depend on it.
        let mut order: Vec<u32> = (0..games.len() as u32).collect();
        if !games.is_sorted_by_key(|game| game.pair) {
            order.sort_by_key(|&k| games[k as usize].pair);
        }
        let expected: Vec<f64> = (0..self.players * self.players)
            .map(|k| logistic(self.odds(k / self.players, k % self.players)))
            .collect();
        let mut squares = vec![0.0; size * size];
        let mut score = vec![0.0; size];
        let mut touched: Vec<usize> = Vec::new();
        let same = |a: &u32, b: &u32| {
            clusters == Clusters::Pairs && games[*a as usize].pair == games[*b as usize].pair
        };
        for cluster in order.chunk_by(same) {
            for game in cluster.iter().map(|&k| &games[k as usize]) {
                let (Some(first), Some(second)) = (parameter[game.first], parameter[game.second])
                else {
                    continue;
                };
                if !connection.comparable(game.first, game.second) {
                    continue;
                }
                let surprise = game.score - expected[first * self.players + second];
                for (a, x) in self.entries(first, second) {
                    if x != 0.0 && !touched.contains(&a) {
                        touched.push(a);
                    }
                    score[a] += x * surprise;
                }
            }
            for &a in &touched {
                for &b in &touched {
                    squares[a * size + b] += score[a] * score[b];
                }
            }
            for a in touched.drain(..) {
                score[a] = 0.0;
            }
        }
        let half = product(size, &self.inverse, &squares);
        self.covariance = product(size, &half, &self.inverse);
        self
    }

    /// Moves the scale of a group so that one of its members has a given rating, without error.
    fn anchor(&mut self, members: &[usize], anchor: usize, rating: f64) {
        let size = self.values.len();
        let shift = rating - self.values[anchor];
        for &k in members {
            self.values[k] += shift;
        }
        for matrix in [&mut self.covariance, &mut self.inverse] {
            let row = matrix[anchor * size..][..size].to_vec();
            for &k in members {
                for (x, anchored) in matrix[k * size..][..size].iter_mut().zip(&row) {
                    *x -= anchored;
                }
            }
            for line in matrix.chunks_exact_mut(size) {
                let anchored = line[anchor];
                for &k in members {
                    line[k] -= anchored;
                }
            }
        }
        self.values[anchor] = rating;
    }

    fn estimate(&self, k: usize) -> Estimate {
        let at = k * self.values.len() + k;
        Estimate { elo: ELO * self.values[k], error: error(self.covariance[at], self.inverse[at]) }
    }

    fn difference(&self, a: usize, b: usize) -> Estimate {
        let size = self.values.len();
        let of = |m: &[f64]| m[a * size + a] + m[b * size + b] - 2.0 * m[a * size + b];
        Estimate {
            elo: ELO * (self.values[a] - self.values[b]),
            error: error(of(&self.covariance), of(&self.inverse)),
        }
    }
}

/// Half the 95 % interval in Elo; none where the variance vanishes beside that of the model, unless
/// that vanishes too, as an anchor's does.
fn error(variance: f64, of_model: f64) -> Option<f64> {
    if of_model == 0.0 {
        return Some(0.0);
    }
    (variance > 1e-9 * of_model).then(|| ELO * Z95 * variance.sqrt())
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
