//! Games end where endgame tables prove their results.

use std::path::{Path, PathBuf};

use surakarta_game::{Ending, GameResult, RuleSet};
use surakarta_record::{GameRecord, ShardError};
use surakarta_tablebase::Tables;

use crate::collect::Collector;
use crate::error::DatasetError;
use crate::folder::NewFolder;
use crate::numbers;
use crate::read::Sources;

/// What a relabelling has done.
#[derive(Debug, Default)]
pub struct Relabelled {
    /// Shards written.
    pub shards: u64,
    /// Games in them.
    pub games: u64,
    /// Games that end earlier now.
    pub ended: u64,
    /// Those of them whose winner, or draw, is another.
    pub turned: u64,
    /// Plies that are gone with the ends.
    pub plies: u64,
    /// What is wrong with each shard that was left out.
    pub left_out: Vec<ShardError>,
}

/// Writes these games into the shards of a new folder, each ended, adjudicated, at the first position of which
/// the tables [prove](Tables::prove) the result under its rules: what is learned from the plies before is then
/// the truth about a perfect end, whatever was played. Games that no table speaks of stay as they are.
///
/// Order and numbers are those of [`merge`](crate::merge); a header notes the tables in its settings.
///
/// # Errors
/// If the folder is not empty or cannot be written, or no shard is whole.
pub fn relabel(paths: &[PathBuf], tables: &Tables, out: &Path) -> Result<Relabelled, DatasetError> {
    let folder = NewFolder::create(out)?;
    let mut sources = Sources::open(paths)?;
    sources.put_in_order();
    let mut collector = Collector::into_folder(folder.partial().to_owned());
    let mut done = Relabelled::default();
    sources.each_block(
        |games| {
            let rules = games.header.rules;
            let mut making = numbers::making(games.header);
            let known = format!("up to {} pieces", tables.pieces(making.variant));
            making.settings.insert("relabelled by tables".to_owned(), known);
            let ended = |mut game: GameRecord| {
                let result = game.result;
                let dropped = end(&mut game, &rules, tables);
                let turned = game.result.outcome != result.outcome;
                (games.numbers.original(game.number), game, dropped, turned)
            };
            (making, games.games.into_iter().map(ended).collect::<Vec<_>>())
        },
        |(making, games)| {
            for (original, game, dropped, turned) in games {
                done.ended += u64::from(dropped > 0);
                done.turned += u64::from(turned);
                done.plies += dropped as u64;
                collector.push(&making, original, game)?;
            }
            Ok(())
        },
    )?;
    for source in &sources.shards {
        collector.push_states(&numbers::making(&source.header), source.states()?)?;
    }
    let collector = collector.finish()?;
    folder.finish()?;
    let (shards, games) = (collector.shards, collector.count);
    Ok(Relabelled { shards, games, left_out: sources.left_out, ..done })
}

/// Ends a game where the tables do. How many plies are gone: none if it stays as it is.
fn end(game: &mut GameRecord, rules: &RuleSet, tables: &Tables) -> usize {
    let plies = game.plies.len();
    // One ply at least stays, and the last position is one of a game that is over.
    let proven = game
        .positions()
        .take(plies)
        .enumerate()
        .skip(1)
        .find_map(|(ply, position)| Some((ply, tables.outcome(&position, rules)?)));
    let Some((ply, outcome)) = proven else { return 0 };
    game.plies.truncate(ply);
    game.result = GameResult { ending: Ending::Adjudicated, outcome };
    plies - ply
}
