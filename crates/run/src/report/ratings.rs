//! Ratings: the curve of a run, the chart of a tournament, and their tables.

use maud::{Markup, html};

use surakarta_arena::{Standing, Standings, quantity};

use super::chart::{Axis, Dot, Level, Line, LineChart, minus};
use super::rows::{self, Value};
use super::source::{Source, iteration};

/// The most players of a table of all differences.
const MOST_COMPARED: usize = 12;

/// The section.
pub(super) fn section(sources: &[Source]) -> Markup {
    html! {
        section #ratings {
            h2 { "Ratings" }
            @if sources.iter().any(|source| !curve_of(source).is_empty()) { (curve(sources)) }
            @if sources.iter().any(|source| !source.is_run() && source.ratings.is_some()) { (strengths(sources)) }
            @for source in sources {
                @if let Some(ratings) = &source.ratings { (table(source, ratings, sources.len() > 1)) }
            }
            @if sources.iter().all(|source| source.ratings.is_none()) {
                p.missing { "There are no ratings yet." }
            }
        }
    }
}

/// The rated checkpoints of a run, in order.
fn curve_of(source: &Source) -> Vec<(u32, &Standing)> {
    let rows = source.ratings.iter().filter(|_| source.is_run()).flat_map(|table| &table.players);
    let mut rated: Vec<(u32, &Standing)> = rows
        .filter(|row| row.rating.is_some())
        .filter_map(|row| Some((iteration(row)?, row)))
        .collect();
    rated.sort_by_key(|(iteration, _)| *iteration);
    rated
}

fn curve(sources: &[Source]) -> Markup {
    let mut lines = Vec::new();
    let mut games = Vec::new();
    for (series, source) in sources.iter().enumerate() {
        let rated = curve_of(source);
        let dots = rated.iter().map(|(iteration, row)| Dot {
            x: f64::from(*iteration),
            y: row.rating.unwrap_or(f64::NAN),
            error: row.error,
            title: format!(
                "{}, iteration {iteration}: {}, {}",
                source.label,
                elo(row.rating, row.error),
                quantity(row.games, "game")
            ),
        });
        games.extend(rated.iter().map(|(_, row)| row.games));
        let shift = 5.0 * (series as f64 - (sources.len() - 1) as f64 / 2.0);
        lines.push(Line { series, dots: dots.collect(), dashed: false, marked: true, shift });
    }
    let dots = || lines.iter().flat_map(|line| &line.dots);
    let last = dots().map(|dot| dot.x as u32).max().unwrap_or(1);
    let ends = dots().flat_map(|dot| {
        let error = dot.error.unwrap_or(0.0);
        [dot.y - error, dot.y + error]
    });
    let own = Axis::covering(ends, 7);
    let (levels, outside) = opponents(sources, &own);
    let covered = [own.low, own.high].into_iter().chain(levels.iter().map(|level| level.y));
    let y = Axis::covering(covered, 7);
    let chart = LineChart {
        label: "Elo of the checkpoints over iterations, with 95 % intervals".to_owned(),
        x_title: "iteration of training",
        y_title: "Elo",
        x: Axis::counting(0, last, 8),
        y,
        lines,
        levels,
    };
    let (least, most) =
        (games.iter().min().copied().unwrap_or(0), games.iter().max().copied().unwrap_or(0));
    html! {
        figure {
            (rows::legend(sources.iter().map(|source| &*source.label)))
            (chart.svg())
            figcaption {
                b { "Playing strength of the checkpoints. " }
                "Bradley–Terry ratings by maximum likelihood over all rating games, a draw half a win; bars and shades are 95 % intervals, pairs of games taken as independent. "
                "n = " (quantity(games.len(), "checkpoint")) " with " (range(least, most)) " games each. "
                @if sources.len() == 1 { "Lines across are the fixed opponents. " }
                @if !outside.is_empty() { "Beyond the picture: " (outside.join(", ")) "." }
            }
        }
    }
}

fn range(least: usize, most: usize) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

/// The opponents of a run, and those too far away to be drawn.
fn opponents(sources: &[Source], own: &Axis) -> (Vec<Level>, Vec<String>) {
    let (mut near, mut far) = (Vec::new(), Vec::new());
    let [source] = sources else { return (near, far) };
    let rows = source.ratings.iter().flat_map(|table| &table.players);
    for row in rows.filter(|row| iteration(row).is_none()) {
        let Some(rating) = row.rating else { continue };
        if (-1.0..=2.0).contains(&own.share(rating)) {
            near.push(Level { y: rating, name: row.name.clone() });
        } else {
            far.push(format!("{} ({})", row.name, elo(row.rating, row.error)));
        }
    }
    (near, far)
}

