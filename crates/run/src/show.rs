//! A recorded game, ply by ply: on the board for people, as values for programs.

use serde::Serialize;
use surakarta_arena::signed;
use surakarta_game::{Color, Move, Outcome, Position};
use surakarta_record::{GameRecord, PlyRecord, ShardHeader};

use crate::picture;

/// A game with what made it and what was found at each ply. Values and outcomes are seen by the side to
/// move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownGame {
    /// The shard.
    pub shard: String,
    /// The run's seed.
    pub seed: u64,
    /// The iteration of the run.
    pub iteration: u64,
    /// The game's number in its shard.
    pub number: u64,
    /// The player.
    pub player: String,
    /// The variant.
    pub variant: String,
    /// The rules.
    pub rules: String,
    /// Why it ended.
    pub ending: &'static str,
    /// `black` or `white` has won, or `draw`.
    pub outcome: &'static str,
    /// The positions, the last one included, which has no move.
    pub positions: Vec<ShownPosition>,
    #[serde(skip)]
    boards: Vec<(Position, Option<Move>)>,
}

/// A position of a game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownPosition {
    /// Plies before it, 0 for the first position.
    pub ply: usize,
    /// The position, in its one-line notation.
    pub position: String,
    /// The side to move.
    pub side: &'static str,
    /// The move that was played, a capture with an x; none after the last.
    #[serde(rename = "move")]
    pub mv: Option<String>,
    /// How it was chosen: `opening`, `fast` or `full`.
    pub kind: Option<&'static str>,
    /// Visits of the root; 0 without a tree.
    pub sims: Option<u32>,
    /// Value of the root in [−1, 1].
    pub value: Option<f32>,
    /// The search's share of each move, the largest first.
    pub policy: Vec<ShownMove>,
}

/// A move and its share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownMove {
    /// The move, a capture with an x.
    #[serde(rename = "move")]
    pub mv: String,
    /// Its share of the search, 0 to 1.
    pub share: f32,
}

/// How many moves of a policy are told to people.
const MOVES_TOLD: usize = 5;

impl ShownGame {
    /// A game of a shard.
    pub fn of(shard: &std::path::Path, header: &ShardHeader, game: &GameRecord) -> ShownGame {
        let mut positions = Vec::new();
        let mut boards = Vec::new();
        let mut last = None;
        let plies = game.plies.iter().map(Some).chain([None]);
        for (number, (position, ply)) in game.positions().zip(plies).enumerate() {
            positions.push(ShownPosition::of(number, &position, ply));
            boards.push((position, last));
            last = ply.map(|ply| ply.mv);
        }
        ShownGame {
            shard: shard.display().to_string(),
            seed: header.seed,
            iteration: header.iteration,
            number: game.number,
            player: header.player.clone(),
            variant: header.variant.to_string(),
            rules: header.rules.to_string(),
            ending: game.result.ending.name(),
            outcome: match game.result.outcome {
                Outcome::Win(color) => color.name(),
                Outcome::Draw => "draw",
            },
            positions,
            boards,
        }
    }

    /// What made it and how it ended, in lines.
    pub fn heading(&self) -> String {
        let result = match self.outcome {
            "draw" => "a draw".to_owned(),
            winner => format!("{winner} wins"),
        };
        format!(
            "{}: game {} of iteration {}, seed {}\n{} plays {} under {}; {result} by {} after {} plies\n",
            self.shard,
            self.number,
            self.iteration,
            self.seed,
            self.player,
            self.variant,
            self.rules,
            self.ending,
            self.positions.len() - 1,
        )
    }

    /// The position before a ply on the board, and what was found there; none beyond the last position.
    pub fn at(&self, ply: usize) -> Option<String> {
        let (position, last) = self.boards.get(ply)?;
        Some(format!("{}\n{}\n", picture::board(position, *last, false), self.positions[ply]))
    }
}

impl ShownPosition {
    fn of(number: usize, position: &Position, ply: Option<&PlyRecord>) -> ShownPosition {
        let spelled = |mv: Move| match position.is_capture(mv) {
            true => format!("{}x{}", mv.from(), mv.to()),
            false => mv.to_string(),
        };
        let mut policy = ply.map(|ply| ply.policy.shares()).unwrap_or_default();
        policy.sort_by(|a, b| b.1.total_cmp(&a.1));
        let told = |(mv, share)| ShownMove { mv: spelled(mv), share };
        ShownPosition {
            ply: number,
            position: position.to_string(),
            side: position.side_to_move().name(),
            mv: ply.map(|ply| spelled(ply.mv)),
            kind: ply.map(|ply| ply.search.name()),
            sims: ply.map(|ply| ply.simulations),
            value: ply.and_then(|ply| ply.value),
            policy: policy.into_iter().map(told).collect(),
        }
    }
}

