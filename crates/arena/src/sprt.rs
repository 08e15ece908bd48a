//! The sequential probability ratio test of two players' difference.
//!
//! The log-likelihood ratio is that of the maximum-likelihood distributions of results under either
//! hypothesis: M. Van den Bergh, "The generalized maximum likelihood ratio for the expectation value
//! of a distribution" and "Normalized Elo"; it stops at the bounds of A. Wald, "Sequential tests of
//! statistical hypotheses", Annals of Mathematical Statistics 16 (1945). Classes of results that have
//! not occurred count [`UNSEEN`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::brownian::Brownian;
use crate::head_to_head::{Counts, NELO, elo_of_score, moments};

/// What an empty class counts, so that no distribution lacks it.
const UNSEEN: f64 = 1e-3;

/// How far, in standard deviations of one pair, a random walk goes beyond a barrier on average:
/// −ζ(½)/√(2π). D. Siegmund, Sequential Analysis (1985), chapter X.
const OVERSHOOT: f64 = 0.582_597;

/// The scale of a test's hypotheses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SprtModel {
    /// Elo: an expected score.
    Logistic,
    /// Normalised Elo: an expected score in standard deviations, so that a test takes about as many
    /// games whatever the share of draws.
    #[default]
    Normalised,
}

impl fmt::Display for SprtModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SprtModel::Logistic => "logistic",
            SprtModel::Normalised => "normalised",
        })
    }
}

impl FromStr for SprtModel {
    type Err = String;

    fn from_str(text: &str) -> Result<SprtModel, String> {
        match text {
            "logistic" => Ok(SprtModel::Logistic),
            "normalised" | "normalized" => Ok(SprtModel::Normalised),
            _ => Err(format!("`{text}` is no scale of a test; write normalised or logistic")),
        }
    }
}

/// A test's hypotheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hypothesis {
    /// The difference is `elo0`.
    H0,
    /// The difference is `elo1`.
    H1,
}

/// A sequential test: is the player named first stronger by `elo0` or by `elo1`?
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sprt {
    /// The difference under H0, in Elo of the model.
    pub elo0: f64,
    /// The difference under H1, above `elo0`.
    pub elo1: f64,
    /// The probability to decide for H1 where H0 is true.
    #[serde(default = "five_per_cent")]
    pub alpha: f64,
    /// The probability to decide for H0 where H1 is true.
    #[serde(default = "five_per_cent")]
    pub beta: f64,
    /// The scale of the two.
    #[serde(default)]
    pub model: SprtModel,
}

fn five_per_cent() -> f64 {
    0.05
}

/// Why a log-likelihood ratio has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLlr {
    /// A hypothesis says more than any distribution of the results can.
    #[error(
        "the bounds lie so far from what results can show that the likelihood ratio has no value; set them closer together and closer to zero"
    )]
    TooFar,
    /// The search for the distribution does not settle.
    #[error(
        "the search for the most likely results under the bounds did not settle; set them closer together and closer to zero"
    )]
    Unsettled,
}

/// What is known of the difference once a test has stopped, or so far.
///
/// Results are ordered by stages: a stop at the upper bound says the more the earlier it came, then
/// come tests still on the way by their position, then stops at the lower bound, the later ones
/// first. The estimate is the difference under which such a result or a greater one has probability
/// ½, the ends of the interval those with 2½ and 97½ %: so the early stop that a lucky beginning
/// brings does not inflate them. Probabilities are those of Brownian motion with the variance
/// observed, and barriers moved outwards by the mean overshoot (Siegmund 1985, chapters III, IV, X).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SprtEstimate {
    /// Elo, too large as often as too small.
    pub elo: Option<f64>,
    /// Lower end of the 95 % interval.
    pub from: Option<f64>,
    /// Its upper end.
    pub to: Option<f64>,
    /// Probability of this result or a lesser one, were the two equally strong.
    pub los: f64,
}

impl Sprt {
    /// Whether the numbers make a test.
    ///
    /// # Errors
    /// A sentence that names the wrong one.
    pub fn check(&self) -> Result<(), String> {
        let Sprt { elo0, elo1, alpha, beta, .. } = *self;
        if !(elo0.is_finite() && elo1.is_finite() && elo0 < elo1) {
            return Err(format!("elo0 is {elo0} and elo1 is {elo1}; elo0 must be the smaller"));
        }
        for (name, value) in [("alpha", alpha), ("beta", beta)] {
            if !(value > 0.0 && value < 0.5) {
                return Err(format!("{name} is {value}; it must lie between 0 and 0.5"));
            }
        }
        Ok(())
    }

    /// The log-likelihood ratio at which H0 is accepted.
    pub fn lower(&self) -> f64 {
        (self.beta / (1.0 - self.alpha)).ln()
    }

