//! Speed of searches, each beside something in the same process that tells what it owes to what.

mod checksum;
mod positions;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use serde::Serialize;
use surakarta_game::{Game, play_out_many};
use surakarta_net::{
    Batch, Evaluator, EvaluatorError, Network, NetworkFile, QuantisedWeights, Trunk,
};
use surakarta_search::alphabeta::{Score, evaluate, final_score};
use surakarta_search::{
    AlphaBetaConfig, AlphaBetaPlayer, DescentConfig, DescentPlayer, Limits, MctsConfig, MctsPlayer,
    Player, RolloutConfig, RolloutPlayer, Root, Search, SearchConfig, Step, Work, stream,
};

use crate::bench::ROUNDS;
use crate::net_bench::clock;
pub use checksum::{Checksum, checksums};
use positions::Phase;

/// What is measured, and for how long.
#[derive(Clone, Debug)]
pub struct SearchBench {
    /// The network of MCTS and Descent, of the standard variant.
    pub network: NetworkFile,
    /// Simulations of each tree search. Alpha-beta makes [`NODES`] moves and Descent adds [`STATES`]
    /// states for each of them.
    pub simulations: u32,
    /// Processor time for each rate at least, in all rounds together.
    pub time: Duration,
}

/// Nodes of alpha-beta for each simulation of a tree search.
pub const NODES: u64 = 64;

/// States of Descent, likewise.
pub const STATES: u64 = 16;

/// Searches that go on at the same time where several do, as in self-play.
const TOGETHER: usize = 32;

/// Rates on one core, by processor time: medians of [`ROUNDS`] rounds in which all take turns.
#[derive(Clone, Debug, Serialize)]
pub struct SearchRates {
    /// Simulations of each tree search.
    pub simulations: u32,
    /// One for each method and part of the game.
    pub rates: Vec<SearchRate>,
}

/// How fast a search is.
#[derive(Clone, Debug, Serialize)]
pub struct SearchRate {
    /// `alphabeta`, `rollout`, `descent` or `mcts`.
    pub method: &'static str,
    /// How its network is computed: `f32` or `quantised`.
    pub network: Option<&'static str>,
    /// The part of the game that its positions are from, or `all`.
    pub positions: &'static str,
    /// Searches that went on at the same time, their positions evaluated together.
    pub at_once: usize,
    /// What is counted: nodes, states or simulations.
    pub unit: &'static str,
    /// How many of them in a second.
    pub per_s: f64,
    /// Positions that its network evaluated in a second.
    pub evaluations_per_s: Option<f64>,
    /// What was measured beside it: evaluations of the same positions in the same batches without a
    /// tree, random games without one, or nodes of plain minimax.
    pub beside: &'static str,
    /// How many of them in a second.
    pub beside_per_s: f64,
    /// As many of the same that the search did in a second, divided by that: the share of its time
    /// that went into evaluations or random games, or how many times faster than plain minimax it is.
    pub ratio: f64,
}

/// What some work has done: what is counted, and what there is beside it.
#[derive(Clone, Copy, Default)]
struct Done {
    units: u64,
    beside: u64,
}

/// Some work, always the same.
type Job = Box<dyn FnMut() -> Result<Done>>;

/// A rate to be measured: the search, and what is beside it.
struct Row {
    rate: SearchRate,
    search: Job,
    beside: Job,
}

impl SearchBench {
    /// Measures. Calls `begin` before each round, with its number.
    ///
    /// # Errors
    /// If the network is of another variant, or says no numbers.
    pub fn run(&self, begin: impl Fn(usize)) -> Result<SearchRates> {
        let mut rows = self.rows()?;
        let mut speeds = vec![[[0.0; ROUNDS]; 3]; rows.len()];
        for round in 0..ROUNDS {
            begin(round);
            for (row, speeds) in rows.iter_mut().zip(&mut speeds) {
                let time = self.time / ROUNDS as u32;
                let (search, beside) =
                    (speed(&mut row.search, time)?, speed(&mut row.beside, time)?);
                for (speeds, speed) in speeds.iter_mut().zip([search[0], search[1], beside[1]]) {
                    speeds[round] = speed;
                }
            }
        }
        let rates = rows.into_iter().zip(speeds).map(|(Row { mut rate, .. }, mut speeds)| {
            speeds.iter_mut().for_each(|speeds| speeds.sort_by(f64::total_cmp));
            let [units, same, beside] = speeds.map(|speeds| speeds[ROUNDS / 2]);
            (rate.per_s, rate.beside_per_s, rate.ratio) = (units, beside, same / beside);
            rate.evaluations_per_s = rate.network.map(|_| same);
            rate
        });
        Ok(SearchRates { simulations: self.simulations, rates: rates.collect() })
    }

