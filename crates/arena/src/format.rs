//! Who meets whom.

use std::fmt;
use std::str::FromStr;

use crate::error::ArenaError;

/// How the players of a tournament are paired. Each pairing plays the same number of colour-swapped
/// pairs of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `round-robin`: every player meets every other.
    #[default]
    RoundRobin,
    /// `gauntlet`: each of the first so many players meets all who are not among them; `gauntlet=3`
    /// for three challengers.
    Gauntlet(usize),
    /// `ladder`: each player meets the next so many in the list, as checkpoints in the order of their
    /// age; `ladder=2` also skips one.
    Ladder(usize),
    /// `swiss=5`: so many rounds, in each of which players with about equal points meet who have not
    /// met yet.
    Swiss(usize),
}

impl Format {
    /// The pairings of `players` players that do not depend on results: all but those of a Swiss
    /// tournament.
    pub(crate) fn pairings(self, players: usize) -> Vec<[usize; 2]> {
        let meet: Box<dyn Fn(usize, usize) -> bool> = match self {
            Format::RoundRobin => Box::new(|_, _| true),
            Format::Gauntlet(challengers) => {
                Box::new(move |a, b| a < challengers && challengers <= b)
            }
            Format::Ladder(reach) => Box::new(move |a, b| b - a <= reach),
            Format::Swiss(_) => Box::new(|_, _| false),
        };
        let all = (0..players).flat_map(|a| (a + 1..players).map(move |b| [a, b]));
        all.filter(|&[a, b]| meet(a, b)).collect()
    }

    /// Whether so many players can be paired so.
    ///
    /// # Errors
    /// A sentence that says what to change.
    pub(crate) fn check(self, players: usize) -> Result<(), ArenaError> {
        let said = match self {
            Format::Gauntlet(n) if n >= players => format!(
                "a gauntlet of {n} challengers needs more than {n} players, and there are {players}; name more players or fewer challengers"
            ),
            Format::Swiss(rounds) if rounds > most_rounds(players) => format!(
                "{players} players cannot meet in {rounds} rounds without meeting twice; ask for at most {} rounds",
                most_rounds(players)
            ),
            _ => return Ok(()),
        };
        Err(ArenaError::Players(said))
    }
}

/// Rounds after which everybody has met everybody.
fn most_rounds(players: usize) -> usize {
    if players.is_multiple_of(2) { players.saturating_sub(1) } else { players }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Format::RoundRobin => f.write_str("round-robin"),
            Format::Gauntlet(1) => f.write_str("gauntlet"),
            Format::Gauntlet(n) => write!(f, "gauntlet={n}"),
            Format::Ladder(1) => f.write_str("ladder"),
            Format::Ladder(n) => write!(f, "ladder={n}"),
            Format::Swiss(rounds) => write!(f, "swiss={rounds}"),
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        let (name, number) = match text.split_once('=') {
            Some((name, number)) => (name, number.parse().ok().filter(|n| (1..=1000).contains(n))),
            None => (text, Some(1)),
        };
        match (name, number) {
            ("round-robin", Some(1)) if name == text => Ok(Format::RoundRobin),
            ("gauntlet", Some(n)) => Ok(Format::Gauntlet(n)),
            ("ladder", Some(n)) => Ok(Format::Ladder(n)),
            ("swiss", Some(n)) if name != text => Ok(Format::Swiss(n)),
            _ => Err(format!(
                "`{text}` is not a format; write round-robin, gauntlet, gauntlet=N, ladder, ladder=N or swiss=N, N from 1 to 1000"
            )),
        }
    }
}

/// What a Swiss tournament knows of a player when it draws the next round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scored {
    /// Points of its games so far.
    pub(crate) points: f64,
    /// Rounds without an opponent, which count as won by those who pair, and as nothing in ratings.
    pub(crate) byes: usize,
}

