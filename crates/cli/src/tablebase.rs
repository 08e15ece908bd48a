use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use indicatif::{HumanBytes, HumanCount, MultiProgress, ProgressBar, ProgressStyle};
use serde_json::json;
use surakarta_game::{OLYMPIAD, Position, Variant};
use surakarta_run::picture;
use surakarta_run::selfplay::thread_pool;
use surakarta_tablebase::{Built, Class, Entry, Stats, Tables, Value, Watch, build};

use crate::start::Start;
use crate::{interrupt, output};

/// Solve endgames backwards, and ask their tables.
///
/// A class is written as the pieces of the side to move and of the other: 2-3. Play that never captures
/// counts as the win of the side with more pieces, or as a draw: what the rules with an end of
/// repetitions or quiet plies come to. A value other than the count is forced by a capture, and comes with
/// the plies that it takes.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  surakarta tablebase build --pieces 6
  surakarta tablebase probe --position "w5/6/2b3/3w2/6/b4b b 0 1"
  surakarta tablebase stats
  surakarta tablebase verify --share 0.1"#)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make the tables that are missing.
    ///
    /// Up to six pieces take well under a minute, up to seven a few. What was finished stays after Ctrl-C or
    /// a crash, and the same command goes on. The files are the same for any number of threads.
    Build {
        /// Up to how many pieces, both sides together.
        #[arg(long, value_parser = clap::value_parser!(u32).range(2..=8))]
        pieces: u32,
        /// The folder for them.
        #[arg(long, default_value = "tables")]
        out: PathBuf,
        /// The variant: standard, rural, sepur or sepur,diagonals=no.
        #[arg(long, default_value_t)]
        variant: Variant,
        /// Threads; 0 is one for each core.
        #[arg(long, default_value_t = 0)]
        threads: usize,
    },
    /// Look a position up, and those after its moves.
    ///
    /// Values are seen by the side to move. `in N` is the number of plies until the capture that forces
    /// the value.
    Probe {
        #[command(flatten)]
        start: Start,
        #[command(flatten)]
        tables: Folder,
        /// Print one JSON object: `position`, `class`, `value`, `plies` (null where the value is the
        /// count), `proven` (whether that holds under the olympiad rules with the position's counter),
        /// `moves`, the best first, and `line`, the best play up to the capture.
        #[arg(long)]
        json: bool,
    },
    /// Derive every entry from those of the positions after its moves.
    Verify {
        #[command(flatten)]
        tables: Folder,
        /// The variant: standard, rural, sepur or sepur,diagonals=no.
        #[arg(long, default_value_t)]
        variant: Variant,
        /// The share of the positions that are checked, drawn at random.
        #[arg(long, default_value_t = 1.0)]
        share: f64,
        /// Seed of the draw.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Print one JSON object a class.
        #[arg(long)]
        json: bool,
    },
    /// Wins, draws and losses by class, the longest forced lines, and where fewer pieces win.
    Stats {
        #[command(flatten)]
        tables: Folder,
        /// The variant: standard, rural, sepur or sepur,diagonals=no.
        #[arg(long, default_value_t)]
        variant: Variant,
        /// Print one JSON object a class.
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
pub(crate) struct Folder {
    /// The folder with the tables.
    #[arg(long = "tables", value_name = "DIR", default_value = "tables")]
    folder: PathBuf,
}

impl Folder {
    pub(crate) fn open(&self) -> Result<Tables> {
        Ok(Tables::open(&self.folder)?)
    }
}

pub(crate) fn main(arguments: Arguments, bars: &MultiProgress) -> Result<()> {
    match arguments.command {
        Command::Build { pieces, out, variant, threads } => {
            output::make_folder(&out)?;
            let progress = Progress { bar: bars.add(bar()?), stop: interrupt::watch()? };
            let built =
                thread_pool(threads)?.install(|| build(&out, variant, pieces, &progress))?;
            progress.bar.finish_and_clear();
            if built == Built::Stopped {
                bail!("stopped; the finished classes are kept, and the same command goes on");
            }
            let tables = Tables::open(&out)?;
            tracing::info!("{} in {}", HumanBytes(tables.bytes(variant)), out.display());
            Ok(())
        }
        Command::Probe { start, tables, json } => probe(&start.position()?, &tables.open()?, json),
        Command::Verify { tables, variant, share, seed, json } => {
            anyhow::ensure!(
                share > 0.0 && share <= 1.0,
                "--share is {share}; it must lie above 0 and be at most 1"
            );
            verify(&tables.open()?, variant, share, seed, json, bars)
        }
        Command::Stats { tables, variant, json } => {
            let tables = tables.open()?;
            let classes = classes(&tables, variant)?;
            let stats = classes.into_iter().map(|class| tables.stats(variant, class));
            let stats: Vec<Stats> = stats.collect::<Result<_, _>>()?;
            if json { stats.iter().try_for_each(print_json) } else { print_stats(&stats) }
        }
    }
}

fn bar() -> Result<ProgressBar> {
    let style = ProgressStyle::with_template("{bar:30} {percent} %, {elapsed}, {eta} left {msg}")?;
    Ok(ProgressBar::new(0).with_style(style))
}

struct Progress {
    bar: ProgressBar,
    stop: &'static AtomicBool,
}

impl Watch for Progress {
    fn begin(&self, all: u64) {
        self.bar.set_length(all);
    }

    fn solved(&self, class: Class, positions: usize, bytes: u64) {
        let (positions, bytes) = (HumanCount(positions as u64), HumanBytes(bytes));
        tracing::info!("{class}: {positions} positions, {bytes}");
    }

    fn advance(&self, parts: u64) {
        self.bar.inc(parts);
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Relaxed)
    }
}