    fn rows(&self) -> Result<Vec<Row>> {
        let mut rows = vec![self.alphabeta(), self.rollout()];
        let networks = networks(&self.network)?;
        for (name, network) in &networks {
            rows.push(self.descent(name, network)?);
        }
        for (name, network) in &networks {
            for phase in Phase::ALL {
                rows.push(self.mcts(name, network, phase)?);
            }
            rows.push(self.together(name, network)?);
        }
        Ok(rows)
    }

    fn alphabeta(&self) -> Row {
        let config = AlphaBetaConfig { table_mib: 1, ..AlphaBetaConfig::default() };
        let mut player = AlphaBetaPlayer::new(config);
        let nodes = Some(NODES * u64::from(self.simulations));
        let limits = Limits { nodes, ..Limits::default() };
        let (games, mut slow_games) = (all_games(), all_games());
        Row {
            rate: rate("alphabeta", None, "all", "nodes", "nodes of plain minimax"),
            search: Box::new(move || {
                let nodes = choose(&mut player, &games, &limits, |work| work.nodes)?;
                Ok(Done { units: nodes, beside: nodes })
            }),
            beside: Box::new(move || {
                let mut nodes = 0;
                for game in &mut slow_games {
                    minimax(game, 1, 0, &mut nodes);
                }
                Ok(Done { units: nodes, beside: nodes })
            }),
        }
    }

    fn rollout(&self) -> Row {
        let config = RolloutConfig::default();
        let RolloutConfig { playouts, playout_plies, .. } = config;
        let mut player = RolloutPlayer::new(config);
        let (games, limits) = (all_games(), self.limits());
        let plain_games = games.clone();
        let some = u64::from(self.simulations * playouts);
        Row {
            rate: rate("rollout", None, "all", "simulations", "random games from the root"),
            search: Box::new(move || {
                let simulations = choose(&mut player, &games, &limits, |work| work.simulations)?;
                Ok(Done { units: simulations, beside: simulations * u64::from(playouts) })
            }),
            beside: Box::new(move || {
                for game in &plain_games {
                    let mut plies = 0;
                    let done = |_, playout: surakarta_game::Playout| plies += playout.plies;
                    play_out_many(game, playout_plies, some, numbers, done);
                    std::hint::black_box(plies);
                }
                let games = some * plain_games.len() as u64;
                Ok(Done { units: games, beside: games })
            }),
        }
    }

    fn descent(&self, name: &'static str, network: &Network) -> Result<Row> {
        let nodes = Some(STATES * u64::from(self.simulations));
        let limits = Limits { nodes, ..Limits::default() };
        let rate = rate("descent", Some(name), "all", "states", EVALUATIONS);
        let player =
            |evaluator| Box::new(DescentPlayer::new(DescentConfig::default(), evaluator)) as _;
        with_network(rate, network, all_games(), limits, player, |work| work.nodes)
    }

    fn mcts(&self, name: &'static str, network: &Network, phase: Phase) -> Result<Row> {
        let rate = rate("mcts", Some(name), phase.name(), "simulations", EVALUATIONS);
        let config = MctsConfig { search: search(), ..MctsConfig::default() };
        let player = |evaluator| Box::new(MctsPlayer::new(config.clone(), evaluator)) as _;
        with_network(rate, network, phase.games(), self.limits(), player, |work| work.simulations)
    }