    /// The log-likelihood ratio at which H1 is accepted.
    pub fn upper(&self) -> f64 {
        ((1.0 - self.beta) / self.alpha).ln()
    }

    /// The log-likelihood ratio of H1 over H0; 0 without results.
    ///
    /// # Errors
    /// If the hypotheses are too far from what results can show.
    pub fn llr<C: Counts>(&self, results: &C) -> Result<f64, NoLlr> {
        if results.total() == 0 {
            return Ok(0.0);
        }
        let counts: Vec<f64> =
            results.counts().iter().map(|&k| if k == 0 { UNSEEN } else { k as f64 }).collect();
        let n: f64 = counts.iter().sum();
        let shares: Vec<f64> = counts.iter().map(|k| k / n).collect();
        let [p0, p1] = [self.elo0, self.elo1].map(|elo| match self.model {
            SprtModel::Logistic => with_expectation(C::VALUES, &shares, score_of_elo(elo)),
            SprtModel::Normalised => {
                with_deviation(C::VALUES, &shares, C::GAMES.sqrt() * elo / NELO)
            }
        });
        let (p0, p1) = (p0?, p1?);
        let sum: f64 = counts
            .iter()
            .zip(p0.iter().zip(&p1))
            .map(|(k, (p0, p1))| k * (p1.ln() - p0.ln()))
            .sum();
        if sum.is_finite() { Ok(sum) } else { Err(NoLlr::TooFar) }
    }

    /// The hypothesis accepted, if the test is over. None too where the ratio has no value.
    pub fn verdict<C: Counts>(&self, results: &C) -> Option<Hypothesis> {
        self.decides(self.llr(results).ok()?)
    }

    /// The hypothesis that a log-likelihood ratio accepts.
    pub fn decides(&self, llr: f64) -> Option<Hypothesis> {
        if llr >= self.upper() {
            Some(Hypothesis::H1)
        } else if llr <= self.lower() {
            Some(Hypothesis::H0)
        } else {
            None
        }
    }

    /// The two hypotheses as (score − ½) / σ, given the spread σ of the results of one unit.
    fn deviations<C: Counts>(&self, spread: f64) -> [f64; 2] {
        [self.elo0, self.elo1].map(|elo| match self.model {
            SprtModel::Logistic => (score_of_elo(elo) - 0.5) / spread,
            SprtModel::Normalised => C::GAMES.sqrt() * elo / NELO,
        })
    }

    /// The log-likelihood ratio as Brownian motion, one unit of time a pair (or game), where the
    /// score is `deviation` standard deviations above ½.
    fn motion(&self, [t0, t1]: [f64; 2], deviation: f64) -> Brownian {
        let over = OVERSHOOT * (t1 - t0);
        Brownian {
            lower: self.lower() - over,
            upper: self.upper() + over,
            drift: (t1 - t0) * (deviation - (t0 + t1) / 2.0),
            variance: (t1 - t0).powi(2),
        }
    }

    /// How many more pairs (games, where results are counted by game) the test will take on average
    /// if the difference is what it seems so far. By Wald's identity: the mean time until Brownian
    /// motion with the drift and variance of the log-likelihood ratio leaves through a bound. `None`
    /// where the test is over, or the results do not tell.
    pub fn expected_remaining<C: Counts>(&self, results: &C) -> Option<f64> {
        let llr = self.llr(results).ok()?;
        let (score, variance) = moments(results).filter(|&(_, variance)| variance > 0.0)?;
        if self.decides(llr).is_some() {
            return None;
        }
        let spread = variance.sqrt();
        let motion = self.motion(self.deviations::<C>(spread), (score - 0.5) / spread);
        // As fast as so far, which to first order is the drift above.
        let motion = Brownian { drift: llr / results.total() as f64, ..motion };
        let (_, time) = motion.end(llr);
        time.is_finite().then_some(time)
    }

