//! Tournaments apart from a run.

mod config;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use surakarta_arena::{
    Allowance, ArenaGame, Conduct, DEFAULT_OPENING_PLIES, Events, Format, LiveTable, MatchScore,
    OpeningSet, PlayedGames, Progress, Results, Session, Standings, StandingsOptions, Tournament,
};

pub use config::{ArenaConfig, Checkpoints, Entrant, LimitsConfig};
pub(crate) use config::{check_opening_plies, check_pairs};

use surakarta_search::PlayerSpec;

use crate::players::{NetworkPlace, Networks};
use crate::selfplay::thread_pool;

/// Where a tournament is kept and followed.
#[derive(Clone, Default)]
pub struct Place<'a> {
    /// The journal, from which the same tournament goes on.
    pub journal: Option<&'a Path>,
    /// Where events are written as they happen.
    pub events: Option<&'a Path>,
    /// Where networks come from, and what computes them.
    pub networks: NetworkPlace,
}

/// The share of a processor below which something else took the players' time.
const UNDISTURBED: f64 = 0.9;

/// What a tournament has shown.
pub struct Outcome {
    /// Its games.
    pub played: PlayedGames,
    /// The table.
    pub standings: Standings,
    /// Points of each player by the chosen scoring, in the order of the standings.
    pub points: Vec<(String, f64)>,
}

/// Plays what the journal does not hold yet, and rates the players by all games so far.
///
/// # Errors
/// If a player cannot be made, or the journal is another tournament's or cannot be written.
pub fn play(config: &ArenaConfig, place: &Place<'_>, stop: &AtomicBool) -> Result<Outcome> {
    config.check()?;
    let mut entrants = config.entrants()?;
    let names: Vec<String> = entrants.iter().map(Entrant::name).collect();
    if let Some(name) = config.anchors.keys().find(|&name| !names.contains(name)) {
        bail!("anchors: `{name}` is not one of the players: {}", names.join(", "));
    }
    let networks = Networks::of(&place.networks, config.variant);
    let networks = networks.under(config.rules).stopped_by(stop);
    let mut identities = Vec::new();
    for entrant in &mut entrants {
        // The arena decides who is late; its program must not be killed before.
        if let PlayerSpec::External(engine) = &mut entrant.player {
            let limits = entrant.limits.unwrap_or(config.limits);
            engine.margin = engine.margin.max(limits.allowance()?.margin);
        }
        // A player that cannot be made is said before any game.
        networks.player(&entrant.player)?;
        let program = concat!("surakarta ", env!("CARGO_PKG_VERSION"));
        identities.push(match (&entrant.player, networks.identity(&entrant.player)?) {
            (PlayerSpec::External(_), Some(identity)) => identity,
            (_, Some(files)) => format!("{program}, {files}"),
            (_, None) => program.to_owned(),
        });
    }
    let tournament = tournament(config, &entrants, &names)?;
    for (entrant, name) in entrants.iter().zip(&names) {
        warn_of_limits(&entrant.player, name, entrant.limits.unwrap_or(config.limits))?;
    }
    let folder = config.adjudication.tables.as_deref();
    let tables = folder
        .map(|folder| networks.tables(folder).context("[adjudication] tables"))
        .transpose()?;
    if let Some(tables) = &tables {
        // Other tables decide games otherwise, which is to be seen as if the players had changed.
        let decided = format!("; games decided by tables {}", tables.identity(config.variant));
        identities.iter_mut().for_each(|identity| *identity += &decided);
    }
    let pool = thread_pool(config.threads)?;
    let timed = tournament.is_timed() || entrants.iter().any(|e| e.player.is_timed());
    if timed {
        warn_of_threads(pool.current_num_threads());
    }
    let events = place.events.map(|path| Events::open(path, stop)).transpose()?;
    let options = StandingsOptions {
        first_advantage: true,
        sprt: config.sprt,
        anchors: config.anchors.iter().map(|(name, &rating)| (name.clone(), rating)).collect(),
        ..StandingsOptions::default()
    };
    let table = LiveTable::new(&names, &options);
    let show = |games: &[ArenaGame], progress: &Progress| {
        if tracing::enabled!(tracing::Level::INFO) {
            table.show(games, progress);
        }
    };
    let session = Session {
        journal: place.journal,
        stop: Some(stop),
        on_progress: Some(&show),
        events: events.as_ref(),
        identities: &identities,
        tables: tables.as_deref(),
        ..Session::new(&pool)
    };
    let factory = |n: usize| networks.player(&entrants[n].player).map_err(Into::into);
    let played = tournament.play(&factory, &session)?;
    table.finish();
    if !played.complete {
        tracing::warn!("stopped before the last game; with a journal the same command goes on");
    }
    let mut results = Results::of_players(&names);
    results.add(&played.games)?;
    for (name, identities) in names.iter().zip(&played.identities) {
        results.identities.insert(name.clone(), identities.clone());
    }
    let mut standings = Standings::of_results(&results, &options)?;
    let apart = entrants.iter().any(|e| matches!(e.player, PlayerSpec::External(_)));
    if let Some(share) = played.processor.filter(|&share| timed && !apart && share < UNDISTURBED) {
        standings.warnings.push(format!(
            "players had {:.0} % of a processor while they thought: other work slowed them, and with limits of time that decides games",
            100.0 * share
        ));
    }
    let score = MatchScore { scoring: config.scoring, forfeit: config.forfeit };
    let mut totals: HashMap<&str, f64> = HashMap::new();
    for game in &played.games {
        let [black, white] = score.points(game);
        *totals.entry(&game.black).or_default() += black;
        *totals.entry(&game.white).or_default() += white;
    }
    let of = |name: &str| totals.get(name).copied().unwrap_or_default();
    let points = standings.players.iter().map(|p| (p.name.clone(), of(&p.name))).collect();
    Ok(Outcome { points, played, standings })
}

