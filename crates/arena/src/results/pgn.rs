//! PGN: tags and moves, of whatever game; moves need not be those of chess, so that readers of chess
//! do not serve.

use std::collections::HashMap;

use surakarta_game::{Ending, Move, Position, Variant};

use crate::number::quantity;

use super::identity::{game_key, opening_key, text_key};
use super::{Labelled, ResultRow, Results, ResultsError, Source, labels, points};

/// A game as text.
#[derive(Default)]
struct Game<'a> {
    /// Where it begins, 1 the first line.
    line: usize,
    tags: HashMap<&'a str, String>,
    /// Words of the moves, without numbers, comments and variations.
    words: Vec<&'a str>,
    /// How many words stand before the first comment; our own files, and those of other arenas, put
    /// one behind each move but those of the opening.
    before_comment: Option<usize>,
}

pub(super) fn read(source: &Source<'_>, results: &mut Results) -> Result<(), ResultsError> {
    let games = split(source.text).map_err(|(line, reason)| source.wrong(line, reason))?;
    let (mut rows, mut names, mut rounds) = (Vec::new(), Vec::new(), Vec::new());
    let mut unfinished = 0;
    for game in &games {
        let wrong = |reason: String| source.wrong(game.line, reason);
        let score = game.score().map_err(wrong)?;
        let [first, second] = game.players().map_err(wrong)?;
        let [first, second] = results.players_of(first, second).map_err(wrong)?;
        let Some(score) = score else {
            unfinished += 1;
            continue;
        };
        let (moves, opening) = game.course().map_err(wrong)?;
        let given = |tag: &str| {
            let value = game.tags.get(tag).map(String::as_str);
            value.filter(|value| !["", "?", "-"].contains(value)).map(str::to_owned)
        };
        rounds.push(given("Pair").is_none());
        names.push(given("Pair").or_else(|| given("Round")));
        rows.push(ResultRow {
            first,
            second,
            score,
            pair: None,
            opening,
            moves,
            ending: given("Termination").and_then(|text| ending(&text)),
        });
    }
    let mut labels = labels(&names);
    // A round is a pair only where it has two games of the same players.
    let key =
        |row: &ResultRow, label| (label, row.first.min(row.second), row.first.max(row.second));
    let mut sizes = HashMap::new();
    for (row, label) in rows.iter().zip(&labels) {
        *sizes.entry(key(row, *label)).or_insert(0) += 1;
    }
    for ((row, label), is_round) in rows.iter().zip(&mut labels).zip(rounds) {
        if is_round && sizes[&key(row, *label)] != 2 {
            *label = None;
        }
    }
    let labelled = rows.into_iter().zip(labels).map(|(row, label)| Labelled { row, label });
    results.append(labelled.collect(), &source.path.display().to_string());
    if unfinished > 0 {
        results.notes.push(format!(
            "{}: {} without a result left out",
            source.path.display(),
            quantity(unfinished, "game")
        ));
    }
    Ok(())
}

impl Game<'_> {
    fn players(&self) -> Result<[&str; 2], String> {
        for names in [["First", "Second"], ["White", "Black"]] {
            let [given, missing] = match names.map(|name| self.tags.get(name)) {
                [Some(first), Some(second)] => return Ok([first, second]),
                [None, None] => continue,
                [Some(_), None] => names,
                [None, Some(_)] => [names[1], names[0]],
            };
            return Err(format!(
                "the game that begins here has the tag {given} without {missing}, so one of its players is not named; add [{missing} \"...\"]"
            ));
        }
        Err("the game that begins here does not name its players; give the tags White and Black, or First and Second".to_owned())
    }

    fn score(&self) -> Result<Option<f64>, String> {
        let tag = self.tags.get("Result").map(String::as_str);
        let last = self.words.last().copied().filter(|word| is_result(word));
        if let (Some(tag), Some(last)) = (tag, last)
            && tag != last
        {
            return Err(format!(
                "the tag Result of the game that begins here says `{tag}`, its moves end with `{last}`; make them agree"
            ));
        }
        points(tag.or(last).ok_or("the game that begins here has no result; add the tag Result")?)
    }

    /// What tells it from others, and its opening.
    fn course(&self) -> Result<(Option<u128>, Option<u128>), String> {
        let words: Vec<&str> = self.words.iter().copied().filter(|word| !is_result(word)).collect();
        let variant = match self.tags.get("Variant") {
            // Of another game, as its moves will be.
            Some(text) => text.parse().unwrap_or(Variant::Standard),
            None => Variant::Standard,
        };
        let start = match self.tags.get("FEN") {
            Some(fen) => fen.parse::<Position>().ok(),
            None => Some(Position::start(variant)),
        };
        let moves: Option<Vec<Move>> =
            words.iter().map(|word| word.trim_end_matches(['!', '?']).parse().ok()).collect();
        let (Some(start), Some(moves)) = (start, moves) else {
            let fen = self.tags.get("FEN");
            let text = words.iter().copied().chain(fen.map(String::as_str));
            let text: Vec<&str> = text.collect();
            let opening = fen.or(self.tags.get("Opening")).map(|fen| text_key(&[fen]));
            return Ok(((!words.is_empty()).then(|| text_key(&text)), opening));
        };
        // The comment stands after the first move that a player made.
        let played = self.before_comment.unwrap_or(0).saturating_sub(1).min(moves.len());
        let opening = match self.tags.get("Opening") {
            Some(name) => Some(text_key(&[name])),
            None if played > 0 || self.tags.contains_key("FEN") => {
                Some(opening_key(&moves[..played].iter().fold(start, |p, &mv| p.after(mv))))
            }
            None => None,
        };
        Ok(((!moves.is_empty()).then(|| game_key(&start, moves.into_iter())), opening))
    }
}

