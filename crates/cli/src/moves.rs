use std::io::BufRead;

use anyhow::{Context, Result};
use surakarta_game::Position;

use crate::output;
use crate::start::Start;

/// List the legal moves of a position.
///
/// No ending rule is applied. With --json each position gives one line: an object with `position`,
/// `moves`, and `captures`, the part of the moves that captures.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta moves --position "bb3b/1b2w1/6/b5/b3w1/w5 w 0 1"
  surakarta moves --variant sepur
  surakarta moves --stdin --json < positions.txt"#)]
pub(crate) struct Arguments {
    #[command(flatten)]
    start: Start,
    /// Read positions from standard input, one a line.
    #[arg(long, conflicts_with = "position")]
    stdin: bool,
    /// Print JSON, one object a line.
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    if !arguments.stdin {
        return show(&arguments.start.position()?, arguments.json);
    }
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let place = || format!("line {} of standard input", number + 1);
        let line = line.with_context(place)?;
        if line.trim().is_empty() {
            continue;
        }
        let position = arguments.start.read(&line).with_context(place)?;
        show(&position, arguments.json)?;
    }
    Ok(())
}

fn show(position: &Position, json: bool) -> Result<()> {
    let texts = |moves: Vec<_>| moves.iter().map(ToString::to_string).collect::<Vec<String>>();
    if json {
        return output::json(&serde_json::json!({
            "position": position.to_string(),
            "moves": texts(position.moves()),
            "captures": texts(position.captures()),
        }));
    }
    let mut words = Vec::new();
    position.for_each_move(|mv| {
        let x = if position.is_capture(mv) { "x" } else { "" };
        words.push(format!("{}{x}{}", mv.from(), mv.to()));
    });
    output::line(words.join(" "))
}
