//! Two players' figures and the sequential test, against fastchess's and fishtest's.

use std::collections::HashMap;

use rand::RngExt;
use surakarta_arena::{
    Counts, Figures, Hypothesis, Pentanomial, Sprt, SprtCourse, SprtModel, Trinomial,
};
use surakarta_search::{Stream, stream};

type Row = HashMap<String, String>;

fn rows(file: &str) -> Vec<Row> {
    let path = format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

/// A number; none where it is infinite, not a number, or missing.
fn number(row: &Row, key: &str) -> Option<f64> {
    row[key].parse().ok().filter(|x: &f64| x.is_finite())
}

fn count(row: &Row, key: &str) -> u64 {
    row[key].parse().unwrap()
}

fn pentanomial(row: &Row) -> Pentanomial {
    Pentanomial::new(["LL", "LD", "WL", "DD", "WD", "WW"].map(|key| count(row, key)))
}

fn trinomial(row: &Row) -> Trinomial {
    Trinomial::new(count(row, "wins"), count(row, "draws"), count(row, "losses"))
}

fn assert_close(ours: Option<f64>, theirs: Option<f64>, what: &str) {
    match (ours, theirs) {
        (Some(a), Some(b)) => assert!((a - b).abs() < 1e-6, "{what}: {a} instead of {b}"),
        (a, b) => assert_eq!(a, b, "{what}"),
    }
}

fn test(elo0: f64, elo1: f64, model: SprtModel) -> Sprt {
    Sprt { elo0, elo1, alpha: 0.05, beta: 0.05, model }
}

#[test]
fn figures_are_those_of_fastchess() {
    for row in rows("two_players.csv") {
        let case = &row["case"];
        let pairs = pentanomial(&row);
        let figures = [("pairs", Figures::of(&pairs)), ("games", Figures::of(&trinomial(&row)))];
        for (kind, ours) in figures {
            let theirs = |key: &str| number(&row, &format!("{kind}_{key}"));
            assert_close(ours.elo, theirs("elo"), case);
            assert_close(ours.elo_error, theirs("elo_error"), case);
            assert_close(ours.nelo, theirs("nelo"), case);
            assert_close(ours.nelo_error, theirs("nelo_error"), case);
            // One player won everything: theirs is sure of what no spread tells.
            assert_close(ours.los, theirs("los").filter(|_| case != "c4"), case);
            assert_eq!(ours.reason.is_some(), case == "c4");
        }
        let percent = pairs.draw_ratio().map(|ratio| 100.0 * ratio);
        assert_close(percent, number(&row, "draw_ratio_pct"), case);
        assert_close(pairs.pairs_ratio(), number(&row, "pairs_ratio"), case);
        assert_eq!([pairs.decided(), pairs.drawn()], [count(&row, "WL"), count(&row, "DD")]);
        assert_close(pairs.decided_ratio(), number(&row, "wl_dd_ratio"), case);
    }
}

#[test]
fn likelihood_ratios_are_those_of_fishtest() {
    for row in rows("two_players.csv") {
        let (elo0, elo1) = (number(&row, "elo0").unwrap(), number(&row, "elo1").unwrap());
        for (name, model) in
            [("normalised", SprtModel::Normalised), ("logistic", SprtModel::Logistic)]
        {
            let test = test(elo0, elo1, model);
            let what = format!("{} {name} {elo0} {elo1}", row["case"]);
            let theirs = |unit: &str| number(&row, &format!("llr_{name}_{unit}"));
            assert_close(test.llr(&pentanomial(&row)).ok(), theirs("pairs"), &what);
            assert_close(test.llr(&trinomial(&row)).ok(), theirs("games"), &what);
        }
    }
}

#[test]
fn estimates_after_stopping_are_close_to_those_of_fishtest() {
    let mut compared = 0;
    for row in rows("two_players.csv").iter().filter(|row| row["case"] != "c4") {
        let Some(elo) = number(row, "unbiased_elo") else { continue };
        let test =
            test(number(row, "elo0").unwrap(), number(row, "elo1").unwrap(), SprtModel::Normalised);
        let ours = test.estimate(&pentanomial(row)).unwrap();
        let theirs = |key: &str| number(row, key).unwrap();
        // Theirs leaves the barriers where they are, ours moves them by the overshoot.
        for (ours, theirs) in [
            (ours.elo.unwrap(), elo),
            (ours.from.unwrap(), theirs("unbiased_from")),
            (ours.to.unwrap(), theirs("unbiased_to")),
        ] {
            assert!((ours - theirs).abs() < 0.1, "{}: {ours}, theirs {theirs}", row["case"]);
        }
        assert!((ours.los - theirs("unbiased_los")).abs() < 1e-4, "{ours:?}");
        compared += 1;
    }
    assert_eq!(compared, 8);
}

#[test]
fn every_pair_of_a_stream_and_where_it_stops() {
    let rows = rows("c10/expected_by_pair.csv");
    let (normalised, logistic) =
        (test(0.0, 10.0, SprtModel::Normalised), test(0.0, 10.0, SprtModel::Logistic));
    let (mut stops, mut before) = ([None; 2], Pentanomial::default());
    for row in &rows {
        let pairs = pentanomial(row);
        let pair = count(row, "pair");
        assert_eq!(pairs.total(), pair);
        let figures = Figures::of(&pairs);
        let varies = figures.nelo.is_some();
        let what = format!("pair {pair}");
        assert_close(figures.elo, number(row, "elo"), &what);
        for (ours, key) in [
            (figures.elo_error, "elo_err95"),
            (figures.nelo, "nelo"),
            (figures.nelo_error, "nelo_err95"),
            (figures.los, "los"),
        ] {
            assert_close(ours, number(row, key).filter(|_| varies), &what);
        }
        let llr = [normalised, logistic].map(|test| test.llr(&pairs).unwrap());
        assert_close(Some(llr[0]), number(row, "fishtest_llr_normalized"), &what);
        assert!((llr[1] - number(row, "fastchess_llr_logistic").unwrap()).abs() < 2e-4);
        for (stop, test) in stops.iter_mut().zip([normalised, logistic]) {
            if stop.is_none() {
                *stop = test.verdict(&pairs).map(|verdict| (pair, verdict));
            }
        }
        before = pairs;
    }
    assert_eq!(before.total(), 700);
    assert_eq!(stops, [Some((627, Hypothesis::H1)), Some((455, Hypothesis::H1))]);
}

#[test]
fn bounds_far_apart_give_a_reason_and_no_endless_search() {
    let pairs = Pentanomial::new([6, 10, 18, 14, 22, 30]);
    let games = Trinomial::new(100, 60, 40);
    let lopsided = Pentanomial::new([0, 0, 0, 0, 0, 10_000]);
    let mut refused = 0;
    for model in [SprtModel::Normalised, SprtModel::Logistic] {
        for size in [1.0, 50.0, 200.0, 500.0, 1e3, 3e3, 1e4, 1e6, 1e100, 1e300] {
            for (elo0, elo1) in [(-size, size), (0.0, size), (-size, 0.0), (size, 2.0 * size)] {
                let test = test(elo0, elo1, model);
                for llr in [test.llr(&pairs), test.llr(&games), test.llr(&lopsided)] {
                    match llr {
                        Ok(llr) => assert!(llr.is_finite()),
                        Err(reason) => {
                            refused += 1;
                            assert!(reason.to_string().contains("closer"));
                        }
                    }
                }
                for estimate in [test.estimate(&pairs), test.estimate(&lopsided)] {
                    let values = estimate.map(|e| [e.elo, e.from, e.to, Some(e.los)]);
                    let finite = |x: &f64| x.is_finite();
                    assert!(values.iter().flatten().flatten().all(finite), "{test:?}");
                }
                assert!(test.expected_remaining(&pairs).is_none_or(f64::is_finite));
            }
        }
    }
    assert!(refused > 50, "{refused}");
    for size in [1.0, 50.0, 200.0] {
        assert!(test(-size, size, SprtModel::Normalised).llr(&pairs).is_ok());
        assert!(test(-size, size, SprtModel::Logistic).llr(&pairs).is_ok());
    }
}

#[test]
fn no_numbers_from_nothing() {
    let figures = Figures::of(&Pentanomial::default());
    assert_eq!((figures.score, figures.reason.as_deref()), (None, Some("no finished pair")));
    assert_eq!(test(0.0, 10.0, SprtModel::Normalised).llr(&Trinomial::default()), Ok(0.0));
    let alike = Figures::of(&Pentanomial::new([0, 0, 0, 0, 9, 0]));
    assert!(alike.elo.is_some() && alike.elo_error.is_none() && alike.los.is_none());
    assert!(alike.reason.unwrap().contains("alike"));
    let near = Figures::of(&Pentanomial::new([0, 0, 0, 0, 1, 9]));
    assert!(near.elo.is_some() && near.elo_error.is_none() && near.nelo.is_some());
    assert!(near.reason.unwrap().contains("perfect"));
}

#[test]
fn wrong_tests_are_refused() {
    let good = test(0.0, 10.0, SprtModel::Normalised);
    assert_eq!(good.check(), Ok(()));
    for bad in [
        Sprt { elo1: 0.0, ..good },
        Sprt { elo0: f64::NAN, ..good },
        Sprt { alpha: 0.0, ..good },
        Sprt { beta: 0.7, ..good },
    ] {
        assert!(bad.check().is_err(), "{bad:?}");
    }
}

/// The shares of pairs of two players whose score is `t` standard deviations of a pair above ½: the
/// shares given, tilted.
fn shares(base: [f64; 5], t: f64) -> [f64; 5] {
    let tilted = |tilt: f64| {
        let raw: Vec<f64> = (0..5).map(|k| base[k] * (tilt * (k as f64 - 2.0)).exp()).collect();
        let sum: f64 = raw.iter().sum();
        std::array::from_fn(|k| raw[k] / sum)
    };
    let deviation = |p: [f64; 5]| {
        let mean: f64 = (0..5).map(|k| p[k] * k as f64 / 4.0).sum();
        let variance: f64 = (0..5).map(|k| p[k] * (k as f64 / 4.0 - mean).powi(2)).sum();
        (mean - 0.5) / variance.sqrt()
    };
    let (mut low, mut high) = (-5.0, 5.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if deviation(tilted(middle)) < t { low = middle } else { high = middle }
    }
    tilted(low)
}

fn draw(rng: &mut Stream, shares: &[f64; 5]) -> usize {
    let mut x: f64 = rng.random_range(0.0..1.0);
    for (k, share) in shares.iter().enumerate() {
        x -= share;
        if x < 0.0 {
            return k;
        }
    }
    4
}

/// Plays a test to its end.
fn simulate(rng: &mut Stream, test: &Sprt, shares: &[f64; 5]) -> (Pentanomial, Hypothesis) {
    let mut counts = [0; 6];
    loop {
        // A pair with as many points won as lost counts as two draws.
        counts[[0, 1, 3, 4, 5][draw(rng, shares)]] += 1;
        let pairs = Pentanomial::new(counts);
        if let Some(verdict) = test.verdict(&pairs) {
            return (pairs, verdict);
        }
    }
}

/// Normalised Elo of a pair's score in its standard deviations.
const NELO: f64 = 800.0 / std::f64::consts::LN_10 / std::f64::consts::SQRT_2;

const BASE: [f64; 5] = [0.1, 0.2, 0.4, 0.2, 0.1];

#[test]
fn wrong_decisions_are_no_more_than_asked_for() {
    let runs = 2000;
    for (model, alpha, beta) in
        [(SprtModel::Normalised, 0.05, 0.1), (SprtModel::Logistic, 0.1, 0.05)]
    {
        let test = Sprt { elo0: 0.0, elo1: 90.0, alpha, beta, model };
        let score = |p: &[f64; 5]| (0..5).map(|k| p[k] * k as f64 / 4.0).sum::<f64>();
        let truth = |elo: f64| match model {
            SprtModel::Normalised => shares(BASE, elo / NELO),
            SprtModel::Logistic => {
                let wanted = 1.0 / (1.0 + 10f64.powf(-elo / 400.0));
                let (mut low, mut high) = (-2.0, 2.0);
                for _ in 0..50 {
                    let middle = (low + high) / 2.0;
                    if score(&shares(BASE, middle)) < wanted { low = middle } else { high = middle }
                }
                shares(BASE, low)
            }
        };
        for (elo, wrong, most) in
            [(test.elo0, Hypothesis::H1, alpha), (test.elo1, Hypothesis::H0, beta)]
        {
            let mut rng = stream(11, [elo as u64, model as u64, 0]);
            let shares = truth(elo);
            let errors =
                (0..runs).filter(|_| simulate(&mut rng, &test, &shares).1 == wrong).count() as f64;
            // Three standard deviations of a binomial.
            let bound =
                f64::from(runs) * most + 3.0 * (f64::from(runs) * most * (1.0 - most)).sqrt();
            assert!(errors < bound, "{model:?} at {elo}: {errors} of {runs} wrong");
            assert!(
                errors > f64::from(runs) * most / 4.0,
                "{model:?} at {elo}: only {errors} wrong"
            );
        }
    }
}

#[test]
fn the_estimate_after_a_stop_is_too_large_as_often_as_too_small() {
    let runs = 1000;
    let test = test(0.0, 60.0, SprtModel::Normalised);
    for nelo in [-30.0, 0.0, 30.0, 60.0, 100.0] {
        let shares = shares(BASE, nelo / NELO);
        let score: f64 = (0..5).map(|k| shares[k] * k as f64 / 4.0).sum();
        let truth = -400.0 * (1.0 / score - 1.0).log10();
        let mut rng = stream(12, [nelo as u64, 0, 0]);
        let (mut over, mut naive_over, mut covered) = (0.0, 0.0, 0.0);
        for _ in 0..runs {
            let (pairs, _) = simulate(&mut rng, &test, &shares);
            let Some(estimate) = test.estimate(&pairs) else { continue };
            over += f64::from(u8::from(estimate.elo.unwrap() > truth));
            naive_over += f64::from(u8::from(Figures::of(&pairs).elo.unwrap() > truth));
            let inside = estimate.from.is_none_or(|from| from < truth)
                && estimate.to.is_none_or(|to| truth < to);
            covered += f64::from(u8::from(inside));
        }
        let share = over / f64::from(runs);
        let naive = naive_over / f64::from(runs);
        assert!((share - 0.5).abs() < 0.05, "{nelo}: {share} too large; without care {naive}");
        assert!((covered / f64::from(runs) - 0.95).abs() < 0.03, "{nelo}: {covered} covered");
        if nelo == 100.0 {
            assert!(naive > 0.55, "the plain estimate is biased: {naive}");
        }
    }
}

#[test]
fn a_test_takes_about_as_long_as_expected() {
    let test = test(0.0, 40.0, SprtModel::Normalised);
    let mut rng = stream(13, [0, 0, 0]);
    // Half-way to a decision.
    let begun = Pentanomial::new([8, 20, 20, 24, 32, 16]);
    let expected = test.expected_remaining(&begun).unwrap();
    let n = begun.total() as f64;
    let shares = std::array::from_fn(|k| begun.counts()[k] as f64 / n);
    let mut total = 0.0;
    for _ in 0..400 {
        let mut counts = [8, 20, 20, 24, 32, 16];
        loop {
            counts[[0, 1, 3, 4, 5][draw(&mut rng, &shares)]] += 1;
            if test.verdict(&Pentanomial::new(counts)).is_some() {
                break;
            }
        }
        total += counts.iter().sum::<u64>() as f64 - n;
    }
    let mean = total / 400.0;
    assert!((mean / expected - 1.0).abs() < 0.15, "{mean}, expected {expected}");
    assert_eq!(test.expected_remaining(&Pentanomial::new([0, 10, 20, 20, 90, 60])), None);
}

#[test]
fn a_course_knows_where_it_stopped_and_goes_on_counting() {
    let pairs = [[1.0, 0.5], [1.0, 0.0], [0.5, 1.0], [1.0, 1.0]].repeat(100);
    let test = test(0.0, 10.0, SprtModel::Normalised);
    let course = SprtCourse::of(test, pairs.iter().copied(), Pentanomial::add);
    let stop = course.decided_at_pair.unwrap();
    assert!(stop < 400 && course.verdict == Some(Hypothesis::H1));
    let mut counts = Pentanomial::default();
    for (k, &pair) in pairs.iter().enumerate() {
        if k as u64 <= stop {
            assert_eq!(test.verdict(&counts).is_some(), k as u64 == stop);
        }
        counts.add(pair);
    }
    assert_eq!(course.llr, test.llr(&counts).ok());
    assert!(course.llr_at_decision < course.llr);
    assert_eq!(course.expected_remaining, None);
}