/// One line, and another for the policy if there is one.
impl std::fmt::Display for ShownPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let color = if self.side == Color::Black.name() { Color::Black } else { Color::White };
        let (Some(mv), Some(kind)) = (&self.mv, self.kind) else {
            return write!(f, "ply {}: the game is over\n{}", self.ply, self.position);
        };
        write!(f, "ply {}: {} ({}) plays {mv}; ", self.ply, self.side, picture::sign(color))?;
        match kind {
            "opening" => write!(f, "an opening move, not searched")?,
            kind => write!(f, "{kind} search of {} simulations", self.sims.unwrap_or(0))?,
        }
        if let Some(value) = self.value {
            write!(f, ", value {}", signed(value.into(), 3))?;
        }
        if !self.policy.is_empty() {
            let told = self.policy.iter().take(MOVES_TOLD);
            let told: Vec<_> = told.map(|m| format!("{} {:.1} %", m.mv, 100.0 * m.share)).collect();
            let more = self.policy.len().saturating_sub(MOVES_TOLD);
            write!(f, "\n  {}", told.join(", "))?;
            if more > 0 {
                write!(f, ", {more} more")?;
            }
        }
        write!(f, "\n{}", self.position)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use surakarta_game::{Ending, Game, OLYMPIAD};
    use surakarta_record::{Policy, SearchKind};

    use super::*;

    fn game() -> ShownGame {
        let mut game = Game::new(OLYMPIAD);
        let moves = ["a2a3", "f5f4", "b2b3"].map(|mv| mv.parse::<Move>().unwrap());
        let mut plies = Vec::new();
        for (mv, search) in
            moves.into_iter().zip([SearchKind::Opening, SearchKind::Fast, SearchKind::Full])
        {
            let policy = match search {
                SearchKind::Full => {
                    let moves = game.legal_moves();
                    Policy::Visits(moves.iter().map(|&m| (m, 1 + 20 * (m == mv) as u32)).collect())
                }
                _ => Policy::None,
            };
            let value = (search != SearchKind::Opening).then_some(-0.25);
            plies.push(PlyRecord::new(mv, search, 30, value, policy));
            game.play(mv).unwrap();
        }
        game.forfeit(Color::Black, Ending::Resignation);
        let record = GameRecord::of(&game, 7, plies);
        let header = ShardHeader { player: "mcts:sims=30".into(), ..ShardHeader::default() };
        ShownGame::of(Path::new("a.shard"), &header, &record)
    }

    #[test]
    fn a_game_says_what_it_is_and_what_was_found() {
        let game = game();
        let heading = game.heading();
        assert!(heading.contains("a.shard: game 7 of iteration 0"), "{heading}");
        assert!(heading.contains("white wins by resignation after 3 plies"), "{heading}");
        let text = |ply| game.at(ply).unwrap();
        assert!(text(0).contains("ply 0: black (x) plays a2a3; an opening move, not searched\n"));
        let fast = "ply 1: white (o) plays f5f4; fast search of 30 simulations, value -0.250\n";
        assert!(text(1).contains(fast), "{}", text(1));
        // The move before is marked on the board.
        assert!(text(1).contains('X') && text(1).contains('•') && !text(0).contains('X'));
        let full = text(2);
        assert!(full.contains("full search of 30 simulations"), "{full}");
        assert!(full.contains("\n  b2b3 ") && full.contains(" more\n"), "{full}");
        assert!(text(3).contains("ply 3: the game is over"));
        assert_eq!(game.at(4), None);
    }

    #[test]
    fn programs_get_every_position() {
        let json = serde_json::to_value(game()).unwrap();
        let positions = json["positions"].as_array().unwrap();
        assert_eq!(positions.len(), 4);
        assert_eq!((&positions[1]["move"], &positions[3]["move"]), (&"f5f4".into(), &().into()));
        assert_eq!(positions[2]["policy"][0]["move"], "b2b3");
        assert_eq!(json["outcome"], "white");
    }
}
