//! The client's side of the protocol of the Chinese contest platform for Surakarta.
//!
//! One command a line, 256 bytes at most: `name?` is answered by `name X`; `new black` (the engine
//! begins) or `new white` starts a game; `move XYXY` tells a move, both ways; `end` ends the game and
//! `quit` the program. Points are a column A–F from the left and a row A–F from the top, where Black
//! begins. Our board is theirs mirrored top to bottom: their rows A, B, … are our ranks 1, 2, …, and
//! columns are files, so that `a2b3` is `move ABBC`.
//!
//! The protocol cannot begin elsewhere than at the start position. Our extension can: `reset black` or
//! `reset white` gives the engine its side and sets the start position up, `force XYXY` plays a move
//! for whoever is to move, and `go` asks for the engine's own.

use std::time::Instant;

use surakarta_game::{Color, Ending, Game, Move, Outcome, Point, Position, Variant};
use surakarta_search::{Choice, EngineSpec, Work};

use super::process::Process;
use super::{EngineError, Fault, Patience};

/// Bytes of a line.
const LONGEST: usize = 256;

/// A move as the contest protocol writes it: `ABBC` for `a2b3`.
pub fn contest_text(mv: Move) -> String {
    let letter = |n: usize| char::from(b'A' + n as u8);
    [mv.from(), mv.to()].iter().flat_map(|p| [letter(p.file()), letter(p.rank())]).collect()
}

/// Reads a move of the contest protocol; `None` if the text is none, or goes beyond the standard
/// board.
pub fn contest_move(text: &str) -> Option<Move> {
    let place = |letter: &u8| (b'A'..=b'F').contains(letter).then(|| (letter - b'A') as usize);
    let places: Vec<usize> = text.bytes().map(|letter| place(&letter)).collect::<Option<_>>()?;
    match places[..] {
        [a, b, c, d] => Some(Move::new(Point::at(a, b)?, Point::at(c, d)?)),
        _ => None,
    }
}

/// A running engine and the game that it knows.
pub(super) struct Contest {
    process: Process,
    name: String,
    openings: bool,
    /// The moves that the engine knows; `None` if no game has begun.
    known: Option<Vec<Move>>,
}

impl Contest {
    pub(super) fn start(spec: &EngineSpec) -> Result<Contest, EngineError> {
        let mut process = Process::start(spec, LONGEST)?;
        let until = Instant::now() + spec.start;
        process.say("name?");
        let name = loop {
            match process.hear(until).map_err(|fault| fault.at_start(spec))? {
                Some(line) => match line.trim().strip_prefix("name") {
                    Some(name) if name.starts_with(' ') => break name.trim().to_owned(),
                    _ => {}
                },
                None => return Err(Fault::silence("name?", spec.start).at_start(spec)),
            }
        };
        Ok(Contest { process, name, openings: spec.openings, known: None })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn new_game(&mut self) {
        self.known = None;
    }

    pub(super) fn choose(&mut self, game: &Game, patience: &Patience) -> Result<Choice, Fault> {
        // A second answer to the last question is none to this one.
        self.process.drain()?;
        let until = Instant::now() + patience.wait;
        let question = self.ask(game)?;
        let mv = loop {
            let Some(line) = self.process.hear(until)? else {
                return Err(Fault::silence(&question, patience.wait));
            };
            let mut words = line.split_whitespace();
            if words.next() == Some("move") {
                let mv = words.next().and_then(contest_move);
                let mv = mv.filter(|&mv| game.clone().play(mv).is_ok());
                break mv.ok_or_else(|| Fault::no_move(&line))?;
            }
        };
        let mut known = game.moves().to_vec();
        known.push(mv);
        self.known = Some(known);
        Ok(Choice { mv, value: None, line: vec![mv], work: Work::default() })
    }

    /// Tells the engine where the game stands so that it moves; returns what it was asked last.
    fn ask(&mut self, game: &Game) -> Result<String, Fault> {
        let moves = game.moves();
        let tell = |mv: Move| format!("move {}", contest_text(mv));
        let news = self.known.as_deref().and_then(|known| moves.strip_prefix(known));
        let lines = match (news, moves) {
            (Some(&[last]), _) => vec![tell(last)],
            _ if *game.start() != Position::start(Variant::Standard) => {
                return Err(Fault {
                    ending: Ending::Crash,
                    reason: format!(
                        "the contest protocol cannot begin a game from {}",
                        game.start()
                    ),
                });
            }
            (_, []) => vec!["new black".to_owned()],
            (_, &[first]) => vec!["new white".to_owned(), tell(first)],
            _ if self.openings => {
                let reset = format!("reset {}", game.side_to_move());
                let forced = moves.iter().map(|&mv| format!("force {}", contest_text(mv)));
                [reset].into_iter().chain(forced).chain(["go".to_owned()]).collect()
            }
            _ => {
                return Err(Fault {
                    ending: Ending::Crash,
                    reason: "the contest protocol has no openings; say openings=yes if the engine knows reset, force and go".to_owned(),
                });
            }
        };
        lines.iter().for_each(|line| self.process.say(line));
        Ok(lines.last().cloned().unwrap_or_default())
    }

    pub(super) fn end_game(&mut self, game: &Game) {
        if self.known.take().is_some()
            && let Some(result) = game.result()
        {
            self.process.say(match result.outcome {
                Outcome::Win(Color::Black) => "end black",
                Outcome::Win(Color::White) => "end white",
                Outcome::Draw => "end draw",
            });
        }
    }

    pub(super) fn quit(self) {
        self.process.quit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_begins_in_the_rows_at_the_top() {
        let text = |mv: &str| contest_text(mv.parse().unwrap());
        assert_eq!(text("a2b3"), "ABBC");
        assert_eq!(text("f5f6"), "FEFF");
        for mv in Position::start(Variant::Standard).moves() {
            let text = contest_text(mv);
            assert_eq!(&text[1..2], "B", "Black's front row is the second from the top");
            assert_eq!(&text[3..], "C");
        }
    }

    #[test]
    fn every_move_is_read_back_and_nothing_else_is_read() {
        for index in 0..Variant::Standard.moves() {
            let mv = Variant::Standard.move_at(index).unwrap();
            assert_eq!(contest_move(&contest_text(mv)), Some(mv));
        }
        for text in ["", "ABC", "ABBCD", "abbc", "AGBC", "AB BC", "A2B3", "ÄBBC"] {
            assert_eq!(contest_move(text), None, "{text}");
        }
    }
}
