//! The fit of ratings: Newton's method, and the covariance of what it finds.

use crate::connection::{Connection, Meeting};
use crate::linear::{Cholesky, product};
use crate::normal::Z95;
use crate::rating::{Clusters, Estimate, RatedGame};

/// Elo of one natural unit of the model: 400 / ln 10.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// The most likely parameters in natural units: one for each rated player, group by group, then the
/// advantage of the first move if it is fitted.
pub(crate) struct Fit {
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
    pub(crate) fn new(
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

    /// Adds the sandwich covariance, which takes clusters of games as independent of each other.
    pub(crate) fn with_covariance(
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

    /// Moves the scale of a group so that one of its members has a given rating in Elo, without
    /// error.
    pub(crate) fn anchor(&mut self, members: &[usize], anchor: usize, rating: f64) {
        let rating = rating / ELO;
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

    /// A player's rating.
    pub(crate) fn estimate(&self, k: usize) -> Estimate {
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
