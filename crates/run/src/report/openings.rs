//! The positions that the players began from.

use std::collections::HashMap;

use maud::{Markup, html};
use surakarta_arena::{ArenaGame, quantity};
use surakarta_game::Position;

use super::board::thumbnail;
use super::results::{score, score_of_first};
use super::source::Source;

/// The most positions shown.
const MOST_SHOWN: usize = 18;

/// The section, if there are games.
pub(super) fn section(sources: &[Source]) -> Markup {
    let games: Vec<&ArenaGame> = sources.iter().flat_map(|source| &source.games).collect();
    let openings = by_position(&games);
    let repeated = openings.iter().filter(|(_, games)| games.len() > 2).count();
    html! {
        @if !openings.is_empty() {
            section #openings {
                h2 { "Openings" }
                p {
                    (quantity(openings.len(), "position")) " after the openings of " (quantity(games.len(), "game")) " ("
                    (kinds(sources)) "). "
                    @if openings.len() > MOST_SHOWN { "Shown are the " (MOST_SHOWN) " that occur most often. " }
                    "n is how often; the score is that of Black, who moves first in the whole game, in points a game"
                    @if repeated > 0 { ", with its 95 % interval where there are several pairs" }
                    "."
                }
                ul.openings {
                    @for (position, games) in openings.iter().take(MOST_SHOWN) {
                        li {
                            (thumbnail(position))
                            p {
                                "n = " (games.len())
                                @if let Some(found) = score_of_first(games.iter().copied()) { ", " (score(&found)) }
                            }
                            p.fen { (position) }
                        }
                    }
                }
            }
        }
    }
}

/// Where the openings come from, in words.
fn kinds(sources: &[Source]) -> String {
    let mut names: Vec<&str> =
        sources.iter().map(|source| &*source.openings).filter(|name| !name.is_empty()).collect();
    names.dedup();
    names.join("; ")
}

/// The games from each position, the most frequent first, of equals the first that was played.
fn by_position<'a>(games: &[&'a ArenaGame]) -> Vec<(Position, Vec<&'a ArenaGame>)> {
    let mut place: HashMap<Position, usize> = HashMap::new();
    let mut found: Vec<(Position, Vec<&ArenaGame>)> = Vec::new();
    for &game in games {
        let position = game.opening.position();
        let at = *place.entry(position).or_insert(found.len());
        if at == found.len() {
            found.push((position, Vec::new()));
        }
        found[at].1.push(game);
    }
    found.sort_by_key(|(_, games)| std::cmp::Reverse(games.len()));
    found
}
