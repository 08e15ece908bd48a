//! A person plays against a player at the terminal.

use std::io::{BufRead, Write};

use anyhow::{Result, bail};
use surakarta_arena::{quantity, signed};
use surakarta_game::{Color, Ending, Game, IllegalMove, Move, Outcome};
use surakarta_search::{Choice, Limits, Player};
use surakarta_tablebase::{Tables, Value};

use crate::picture;

const HELP: &str = "\
  a2a3     move the piece on a2 to a3 (captures too: start and target)
  moves    list your moves; those with an x capture
  hint     ask what your opponent would play in your place
  back     take your last move back
  board    draw the board again
  offer    offer to end the game and count the pieces
  resign   give up
  quit     leave without a result
";

/// A program offers the end once it has expected no more than the count for this many of its moves.
const OFFERS_AFTER: u32 = 10;

/// A game between a person and a player.
pub struct Session<'a> {
    game: Game,
    /// Moves that were played before the session.
    begun: usize,
    person: Color,
    opponent: &'a mut dyn Player,
    limits: Limits,
    /// After each of the opponent's moves: for how many in a row, since its last offer, it has
    /// expected no more than the count would give it.
    content: Vec<u32>,
    /// Endgame tables whose word is shown below the board.
    tables: Option<&'a Tables>,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// The game is over.
    Finished,
    /// The person left it unfinished.
    Quit,
}

/// Whether the session goes on after a line.
enum Next {
    Ask,
    Quit,
}

