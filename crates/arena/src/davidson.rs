//! The share of draws: R. R. Davidson, "On extending the Bradley-Terry model to accommodate ties in
//! paired comparison experiments", Journal of the American Statistical Association 65 (1970).
//!
//! The probability of a draw is proportional to the root of those of a win and a loss: with
//! φ = (1 − D)/(2D), win · loss = φ² · draw², so that D is the share of draws between equals.

use crate::connection::Meeting;

/// The probability of a draw where the expected score is `score`: the solution of
/// (score − d/2)(1 − score − d/2) = φ² d².
fn draws(score: f64, at_equality: f64) -> f64 {
    if at_equality <= 0.0 {
        return 0.0;
    }
    let phi = (1.0 - at_equality) / (2.0 * at_equality);
    let product = score * (1.0 - score);
    let root = (0.25 + 4.0 * (phi * phi - 0.25) * product).max(0.0).sqrt();
    2.0 * product / (0.5 + root)
}

/// The share of draws at equality under which as many are expected as there were, given the expected
/// score of each meeting; `None` without games.
pub(crate) fn draw_rate_at_equality(meetings: &[(f64, Meeting)]) -> Option<f64> {
    let games: f64 = meetings.iter().map(|(_, meeting)| meeting.games).sum();
    let drawn: f64 = meetings.iter().map(|(_, meeting)| meeting.draws).sum();
    if games == 0.0 || drawn == 0.0 {
        return (games > 0.0).then_some(0.0);
    }
    let expected =
        |rate| meetings.iter().map(|(score, m)| m.games * draws(*score, rate)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if expected(middle) < drawn { low = middle } else { high = middle }
    }
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_davidsons() {
        for rate in [0.01, 0.3, 0.5, 0.9, 1.0] {
            assert!((draws(0.5, rate) - rate).abs() < 1e-12);
            let phi: f64 = (1.0 - rate) / (2.0 * rate);
            for score in [0.01, 0.2, 0.7, 0.99] {
                let d = draws(score, rate);
                let (win, loss) = (score - d / 2.0, 1.0 - score - d / 2.0);
                assert!(d > 0.0 && win > -1e-12 && loss > -1e-12, "{rate} {score} {d}");
                assert!((win * loss - phi * phi * d * d).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_ends() {
        let meeting = |games, draws| Meeting { games, score: games / 2.0, draws };
        assert_eq!(draw_rate_at_equality(&[]), None);
        assert_eq!(draw_rate_at_equality(&[(0.5, meeting(9.0, 0.0))]), Some(0.0));
        let all = draw_rate_at_equality(&[(0.5, meeting(9.0, 9.0))]).unwrap();
        // To the root of the last digit: two large terms cancel there.
        assert!((all - 1.0).abs() < 1e-6);
        let third = draw_rate_at_equality(&[(0.5, meeting(9.0, 3.0))]).unwrap();
        assert!((third - 1.0 / 3.0).abs() < 1e-9);
    }
}
