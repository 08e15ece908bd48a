//! Self-play as a stage of a run and as a command of its own.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use surakarta_game::{RuleSet, Variant};
use surakarta_net::Inference;
use surakarta_record::{ShardHeader, ShardReader};
use surakarta_search::{MctsConfig, PlayerSpec, SearchConfig};
pub use surakarta_selfplay::Surroundings;
use surakarta_selfplay::{Batch, Beginnings, Played, Resign, Resignations, SelfplayConfig, Source};
use surakarta_tablebase::Tables;

use crate::players::Networks;

/// Name and version of this program, as shards and weights state it.
pub const PROGRAM: &str = concat!("surakarta ", env!("CARGO_PKG_VERSION"));

/// Positions of a worker's batch where libtorch pads it: where it begins to be fast on a processor.
const WORKER_BATCH: usize = 32;

const MOST_THREADS: usize = 1024;

/// Which games are played, beside who plays them.
#[derive(Clone, Debug)]
pub struct Games {
    /// The board.
    pub variant: Variant,
    /// The rules.
    pub rules: RuleSet,
    /// The seed of the run.
    pub seed: u64,
    /// The iteration that the games belong to.
    pub iteration: u64,
    /// Their numbers.
    pub numbers: Range<u64>,
    /// Endgame tables that games may end by.
    pub tables: Option<Arc<Tables>>,
    /// What they may begin with.
    pub beginnings: Beginnings,
}

/// The threads that play; 0 is one for each core.
///
/// # Errors
/// If there are absurdly many, or the system gives none.
pub fn thread_pool(threads: usize) -> Result<rayon::ThreadPool> {
    if threads > MOST_THREADS {
        bail!("threads is {threads}; give at most {MOST_THREADS}, or 0 for one for each core");
    }
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
}

impl Games {
    fn header(&self, player: String, settings: BTreeMap<String, String>) -> ShardHeader {
        ShardHeader {
            variant: self.variant,
            rules: self.rules,
            player,
            program: PROGRAM.to_owned(),
            seed: self.seed,
            iteration: self.iteration,
            settings,
            ..ShardHeader::default()
        }
    }

    /// The section `[selfplay]` as headers state it: what games begin with by its content, not by the
    /// place where it lies.
    fn settings(&self, config: &SelfplayConfig) -> Result<BTreeMap<String, String>> {
        let mut settings = settings("selfplay", config)?;
        if let (true, Some(tables)) = (config.end_by_tables, &self.tables) {
            let known = toml::Value::from(tables.identity(self.variant));
            settings.insert("selfplay.tables".to_owned(), known.to_string());
        }
        let Beginnings { openings, forks } = &self.beginnings;
        for (key, lines) in [("selfplay.openings", openings), ("selfplay.forks", forks)] {
            if let Some(lines) = lines {
                settings
                    .insert(key.to_owned(), toml::Value::from(lines.source.as_str()).to_string());
            }
        }
        Ok(settings)
    }

    fn batch<'a>(
        &'a self,
        header: &'a ShardHeader,
        config: &'a SelfplayConfig,
        folder: &'a Path,
    ) -> Batch<'a> {
        let (games, tables) = (self.numbers.clone(), self.tables.as_deref());
        Batch { header, config, games, folder, tables, beginnings: &self.beginnings }
    }

    /// A network plays with itself.
    ///
    /// # Errors
    /// If a shard cannot be written, or one in the folder was made otherwise.
    pub fn play_network(
        &self,
        network: &dyn Inference,
        config: &SelfplayConfig,
        search: &SearchConfig,
        folder: &Path,
        around: Surroundings,
    ) -> Result<Played> {
        let mut settings = self.settings(config)?;
        settings.extend(self::settings("search", search)?);
        // How the work is cut up has no influence on the games.
        settings.remove("selfplay.games_in_flight");
        let mut header = self.header("mcts".to_owned(), settings);
        header.weights = Some(network.hash().to_owned());
        header.kernel = Some(network.kernel());
        let batch = self.batch(&header, config, folder);
        // Not by the games in flight, which must have no influence on evaluations.
        let evaluator = || network.evaluator(WORKER_BATCH);
        let source = Source::Search { search: search.clone(), evaluator: &evaluator };
        Ok(batch.play(&source, around)?)
    }

    /// Any player plays with itself. One that searches with a network does so with full and fast
    /// searches and with noise, as in a run; its simulations are those of full searches.
    ///
    /// # Errors
    /// If the player is limited by time or has settings of a search, its network cannot be loaded, or as
    /// [`play_network`](Games::play_network).
    pub fn play(
        &self,
        spec: &PlayerSpec,
        config: &SelfplayConfig,
        search: &SearchConfig,
        networks: &Networks<'_>,
        folder: &Path,
        around: Surroundings,
    ) -> Result<Played> {
        if spec.is_timed() {
            bail!(
                "{spec} is limited by time, so its games could not be played again; limit it by sims, nodes or depth"
            );
        }
        if let PlayerSpec::External(_) = spec {
            bail!(
                "{spec} is another program, so its games could not be played again; programs play in the arena only"
            );
        }
        if let PlayerSpec::Mcts(mcts) = spec {
            let usual = MctsConfig { limits: mcts.config.limits, ..MctsConfig::default() };
            if mcts.config != usual {
                bail!(
                    "{spec} has settings of its own, but self-play searches as the sections [selfplay] and [search] say; write them into the file given as --config and leave net and sims alone here"
                );
            }
            let network = networks.load(&mcts.net)?;
            let mut config = config.clone();
            if let Some(simulations) = mcts.config.limits.simulations {
                config.full_simulations = simulations;
                config.fast_simulations = config.fast_simulations.min(simulations);
            }
            if let Err(error) = config.validate() {
                bail!("self-play of {spec}: {error}");
            }
            return self.play_network(&*network, &config, search, folder, around);
        }
        if config.policy_plies != [0, 0] {
            bail!(
                "[selfplay] policy_plies are drawn from the policy of a network, and {spec} has none; leave the key out"
            );
        }
        if config.resign.is_some() {
            bail!(
                "[selfplay] resign goes by the values of a network's searches, and {spec} has none; leave the key out"
            );
        }
        let header = self.header(spec.to_string(), self.settings(config)?);
        let batch = self.batch(&header, config, folder);
        // Fails here rather than in every worker.
        networks.player(spec)?;
        let player = || {
            let made = networks.player(spec);
            made.map_err(|e| surakarta_net::EvaluatorError(format!("{e:#}")).into())
        };
        let source = Source::Player { limits: spec.limits(), player: &player };
        Ok(batch.play(&source, around)?)
    }
}

/// How many games of shards were given up by a rule, and how often wrongly.
///
/// # Errors
/// If a shard is damaged.
pub fn resignations<'a>(
    rule: &Resign,
    shards: impl IntoIterator<Item = &'a Path>,
) -> Result<Resignations> {
    let mut resignations = Resignations::default();
    for path in shards {
        for game in ShardReader::open(path)?.games() {
            resignations.add(rule, &game?);
        }
    }
    Ok(resignations)
}

/// Every key of a section as text, named `section.key`.
fn settings(section: &str, value: &impl serde::Serialize) -> Result<BTreeMap<String, String>> {
    let table = toml::Table::try_from(value)?;
    Ok(table
        .into_iter()
        .map(|(key, value)| (format!("{section}.{key}"), value.to_string()))
        .collect())
}
