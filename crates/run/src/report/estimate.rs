//! Means and their 95 % intervals, colour-swapped pairs of games taken as independent.

use std::collections::BTreeMap;

use surakarta_arena::{ArenaGame, Z95};

/// A mean over games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mean {
    /// Games.
    pub(super) n: usize,
    pub(super) value: f64,
    /// Half the 95 % interval; `None` where a single pair, or pairs that are all alike, show no
    /// variation to take it from.
    pub(super) error: Option<f64>,
}

/// The mean of values that come with the number of their cluster; `None` of nothing. The error is
/// that of the cluster-robust variance: C/(C−1) Σ (sum of a cluster's residuals)² / n².
pub(super) fn mean(values: impl IntoIterator<Item = (u64, f64)>) -> Option<Mean> {
    let values: Vec<(u64, f64)> = values.into_iter().collect();
    let n = values.len();
    if n == 0 {
        return None;
    }
    let value = values.iter().map(|(_, x)| x).sum::<f64>() / n as f64;
    let mut residuals: BTreeMap<u64, f64> = BTreeMap::new();
    for (cluster, x) in values {
        *residuals.entry(cluster).or_default() += x - value;
    }
    let clusters = residuals.len() as f64;
    let squares: f64 = residuals.values().map(|sum| sum * sum).sum();
    let error = Z95 * (clusters / (clusters - 1.0) * squares).sqrt() / n as f64;
    // Rounding leaves a trace of pairs that are all alike.
    let error = Some(error).filter(|error| error.is_finite() && *error > 1e-9);
    Some(Mean { n, value, error })
}

/// The number of a game's pair among those of its source.
pub(super) fn pair(game: &ArenaGame) -> u64 {
    u64::from(game.key.pairing) << 32 | u64::from(game.key.pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_values_have_the_standard_error_of_their_mean() {
        let values = [0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 1.0, 0.5];
        let found = mean((0..).zip(values)).unwrap();
        let n = values.len() as f64;
        let average = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - average).powi(2)).sum::<f64>() / (n - 1.0);
        assert!((found.value - average).abs() < 1e-12);
        assert!((found.error.unwrap() - Z95 * (variance / n).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_pair_counts_once() {
        // The games of each pair agree: as much is known as from one of the two.
        let once = mean([(0, 0.0), (1, 1.0), (2, 1.0)]).unwrap();
        let twice = mean([(0, 0.0), (0, 0.0), (1, 1.0), (1, 1.0), (2, 1.0), (2, 1.0)]).unwrap();
        assert_eq!((once.n, twice.n), (3, 6));
        assert!((once.error.unwrap() - twice.error.unwrap()).abs() < 1e-12);
        // The colours decided every pair: the mean is certain, as far as these games can tell.
        assert_eq!(mean([(0, 0.0), (0, 1.0), (1, 1.0), (1, 0.0)]).unwrap().error, None);
        assert_eq!(mean([(0, 1.0)]).unwrap().error, None);
        assert_eq!(mean([]), None);
    }
}
