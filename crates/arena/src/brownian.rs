//! Brownian motion between two barriers, which a sequential test's log-likelihood ratio resembles.
//!
//! By reflection at both barriers: see D. Siegmund, Sequential Analysis (Springer 1985), chapter III,
//! and D. R. Cox and H. D. Miller, The Theory of Stochastic Processes (1965), section 5.7.

use crate::normal::log_distribution;

/// A motion that begins at zero, between its barriers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brownian {
    /// The lower barrier, below zero.
    pub(crate) lower: f64,
    /// The upper barrier, above zero.
    pub(crate) upper: f64,
    /// What it gains in a unit of time, on average.
    pub(crate) drift: f64,
    /// Variance of what it gains in a unit of time.
    pub(crate) variance: f64,
}

impl Brownian {
    /// The probability to leave through the upper barrier by some time.
    pub(crate) fn leaves_above(&self, time: f64) -> f64 {
        let width = self.upper - self.lower;
        let (speed, scale) = (self.drift.abs() / self.variance, (self.variance * time).sqrt());
        let tilt = self.drift * self.upper / self.variance;
        // The first passage of an image at this distance, weighed for the drift.
        let passage = |distance: f64| {
            let (way, gone) = (distance / scale, self.drift.abs() * time / scale);
            (tilt - speed * distance + log_distribution(gone - way)).exp()
                + (tilt + speed * distance + log_distribution(-gone - way)).exp()
        };
        let images = |k: f64| {
            passage(self.upper + 2.0 * k * width) - passage(2.0 * (k + 1.0) * width - self.upper)
        };
        sum_until_small(images).clamp(0.0, 1.0)
    }

    /// The probability to leave through the lower barrier by some time.
    pub(crate) fn leaves_below(&self, time: f64) -> f64 {
        self.mirrored().leaves_above(time)
    }

    /// The probability to be between the barriers all the time, and above some level in the end.
    pub(crate) fn stays_above(&self, level: f64, time: f64) -> f64 {
        let width = self.upper - self.lower;
        let scale = (self.variance * time).sqrt();
        // What comes from an image in `source` without barriers, weighed for the drift.
        let from = |source: f64| {
            let at = |x: f64| (x - source - self.drift * time) / scale;
            let (low, high) = (at(level), at(self.upper));
            // In the tail where both ends are small.
            let (less, more) = if low > 0.0 { (-high, -low) } else { (low, high) };
            let weight = self.drift * source / self.variance;
            (weight + log_distribution(more)).exp() - (weight + log_distribution(less)).exp()
        };
        let pair = |k: f64| from(2.0 * k * width) - from(2.0 * self.upper + 2.0 * k * width);
        let both = |k: f64| {
            if k == 0.0 { pair(0.0) } else { pair(k) + pair(-k) }
        };
        sum_until_small(both).clamp(0.0, 1.0)
    }

    /// The probability to end at the upper barrier, and the mean time to either, from `position`.
    pub(crate) fn end(&self, position: f64) -> (f64, f64) {
        let (up, down) = (self.upper - position, position - self.lower);
        let rate = 2.0 * self.drift / self.variance;
        if (rate * (up + down)).abs() < 1e-6 {
            return (down / (up + down), up * down / self.variance);
        }
        // Written so that no exponential grows.
        let above = if rate > 0.0 {
            (-rate * down).exp_m1() / (-rate * (up + down)).exp_m1()
        } else {
            (rate * up).exp() * (rate * down).exp_m1() / (rate * (up + down)).exp_m1()
        };
        (above, (above * up - (1.0 - above) * down) / self.drift)
    }

    fn mirrored(&self) -> Brownian {
        let Brownian { lower, upper, drift, variance } = *self;
        Brownian { lower: -upper, upper: -lower, drift: -drift, variance }
    }
}