fn classes(tables: &Tables, variant: Variant) -> Result<Vec<Class>> {
    let classes: Vec<Class> = tables.classes(variant).collect();
    if classes.is_empty() {
        bail!("{} has no tables of the variant {variant}", tables.folder().display());
    }
    Ok(classes)
}

fn probe(position: &Position, tables: &Tables, json: bool) -> Result<()> {
    let Some(entry) = tables.probe(position) else {
        if position.own() == 0 || position.enemy() == 0 {
            bail!("{position} is no endgame: one side has no pieces");
        }
        bail!(
            "no table in {} holds the position {position}; they go up to {} pieces of this variant",
            tables.folder().display(),
            tables.pieces(position.variant())
        );
    };
    let class = Class::of(position).expect("it is in a table");
    let proven = tables.prove(position, &OLYMPIAD).is_some();
    let moves = tables.moves(position);
    let line: Vec<String> = tables.line(position).iter().map(ToString::to_string).collect();
    if json {
        let moves: Vec<_> = moves
            .iter()
            .map(|(mv, entry)| json!({"move": mv.to_string(), "value": entry.value, "plies": entry.plies}))
            .collect();
        return output::json(&json!({
            "position": position.to_string(),
            "class": class.to_string(),
            "value": entry.value,
            "plies": entry.plies,
            "proven": proven,
            "moves": moves,
            "line": line,
        }));
    }
    let mut text = picture::board(position, None, false);
    let to_move = position.side_to_move();
    text += &format!("class {class}, {to_move} to move: {}\n", describe(entry));
    if !proven {
        text += "a game may end before: plies without a capture and repeated positions are not counted\n";
    }
    if !line.is_empty() {
        text += &format!("best play: {}\n", line.join(" "));
    }
    for (mv, entry) in moves {
        let x = if position.is_capture(mv) { "x" } else { "" };
        text += &format!("{}{x}{:<4} {}\n", mv.from(), mv.to(), describe(entry));
    }
    output::print(text)
}

fn describe(entry: Entry) -> String {
    match entry.plies {
        Some(plies) => format!("{} in {plies}", entry.value),
        None => format!("{} by count", entry.value),
    }
}