    /// Many searches at once, with noise.
    fn together(&self, name: &'static str, network: &Network) -> Result<Row> {
        let rate = rate("mcts", Some(name), "all", "simulations", EVALUATIONS);
        let rate = SearchRate { at_once: TOGETHER, ..rate };
        let games = all_games();
        let lockstep = |evaluator| Lockstep {
            searches: games.iter().cycle().take(TOGETHER).map(|_| Search::new(search())).collect(),
            games: games.clone(),
            simulations: self.simulations,
            evaluator,
            batch: Batch::default(),
        };
        let recorder = Recorder::new(network);
        let batches = Arc::clone(&recorder.batches);
        lockstep(Box::new(recorder)).search()?;
        let mut lockstep = lockstep(network.evaluator());
        let search = Box::new(move || lockstep.search());
        Ok(Row { rate, search, beside: evaluations(&batches, network) })
    }

    fn limits(&self) -> Limits {
        Limits { simulations: Some(self.simulations), ..Limits::default() }
    }
}

const EVALUATIONS: &str = "the same evaluations alone";

/// A player's search, which uses up its simulations.
fn search() -> SearchConfig {
    SearchConfig { stop_early: false, ..MctsConfig::default().search }
}

/// A rate to be filled in.
fn rate(
    method: &'static str,
    network: Option<&'static str>,
    positions: &'static str,
    unit: &'static str,
    beside: &'static str,
) -> SearchRate {
    SearchRate {
        method,
        network,
        positions,
        at_once: 1,
        unit,
        per_s: 0.0,
        evaluations_per_s: None,
        beside,
        beside_per_s: 0.0,
        ratio: 0.0,
    }
}

fn all_games() -> Vec<Game> {
    Phase::ALL.into_iter().flat_map(Phase::games).collect()
}

/// The ways in which a network can be computed.
fn networks(file: &NetworkFile) -> Result<Vec<(&'static str, Network)>> {
    let mut networks = Vec::new();
    match file {
        NetworkFile::F32(weights) => {
            networks.push(("f32", Network::new(weights)));
            if let Trunk::Mlp(_) = weights.shape().trunk() {
                networks.push(("quantised", Network::quantised(&QuantisedWeights::new(weights)?)));
            }
        }
        NetworkFile::Quantised(weights) => {
            networks.push(("quantised", Network::quantised(weights)))
        }
    }
    Ok(networks)
}

/// How much of each a job does in a second, over and over for about this time.
fn speed(job: &mut Job, time: Duration) -> Result<[f64; 2]> {
    let (began, mut sum) = (clock(), Done::default());
    loop {
        let done = job()?;
        sum.units += done.units;
        sum.beside += done.beside;
        let spent = clock() - began;
        if spent >= time && !spent.is_zero() {
            return Ok([sum.units, sum.beside].map(|done| done as f64 / spent.as_secs_f64()));
        }
    }
}

/// Chooses in every game, each as if it were the first.
fn choose(
    player: &mut dyn Player,
    games: &[Game],
    limits: &Limits,
    count: fn(&Work) -> u64,
) -> Result<u64> {
    let mut sum = 0;
    for game in games {
        player.new_game(1);
        sum += count(&player.choose(game, limits)?.work);
    }
    Ok(sum)
}

/// A player with a network beside the evaluations alone.
fn with_network(
    rate: SearchRate,
    network: &Network,
    games: Vec<Game>,
    limits: Limits,
    player: impl Fn(Box<dyn Evaluator>) -> Box<dyn Player>,
    count: fn(&Work) -> u64,
) -> Result<Row> {
    let recorder = Recorder::new(network);
    let batches = Arc::clone(&recorder.batches);
    choose(&mut *player(Box::new(recorder)), &games, &limits, count)?;
    let evaluated = positions_in(&batches);
    let beside = evaluations(&batches, network);
    let mut player = player(network.evaluator());
    let search = Box::new(move || {
        let units = choose(&mut *player, &games, &limits, count)?;
        Ok(Done { units, beside: evaluated })
    });
    Ok(Row { rate, search, beside })
}

/// Batches, shared with whoever has them recorded.
type Batches = Arc<Mutex<Vec<Batch>>>;

/// An evaluator that keeps the batches that it was given.
struct Recorder {
    evaluator: Box<dyn Evaluator>,
    batches: Batches,
}

