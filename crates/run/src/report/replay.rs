//! The games that the page can replay, as the one JSON object that its program reads.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use surakarta_arena::{ArenaGame, ArenaPly};
use surakarta_game::{Color, Outcome, Position, Variant};

use super::board::{Drawing, drawing};
use super::route::{Route, route};
use super::source::Source;

/// The most plies of all embedded games together: what keeps a page of long games to some megabytes.
const MOST_PLIES: usize = 300_000;

/// Boards and games.
#[derive(Serialize)]
pub(super) struct Replay {
    boards: Vec<Drawing>,
    sources: Vec<String>,
    players: Vec<String>,
    endings: Vec<&'static str>,
    games: Vec<Game>,
    /// How many games there are, those left out included.
    #[serde(skip)]
    pub(super) total: usize,
}

/// One game; names stand in the lists of [`Replay`].
#[derive(Serialize)]
struct Game {
    source: usize,
    /// Its number in its source, 1 the first.
    number: usize,
    board: usize,
    black: usize,
    white: usize,
    ending: usize,
    result: &'static str,
    start: String,
    /// How many of the moves are the opening's.
    opening: usize,
    /// Every move, four characters each.
    moves: String,
    /// The ways of captures and slides, by the number of their ply.
    routes: BTreeMap<usize, Route>,
    /// The evaluations after the opening in thousandths, seen by Black.
    values: Vec<Option<i32>>,
    /// Microseconds of each move after the opening.
    us: Vec<u64>,
    /// Simulations or nodes of each.
    work: Vec<u64>,
    /// What Black's and White's work is counted in.
    unit: [Option<&'static str>; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

impl Replay {
    /// At most `most` games of all sources, evenly chosen.
    pub(super) fn new(sources: &[Source], most: usize) -> Replay {
        let all: Vec<(usize, usize, &ArenaGame)> = sources
            .iter()
            .enumerate()
            .flat_map(|(s, source)| source.games.iter().zip(1..).map(move |(g, n)| (s, n, g)))
            .collect();
        let plies: usize = all.iter().map(|(_, _, game)| game.moves().count()).sum();
        let affordable =
            if plies > MOST_PLIES { all.len() * MOST_PLIES / plies } else { all.len() };
        let chosen: Vec<_> =
            evenly(all.len(), most.min(affordable)).map(|index| all[index]).collect();
        let mut variants: Vec<Variant> = Vec::new();
        let mut players: Vec<String> = Vec::new();
        let mut endings: Vec<&'static str> = Vec::new();
        let mut games = Vec::with_capacity(chosen.len());
        for (source, number, game) in chosen {
            let board = place(&mut variants, game.opening.start.variant());
            let black = place(&mut players, game.black.clone());
            let white = place(&mut players, game.white.clone());
            let ending = place(&mut endings, game.ending.name());
            let (moves, routes) = moves(game);
            let values = game.plies.iter().enumerate().map(|(n, ply)| value(game, n, ply));
            games.push(Game {
                source,
                number,
                board,
                black,
                white,
                ending,
                result: result(game.outcome),
                start: game.opening.start.to_string(),
                opening: game.opening.moves.len(),
                moves,
                routes,
                values: values.collect(),
                us: game.plies.iter().map(|ply| ply.us).collect(),
                work: game.plies.iter().map(|ply| ply.simulations.max(ply.nodes)).collect(),
                unit: [Color::Black, Color::White].map(|color| unit(game, color)),
                fault: game.fault.clone(),
            });
        }
        Replay {
            boards: variants.into_iter().map(drawing).collect(),
            sources: sources.iter().map(|source| source.label.clone()).collect(),
            players,
            endings,
            games,
            total: all.len(),
        }
    }

    /// Games embedded.
    pub(super) fn len(&self) -> usize {
        self.games.len()
    }

    /// The names of those who play them.
    pub(super) fn players(&self) -> &[String] {
        &self.players
    }

    /// How they end.
    pub(super) fn endings(&self) -> &[&'static str] {
        &self.endings
    }

    /// The object as text that may stand in a `script` element: no name in it can end the element.
    pub(super) fn json(&self) -> Result<String> {
        Ok(serde_json::to_string(self)?.replace('<', "\\u003c"))
    }
}

/// `chosen` of the numbers below `all`, at equal distances.
fn evenly(all: usize, chosen: usize) -> impl Iterator<Item = usize> {
    let chosen = chosen.min(all);
    (0..chosen).map(move |n| n * all / chosen)
}

/// Where a value stands in a list, at its end if it is new.
fn place<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|other| *other == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

fn moves(game: &ArenaGame) -> (String, BTreeMap<usize, Route>) {
    let mut position: Position = game.opening.start;
    let (mut text, mut routes) = (String::new(), BTreeMap::new());
    for (n, mv) in game.moves().enumerate() {
        text += &mv.to_string();
        if let Some(route) = route(&position, mv) {
            routes.insert(n, route);
        }
        position = position.after(mv);
    }
    (text, routes)
}

/// Who makes the n-th move after the opening.
fn mover(game: &ArenaGame, n: usize) -> Color {
    let first = game.opening.start.side_to_move();
    if (game.opening.moves.len() + n).is_multiple_of(2) { first } else { first.other() }
}

/// An evaluation in thousandths, turned from the mover's view to Black's.
fn value(game: &ArenaGame, n: usize, ply: &ArenaPly) -> Option<i32> {
    let value = ply.value.filter(|value| value.is_finite())?;
    let sign = if mover(game, n) == Color::Black { 1.0 } else { -1.0 };
    Some((1000.0 * sign * value.clamp(-1.0, 1.0)).round() as i32)
}

fn unit(game: &ArenaGame, color: Color) -> Option<&'static str> {
    let mut plies = game.plies.iter().enumerate().filter(|&(n, _)| mover(game, n) == color);
    plies.find_map(|(_, ply)| match ply {
        ply if ply.simulations > 0 => Some("simulations"),
        ply if ply.nodes > 0 => Some("nodes"),
        _ => None,
    })
}

/// A result as seen by Black.
fn result(outcome: Outcome) -> &'static str {
    match outcome.value_for(Color::Black) {
        1 => "1–0",
        0 => "½–½",
        _ => "0–1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_chosen_evenly_and_once() {
        let list = |all, chosen| evenly(all, chosen).collect::<Vec<_>>();
        assert_eq!(list(5, 9), [0, 1, 2, 3, 4]);
        assert_eq!(list(9, 3), [0, 3, 6]);
        assert_eq!(list(3, 0), Vec::<usize>::new());
        assert_eq!(list(0, 3), Vec::<usize>::new());
        let chosen = list(1000, 377);
        assert_eq!(chosen.len(), 377);
        assert!(chosen.windows(2).all(|pair| (2..=3).contains(&(pair[1] - pair[0]))));
    }
}
