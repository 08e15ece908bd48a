//! Games that are ended before the rules do. Off unless asked for: what the players themselves expect saves
//! time and can be wrong; endgame tables are right about the endgame, not about who would have played it
//! well.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use surakarta_game::{Color, Game, Outcome};
use surakarta_tablebase::Tables;

use crate::game::ArenaPly;

/// When a game is taken as decided. Evaluations are those of the players, in [−1, 1]; a ply without
/// one, such as of a player that has none, decides nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjudication {
    /// Won for one side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub win: Option<WinRule>,
    /// Drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawRule>,
    /// As endgame tables prove: the folder of those that a [`Session`](crate::Session) is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<PathBuf>,
}

/// One side wins whose opponent has given the game up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WinRule {
    /// The evaluation, above 0.
    pub value: f32,
    /// In how many plies in a row: of both players, or of the loser alone.
    pub plies: usize,
    /// Whether both players must agree; otherwise the loser's word is enough.
    #[serde(default = "yes")]
    pub both: bool,
}

/// Nobody expects to win any more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawRule {
    /// No evaluation further from zero, for either player.
    pub value: f32,
    /// In how many plies of both players in a row, of which none captured.
    pub plies: usize,
    /// Not before so many plies after the opening.
    #[serde(default)]
    pub from: usize,
}

fn yes() -> bool {
    true
}

impl Adjudication {
    /// Whether it never ends a game.
    pub fn is_off(&self) -> bool {
        *self == Adjudication::default()
    }

    /// Whether every number makes sense.
    ///
    /// # Errors
    /// A sentence that names the key.
    pub fn check(&self) -> Result<(), String> {
        let bad = |key: &str, range: &str| Err(format!("[adjudication] {key} must be {range}"));
        match (self.win, self.draw) {
            (Some(win), _) if !(win.value > 0.0 && win.value <= 1.0) => {
                bad("win.value", "above 0 and at most 1")
            }
            // With one ply the winner's word alone would do.
            (Some(win), _) if win.both && win.plies < 2 => {
                bad("win.plies", "2 or more where both players must agree")
            }
            (Some(win), _) if win.plies == 0 => bad("win.plies", "1 or more"),
            (_, Some(draw)) if !(0.0..=1.0).contains(&draw.value) => {
                bad("draw.value", "from 0 to 1")
            }
            (_, Some(draw)) if draw.plies == 0 => bad("draw.plies", "1 or more"),
            _ => Ok(()),
        }
    }

    /// The result of a game, if it is decided by what these tables prove or by its plies after the opening,
    /// of which `last` has made the last.
    pub(crate) fn ends(
        &self,
        game: &Game,
        plies: &[ArenaPly],
        last: Color,
        tables: Option<&Tables>,
    ) -> Option<Outcome> {
        let proven = tables.and_then(|tables| tables.outcome(game.position(), game.rules()));
        proven.or_else(|| self.verdict(plies, last, game.position().quiet_plies() as usize))
    }

