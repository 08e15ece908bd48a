//! What players scored against each other beside what their ratings let expect.
//!
//! Ratings put strength on one line. Where a player beats another more often than the line says, and
//! by more than chance, no number for each of them can describe the results: rock, paper, scissors.

use serde::Serialize;

use crate::fit::Fit;

/// Two players' results beside those expected from their ratings, seen by the one named first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Surprise {
    /// The player with the lower number.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// Games between them.
    pub games: usize,
    /// Pairs (or games) that are taken as independent.
    pub clusters: usize,
    /// Points a game.
    pub score: f64,
    /// Points a game expected from the ratings, with the first moves as they were.
    pub expected: f64,
    /// Standard error of the score less the expected one, with regard to the ratings having been
    /// fitted to this score too. `None` where they fit it whatever it is, or it does not vary.
    pub error: Option<f64>,
    /// The score less the expected one, in standard errors.
    pub z: Option<f64>,
}

/// Sums between two players, seen by the one with the lower parameter.
#[derive(Clone, Copy, Default)]
struct Sum {
    games: usize,
    clusters: usize,
    score: f64,
    expected: f64,
    /// Sum of p (1 − p) of expected scores p, and the same with a minus where the other moved first.
    slopes: [f64; 2],
    /// Of the squares of each cluster's surprise.
    squares: f64,
    /// Of the products with the surprise of whoever moved first.
    shared: f64,
}

/// What is left between each two players, cluster by cluster.
pub(crate) struct Residuals {
    players: usize,
    sums: Vec<Sum>,
    /// The cluster at work: sums of whom, surprise, surprise of those who moved first.
    open: Vec<(usize, f64, f64)>,
}

impl Residuals {
    pub(crate) fn new(players: usize) -> Residuals {
        let sums = vec![Sum::default(); players * players];
        Residuals { players, sums, open: Vec::new() }
    }

    /// Counts a game by parameters of the players, points of the one who moved first, and their
    /// expectation.
    pub(crate) fn add(&mut self, first: usize, second: usize, score: f64, expected: f64) {
        let (lower, sign) = if first < second { (first, 1.0) } else { (second, -1.0) };
        let at = lower * self.players + first.max(second);
        let seen = |x: f64| if sign > 0.0 { x } else { 1.0 - x };
        let sum = &mut self.sums[at];
        sum.games += 1;
        sum.score += seen(score);
        sum.expected += seen(expected);
        let slope = expected * (1.0 - expected);
        sum.slopes[0] += slope;
        sum.slopes[1] += sign * slope;
        let surprise = score - expected;
        match self.open.iter_mut().find(|(k, ..)| *k == at) {
            Some((_, own, movers)) => {
                *own += sign * surprise;
                *movers += surprise;
            }
            None => self.open.push((at, sign * surprise, surprise)),
        }
    }

    /// The next game belongs to another cluster.
    pub(crate) fn end_cluster(&mut self) {
        for (at, own, movers) in self.open.drain(..) {
            let sum = &mut self.sums[at];
            sum.clusters += 1;
            sum.squares += own * own;
            sum.shared += own * movers;
        }
    }

    /// By numbers of the players.
    pub(crate) fn surprises(&self, fit: &Fit, parameter: &[Option<usize>]) -> Vec<Surprise> {
        let mut found = Vec::new();
        for (a, p) in parameter.iter().enumerate() {
            for (b, q) in parameter.iter().enumerate().skip(a + 1) {
                let (Some(p), Some(q)) = (*p, *q) else { continue };
                let sum = self.sums[p.min(q) * self.players + p.max(q)];
                if sum.games == 0 {
                    continue;
                }
                let n = sum.games as f64;
                let variance =
                    fit.left_variance([p.min(q), p.max(q)], sum.squares, sum.shared, sum.slopes);
                let error = (variance > 1e-6 * sum.squares && sum.clusters > 1)
                    .then(|| variance.sqrt() / n);
                let seen = |x: f64| if p < q { x / n } else { 1.0 - x / n };
                let (score, expected) = (seen(sum.score), seen(sum.expected));
                found.push(Surprise {
                    first: a,
                    second: b,
                    games: sum.games,
                    clusters: sum.clusters,
                    score,
                    expected,
                    error,
                    z: error.map(|error| (score - expected) / error),
                });
            }
        }
        found
    }
}
