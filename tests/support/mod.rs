//! What the whole-program tests share: the binary, files for it, and its sudden death.

// Every test program uses a part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;
use surakarta_game::Variant;
use surakarta_net::{Shape, Weights};

/// Few games at once and in a shard, so that two threads have much to do beside each other.
pub(crate) const SMALL: &str = r#"
[run]
name = "small"
seed = 1
iterations = 1
games = 1
[network]
kind = "mlp"
hidden = [32]
[selfplay]
games_per_shard = 3
games_in_flight = 2
[rating]
every = 0
"#;

/// The binary, in a folder.
pub(crate) fn surakarta(folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("surakarta"));
    command.current_dir(folder);
    command
}

/// What a command prints, which must succeed. The words are separated by spaces.
pub(crate) fn stdout(folder: &Path, words: &str) -> String {
    let output = surakarta(folder).args(words.split_whitespace()).assert().success();
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

/// The same, as JSON.
pub(crate) fn json(folder: &Path, words: &str) -> Value {
    serde_json::from_str(&stdout(folder, words)).unwrap()
}

/// Runs a command that must fail with this on stderr, nothing on stdout, and no panic.
pub(crate) fn refused(folder: &Path, words: &str, reason: &str) {
    refused_words(folder, &words.split_whitespace().collect::<Vec<_>>(), reason);
}

/// The same, with words that may have spaces.
pub(crate) fn refused_words(folder: &Path, words: &[&str], reason: &str) {
    surakarta(folder)
        .args(words)
        .assert()
        .failure()
        .stdout("")
        .stderr(predicate::str::contains(reason))
        .stderr(predicate::str::starts_with("error: "))
        .stderr(predicate::str::contains("panicked").not());
}

/// Starts a command and kills it, as a power cut would, some milliseconds after files in `watched`
/// have changed so often. False if it ended before.
pub(crate) fn killed(folder: &Path, words: &str, watched: &Path, moment: (u32, u64)) -> bool {
    let (mut changes, milliseconds) = moment;
    let mut seen = sizes(watched);
    let mut child = Process::new(assert_cmd::cargo::cargo_bin!("surakarta"))
        .args(words.split_whitespace())
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while changes > 0 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
        let now = sizes(watched);
        if now != seen {
            seen = now;
            changes -= 1;
        }
    }
    std::thread::sleep(Duration::from_millis(milliseconds));
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    running
}

/// The size of every file in a folder and the folders in it.
fn sizes(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let mut sizes = BTreeMap::new();
    // Files come and go while this looks.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(data) if data.is_dir() => sizes.extend(self::sizes(&entry.path())),
            Ok(data) => _ = sizes.insert(entry.path(), data.len()),
            Err(_) => {}
        }
    }
    sizes
}

/// Kills a command at each of these moments, one after another, and lets it end at last. At least
/// three kills must have hit it at work.
pub(crate) fn killed_again_and_again(
    folder: &Path,
    words: &str,
    watched: &Path,
    moments: &[(u32, u64)],
) {
    let hits = moments.iter().filter(|&&moment| killed(folder, words, watched, moment)).count();
    assert!(hits >= 3, "only {hits} kills hit {words} at work");
    stdout(folder, words);
}

/// Writes the weights of a small random network.
pub(crate) fn write_weights(path: &Path, hidden: &[usize], seed: u64) {
    write_weights_for(Variant::Standard, path, hidden, seed);
}

/// The same for any variant.
pub(crate) fn write_weights_for(variant: Variant, path: &Path, hidden: &[usize], seed: u64) {
    Weights::random(Shape::mlp(hidden).unwrap(), variant, seed).save(path).unwrap();
}

/// The files of a folder whose names end so, by name.
pub(crate) fn files(folder: &Path, ending: &str) -> BTreeMap<String, Vec<u8>> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names
        .map(|name| name.into_string().unwrap())
        .filter(|name| name.ends_with(ending))
        .map(|name| (name.clone(), std::fs::read(folder.join(name)).unwrap()))
        .collect()
}

/// Asserts that two folders hold the same such files, byte for byte, and returns how many.
pub(crate) fn assert_same_files(one: &Path, other: &Path, ending: &str) -> usize {
    let (one, other) = (files(one, ending), files(other, ending));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(bytes == &other[name], "{name} differs");
    }
    one.len()
}

/// Cuts a file short.
pub(crate) fn truncate(path: &Path, to: u64) {
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    assert!(file.metadata().unwrap().len() > to, "{} is shorter", path.display());
    file.set_len(to).unwrap();
}

/// Writes a file and returns its path.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// A table by the names of its columns.
pub(crate) fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let names: Vec<_> = lines.next().unwrap().collect();
    lines.map(|cells| names.iter().cloned().zip(cells).collect()).collect()
}
