//! Hands out game numbers and turns finished games into shards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use surakarta_record::{GameRecord, ShardHeader, shard_name, write_shard};

use crate::SelfplayError;

/// The games that are still to be played and the shards that wait for some of them.
pub(crate) struct Collector<'a> {
    header: &'a ShardHeader,
    folder: &'a Path,
    stop: &'a AtomicBool,
    state: Mutex<State>,
}

struct State {
    /// First game and number of games of the shards that nobody has begun.
    unopened: std::vec::IntoIter<(u64, u32)>,
    /// What is left of the shard that games are handed out from.
    open: std::ops::Range<u64>,
    /// Shards in the making, by their first game.
    waiting: BTreeMap<u64, Waiting>,
}

struct Waiting {
    games: Vec<Option<GameRecord>>,
    missing: u32,
}

/// The shards of a batch: first game and number of games of each, in order.
pub(crate) fn shards(games: std::ops::Range<u64>, per_shard: u32) -> Vec<(u64, u32)> {
    let step = per_shard as usize;
    games
        .clone()
        .step_by(step)
        .map(|first| (first, per_shard.min((games.end - first) as u32)))
        .collect()
}

impl<'a> Collector<'a> {
    pub(crate) fn new(
        header: &'a ShardHeader,
        folder: &'a Path,
        missing: Vec<(u64, u32)>,
        stop: &'a AtomicBool,
    ) -> Collector<'a> {
        let state = State { unopened: missing.into_iter(), open: 0..0, waiting: BTreeMap::new() };
        Collector { header, folder, stop, state: Mutex::new(state) }
    }

    /// The next game to play: none once all are handed out, or once a stop was asked for and the
    /// shards that were begun are handed out.
    pub(crate) fn next_game(&self) -> Option<u64> {
        let mut state = self.state.lock().expect("no worker panics while it holds the lock");
        if state.open.is_empty() {
            if self.stop.load(Relaxed) {
                return None;
            }
            let (first, games) = state.unopened.next()?;
            state.open = first..first + games as u64;
            let waiting = Waiting { games: vec![None; games as usize], missing: games };
            state.waiting.insert(first, waiting);
        }
        state.open.next()
    }

    /// Takes a finished game; the last one of a shard writes it.
    pub(crate) fn finished(&self, game: GameRecord) -> Result<(), SelfplayError> {
        let complete = {
            let mut state = self.state.lock().expect("no worker panics while it holds the lock");
            let (&first, waiting) = state
                .waiting
                .range_mut(..=game.number)
                .next_back()
                .expect("a game was handed out from an open shard");
            let at = (game.number - first) as usize;
            waiting.games[at] = Some(game);
            waiting.missing -= 1;
            if waiting.missing > 0 {
                return Ok(());
            }
            state.waiting.remove(&first).map(|waiting| (first, waiting))
        };
        if let Some((first, waiting)) = complete {
            let games: Vec<_> = waiting.games.into_iter().flatten().collect();
            let path = shard_path(self.folder, self.header.iteration, first);
            let header =
                ShardHeader { first_game: first, games: games.len() as u64, ..self.header.clone() };
            write_shard(&path, &header, &games)?;
        }
        Ok(())
    }
}

pub(crate) fn shard_path(folder: &Path, iteration: u64, first_game: u64) -> PathBuf {
    folder.join(shard_name(iteration, first_game))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_cut_at_fixed_numbers() {
        assert_eq!(shards(0..10, 4), [(0, 4), (4, 4), (8, 2)]);
        assert_eq!(shards(8..16, 8), [(8, 8)]);
        assert!(shards(5..5, 8).is_empty());
    }
}