/// The next round of a Swiss tournament: players in the order of their points, each against the
/// nearest below it that it has not met. With an odd number the lowest of those with the fewest byes
/// has none.
///
/// A player is paired with the one half a score group below where that can be, as is usual: it is the
/// middle of the group that a round then sorts out. If players near each other have all met, pairs
/// are undone and made otherwise, then another player has the bye, and then as few as possible meet
/// again.
pub(crate) fn swiss_round(players: &[Scored], met: &[[usize; 2]]) -> Vec<[usize; 2]> {
    let mut order: Vec<usize> = (0..players.len()).collect();
    let points = |player: usize| players[player].points;
    order.sort_by(|&a, &b| points(b).total_cmp(&points(a)).then(a.cmp(&b)));
    let byes: Vec<Option<usize>> = if order.len() % 2 == 1 {
        let fewest = players.iter().map(|player| player.byes).min().unwrap_or(0);
        let least = order.iter().rev().filter(|&&player| players[player].byes == fewest);
        least.map(|&player| Some(player)).collect()
    } else {
        vec![None]
    };
    let have_met = |a: usize, b: usize| met.iter().any(|&m| m == [a, b] || m == [b, a]);
    for again in 0..=players.len() / 2 {
        for &bye in &byes {
            let open: Vec<usize> = order.iter().copied().filter(|&p| Some(p) != bye).collect();
            // A bound on the search: the tries grow fast only where nearly all have met.
            let mut search =
                Pairing { players, have_met: &have_met, pairs: Vec::new(), tries: 20_000 };
            if search.pair_up(&open, again) {
                return search.pairs;
            }
        }
    }
    order.chunks_exact(2).map(|two| [two[0], two[1]]).collect()
}

/// The search for a round.
struct Pairing<'a> {
    players: &'a [Scored],
    have_met: &'a dyn Fn(usize, usize) -> bool,
    pairs: Vec<[usize; 2]>,
    tries: u32,
}

