//! What a report is made from: folders of runs and journals of tournaments.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use surakarta_arena::{
    ArenaGame, CrossRow, JournalFile, Results, Standing, Standings, StandingsOptions,
};
use surakarta_train::{Metrics, MetricsLog};

use crate::config::Config;

/// One run, or one tournament.
pub(super) struct Source {
    /// What the legends call it; no two of a report are the same.
    pub(super) label: String,
    pub(super) kind: Kind,
    pub(super) rules: String,
    pub(super) seed: Option<u64>,
    /// Where the games began, in words.
    pub(super) openings: String,
    /// The ratings, if there are any.
    pub(super) ratings: Option<Standings>,
    /// Who beat whom, in the games that count for ratings.
    pub(super) cross_table: Vec<CrossRow>,
    /// Every finished game, in order.
    pub(super) games: Vec<ArenaGame>,
    /// What is missing or may mislead, a sentence each.
    pub(super) notes: Vec<String>,
}

/// What is known of a run alone.
pub(super) enum Kind {
    Run { metrics: Vec<Metrics> },
    Arena,
}

/// The iteration of a run after which a player was the network.
pub(super) fn iteration(player: &Standing) -> Option<u32> {
    player.name.strip_prefix("iteration ")?.parse().ok()
}

impl Source {
    /// The names of the players, the strongest first where there is a rating.
    pub(super) fn players(&self) -> Vec<&str> {
        let rated = self.ratings.iter().flat_map(|table| &table.players).map(|row| &*row.name);
        let played = self.games.iter().flat_map(|game| [&*game.black, &*game.white]);
        let mut seen = HashSet::new();
        rated.chain(played).filter(|name| seen.insert(*name)).collect()
    }

    /// The rows of training; none of a tournament.
    pub(super) fn metrics(&self) -> &[Metrics] {
        match &self.kind {
            Kind::Run { metrics } => metrics,
            Kind::Arena => &[],
        }
    }

    pub(super) fn is_run(&self) -> bool {
        matches!(self.kind, Kind::Run { .. })
    }
}

/// Reads every input.
///
/// # Errors
/// If one is missing, damaged, neither a run nor a journal, or given twice; the message names the
/// file and the mend.
pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut seen = HashSet::new();
    for path in paths {
        let real = path.canonicalize().with_context(|| {
            format!("cannot read {}; give the folder of a run or a journal", path.display())
        })?;
        if !seen.insert(real) {
            bail!("{} is given twice; give each run or journal once", path.display());
        }
    }
    let mut sources: Vec<Source> = paths.iter().map(|path| read(path)).collect::<Result<_>>()?;
    let labels: Vec<String> = sources.iter().map(|source| source.label.clone()).collect();
    for (source, path) in sources.iter_mut().zip(paths) {
        if labels.iter().filter(|&label| *label == source.label).count() > 1 {
            source.label = path.display().to_string();
        }
    }
    Ok(sources)
}

fn read(path: &Path) -> Result<Source> {
    if path.is_dir() { read_run(path) } else { read_arena(path) }
}

fn name(path: &Path, of: impl Fn(&Path) -> Option<&std::ffi::OsStr>) -> String {
    // `.` and `..` have a name, too.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    of(&real).unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn read_arena(path: &Path) -> Result<Source> {
    let journal = JournalFile::read(path)?;
    let mut notes = Vec::new();
    let mut results = Results::of_players(&journal.header.players);
    results.add_journal(&journal).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    let ratings = if journal.games.is_empty() {
        notes.extend(results.notes.iter().map(|note| format!("{note}.")));
        notes.push("The journal holds no finished game yet: the same command that began it goes on with it.".to_owned());
        None
    } else {
        let options = StandingsOptions { first_advantage: true, ..StandingsOptions::default() };
        Some(Standings::of_results(&results, &options)?)
    };
    Ok(Source {
        label: name(path, Path::file_stem),
        kind: Kind::Arena,
        rules: journal.header.rules,
        seed: journal.header.seed,
        openings: journal.header.openings,
        cross_table: ratings.iter().flat_map(|ratings| ratings.cross_table.clone()).collect(),
        ratings,
        games: journal.games,
        notes,
    })
}

fn read_run(path: &Path) -> Result<Source> {
    let kept = path.join("config.toml");
    if !kept.exists() {
        bail!(
            "{} is not the folder of a run: it has no config.toml; give a folder that `surakarta run` has made, or a journal",
            path.display()
        );
    }
    let config = Config::load(&kept)?;
    let mut notes = Vec::new();
    let log = path.join("metrics.csv");
    let metrics = if log.exists() {
        MetricsLog::read(&log).map_err(|error| {
            anyhow!("{error}; mend the line, or move the file away to report without it")
        })?
    } else {
        Vec::new()
    };
    if metrics.is_empty() {
        notes.push("Nothing is known of the training yet: metrics.csv is missing or empty; `surakarta run` adds a row after each iteration.".to_owned());
    }
    let elo = path.join("elo.json");
    let ratings: Option<Standings> = if elo.exists() {
        let text = std::fs::read(&elo).with_context(|| format!("cannot read {}", elo.display()))?;
        Some(serde_json::from_slice(&text).map_err(|error| {
            anyhow!(
                "{}: {error}; remove the file and give `surakarta run` again, which writes it anew",
                elo.display()
            )
        })?)
    } else {
        notes.push("There is no rating yet: elo.json is missing; `surakarta run` writes it after the first rating (see `every` in the section [rating] of its configuration).".to_owned());
        None
    };
    let (games, results) = games_of_run(path, &mut notes)?;
    let cross_table = match &ratings {
        Some(ratings) => ratings.cross_table.clone(),
        None => Standings::of_results(&results, &StandingsOptions::default())?.cross_table,
    };
    Ok(Source {
        label: name(path, Path::file_name),
        kind: Kind::Run { metrics },
        rules: config.run.rules.to_string(),
        seed: Some(config.run.seed),
        openings: format!("random, {} plies", config.rating.opening_plies),
        ratings,
        cross_table,
        games,
        notes,
    })
}

/// The games of every rating, in the order of the ratings.
fn games_of_run(path: &Path, notes: &mut Vec<String>) -> Result<(Vec<ArenaGame>, Results)> {
    let folder = path.join("ratings");
    let mut journals: Vec<PathBuf> = match std::fs::read_dir(&folder) {
        Ok(entries) => entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
            .collect(),
        Err(_) => Vec::new(),
    };
    journals.sort();
    let (mut games, mut results) = (Vec::new(), Results::default());
    let mut pairings = 0;
    for path in &journals {
        let journal = JournalFile::read(path)?;
        results.add_journal(&journal)?;
        // Pairs of different ratings are different pairs.
        games.extend(journal.games.into_iter().map(|mut game| {
            game.key.pairing += pairings;
            game
        }));
        pairings = games.iter().map(|game| game.key.pairing + 1).max().unwrap_or(0);
    }
    if games.is_empty() {
        notes.push(
            "There are no rating games to show: the folder ratings is missing or holds none."
                .to_owned(),
        );
    }
    notes.extend(results.notes.iter().map(|note| format!("{note}.")));
    Ok((games, results))
}
