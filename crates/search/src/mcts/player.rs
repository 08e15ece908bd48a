//! The player around a search.

use std::time::Instant;

use surakarta_game::Game;
use surakarta_net::{Batch, Evaluator};

use super::{Root, Search, SearchConfig, Step};
use crate::player::{Choice, Limits, Player, PlayerError};
use crate::{Stream, stream};

/// Visits of the root at most where only time limits a search: the tree takes about half a gigabyte
/// then.
const MOST_SIMULATIONS: u32 = 1_000_000;

/// Visits between two looks at the clock.
const SLICE: u32 = 16;

/// How [`MctsPlayer`] plays.
#[derive(Clone, Debug, PartialEq)]
pub struct MctsConfig {
    /// The search itself.
    pub search: SearchConfig,
    /// Visits of the root where the limits name neither simulations nor time.
    pub simulations: u32,
    /// Whether to mix noise into the root's prior.
    pub noise: bool,
    /// Temperature of the draw by visits in the first plies of a game.
    pub temperature: f32,
    /// For how many plies of the game; afterwards the most visited move is played.
    pub temperature_plies: u32,
}

impl Default for MctsConfig {
    fn default() -> Self {
        MctsConfig {
            search: SearchConfig { stop_early: true, skip_forced: true, ..Default::default() },
            simulations: 400,
            noise: false,
            temperature: 1.0,
            temperature_plies: 0,
        }
    }
}

/// Monte Carlo tree search with a network, one leaf at a time. The tree is kept from move to move.
pub struct MctsPlayer {
    config: MctsConfig,
    search: Search,
    evaluator: Box<dyn Evaluator>,
    batch: Batch,
    rng: Stream,
}

impl MctsPlayer {
    /// A player with its network.
    pub fn new(config: MctsConfig, evaluator: Box<dyn Evaluator>) -> MctsPlayer {
        let search = Search::new(config.search.clone());
        MctsPlayer { config, search, evaluator, batch: Batch::default(), rng: stream(0, [0; 3]) }
    }

    /// The tree of the last choice.
    pub fn search(&self) -> &Search {
        &self.search
    }

    fn run(&mut self) -> Result<(), PlayerError> {
        loop {
            self.batch.clear();
            let Step::Leaf(at) = self.search.step(&mut self.batch) else { return Ok(()) };
            self.evaluator.evaluate(&mut self.batch)?;
            self.search.accept(&self.batch, at);
        }
    }
}

impl Player for MctsPlayer {
    fn new_game(&mut self, seed: u64) {
        self.search.clear();
        self.rng = stream(seed, [0; 3]);
    }

    fn choose(&mut self, game: &Game, limits: &Limits) -> Result<Choice, PlayerError> {
        let began = Instant::now();
        let budget = match (limits.simulations, limits.time) {
            (Some(simulations), _) => simulations.max(1),
            (None, Some(_)) => MOST_SIMULATIONS,
            (None, None) => self.config.simulations.max(1),
        };
        let mut root = Root { simulations: budget, noise: self.config.noise };
        if limits.time.is_some() {
            root.simulations = 1;
        }
        self.search.begin(game, root, &mut self.rng);
        self.run()?;
        if let Some(time) = limits.time {
            let mut target = self.search.simulations();
            while target < budget && began.elapsed() < time {
                target = budget.min(target + SLICE);
                self.search.extend(target);
                self.run()?;
            }
        }
        let plies = game.moves().len() as u32;
        let early = plies < self.config.temperature_plies;
        let temperature = if early { self.config.temperature } else { 0.0 };
        let mv = self.search.sample(temperature, &mut self.rng).ok_or(PlayerError::GameOver)?;
        let mut line = self.search.line();
        if line.first() != Some(&mv) {
            line = vec![mv];
        }
        Ok(Choice { mv, value: self.search.value(), line, work: self.search.work() })
    }
}
