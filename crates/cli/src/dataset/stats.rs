use std::path::PathBuf;

use anyhow::Result;
use surakarta_arena::{quantity, signed};
use surakarta_dataset::survey::{Distinct, OPENING_PLIES, Summary, survey};

use crate::output;

pub(super) fn main(shards: &[PathBuf], json: bool) -> Result<()> {
    let (summary, left_out) = survey(shards)?;
    super::name_left_out(&left_out);
    if json { output::json(&summary) } else { output::print(text(&summary)) }
}

fn text(summary: &Summary) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: String| out += &format!("{name:12} {text}\n");
    let share = |n: u64| format!("{n} ({:.1} %)", 100.0 * n as f64 / summary.games.max(1) as f64);
    line("games", format!("{} in {}", summary.games, quantity(summary.shards, "shard")));
    line("  distinct", distinct(summary.distinct_games));
    let openings = distinct(summary.distinct_openings);
    line("  openings", format!("{openings} by start and first {OPENING_PLIES} plies"));
    for (variant, &games) in &summary.variants {
        line("variant", format!("{variant}: {}", share(games)));
    }
    line("first player", share(summary.black_wins));
    line("drawn", share(summary.draws));
    line("second", share(summary.white_wins));
    for (ending, &games) in &summary.endings {
        line(ending, share(games));
    }
    let mean = summary.mean_plies.unwrap_or(0.0);
    line("plies", format!("{} ({mean:.1} a game)", summary.plies));
    if let Some([least, lower, median, upper, most]) = summary.plies_quartiles {
        line(
            "  of a game",
            format!("{least} to {most}, half of them {lower} to {upper}, median {median}"),
        );
    }
    for (kind, n) in &summary.searches {
        line(&format!("  {kind}"), n.to_string());
    }
    let positions = distinct(summary.distinct_positions);
    line("positions", format!("{} recorded with a policy; {positions} distinct", summary.recorded));
    if let Some(entropy) = summary.mean_policy_entropy {
        line("  entropy", format!("{entropy:.3} nats, the mean of their policies"));
    }
    let bytes = summary.bytes_per_recorded.unwrap_or(0.0);
    line("bytes", format!("{} ({bytes:.1} a recorded position)", summary.bytes));
    let calibration = &summary.calibration;
    if let Some(error) = calibration.mean_squared_error {
        line(
            "values",
            format!(
                "of {} searches against the results; mean squared error {error:.3}",
                calibration.positions
            ),
        );
        for bin in &calibration.bins {
            let [from, to, value, outcome] =
                [(bin.from, 1), (bin.to, 1), (bin.mean_value, 3), (bin.mean_outcome, 3)]
                    .map(|(x, decimals)| signed(x, decimals));
            line(
                "",
                format!(
                    "{from} to {to}: mean value {value}, mean result {outcome}, {} positions",
                    bin.positions
                ),
            );
        }
    }
    out
}

/// A count, and how far it may be off.
fn distinct(distinct: Distinct) -> String {
    match distinct.standard_error {
        0.0 => distinct.count.to_string(),
        error => format!("about {} (± {:.1} %, estimated)", distinct.count, 196.0 * error),
    }
}