impl Recorder {
    fn new(network: &Network) -> Recorder {
        Recorder { evaluator: network.evaluator(), batches: Arc::default() }
    }
}

impl Evaluator for Recorder {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner).push(batch.clone());
        self.evaluator.evaluate(batch)
    }
}

fn positions_in(batches: &Batches) -> u64 {
    let batches = batches.lock().unwrap_or_else(PoisonError::into_inner);
    batches.iter().map(|batch| batch.len() as u64).sum()
}

/// Evaluates what was recorded, in the same order.
fn evaluations(batches: &Batches, network: &Network) -> Job {
    let count = positions_in(batches);
    let mut batches = std::mem::take(&mut *batches.lock().unwrap_or_else(PoisonError::into_inner));
    let mut evaluator = network.evaluator();
    Box::new(move || {
        for batch in &mut batches {
            evaluator.evaluate(batch)?;
        }
        Ok(Done { units: count, beside: count })
    })
}

/// Searches that go on together, as games of self-play do.
struct Lockstep {
    searches: Vec<Search>,
    /// Those of the first searches; later ones begin with the first again.
    games: Vec<Game>,
    simulations: u32,
    evaluator: Box<dyn Evaluator>,
    batch: Batch,
}

impl Lockstep {
    fn search(&mut self) -> Result<Done> {
        let root = Root { simulations: self.simulations, noise: true };
        for (n, (search, game)) in
            self.searches.iter_mut().zip(self.games.iter().cycle()).enumerate()
        {
            search.clear();
            search.begin(game, root, &mut stream(1, [0, 0, n as u64]));
        }
        loop {
            self.batch.clear();
            let mut waiting = Vec::with_capacity(TOGETHER);
            for search in &mut self.searches {
                if let Step::Leaf(at) = search.step(&mut self.batch) {
                    waiting.push((search, at));
                }
            }
            if waiting.is_empty() {
                break;
            }
            self.evaluator.evaluate(&mut self.batch)?;
            for (search, at) in waiting {
                search.accept(&self.batch, at);
            }
        }
        let works = self.searches.iter().map(Search::work);
        Ok(works.fold(Done::default(), |done, work| Done {
            units: done.units + work.simulations,
            beside: done.beside + work.evaluations,
        }))
    }
}

/// The search without anything clever: every legal move to the given depth, then captures or none.
fn minimax(game: &mut Game, depth: u32, ply: usize, nodes: &mut u64) -> Score {
    if game.result().is_some() {
        return final_score(game, ply);
    }
    let mut moves = game.legal_moves();
    let mut best = Score::MIN;
    if depth == 0 {
        best = evaluate(game.position());
        moves.retain(|&mv| game.position().is_capture(mv));
    }
    for mv in moves {
        game.play_legal(mv);
        *nodes += 1;
        best = best.max(-minimax(game, depth.saturating_sub(1), ply + 1, nodes));
        game.undo();
    }
    best
}

fn numbers(game: u64) -> impl FnMut() -> u64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(game);
    move || rng.next_u64()
}

impl fmt::Display for SearchRates {
    /// A table with a line for each rate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "one core, processor time; {} simulations of each tree", self.simulations)?;
        let (what, rate, evaluations) = ("search", "a second", "evaluations/s");
        writeln!(f, "{what:<44} {rate:>21} {evaluations:>14}  beside")?;
        for rate in &self.rates {
            let mut name = rate.method.to_owned();
            if let Some(network) = rate.network {
                name = format!("{name} {network}");
            }
            if rate.at_once > 1 {
                name = format!("{name}, {} at once", rate.at_once);
            }
            let name = format!("{name}, {}", rate.positions);
            let evaluations = rate.evaluations_per_s.map_or("-".to_owned(), |n| format!("{n:.0}"));
            let beside = match rate.method {
                "alphabeta" => format!("{:.2} ×", rate.ratio),
                _ => format!("{:.1} % of", 100.0 * rate.ratio),
            };
            writeln!(
                f,
                "{name:<44} {:>9.0} {:<11} {evaluations:>14}  {beside} {}",
                rate.per_s, rate.unit, rate.beside
            )?;
        }
        Ok(())
    }
}
