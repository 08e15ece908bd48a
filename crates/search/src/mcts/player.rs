//! The player around a search.

use std::time::{Duration, Instant};

use surakarta_game::Game;
use surakarta_net::{Batch, Evaluator};

use super::{Root, Search, SearchConfig, Step};
use crate::Stream;
use crate::player::{Choice, Limits, Player, PlayerError};
use crate::simple::stream_at;

/// Visits of the root at most where only time limits a search: the tree takes about half a gigabyte
/// then.
pub const MOST_SIMULATIONS: u32 = 1_000_000;

const DEFAULT_SIMULATIONS: u32 = 400;

/// Visits between two looks at the clock.
const SLICE: u32 = 16;

/// How [`MctsPlayer`] plays.
#[derive(Clone, Debug, PartialEq)]
pub struct MctsConfig {
    /// The search itself.
    pub search: SearchConfig,
    /// The limits by simulations and time that hold when a choice comes without any of them. If
    /// these have none either, 400 simulations.
    pub limits: Limits,
    /// Whether to explore: see [`Root::noise`].
    pub noise: bool,
    /// Temperature of the draw by [`Search::sample`] in the first plies of a game.
    pub temperature: f32,
    /// For how many plies of the game; afterwards the best move is played.
    pub temperature_plies: u32,
}

impl Default for MctsConfig {
    fn default() -> Self {
        MctsConfig {
            search: SearchConfig {
                stop_early: true,
                skip_forced: true,
                solve: true,
                ..Default::default()
            },
            limits: Limits { simulations: Some(DEFAULT_SIMULATIONS), ..Limits::default() },
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
    seed: u64,
}

impl MctsPlayer {
    /// A player with its network.
    pub fn new(config: MctsConfig, evaluator: Box<dyn Evaluator>) -> MctsPlayer {
        let search = Search::new(config.search.clone());
        MctsPlayer { config, search, evaluator, batch: Batch::default(), seed: 0 }
    }

    /// The tree of the last choice.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// The simulations and the time that a choice may take.
    fn limits(&self, asked: &Limits) -> (u32, Option<Duration>) {
        let applies = |limits: &Limits| limits.simulations.is_some() || limits.time.is_some();
        let limits = if applies(asked) { asked } else { &self.config.limits };
        let default = if limits.time.is_some() { MOST_SIMULATIONS } else { DEFAULT_SIMULATIONS };
        (limits.simulations.unwrap_or(default).max(1), limits.time)
    }

    fn think(
        &mut self,
        game: &Game,
        budget: u32,
        time: Option<Duration>,
        rng: &mut Stream,
    ) -> Result<(), PlayerError> {
        let began = Instant::now();
        let noise = self.config.noise;
        let Some(time) = time else {
            self.search.begin(game, Root { simulations: budget, noise }, rng);
            return self.run();
        };
        // Even without time it evaluates the root.
        let mut target = 1;
        self.search.begin(game, Root { simulations: target, noise }, rng);
        self.run()?;
        target = target.max(self.search.simulations());
        while target < budget && began.elapsed() < time && self.search.proof().is_none() {
            target = budget.min(target + SLICE);
            self.search.extend(target);
            self.run()?;
        }
        Ok(())
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
        self.seed = seed;
    }

    fn choose(&mut self, game: &Game, limits: &Limits) -> Result<Choice, PlayerError> {
        if game.result().is_some() {
            return Err(PlayerError::GameOver);
        }
        let (budget, time) = self.limits(&limits.for_move_of(game.side_to_move()));
        let mut rng = stream_at(self.seed, game);
        self.think(game, budget, time, &mut rng)?;
        let early = (game.moves().len() as u32) < self.config.temperature_plies;
        let temperature = if early { self.config.temperature } else { 0.0 };
        let mv = self.search.sample(temperature, &mut rng).ok_or(PlayerError::GameOver)?;
        let mut line = self.search.line();
        if line.first() != Some(&mv) {
            line = vec![mv];
        }
        Ok(Choice { mv, value: self.search.value(), line, work: self.search.work() })
    }
}
