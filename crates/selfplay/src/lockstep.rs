//! One worker of tree search: many games in lockstep, one leaf a game, one batch a step.

use rand::RngExt;
use surakarta_game::{Ending, Game, Position, RuleSet, Variant};
use surakarta_net::{Batch, Evaluator};
use surakarta_record::{GameRecord, PlyRecord, Policy, SearchKind};
use surakarta_search::{Method, Root, Search, SearchConfig, Step, Stream, stream};
use surakarta_tablebase::Tables;

use crate::collector::Collector;
use crate::progress::Counters;
use crate::{SelfplayConfig, SelfplayError};

/// What all games of a batch have in common.
pub(crate) struct Setting<'a> {
    pub(crate) variant: Variant,
    pub(crate) rules: RuleSet,
    pub(crate) config: &'a SelfplayConfig,
    pub(crate) search: SearchConfig,
    pub(crate) seed: u64,
    pub(crate) iteration: u64,
    pub(crate) tables: Option<&'a Tables>,
}

impl Setting<'_> {
    /// The stream that every random number of a game is drawn from.
    pub(crate) fn stream(&self, number: u64) -> Stream {
        stream(self.seed, [self.iteration, number, 0])
    }

    /// Ends a game whose result the tables prove.
    pub(crate) fn end_by_tables(&self, game: &mut Game) {
        if game.result().is_none()
            && let Some(outcome) =
                self.tables.and_then(|tables| tables.outcome(game.position(), game.rules()))
        {
            game.end(Ending::Adjudicated, outcome);
        }
    }

    /// A game that has begun with random plies, and their records.
    pub(crate) fn open(&self, random: &mut Stream) -> (Game, Vec<PlyRecord>) {
        let mut game = Game::from_position(self.rules, Position::start(self.variant));
        let mut plies = Vec::new();
        let [least, most] = self.config.opening_plies;
        let mut moves = Vec::new();
        for _ in 0..random.random_range(least..=most) {
            game.legal_moves_into(&mut moves);
            if moves.is_empty() {
                break;
            }
            let mv = moves[random.random_range(0..moves.len())];
            game.play_legal(mv);
            plies.push(PlyRecord {
                mv,
                search: SearchKind::Opening,
                simulations: 0,
                value: None,
                policy: Policy::None,
            });
        }
        (game, plies)
    }
}

/// A game in the hands of a worker.
struct Table {
    number: u64,
    random: Stream,
    game: Game,
    plies: Vec<PlyRecord>,
    search: Search,
    kind: SearchKind,
    sampled_until: usize,
}

impl Table {
    fn new(setting: &Setting, number: u64) -> Table {
        let mut random = setting.stream(number);
        let (game, plies) = setting.open(&mut random);
        let [least, most] = setting.config.sampled_plies;
        let sampled_until = random.random_range(least..=most) as usize;
        let search = Search::new(setting.search.clone());
        let mut table =
            Table { number, random, game, plies, search, kind: SearchKind::Full, sampled_until };
        table.begin_search(setting);
        table
    }

    fn begin_search(&mut self, setting: &Setting) {
        if self.game.result().is_some() {
            return;
        }
        let config = setting.config;
        let full = self.random.random_bool(config.full_share);
        self.kind = if full { SearchKind::Full } else { SearchKind::Fast };
        let root = Root {
            simulations: if full { config.full_simulations } else { config.fast_simulations },
            // Fast searches are to play well, not to explore.
            noise: full,
        };
        self.search.begin(&self.game, root, &mut self.random);
    }

    /// Plays on until a leaf waits in the batch; `None` once the game is over.
    fn advance(
        &mut self,
        setting: &Setting,
        batch: &mut Batch,
        counters: &Counters,
    ) -> Option<usize> {
        loop {
            if self.game.result().is_some() {
                return None;
            }
            match self.search.step(batch) {
                Step::Leaf(at) => return Some(at),
                Step::Done => self.play(setting, counters),
            }
        }
    }

    fn play(&mut self, setting: &Setting, counters: &Counters) {
        let work = self.search.work();
        counters.searched(work.simulations, work.evaluations);
        let temperature = if self.plies.len() < self.sampled_until { 1.0 } else { 0.0 };
        // Gumbel noise has drawn the move of a full search already, whatever the temperature.
        let choice = self.search.sample(temperature, &mut self.random);
        let mv = choice.expect("a finished search of a game that is not over has a move");
        self.plies.push(PlyRecord {
            mv,
            search: self.kind,
            simulations: self.search.simulations(),
            value: self.search.value(),
            policy: match (self.kind, setting.search.method) {
                // Without what the search knows to be wasted, so it may be nothing to learn from.
                (SearchKind::Full, Method::Puct) => Policy::Visits(self.search.policy_visits()),
                (SearchKind::Full, Method::Gumbel) => {
                    Policy::improved(self.search.improved_policy())
                }
                _ => Policy::None,
            },
        });
        self.game.play_legal(mv);
        setting.end_by_tables(&mut self.game);
        self.begin_search(setting);
    }
}

/// Plays games until the collector has no more.
pub(crate) fn work(
    setting: &Setting,
    evaluator: &mut dyn Evaluator,
    collector: &Collector,
    counters: &Counters,
) -> Result<(), SelfplayError> {
    let mut tables: Vec<Table> = Vec::new();
    let mut batch = Batch::default();
    let mut leaves = Vec::new();
    let seats = setting.config.games_in_flight as usize;
    loop {
        while tables.len() < seats
            && let Some(number) = collector.next_game()
        {
            tables.push(Table::new(setting, number));
        }
        if tables.is_empty() {
            return Ok(());
        }
        batch.clear();
        leaves.clear();
        let mut at = 0;
        while at < tables.len() {
            match tables[at].advance(setting, &mut batch, counters) {
                Some(leaf) => {
                    leaves.push(leaf);
                    at += 1;
                }
                None => {
                    let table = tables.remove(at);
                    let record = GameRecord::of(&table.game, table.number, table.plies);
                    counters.finished(&record);
                    collector.finished(record)?;
                }
            }
        }
        evaluator.evaluate(&mut batch)?;
        for (table, leaf) in tables.iter_mut().zip(&leaves) {
            table.search.accept(&batch, *leaf);
        }
    }
}
