use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use surakarta_arena::{BookOptions, MOST_OPENING_PLIES, balanced_book, quantity};
use surakarta_game::{RuleSet, Variant};
use surakarta_run::directory::write_file;
use surakarta_run::players::Networks;
use surakarta_run::selfplay::thread_pool;
use surakarta_search::PlayerSpec;

use crate::interrupt;

/// Make a book of balanced openings.
///
/// Random openings are judged by a player, and those kept that it finds about even; no two lead to
/// positions that a symmetry of the board or the exchange of colours turns into each other. Matches
/// and tournaments take the file with --openings or the key openings.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta book --count 500 --out book.txt
  surakarta book --count 200 --plies 10 --judge mcts:net=best.safetensors,sims=800 --balance 0.05 --out book.txt")]
pub(crate) struct Arguments {
    /// How many openings.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// The file for them.
    #[arg(long)]
    out: PathBuf,
    /// Random plies of each opening.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(..=i64::from(MOST_OPENING_PLIES)))]
    plies: u32,
    /// Who judges: a player that gives evaluations.
    #[arg(long, default_value = "alphabeta:nodes=20000")]
    judge: PlayerSpec,
    /// The furthest from 0, on a scale from -1 to 1, that an opening's evaluation may be.
    #[arg(long, default_value_t = 0.1)]
    balance: f32,
    /// Seed of the openings.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The variant: standard, rural, sepur or sepur,diagonals=no.
    #[arg(long, default_value_t)]
    variant: Variant,
    /// The rules: olympiad, threefold, no-repeat, contest or agreement.
    #[arg(long, default_value_t)]
    rules: RuleSet,
    /// Threads; 0 is one for each core.
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

pub(crate) fn main(arguments: Arguments, bars: &MultiProgress) -> Result<()> {
    let Arguments { count, out, plies, judge, balance, seed, variant, rules, threads } = arguments;
    anyhow::ensure!(
        (0.0..=1.0).contains(&balance),
        "--balance is {balance}; it must lie between 0 and 1"
    );
    let stop = interrupt::watch()?;
    let networks = Networks::new(variant).under(rules).stopped_by(stop);
    networks.player(&judge).with_context(|| format!("--judge {judge}"))?;
    let count = count as usize;
    let options = BookOptions { variant, rules, seed, plies, count, balance };
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} openings, {msg}, {eta}")?;
    let bar = bars.add(ProgressBar::new(count as u64).with_style(style));
    let progress = |kept: usize, judged: usize| {
        bar.set_position(kept as u64);
        bar.set_message(format!("{judged} judged"));
        !stop.load(std::sync::atomic::Ordering::Relaxed)
    };
    let factory = |_| networks.player(&judge).map_err(Into::into);
    let book = thread_pool(threads)?.install(|| balanced_book(&options, &factory, &progress))?;
    bar.finish_and_clear();
    if book.openings.len() < count {
        anyhow::bail!("stopped before the book was full; nothing was written");
    }
    let mut text = format!(
        "# {} of {}, {variant}, {rules}, seed {seed}: of {} judged by {judge}, those within {balance}\n",
        quantity(count, "opening"),
        quantity(plies, "random ply"),
        book.judged
    );
    for opening in &book.openings {
        let _ = writeln!(text, "{opening}");
    }
    write_file(&out, text.as_bytes())?;
    tracing::info!("{count} of {} openings judged are in {}", book.judged, out.display());
    Ok(())
}
