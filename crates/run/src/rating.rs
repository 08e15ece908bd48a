//! Rates the checkpoints of a run against fixed opponents, on one scale.

use std::path::PathBuf;

use anyhow::{Context, Result};
use rayon::ThreadPool;
use std::sync::atomic::AtomicBool;
use surakarta_arena::{
    ArenaGame, OpeningSet, ProgressLine, Results, Session, Standings, StandingsOptions, Tournament,
    fixed,
};
use surakarta_search::NetRef;

use crate::config::{Config, RunConfig};
use crate::directory::{RunDirectory, write_file};
use crate::players::Networks;

/// The rating of one checkpoint: its games with every opponent, and with the checkpoint rated before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    iteration: u32,
    pairs: u32,
}

impl Event {
    fn path(self, directory: &RunDirectory) -> PathBuf {
        let name = format!("iteration-{:04}-pairs-{:04}.jsonl", self.iteration, self.pairs);
        directory.root().join("ratings").join(name)
    }

    /// Those whose games exist, at least in part, and this one.
    fn up_to(directory: &RunDirectory, event: Event) -> Result<Vec<Event>> {
        let mut events = vec![event];
        for entry in std::fs::read_dir(directory.root().join("ratings"))? {
            let name = entry?.file_name();
            let parsed = name.to_str().and_then(|name| {
                let rest = name.strip_prefix("iteration-")?.strip_suffix(".jsonl")?;
                let (iteration, pairs) = rest.split_once("-pairs-")?;
                Some(Event { iteration: iteration.parse().ok()?, pairs: pairs.parse().ok()? })
            });
            events.extend(parsed);
        }
        events.sort();
        events.dedup();
        events.retain(|other| *other <= event);
        Ok(events)
    }
}

/// The name of a checkpoint in tables.
pub(crate) fn checkpoint_name(iteration: u32) -> String {
    format!("iteration {iteration}")
}

/// Whether a checkpoint is to be rated, and with how many pairs.
fn due(config: &Config, iteration: u32) -> Option<Event> {
    let rating = &config.rating;
    if rating.every == 0 {
        None
    } else if iteration == config.run.iterations {
        Some(Event { iteration, pairs: rating.final_pairs })
    } else if iteration.is_multiple_of(rating.every) {
        Some(Event { iteration, pairs: rating.pairs })
    } else {
        None
    }
}

/// Rates the checkpoint of an iteration if that is due, writes `elo.csv` and `elo.json`, and copies the highest rated
/// network to `best`. `None` if it is not due or was stopped.
///
/// # Errors
/// If a player cannot be made or a file cannot be written.
pub(crate) fn rate_if_due(
    config: &Config,
    directory: &RunDirectory,
    iteration: u32,
    pool: &ThreadPool,
    stop: &AtomicBool,
) -> Result<Option<Standings>> {
    let Some(event) = due(config, iteration) else { return Ok(None) };
    let mut names: Vec<String> = config.rating.opponents.iter().map(ToString::to_string).collect();
    let mut ratings = Vec::new();
    let mut rated = Vec::new();
    for event in Event::up_to(directory, event)? {
        let before = rated.iter().copied().rfind(|&earlier| earlier < event.iteration);
        let Some(played) = play(config, directory, event, before, pool, stop)? else {
            return Ok(None);
        };
        ratings.push(played);
        if !rated.contains(&event.iteration) {
            names.push(checkpoint_name(event.iteration));
            rated.push(event.iteration);
        }
    }
    let mut results = Results::of_players(&names);
    for games in &ratings {
        // One by one: pairs of different ratings are different pairs.
        results.add(games)?;
    }
    let first = config.rating.opponents.iter().take(1);
    let anchors = first.map(|spec| (spec.to_string(), config.rating.anchor)).collect();
    let options =
        StandingsOptions { first_advantage: true, anchors, ..StandingsOptions::default() };
    let standings = Standings::of_results(&results, &options)?;
    write_elo(directory, &rated, &standings)?;
    let best = standings
        .players
        .iter()
        .find_map(|row| rated.iter().find(|&&iteration| checkpoint_name(iteration) == row.name));
    if let Some(&best) = best {
        let path = directory.weights(best);
        let bytes =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        write_file(&directory.best(), &bytes)?;
    }
    Ok(Some(standings))
}

fn play(
    config: &Config,
    directory: &RunDirectory,
    event: Event,
    before: Option<u32>,
    pool: &ThreadPool,
    stop: &AtomicBool,
) -> Result<Option<Vec<ArenaGame>>> {
    let rating = &config.rating;
    let mut names: Vec<String> = rating.opponents.iter().map(ToString::to_string).collect();
    let mut specs = rating.opponents.clone();
    for iteration in before.into_iter().chain([event.iteration]) {
        names.push(checkpoint_name(iteration));
        specs.push(rating.player.with_net(NetRef::Path(directory.weights(iteration))));
    }
    let last = names.len() - 1;
    let mut pairings: Vec<[usize; 2]> = (0..last).map(|other| [last, other]).collect();
    if before.is_none() {
        let among = (0..last).flat_map(|a| (a + 1..last).map(move |b| [a, b]));
        pairings.extend(among);
    }
    let seed = config.run.seed ^ u64::from(event.iteration) << 32;
    let RunConfig { variant, rules, .. } = config.run;
    let pairs = event.pairs as usize;
    let openings = OpeningSet::random(variant, rules, seed, rating.opening_plies, pairs)?;
    let tournament = Tournament::new(&names, pairings, openings, rules, seed)?;
    let place = config.run.network_place();
    let networks = Networks::of(&place, variant).under(rules).stopped_by(stop);
    let factory = |n: usize| networks.player(&specs[n]).map_err(Into::into);
    let line = ProgressLine::new();
    let journal = event.path(directory);
    let show = |_: &[ArenaGame], progress: &surakarta_arena::Progress| {
        if tracing::enabled!(tracing::Level::INFO) && progress.resumed < progress.total {
            line.show(progress);
        }
    };
    let session = Session {
        journal: Some(&journal),
        stop: Some(stop),
        on_progress: Some(&show),
        ..Session::new(pool)
    };
    let played = tournament.play(&factory, &session)?;
    line.finish();
    Ok(played.complete.then_some(played.games))
}

/// `elo.csv`: one row a player; `iteration` is empty for the opponents. `elo.json` has the differences
/// and their intervals too.
fn write_elo(directory: &RunDirectory, rated: &[u32], standings: &Standings) -> Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "iteration",
        "player",
        "elo",
        "error95",
        "games",
        "pairs",
        "wins",
        "draws",
        "losses",
        "score",
    ])?;
    let number = |x: Option<f64>| x.map_or(String::new(), |x| fixed(x, 1));
    for row in &standings.players {
        let iteration = rated.iter().find(|&&iteration| checkpoint_name(iteration) == row.name);
        writer.write_record([
            iteration.map_or(String::new(), ToString::to_string),
            row.name.clone(),
            number(row.rating),
            number(row.error),
            row.games.to_string(),
            row.pairs.to_string(),
            row.total.wins.to_string(),
            row.total.draws.to_string(),
            row.total.losses.to_string(),
            format!("{:.4}", row.score),
        ])?;
    }
    let bytes = writer.into_inner().context("cannot format elo.csv")?;
    write_file(&directory.root().join("elo.csv"), &bytes)?;
    let mut json = Vec::new();
    standings.write_json(&mut json)?;
    write_file(&directory.root().join("elo.json"), &json)
}
