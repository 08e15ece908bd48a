//! The fit of ratings: Newton's method, and the covariance of what it finds.

use crate::connection::{Connection, Meeting};
use crate::linear::{Cholesky, product};
use crate::normal::Z95;
use crate::rating::{Clusters, Estimate, RatedGame};
use crate::surprise::Residuals;

/// Elo of one natural unit of the model: 400 / ln 10.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// Which parameters there are, and what determines them.
pub(crate) struct Model<'a> {
    /// Players, the one of the prior among them.
    pub(crate) n: usize,
    /// Results of each ordered pair of players, where they count.
    pub(crate) meetings: &'a [Meeting],
    /// Each player's parameter.
    pub(crate) parameter: &'a [Option<usize>],
    /// Players with finite differences, numbered by parameter one after another.
    pub(crate) groups: &'a [Vec<usize>],
    /// Players with given ratings in Elo.
    pub(crate) given: &'a [(usize, f64)],
    /// The player of the prior, against whom the first move is no advantage.
    pub(crate) neutral: Option<usize>,
    /// Whether the advantage of the first move is fitted.
    pub(crate) has_advantage: bool,
}

/// The most likely parameters in natural units: one for each rated player, group by group, then the
/// advantage of the first move if it is fitted.
pub(crate) struct Fit {
    players: usize,
    values: Vec<f64>,
    has_advantage: bool,
    /// The parameter of the player of the prior.
    neutral: Option<usize>,
    /// Which parameters are given.
    fixed: Vec<bool>,
    /// Each group's parameters over which the sum is held at zero; none where some are given.
    centred: Vec<Vec<usize>>,
    /// The inverse of the information matrix, with these sums held.
    inverse: Vec<f64>,
    /// The sandwich covariance.
    covariance: Vec<f64>,
}

impl Fit {
    /// Newton's method with step halving: the likelihood is concave, and its maximum finite.
    pub(crate) fn new(model: &Model<'_>) -> Fit {
        let Model { n, parameter, has_advantage, .. } = *model;
        let players = model.groups.iter().map(Vec::len).sum();
        let size = players + usize::from(has_advantage);
        let met: Vec<(usize, usize, Meeting)> = model
            .meetings
            .iter()
            .enumerate()
            .filter(|(_, meeting)| meeting.games > 0.0)
            .filter_map(|(k, meeting)| Some((parameter[k / n]?, parameter[k % n]?, *meeting)))
            .collect();
        let mut fit = Fit {
            players,
            values: vec![0.0; size],
            has_advantage,
            neutral: model.neutral.and_then(|player| parameter[player]),
            fixed: vec![false; size],
            centred: Vec::new(),
            inverse: Vec::new(),
            covariance: Vec::new(),
        };
        fit.hold(model);
        for _ in 0..200 {
            let (gradient, information) = fit.derivatives(&met);
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
        let (_, information) = fit.derivatives(&met);
        let cholesky = Cholesky::new(size, information);
        // Not positive definite only where results are so lopsided that floats cannot tell.
        fit.inverse = cholesky.map_or(vec![f64::NAN; size * size], |c| c.inverse());
        for k in (0..size).filter(|&k| fit.fixed[k]) {
            fit.inverse[k * size + k] = 0.0;
        }
        fit
    }

    /// Sets given ratings, with the others of their group at their mean to begin with.
    fn hold(&mut self, model: &Model<'_>) {
        for group in model.groups {
            let of = |player: &usize| model.parameter[*player];
            let given: Vec<(usize, f64)> = model
                .given
                .iter()
                .filter(|(player, _)| group.contains(player))
                .filter_map(|(player, rating)| Some((of(player)?, rating / ELO)))
                .collect();
            let members: Vec<usize> = group.iter().filter_map(of).collect();
            if given.is_empty() {
                let real = members.iter().filter(|&&k| Some(k) != self.neutral);
                self.centred.push(real.copied().collect());
                continue;
            }
            let mean = given.iter().map(|(_, value)| value).sum::<f64>() / given.len() as f64;
            for k in members {
                self.values[k] = mean;
            }
            for (k, value) in given {
                self.values[k] = value;
                self.fixed[k] = true;
            }
        }
    }

    fn advantage(&self) -> f64 {
        if self.has_advantage { self.values[self.players] } else { 0.0 }
    }

    /// Natural log-odds of the player who moves first.
    fn odds(&self, first: usize, second: usize) -> f64 {
        let difference = self.values[first] - self.values[second];
        if self.is_neutral(first, second) { difference } else { difference + self.advantage() }
    }

    fn is_neutral(&self, first: usize, second: usize) -> bool {
        self.neutral.is_some_and(|k| k == first || k == second)
    }

    /// Expected score of the one who moves first.
    pub(crate) fn expected(&self, first: usize, second: usize) -> f64 {
        logistic(self.odds(first, second))
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
    /// which holds that sum at zero and changes nothing else. Given parameters stay where they are.
    fn derivatives(&self, met: &[(usize, usize, Meeting)]) -> (Vec<f64>, Vec<f64>) {
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
        for members in &self.centred {
            // About as large as the other entries, for the sake of precision.
            let trace: f64 = members.iter().map(|k| information[k * size + k]).sum();
            let weight = trace / (members.len() * members.len()) as f64;
            for a in members {
                for b in members {
                    information[a * size + b] += weight;
                }
            }
        }
        for k in (0..size).filter(|&k| self.fixed[k]) {
            gradient[k] = 0.0;
            for other in 0..size {
                information[k * size + other] = 0.0;
                information[other * size + k] = 0.0;
            }
            information[k * size + k] = 1.0;
        }
        (gradient, information)
    }

    /// How the log-odds of a game depend on the parameters; without an advantage its entry is zero.
    fn entries(&self, first: usize, second: usize) -> [(usize, f64); 3] {
        let advantage = match self.has_advantage && !self.is_neutral(first, second) {
            true => (self.players, 1.0),
            false => (0, 0.0),
        };
        [(first, 1.0), (second, -1.0), advantage]
    }

    /// Adds the sandwich covariance, which takes clusters of games as independent of each other, and
    /// so many virtual draws of each real player. Returns what is left between each two players.
    pub(crate) fn with_covariance(
        mut self,
        games: &[RatedGame],
        connection: &Connection,
        parameter: &[Option<usize>],
        clusters: Clusters,
        prior: f64,
    ) -> (Fit, Residuals) {
        let size = self.values.len();
        // In the order of pairs, whatever the order given: sums of floats depend on it.
        let place =
            |game: &RatedGame| (game.pair, game.first, game.second, (2.0 * game.score) as u8);
        let mut order: Vec<u32> = (0..games.len() as u32).collect();
        if !games.is_sorted_by_key(place) {
            order.sort_by_key(|&k| place(&games[k as usize]));
        }
        let expected: Vec<f64> = (0..self.players * self.players)
            .map(|k| self.expected(k / self.players, k % self.players))
            .collect();
        let mut squares = vec![0.0; size * size];
        let mut score = vec![0.0; size];
        let mut touched: Vec<usize> = Vec::new();
        let mut residuals = Residuals::new(self.players);
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
                let p = expected[first * self.players + second];
                let surprise = game.score - p;
                residuals.add(first, second, game.score, p);
                for (a, x) in self.entries(first, second) {
                    if x != 0.0 && !self.fixed[a] {
                        if !touched.contains(&a) {
                            touched.push(a);
                        }
                        score[a] += x * surprise;
                    }
                }
            }
            residuals.end_cluster();
            for &a in &touched {
                for &b in &touched {
                    squares[a * size + b] += score[a] * score[b];
                }
            }
            for a in touched.drain(..) {
                score[a] = 0.0;
            }
        }
        if let Some(neutral) = self.neutral {
            for player in (0..self.players).filter(|&player| player != neutral) {
                let square = prior * (0.5 - expected[player * self.players + neutral]).powi(2);
                for (a, x) in [(player, 1.0), (neutral, -1.0)] {
                    for (b, y) in [(player, 1.0), (neutral, -1.0)] {
                        if !self.fixed[a] && !self.fixed[b] {
                            squares[a * size + b] += x * y * square;
                        }
                    }
                }
            }
        }
        let half = product(size, &self.inverse, &squares);
        self.covariance = product(size, &half, &self.inverse);
        (self, residuals)
    }

