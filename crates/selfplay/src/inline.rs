//! One worker of any other player: one game after another.

use rand::Rng;
use surakarta_record::{GameRecord, PlyRecord, Policy, SearchKind};
use surakarta_search::{Limits, Player};

use crate::SelfplayError;
use crate::collector::Collector;
use crate::lockstep::Setting;
use crate::opening::Begun;
use crate::progress::Counters;

/// Plays games until the collector has no more. The player moves for both sides.
pub(crate) fn work(
    setting: &Setting,
    player: &mut dyn Player,
    limits: &Limits,
    collector: &Collector,
    counters: &Counters,
) -> Result<(), SelfplayError> {
    while let Some(number) = collector.next_game() {
        let mut random = setting.openings.stream(number);
        let Begun { mut game, mut plies, .. } = setting.openings.begin(number, &mut random);
        player.new_game(random.next_u64());
        while game.result().is_none() {
            let choice = player.choose(&game, limits)?;
            counters.searched(choice.work.simulations, choice.work.evaluations);
            plies.push(PlyRecord {
                mv: choice.mv,
                search: SearchKind::Full,
                simulations: choice.work.simulations as u32,
                value: choice.value,
                policy: Policy::None,
            });
            game.play_legal(choice.mv);
            setting.end_by_tables(&mut game);
        }
        let record = GameRecord::of(&game, number, plies);
        counters.finished(&record, setting.config);
        collector.finished(record)?;
    }
    Ok(())
}
