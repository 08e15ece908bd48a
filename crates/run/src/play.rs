//! A person plays against a player at the terminal.

use std::io::{BufRead, Write};

use anyhow::{Result, bail};
use surakarta_game::{Color, Ending, Game, Move, Outcome, RuleSet};
use surakarta_search::{Choice, Limits, Player};

use crate::picture;

const HELP: &str = "\
  a2a3     move the piece on a2 to a3 (captures too: start and target)
  moves    list your moves
  hint     what the opponent would play in your place
  back     take your last move back
  board    draw the board again
  offer    offer to end the game and count the pieces
  resign   give up
  quit     leave without a result
";

/// A program offers the end once the count has promised it as much for this many of its moves.
const OFFERS_AFTER: u32 = 10;

/// A game between a person and a player.
pub struct Session<'a> {
    game: Game,
    person: Color,
    opponent: &'a mut dyn Player,
    limits: Limits,
    content: u32,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// The game is over.
    Finished,
    /// The person left it unfinished.
    Quit,
}

impl<'a> Session<'a> {
    /// A game under these rules; the person has the given colour. `seed` is the opponent's.
    pub fn new(
        rules: RuleSet,
        person: Color,
        opponent: &'a mut dyn Player,
        limits: Limits,
        seed: u64,
    ) -> Session<'a> {
        opponent.new_game(seed);
        Session { game: Game::new(rules), person, opponent, limits, content: 0 }
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
        let (sign, other) = if self.person == Color::Black { ('x', 'o') } else { ('o', 'x') };
        writeln!(
            output,
            "You are {} ({sign}); your opponent is {} ({other}). `help` lists what you can type.\n",
            self.person,
            self.person.other()
        )?;
        self.draw(output)?;
        while self.game.result().is_none() {
            if self.game.side_to_move() == self.person {
                let Some(line) = ask(input, output)? else { return Ok(Leave::Quit) };
                if line == "quit" {
                    return Ok(Leave::Quit);
                }
                self.obey(&line, output)?;
            } else {
                self.reply(input, output)?;
            }
        }
        writeln!(output, "{}", self.verdict())?;
        Ok(Leave::Finished)
    }

    fn obey(&mut self, line: &str, output: &mut dyn Write) -> Result<()> {
        match line {
            "" => {}
            "help" | "?" => write!(output, "{HELP}")?,
            "board" => self.draw(output)?,
            "moves" => {
                let moves = self.game.legal_moves();
                let texts: Vec<_> = moves.iter().map(|&mv| self.name(mv)).collect();
                writeln!(output, "{}", texts.join(" "))?;
            }
            "hint" => {
                let choice = self.think()?;
                writeln!(output, "{}{}", self.name(choice.mv), describe(&choice))?;
            }
            "back" => {
                if self.take_back() {
                    self.draw(output)?;
                } else {
                    writeln!(output, "There is no move of yours to take back.")?;
                }
            }
            "resign" => self.game.forfeit(self.person, Ending::Resignation),
            "offer" => {
                if self.accepts()? {
                    writeln!(output, "Your opponent accepts.")?;
                    self.agree();
                } else {
                    writeln!(output, "Your opponent plays on.")?;
                }
            }
            text => match text.parse::<Move>() {
                Ok(mv) => match self.game.play(mv) {
                    Ok(()) => self.draw(output)?,
                    Err(error) => writeln!(output, "{error}; `moves` lists what is possible.")?,
                },
                Err(error) => writeln!(output, "{error}; `help` lists what else you can type.")?,
            },
        }
        Ok(())
    }

    /// The opponent moves, and perhaps offers the end of the game first.
    fn reply(&mut self, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<()> {
        let choice = self.think()?;
        let opponent = self.person.other();
        if self.game.rules().by_agreement {
            let count = self.count_for(opponent);
            self.content =
                if choice.value.is_some_and(|v| v <= count) { self.content + 1 } else { 0 };
            if self.content >= OFFERS_AFTER {
                self.content = 0;
                writeln!(
                    output,
                    "Your opponent offers to end the game and count. Accept? (yes/no)"
                )?;
                if ask(input, output)?.is_some_and(|line| line.starts_with('y')) {
                    self.agree();
                    return Ok(());
                }
            }
        }
        writeln!(output, "{} plays {}{}\n", opponent, self.name(choice.mv), describe(&choice))?;
        if self.game.play(choice.mv).is_err() {
            bail!("the opponent chose the illegal move {}", choice.mv);
        }
        self.draw(output)
    }

    fn think(&mut self) -> Result<Choice> {
        Ok(self.opponent.choose(&self.game, &self.limits)?)
    }

    /// A program accepts when it expects no more than the count gives it.
    fn accepts(&mut self) -> Result<bool> {
        let value = self.think()?.value;
        // The person is to move, so the value is theirs.
        let count = self.count_for(self.person.other());
        Ok(value.is_some_and(|value| -value <= count))
    }

    fn count_for(&self, color: Color) -> f32 {
        f32::from(Outcome::by_count(self.game.position()).value_for(color))
    }

    fn agree(&mut self) {
        self.game.end(Ending::Agreement, Outcome::by_count(self.game.position()));
    }

    /// Takes back to the person's last turn.
    fn take_back(&mut self) -> bool {
        let first = usize::from(self.person != self.game.start().side_to_move());
        if self.game.moves().len() < first + 2 {
            return false;
        }
        self.game.undo();
        self.game.undo();
        true
    }

    fn name(&self, mv: Move) -> String {
        let x = if self.game.position().is_capture(mv) { "x" } else { "" };
        format!("{}{x}{}", mv.from(), mv.to())
    }

    fn draw(&self, output: &mut dyn Write) -> Result<()> {
        let last = self.game.moves().last().copied();
        write!(
            output,
            "{}",
            picture::board(self.game.position(), last, self.person == Color::White)
        )?;
        let position = self.game.position();
        let [black, white] = [Color::Black, Color::White].map(|color| position.count(color));
        writeln!(
            output,
            "black {black}, white {white}; move {}, {} plies without a capture\n",
            position.ply() / 2 + 1,
            position.quiet_plies()
        )?;
        Ok(())
    }

    fn verdict(&self) -> String {
        let Some(result) = self.game.result() else { return String::new() };
        let position = self.game.position();
        let count = format!("{} : {}", position.count(Color::Black), position.count(Color::White));
        match result.outcome {
            Outcome::Draw => format!("A draw by {} ({count}).", result.ending),
            Outcome::Win(color) => {
                let who = if color == self.person { "You win" } else { "Your opponent wins" };
                format!("{who} as {color} by {} ({count}).", result.ending)
            }
        }
    }
}

fn describe(choice: &Choice) -> String {
    let line: Vec<_> = choice.line.iter().skip(1).take(4).map(ToString::to_string).collect();
    let value = choice.value.map(|value| format!("value {value:+.2}"));
    let line = (!line.is_empty()).then(|| format!("then {}", line.join(" ")));
    let parts: Vec<_> = value.into_iter().chain(line).collect();
    if parts.is_empty() { String::new() } else { format!("  ({})", parts.join(", ")) }
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
