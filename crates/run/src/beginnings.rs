//! What self-play games begin with: the openings of a file, and the games of earlier shards.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use surakarta_arena::{OpeningSet, quantity};
use surakarta_game::{RuleSet, Variant};
use surakarta_record::ShardReader;
use surakarta_record::shard::{newest_first, root_of};
use surakarta_selfplay::{Beginnings, Line, Lines, SelfplayConfig};

/// What the games of a configuration begin with; `forks` are the shards that some fork off from.
///
/// # Errors
/// If the file of openings cannot be used, or a shard is damaged, or of another variant or other rules.
pub fn beginnings(
    config: &SelfplayConfig,
    variant: Variant,
    rules: RuleSet,
    seed: u64,
    forks: &[PathBuf],
) -> Result<Beginnings> {
    let read = |path| openings(path, variant, rules, seed).context("[selfplay] openings");
    let openings = config.openings.as_deref().map(read).transpose()?;
    let forks = (config.fork_share > 0.0 && !forks.is_empty())
        .then(|| self::forks(forks, variant, rules).context("[selfplay] fork_share"))
        .transpose()?;
    Ok(Beginnings { openings, forks })
}

/// The openings of a file such as `surakarta book` makes.
fn openings(path: &Path, variant: Variant, rules: RuleSet, seed: u64) -> Result<Lines> {
    let OpeningSet { source, openings, .. } = OpeningSet::read(path, variant, rules, seed, None)?;
    let line =
        |opening: surakarta_arena::Opening| Line { start: opening.start, moves: opening.moves };
    Ok(Lines { source, lines: openings.into_iter().map(line).collect() })
}

/// The games of shards, the oldest first, from start to end.
fn forks(paths: &[PathBuf], variant: Variant, rules: RuleSet) -> Result<Lines> {
    let (mut shards, errors) = newest_first(paths);
    if let Some(error) = errors.into_iter().next() {
        return Err(error.into());
    }
    shards.reverse();
    let mut lines = Vec::new();
    for shard in &shards {
        let header = &shard.header;
        if (header.variant, header.rules) != (variant, rules) {
            bail!(
                "{} holds games of {} under {}, not of {variant} under {rules}; give other shards",
                shard.path.display(),
                header.variant,
                header.rules
            );
        }
        for game in ShardReader::open(&shard.path)?.games() {
            let game = game?;
            let moves = game.plies.iter().map(|ply| ply.mv).collect();
            lines.push(Line { start: game.start, moves });
        }
    }
    let (count, root) = (quantity(shards.len() as u64, "shard"), root_of(&shards));
    Ok(Lines { source: format!("{count} with the checksum {root:016x}"), lines })
}