fn tournament(config: &ArenaConfig, entrants: &[Entrant], names: &[String]) -> Result<Tournament> {
    let ArenaConfig { format, variant, rules, seed, .. } = *config;
    let rounds = if let Format::Swiss(rounds) = format { rounds } else { 1 };
    let pairs = config.pairs as usize * rounds;
    let openings = match &config.openings {
        Some(path) => OpeningSet::read(path, variant, rules, seed, Some(pairs))?,
        None => {
            let plies = config.opening_plies.unwrap_or(DEFAULT_OPENING_PLIES);
            OpeningSet::random(variant, rules, seed, plies, pairs)?
        }
    };
    let of_all = config.limits.allowance()?;
    let granted = |entrant: &Entrant| entrant.limits.map_or(Ok(of_all), |l| l.allowance());
    let conduct = Conduct {
        colors: config.colors,
        allowances: entrants.iter().map(granted).collect::<Result<Vec<Allowance>>>()?,
        adjudication: config.adjudication.clone(),
        from_start: entrants.iter().map(|entrant| !entrant.player.takes_openings()).collect(),
        until: config.until(),
    };
    Ok(Tournament::of(format, names, openings, rules, seed)?.conducted(conduct)?)
}

/// What a player takes no notice of does not limit it.
fn warn_of_limits(player: &PlayerSpec, name: &str, granted: LimitsConfig) -> Result<()> {
    let unheeded = player.unheeded(&granted.allowance()?.limits).join(", ");
    if !unheeded.is_empty() {
        let kind = player.kind();
        tracing::warn!(
            "`{name}` takes no notice of {unheeded}: to {kind} players such a limit says nothing"
        );
    }
    Ok(())
}

/// A game at a time on each core leaves the clocks alone: of two players one thinks.
fn warn_of_threads(threads: usize) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if threads > cores {
        tracing::warn!(
            "{threads} games at a time on {cores} cores take time from each other's clocks; use --threads {cores} or fewer"
        );
    }
}