/// The players of tournaments, a row each.
fn strengths(sources: &[Source]) -> Markup {
    let arenas = || sources.iter().enumerate().filter(|(_, source)| !source.is_run());
    let rows_of = || arenas().flat_map(|(_, s)| s.ratings.iter().flat_map(|table| &table.players));
    let ends = rows_of().filter_map(|row| Some((row.rating?, row.error.unwrap_or(0.0))));
    let axis = Axis::covering(ends.flat_map(|(elo, error)| [elo - error, elo + error]), 5);
    let mut names: Vec<&str> = Vec::new();
    for row in rows_of() {
        if !names.contains(&&*row.name) {
            names.push(&row.name);
        }
    }
    let found = |source: &'_ Source, name: &str| -> Option<(Option<f64>, Option<f64>)> {
        let row = source.ratings.as_ref()?.players.iter().find(|row| row.name == name)?;
        Some((row.rating, row.error))
    };
    // The mean over tournaments: what is best comes first.
    let mean = |name: &str| {
        let rated: Vec<f64> = arenas().filter_map(|(_, s)| found(s, name)?.0).collect();
        if rated.is_empty() {
            f64::NEG_INFINITY
        } else {
            rated.iter().sum::<f64>() / rated.len() as f64
        }
    };
    if arenas().count() > 1 {
        names.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    }
    let rows: Vec<rows::Row> = names
        .iter()
        .map(|&name| {
            let values = arenas().filter_map(|(series, source)| {
                let (rating, error) = found(source, name)?;
                Some(Value { series, value: rating?, error, title: elo(rating, error) })
            });
            let reason =
                rows_of().filter(|row| row.name == name).find_map(|row| row.reason.clone());
            rows::Row {
                name: name.to_owned(),
                values: values.collect(),
                remark: reason.unwrap_or_default(),
            }
        })
        .collect();
    let games: usize = arenas().map(|(_, source)| source.games.len()).sum();
    let scales: Vec<&str> =
        arenas().filter_map(|(_, s)| Some(&*s.ratings.as_ref()?.scale)).collect();
    html! {
        figure {
            (rows::legend(sources.iter().map(|source| &*source.label)))
            (rows::values("Elo of the players, with 95 % intervals", "Elo", &axis, &rows))
            figcaption {
                b { "Playing strength. " }
                "Bradley–Terry ratings by maximum likelihood, a draw half a win, the advantage of the first move fitted too; bars are 95 % intervals, pairs of games taken as independent. "
                "n = " (quantity(games, "game")) "; scale: " (scales.join(", ")) "."
                @if arenas().count() > 1 { " Each tournament has a scale of its own." }
            }
        }
    }
}

/// `+86.8 ± 36.8`.
fn elo(rating: Option<f64>, error: Option<f64>) -> String {
    match (rating, error) {
        (None, _) => "–".to_owned(),
        (Some(rating), None) => signed(rating),
        (Some(rating), Some(error)) => format!("{} ± {error:.1}", signed(rating)),
    }
}

fn signed(x: f64) -> String {
    minus(&format!("{x:+.1}"))
}

fn table(source: &Source, table: &Standings, named: bool) -> Markup {
    let reasons = table.players.iter().any(|row| row.reason.is_some());
    html! {
        figure {
            div.scroll tabindex="0" role="region" aria-label=(format!("Elo table of {}", source.label)) {
                table {
                    thead { tr {
                            th { "#" } th.text { "player" } th { "Elo" } th { "± 95 %" } th { "games" } th { "pairs" }
                            th { "score" } th { "W" } th { "D" } th { "L" }
                            @if reasons { th.text { "why no value" } }
                        } }
                    tbody {
                        @for (n, row) in table.players.iter().enumerate() {
                            tr {
                                td { (n + 1) }
                                th.text scope="row" { (row.name) }
                                td { (row.rating.map_or("–".to_owned(), signed)) }
                                td { (row.error.map_or("–".to_owned(), |x| format!("{x:.1}"))) }
                                td { (row.games) } td { (row.pairs) }
                                td { (format!("{:.1} %", 100.0 * row.score)) }
                                td { (row.total.wins) } td { (row.total.draws) } td { (row.total.losses) }
                                @if reasons { td.text { (row.reason.as_deref().unwrap_or_default()) } }
                            }
                        }
                    }
                }
            }
            figcaption {
                @if named { b { (source.label) ". " } }
                "Elo by Bradley–Terry, " (table.scale) "; 95 % errors, " (table.clusters) " taken as independent. "
                @if let Some(advantage) = table.first_advantage.as_ref().filter(|found| found.elo.is_some()) {
                    "Advantage of the first move: " (elo(advantage.elo, advantage.error)) ". "
                }
                (quantity(table.games, "game"))
                @if let Some(distinct) = table.distinct_games { " (" (distinct) " distinct)" }
                ", " (quantity(table.pairs, "pair"))
                @if let Some(openings) = table.distinct_openings { ", " (quantity(openings, "distinct opening")) }
                ". Score: points a game, 1 a win and ½ a draw."
            }
        }
        @for warning in &table.warnings { p.warning { (warning) "." } }
        @if (2..=MOST_COMPARED).contains(&table.players.len()) && !table.differences.is_empty() {
            (differences(source, table, named))
        }
    }
}

fn differences(source: &Source, table: &Standings, named: bool) -> Markup {
    html! {
        details {
            summary { "Every difference with its interval" @if named { " (" (source.label) ")" } }
            figure {
                div.scroll tabindex="0" role="region" aria-label=(format!("differences of {}", source.label)) {
                    table {
                        thead { tr { th.text { "first" } th.text { "second" } th { "Elo" } th { "± 95 %" } th { "superior" } th.text {} } }
                        tbody {
                            @for row in &table.differences {
                                tr {
                                    th.text scope="row" { (row.first) } td.text { (row.second) }
                                    td { (row.difference.map_or("–".to_owned(), signed)) }
                                    td { (row.error.map_or("–".to_owned(), |x| format!("{x:.1}"))) }
                                    td { (row.superiority.map_or("–".to_owned(), |p| format!("{:.2} %", 100.0 * p))) }
                                    td.text { (row.reason.as_deref().unwrap_or_default()) }
                                }
                            }
                        }
                    }
                }
                figcaption { "Elo of the first above the second with the covariance of both ratings; superior: the probability that the difference is above zero." }
            }
        }
    }
}
