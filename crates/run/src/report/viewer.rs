//! The board that replays games: its elements, which the page's program fills.

use maud::{Markup, PreEscaped, html};
use surakarta_arena::quantity;

use super::replay::Replay;

/// The section, if there are games.
pub(super) fn section(replay: &Replay, sources: &[String]) -> Markup {
    html! {
        section #games {
            h2 { "Games" }
            @if replay.len() == 0 {
                p.missing { "There is no game to replay." }
            } @else {
                noscript { p.missing { "The board needs JavaScript; everything else on this page does not." } }
                div.viewer {
                    (chooser(replay, sources))
                    div.table-side {
                        p #players aria-live="polite" {}
                        svg #board tabindex="0" role="img" aria-label="the board" {}
                        div.controls role="group" aria-label="steps" {
                            (step("first", "to the start (Home)", "M3 2h2v12h-2zM14 2v12l-8-6z"))
                            (step("back", "one ply back (←)", "M12 2v12l-8-6z"))
                            button #play type="button" title="play or rest (space)" aria-pressed="false" { "Play" }
                            (step("next", "one ply on (→)", "M4 2v12l8-6z"))
                            (step("last", "to the end (End)", "M11 2h2v12h-2zM2 2v12l8-6z"))
                        }
                        label.seek { span #ply {} input #seek type="range" min="0" max="0" value="0" aria-label="ply" {} }
                        output #fen {}
                    }
                    div.analysis {
                        figure {
                            div.graph {
                                span.end { "+1 Black wins" }
                                svg #graph preserveAspectRatio="none" role="img" aria-label="evaluations of both players, seen by Black" {}
                                span.end { "−1 White wins" }
                            }
                            figcaption {
                                ul.legend {
                                    li { span.swatch.by-black {} "Black’s evaluation" }
                                    li { span.swatch.by-white {} "White’s evaluation" }
                                    li { span.swatch.lead {} "lead in pieces" }
                                }
                                "Expected result in Black’s view, each as the player of that colour saw it before its move; the lead is Black’s pieces less White’s, full height all of a side’s. Click to go there. "
                                span #silent {}
                            }
                        }
                        div.scroll.moves tabindex="0" role="region" aria-label="moves" { table #moves {} }
                    }
                }
            }
        }
    }
}

fn step(id: &str, what: &str, icon: &str) -> Markup {
    html! {
        button id=(id) type="button" title=(what) aria-label=(what) {
            svg viewBox="0 0 16 16" aria-hidden="true" { path d=(icon) {} }
        }
    }
}

fn chooser(replay: &Replay, sources: &[String]) -> Markup {
    html! {
        div.chooser {
            div.filters {
                @if sources.len() > 1 { (filter("source", "from", sources.iter().map(|s| &**s))) }
                (filter("player", "player", replay.players().iter().map(|s| &**s)))
                (filter("ending", "ending", replay.endings().iter().copied()))
            }
            p #count aria-live="polite" {}
            fieldset #list { legend.hidden { "games" } }
            p.hint {
                @if replay.len() < replay.total {
                    (replay.len()) " of " (replay.total) " games are in this page, evenly chosen; "
                    code { "--games" } " asks for more or fewer. "
                } @else {
                    "In this page: " (quantity(replay.total, "game")) ". "
                }
                "Keys: ← → step, Home End, space plays."
            }
        }
    }
}

fn filter<'a>(id: &str, label: &str, names: impl Iterator<Item = &'a str>) -> Markup {
    html! {
        label { span { (label) }
            select id=(id) {
                option value="" { "any" }
                @for (n, name) in names.enumerate() { option value=(n) { (name) } }
            }
        }
    }
}

/// The games and the program.
///
/// # Errors
/// Never for games that were read.
pub(super) fn program(replay: &Replay) -> anyhow::Result<Markup> {
    let json = replay.json()?;
    Ok(html! {
        script #data type="application/json" { (PreEscaped(json)) }
        script { (PreEscaped(include_str!("board.js"))) }
    })
}
