//! A game out of a file, as it stood after some ply.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use surakarta_arena::JournalFile;
use surakarta_game::{Game, Move, Position, RuleSet, Variant};

/// The game of a file after so many plies, counted from its start, or at its end. The file is the journal
/// of a tournament, of which this is the game of a number (1 the first), under the journal's rules; or a
/// text with one game under the rules given: its moves, separated by spaces and line ends, after the
/// position that it began with and a semicolon if that is not the start of the variant. What follows `#`
/// in a line of such a text is a comment.
///
/// # Errors
/// If the file cannot be read, is none of these, or has no such game or ply: one sentence with the file.
pub fn game_of_file(
    path: &Path,
    number: usize,
    ply: Option<usize>,
    variant: Variant,
    rules: RuleSet,
) -> Result<Game> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (start, moves, rules) = if bytes.starts_with(b"{\"journal\"") {
        of_journal(path, number)?
    } else {
        if number != 1 {
            bail!("{} holds one game; leave out --number {number}", path.display());
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            anyhow!("{} is not text; give a journal, or a text with moves", path.display())
        })?;
        let (start, moves) =
            of_text(&text, variant).map_err(|reason| anyhow!("{}, {reason}", path.display()))?;
        (start, moves, rules)
    };
    let plies = ply.unwrap_or(moves.len());
    if plies > moves.len() {
        bail!(
            "the game in {} has {} plies, and ply {plies} is beyond; give --ply {} or less",
            path.display(),
            moves.len(),
            moves.len()
        );
    }
    let mut game = Game::from_position(rules, start);
    for (n, &mv) in moves[..plies].iter().enumerate() {
        game.play(mv).with_context(|| format!("{}, ply {}", path.display(), n + 1))?;
    }
    Ok(game)
}

fn of_journal(path: &Path, number: usize) -> Result<(Position, Vec<Move>, RuleSet)> {
    let journal = JournalFile::read(path)?;
    let found = number.checked_sub(1).and_then(|n| journal.games.get(n));
    let game = found.with_context(|| {
        let last = journal.games.len();
        format!("{} has no game {number}; give --number from 1 to {last}", path.display())
    })?;
    let rules =
        journal.header.rules.parse::<RuleSet>().map_err(|error| {
            anyhow!("{}: its rules are not known here: {error}", path.display())
        })?;
    Ok((game.opening.start, game.moves().collect(), rules))
}

/// Where a game begins, and its moves. Fails with the line and what is wrong there.
fn of_text(text: &str, variant: Variant) -> Result<(Position, Vec<Move>), String> {
    let (mut start, mut moves) = (None, Vec::new());
    for (line, number) in text.lines().zip(1..) {
        let mut line = line.split('#').next().unwrap_or_default();
        if let Some((position, rest)) = line.split_once(';') {
            if start.is_some() || !moves.is_empty() {
                return Err(format!(
                    "line {number}: a position stands before the first move only; leave it out"
                ));
            }
            let read = Position::parse(position.trim(), variant);
            start = Some(read.map_err(|error| format!("line {number}: {error}"))?);
            line = rest;
        }
        for word in line.split_whitespace() {
            let mv = word.parse::<Move>();
            moves.push(mv.map_err(|error| format!("line {number}: {error}"))?);
        }
    }
    Ok((start.unwrap_or(Position::start(variant)), moves))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, ply: Option<usize>) -> Result<Game> {
        let folder = tempfile::TempDir::new()?;
        let path = folder.path().join("game.txt");
        std::fs::write(&path, text)?;
        game_of_file(&path, 1, ply, Variant::Standard, RuleSet::default())
    }

    #[test]
    fn a_text_is_a_game() {
        let game = read("# how it went\n b2c3 a5a4  # an answer\n\nc2b2\n", None).unwrap();
        assert_eq!(game.moves().len(), 3);
        let game = read("b2c3 a5a4\nc2b2", Some(2)).unwrap();
        assert_eq!(game.moves().len(), 2);
        let game = read("6/6/6/6/w5/b5 b 0 1; a1b1\n", Some(0)).unwrap();
        assert_eq!(game.position().to_string(), "6/6/6/6/w5/b5 b 0 1");
        assert_eq!(read("", None).unwrap().moves().len(), 0);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, reason) in [
            ("b2c3\na5x9", "line 2: "),
            ("b2c3\nb2c3", "ply 2"),
            ("b2c3 a5a4\n6/6/6/6/w5/b5 b 0 1; a1b1", "line 2: a position stands before"),
            ("nonsense; a1b1", "line 1: "),
        ] {
            let error = format!("{:#}", read(text, None).unwrap_err());
            assert!(error.contains("game.txt") && error.contains(reason), "{error}");
        }
        let error = read("b2c3", Some(2)).unwrap_err().to_string();
        assert!(error.contains("has 1 plies"), "{error}");
    }
}
