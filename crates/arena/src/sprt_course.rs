//! A sequential test along results in their order: where did it stop, and what is known then?

use serde::Serialize;

use crate::head_to_head::Counts;
use crate::rating::Clusters;
use crate::sprt::{Hypothesis, Sprt, SprtEstimate};

/// A test along a sequence of results, in their order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SprtCourse {
    /// The test.
    #[serde(flatten)]
    pub test: Sprt,
    /// What is counted as one result.
    pub unit: Clusters,
    /// The log-likelihood ratio of all results.
    pub llr: Option<f64>,
    /// The ratio at which H0 is accepted.
    pub lower: f64,
    /// The ratio at which H1 is accepted.
    pub upper: f64,
    /// The hypothesis that was accepted first.
    pub verdict: Option<Hypothesis>,
    /// The number of results, in their order, after which it was: of pairs, or of games where `unit`
    /// is games.
    pub decided_at_pair: Option<u64>,
    /// The log-likelihood ratio there.
    pub llr_at_decision: Option<f64>,
    /// Results still to come on average, where none is accepted yet.
    pub expected_remaining: Option<f64>,
    /// What is known of the difference where the test stopped, or so far.
    pub estimate: Option<SprtEstimate>,
    /// Why a number is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl SprtCourse {
    /// Follows a test through results of class `C`; `add` counts one more.
    pub fn of<C: Counts + Default + Clone, R>(
        test: Sprt,
        results: impl IntoIterator<Item = R>,
        add: impl Fn(&mut C, R),
    ) -> SprtCourse {
        let mut counts = C::default();
        let mut stopped: Option<(C, f64, Hypothesis)> = None;
        for result in results {
            add(&mut counts, result);
            if stopped.is_none()
                && let Ok(llr) = test.llr(&counts)
                && let Some(verdict) = test.decides(llr)
            {
                stopped = Some((counts.clone(), llr, verdict));
            }
        }
        let llr = test.llr(&counts);
        let at = stopped.as_ref().map_or(&counts, |(counts, ..)| counts);
        let estimate = test.estimate(at);
        let reason = match &llr {
            Err(reason) => Some(reason.to_string()),
            Ok(_) if counts.total() == 0 => Some("no finished results".to_owned()),
            Ok(_) => estimate.is_none().then(|| {
                "all results are alike: no variation from which to take an estimate".into()
            }),
        };
        SprtCourse {
            test,
            unit: if C::GAMES == 2.0 { Clusters::Pairs } else { Clusters::Games },
            llr: llr.ok(),
            lower: test.lower(),
            upper: test.upper(),
            verdict: stopped.as_ref().map(|&(_, _, verdict)| verdict),
            decided_at_pair: stopped.as_ref().map(|(counts, ..)| counts.total()),
            llr_at_decision: stopped.as_ref().map(|&(_, llr, _)| llr),
            expected_remaining: stopped
                .is_none()
                .then(|| test.expected_remaining(&counts))
                .flatten(),
            estimate,
            reason,
        }
    }
}