fn is_result(word: &str) -> bool {
    ["1-0", "0-1", "1/2-1/2", "*"].contains(&word)
}

/// Our own names, and those of the PGN standard.
fn ending(text: &str) -> Option<Ending> {
    match text {
        "time forfeit" => Some(Ending::Time),
        "rules infraction" | "illegal move" => Some(Ending::IllegalMove),
        "abandoned" | "disconnect" | "stalled connection" => Some(Ending::Crash),
        "adjudication" => Some(Ending::Adjudicated),
        other => other.parse().ok(),
    }
}

/// The games of a file. One without moves ends at its last tag: the next begins where a tag comes again
/// after an empty line.
fn split(text: &str) -> Result<Vec<Game<'_>>, (usize, String)> {
    let mut games: Vec<Game<'_>> = Vec::new();
    let (mut rest, mut line) = (text, 1);
    let (mut in_moves, mut last_tag) = (true, 0);
    while let Some(next) = rest.chars().next() {
        let taken = match next {
            '[' => {
                let ((name, value), length) = tag(rest).map_err(|reason| (line, reason))?;
                let again = games.last().is_some_and(|game| game.tags.contains_key(name));
                if in_moves || again && line > last_tag + 1 {
                    games.push(Game { line, ..Game::default() });
                    in_moves = false;
                } else if again {
                    let reason =
                        format!("the tag {name} is given twice in one game; leave one of them out");
                    return Err((line, reason));
                }
                if let Some(game) = games.last_mut() {
                    game.tags.insert(name, value);
                }
                last_tag = line;
                length
            }
            c if c.is_whitespace() => c.len_utf8(),
            _ => {
                let Some(game) = games.last_mut() else {
                    return Err((
                        line,
                        "moves before any tag; begin each game with its tags".into(),
                    ));
                };
                in_moves = true;
                match next {
                    '{' => {
                        game.before_comment.get_or_insert(game.words.len());
                        1 + rest.find('}').ok_or((line, "a comment has no `}`; close it".into()))?
                    }
                    ';' => {
                        game.before_comment.get_or_insert(game.words.len());
                        rest.find('\n').unwrap_or(rest.len())
                    }
                    '(' => {
                        variation(rest).ok_or((line, "a variation has no `)`; close it".into()))?
                    }
                    _ => {
                        let end = rest
                            .find(|c: char| c.is_whitespace() || "{}();[]".contains(c))
                            .unwrap_or(rest.len())
                            .max(next.len_utf8());
                        game.words.extend(word(&rest[..end]));
                        end
                    }
                }
            }
        };
        line += rest[..taken].matches('\n').count();
        rest = &rest[taken..];
    }
    Ok(games)
}

/// A tag pair at the beginning of a text, and its length.
fn tag(text: &str) -> Result<((&str, String), usize), String> {
    let shown = text.lines().next().unwrap_or_default();
    let wrong = || format!("`{shown}` is not a tag; tags look like [Result \"1-0\"]");
    let (name, value) = text[1..].split_once('"').ok_or_else(wrong)?;
    let name = name.trim();
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(wrong());
    }
    let begin = text.len() - value.len();
    let (mut content, mut escaped) = (String::new(), false);
    for (k, c) in value.char_indices() {
        match c {
            '\n' => return Err(wrong()),
            _ if escaped => {
                content.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => {
                let after = &value[k + 1..];
                let close = after.len() - after.trim_start_matches([' ', '\t']).len();
                if !after[close..].starts_with(']') {
                    return Err(wrong());
                }
                return Ok(((name, content), begin + k + 1 + close + 1));
            }
            c => content.push(c),
        }
    }
    Err(wrong())
}

/// The length of a variation, with those inside it.
fn variation(text: &str) -> Option<usize> {
    let (mut depth, mut in_comment) = (0, false);
    for (k, c) in text.char_indices() {
        match c {
            '{' => in_comment = true,
            '}' => in_comment = false,
            '(' if !in_comment => depth += 1,
            ')' if !in_comment => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(k + 1);
        }
    }
    None
}

/// A word of the moves, without the number that may stand before it. The null move `--` stands where
/// moves are not known.
fn word(text: &str) -> Option<&str> {
    if is_result(text) {
        return Some(text);
    }
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let word = if after.starts_with('.') { after.trim_start_matches('.') } else { text };
    let numeral = word.chars().all(|c| c.is_ascii_digit());
    (!word.is_empty() && !numeral && !word.starts_with('$') && word != "--").then_some(word)
}
