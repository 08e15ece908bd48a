//! Matches that end before their last scheduled game: judged in the order of the schedule, whatever
//! the order in which games finish, so that the verdict is the same on any number of threads.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use surakarta_game::Color;

use crate::game::{ArenaGame, GameKey};
use crate::head_to_head::Pentanomial;
use crate::results::moves_key;
use crate::scoring::MatchScore;
use crate::sprt::{Hypothesis, Sprt, SprtModel};

/// When a match is over. All but [`Until::Schedule`] are for two players.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Until {
    /// When every scheduled game is played.
    #[default]
    Schedule,
    /// When one player has so many points.
    Race(MatchScore, f64),
    /// When a sequential test of the first player's strength above the second's has decided.
    Sprt(Sprt),
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::Schedule => f.write_str("the last game"),
            Until::Race(MatchScore { scoring, forfeit }, points) => {
                write!(f, "a race to {points} by {scoring}")?;
                forfeit.map_or(Ok(()), |pieces| write!(f, ", a forfeit worth {pieces}"))
            }
            Until::Sprt(Sprt { elo0, elo1, alpha, beta, model }) => write!(
                f,
                "a test of {elo0} against {elo1} Elo ({model}), alpha {alpha}, beta {beta}"
            ),
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
    /// Finished games that earlier ones are still awaited for.
    waiting: BTreeMap<GameKey, Judged>,
    /// How many games have been judged.
    judged: usize,
    /// The first player of the schedule and the other one, once a game is judged.
    names: Option<[String; 2]>,
    /// Their points in a race.
    points: [f64; 2],
    /// In a test, points of the first player in the first game of the pair that is being judged, and
    /// whether that game is new.
    half: Option<(f64, bool)>,
    pairs: Pentanomial,
    seen: HashSet<(bool, u128, u64)>,
    decision: Option<Decision>,
}

/// What is needed of a game.
struct Judged {
    /// Black and White.
    players: [String; 2],
    /// Points of Black and White.
    points: [f64; 2],
    /// The same for the same game.
    moves: Option<u128>,
}

impl Judge {
    pub(crate) fn new(until: Until) -> Judge {
        Judge {
            until,
            waiting: BTreeMap::new(),
            judged: 0,
            names: None,
            points: [0.0; 2],
            half: None,
            pairs: Pentanomial::default(),
            seen: HashSet::new(),
            decision: None,
        }
    }

    /// Takes a finished game; the decision, once there is one.
    pub(crate) fn add(&mut self, game: &ArenaGame) -> Option<&Decision> {
        let score = match self.until {
            Until::Schedule => return None,
            Until::Race(score, _) => score,
            Until::Sprt(_) => MatchScore::default(),
        };
        let players = [Color::Black, Color::White].map(|color| game.player(color).to_owned());
        let (points, moves) = (score.points(game), moves_key(game));
        self.waiting.insert(game.key, Judged { players, points, moves });
        while self.decision.is_none()
            && let Some(next) = self.waiting.remove(&key(self.judged))
        {
            self.judge(next);
        }
        self.decision.as_ref()
    }

    fn judge(&mut self, game: Judged) {
        self.judged += 1;
        let names = self.names.get_or_insert_with(|| game.players.clone());
        let [black, white] = game.points;
        let points = if game.players[0] == names[0] { [black, white] } else { [white, black] };
        let names = names.clone();
        let verdict = match self.until {
            Until::Schedule => None,
            Until::Race(_, target) => self.race(target, points, &names),
            Until::Sprt(test) => self.test(&test, points[0], game, &names),
        };
        if let Some(verdict) = verdict {
            self.decision = Some(Decision { games: self.judged, verdict });
        }
    }

    fn race(&mut self, target: f64, points: [f64; 2], names: &[String; 2]) -> Option<String> {
        self.points = [self.points[0] + points[0], self.points[1] + points[1]];
        let [first, second] = self.points;
        if first.max(second) < target {
            return None;
        }
        // Both may pass the mark in the same game.
        Some(if first == second {
            format!("the race is even: {first} points each")
        } else {
            let winner = &names[usize::from(second > first)];
            format!(
                "{winner} has won the race: {} points to {}",
                first.max(second),
                first.min(second)
            )
        })
    }

    /// Pairs with a game that was played before tell nothing new and do not count.
    fn test(
        &mut self,
        test: &Sprt,
        points: f64,
        game: Judged,
        [first, second]: &[String; 2],
    ) -> Option<String> {
        let first_moves = game.players[0] == *first;
        let repeat = |moves| !self.seen.insert((first_moves, moves, points.to_bits()));
        let new = !game.moves.is_some_and(repeat);
        let Some((earlier, both)) = self.half.take() else {
            self.half = Some((points, new));
            return None;
        };
        if !(new && both) {
            return None;
        }
        self.pairs.add([earlier, points]);
        let accepted = test.verdict(&self.pairs)?;
        let Sprt { elo0, elo1, model, .. } = test;
        let elo = match accepted {
            Hypothesis::H0 => elo0,
            Hypothesis::H1 => elo1,
        };
        let scale = match model {
            SprtModel::Logistic => "Elo",
            SprtModel::Normalised => "normalised Elo",
        };
        Some(format!(
            "the test of {elo0} against {elo1} {scale} accepts {accepted:?}: {first} is rather {elo} than {} above {second}",
            elo0 + elo1 - elo
        ))
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
