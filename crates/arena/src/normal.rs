//! The normal distribution.

/// The 97.5 % point of the standard normal distribution: 95 % lie within ± this.
pub const Z95: f64 = 1.959_963_984_540_054;

/// Φ(x), the probability that a standard normal variable is below `x`. Relative error about 1e-14.
pub(crate) fn distribution(x: f64) -> f64 {
    if x > 0.0 { 1.0 - lower_tail(-x) } else { lower_tail(x) }
}

/// Φ(x) for x ≤ 0: a series about zero, a continued fraction further out (Abramowitz and Stegun,
/// 26.2.11 and 26.2.14).
fn lower_tail(x: f64) -> f64 {
    let density = log_density(x).exp();
    if x > -3.0 {
        let (mut term, mut sum, mut n) = (x, x, 1.0);
        while sum + term != sum {
            n += 2.0;
            term *= x * x / n;
            sum += term;
        }
        0.5 + density * sum
    } else {
        density / mills_fraction(x)
    }
}

fn log_density(x: f64) -> f64 {
    -x * x / 2.0 - (2.0 * std::f64::consts::PI).ln() / 2.0
}

/// The density over Φ(x), for x well below 0.
fn mills_fraction(x: f64) -> f64 {
    (1..200).rev().fold(-x, |rest, k| f64::from(k) / rest - x)
}

/// ln Φ(x), finite where Φ(x) itself is too small for a float.
pub(crate) fn log_distribution(x: f64) -> f64 {
    if x > -3.0 { distribution(x).ln() } else { log_density(x) - mills_fraction(x).ln() }
}

/// The `x` with Φ(x) = p, for p above 0 and below 1; by bisection.
pub(crate) fn quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if distribution(middle) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // To 15 digits, from tables.
        for (x, p) in [
            (0.0, 0.5),
            (-Z95, 0.025),
            (Z95, 0.975),
            (1.0, 0.841_344_746_068_543),
            (-2.9, 1.865_813_300_384_04e-3),
            (-3.1, 9.676_032_132_183_56e-4),
            (-6.0, 9.865_876_450_376_98e-10),
            (-10.0, 7.619_853_024_160_53e-24),
        ] {
            let found = distribution(x);
            assert!((found / p - 1.0).abs() < 1e-12, "{x}: {found} instead of {p}");
        }
    }

    #[test]
    fn logarithms_and_quantiles() {
        for x in [-12.0, -5.0, -3.0, -1.0, 0.0, 2.0] {
            assert!((log_distribution(x) - distribution(x).ln()).abs() < 1e-11, "{x}");
            assert!((quantile(distribution(x)) - x).abs() < 1e-9, "{x}");
        }
        // ln of density / x · (1 − 1/x² + 3/x⁴), as Φ(−60) is no float.
        let known = -1800.0 - (2.0 * std::f64::consts::PI).ln() / 2.0 - 60f64.ln();
        assert!((log_distribution(-60.0) - known - (1.0 - 1.0 / 3600.0f64).ln()).abs() < 1e-6);
    }

    #[test]
    fn agrees_with_plain_integration() {
        // Simpson's rule on the density from −8, where next to nothing is left.
        let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        for k in -50..=50 {
            let x = f64::from(k) / 10.0;
            let steps = 4000;
            let h = (x + 8.0) / f64::from(steps);
            let sum: f64 = (0..steps)
                .map(|i| -8.0 + h * f64::from(i))
                .map(|a| h / 6.0 * (density(a) + 4.0 * density(a + h / 2.0) + density(a + h)))
                .sum();
            assert!((sum - distribution(x)).abs() < 1e-12, "{x}");
        }
    }
}
