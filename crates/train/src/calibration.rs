//! Whether predicted values mean what they say.

use serde::{Deserialize, Serialize};

use crate::log::Row;

/// How many bins there are, of equal width, over values from −1 to 1.
pub const BINS: usize = 10;

/// Predicted values, P(win) − P(loss), beside results (1 won, 0 drawn, −1 lost), by bins of the
/// prediction. Of all positions whose value is predicted near v, the mean result should be v.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    pub(crate) bins: [Bin; BINS],
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bin {
    pub(crate) samples: f64,
    pub(crate) predicted: f64,
    pub(crate) results: f64,
}

/// A bin of one iteration: a row of `calibration.csv`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// The iteration.
    pub iteration: u64,
    /// Whose samples: `training` or `validation`.
    pub samples_of: String,
    /// The least value of the bin.
    pub from: f32,
    /// The greatest.
    pub to: f32,
    /// Samples whose predicted value lies between.
    pub samples: u64,
    /// Mean of their predicted values.
    pub predicted: f32,
    /// Mean of their results.
    pub result: f32,
}

impl Row for Reliability {
    fn iteration(&self) -> u64 {
        self.iteration
    }
}

impl Calibration {
    /// Adds a prediction in [−1, 1] and what came of it.
    pub fn add(&mut self, predicted: f64, result: f64) {
        let place = (predicted + 1.0) / 2.0 * BINS as f64;
        let bin = &mut self.bins[(place as usize).min(BINS - 1)];
        bin.samples += 1.0;
        bin.predicted += predicted;
        bin.results += result;
    }

    /// Expected calibration error: the distance between a bin's mean prediction and its mean result,
    /// Σ n/N · |predicted − result| over the bins (Guo et al. 2017, arXiv:1706.04599); from 0 to 2. None
    /// without samples.
    pub fn error(&self) -> Option<f32> {
        let samples: f64 = self.bins.iter().map(|bin| bin.samples).sum();
        let distance: f64 = self.bins.iter().map(|bin| (bin.predicted - bin.results).abs()).sum();
        (samples > 0.0).then(|| (distance / samples) as f32)
    }

    /// The bins that have samples.
    pub fn rows(&self, iteration: u64, samples_of: &str) -> Vec<Reliability> {
        let edge = |bin: usize| (2.0 * bin as f64 / BINS as f64 - 1.0) as f32;
        let bins = self.bins.iter().enumerate().filter(|(_, bin)| bin.samples > 0.0);
        bins.map(|(number, bin)| Reliability {
            iteration,
            samples_of: samples_of.to_owned(),
            from: edge(number),
            to: edge(number + 1),
            samples: bin.samples as u64,
            predicted: (bin.predicted / bin.samples) as f32,
            result: (bin.results / bin.samples) as f32,
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_the_mean_distance() {
        let mut calibration = Calibration::default();
        assert_eq!(calibration.error(), None);
        // Three at 0.5 of which two won and one lost, one at the lower end that lost, as it should.
        for (predicted, result) in [(0.5, 1.0), (0.5, 1.0), (0.5, -1.0), (-1.0, -1.0)] {
            calibration.add(predicted, result);
        }
        let error = calibration.error().unwrap();
        assert!((error - 3.0 / 4.0 * (0.5 - 1.0 / 3.0)).abs() < 1e-6, "{error}");
        let rows = calibration.rows(7, "training");
        assert_eq!(rows.iter().map(|row| row.samples).collect::<Vec<_>>(), [1, 3]);
        assert_eq!((rows[0].from, rows[0].to, rows[0].result), (-1.0, -0.8, -1.0));
        assert_eq!((rows[1].from, rows[1].predicted), (0.4, 0.5));
        assert!((rows[1].to - 0.6).abs() < 1e-6 && rows[1].iteration == 7);
        // Both ends have a bin.
        calibration.add(1.0, 1.0);
        assert_eq!(calibration.rows(7, "training").last().unwrap().from, 0.8);
    }
}