impl<'a> Session<'a> {
    /// The person has the given colour in a game that may have begun; what was played before cannot
    /// be taken back. `seed` is the opponent's.
    pub fn new(
        game: Game,
        person: Color,
        opponent: &'a mut dyn Player,
        limits: Limits,
        seed: u64,
    ) -> Session<'a> {
        opponent.new_game(seed);
        let begun = game.moves().len();
        Session { game, begun, person, opponent, limits, content: Vec::new(), tables: None }
    }

    /// The same session, which says what endgame tables know.
    #[must_use]
    pub fn with_tables(self, tables: Option<&'a Tables>) -> Session<'a> {
        Session { tables, ..self }
    }

    /// The game as it stands.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Reads commands and moves until the game is over, the person quits or the input ends.
    ///
    /// # Errors
    /// If the opponent fails, or input or output do.
    pub fn play(&mut self, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<Leave> {
        let opponent = self.person.other();
        writeln!(
            output,
            "You are {} ({}); your opponent is {opponent} ({}). `help` lists what you can type.\n",
            self.person,
            picture::sign(self.person),
            picture::sign(opponent),
        )?;
        if self.game.side_to_move() == self.person {
            self.draw(output)?;
        }
        while self.game.result().is_none() {
            let next = if self.game.side_to_move() == self.person {
                match ask(input, output)? {
                    Some(line) => self.obey(&line, output)?,
                    None => Next::Quit,
                }
            } else {
                self.reply(input, output)?
            };
            if matches!(next, Next::Quit) {
                return Ok(Leave::Quit);
            }
        }
        writeln!(output, "{}", self.verdict())?;
        Ok(Leave::Finished)
    }

    fn obey(&mut self, line: &str, output: &mut dyn Write) -> Result<Next> {
        match line {
            "" => {}
            "help" | "?" => write!(output, "{HELP}")?,
            "board" => self.draw(output)?,
            "moves" => writeln!(output, "{}", self.names(self.game.legal_moves()))?,
            "hint" => {
                let choice = self.think()?;
                let name = self.name(choice.mv);
                let found = describe(&choice, "you");
                writeln!(output, "Your opponent would play {name} in your place{found}.")?;
            }
            "back" if self.take_back() => self.draw(output)?,
            "back" => writeln!(output, "There is no move of yours to take back.")?,
            "resign" => self.game.forfeit(self.person, Ending::Resignation),
            "offer" => self.answer_offer(output)?,
            "quit" => return Ok(Next::Quit),
            text => match text.parse() {
                Ok(mv) => self.try_move(mv, output)?,
                Err(error) => writeln!(output, "{error}; `help` lists what else you can type.")?,
            },
        }
        Ok(Next::Ask)
    }

    fn try_move(&mut self, mv: Move, output: &mut dyn Write) -> Result<()> {
        let Err(error) = self.game.play(mv) else {
            // The answer, if there is one, will show the board.
            return if self.game.result().is_some() { self.draw(output) } else { Ok(()) };
        };
        if !matches!(error, IllegalMove::Illegal(..)) {
            writeln!(output, "{error}; `moves` lists what is possible.")?;
            return Ok(());
        }
        if self.game.position().color_at(mv.from()) != Some(self.person) {
            writeln!(output, "There is no piece of yours on {}.", mv.from())?;
            return Ok(());
        }
        let mut moves = self.game.legal_moves();
        moves.retain(|other| other.from() == mv.from());
        let can = if moves.is_empty() {
            "it has no move at all".to_owned()
        } else {
            format!("its moves are {}", self.names(moves))
        };
        writeln!(output, "Your piece on {} cannot go to {}; {can}.", mv.from(), mv.to())?;
        Ok(())
    }

    /// The opponent moves, and perhaps offers the end of the game first.
    fn reply(&mut self, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<Next> {
        let choice = self.think()?;
        let opponent = self.person.other();
        let count = self.count_for(opponent);
        let content = match choice.value {
            Some(value) if value <= count => self.content.last().unwrap_or(&0) + 1,
            _ => 0,
        };
        let offers = self.game.rules().by_agreement && content >= OFFERS_AFTER;
        if offers {
            writeln!(output, "Your opponent offers to end the game and count the pieces.")?;
            loop {
                writeln!(output, "Do you accept (yes or no)?")?;
                match ask(input, output)?.as_deref() {
                    Some("yes" | "y") => {
                        self.agree();
                        return Ok(Next::Ask);
                    }
                    Some("no" | "n") => break,
                    Some("quit") | None => return Ok(Next::Quit),
                    Some(_) => {}
                }
            }
        }
        let name = self.name(choice.mv);
        writeln!(output, "{opponent} plays {name}{}\n", describe(&choice, "it"))?;
        if self.game.play(choice.mv).is_err() {
            bail!("the opponent chose the illegal move {}", choice.mv);
        }
        self.content.push(if offers { 0 } else { content });
        self.draw(output)?;
        Ok(Next::Ask)
    }

    fn think(&mut self) -> Result<Choice> {
        Ok(self.opponent.choose(&self.game, &self.limits)?)
    }

    /// A program accepts when it expects no more than the count gives it.
    fn answer_offer(&mut self, output: &mut dyn Write) -> Result<()> {
        // The person is to move, so the value is theirs.
        let expects = self.think()?.value.map(|value| -value);
        let count = self.count_for(self.person.other());
        match expects {
            Some(value) if value <= count => {
                writeln!(output, "Your opponent accepts.")?;
                self.agree();
            }
            Some(_) => writeln!(output, "Your opponent expects more and plays on.")?,
            None => writeln!(output, "Your opponent cannot judge a position and plays on.")?,
        }
        Ok(())
    }

    fn count_for(&self, color: Color) -> f32 {
        f32::from(Outcome::by_count(self.game.position()).value_for(color))
    }

    fn agree(&mut self) {
        self.game.end(Ending::Agreement, Outcome::by_count(self.game.position()));
    }

    /// Takes back to the person's last turn: their move and the answer to it.
    fn take_back(&mut self) -> bool {
        // The opponent's first move, if it began, answers none.
        if self.game.moves().len() < self.begun + 2 {
            return false;
        }
        self.game.undo();
        self.game.undo();
        self.content.pop();
        true
    }

    fn name(&self, mv: Move) -> String {
        let x = if self.game.position().is_capture(mv) { "x" } else { "" };
        format!("{}{x}{}", mv.from(), mv.to())
    }

    fn names(&self, moves: Vec<Move>) -> String {
        moves.into_iter().map(|mv| self.name(mv)).collect::<Vec<_>>().join(" ")
    }

    fn draw(&self, output: &mut dyn Write) -> Result<()> {
        let position = self.game.position();
        let last = self.game.moves().last().copied();
        let board = picture::board(position, last, self.person == Color::White);
        let [black, white] = [Color::Black, Color::White].map(|color| position.count(color));
        let quiet = match position.quiet_plies() {
            0 => String::new(),
            plies => format!("; {} without a capture", quantity(plies, "ply")),
        };
        let number = position.ply() / 2 + 1;
        writeln!(output, "{board}black {black}, white {white}; move {number}{quiet}\n")?;
        if self.game.result().is_none()
            && let Some(entry) = self.tables.and_then(|tables| tables.probe(position))
        {
            let side = position.side_to_move();
            let what = match entry.value {
                Value::Win => format!("{side} wins"),
                Value::Loss => format!("{} wins", side.other()),
                Value::Draw => "a draw".to_owned(),
            };
            let proven = self.tables.and_then(|t| t.prove(position, self.game.rules())).is_some();
            let unless = if proven { "" } else { ", unless the game ends before" };
            let how = match entry.plies {
                Some(plies) => {
                    format!("by a capture within {}", quantity(usize::from(plies), "ply"))
                }
                None => "by count".to_owned(),
            };
            writeln!(output, "Endgame tables: {what} {how}{unless}.\n")?;
        }
        Ok(())
    }

    fn verdict(&self) -> String {
        let Some(result) = self.game.result() else { return String::new() };
        let position = self.game.position();
        let [black, white] = [Color::Black, Color::White].map(|color| position.count(color));
        let count = format!("black {black}, white {white}");
        match result.outcome {
            Outcome::Draw => format!("A draw by {} ({count}).", result.ending),
            Outcome::Win(color) => {
                let who = if color == self.person { "You win" } else { "Your opponent wins" };
                format!("{who} as {color} by {} ({count}).", result.ending)
            }
        }
    }
}

/// What a search found out, seen by the side that it chose for.
fn describe(choice: &Choice, whom: &str) -> String {
    let line: Vec<_> = choice.line.iter().skip(1).take(4).map(ToString::to_string).collect();
    let value = choice.value.map(|value| format!("worth {} to {whom}", signed(value.into(), 2)));
    let line = (!line.is_empty()).then(|| format!("then {}", line.join(" ")));
    let parts: Vec<_> = value.into_iter().chain(line).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// Asks for a line; `None` at the end of the input.
fn ask(input: &mut dyn BufRead, output: &mut dyn Write) -> Result<Option<String>> {
    write!(output, "> ")?;
    output.flush()?;
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        writeln!(output)?;
        return Ok(None);
    }
    Ok(Some(line.trim().to_lowercase()))
}