    /// The estimate that is right on average over the test's possible courses, to be taken where the
    /// test stopped. `None` where the results do not vary, or the ratio has no value.
    pub fn estimate<C: Counts>(&self, results: &C) -> Option<SprtEstimate> {
        let llr = self.llr(results).ok()?;
        let (score, variance) = moments(results).filter(|&(_, variance)| variance > 0.0)?;
        let (n, spread) = (results.total() as f64, variance.sqrt());
        let hypotheses @ [t0, t1] = self.deviations::<C>(spread);
        let seen = (score - 0.5) / spread;
        // Where the motion is now, to first order in the differences.
        let position = n * (t1 - t0) * (seen - (t0 + t1) / 2.0);
        let verdict = self.decides(llr);
        let barriers = self.motion(hypotheses, seen);
        // A stop beyond the barrier came the earlier.
        let stop = |barrier: f64| match barrier / position {
            back @ 0.5..2.0 => n * back,
            _ => n,
        };
        // Grows with the deviation: the probability of this result or a greater one.
        let beyond = |deviation: f64| {
            let motion = self.motion(hypotheses, deviation);
            match verdict {
                Some(Hypothesis::H1) => motion.leaves_above(stop(barriers.upper)),
                Some(Hypothesis::H0) => 1.0 - motion.leaves_below(stop(barriers.lower)),
                None => {
                    let level = position.clamp(self.lower(), self.upper());
                    motion.leaves_above(n) + motion.stays_above(level, n)
                }
            }
        };
        let elo = |p: f64| elo_of_score(0.5 + spread * solve(&beyond, p, seen)?);
        Some(SprtEstimate {
            elo: elo(0.5),
            from: elo(0.025),
            to: elo(0.975),
            los: 1.0 - beyond(0.0),
        })
    }
}

/// Expected score of a difference in Elo.
fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// Where a growing function passes `p`, looked for around `near`; `None` if nowhere.
fn solve(f: &impl Fn(f64) -> f64, p: f64, near: f64) -> Option<f64> {
    let (mut low, mut high) = (near - 0.5, near + 0.5);
    for _ in 0..12 {
        let (below, above) = (f(low) < p, f(high) > p);
        if below && above {
            break;
        }
        let width = high - low;
        low -= if below { 0.0 } else { width };
        high += if above { 0.0 } else { width };
    }
    if f(low) >= p || f(high) <= p {
        return None;
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if f(middle) < p { low = middle } else { high = middle }
    }
    Some((low + high) / 2.0)
}

/// The most likely distribution, given these shares, with Σ p φ = 0: p/(1 + θφ), where θ solves
/// Σ p φ/(1 + θφ) = 0. That sum falls from ∞ to −∞ between the two ends; Newton's steps are taken
/// where they stay inside.
fn most_likely(shares: &[f64], phi: &[f64]) -> Result<Vec<f64>, NoLlr> {
    let least = phi.iter().copied().fold(f64::INFINITY, f64::min);
    let most = phi.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !(least < 0.0 && most > 0.0 && (1.0 / least).is_finite() && (1.0 / most).is_finite()) {
        return Err(NoLlr::TooFar);
    }
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    let mut theta = 0.0;
    for _ in 0..200 {
        let (mut value, mut slope) = (0.0, 0.0);
        for (p, x) in shares.iter().zip(phi) {
            let term = x / (1.0 + theta * x);
            value += p * term;
            slope -= p * term * term;
        }
        if value > 0.0 {
            low = theta
        } else {
            high = theta
        }
        let newton = theta - value / slope;
        let next = if newton > low && newton < high { newton } else { (low + high) / 2.0 };
        if (next - theta).abs() <= 1e-15 * theta.abs().max(1e-3) {
            break;
        }
        theta = next;
    }
    let found: Vec<f64> = shares.iter().zip(phi).map(|(p, x)| p / (1.0 + theta * x)).collect();
    let proper = found.iter().all(|p| p.is_finite() && *p > 0.0)
        && (found.iter().sum::<f64>() - 1.0).abs() < 1e-6;
    if proper { Ok(found) } else { Err(NoLlr::TooFar) }
}

fn with_expectation(values: &[f64], shares: &[f64], score: f64) -> Result<Vec<f64>, NoLlr> {
    most_likely(shares, &values.iter().map(|a| a - score).collect::<Vec<_>>())
}

/// The most likely distribution whose score is `t` of its own standard deviations above ½: the
/// condition is made linear about the distribution before, beginning with the uniform one.
fn with_deviation(values: &[f64], shares: &[f64], t: f64) -> Result<Vec<f64>, NoLlr> {
    let mut p = vec![1.0 / values.len() as f64; values.len()];
    for _ in 0..1000 {
        let mean: f64 = values.iter().zip(&p).map(|(a, p)| a * p).sum();
        let variance: f64 = values.iter().zip(&p).map(|(a, p)| p * (a - mean).powi(2)).sum();
        let deviation = variance.sqrt();
        let phi: Vec<f64> = values
            .iter()
            .map(|a| a - 0.5 - 0.5 * t * deviation * (1.0 + ((a - mean) / deviation).powi(2)))
            .collect();
        let next = most_likely(shares, &phi)?;
        let change =
            p.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, |most: f64, x| most.max(x));
        p = next;
        // Where a class is all but empty, rounding leaves more than the last digits.
        if change < 1e-10 {
            return Ok(p);
        }
    }
    Err(NoLlr::Unsettled)
}
