//! The player around a search.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use surakarta_game::{Game, Move};
use surakarta_net::{Batch, Evaluator};
use surakarta_tablebase::Tables;

use super::cache::EvaluationCache;
use super::symmetries::evaluate_under_all;
use super::{Root, Search, SearchConfig, Step};
use crate::Stream;
use crate::player::{Choice, Limits, Player, PlayerError, Work};
use crate::simple::stream_at;

/// Visits of the root at most where only time and memory limit a search.
pub const MOST_SIMULATIONS: u32 = 1_000_000_000;

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
    /// MiB for evaluations that are kept, from move to move and game to game, so that a position which
    /// comes again is not evaluated again; 0 keeps none. It changes no move, value or line, only what
    /// they take.
    pub cache_mib: usize,
    /// MiB of the tree at which a search ends, whatever its other limits: 1,024 are about 2.7 million
    /// simulations. The process may take twice as much. What is not reused is freed from move to move.
    pub memory_mib: usize,
    /// Whether the tree is kept from move to move, as far as the game has gone down it.
    pub reuse: bool,
    /// Whether the root is evaluated as the mean over the eight symmetries of the board.
    pub symmetries: bool,
    /// The folder of the endgame tables that [`MctsPlayer::with_tables`] is to be given, if any.
    pub tables: Option<PathBuf>,
}

impl Default for MctsConfig {
    fn default() -> Self {
        MctsConfig {
            search: SearchConfig {
                // Self-play learns to play what these searches choose; a player that trusts the policy
                // less than the search that taught it is stronger.
                c_init: 1.6,
                fpu_reduction: 0.1,
                root_temperature: 1.5,
                stop_early: true,
                skip_forced: true,
                solve: true,
                ..Default::default()
            },
            limits: Limits { simulations: Some(DEFAULT_SIMULATIONS), ..Limits::default() },
            noise: false,
            temperature: 1.0,
            temperature_plies: 0,
            cache_mib: 0,
            memory_mib: 1024,
            reuse: true,
            symmetries: false,
            tables: None,
        }
    }
}

/// Monte Carlo tree search with a network, one leaf at a time. The tree is kept from move to move, if
/// [that is wanted](MctsConfig::reuse).
pub struct MctsPlayer {
    config: MctsConfig,
    search: Search,
    evaluator: Box<dyn Evaluator>,
    batch: Batch,
    /// Evaluations that are known.
    cache: Option<EvaluationCache>,
    /// For the eight views of a root.
    views: Batch,
    /// Positions that the network has evaluated for the present choice.
    evaluations: u64,
    seed: u64,
}

impl MctsPlayer {
    /// A player with its network.
    pub fn new(config: MctsConfig, evaluator: Box<dyn Evaluator>) -> MctsPlayer {
        let search = Search::new(config.search.clone());
        let cache = Some(config.cache_mib).filter(|&mib| mib > 0).map(EvaluationCache::new);
        let (batch, views) = (Batch::default(), Batch::default());
        MctsPlayer { config, search, evaluator, batch, cache, views, evaluations: 0, seed: 0 }
    }

    /// The same player with endgame tables: see [`Search::with_tables`].
    #[must_use]
    pub fn with_tables(self, tables: Arc<Tables>) -> MctsPlayer {
        MctsPlayer { search: self.search.with_tables(tables), ..self }
    }

