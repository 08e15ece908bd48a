//! From ratings to the rows of a table: players by rank, and their differences.

use std::collections::HashMap;

use crate::rating::{RatedGame, Ratings};
use crate::results::ResultRow;
use crate::standings::{AdvantageRow, DifferenceRow, Standing, Tally};

const NO_SPREAD: &str = "no variation between pairs from which to take an error";

/// Pairs of games of the same two players in both colours, in the order of their numbers, by the
/// places of their games.
pub(crate) fn complete_pairs(games: &[&ResultRow]) -> Vec<[usize; 2]> {
    let mut order: Vec<usize> = (0..games.len()).filter(|&n| games[n].pair.is_some()).collect();
    order.sort_by_key(|&n| games[n].pair);
    order
        .chunk_by(|&a, &b| games[a].pair == games[b].pair)
        .filter_map(|pair| <[usize; 2]>::try_from(pair).ok())
        .filter(|&[a, b]| (games[a].first, games[a].second) == (games[b].second, games[b].first))
        .collect()
}

pub(crate) fn by_size(ratings: &Ratings) -> Vec<&Vec<usize>> {
    let mut groups: Vec<&Vec<usize>> = ratings.groups().iter().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups
}

pub(crate) fn by_rank(
    names: &[String],
    rated: &[RatedGame],
    complete: &[[usize; 2]],
    ratings: &Ratings,
) -> Vec<(usize, Standing)> {
    let mut total = vec![Tally::default(); names.len()];
    let mut as_first = vec![Tally::default(); names.len()];
    for game in rated {
        as_first[game.first].add(game.score);
        total[game.first].add(game.score);
        total[game.second].add(1.0 - game.score);
    }
    let mut pairs = vec![0; names.len()];
    for [game, _] in complete {
        pairs[rated[*game].first] += 1;
        pairs[rated[*game].second] += 1;
    }
    let groups = by_size(ratings);
    let group: HashMap<usize, usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(n, group)| group.iter().map(move |&player| (player, n)))
        .collect();
    let standing = |player: usize| {
        let found = ratings.rating(player);
        let error = found.ok().and_then(|estimate| estimate.error);
        let reason = match found {
            Err(unrated) => Some(unrated.to_string()),
            Ok(_) => error.is_none().then(|| NO_SPREAD.to_owned()),
        };
        Standing {
            name: names[player].clone(),
            rating: found.ok().map(|estimate| estimate.elo),
            error,
            reason,
            group: group.get(&player).copied(),
            games: total[player].games(),
            pairs: pairs[player],
            score: total[player].score(),
            total: total[player],
            as_first: as_first[player],
        }
    };
    let mut players: Vec<(usize, Standing)> =
        (0..names.len()).map(|player| (player, standing(player))).collect();
    // Without a finite rating: the winners above everybody, the losers below.
    let class = |player: &Standing| match player.rating {
        None if player.score > 0.5 => 0,
        Some(_) => 1,
        None => 2,
    };
    let strength = |player: &Standing| player.rating.unwrap_or(player.score);
    players.sort_by(|(_, a), (_, b)| {
        (class(a), a.group)
            .cmp(&(class(b), b.group))
            .then(strength(b).total_cmp(&strength(a)))
            .then(b.score.total_cmp(&a.score))
    });
    players
}

pub(crate) fn differences(
    order: &[usize],
    names: &[String],
    ratings: &Ratings,
) -> Vec<DifferenceRow> {
    let mut rows = Vec::new();
    for (k, &a) in order.iter().enumerate() {
        for &b in &order[k + 1..] {
            let found = ratings.difference(a, b);
            let elo = found.ok().map(|difference| difference.elo);
            let error = elo.and_then(|elo| elo.error);
            let superiority = found.ok().and_then(|difference| difference.superiority);
            rows.push(DifferenceRow {
                first: names[a].clone(),
                second: names[b].clone(),
                difference: elo.map(|elo| elo.elo),
                error,
                superiority,
                reason: match found {
                    Err(reason) => Some(reason.to_string()),
                    Ok(_) if error.is_none() => Some(NO_SPREAD.to_owned()),
                    Ok(_) => superiority.is_none().then(|| "both ratings are given".to_owned()),
                },
            });
        }
    }
    rows
}

pub(crate) fn advantage(ratings: &Ratings) -> AdvantageRow {
    let found = ratings.first_advantage();
    let error = found.and_then(|estimate| estimate.error);
    let reason = match found {
        None => Some("the results set no bound to it, and it was taken as zero".to_owned()),
        Some(_) => error.is_none().then(|| NO_SPREAD.to_owned()),
    };
    AdvantageRow { elo: found.map(|estimate| estimate.elo), error, reason }
}