impl Pairing<'_> {
    /// Pairs the first of `open` with the best partner that lets the others be paired too, where so
    /// many pairs may meet again.
    fn pair_up(&mut self, open: &[usize], again: usize) -> bool {
        let Some((&first, others)) = open.split_first() else { return true };
        let points = |player: usize| self.players[player].points;
        let group = others.iter().filter(|&&other| points(other) == points(first)).count();
        // The middle of its score group, then the rest of the group by distance from there, then lower.
        let wanted = group.div_ceil(2);
        let mut partners: Vec<usize> = (0..others.len()).collect();
        partners.sort_by_key(|&k| (k >= group, (k + 1).abs_diff(wanted.max(1)), k));
        for k in partners {
            let partner = others[k];
            let Some(left) = again.checked_sub((self.have_met)(first, partner).into()) else {
                continue;
            };
            let Some(tries) = self.tries.checked_sub(1) else { return false };
            self.tries = tries;
            self.pairs.push([first, partner]);
            let rest: Vec<usize> =
                others.iter().copied().filter(|&other| other != partner).collect();
            if self.pair_up(&rest, left) {
                return true;
            }
            self.pairs.pop();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use surakarta_search::stream;

    use super::*;

    #[test]
    fn formats_read_as_they_are_written() {
        for text in ["round-robin", "gauntlet", "gauntlet=3", "ladder", "ladder=2", "swiss=5"] {
            assert_eq!(text.parse::<Format>().unwrap().to_string(), text);
        }
        for text in ["", "swiss", "swiss=0", "ladder=0", "round-robin=1", "gauntlet=", "ladder=-1"]
        {
            let error = text.parse::<Format>().unwrap_err();
            assert!(error.contains("is not a format"), "{text}: {error}");
        }
    }

    #[test]
    fn fixed_formats_pair_whom_they_say() {
        assert_eq!(Format::RoundRobin.pairings(3), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(Format::Gauntlet(1).pairings(3), [[0, 1], [0, 2]]);
        assert_eq!(Format::Gauntlet(2).pairings(4), [[0, 2], [0, 3], [1, 2], [1, 3]]);
        assert_eq!(Format::Ladder(1).pairings(4), [[0, 1], [1, 2], [2, 3]]);
        assert_eq!(Format::Ladder(2).pairings(4), [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        assert!(Format::Gauntlet(3).check(3).is_err() && Format::Gauntlet(2).check(3).is_ok());
        assert!(Format::Swiss(4).check(4).is_err() && Format::Swiss(3).check(4).is_ok());
        assert!(Format::Swiss(5).check(5).is_ok() && Format::Swiss(6).check(5).is_err());
    }

    /// Rounds of players whose results follow their numbers, with some luck.
    #[test]
    fn a_swiss_tournament_pairs_each_once_and_nobody_twice() {
        let mut rng = stream(3, [1, 2, 3]);
        for n in 2..24 {
            let mut players = vec![Scored::default(); n];
            let mut met: Vec<[usize; 2]> = Vec::new();
            for round in 0..n.ilog2() as usize + 1 {
                let pairs = swiss_round(&players, &met);
                assert_eq!(pairs.len(), n / 2);
                let mut seen: Vec<usize> = pairs.iter().flatten().copied().collect();
                for &[a, b] in &pairs {
                    assert!(!met.contains(&[a, b]) && !met.contains(&[b, a]), "{n}, round {round}");
                    let wins = f64::from(rng.random_bool(0.8)) * 2.0;
                    players[a.min(b)].points += wins;
                    players[a.max(b)].points += 2.0 - wins;
                }
                for (player, scored) in players.iter_mut().enumerate() {
                    if !seen.contains(&player) {
                        scored.byes += 1;
                        assert_eq!(scored.byes, 1, "a second bye before all had one");
                        scored.points += 2.0;
                    }
                }
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len(), n / 2 * 2);
                met.extend(pairs);
                if met.len() + 1 >= n * (n - 1) / 2 {
                    break;
                }
            }
        }
    }

    #[test]
    fn equals_meet_equals_and_the_top_half_meets_the_bottom_half() {
        let mut players = vec![Scored::default(); 4];
        assert_eq!(swiss_round(&players, &[]), [[0, 2], [1, 3]]);
        players[2].points = 2.0;
        players[3].points = 2.0;
        assert_eq!(swiss_round(&players, &[[0, 2], [1, 3]]), [[2, 3], [0, 1]]);
    }

    /// As many rounds as let everybody meet everybody: a pair meets again only where it must.
    #[test]
    fn few_meet_again_however_many_rounds_there_are() {
        let mut rng = stream(4, [1, 2, 3]);
        for n in [4, 5, 8, 9] {
            for _ in 0..20 {
                let mut players = vec![Scored::default(); n];
                let mut met: Vec<[usize; 2]> = Vec::new();
                let mut again = 0;
                for _ in 0..most_rounds(n) {
                    let pairs = swiss_round(&players, &met);
                    for &[a, b] in &pairs {
                        again += usize::from(met.contains(&[a, b]) || met.contains(&[b, a]));
                        let wins = f64::from(rng.random_range(0..3u32));
                        players[a].points += wins;
                        players[b].points += 2.0 - wins;
                    }
                    for (player, scored) in players.iter_mut().enumerate() {
                        let bye = !pairs.iter().flatten().any(|&p| p == player);
                        scored.byes += usize::from(bye);
                    }
                    met.extend(pairs);
                }
                assert!(players.iter().all(|player| player.byes == n % 2), "{n}");
                assert!(again <= n / 2 + 1, "{again} of {} pairs met again", met.len());
            }
        }
    }

    #[test]
    fn a_round_is_found_even_where_all_have_met() {
        let players = vec![Scored::default(); 4];
        let met = Format::RoundRobin.pairings(4);
        assert_eq!(swiss_round(&players, &met).len(), 2);
        let big = vec![Scored::default(); 40];
        assert_eq!(swiss_round(&big, &Format::RoundRobin.pairings(40)).len(), 20);
    }
}
