//! Matches that end before their last scheduled game: judged in the order of the schedule, whatever
//! the order in which games finish, so that the verdict is the same on any number of threads.

use std::collections::BTreeMap;
use std::fmt;

use surakarta_game::Color;

use crate::game::{ArenaGame, GameKey};
use crate::scoring::MatchScore;

/// When a match is over. All but [`Until::Schedule`] are for two players.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Until {
    /// When every scheduled game is played.
    #[default]
    Schedule,
    /// When one player has so many points.
    Race(MatchScore, f64),
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::Schedule => f.write_str("the last game"),
            Until::Race(MatchScore { scoring, forfeit }, points) => {
                write!(f, "a race to {points} by {scoring}")?;
                forfeit.map_or(Ok(()), |pieces| write!(f, ", a forfeit worth {pieces}"))
            }
        }
    }
}

/// A match that is decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The games that count: so many of the schedule, from its beginning.
    pub games: usize,
    /// What was found, in words.
    pub verdict: String,
}

/// Follows the games of a match between two players.
pub(crate) struct Judge {
    until: Until,
    /// The name of the player with Black in the first game.
    first: Option<String>,
    /// Finished games that earlier ones are still awaited for.
    waiting: BTreeMap<GameKey, Judged>,
    /// How many games have been judged, and the key of the next.
    judged: usize,
    points: [f64; 2],
    decision: Option<Decision>,
}

/// What is needed of a game: the names of Black and White, and their points.
struct Judged {
    players: [String; 2],
    points: [f64; 2],
}

impl Judge {
    pub(crate) fn new(until: Until) -> Judge {
        Judge {
            until,
            first: None,
            waiting: BTreeMap::new(),
            judged: 0,
            points: [0.0; 2],
            decision: None,
        }
    }

    /// Takes a finished game; the decision, once there is one.
    pub(crate) fn add(&mut self, game: &ArenaGame) -> Option<&Decision> {
        let score = match self.until {
            Until::Schedule => return None,
            Until::Race(score, _) => score,
        };
        let players = [Color::Black, Color::White].map(|color| game.player(color).to_owned());
        self.waiting.insert(game.key, Judged { players, points: score.points(game) });
        while self.decision.is_none()
            && let Some(next) = self.waiting.remove(&key(self.judged))
        {
            self.judge(next);
        }
        self.decision.as_ref()
    }

    fn judge(&mut self, game: Judged) {
        self.judged += 1;
        let first = self.first.get_or_insert_with(|| game.players[0].clone());
        let swapped = game.players[0] != *first;
        let [black, white] = game.points;
        let points = if swapped { [white, black] } else { [black, white] };
        self.points[0] += points[0];
        self.points[1] += points[1];
        let second = &game.players[usize::from(!swapped)];
        let verdict = match self.until {
            Until::Schedule => None,
            Until::Race(_, target) => {
                let names = [&*first, second];
                let winner = (0..2).filter(|&k| self.points[k] >= target);
                // Both may pass the mark in the same game.
                let winner = winner.max_by(|&a, &b| self.points[a].total_cmp(&self.points[b]));
                winner.map(|k| {
                    let [ours, theirs] = [self.points[k], self.points[1 - k]];
                    format!("{} has won the race: {ours} points to {theirs}", names[k])
                })
            }
        };
        if let Some(verdict) = verdict {
            self.decision = Some(Decision { games: self.judged, verdict });
        }
    }

    /// The decision, if there is one.
    pub(crate) fn decision(&self) -> Option<&Decision> {
        self.decision.as_ref()
    }
}

/// The key of a game of a match by its place in the schedule.
fn key(n: usize) -> GameKey {
    GameKey { pair: (n / 2) as u32, pairing: 0, swapped: n % 2 == 1 }
}