fn verify(
    tables: &Tables,
    variant: Variant,
    share: f64,
    seed: u64,
    json: bool,
    bars: &MultiProgress,
) -> Result<()> {
    let stop = interrupt::watch()?;
    let classes = classes(tables, variant)?;
    let bar = bars.add(bar()?);
    bar.set_length(
        classes.iter().map(|&class| surakarta_tablebase::positions(variant, class)).sum(),
    );
    let goes_on = |positions| {
        bar.inc(positions);
        !stop.load(Relaxed)
    };
    let (mut wrong, mut checked) = (0, 0);
    for class in classes {
        let check = tables.verify(variant, class, share, seed, &goes_on)?;
        if stop.load(Relaxed) {
            bail!("stopped in class {class}; those above are checked");
        }
        wrong += check.wrong;
        checked += check.checked;
        let fault = check.fault.map(|fault| {
            format!(
                "{} is {} and must be {}",
                fault.position,
                describe(fault.found),
                describe(fault.derived)
            )
        });
        bar.suspend(|| match (json, &fault) {
            (true, _) => output::json(&json!({
                "class": class.to_string(), "positions": check.positions, "checked": check.checked,
                "wrong": check.wrong, "first": fault,
            })),
            (false, None) => {
                output::line(format_args!("ok {class}: {} checked", HumanCount(check.checked)))
            }
            (false, Some(fault)) => output::line(format_args!(
                "wrong {class}: {} of {}, the first {fault}",
                HumanCount(check.wrong),
                HumanCount(check.checked)
            )),
        })?;
    }
    bar.finish_and_clear();
    if checked == 0 {
        bail!("--share {share} is so little that nothing was checked; give a larger share");
    }
    if wrong > 0 {
        bail!(
            "{wrong} entries in {} do not follow from the rules; delete the tables and build them again",
            tables.folder().display()
        );
    }
    Ok(())
}

const VALUES: [Value; 3] = [Value::Win, Value::Draw, Value::Loss];

fn print_json(stats: &Stats) -> Result<()> {
    let mut object = json!({
        "class": stats.class.to_string(),
        "positions": stats.positions,
        "bytes": stats.bytes,
        "counted": stats.class.counted(),
        "fewer_pieces_win": stats.upset().map(|position| position.to_string()),
    });
    for value in VALUES {
        object[value.name()] = json!({
            "positions": stats.count(value),
            "plies": stats.plies[value as usize],
            "longest": stats.longest[value as usize].map(|position| position.to_string()),
        });
    }
    output::json(&object)
}

fn print_stats(stats: &[Stats]) -> Result<()> {
    let mut text = String::from(
        "Seen by the side to move; the longest line to a forced capture in plies.\n\n",
    );
    text += "class      positions       win      draw      loss    longest win, draw, loss        bytes\n";
    for stats in stats {
        let share = |value| match stats.count(value) {
            0 => "–".to_owned(),
            n => format!("{:.3} %", 100.0 * n as f64 / stats.positions as f64),
        };
        let most = |value| match stats.most_plies(value) {
            0 => "–".to_owned(),
            plies => plies.to_string(),
        };
        let [win, draw, loss] = VALUES.map(share);
        let [wins, draws, losses] = VALUES.map(most);
        let [class, positions, bytes] = [
            stats.class.to_string(),
            HumanCount(stats.positions).to_string(),
            HumanBytes(stats.bytes).to_string(),
        ];
        text += &format!(
            "{class:<6}{positions:>14}{win:>10}{draw:>10}{loss:>10}{wins:>15}{draws:>6}{losses:>6}{bytes:>13}\n"
        );
    }
    text += "\nWhere the side with fewer pieces wins, the longest line of each class:\n";
    for stats in stats {
        if let Some(position) = stats.upset() {
            text += &format!("{:<6}{position}\n", stats.class.to_string());
        }
    }
    let longest = |stats: &&Stats| VALUES.iter().map(|&value| stats.most_plies(value)).max();
    if let Some(stats) = stats.iter().max_by_key(longest) {
        let value = VALUES.into_iter().max_by_key(|&value| stats.most_plies(value));
        let value = value.expect("there are values");
        if let Some(position) = stats.longest[value as usize] {
            text += &format!(
                "\nThe longest line of all, {} of the side to move in {} plies:\n{}",
                value,
                stats.most_plies(value),
                picture::board(&position, None, false)
            );
        }
    }
    output::print(text).context("the statistics")
}
