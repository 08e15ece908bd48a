//! A few shards with every kind of game.

#[path = "../../../record/tests/games/mod.rs"]
mod games;

use std::path::PathBuf;

use games::{random_game_of, stream};
use surakarta_game::{OLYMPIAD, Variant};
use surakarta_record::{GameRecord, ShardHeader, shard_name, write_shard};

pub(crate) struct Run {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) games: Vec<GameRecord>,
}

/// Three shards of thirty games; the last game is the first once more.
pub(crate) fn run_of(variant: Variant) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let mut random = stream(1);
    let (mut paths, mut all) = (Vec::new(), Vec::<GameRecord>::new());
    for first_game in [0, 30, 60] {
        let numbers = first_game..first_game + 30;
        let mut games: Vec<_> =
            numbers.map(|n| random_game_of(variant, OLYMPIAD, n, &mut random)).collect();
        if first_game == 60 {
            games[29] = GameRecord { number: 89, ..all[0].clone() };
        }
        let header = ShardHeader {
            variant,
            seed: u64::MAX,
            iteration: 4,
            first_game,
            games: 30,
            player: "mcts:net=\"a,b\",sims=9".into(),
            ..ShardHeader::default()
        };
        paths.push(dir.path().join(shard_name(4, first_game)));
        write_shard(&paths[paths.len() - 1], &header, &games).unwrap();
        all.extend(games);
    }
    Run { dir, paths, games: all }
}
