//! Games as text in the manner of PGN, for the tools that read it.
//!
//! Those tools take the player with the tag `White` as the one who moves first, and `1-0` as its win.
//! In Surakarta Black moves first, so a game's first player, our Black, stands in the tag `White`; the
//! tags `First` and `Second` say the same without that ambiguity. Moves are ours (`a2a3`, `b1xe5`).
//! After each stands what the player said, in braces: its evaluation in [−1, 1] as the player who made
//! the move sees it, and its time in seconds. Moves of the opening have none.

use std::fmt::Write as _;
use std::io;

use surakarta_game::{Position, RuleSet};

use crate::game::ArenaGame;
use crate::number::signed;
use crate::text::outcome;

/// Columns of a line of moves.
const WIDTH: usize = 100;

/// Writes games one after another.
///
/// # Errors
/// If writing fails.
pub fn write_pgn(games: &[ArenaGame], rules: RuleSet, mut to: impl io::Write) -> io::Result<()> {
    for game in games {
        to.write_all(text(game, rules).as_bytes())?;
    }
    to.flush()
}

fn text(game: &ArenaGame, rules: RuleSet) -> String {
    let variant = game.opening.start.variant();
    let key = game.key;
    let result = outcome::name(game.outcome);
    let mut tags = vec![
        ("Event", "Surakarta".to_owned()),
        ("Site", "?".to_owned()),
        ("Date", "????.??.??".to_owned()),
        ("Round", format!("{}.{}.{}", key.pairing + 1, key.pair + 1, u8::from(key.swapped) + 1)),
        ("White", game.black.clone()),
        ("Black", game.white.clone()),
        ("Result", result.to_owned()),
        ("First", game.black.clone()),
        ("Second", game.white.clone()),
        ("Pair", format!("{}.{}", key.pairing + 1, key.pair + 1)),
        ("Variant", variant.to_string()),
        ("Rules", rules.to_string()),
        ("Termination", game.ending.to_string()),
    ];
    if game.opening.start != Position::start(variant) {
        tags.push(("SetUp", "1".to_owned()));
        tags.push(("FEN", game.opening.start.to_string()));
    }
    let mut text = String::new();
    for (name, value) in tags {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "[{name} \"{value}\"]");
    }
    text.push('\n');
    let mut words = Vec::new();
    let mut position = game.opening.start;
    let said = game.opening.moves.iter().map(|_| None).chain(game.plies.iter().map(Some));
    for (n, (mv, said)) in game.moves().zip(said).enumerate() {
        if n % 2 == 0 {
            words.push(format!("{}.", n / 2 + 1));
        }
        let x = if position.is_capture(mv) { "x" } else { "" };
        words.push(format!("{}{x}{}", mv.from(), mv.to()));
        if let Some(ply) = said {
            let value =
                ply.value.map_or(String::new(), |value| format!("{} ", signed(value.into(), 3)));
            words.push(format!("{{{value}{:.6}s}}", ply.us as f64 / 1e6));
        }
        position = position.after(mv);
    }
    words.push(result.to_owned());
    let mut column = 0;
    for word in words {
        if column > 0 && column + 1 + word.len() > WIDTH {
            text.push('\n');
            column = 0;
        }
        if column > 0 {
            text.push(' ');
        }
        column += word.len() + 1;
        text.push_str(&word);
    }
    text.push_str("\n\n");
    text
}

#[cfg(test)]
mod tests {
    use surakarta_game::{Ending, OLYMPIAD, Outcome};

    use super::*;
    use crate::game::{ArenaPly, GameKey};
    use crate::opening::Opening;

    #[test]
    fn a_game_reads_like_this() {
        let ply = |text: &str, value, us| ArenaPly {
            mv: text.parse().unwrap(),
            value,
            us,
            simulations: 0,
            nodes: 0,
            evaluations: 0,
        };
        let start: Position = "4w1/6/6/6/b5/1b2b1 b 3 9".parse().unwrap();
        let game = ArenaGame {
            key: GameKey { pair: 4, pairing: 0, swapped: true },
            black: "a \"b\"".to_owned(),
            white: "c".to_owned(),
            opening: Opening { start, moves: vec!["a2a3".parse().unwrap()] },
            plies: vec![ply("e6e5", Some(-0.5), 1_500), ply("b1xe5", None, 20)],
            ending: Ending::CapturedAll,
            outcome: Outcome::Win(surakarta_game::Color::Black),
            fault: None,
        };
        let mut bytes = Vec::new();
        write_pgn(&[game], OLYMPIAD, &mut bytes).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }
}
