//! Games gathered into shards.

use std::collections::BTreeMap;
use std::path::PathBuf;

use surakarta_record::{
    GameRecord, ShardHeader, State, shard::write_shard_with_states, shard_name,
};

use crate::error::DatasetError;
use crate::numbers;

/// A shard is closed at this many games or plies: a few megabytes in memory.
const MOST_GAMES: usize = 1024;
const MOST_PLIES: usize = 1 << 16;

/// Writes games into the shards of a folder, in the order in which they come. Games of an iteration are
/// numbered one after another; what they were called before is kept ([`Numbers`](crate::Numbers)).
#[derive(Debug)]
pub(crate) struct Collector {
    folder: PathBuf,
    /// Number of the next game of each iteration.
    next: BTreeMap<u64, u64>,
    making: ShardHeader,
    games: Vec<GameRecord>,
    plies: usize,
    originals: Vec<u64>,
    states: Vec<State>,
    /// Files written.
    pub(crate) shards: u64,
    /// Games that have come.
    pub(crate) count: u64,
}

impl Collector {
    pub(crate) fn into_folder(folder: PathBuf) -> Collector {
        Collector {
            folder,
            next: BTreeMap::new(),
            making: ShardHeader::default(),
            games: Vec::new(),
            plies: 0,
            originals: Vec::new(),
            states: Vec::new(),
            shards: 0,
            count: 0,
        }
    }

    /// Adds a game with its maker ([`numbers::making`]) and what it was called.
    pub(crate) fn push(
        &mut self,
        making: &ShardHeader,
        original: u64,
        game: GameRecord,
    ) -> Result<(), DatasetError> {
        if self.games.len() >= MOST_GAMES || self.plies >= MOST_PLIES {
            self.close()?;
        }
        self.follow(making)?;
        self.count += 1;
        self.plies += game.plies.len();
        self.originals.push(original);
        self.games.push(game);
        Ok(())
    }

    /// Adds states outside games.
    pub(crate) fn push_states(
        &mut self,
        making: &ShardHeader,
        states: impl IntoIterator<Item = State>,
    ) -> Result<(), DatasetError> {
        self.follow(making)?;
        self.states.extend(states);
        Ok(())
    }

    /// Goes on with games of this maker.
    fn follow(&mut self, making: &ShardHeader) -> Result<(), DatasetError> {
        if *making != self.making {
            self.close()?;
            self.making = making.clone();
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), DatasetError> {
        if self.games.is_empty() && self.states.is_empty() {
            return Ok(());
        }
        let next = self.next.entry(self.making.iteration).or_default();
        let header = numbers::header(&self.making, *next, &self.originals);
        for (number, game) in (*next..).zip(&mut self.games) {
            game.number = number;
        }
        // A shard of states alone takes a number, too: names must differ.
        *next += header.games.max(1);
        let path = self.folder.join(shard_name(header.iteration, header.first_game));
        write_shard_with_states(&path, &header, &self.games, &self.states)?;
        self.shards += 1;
        self.games.clear();
        self.originals.clear();
        self.states.clear();
        self.plies = 0;
        Ok(())
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> Result<Collector, DatasetError> {
        self.close()?;
        Ok(self)
    }
}
