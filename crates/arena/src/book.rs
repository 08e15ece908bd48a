//! Openings from a file, and a book of balanced ones.
//!
//! A file has one opening a line: its moves from the start position (`a2a3 b5b4`), or a position
//! (`6/wwww2/6/6/1bbbb1/6 b 0 1`), or both with a semicolon between them. What follows `#` is a
//! comment, and empty lines are skipped.

use std::collections::HashMap;
use std::path::Path;

use rand::Rng;
use rand::seq::SliceRandom;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use surakarta_game::{Move, Position, RuleSet, Variant};
use surakarta_search::{Limits, stream};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::ArenaError;
use crate::number::quantity;
use crate::opening::{Opening, OpeningSet, RandomOpenings, up_to_symmetry};
use crate::session::Factory;
use crate::text::without_mark;

/// Keeps the stream that shuffles openings apart from all others of the same seed.
const STREAM: u64 = u64::from_be_bytes(*b"book....");

/// Openings that are judged at a time.
const CHUNK: usize = 64;

impl OpeningSet {
    /// The openings of a file, in an order drawn from the seed, so that different seeds do not all
    /// play the first ones; all of them without a count.
    ///
    /// # Errors
    /// If the file cannot be read, a line is no opening of the variant, a game is over after one, two
    /// lead to the same position up to symmetry, or there are fewer than asked for.
    pub fn read(
        path: &Path,
        variant: Variant,
        rules: RuleSet,
        seed: u64,
        count: Option<usize>,
    ) -> Result<OpeningSet, ArenaError> {
        let bytes = std::fs::read(path)
            .map_err(|source| ArenaError::Io { path: path.to_owned(), source })?;
        let wrong = |line: usize, reason: String| ArenaError::OpeningFile {
            path: path.to_owned(),
            line,
            reason,
        };
        let bytes = without_mark(&bytes);
        let text = std::str::from_utf8(bytes).map_err(|_| {
            wrong(1, "this is not text; give a file with one opening a line".to_owned())
        })?;
        if text.starts_with("{\"journal\"") {
            let reason = "this is the journal of a tournament and not a file of openings; give a file with one opening a line, as `surakarta book` makes";
            return Err(wrong(1, reason.to_owned()));
        }
        let mut seen: HashMap<(u64, u64), usize> = HashMap::new();
        let mut openings = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let opening = parse(line, variant).and_then(|opening| {
                let game = opening.game(rules).map_err(|error| error.to_string())?;
                match game.result() {
                    Some(result) => Err(format!("the game is over there by {}", result.ending)),
                    None => Ok(opening),
                }
            });
            let opening = opening.map_err(|reason| wrong(n + 1, reason))?;
            let key = up_to_symmetry(&opening.position());
            if let Some(earlier) = seen.insert(key, n + 1) {
                return Err(wrong(
                    n + 1,
                    format!(
                        "the position of line {earlier}, up to symmetry; leave one of them out"
                    ),
                ));
            }
            openings.push(opening);
        }
        let count = count.unwrap_or(openings.len());
        if openings.len() < count || openings.is_empty() {
            return Err(ArenaError::TooFewInFile {
                path: path.to_owned(),
                found: openings.len(),
                wanted: count.max(1),
            });
        }
        openings.shuffle(&mut stream(seed, [STREAM, 0, 0]));
        openings.truncate(count);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let source = format!("file {name} ({:016x})", xxh3_64(bytes));
        Ok(OpeningSet { variant, source, openings })
    }
}

fn parse(line: &str, variant: Variant) -> Result<Opening, String> {
    let (position, moves) = match line.split_once(';') {
        Some((position, moves)) => (Some(position), moves),
        None if line.contains('/') => (Some(line), ""),
        None => (None, line),
    };
    let start = match position {
        Some(text) => Position::parse(text.trim(), variant).map_err(|error| error.to_string())?,
        None => Position::start(variant),
    };
    let moves: Result<Vec<Move>, _> = moves.split_whitespace().map(str::parse).collect();
    Ok(Opening { start, moves: moves.map_err(|error| error.to_string())? })
}

/// How a book is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BookOptions {
    /// The variant.
    pub variant: Variant,
    /// The rules.
    pub rules: RuleSet,
    /// Seed of the random moves and of the judge.
    pub seed: u64,
    /// Random plies of each opening.
    pub plies: u32,
    /// Openings wanted.
    pub count: usize,
    /// The furthest from zero that the judge's evaluation may be.
    pub balance: f32,
}

/// A book of openings that a player finds balanced, and how many it looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Book {
    /// The openings, in the order in which they were drawn.
    pub openings: Vec<Opening>,
    /// Openings judged.
    pub judged: usize,
}

