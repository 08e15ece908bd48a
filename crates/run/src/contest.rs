//! Tournaments apart from a run.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use surakarta_arena::{
    ArenaGame, Progress, ProgressLine, Session, Standings, StandingsOptions, Tournament,
};
use surakarta_game::{RuleSet, Variant};
use surakarta_search::PlayerSpec;

use crate::config::text;
use crate::players::Networks;
use crate::selfplay::thread_pool;

/// Who plays whom, and how often. `configs/arena.toml` shows every key with a comment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contest {
    /// The players; every one meets every other.
    pub players: Vec<PlayerSpec>,
    /// Colour-swapped pairs of games of every two players.
    pub pairs: u32,
    /// Seed of the openings and of the players.
    pub seed: u64,
    /// Random plies of an opening.
    #[serde(default = "opening_plies")]
    pub opening_plies: u32,
    /// The variant.
    #[serde(default, with = "text")]
    pub variant: Variant,
    /// The rules.
    #[serde(default, with = "text")]
    pub rules: RuleSet,
    /// Threads; 0 is one for each core.
    #[serde(default)]
    pub threads: usize,
    /// A player and its rating, which fix the scale; otherwise the mean is zero.
    #[serde(default)]
    pub anchor: Option<Anchor>,
}

/// What fixes the scale of ratings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// One of the players.
    pub player: PlayerSpec,
    /// Its rating.
    pub rating: f64,
}

fn opening_plies() -> u32 {
    surakarta_arena::DEFAULT_OPENING_PLIES
}

impl Contest {
    /// Reads a configuration.
    ///
    /// # Errors
    /// If it cannot be read, or a key is unknown, missing or wrong.
    pub fn load(path: &Path) -> Result<Contest> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration {}", path.display()))?;
        let parse = || -> Result<Contest> {
            let contest: Contest = toml::from_str(&text)?;
            check_pairs("pairs", contest.pairs)?;
            Ok(contest)
        };
        parse().with_context(|| format!("in the configuration {}", path.display()))
    }
}

/// Openings are drawn, and games kept in memory, before anything is counted.
const MOST_PAIRS: u32 = 1_000_000;

/// Whether so many pairs of games can be played.
///
/// # Errors
/// A sentence that names the key.
pub(crate) fn check_pairs(key: &str, pairs: u32) -> Result<()> {
    if !(1..=MOST_PAIRS).contains(&pairs) {
        bail!("{key} is {pairs}; it must lie between 1 and {MOST_PAIRS}");
    }
    Ok(())
}

/// Plays what the journal does not hold yet, and rates the players by all games so far. `run` is the
/// folder that `net=latest` and `net=best` mean.
///
/// # Errors
/// If a player cannot be made, or the journal is another tournament's or cannot be written.
pub fn play(
    contest: &Contest,
    journal: Option<&Path>,
    run: Option<&Path>,
    stop: &AtomicBool,
) -> Result<Standings> {
    let networks = Networks::of_run(run, contest.variant);
    let names: Vec<String> = contest.players.iter().map(ToString::to_string).collect();
    // A player that cannot be made is said before any game.
    for spec in &contest.players {
        networks.player(spec)?;
    }
    let Contest { pairs, opening_plies, variant, rules, seed, .. } = *contest;
    check_pairs("pairs", pairs)?;
    let pairs = pairs as usize;
    let tournament = Tournament::round_robin(&names, pairs, opening_plies, variant, rules, seed)?;
    let pool = thread_pool(contest.threads)?;
    let line = ProgressLine::new();
    let show = |_: Option<&ArenaGame>, progress: &Progress| {
        if tracing::enabled!(tracing::Level::INFO) {
            line.show(progress);
        }
    };
    let session =
        Session { journal, stop: Some(stop), on_progress: Some(&show), ..Session::new(&pool) };
    let factory = |n: usize| networks.player(&contest.players[n]).map_err(Into::into);
    let played = tournament.play(&factory, &session)?;
    line.finish();
    if !played.complete {
        tracing::warn!("stopped before the last game; with a journal the same command goes on");
    }
    let anchor = contest.anchor.as_ref().map(|a| (a.player.to_string(), a.rating));
    let options = StandingsOptions { first_advantage: true, anchor, ..StandingsOptions::default() };
    Ok(Standings::of(&names, &played.games, &options)?)
}
