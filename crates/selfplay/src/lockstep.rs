//! One worker of tree search: many games in lockstep, one leaf a game, one batch a step.

use rand::RngExt;
use surakarta_game::{Color, Ending, Game};
use surakarta_net::{Batch, Evaluator};
use surakarta_record::{GameRecord, PlyRecord, Policy, SearchKind};
use surakarta_search::{Method, Root, Search, SearchConfig, Step, Stream};
use surakarta_tablebase::Tables;

use crate::collector::Collector;
use crate::exchange::Seat;
use crate::opening::{Begun, Openings, draw_from_policy, opening_ply};
use crate::progress::Counters;
use crate::resign::Doubts;
use crate::{SelfplayConfig, SelfplayError};

/// What all games of a batch have in common.
pub(crate) struct Setting<'a> {
    pub(crate) openings: Openings<'a>,
    pub(crate) config: &'a SelfplayConfig,
    pub(crate) search: SearchConfig,
    pub(crate) tables: Option<&'a Tables>,
}

impl Setting<'_> {
    /// Ends a game whose result the tables prove.
    pub(crate) fn end_by_tables(&self, game: &mut Game) {
        if game.result().is_none()
            && let Some(outcome) =
                self.tables.and_then(|tables| tables.outcome(game.position(), game.rules()))
        {
            game.end(Ending::Adjudicated, outcome);
        }
    }
}

/// A game in the hands of a worker. All of it goes along to another worker: nothing waits for an answer
/// between two steps.
pub(crate) struct Table {
    number: u64,
    random: Stream,
    game: Game,
    plies: Vec<PlyRecord>,
    /// Plies that are still to be drawn from the policy before the first search.
    policy_plies: u32,
    search: Search,
    kind: SearchKind,
    /// Plies that the game began with.
    given: usize,
    /// Plies after these at the first temperature.
    sampled: usize,
    doubts: Doubts,
    /// Whether a side has given up, and it goes on with fast searches.
    eased: bool,
}

impl Table {
    fn new(setting: &Setting, number: u64) -> Table {
        let mut random = setting.openings.stream(number);
        let Begun { game, plies, given, policy_plies } =
            setting.openings.begin(number, &mut random);
        let [least, most] = setting.config.sampled_plies;
        let sampled = random.random_range(least..=most) as usize;
        let search = Search::new(setting.search.clone());
        let kind = SearchKind::Opening;
        let (doubts, eased) = (Doubts::default(), false);
        let mut table = Table {
            number,
            random,
            game,
            plies,
            policy_plies,
            search,
            kind,
            given,
            sampled,
            doubts,
            eased,
        };
        if policy_plies == 0 {
            table.begin_search(setting);
        }
        table
    }

    fn begin_search(&mut self, setting: &Setting) {
        if self.game.result().is_some() {
            return;
        }
        let config = setting.config;
        let full = self.random.random_bool(config.full_share) && !self.eased;
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
            if self.policy_plies > 0 {
                return Some(batch.push(*self.game.position(), &self.game.legal_moves()));
            }
            match self.search.step(batch) {
                Step::Leaf(at) => return Some(at),
                Step::Done => self.play(setting, counters),
            }
        }
    }

    /// Takes in what the network says of the leaf.
    fn accept(&mut self, setting: &Setting, batch: &Batch, at: usize, counters: &Counters) {
        if self.policy_plies == 0 {
            return self.search.accept(batch, at);
        }
        counters.searched(0, 1);
        let temperature = setting.config.policy_temperature;
        let (moves, policy) = (batch.moves(at), batch.policy(at));
        let mv = draw_from_policy(moves, policy, temperature, &mut self.random);
        self.game.play_legal(mv);
        self.plies.push(opening_ply(mv));
        self.policy_plies -= 1;
        if self.policy_plies == 0 {
            self.begin_search(setting);
        }
    }

    fn play(&mut self, setting: &Setting, counters: &Counters) {
        let work = self.search.work();
        counters.searched(work.simulations, work.evaluations);
        let ply = self.plies.len() - self.given;
        let temperature = setting.config.temperature_at(ply, self.sampled);
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
        let side = self.game.side_to_move();
        self.game.play_legal(mv);
        setting.end_by_tables(&mut self.game);
        self.consider_resigning(setting, side);
        self.begin_search(setting);
    }

    /// After a side's search and its move, which are kept so: gives the game up if the rule says so.
    fn consider_resigning(&mut self, setting: &Setting, side: Color) {
        let Some(rule) = &setting.config.resign else { return };
        let last = self.plies.last().expect("the ply that was played");
        let gives_up = !self.eased && self.doubts.grow(rule, side, last);
        if gives_up && !setting.openings.is_played_on(self.number) {
            match rule.soft {
                true => self.eased = true,
                false => self.game.forfeit(side, Ending::Resignation),
            }
        }
    }
}

/// Plays games until the collector has no more and nobody has any to hand over.
pub(crate) fn work(
    setting: &Setting,
    evaluator: &mut dyn Evaluator,
    collector: &Collector,
    counters: &Counters,
    mut seat: Seat<'_, Table>,
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
            tables = seat.wait();
        }
        if tables.is_empty() {
            return Ok(());
        }
        // Others wait only once there is no game to begin.
        seat.share(&mut tables);
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
                    counters.finished(&record, setting.config);
                    collector.finished(record)?;
                }
            }
        }
        counters.batched(leaves.len());
        evaluator.evaluate(&mut batch)?;
        for (table, leaf) in tables.iter_mut().zip(&leaves) {
            table.accept(setting, &batch, *leaf, counters);
        }
    }
}
