//! Two players' results against each other, pair by pair or game by game.
//!
//! With N pairs in classes of a = 0, ¼, ½, ¾ and 1 points a game and their shares p, the score is
//! s = Σ a p and its variance v = Σ p (a − s)². Elo is −400 log₁₀(1/s − 1), and its error half the
//! distance of the Elo at s ± z √(v/N), z being the 97.5 % point of the normal distribution.
//! Normalised Elo is 800/ln 10 · (s − ½)/σ with σ = √(2v), the standard deviation of a game were the
//! two of a pair independent; the likelihood of superiority is Φ((s − ½)/√(v/N)). Without pairs the
//! classes are 0, ½ and 1, and σ = √v.

use serde::Serialize;

use crate::normal::{self, Z95};

/// Normalised Elo of a score that is one standard deviation of a game above ½.
pub(crate) const NELO: f64 = 800.0 / std::f64::consts::LN_10;

/// Results counted by class, seen by the player named first.
pub trait Counts {
    /// Points a game of each class, ascending.
    const VALUES: &'static [f64];
    /// Games that are counted together: two of a pair, or one.
    const GAMES: f64;

    /// How often each class occurred.
    fn counts(&self) -> &[u64];

    /// Pairs, or games where each is counted alone.
    fn total(&self) -> u64 {
        self.counts().iter().sum()
    }
}

/// Pairs of games by the points of the player named first: LL, LD, WL and DD together, WD, WW. As
/// JSON these five numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "[u64; 5]")]
pub struct Pentanomial {
    counts: [u64; 5],
    decided: u64,
}

impl Pentanomial {
    /// From the numbers of pairs with these results; WL is one game won and one lost.
    pub fn new([ll, ld, wl, dd, wd, ww]: [u64; 6]) -> Pentanomial {
        Pentanomial { counts: [ll, ld, wl + dd, wd, ww], decided: wl }
    }

    /// Counts a pair by the points of the player named first in its two games: 1, ½ or 0 each.
    pub fn add(&mut self, points: [f64; 2]) {
        let [a, b] = points;
        // Twice the points are whole numbers from 0 to 4.
        self.counts[(2.0 * (a + b)) as usize] += 1;
        self.decided += u64::from((a - b).abs() == 1.0);
    }

    /// Even pairs with a win and a loss.
    pub fn decided(&self) -> u64 {
        self.decided
    }

    /// Even pairs with two draws.
    pub fn drawn(&self) -> u64 {
        self.counts[2] - self.decided
    }

    /// The share of pairs that came out even: a win and a loss, or two draws.
    pub fn draw_ratio(&self) -> Option<f64> {
        ratio(self.counts[2], self.total())
    }

    /// Pairs won for each pair lost. Many mean that one player is stronger, whatever the openings.
    pub fn pairs_ratio(&self) -> Option<f64> {
        ratio(self.counts[3] + self.counts[4], self.counts[0] + self.counts[1])
    }

    /// Pairs with a win and a loss for each pair with two draws. Many mean openings that decide the
    /// game.
    pub fn decided_ratio(&self) -> Option<f64> {
        ratio(self.decided(), self.drawn())
    }
}

impl Counts for Pentanomial {
    const VALUES: &'static [f64] = &[0.0, 0.25, 0.5, 0.75, 1.0];
    const GAMES: f64 = 2.0;

    fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl From<Pentanomial> for [u64; 5] {
    fn from(pairs: Pentanomial) -> [u64; 5] {
        pairs.counts
    }
}

/// Games lost, drawn and won by the player named first, each taken as independent. As JSON these three
/// numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "[u64; 3]")]
pub struct Trinomial {
    counts: [u64; 3],
}

impl Trinomial {
    /// From the numbers of games.
    pub fn new(wins: u64, draws: u64, losses: u64) -> Trinomial {
        Trinomial { counts: [losses, draws, wins] }
    }

    /// Counts a game by the points of the player named first: 1, ½ or 0.
    pub fn add(&mut self, points: f64) {
        self.counts[(2.0 * points) as usize] += 1;
    }
}

impl Counts for Trinomial {
    const VALUES: &'static [f64] = &[0.0, 0.5, 1.0];
    const GAMES: f64 = 1.0;

    fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl From<Trinomial> for [u64; 3] {
    fn from(games: Trinomial) -> [u64; 3] {
        games.counts
    }
}

fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

/// Elo of a score, finite above 0 and below 1.
pub(crate) fn elo_of_score(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| -400.0 * (1.0 / score - 1.0).log10())
}

/// Mean and variance of the points a game; `None` without results.
pub(crate) fn moments<C: Counts>(results: &C) -> Option<(f64, f64)> {
    let n = results.total();
    let mean = |f: &dyn Fn(f64) -> f64| {
        let terms = C::VALUES.iter().zip(results.counts()).map(|(&a, &k)| f(a) * k as f64);
        terms.sum::<f64>() / n as f64
    };
    (n > 0).then(|| {
        let score = mean(&|a| a);
        let variance = mean(&|a| (a - score).powi(2));
        // Rounding leaves a little where all results are the same.
        let same = results.counts().iter().filter(|&&k| k > 0).count() == 1;
        (score, if same { 0.0 } else { variance })
    })
}

/// What the results of two players say about their difference, seen by the one named first. What has
/// no finite value is `None`, and the reason says why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Points a game.
    pub score: Option<f64>,
    /// Elo.
    pub elo: Option<f64>,
    /// Half the 95 % interval of the Elo.
    pub elo_error: Option<f64>,
    /// Normalised Elo.
    pub nelo: Option<f64>,
    /// Half the 95 % interval of the normalised Elo.
    pub nelo_error: Option<f64>,
    /// Likelihood of superiority, 0 to 1.
    pub los: Option<f64>,
    /// Why something is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Figures {
    /// From pairs or games.
    pub fn of<C: Counts>(results: &C) -> Figures {
        let unit = if C::GAMES == 2.0 { "pair" } else { "game" };
        let Some((score, variance)) = moments(results) else {
            let reason = Some(format!("no finished {unit}"));
            let none = None;
            return Figures {
                score: none,
                elo: none,
                elo_error: none,
                nelo: none,
                nelo_error: none,
                los: none,
                reason,
            };
        };
        let n = results.total() as f64;
        let elo = elo_of_score(score);
        let spread = (variance > 0.0).then_some(variance);
        let ends = spread
            .map(|v| Z95 * (v / n).sqrt())
            .map(|half| Some((elo_of_score(score + half)? - elo_of_score(score - half)?) / 2.0));
        let reason = match (elo, ends) {
            (None, _) if score > 0.5 => Some("every game was won: the difference has no bound"),
            (None, _) => Some("every game was lost: the difference has no bound"),
            (_, None) => Some("all results are alike: no variation from which to take an error"),
            (_, Some(None)) => Some("the 95 % interval of the score reaches a perfect one"),
            _ => None,
        };
        Figures {
            score: Some(score),
            elo,
            elo_error: ends.flatten(),
            nelo: spread.map(|v| NELO * (score - 0.5) / (C::GAMES * v).sqrt()),
            nelo_error: spread.map(|_| NELO * Z95 / (C::GAMES * n).sqrt()),
            los: spread.map(|v| normal::distribution((score - 0.5) / (v / n).sqrt())),
            reason: reason.map(str::to_owned),
        }
    }
}
