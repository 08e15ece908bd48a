//! Games end where endgame tables prove their results.

use std::path::{Path, PathBuf};

use surakarta_game::{Ending, GameResult, RuleSet};
use surakarta_record::{GameRecord, ShardError, ShardHeader};
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
    /// Games whose winner, or draw, is another now.
    pub turned: u64,
    /// Plies that are gone with the ends.
    pub plies: u64,
    /// What is wrong with each shard that was left out.
    pub left_out: Vec<ShardError>,
}

/// Writes these games into the shards of a new folder, each ended, adjudicated, at the first position after its
/// start of which the tables [prove](Tables::prove) the result under its rules: what is learned from the plies
/// before is then the truth about a perfect end, whatever was played. Games that no table speaks of stay as
/// they are.
///
/// Order and numbers are those of [`merge`](crate::merge); a header notes the tables in its settings.
///
/// # Errors
/// If the folder is not empty or cannot be written, no shard is whole, or the tables prove nothing of any: they
/// are of another variant, or the rules are such.
pub fn relabel(paths: &[PathBuf], tables: &Tables, out: &Path) -> Result<Relabelled, DatasetError> {
    let mut sources = Sources::open(paths)?;
    let serve = |header: &ShardHeader| {
        tables.pieces(header.variant) > 0 && tables.holds_under(&header.rules, header.variant)
    };
    if let Some(first) = sources.shards.first()
        && !sources.shards.iter().any(|source| serve(&source.header))
    {
        let ShardHeader { variant, rules, .. } = first.header;
        return Err(DatasetError::NothingProven {
            tables: tables.folder().to_owned(),
            variant,
            rules,
        });
    }
    let folder = NewFolder::create(out)?;
    sources.put_in_order();
    let mut collector = Collector::into_folder(folder.partial().to_owned());
    let mut done = Relabelled::default();
    sources.each_block(
        |games| {
            let mut making = numbers::making(games.header);
            if serve(games.header) {
                note(&mut making, tables);
            }
            let rules = games.header.rules;
            let relabelled = |mut game: GameRecord| {
                let change = end(&mut game, &rules, tables);
                (games.numbers.original(game.number), game, change)
            };
            (making, games.games.into_iter().map(relabelled).collect::<Vec<_>>())
        },
        |(making, games)| {
            for (original, game, Change { plies, turned }) in games {
                done.ended += u64::from(plies > 0);
                done.turned += u64::from(turned);
                done.plies += plies as u64;
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

/// Notes the tables beside those that have been used before.
fn note(making: &mut ShardHeader, tables: &Tables) {
    let known = tables.identity(making.variant);
    let notes = making.settings.entry("relabelled by tables".to_owned()).or_default();
    if !notes.is_empty() {
        notes.push_str("; ");
    }
    notes.push_str(&known);
}

/// What has become of a game.
struct Change {
    /// Plies that are gone.
    plies: usize,
    /// Whether the outcome is another.
    turned: bool,
}

/// Ends a game where the tables do.
fn end(game: &mut GameRecord, rules: &RuleSet, tables: &Tables) -> Change {
    let plies = game.plies.len();
    // One ply at least stays. Where a rule has ended the game there is nothing left to prove, but a
    // resignation may have been wrong.
    let asked = plies + usize::from(!game.result.ending.is_by_rule());
    let proven = (game.positions().take(asked).enumerate().skip(1))
        .find_map(|(ply, position)| Some((ply, tables.outcome(&position, rules)?)));
    let Some((ply, outcome)) = proven else { return Change { plies: 0, turned: false } };
    let turned = game.result.outcome != outcome;
    if ply < plies || turned {
        game.plies.truncate(ply);
        game.result = GameResult { ending: Ending::Adjudicated, outcome };
    }
    Change { plies: plies - ply, turned }
}