    /// What remains of the variance of a sum of surprises between two players once the parameters
    /// have been fitted to it, too: `variance` is that at known parameters, `shared` its covariance
    /// with the score of the advantage, `slope` how the expected sum depends on (first, second,
    /// advantage).
    pub(crate) fn left_variance(
        &self,
        [a, b]: [usize; 2],
        variance: f64,
        shared: f64,
        [slope, slope_of_advantage]: [f64; 2],
    ) -> f64 {
        let size = self.values.len();
        let mut gradient = vec![(a, slope), (b, -slope)];
        let mut common = vec![(a, variance), (b, -variance)];
        if self.has_advantage {
            gradient.push((self.players, slope_of_advantage));
            common.push((self.players, shared));
        }
        let form = |m: &[f64], x: &[(usize, f64)], y: &[(usize, f64)]| -> f64 {
            let row = |&(k, v): &(usize, f64)| {
                v * y.iter().map(|&(l, w)| w * m[k * size + l]).sum::<f64>()
            };
            x.iter().map(row).sum()
        };
        // The score of a given parameter is no part of what was fitted.
        common.retain(|&(k, _)| !self.fixed[k]);
        variance - 2.0 * form(&self.inverse, &gradient, &common)
            + form(&self.covariance, &gradient, &gradient)
    }

    /// A player's rating.
    pub(crate) fn estimate(&self, k: usize) -> Estimate {
        if self.fixed[k] {
            return Estimate { elo: ELO * self.values[k], error: Some(0.0) };
        }
        let at = k * self.values.len() + k;
        Estimate { elo: ELO * self.values[k], error: error(self.covariance[at], self.inverse[at]) }
    }

    /// The advantage of the first move, if it is fitted.
    pub(crate) fn advantage_estimate(&self) -> Option<Estimate> {
        self.has_advantage.then(|| self.estimate(self.players))
    }

    /// How much the first rating is above the second.
    pub(crate) fn difference(&self, a: usize, b: usize) -> Estimate {
        let size = self.values.len();
        if self.fixed[a] && self.fixed[b] {
            return Estimate { elo: ELO * (self.values[a] - self.values[b]), error: Some(0.0) };
        }
        let of = |m: &[f64]| m[a * size + a] + m[b * size + b] - 2.0 * m[a * size + b];
        Estimate {
            elo: ELO * (self.values[a] - self.values[b]),
            error: error(of(&self.covariance), of(&self.inverse)),
        }
    }
}

/// Half the 95 % interval in Elo; none where the variance vanishes beside that of the model.
fn error(variance: f64, of_model: f64) -> Option<f64> {
    (variance > 1e-9 * of_model).then(|| ELO * Z95 * variance.sqrt())
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