/// Draws random openings and keeps those whose evaluation by a player is near zero. The book does not
/// depend on the number of threads. `progress` takes the openings kept and judged so far, and says
/// whether to go on.
///
/// # Errors
/// If the judge, player 0 of the factory, cannot be made or gives no evaluation, or if too few openings
/// are found.
pub fn balanced_book(
    options: &BookOptions,
    factory: &Factory<'_>,
    progress: &dyn Fn(usize, usize) -> bool,
) -> Result<Book, ArenaError> {
    let BookOptions { variant, rules, seed, plies, count, balance } = *options;
    let mut random = RandomOpenings::new(variant, rules, seed, plies);
    let mut book = Book { openings: Vec::with_capacity(count), judged: 0 };
    let judge = || {
        factory(0).map_err(|source| ArenaError::Factory { name: "the judge".to_owned(), source })
    };
    while book.openings.len() < count {
        let chunk: Vec<(usize, Opening)> = random.by_ref().take(CHUNK).enumerate().collect();
        if chunk.is_empty() {
            return Err(ArenaError::Book(format!(
                "only {} of all {} of {} are within {balance}; ask for fewer openings, {} plies or a wider balance",
                book.openings.len(),
                quantity(book.judged, "distinct opening"),
                quantity(plies, "ply"),
                if random.are_over() { "fewer" } else { "more" }
            )));
        }
        let judged = book.judged as u64;
        let values = chunk.into_par_iter().map_init(judge, |judge, (n, opening)| {
            let player = match judge {
                Ok(player) => player,
                Err(error) => return Err(ArenaError::Book(error.to_string())),
            };
            let game = opening.game(rules).map_err(|error| ArenaError::Opening(n, error))?;
            player.new_game(stream(seed, [STREAM, 1, judged + n as u64]).next_u64());
            let choice = player.choose(&game, &Limits::default());
            let value = choice.map_err(|error| ArenaError::Book(error.to_string()))?.value;
            let missing = || "the judge gives no evaluations; name a player that does".to_owned();
            Ok((opening, value.ok_or_else(|| ArenaError::Book(missing()))?))
        });
        for (opening, value) in values.collect::<Result<Vec<_>, _>>()? {
            book.judged += 1;
            if value.abs() <= balance && book.openings.len() < count {
                book.openings.push(opening);
            }
        }
        if !progress(book.openings.len(), book.judged) {
            break;
        }
    }
    Ok(book)
}

#[cfg(test)]
mod tests {
    use surakarta_game::OLYMPIAD;
    use surakarta_search::{AlphaBetaConfig, AlphaBetaPlayer, Player};

    use super::*;

    fn read(text: &str, count: Option<usize>) -> Result<OpeningSet, ArenaError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.txt");
        std::fs::write(&path, text).unwrap();
        OpeningSet::read(&path, Variant::Standard, OLYMPIAD, 1, count)
    }

    #[test]
    fn a_file_is_read_as_it_is_written_whatever_the_order() {
        let random = OpeningSet::random(Variant::Standard, OLYMPIAD, 4, 5, 30).unwrap();
        let position: Position = "wwwwww/wwwwww/6/1b4/b1bbbb/bbbbbb w 3 9".parse().unwrap();
        let mut openings = random.openings;
        openings.push(Opening { start: position, moves: Vec::new() });
        openings.push(Opening { start: position, moves: vec!["a5a4".parse().unwrap()] });
        let lines: Vec<String> = openings.iter().map(ToString::to_string).collect();
        let text = format!("# a book\n\n{}   # the last\n", lines.join("\n"));
        let set = read(&text, None).unwrap();
        assert_eq!(set.openings.len(), 32);
        assert_ne!(set.openings, openings, "the order is drawn");
        assert!(openings.iter().all(|opening| set.openings.contains(opening)));
        assert_eq!(read(&text, Some(5)).unwrap().openings, set.openings[..5]);
        assert!(set.source.starts_with("file book.txt ("), "{}", set.source);
        // Some editors put a mark before the first letter.
        assert_eq!(read(&format!("\u{feff}{text}"), None).unwrap(), set);
        // A position may stand alone, too.
        assert_eq!(read(&position.to_string(), None).unwrap().openings[0].start, position);
    }

    #[test]
    fn what_is_wrong_in_a_file_is_said_with_its_line() {
        for (text, line, said) in [
            ("a2a3\na2a9", 2, "a2a9"),
            ("a2a3\na2a4", 2, "a2a4"),
            ("a2a3\n\nf2f3 # the mirror image", 3, "the position of line 1"),
            ("6/6/6/6/6/b5 b 0 1", 1, "the game is over there"),
            ("6/6/6; a2a3", 1, "ranks"),
            ("{\"journal\":\"surakarta-arena\"}\n", 1, "the journal of a tournament"),
        ] {
            let error = read(text, None).unwrap_err().to_string();
            assert!(error.contains(&format!("book.txt, line {line}: ")), "{error}");
            assert!(error.contains(said), "{error}");
        }
        let error = read("a2a3", Some(2)).unwrap_err().to_string();
        assert!(error.contains("1 opening") && error.contains("2 pairs"), "{error}");
        assert!(read("# nothing", None).is_err());
    }

    #[test]
    fn a_book_is_balanced_and_the_same_on_any_number_of_threads() {
        let judge = || {
            let limits = Limits { depth: Some(2), ..Limits::default() };
            AlphaBetaPlayer::new(AlphaBetaConfig { limits, table_mib: 1, ..Default::default() })
        };
        let options = BookOptions {
            variant: Variant::Standard,
            rules: OLYMPIAD,
            seed: 3,
            plies: 8,
            count: 40,
            balance: 0.1,
        };
        let make = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let factory = |_| Ok(Box::new(judge()) as Box<dyn Player>);
            pool.install(|| balanced_book(&options, &factory, &|_, _| true)).unwrap()
        };
        let book = make(1);
        assert_eq!(book, make(3));
        assert!(book.openings.len() == 40 && book.judged > 40);
        for opening in &book.openings {
            let game = opening.game(OLYMPIAD).unwrap();
            let value = judge().choose(&game, &Limits::default()).unwrap().value.unwrap();
            assert!(value.abs() <= 0.1, "{value}");
        }
    }
}
