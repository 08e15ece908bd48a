//! What the games were like: who beat whom, how they ended, how long they were, who moved first.

use std::collections::HashMap;

use maud::{Markup, html};
use surakarta_arena::{ArenaGame, CrossRow, Tally, quantity};
use surakarta_game::Ending;

use super::chart::{Axis, Histogram};
use super::estimate::{Mean, mean, pair};
use super::rows::{self, Parts, Value};
use super::source::Source;

/// The most players that a chart has a row for; a run may rate hundreds of checkpoints.
const MOST_ROWS: usize = 30;

/// The section, if there are games.
pub(super) fn section(sources: &[Source]) -> Markup {
    html! {
        @if sources.iter().any(|source| !source.games.is_empty()) {
            section #results {
                h2 { "Results" }
                @for source in sources.iter().filter(|source| !source.games.is_empty()) {
                    (cross_table(source, sources.len() > 1))
                }
                (endings(sources))
                (lengths(sources))
                (first_player(sources))
            }
        }
    }
}

fn all_games(sources: &[Source]) -> usize {
    sources.iter().map(|source| source.games.len()).sum()
}

/// Every player's games against every other.
fn meetings(rows: &[CrossRow]) -> HashMap<(&str, &str), Tally> {
    let mut met = HashMap::new();
    for CrossRow { first, second, tally, .. } in rows {
        let Tally { wins, draws, losses } = *tally;
        met.insert((&**first, &**second), *tally);
        met.insert((&**second, &**first), Tally { wins: losses, draws, losses: wins });
    }
    met
}

fn cross_table(source: &Source, named: bool) -> Markup {
    let players = source.players();
    let counted: usize = source.cross_table.iter().map(|row| row.games).sum();
    let met = meetings(&source.cross_table);
    html! {
        figure {
            div.scroll tabindex="0" role="region" aria-label=(format!("cross table of {}", source.label)) {
                table.cross {
                    thead { tr {
                            th {} th.text { "player" }
                            @for (n, name) in players.iter().enumerate() { th title=(name) { (n + 1) } }
                        } }
                    tbody {
                        @for (n, row) in players.iter().enumerate() {
                            tr {
                                td { (n + 1) }
                                th.text scope="row" { (row) }
                                @for column in &players {
                                    @match met.get(&(*row, *column)) {
                                        Some(t) => td title=(format!("{row} against {column}: {:.1} %", 100.0 * t.score())) {
                                            (t.wins) "–" (t.draws) "–" (t.losses)
                                        },
                                        None if row == column => td.same {},
                                        None => td.none { "·" },
                                    }
                                }
                            }
                        }
                    }
                }
            }
            figcaption {
                @if named { b { (source.label) ". " } } @else { b { "Cross table. " } }
                "Wins–draws–losses of the player of the row against that of the column. n = " (quantity(counted, "game"))
                @if counted < source.games.len() { ", repeated ones counted once" }
                "."
            }
        }
    }
}

fn count<'a>(name: &str, games: impl Iterator<Item = &'a ArenaGame>) -> Parts {
    let mut counts = HashMap::new();
    for game in games {
        *counts.entry(game.ending).or_insert(0) += 1;
    }
    let counts = Ending::ALL.into_iter().filter_map(|e| Some((e, *counts.get(&e)?))).collect();
    Parts { name: name.to_owned(), counts }
}

fn endings(sources: &[Source]) -> Markup {
    let games = || sources.iter().flat_map(|source| &source.games);
    let kinds: Vec<Ending> = Ending::ALL
        .into_iter()
        .filter(|&ending| games().any(|game| game.ending == ending))
        .collect();
    let mut rows = Vec::new();
    let mut left_out = 0;
    if let [source] = sources {
        rows.push(count("all games", source.games.iter()));
        let players = source.players();
        left_out = players.len().saturating_sub(MOST_ROWS);
        for name in players.into_iter().take(MOST_ROWS) {
            let theirs =
                source.games.iter().filter(|game| game.black == name || game.white == name);
            rows.push(count(name, theirs));
        }
    } else {
        rows.extend(sources.iter().map(|source| count(&source.label, source.games.iter())));
    }
    rows.retain(|row| !row.counts.is_empty());
    html! {
        h3 { "Endings" }
        figure {
            (rows::ending_legend(&kinds))
            (rows::parts("Endings of the games", &rows))
            figcaption {
                b { "How games ended. " }
                "Share of each ending in all games"
                @if sources.len() == 1 { " and in those of each player (every game has two)" }
                "; counts, not estimates: " (rules(sources)) ". n = " (quantity(all_games(sources), "game")) "."
                (beyond(left_out))
            }
        }
    }
}

fn beyond(left_out: usize) -> Markup {
    html! { @if left_out > 0 { " The " (left_out) " players of the lowest ranks have no row." } }
}

