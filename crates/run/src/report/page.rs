//! The page as a whole.

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use surakarta_arena::quantity;
use surakarta_game::Variant;

use super::replay::Replay;
use super::source::{Kind, Source};
use super::{board, learning, openings, ratings, results, viewer};

/// Nothing may be fetched, whatever a name in the data says.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// The report, ready to be written.
///
/// # Errors
/// Never for sources that were read.
pub(super) fn page(sources: &[Source], games: usize) -> Result<String> {
    let replay = Replay::new(sources, games);
    let labels: Vec<String> = sources.iter().map(|source| source.label.clone()).collect();
    let title = labels.join(", ");
    let program = if replay.len() > 0 {
        viewer::program(&replay)?
    } else {
        html! {}
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(format!("surakarta {}", env!("CARGO_PKG_VERSION")));
                link rel="icon" href="data:,";
                title { (title) " – Surakarta report" }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                (board::definitions(&variants(sources)))
                main {
                    (head(sources, &title))
                    (ratings::section(sources))
                    (viewer::section(&replay, &labels))
                    (results::section(sources))
                    (openings::section(sources))
                    (learning::section(sources))
                }
                (program)
            }
        }
    };
    Ok(page.into_string())
}

/// The variants that are played, in the order of their numbers.
fn variants(sources: &[Source]) -> Vec<Variant> {
    let games = || sources.iter().flat_map(|source| &source.games);
    let played = |variant: &Variant| games().any(|game| game.opening.start.variant() == *variant);
    Variant::ALL.into_iter().filter(played).collect()
}

fn head(sources: &[Source], title: &str) -> Markup {
    let games: usize = sources.iter().map(|source| source.games.len()).sum();
    let learned = sources.iter().any(|source| !source.metrics().is_empty());
    html! {
        header {
            p.kicker { "Surakarta report" }
            h1 { (title) }
            @for source in sources { p.facts { (facts(source, sources.len() > 1)) } }
            @for source in sources {
                @for note in &source.notes {
                    p.missing { @if sources.len() > 1 { b { (source.label) ": " } } (note) }
                }
            }
            nav aria-label="sections" {
                a href="#ratings" { "Ratings" }
                a href="#games" { "Games" }
                @if games > 0 { a href="#results" { "Results" } a href="#openings" { "Openings" } }
                @if learned { a href="#learning" { "Learning" } }
            }
        }
    }
}

/// A line about a source: what it is, how large, under which rules.
fn facts(source: &Source, named: bool) -> Markup {
    let what = match &source.kind {
        Kind::Run { metrics } => {
            let iterations = metrics.last().map_or(0, |row| row.iteration);
            format!("a training run, {} learned", quantity(iterations, "iteration"))
        }
        Kind::Arena => format!("a tournament of {}", quantity(source.players().len(), "player")),
    };
    let variants = variants(std::slice::from_ref(source));
    let names: Vec<&str> = variants.iter().map(|variant| variant.name()).collect();
    html! {
        @if named { b { (source.label) } ": " }
        (what) " · " (quantity(source.games.len(), "rated game"))
        @if !names.is_empty() { " · variant " (names.join(", ")) }
        @if !source.rules.is_empty() { " · rules " (source.rules) }
        @if let Some(seed) = source.seed { " · seed " (seed) }
    }
}
