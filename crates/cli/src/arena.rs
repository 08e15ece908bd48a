use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use surakarta_arena::{Format, Scoring, quantity, write_pgn};
use surakarta_run::arena::{self, ArenaConfig, Outcome, Place};
use surakarta_run::directory::write_file;
use surakarta_search::PlayerSpec;

use crate::networks::NetworkArguments;
use crate::tables::Form;
use crate::{interrupt, output};

/// Play a tournament of any number of players and print their Elo table.
///
/// The players meet in pairs of games with colours swapped, each pair from an opening of its own. The
/// games are kept in a journal; the same command goes on with a tournament that was interrupted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta arena configs/arena.toml
  surakarta arena configs/arena.toml --csv > table.csv
  surakarta arena configs/reference.toml --challenger mcts:net=best.safetensors,sims=400")]
pub(crate) struct Arguments {
    /// The configuration; configs/arena.toml explains every key.
    config: PathBuf,
    /// A player to place among those of the configuration: it meets each of them, and they do not
    /// meet each other. May be given several times.
    #[arg(long, value_name = "PLAYER")]
    challenger: Vec<PlayerSpec>,
    /// Games at a time, instead of the configuration's.
    #[arg(long)]
    threads: Option<usize>,
    /// Where the games are kept, one a line; <configuration>.jsonl in the working directory if not
    /// given.
    #[arg(long)]
    journal: Option<PathBuf>,
    #[command(flatten)]
    keeping: Keeping,
}

/// What is kept and printed of a tournament.
#[derive(clap::Args)]
pub(crate) struct Keeping {
    /// Write the games as PGN, too, when all are played.
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Write every move and result as it happens, as JSON Lines: another program can follow.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    #[command(flatten)]
    networks: NetworkArguments,
    #[command(flatten)]
    form: Form,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let mut config = ArenaConfig::load(&arguments.config)?;
    let journal = arguments.journal.unwrap_or_else(|| {
        // The configuration's name with another ending; the working directory, whatever its folder.
        arguments.config.with_extension("jsonl").file_name().unwrap_or_default().into()
    });
    if !arguments.challenger.is_empty() {
        config.format = Format::Gauntlet(arguments.challenger.len());
        let challengers = arguments.challenger.into_iter().map(Into::into);
        config.players = challengers.chain(config.players).collect();
    }
    config.threads = arguments.threads.unwrap_or(config.threads);
    arguments.keeping.play(&config, Some(&arguments.config), Some(&journal))
}

impl Keeping {
    /// Plays what is left of a tournament and prints its table. `config_path` is the file that the
    /// configuration was read from.
    pub(crate) fn play(
        &self,
        config: &ArenaConfig,
        config_path: Option<&Path>,
        journal: Option<&Path>,
    ) -> Result<()> {
        let (events, pgn) = (self.events.as_deref(), self.pgn.as_deref());
        let inputs = [("the configuration", config_path), ("openings", config.openings.as_deref())];
        let outputs = [("--journal", journal), ("--events", events), ("--pgn", pgn)];
        output::check_files(&inputs, &outputs)?;
        let stop = interrupt::watch()?;
        let networks = self.networks.place()?;
        let outcome = arena::play(config, &Place { journal, events, networks }, stop)?;
        self.print(config, &outcome)?;
        if let Some(path) = pgn {
            let mut bytes = Vec::new();
            write_pgn(&outcome.played.games, config.rules, &mut bytes)?;
            write_file(path, &bytes)?;
        }
        Ok(())
    }

    fn print(&self, config: &ArenaConfig, outcome: &Outcome) -> Result<()> {
        let points: serde_json::Map<String, serde_json::Value> =
            outcome.points.iter().map(|(name, points)| (name.clone(), (*points).into())).collect();
        let mut extra = serde_json::Map::new();
        extra.insert("scoring".to_owned(), config.scoring.to_string().into());
        extra.insert("points".to_owned(), points.into());
        extra.insert("complete".to_owned(), outcome.played.complete.into());
        let verdict = outcome.played.decision.as_ref().map(|decision| decision.verdict.clone());
        extra.insert("verdict".to_owned(), verdict.into());
        let text = || outcome.standings.table() + &said(config, outcome);
        self.form.print(&outcome.standings, text, extra)
    }
}

/// What people see below the table.
fn said(config: &ArenaConfig, outcome: &Outcome) -> String {
    let mut text = String::new();
    if config.scoring != Scoring::Games {
        let points = outcome.points.iter().map(|(name, points)| format!("{name} {points}"));
        let points: Vec<String> = points.collect();
        let _ = writeln!(text, "points by {}: {}", config.scoring, points.join(", "));
    }
    // A test is told with the two players' figures.
    if let Some(decision) = outcome.played.decision.as_ref().filter(|_| config.sprt.is_none()) {
        let _ = writeln!(text, "{}, after {}", decision.verdict, quantity(decision.games, "game"));
    }
    text
}
