//! One game between two players, and its record.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use surakarta_game::{Color, Ending, Game, GameResult, IllegalMove, Move, Outcome, Position};
use surakarta_record::{GameRecord, PlyRecord, Policy, SearchKind};
use surakarta_search::{Choice, Player};
use surakarta_tablebase::Tables;

use crate::adjudication::Adjudication;
use crate::allowance::{Allowance, Clocks};
use crate::opening::Opening;
use crate::text;

/// A game's place in its tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GameKey {
    /// Number of the colour-swapped pair among those of its pairing, which is that of its opening.
    pub pair: u32,
    /// Number of the two players' pairing in the tournament.
    pub pairing: u32,
    /// Whether the pairing's second player has Black.
    pub swapped: bool,
}

/// A finished game. As JSON it is one line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArenaGame {
    /// Its place in the tournament.
    #[serde(flatten)]
    pub key: GameKey,
    /// Who had Black, and the first move of a game from the start position.
    pub black: String,
    /// Who had White.
    pub white: String,
    /// Where it began.
    pub opening: Opening,
    /// Every ply from there.
    pub plies: Vec<ArenaPly>,
    /// Why it is over.
    #[serde(with = "text")]
    pub ending: Ending,
    /// Who has won; in JSON as seen by Black: `1-0`, `0-1`, `1/2-1/2`.
    #[serde(rename = "result", with = "text::outcome")]
    pub outcome: Outcome,
    /// What went wrong, where a player lost by something else than play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// One ply of a game, and what it took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArenaPly {
    /// The move.
    #[serde(rename = "move", with = "text")]
    pub mv: Move,
    /// Expected result in [−1, 1], seen by the player who makes the move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f32>,
    /// Wall time in microseconds.
    pub us: u64,
    /// Descents from the root of a tree.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub simulations: u64,
    /// Moves made by alpha-beta.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nodes: u64,
    /// Positions that a network evaluated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub evaluations: u64,
}

impl ArenaPly {
    fn new(choice: &Choice, took: Duration) -> ArenaPly {
        ArenaPly {
            mv: choice.mv,
            value: choice.value.filter(|value| value.is_finite()),
            us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            simulations: choice.work.simulations,
            nodes: choice.work.nodes,
            evaluations: choice.work.evaluations,
        }
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl ArenaGame {
    /// Who plays a colour.
    pub fn player(&self, color: Color) -> &str {
        match color {
            Color::Black => &self.black,
            Color::White => &self.white,
        }
    }

    /// Black's points: 1 for a win, ½ for a draw, 0 for a loss.
    pub fn score(&self) -> f64 {
        f64::from(self.outcome.value_for(Color::Black) + 1) / 2.0
    }

    /// Every move from the opening's start position.
    pub fn moves(&self) -> impl Iterator<Item = Move> + '_ {
        self.opening.moves.iter().copied().chain(self.plies.iter().map(|ply| ply.mv))
    }

    /// The position in which it ended.
    pub fn last_position(&self) -> Position {
        self.moves().fold(self.opening.start, |position, mv| position.after(mv))
    }

    /// The game as self-play and exports keep theirs, with its values and without a policy.
    pub fn record(&self, number: u64) -> GameRecord {
        let ply = |mv, search, simulations, value| PlyRecord {
            mv,
            search,
            simulations,
            value,
            policy: Policy::None,
        };
        let opening = self.opening.moves.iter().map(|&mv| ply(mv, SearchKind::Opening, 0, None));
        let played = self.plies.iter().map(|p| {
            let simulations = u32::try_from(p.simulations).unwrap_or(u32::MAX);
            ply(p.mv, SearchKind::Full, simulations, p.value)
        });
        GameRecord {
            number,
            start: self.opening.start,
            plies: opening.chain(played).collect(),
            result: GameResult { ending: self.ending, outcome: self.outcome },
        }
    }
}

/// A player at the board.
pub struct Seat<'a> {
    /// Its name in the record.
    pub name: &'a str,
    /// The player itself.
    pub player: &'a mut dyn Player,
    /// What it draws its random numbers from in this game.
    pub seed: u64,
    /// How much it may think, beside the limits of its own.
    pub allowance: Allowance,
}

/// Plays one game to its end; `game` stands where the opening leads. The first seat has Black.
/// `watch` sees every ply as it is made.
///
/// A player whose search fails loses by `crash`, one that answers with an illegal move by
/// `illegal-move`, one that takes longer than it was allowed by `time`, and a program also as
/// [`engine`](crate::engine) says.
pub fn play_game(
    key: GameKey,
    opening: &Opening,
    game: Game,
    seats: [Seat<'_>; 2],
    adjudication: &Adjudication,
    watch: &mut dyn FnMut(&ArenaPly),
) -> ArenaGame {
    play_measured(key, opening, game, seats, (adjudication, None), watch).0
}

/// How long players have thought.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Thought {
    /// Seconds of this thread's processor time.
    pub(crate) processor: f64,
    /// Seconds of wall time.
    pub(crate) wall: f64,
}

/// The same, adjudicated by endgame tables, too, and with what the thinking took.
pub(crate) fn play_measured(
    key: GameKey,
    opening: &Opening,
    mut game: Game,
    seats: [Seat<'_>; 2],
    (adjudication, tables): (&Adjudication, Option<&Tables>),
    watch: &mut dyn FnMut(&ArenaPly),
) -> (ArenaGame, Thought) {
    let mut thought = Thought::default();
    let [mut black, mut white] = seats;
    let mut clocks = Clocks::new([black.allowance, white.allowance]);
    let mut plies: Vec<ArenaPly> = Vec::with_capacity(64);
    let mut fault = None;
    for seat in [&mut black, &mut white] {
        seat.player.new_game(seat.seed);
    }
    let result = loop {
        if let Some(result) = game.result() {
            break result;
        }
        let color = game.side_to_move();
        let seat = if color == Color::Black { &mut black } else { &mut white };
        let limits = clocks.limits(color);
        let (began, before) = (Instant::now(), processor_time());
        let choice = seat.player.choose(&game, &limits);
        let took = began.elapsed();
        thought.processor += processor_time() - before;
        thought.wall += took.as_secs_f64();
        let lost = match choice {
            Err(error) => Some((error.ending(), error.to_string())),
            Ok(choice) => {
                let late = clocks.stop(color, took).map_err(|late| (Ending::Time, late));
                let played = late.and_then(|()| {
                    let illegal = |error: IllegalMove| (Ending::IllegalMove, error.to_string());
                    game.play(choice.mv).map_err(illegal)
                });
                if played.is_ok() {
                    plies.push(ArenaPly::new(&choice, took));
                    watch(&plies[plies.len() - 1]);
                }
                played.err()
            }
        };
        if let Some((ending, reason)) = lost {
            tracing::warn!(player = seat.name, ply = game.moves().len(), %ending, "{reason}");
            game.forfeit(color, ending);
            fault = Some(reason);
        } else if game.result().is_none()
            && let Some(outcome) = adjudication.ends(&game, &plies, color, tables)
        {
            game.end(Ending::Adjudicated, outcome);
        }
    };
    for seat in [&mut black, &mut white] {
        seat.player.end_game(&game);
    }
    let game = ArenaGame {
        key,
        black: black.name.to_owned(),
        white: white.name.to_owned(),
        opening: opening.clone(),
        plies,
        ending: result.ending,
        outcome: result.outcome,
        fault,
    };
    (game, thought)
}

/// Processor time of this thread in seconds; 0 where the system does not tell.
fn processor_time() -> f64 {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    }
    #[cfg(not(unix))]
    0.0
}
