//! `surakarta dataset`: shards shown, merged, split and exported.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use predicates::prelude::*;
use serde_json::Value;
use support::{SMALL, assert_same_files, files, json, refused, stdout, surakarta, truncate, write};
use tempfile::TempDir;

/// Two folders, `one` and `two`, of ten and eight games.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "small.toml", SMALL);
    let play = "--quiet selfplay --player alphabeta:nodes=100 --config small.toml";
    stdout(folder.path(), &format!("{play} --games 10 --seed 7 --out one"));
    stdout(folder.path(), &format!("{play} --games 8 --seed 8 --out two"));
    folder
}

fn games(folder: &Path, data: &str) -> u64 {
    json(folder, &format!("dataset stats {data} --json"))["games"].as_u64().unwrap()
}

/// Start and moves of every game, by its row in the table.
fn courses(folder: &Path, data: &str) -> Vec<String> {
    stdout(folder, &format!("dataset export {data} --out {data}-table"));
    let table = std::fs::read_to_string(folder.join(format!("{data}-table/games.csv"))).unwrap();
    let moves = table.lines().next().unwrap().split(',').position(|name| name == "moves").unwrap();
    // No field before the moves has a comma.
    table.lines().skip(1).map(|row| row.split(',').nth(moves).unwrap().to_owned()).collect()
}

#[test]
fn a_game_is_shown_ply_by_ply() {
    let folder = folder();
    let text = stdout(folder.path(), "dataset show one two --game 12");
    assert!(
        text.contains("two/000000-0000000000.shard: game 2 of iteration 0, seed 8\n"),
        "{text}"
    );
    assert!(text.contains("plays standard under olympiad; "), "{text}");
    let shown = json(folder.path(), "dataset show one two --game 12 --json");
    let positions = shown["positions"].as_array().unwrap();
    assert_eq!(text.matches("╭───────────╮   ╭───────────╮").count(), positions.len());
    assert_eq!((&shown["seed"], &shown["number"]), (&8.into(), &2.into()));
    let ply = json(folder.path(), "dataset show one two --game 12 --ply 3 --json");
    assert_eq!(ply, positions[3]);
    let text = stdout(folder.path(), "dataset show one two --game 12 --ply 3");
    assert!(text.contains(&format!("plays {}; ", ply["move"].as_str().unwrap())), "{text}");
    assert!(text.contains(ply["position"].as_str().unwrap()));
    assert_eq!(positions[positions.len() - 1]["move"], Value::Null);

    refused(
        folder.path(),
        "dataset show one two --game 18",
        "there is no game 18: the shards hold 18",
    );
    refused(folder.path(), "dataset show one --ply 9999", "there is no ply 9999: the game is over");
}

#[test]
fn a_merge_is_the_same_in_any_order() {
    let folder = folder();
    let distinct =
        json(folder.path(), "dataset stats one two --json")["distinct_games"]["count"].clone();
    let distinct = distinct.as_u64().unwrap();
    assert!((10..=18).contains(&distinct));
    let expected = |name: &str, all: u64| {
        format!("{name}: {distinct} games in 2 shards; {} repeated left out\n", all - distinct)
    };
    let said = stdout(folder.path(), "dataset merge one two --out all");
    assert_eq!(said, expected("all", 18));
    let said = stdout(folder.path(), "dataset merge two all one two --out again");
    assert_eq!(said, expected("again", 8 + distinct + 18));
    let [all, again] = ["all", "again"].map(|name| folder.path().join(name));
    assert_same_files(&all, &again, "");
    stdout(folder.path(), "dataset verify all");
    assert_eq!(courses(folder.path(), "all").len() as u64, distinct);
    refused(folder.path(), "dataset merge one --out all", "all is there and not empty");
    // Nothing is left where nothing could be made.
    truncate(&folder.path().join("one/000000-0000000000.shard"), 100);
    refused(folder.path(), "dataset merge one/000000-0000000000.shard --out none", "is cut short");
    assert!(!folder.path().join("none").exists() && !folder.path().join("none.partial").exists());
    surakarta(folder.path())
        .args(["dataset", "merge", "one", "--out", "rest"])
        .assert()
        .success()
        .stderr(predicate::str::contains("left out: one/000000-0000000000.shard is cut short"));
    assert!((5..=7).contains(&games(folder.path(), "rest")));
}

#[test]
fn a_split_is_that_of_the_tables_and_stable() {
    let folder = folder();
    stdout(folder.path(), "dataset merge one two --out all");
    let division = "--shares 0.5,0.25,0.25 --key 3";
    let said = stdout(folder.path(), &format!("dataset split all --out parts {division}"));
    assert_eq!(said.lines().count(), 3, "{said}");
    stdout(folder.path(), &format!("dataset split one --out before {division}"));
    stdout(folder.path(), &format!("dataset export all --out tables {division}"));
    let table = std::fs::read_to_string(folder.path().join("tables/games.csv")).unwrap();
    let mut all = BTreeSet::new();
    for part in ["train", "validation", "test"] {
        let count = table.lines().filter(|row| row.split(',').nth(1) == Some(part)).count();
        let whole = courses(folder.path(), &format!("parts/{part}"));
        assert_eq!(whole.len(), count, "{part}");
        if !files(&folder.path().join("before").join(part), ".shard").is_empty() {
            let before = courses(folder.path(), &format!("before/{part}"));
            assert!(before.iter().all(|game| whole.contains(game)), "{part}");
        }
        all.extend(whole);
    }
    assert_eq!(all, courses(folder.path(), "all").into_iter().collect());
    refused(
        folder.path(),
        "dataset split all --out x --shares 0.5,0.5",
        "`0.5,0.5` is no division",
    );
    assert!(!folder.path().join("x").exists());
}

