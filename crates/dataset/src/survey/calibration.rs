/// What values were worth that a search gave.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Calibration {
    /// Positions compared: those with the value of a search, openings left out.
    pub positions: u64,
    /// Mean of the squared difference between value and result; none without positions.
    pub mean_squared_error: Option<f64>,
    /// Ten bins from −1 to 1, equally wide; those without positions are left out.
    pub bins: Vec<CalibrationBin>,
}

/// Positions whose values lie together.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CalibrationBin {
    /// The least value in it.
    pub from: f64,
    /// Where the next one begins.
    pub to: f64,
    /// Positions.
    pub positions: u64,
    /// Mean of their values, seen by the side to move.
    pub mean_value: f64,
    /// Mean of their games' results, seen likewise: 1 won, 0 drawn, −1 lost.
    pub mean_outcome: f64,
}

const BINS: usize = 10;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sums {
    bins: [(u64, f64, f64); BINS],
    squared: f64,
}

impl Sums {
    pub(super) fn push(&mut self, value: f32, outcome: i8) {
        let (value, outcome) = (f64::from(value), f64::from(outcome));
        let bin = ((value + 1.0) / 2.0 * BINS as f64) as usize;
        let (positions, values, outcomes) = &mut self.bins[bin.min(BINS - 1)];
        *positions += 1;
        *values += value;
        *outcomes += outcome;
        self.squared += (value - outcome).powi(2);
    }

    pub(super) fn add(&mut self, other: &Sums) {
        for (sum, other) in self.bins.iter_mut().zip(&other.bins) {
            *sum = (sum.0 + other.0, sum.1 + other.1, sum.2 + other.2);
        }
        self.squared += other.squared;
    }

    pub(super) fn calibration(&self) -> Calibration {
        let positions: u64 = self.bins.iter().map(|bin| bin.0).sum();
        let bin = |(place, &(positions, values, outcomes)): (usize, &(u64, f64, f64))| {
            let edge = |place: usize| 2.0 * place as f64 / BINS as f64 - 1.0;
            let mean = |sum: f64| sum / positions as f64;
            (positions > 0).then(|| CalibrationBin {
                from: edge(place),
                to: edge(place + 1),
                positions,
                mean_value: mean(values),
                mean_outcome: mean(outcomes),
            })
        };
        Calibration {
            positions,
            mean_squared_error: (positions > 0).then(|| self.squared / positions as f64),
            bins: self.bins.iter().enumerate().filter_map(bin).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fall_into_their_bins() {
        let mut sums = Sums::default();
        for (value, outcome) in [(-1.0, -1), (-0.9, -1), (0.0, 1), (0.1, -1), (1.0, 1)] {
            sums.push(value, outcome);
        }
        let mut twice = sums.clone();
        twice.add(&sums);
        let calibration = twice.calibration();
        assert_eq!(calibration.positions, 10);
        let error = (0.01 + 1.0 + 1.21) / 5.0;
        assert!((calibration.mean_squared_error.unwrap() - error).abs() < 1e-6);
        let bins: Vec<_> = calibration
            .bins
            .iter()
            .map(|bin| (bin.from, bin.positions, bin.mean_outcome))
            .collect();
        assert_eq!(bins, [(-1.0, 4, -1.0), (0.0, 4, 0.0), (0.8, 2, 1.0)]);
        assert!((calibration.bins[0].mean_value + 0.95).abs() < 1e-6);
        assert_eq!(Sums::default().calibration(), Calibration::default());
    }
}