/// The rules of all sources, in words.
fn rules(sources: &[Source]) -> String {
    let mut names: Vec<&str> = sources.iter().map(|source| &*source.rules).collect();
    names.dedup();
    format!("rules {}", names.join(", "))
}

fn plies(game: &ArenaGame) -> u32 {
    (game.opening.moves.len() + game.plies.len()) as u32
}

fn lengths(sources: &[Source]) -> Markup {
    let series: Vec<Vec<u32>> =
        sources.iter().map(|source| source.games.iter().map(plies).collect()).collect();
    let histogram = Histogram {
        label: "Lengths of the games in plies".to_owned(),
        x_title: "plies, the opening included",
        series,
    };
    let means = sources.iter().filter_map(|source| {
        let found = mean(source.games.iter().map(|game| (pair(game), f64::from(plies(game)))))?;
        let mut sorted: Vec<u32> = source.games.iter().map(plies).collect();
        sorted.sort_unstable();
        let (median, longest) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
        let label =
            if sources.len() > 1 { format!("{}: mean", source.label) } else { "Mean".to_owned() };
        Some(format!(
            "{label} {}, median {median}, longest {longest}, n = {}.",
            with_error(found.value, found.error, 1, ""),
            quantity(found.n, "game")
        ))
    });
    html! {
        h3 { "Lengths" }
        figure {
            (rows::legend(sources.iter().map(|source| &*source.label)))
            (histogram.svg())
            figcaption {
                b { "How long games were. " }
                "A step is " (histogram.width()) " plies wide; a ply is one player's move. "
                (means.collect::<Vec<_>>().join(" "))
                " The mean has its 95 % interval, pairs of games taken as independent."
            }
        }
    }
}

/// `12.3 ± 0.4`, in a unit.
pub(super) fn with_error(value: f64, error: Option<f64>, decimals: usize, unit: &str) -> String {
    match error {
        Some(error) => format!("{value:.decimals$} ± {error:.decimals$}{unit}"),
        None => format!("{value:.decimals$}{unit}"),
    }
}

/// A mean score in per cent.
pub(super) fn score(found: &Mean) -> String {
    with_error(100.0 * found.value, found.error.map(|error| 100.0 * error), 1, " %")
}

/// The points of one who has Black, over some games.
pub(super) fn score_of_first<'a>(games: impl Iterator<Item = &'a ArenaGame>) -> Option<Mean> {
    mean(games.map(|game| (pair(game), game.score())))
}

fn value(series: usize, found: &Mean) -> Value {
    Value {
        series,
        value: 100.0 * found.value,
        error: found.error.map(|error| 100.0 * error),
        title: score(found),
    }
}

fn first_player(sources: &[Source]) -> Markup {
    let axis = Axis::covering([0.0, 100.0], 4);
    let alone = sources.len() == 1;
    let mut rows: Vec<rows::Row> = Vec::new();
    let overall = |name: &str, series: usize, source: &Source| rows::Row {
        name: name.to_owned(),
        values: score_of_first(source.games.iter()).iter().map(|m| value(series, m)).collect(),
        remark: "no games".to_owned(),
    };
    for (series, source) in sources.iter().enumerate() {
        rows.push(overall(
            if alone { "all games" } else { &source.label },
            if alone { 0 } else { series },
            source,
        ));
    }
    let mut left_out = 0;
    if let [source] = sources {
        let players = source.players();
        left_out = players.len().saturating_sub(MOST_ROWS);
        for name in players.into_iter().take(MOST_ROWS) {
            let black = score_of_first(source.games.iter().filter(|game| game.black == name));
            let white = source.games.iter().filter(|game| game.white == name);
            let white = mean(white.map(|game| (pair(game), 1.0 - game.score())));
            let values = [black, white].into_iter().enumerate();
            rows.push(rows::Row {
                name: name.to_owned(),
                values: values.filter_map(|(n, found)| Some(value(n, &found?))).collect(),
                remark: "no games".to_owned(),
            });
        }
    }
    html! {
        h3 { "The first player's score" }
        figure {
            @if alone { (rows::legend(["with Black, moving first", "with White"])) }
            @else { (rows::legend(sources.iter().map(|source| &*source.label))) }
            (rows::values("Scores with Black and with White", "% of points", &axis, &rows))
            figcaption {
                b { "What moving first is worth. " }
                @if alone { "Points that a player makes in its games with Black and in those with White; the first row: Black's in all games. " }
                @else { "Points that Black makes in all games. " }
                "A win is 1 point and a draw ½; 95 % intervals, pairs of games taken as independent; none where no pair differs from another. n = "
                (quantity(all_games(sources), "game")) "."
                (beyond(left_out))
            }
        }
    }
}
