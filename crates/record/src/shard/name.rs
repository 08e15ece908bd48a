use std::io;
use std::path::{Path, PathBuf};

/// How the names of shards end.
const ENDING: &str = ".shard";

/// The name of the shard of an iteration that begins with this game: names sort as the shards do, up
/// to a million iterations and ten billion games.
pub fn shard_name(iteration: u64, first_game: u64) -> String {
    format!("{iteration:06}-{first_game:010}{ENDING}")
}

/// Iteration and first game of a name that [`shard_name`] made.
pub fn parse_shard_name(name: &str) -> Option<(u64, u64)> {
    let (iteration, game) = name.strip_suffix(ENDING)?.split_once('-')?;
    let (iteration, game) = (iteration.parse().ok()?, game.parse().ok()?);
    // Other spellings of the same numbers are other names.
    (shard_name(iteration, game) == name).then_some((iteration, game))
}

/// The shards in a folder, by name; none if there is no such folder. Whether they are whole shows when
/// they are opened.
///
/// # Errors
/// If the folder cannot be read.
pub fn list_shards(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ENDING)) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
