//! Charts with a row for each name: values with their intervals, and parts of a whole. They are made
//! of ordinary elements, so that names keep their size on a narrow page.

use maud::{Markup, html};
use surakarta_arena::quantity;
use surakarta_game::Ending;

use super::chart::{Axis, SERIES, mark};

/// A value of a row.
pub(super) struct Value {
    pub(super) series: usize,
    pub(super) value: f64,
    /// Half of its 95 % interval.
    pub(super) error: Option<f64>,
    /// What it says when pointed at.
    pub(super) title: String,
}

/// A row of [`values`].
pub(super) struct Row {
    pub(super) name: String,
    pub(super) values: Vec<Value>,
    /// What stands there where there is no value.
    pub(super) remark: String,
}

/// Per cent, as style sheets have it.
fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share.clamp(0.0, 1.0))
}

/// Values with their intervals over a common axis.
pub(super) fn values(label: &str, title: &str, axis: &Axis, rows: &[Row]) -> Markup {
    html! {
        div.rows role="group" aria-label=(label) {
            @for row in rows {
                div.row {
                    span.name { (row.name) }
                    div.tracks {
                        @if row.values.is_empty() { span.remark { (row.remark) } }
                        @for value in &row.values {
                            div.track title=(value.title) {
                                @for &tick in &axis.ticks {
                                    span.tick style=(format!("left:{}", percent(axis.share(tick)))) {}
                                }
                                (interval(axis, value))
                            }
                        }
                    }
                    span.number {
                        @for value in &row.values { span { (value.title) } }
                    }
                }
            }
            div.row.scale aria-hidden="true" {
                span.name { (title) }
                div.track {
                    @for &tick in &axis.ticks {
                        span.label style=(format!("left:{}", percent(axis.share(tick)))) { (axis.text(tick)) }
                    }
                }
                span.number {}
            }
        }
    }
}

fn interval(axis: &Axis, value: &Value) -> Markup {
    let at = |x: f64| axis.share(x).clamp(0.0, 1.0);
    html! {
        span class=(format!("s{}", value.series % SERIES)) {
            @if let Some(error) = value.error.filter(|error| *error > 0.0) {
                @let (from, to) = (at(value.value - error), at(value.value + error));
                span.whisker style=(format!("left:{};width:{}", percent(from), percent(to - from))) {}
            }
            svg.mark viewBox="-6 -6 12 12" aria-hidden="true"
                style=(format!("left:{}", percent(at(value.value)))) { (mark(value.series, 0.0, 0.0)) }
        }
    }
}

/// A row of [`parts`]: so many games of each ending.
pub(super) struct Parts {
    pub(super) name: String,
    pub(super) counts: Vec<(Ending, usize)>,
}

/// Bars of equal length, each divided by endings.
pub(super) fn parts(label: &str, rows: &[Parts]) -> Markup {
    html! {
        div.rows role="group" aria-label=(label) {
            @for row in rows {
                @let total: usize = row.counts.iter().map(|(_, n)| n).sum();
                div.row {
                    span.name { (row.name) }
                    div.bar {
                        @for (ending, n) in row.counts.iter().filter(|(_, n)| *n > 0) {
                            @let share = *n as f64 / total as f64;
                            span class=(format!("part e{}", *ending as u8)) style=(format!("width:{}", percent(share)))
                                title=(format!("{ending}: {n} of {}, {:.1} %", quantity(total, "game"), 100.0 * share)) {
                                @if share > 0.07 { (n) }
                            }
                        }
                    }
                    span.number { (quantity(total, "game")) }
                }
            }
        }
    }
}

/// What the colours of series mean; nothing where there is one alone.
pub(super) fn legend<'a>(names: impl IntoIterator<Item = &'a str>) -> Markup {
    let names: Vec<&str> = names.into_iter().collect();
    html! {
        @if names.len() > 1 {
            ul.legend {
                @for (n, name) in names.iter().enumerate() {
                    li class=(format!("s{}", n % SERIES)) {
                        svg.mark viewBox="-6 -6 12 12" aria-hidden="true" { (mark(n, 0.0, 0.0)) }
                        (name)
                    }
                }
            }
        }
    }
}

/// What the colours of endings mean.
pub(super) fn ending_legend(endings: &[Ending]) -> Markup {
    html! {
        ul.legend {
            @for &ending in endings {
                li { span class=(format!("swatch e{}", ending as u8)) {} (ending) }
            }
        }
    }
}