    /// The result of a game, if it is decided: its plies after the opening, the side that made the
    /// last of them, and the plies since the last capture.
    fn verdict(&self, plies: &[ArenaPly], last: Color, quiet: usize) -> Option<Outcome> {
        // As Black sees it, the latest first.
        let views = || {
            plies.iter().rev().scan(last, |color, ply| {
                let sign = if *color == Color::Black { 1.0 } else { -1.0 };
                let mover = std::mem::replace(color, color.other());
                Some((mover, ply.value.map(|value| sign * value)))
            })
        };
        let won = |rule: WinRule, winner: Color| {
            let sign = if winner == Color::Black { 1.0 } else { -1.0 };
            let asked = views().filter(|&(mover, _)| rule.both || mover != winner);
            let says = asked.take(rule.plies).map(|(_, view)| view);
            let agreed = says.take_while(|view| view.is_some_and(|v| sign * v >= rule.value));
            agreed.count() == rule.plies
        };
        let drawn = |rule: DrawRule| {
            let level = |view: &(Color, Option<f32>)| view.1.is_some_and(|v| v.abs() <= rule.value);
            plies.len() >= rule.from
                && quiet >= rule.plies
                && views().take(rule.plies).take_while(level).count() == rule.plies
        };
        if let Some(rule) = self.win
            && let Some(winner) = [Color::Black, Color::White].into_iter().find(|&c| won(rule, c))
        {
            return Some(Outcome::Win(winner));
        }
        self.draw.filter(|&rule| drawn(rule)).map(|_| Outcome::Draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evaluations of the players in turn, the last by `last`.
    fn verdict(rules: &Adjudication, values: &[f32], last: Color, quiet: usize) -> Option<Outcome> {
        let ply = |&value: &f32| ArenaPly {
            mv: "a2a3".parse().unwrap(),
            value: Some(value).filter(|v| v.is_finite()),
            us: 0,
            simulations: 0,
            nodes: 0,
            evaluations: 0,
        };
        rules.verdict(&values.iter().map(ply).collect::<Vec<_>>(), last, quiet)
    }

    #[test]
    fn both_must_agree_for_so_many_plies_in_a_row() {
        let win = Some(WinRule { value: 0.9, plies: 4, both: true });
        let rules = Adjudication { win, ..Adjudication::default() };
        use Color::{Black, White};
        // White made the last move and is lost.
        let lost = [0.95, -0.95, 0.9, -0.9];
        assert_eq!(verdict(&rules, &lost, White, 0), Some(Outcome::Win(Black)));
        assert_eq!(verdict(&rules, &lost, Black, 0), Some(Outcome::Win(White)));
        assert_eq!(verdict(&rules, &lost[1..], White, 0), None);
        assert_eq!(verdict(&rules, &[0.95, -0.95, 0.89, -0.9], White, 0), None);
        assert_eq!(verdict(&rules, &[0.95, 0.95, 0.9, -0.9], White, 0), None);
        assert_eq!(verdict(&rules, &[0.95, f32::NAN, 0.9, -0.9], White, 0), None);
        assert!(verdict(&rules, &[0.0, 0.95, -0.95, 0.9, -0.9], White, 0).is_some());
    }

    #[test]
    fn the_word_of_the_loser_can_be_enough_and_that_of_the_winner_never() {
        let win = Some(WinRule { value: 0.9, plies: 2, both: false });
        let rules = Adjudication { win, ..Adjudication::default() };
        let found = verdict(&rules, &[0.0, -0.95, 0.0, -0.95], Color::White, 0);
        assert_eq!(found, Some(Outcome::Win(Color::Black)));
        // Still so after the winner's next move.
        let found = verdict(&rules, &[-0.95, 0.0, -0.95, 0.0], Color::Black, 0);
        assert_eq!(found, Some(Outcome::Win(Color::Black)));
        assert_eq!(verdict(&rules, &[0.95, 0.0, 0.95, 0.0], Color::White, 0), None);
        assert_eq!(verdict(&rules, &[-0.95], Color::White, 0), None);
    }

    #[test]
    fn a_draw_needs_quiet_plies_and_time() {
        let draw = Some(DrawRule { value: 0.05, plies: 3, from: 5 });
        let rules = Adjudication { draw, ..Adjudication::default() };
        let level = [0.5, 0.0, 0.04, -0.05, 0.0];
        assert_eq!(verdict(&rules, &level, Color::Black, 3), Some(Outcome::Draw));
        assert_eq!(verdict(&rules, &level, Color::Black, 2), None, "a capture");
        assert_eq!(verdict(&rules, &level[1..], Color::Black, 9), None, "too early");
        assert_eq!(verdict(&rules, &[0.0, 0.0, 0.0, 0.06, 0.0], Color::Black, 9), None);
        assert_eq!(verdict(&Adjudication::default(), &level, Color::Black, 9), None);
    }
}
