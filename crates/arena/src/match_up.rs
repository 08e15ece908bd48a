//! Players two by two: the cross table, surprises, and a head to head in detail.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::head_to_head::{Counts, Figures, Pentanomial, Trinomial};
use crate::ranking::complete_pairs;
use crate::rating::{Clusters, RatedGame, Ratings};
use crate::results::ResultRow;
use crate::sprt::Sprt;
use crate::sprt_course::SprtCourse;
use crate::standings::Tally;

/// Results between two players.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossRow {
    /// The one of higher rank, from whose side the numbers are.
    pub first: String,
    /// The other.
    pub second: String,
    /// Games.
    pub games: usize,
    /// Won, drawn and lost by `first`.
    #[serde(flatten)]
    pub tally: Tally,
    /// Points a game of `first`.
    pub score: f64,
}

pub(crate) fn cross_table(order: &[usize], names: &[String], rated: &[RatedGame]) -> Vec<CrossRow> {
    let n = names.len();
    let mut tallies = vec![Tally::default(); n * n];
    for game in rated {
        tallies[game.first * n + game.second].add(game.score);
        tallies[game.second * n + game.first].add(1.0 - game.score);
    }
    let mut rows = Vec::new();
    for (k, &a) in order.iter().enumerate() {
        for &b in &order[k + 1..] {
            let tally = tallies[a * n + b];
            if tally.games() > 0 {
                rows.push(CrossRow {
                    first: names[a].clone(),
                    second: names[b].clone(),
                    games: tally.games(),
                    tally,
                    score: tally.score(),
                });
            }
        }
    }
    rows
}

/// What two players scored beside what their ratings let expect, see
/// [`Surprise`](crate::Surprise).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurpriseRow {
    /// The one of higher rank, from whose side the numbers are.
    pub first: String,
    /// The other.
    pub second: String,
    /// Games.
    pub games: usize,
    /// Pairs (or games) that are taken as independent.
    pub clusters: usize,
    /// Points a game.
    pub score: f64,
    /// Points a game expected from the ratings.
    pub expected: f64,
    /// Standard error of the difference of the two.
    pub error: Option<f64>,
    /// The difference in standard errors.
    pub z: Option<f64>,
    /// Why something is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl SurpriseRow {
    pub(crate) fn of(ratings: &Ratings, order: &[usize], names: &[String]) -> Vec<SurpriseRow> {
        let rank: HashMap<usize, usize> =
            order.iter().enumerate().map(|(rank, &player)| (player, rank)).collect();
        let mut rows: Vec<(usize, usize, SurpriseRow)> = ratings
            .surprises()
            .iter()
            .map(|found| {
                let (a, b) = (rank[&found.first], rank[&found.second]);
                let swap = a > b;
                let seen = |x: f64| if swap { 1.0 - x } else { x };
                let row = SurpriseRow {
                    first: names[order[a.min(b)]].clone(),
                    second: names[order[a.max(b)]].clone(),
                    games: found.games,
                    clusters: found.clusters,
                    score: seen(found.score),
                    expected: seen(found.expected),
                    error: found.error,
                    z: found.z.map(|z| if swap { -z } else { z }),
                    reason: found.z.is_none().then(|| {
                        "the ratings fit this score whatever it is, or it does not vary".to_owned()
                    }),
                };
                (a.min(b), a.max(b), row)
            })
            .collect();
        rows.sort_by_key(|&(a, b, _)| (a, b));
        rows.into_iter().map(|(_, _, row)| row).collect()
    }
}

/// Two players' results against each other, from the side of the one named first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeadToHead {
    /// From whose side the numbers are.
    pub first: String,
    /// The other.
    pub second: String,
    /// Games between them.
    pub games: usize,
    /// Won, drawn and lost by `first`.
    #[serde(flatten)]
    pub tally: Tally,
    /// The share of games drawn.
    pub draw_ratio: Option<f64>,
    /// Pairs of games with both colours.
    pub pairs: u64,
    /// Games outside such pairs, which the figures by pair leave out.
    pub unpaired_games: usize,
    /// Pairs by the points of `first`: LL, LD, WL + DD, WD, WW.
    pub pentanomial: Option<Pentanomial>,
    /// Pairs with a win and a loss.
    pub wl_pairs: u64,
    /// Pairs with two draws.
    pub dd_pairs: u64,
    /// The share of pairs that came out even.
    pub pair_draw_ratio: Option<f64>,
    /// Pairs won for each pair lost.
    pub pairs_ratio: Option<f64>,
    /// Even pairs with a win and a loss for each with two draws.
    pub wl_dd_ratio: Option<f64>,
    /// What the figures are taken from: pairs, or games where there are no pairs.
    pub basis: Clusters,
    /// Elo, normalised Elo and likelihood of superiority.
    #[serde(flatten)]
    pub figures: Figures,
    /// The same with every game taken as independent.
    pub by_game: Figures,
    /// The sequential test, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sprt: Option<SprtCourse>,
}

impl HeadToHead {
    pub(crate) fn of(
        [a, b]: [usize; 2],
        names: &[String],
        games: &[&ResultRow],
        sprt: Option<Sprt>,
    ) -> HeadToHead {
        let between: Vec<&ResultRow> = games
            .iter()
            .filter(|game| [(a, b), (b, a)].contains(&(game.first, game.second)))
            .copied()
            .collect();
        let points = |game: &ResultRow| if game.first == a { game.score } else { 1.0 - game.score };
        let (mut tally, mut trinomial) = (Tally::default(), Trinomial::default());
        for game in &between {
            tally.add(points(game));
            trinomial.add(points(game));
        }
        let pairs: Vec<[f64; 2]> = complete_pairs(&between)
            .into_iter()
            .map(|pair| pair.map(|game| points(between[game])))
            .collect();
        let mut pentanomial = Pentanomial::default();
        pairs.iter().for_each(|&pair| pentanomial.add(pair));
        let paired = !pairs.is_empty();
        let by_game = Figures::of(&trinomial);
        let sprt = sprt.map(|test| match paired {
            true => SprtCourse::of(test, pairs.iter().copied(), Pentanomial::add),
            false => SprtCourse::of(test, between.iter().map(|game| points(game)), Trinomial::add),
        });
        HeadToHead {
            first: names[a].clone(),
            second: names[b].clone(),
            games: between.len(),
            tally,
            draw_ratio: (!between.is_empty()).then(|| tally.draws as f64 / between.len() as f64),
            pairs: pentanomial.total(),
            unpaired_games: between.len() - 2 * pairs.len(),
            pentanomial: paired.then_some(pentanomial),
            wl_pairs: pentanomial.decided(),
            dd_pairs: pentanomial.drawn(),
            pair_draw_ratio: pentanomial.draw_ratio(),
            pairs_ratio: pentanomial.pairs_ratio(),
            wl_dd_ratio: pentanomial.decided_ratio(),
            basis: if paired { Clusters::Pairs } else { Clusters::Games },
            figures: if paired { Figures::of(&pentanomial) } else { by_game.clone() },
            by_game,
            sprt,
        }
    }
}
