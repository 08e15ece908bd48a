use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use indicatif::MultiProgress;
use surakarta_game::{Ending, RuleSet, Variant};
use surakarta_record::shard::list_shards;
use surakarta_run::beginnings::beginnings;
use surakarta_run::config::Config;
use surakarta_run::players::Networks;
use surakarta_run::selfplay::{Games, Surroundings, thread_pool};
use surakarta_run::selfplay_log::SelfplayLog;
use surakarta_search::PlayerSpec;
use surakarta_selfplay::{Played, SelfplayConfig};

use crate::networks::NetworkArguments;
use crate::{interrupt, output};

/// Let any player play games against itself and write them to shards.
///
/// The shards are the same bytes for the same seed, whatever the number of threads and of
/// interruptions: the same command goes on where an earlier one was stopped.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta selfplay --player alphabeta:nodes=1000 --games 1000 --seed 1 --out games
  surakarta selfplay --player mcts:net=runs/quickstart/weights/best.safetensors,sims=200 --games 1000 --seed 1 --out games")]
pub(crate) struct Arguments {
    /// Who plays, as in "mcts:net=best.safetensors,sims=200" or "alphabeta:nodes=10000".
    #[arg(long)]
    player: PlayerSpec,
    /// How many games.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1 << 48))]
    games: u64,
    /// Number of the first game: with the same seed, ranges of games can be played on different
    /// machines.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1 << 48))]
    first: u64,
    /// Seed of all random choices.
    #[arg(long)]
    seed: u64,
    /// Threads; 0 is one for each core.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// The folder for the shards.
    #[arg(long)]
    out: PathBuf,
    /// A configuration whose variant, rules and sections [selfplay] and [search] are used; the
    /// defaults otherwise.
    #[arg(long)]
    config: Option<PathBuf>,
    /// A folder of shards: the share of games that [selfplay] fork_share says begins with the first moves
    /// of a game in it. A run takes those of the iteration before.
    #[arg(long, value_name = "DIR")]
    forks_of: Option<PathBuf>,
    #[command(flatten)]
    networks: NetworkArguments,
    /// The variant: standard, rural, sepur or sepur,diagonals=no [default: the configuration's, or
    /// standard].
    #[arg(long)]
    variant: Option<Variant>,
    /// The rules: olympiad, threefold, no-repeat, contest or agreement [default: the configuration's,
    /// or olympiad].
    #[arg(long)]
    rules: Option<RuleSet>,
    /// A folder for selfplay.csv, which gets a row of rates, batch fill and endings every ten seconds and at the
    /// end, and for tensorboard/ with the same.
    #[arg(long, value_name = "DIR")]
    log: Option<PathBuf>,
    /// Print one JSON object, with the shards and what was played this time, instead of the shards' names.
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: Arguments, bars: &MultiProgress) -> Result<()> {
    let config = arguments.config.as_deref().map(Config::load).transpose()?;
    let (run, selfplay, search) = match config {
        Some(config) => (Some(config.run), config.selfplay, config.search),
        None => Default::default(),
    };
    let tables = run.as_ref().and_then(|run| run.tables.clone());
    let of_run = run.map(|run| (run.variant, run.rules)).unwrap_or_default();
    let variant = arguments.variant.unwrap_or(of_run.0);
    let rules = arguments.rules.unwrap_or(of_run.1);
    let forks = forks(arguments.forks_of.as_deref(), &selfplay)?;
    let beginnings = beginnings(&selfplay, variant, rules, arguments.seed, &forks)?;
    let out = &arguments.out;
    let pool = thread_pool(arguments.threads)?;
    output::make_folder(out)?;
    let networks = Networks::of(&arguments.networks.place()?, variant).under(rules);
    let tables =
        tables.map(|folder| networks.tables(&folder).context("[run] tables")).transpose()?;
    let stop = interrupt::watch()?;
    let games = Games {
        variant,
        rules,
        seed: arguments.seed,
        iteration: 0,
        numbers: arguments.first..arguments.first + arguments.games,
        tables,
        beginnings,
    };
    let stop = || stop.load(std::sync::atomic::Ordering::Relaxed);
    let log = arguments.log.as_deref().map(|folder| {
        output::make_folder(folder)?;
        SelfplayLog::open(folder, games.iteration, arguments.first)
    });
    let log = log.transpose()?;
    let watch = |progress: &_| log.iter().for_each(|log| log.add(progress));
    let label = "self-play";
    let around = Surroundings { pool: &pool, stop: &stop, bars, label, watch: &watch };
    let played = games.play(&arguments.player, &selfplay, &search, &networks, out, around)?;
    if arguments.json {
        output::json(&summary(&played))?;
    } else {
        for shard in &played.shards {
            output::line(shard.display())?;
        }
    }
    if !played.complete {
        tracing::warn!("stopped; the same command plays the other games");
    }
    Ok(())
}

/// What came of it, as JSON.
fn summary(played: &Played) -> serde_json::Value {
    let Played { shards, complete, progress } = played;
    let totals = &progress.totals;
    let endings = Ending::ALL.iter().zip(totals.endings).filter(|(_, games)| *games > 0);
    let endings: BTreeMap<_, _> = endings.map(|(ending, games)| (ending.name(), games)).collect();
    let [black_wins, draws, white_wins] = totals.results;
    serde_json::json!({
        "shards": shards,
        "complete": complete,
        "games": totals.games,
        "plies": totals.plies,
        "full_searches": totals.full_searches,
        "simulations": totals.simulations,
        "evaluations": totals.evaluations,
        "batch_fill": totals.batch_fill,
        "saved_share": totals.saved(),
        "seconds": progress.elapsed.as_secs_f64(),
        "threads": progress.threads,
        "busy": progress.busy(),
        "black_wins": black_wins,
        "draws": draws,
        "white_wins": white_wins,
        "endings": endings,
        "resignations": totals.resignations,
    })
}

/// The shards that games fork off from.
fn forks(folder: Option<&Path>, config: &SelfplayConfig) -> Result<Vec<PathBuf>> {
    let forking = config.fork_share > 0.0;
    let Some(folder) = folder else {
        if forking {
            bail!(
                "[selfplay] fork_share is {}, and there are no games to fork off from; name their folder with --forks-of DIR",
                config.fork_share
            );
        }
        return Ok(Vec::new());
    };
    if !forking {
        bail!(
            "--forks-of: no game forks off; set fork_share in [selfplay] of the file given as --config"
        );
    }
    let shards = list_shards(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    if shards.is_empty() {
        bail!("--forks-of {}: there is no shard; name a folder of shards", folder.display());
    }
    Ok(shards)
}