/// The sum of a series that at last falls fast.
fn sum_until_small(term: impl Fn(f64) -> f64) -> f64 {
    let mut sum = 0.0;
    for k in 0..10_000 {
        let next = term(f64::from(k));
        sum += next;
        if k > 0 && next.abs() < 1e-15 {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The density on a grid, spread by small steps: the slow and obvious way.
    fn spread(motion: &Brownian, level: f64, time: f64) -> [f64; 3] {
        let cells = 200;
        let h = (motion.upper - motion.lower) / f64::from(cells);
        let dt = 0.2 * h * h / motion.variance;
        let n = cells as usize;
        let begin = -motion.lower / h;
        let mut density = vec![0.0; n + 1];
        // The start lies between two nodes.
        let at = begin as usize;
        density[at] = 1.0 - begin.fract();
        density[at + 1] = begin.fract();
        let (mut above, mut below) = (0.0, 0.0);
        let half = motion.variance * dt / (2.0 * h * h);
        let (up, down) =
            (half + motion.drift * dt / (2.0 * h), half - motion.drift * dt / (2.0 * h));
        for _ in 0..(time / dt) as usize {
            let mut next = vec![0.0; n + 1];
            for k in 1..n {
                next[k] += density[k] * (1.0 - up - down);
                next[k + 1] += density[k] * up;
                next[k - 1] += density[k] * down;
            }
            above += std::mem::take(&mut next[n]);
            below += std::mem::take(&mut next[0]);
            density = next;
        }
        let stays = (0..=n)
            .map(|k| {
                let over = (motion.lower + k as f64 * h - level) / h + 0.5;
                density[k] * over.clamp(0.0, 1.0)
            })
            .sum();
        [above, below, stays]
    }

    #[test]
    fn agrees_with_a_grid() {
        for (lower, upper, drift, variance, level, time) in [
            (-3.0, 3.0, 0.0, 1.0, 0.5, 4.0),
            (-1.0, 2.0, 0.8, 1.5, -0.3, 1.0),
            (-1.0, 2.0, -1.5, 0.5, -0.3, 2.0),
            (-2.0, 1.0, 3.0, 2.0, 0.2, 0.3),
            (-1.0, 1.0, 0.3, 2.0, 0.0, 3.0),
        ] {
            let motion = Brownian { lower, upper, drift, variance };
            let slow = spread(&motion, level, time);
            let fast = [
                motion.leaves_above(time),
                motion.leaves_below(time),
                motion.stays_above(level, time),
            ];
            for (fast, slow) in fast.iter().zip(slow) {
                assert!((fast - slow).abs() < 2e-3, "{motion:?}: {fast}, on the grid {slow}");
            }
            let all = fast[0] + fast[1] + motion.stays_above(lower, time);
            assert!((all - 1.0).abs() < 1e-10, "{motion:?}: {all}");
        }
    }

    #[test]
    fn ends_as_it_does_after_a_long_time() {
        for drift in [-2.0, -0.1, 0.0, 1e-9, 0.5, 4.0] {
            let motion = Brownian { lower: -1.0, upper: 2.0, drift, variance: 1.3 };
            let (above, time) = motion.end(0.0);
            assert!((above - motion.leaves_above(200.0)).abs() < 1e-6, "{drift}");
            // The mean time is the integral of the probability to be on the way.
            let step = 0.02;
            let mean: f64 = (0..2_500)
                .map(|k| step * motion.stays_above(-1.0, step * (f64::from(k) + 0.5)))
                .sum();
            assert!((time - mean).abs() < 1e-3, "{drift}: {time}, summed {mean}");
        }
    }

    #[test]
    fn no_drift_is_too_strong() {
        for drift in [-1e3, 1e3] {
            let motion = Brownian { lower: -2.9, upper: 2.9, drift, variance: 0.001 };
            let found = [motion.leaves_above(5.0), motion.leaves_below(5.0)];
            let wanted = if drift > 0.0 { [1.0, 0.0] } else { [0.0, 1.0] };
            assert_eq!(found, wanted);
            assert!(motion.stays_above(0.0, 5.0) < 1e-12);
        }
    }
}
