//! The curves of training.

use maud::{Markup, html};
use surakarta_arena::quantity;
use surakarta_train::Metrics;

use super::chart::{Axis, Dot, Line, LineChart};
use super::rows;
use super::source::Source;

/// A panel: what it shows, its unit, the loss and the least that it can be.
struct Panel {
    name: &'static str,
    unit: &'static str,
    loss: fn(&Metrics) -> f32,
    least: Option<fn(&Metrics) -> f32>,
}

const PANELS: [Panel; 3] = [
    Panel { name: "total", unit: "loss", loss: |row| row.loss, least: None },
    Panel {
        name: "policy",
        unit: "nats",
        loss: |row| row.policy_loss,
        least: Some(|row| row.policy_entropy),
    },
    Panel {
        name: "value",
        unit: "nats",
        loss: |row| row.wdl_loss,
        least: Some(|row| row.wdl_entropy),
    },
];

/// The section, if anything was learned.
pub(super) fn section(sources: &[Source]) -> Markup {
    let rows: usize = sources.iter().map(|source| source.metrics().len()).sum();
    let samples: u64 =
        sources.iter().filter_map(|source| Some(source.metrics().last()?.samples)).sum();
    html! {
        @if rows > 0 {
            section #learning {
                h2 { "Learning" }
                figure {
                    (rows::legend(sources.iter().map(|source| &*source.label)))
                    div.panels {
                        @for panel in &PANELS {
                            div {
                                h3 { (panel.name) }
                                (chart(sources, panel).sized("panel", 360, 250))
                            }
                        }
                    }
                    figcaption {
                        b { "Losses. " }
                        "Means over the samples of an iteration, each measured before the step that learned from it: no sample of them is independent of the others, and there is no interval. "
                        "Policy: cross-entropy over legal moves; value: cross-entropy of win, draw and loss; dashed, the entropy of the targets, which is the least possible. Total: what is minimised, with the weights of the configuration. "
                        "n = " (quantity(rows, "iteration")) ", " (quantity(samples, "sample")) "."
                    }
                }
            }
        }
    }
}

fn chart(sources: &[Source], panel: &Panel) -> LineChart {
    let mut lines = Vec::new();
    for (series, source) in sources.iter().enumerate() {
        let line = |of: fn(&Metrics) -> f32, dashed| {
            let dots = source.metrics().iter().map(|row| Dot {
                x: row.iteration as f64,
                y: f64::from(of(row)),
                error: None,
                title: String::new(),
            });
            Line { series, dots: dots.collect(), dashed, marked: false, shift: 0.0 }
        };
        lines.push(line(panel.loss, false));
        lines.extend(panel.least.map(|least| line(least, true)));
    }
    let dots = || lines.iter().flat_map(|line| &line.dots);
    let last = dots().map(|dot| dot.x as u32).max().unwrap_or(1);
    LineChart {
        label: format!("{} loss over iterations", panel.name),
        x_title: "iteration",
        y_title: panel.unit,
        x: Axis::counting(0, last, 5),
        y: Axis::covering(dots().map(|dot| dot.y), 4),
        lines,
        levels: Vec::new(),
    }
}