#[test]
fn exports_have_a_card_and_a_manifest() {
    let folder = folder();
    let words = "dataset export one two --out data --format csv --format parquet --format npz";
    let said = stdout(folder.path(), words);
    let data = folder.path().join("data");
    let names: BTreeSet<String> = files(&data, "").into_keys().collect();
    for name in ["README.md", "manifest.json", "moves.csv", "games.csv", "positions.parquet"] {
        assert!(names.contains(name), "{names:?}");
    }
    assert!(said.contains("data/games.parquet: 18 rows\n"), "{said}");
    let manifest: Value = serde_json::from_slice(&files(&data, "")["manifest.json"]).unwrap();
    assert_eq!(
        (&manifest["games"], manifest["sources"].as_array().unwrap().len()),
        (&18.into(), 7)
    );
    let card = String::from_utf8(files(&data, "")["README.md"].clone()).unwrap();
    assert!(card.contains("Licence: TODO") && card.contains("| `policy` |"), "{card}");
    // Again, by one thread: the same bytes.
    surakarta(folder.path())
        .args(words.replace("--out data", "--out again").split_whitespace())
        .env("RAYON_NUM_THREADS", "1")
        .assert()
        .success();
    assert_same_files(&data, &folder.path().join("again"), "");
    refused(folder.path(), "dataset export one --out data --format xml", "`xml` is not a format");
    write(folder.path(), "file", "");
    refused(folder.path(), "dataset export one --out file", "file is not a folder");
}

/// Any byte that changes is found, and its place told.
#[test]
fn every_flipped_byte_is_found() {
    let folder = folder();
    let name = "one/000000-0000000009.shard";
    let whole = std::fs::read(folder.path().join(name)).unwrap();
    let mut places = BTreeSet::new();
    for at in (0..whole.len()).step_by(whole.len() / 40).chain([whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let output = surakarta(folder.path()).args(["dataset", "verify", name]).output().unwrap();
        assert!(!output.status.success(), "byte {at}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with(&format!("damaged {name} ")), "byte {at}: {said}");
        for place in ["header", "block 0 of its games", "index"] {
            if said.contains(place) {
                places.insert(place);
            }
        }
    }
    assert!(places.contains("header") && places.contains("block 0 of its games"), "{places:?}");
}

#[test]
fn games_come_back_from_a_table() {
    let folder = folder();
    stdout(folder.path(), "dataset merge one two --out all");
    stdout(folder.path(), "dataset export all --out tables");
    let said = stdout(folder.path(), "dataset import tables/games.csv --out back");
    let count = courses(folder.path(), "all").len();
    assert_eq!(said, format!("back: {count} games in 2 shards\n"));
    stdout(folder.path(), "dataset verify back");
    stdout(folder.path(), "dataset export back --out again");
    let tables = ["tables", "again"].map(|name| folder.path().join(name).join("games.csv"));
    let [before, after] = tables.map(|path| std::fs::read_to_string(path).unwrap());
    assert_eq!(before, after);

    // As little as a person would write.
    write(folder.path(), "own.csv", "outcome,moves,ending\nwhite,a2a3 e5e4,resignation\n");
    stdout(folder.path(), "dataset import own.csv --out own");
    let shown = json(folder.path(), "dataset show own --json");
    assert_eq!((&shown["ending"], &shown["outcome"]), (&"resignation".into(), &"white".into()));

    let cases = [
        ("moves,ending\n", "wrong.csv, line 1: there is no column `outcome`"),
        (
            "moves,ending,outcome\na2a3,resignation,white\na2a9,resignation,white\n",
            "line 3: `a2a9`",
        ),
        ("moves,ending,outcome\na2a5,resignation,white\n", "line 2: ply 0 contradicts the rules"),
        ("moves,ending,outcome\na2a3,boredom,white\n", "line 2: `boredom`"),
        ("moves,ending,outcome\na2a3,resignation,red\n", "line 2: `red` is no outcome"),
        ("moves,ending,outcome\na2a3,repetition,draw\n", "line 2: ply 1 contradicts the rules"),
        ("moves,ending,outcome,seed\na2a3,resignation,white,x\n", "in the column `seed`"),
    ];
    for (text, reason) in cases {
        write(folder.path(), "wrong.csv", text);
        refused(folder.path(), "dataset import wrong.csv --out none", reason);
        assert!(!folder.path().join("none").exists(), "{text}");
    }
    // Lines are those that an editor counts, however they end.
    for end in ["\n", "\r\n"] {
        let rows =
            ["moves,ending,outcome", "a2a3,resignation,black", "a2a3,resignation,purple", ""];
        write(folder.path(), "wrong.csv", &rows.join(end));
        refused(folder.path(), "dataset import wrong.csv --out none", "wrong.csv, line 3: ");
    }
    refused(folder.path(), "dataset import gone.csv --out none", "gone.csv: cannot open the table");
    refused(folder.path(), "dataset import own.csv --out back", "back is there and not empty");
}