    /// What the last choice has cost: simulations and depth as the search has them, and the positions that
    /// the network evaluated for it.
    pub fn work(&self) -> Work {
        Work { evaluations: self.evaluations, ..self.search.work() }
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

    /// Searches as [`choose`](Player::choose) does, and leaves what it has found in
    /// [`search`](MctsPlayer::search). `watch` sees the tree after every evaluation; if it breaks, the
    /// search ends there.
    ///
    /// # Errors
    /// If the game is over or the network fails.
    pub fn analyse(
        &mut self,
        game: &Game,
        limits: &Limits,
        watch: &mut dyn FnMut(&Search) -> ControlFlow<()>,
    ) -> Result<(), PlayerError> {
        if game.result().is_some() {
            return Err(PlayerError::GameOver);
        }
        let (budget, time) = self.limits(&limits.for_move_of(game.side_to_move()));
        self.think(game, budget, time, &mut stream_at(self.seed, game), watch)
    }

    fn think(
        &mut self,
        game: &Game,
        budget: u32,
        time: Option<Duration>,
        rng: &mut Stream,
        watch: &mut dyn FnMut(&Search) -> ControlFlow<()>,
    ) -> Result<(), PlayerError> {
        let began = Instant::now();
        // Even without time it evaluates the root.
        let mut target = if time.is_some() { 1 } else { budget };
        self.evaluations = 0;
        if !self.config.reuse {
            self.search.clear();
        }
        self.search.begin(game, Root { simulations: target, noise: self.config.noise }, rng);
        self.look_at_inherited_root(game)?;
        let mut flow = self.run(watch)?;
        let Some(time) = time else { return Ok(()) };
        target = target.max(self.search.simulations());
        while flow.is_continue()
            && target < budget
            && began.elapsed() < time
            && self.search.proof().is_none()
        {
            target = budget.min(target + SLICE);
            self.search.extend(target);
            flow = self.run(watch)?;
        }
        Ok(())
    }

    fn run(
        &mut self,
        watch: &mut dyn FnMut(&Search) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, PlayerError> {
        loop {
            self.batch.clear();
            let Step::Leaf(at) = self.search.step(&mut self.batch) else {
                return Ok(ControlFlow::Continue(()));
            };
            self.evaluate(at)?;
            self.search.accept(&self.batch, at);
            let full = self.search.bytes() >= self.config.memory_mib << 20;
            if watch(&self.search).is_break() || full {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

impl MctsPlayer {
    /// Evaluates the position at a place of the batch, the only one there.
    fn evaluate(&mut self, at: usize) -> Result<(), PlayerError> {
        if self.config.symmetries && self.search.simulations() == 0 {
            // This is no evaluation of the position as such: the cache must not take it for one.
            return self.evaluate_all_views(at);
        }
        if self.cache.as_ref().is_some_and(|cache| cache.fill(&mut self.batch, at)) {
            return Ok(());
        }
        self.evaluator.evaluate(&mut self.batch)?;
        self.evaluations += 1;
        if let Some(cache) = &mut self.cache {
            cache.keep(&self.batch, at);
        }
        Ok(())
    }

    fn evaluate_all_views(&mut self, at: usize) -> Result<(), PlayerError> {
        evaluate_under_all(&mut *self.evaluator, &mut self.batch, at, &mut self.views)?;
        self.evaluations += self.views.len() as u64;
        Ok(())
    }

    /// A root that has been part of an earlier tree was evaluated as it stands. It keeps its value, one
    /// of many by now, and gets the policy that it would have as a new root.
    fn look_at_inherited_root(&mut self, game: &Game) -> Result<(), PlayerError> {
        if !self.config.symmetries || self.search.simulations() == 0 {
            return Ok(());
        }
        let moves: Vec<Move> = self.search.moves().map(|stats| stats.mv).collect();
        self.batch.clear();
        let at = self.batch.push(*game.position(), &moves);
        self.evaluate_all_views(at)?;
        self.search.replace_policy(self.batch.policy(at));
        Ok(())
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
        self.think(game, budget, time, &mut rng, &mut |_| ControlFlow::Continue(()))?;
        let early = (game.moves().len() as u32) < self.config.temperature_plies;
        let temperature = if early { self.config.temperature } else { 0.0 };
        let mv = self.search.sample(temperature, &mut rng).ok_or(PlayerError::GameOver)?;
        let mut line = self.search.line();
        if line.first() != Some(&mv) {
            line = vec![mv];
        }
        Ok(Choice { mv, value: self.search.value(), line, work: self.work() })
    }
}
