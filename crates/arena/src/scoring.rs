//! What a game is worth in a match.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use surakarta_game::{Color, Ending, Position};

use crate::game::ArenaGame;

/// How a match is scored. Ratings always use wins, draws and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scoring {
    /// A win 1, a draw ½.
    #[default]
    Games,
    /// The winner scores the pieces that it has left.
    Pieces,
    /// Both sides score the pieces that they have left.
    PiecesOfBoth,
}

impl fmt::Display for Scoring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scoring::Games => "games",
            Scoring::Pieces => "pieces",
            Scoring::PiecesOfBoth => "pieces-of-both",
        })
    }
}

impl FromStr for Scoring {
    type Err = String;

    fn from_str(text: &str) -> Result<Scoring, String> {
        let all = [Scoring::Games, Scoring::Pieces, Scoring::PiecesOfBoth];
        all.into_iter()
            .find(|scoring| scoring.to_string() == text)
            .ok_or_else(|| format!("`{text}` is no scoring; write games, pieces or pieces-of-both"))
    }
}

/// A scoring and what a forfeit is worth in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchScore {
    /// What is counted.
    pub scoring: Scoring,
    /// Pieces that the winner scores where the loser resigned, overstepped its time, crashed or moved
    /// illegally; all pieces of a side unless given.
    pub forfeit: Option<u32>,
}

impl MatchScore {
    /// The points of Black and of White, by [`Color`].
    pub fn points(&self, game: &ArenaGame) -> [f64; 2] {
        let by_color = |of: &dyn Fn(Color) -> f64| [of(Color::Black), of(Color::White)];
        let value = |color| f64::from(game.outcome.value_for(color));
        if self.scoring == Scoring::Games {
            return by_color(&|color| (value(color) + 1.0) / 2.0);
        }
        if is_forfeit(game.ending) {
            let all = Position::start(game.opening.start.variant()).count(Color::Black);
            let pieces = f64::from(self.forfeit.unwrap_or(all));
            return by_color(&|color| if value(color) > 0.0 { pieces } else { 0.0 });
        }
        let last = game.last_position();
        let scores = |color| self.scoring == Scoring::PiecesOfBoth || value(color) > 0.0;
        by_color(&|color| if scores(color) { f64::from(last.count(color)) } else { 0.0 })
    }
}

/// Whether the loser gave the game away, whatever stood on the board.
pub(crate) fn is_forfeit(ending: Ending) -> bool {
    matches!(ending, Ending::Resignation | Ending::Time | Ending::Crash | Ending::IllegalMove)
}
