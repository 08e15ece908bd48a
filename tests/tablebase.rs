//! Endgame tables through the binary, and all that looks into them.

mod support;

use std::path::Path;
use std::sync::OnceLock;

use predicates::prelude::*;
use serde_json::Value;
use support::{SMALL, json, refused, refused_words, stdout, surakarta, write, write_weights};
use tempfile::TempDir;

/// One piece against two, in three plies.
const WON: &str = "w5/6/6/6/6/b4w b 0 1";

/// A folder with the tables of up to four pieces, made once.
fn built() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        stdout(folder.path(), "--quiet tablebase build --pieces 4");
        folder
    });
    folder.path()
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn tables_are_built_verified_and_summed_up() {
    let folder = built();
    let checks = rows(&stdout(folder, "--quiet tablebase verify --json"));
    let stats = rows(&stdout(folder, "tablebase stats --json"));
    assert_eq!((checks.len(), stats.len()), (6, 6));
    for (check, stats) in checks.iter().zip(&stats) {
        assert_eq!(check["class"], stats["class"]);
        assert_eq!((&check["checked"], &check["wrong"]), (&stats["positions"], &0.into()));
        let count = |value: &str| stats[value]["positions"].as_u64().unwrap();
        assert_eq!(count("win") + count("draw") + count("loss"), stats["positions"]);
    }
    // Symmetrical positions once: 36 · 35 pairs of points, by Burnside's lemma.
    assert_eq!(stats[0]["positions"], 165);
    assert_eq!(stats[1]["fewer_pieces_win"], WON);
    let text = stdout(folder, "tablebase stats");
    assert!(text.contains("2-2           44,481") && text.contains(WON), "{text}");
    // Nothing is made again.
    let again = surakarta(folder).args(["tablebase", "build", "--pieces", "4"]).assert();
    again.success().stderr(predicate::str::contains("2-2: 44,481 positions"));
}

#[test]
fn a_position_is_looked_up_with_its_moves() {
    let words = |position: &str| {
        let words = ["tablebase", "probe", "--json", "--position", position];
        let output = surakarta(built()).args(words).assert().success();
        serde_json::from_slice::<Value>(&output.get_output().stdout).unwrap()
    };
    let found = words(WON);
    assert_eq!((&found["value"], &found["plies"]), (&"win".into(), &3.into()));
    assert_eq!((&found["class"], &found["proven"]), (&"1-2".into(), &true.into()));
    let moves = found["moves"].as_array().unwrap();
    assert_eq!((&moves[0]["value"], &moves[0]["plies"]), (&"win".into(), &3.into()));
    let line = found["line"].as_array().unwrap();
    assert_eq!((line.len(), &line[0]), (3, &moves[0]["move"]));
    // After quiet plies a forced capture may come too late, or run into what has been.
    assert_eq!(words(&WON.replace("b 0 1", "b 7 9"))["proven"], false);
    assert_eq!(words("w5/6/6/6/6/b4w w 7 9")["proven"], true);
    let text = surakarta(built()).args(["tablebase", "probe", "--position", WON]).assert();
    text.success().stdout(predicate::str::contains("class 1-2, black to move: win in 3"));
}

#[test]
fn players_and_analyses_look_into_them() {
    let folder = built();
    let words = ["analyse", "--json", "--position", WON, "--tables", "tables", "--player"];
    let analyse = |player: &str| {
        let output = surakarta(folder).args(words).arg(player).assert().success();
        serde_json::from_slice::<Value>(&output.get_output().stdout).unwrap()
    };
    write_weights(&folder.join("w.safetensors"), &[32], 1);
    let analysis = analyse("mcts:net=w.safetensors,sims=200,tables=tables");
    assert_eq!(analysis["proven"], "win");
    assert_eq!(
        (&analysis["table"]["value"], &analysis["table"]["plies"]),
        (&"win".into(), &3.into())
    );
    let best = &analysis["moves"][0];
    assert_eq!((&best["table"]["value"], &best["proven"]), (&"win".into(), &"win".into()));
    assert_eq!(analyse("alphabeta:nodes=1000,tables=tables")["value"], 1.0);
    let play = surakarta(folder)
        .args(["play", "--color", "black", "--tables", "tables", "--position", WON])
        .write_stdin("quit\n")
        .assert();
    play.success().stdout(predicate::str::contains(
        "Endgame tables: black wins by a capture within 3 plies.",
    ));
    // With one ply left there is no time for it.
    let late = WON.replace("b 0 1", "b 49 60");
    let play = surakarta(folder)
        .args(["play", "--color", "black", "--tables", "tables", "--position", &late])
        .write_stdin("quit\n")
        .assert();
    play.success().stdout(predicate::str::contains("within 3 plies, unless the game ends before."));
}

#[test]
fn networks_are_graded() {
    let folder = built();
    write_weights(&folder.join("graded.safetensors"), &[32], 1);
    let words = "net grade graded.safetensors --positions 100";
    let grades = json(folder, &format!("{words} --json"));
    assert_eq!(grades["classes"].as_array().unwrap().len(), 6);
    let all = &grades["all"];
    // But for positions without a move.
    assert!((580..=600).contains(&all["positions"].as_u64().unwrap()), "{all}");
    for share in ["sign", "result", "move"] {
        let share = all[share].as_f64().unwrap();
        assert!(share > 0.1 && share < 0.9, "a fresh network knows nothing: {all}");
    }
    let text = stdout(folder, words);
    assert!(text.starts_with("class  positions") && text.contains("\nall  "), "{text}");
    assert_eq!(json(folder, &format!("{words} --json")), grades);
}

#[test]
fn lookups_are_measured() {
    let folder = built();
    let rates = json(folder, "--quiet bench tables --seconds 0 --json");
    let stats = rows(&stdout(folder, "tablebase stats --json"));
    let positions: u64 = stats.iter().map(|class| class["positions"].as_u64().unwrap()).sum();
    assert_eq!((&rates["pieces"], &rates["positions"]), (&4.into(), &positions.into()));
    let rate = |key: &str| rates[key].as_f64().unwrap();
    assert!(rate("derived_per_s") > 0.0 && rate("probes_per_s") > 0.0);
    let ratio = rate("probes_per_s") / rate("derived_per_s");
    assert!((ratio / rate("ratio") - 1.0).abs() < 1e-6, "{rates}");
    let text = stdout(folder, "--quiet bench tables --seconds 0");
    assert!(text.starts_with("up to 4 pieces"), "{text}");
    refused(folder, "bench tables --variant rural", "tables has no tables of the variant rural");
}

#[test]
fn games_end_where_the_tables_know() {
    let folder = built();
    let config = SMALL
        .replace("[network]", "tables = \"tables\"\n[network]")
        .replace("games_in_flight = 2", "games_in_flight = 2\nend_by_tables = true");
    write(folder, "ends.toml", &config);
    let selfplay = "--quiet selfplay --player greedy --games 40 --seed 1 --config";
    stdout(folder, &format!("{selfplay} ends.toml --out with"));
    let stats = json(folder, "dataset stats with --json");
    assert!(stats["endings"]["adjudicated"].as_u64().unwrap() > 4, "{stats}");
    stdout(folder, "dataset verify with");
    let shard = std::fs::read(folder.join("with/000000-0000000000.shard")).unwrap();
    assert!(String::from_utf8_lossy(&shard).contains("up to 4 pieces, "), "no word of the tables");
    write(folder, "goes-on.toml", &config.replace("end_by_tables = true", ""));
    stdout(folder, &format!("{selfplay} goes-on.toml --out without"));
    let stats = json(folder, "dataset stats without --json");
    assert!(stats["endings"].get("adjudicated").is_none(), "{stats}");

    let done = stdout(folder, "dataset relabel without --out relabelled");
    assert!(done.starts_with("relabelled: 40 games in "), "{done}");
    let stats = json(folder, "dataset stats relabelled --json");
    assert!(stats["endings"]["adjudicated"].as_u64().unwrap() > 4, "{stats}");

    let arena = |name: &str, adjudication: &str| {
        let config = format!(
            "players = [\"alphabeta:nodes=500\", \"alphabeta:nodes=400\"]\nseed = 1\npairs = 10\n{adjudication}"
        );
        write(folder, name, &config);
        json(folder, &format!("--quiet arena {name} --json"))
    };
    let endings = |table: &Value| table["endings"]["adjudicated"].as_u64().unwrap_or(0);
    assert_eq!(endings(&arena("plain.toml", "")), 0);
    assert!(endings(&arena("decided.toml", "[adjudication]\ntables = \"tables\"")) > 2);
}

#[test]
fn what_cannot_be_used_is_named() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    refused(folder, "tablebase stats", "there is no folder tables");
    std::fs::create_dir(folder.join("tables")).unwrap();
    refused(folder, "tablebase stats", "there are no tables in tables");
    refused(folder, "tablebase build --pieces 9", "9 is not in 2..=8");
    refused(folder, "tablebase verify --share 0", "--share is 0; it must lie above 0");
    stdout(folder, "--quiet tablebase build --pieces 3");
    let start = ["tablebase", "probe", "--position", "w5/6/6/6/6/b3ww b 0 1"];
    refused_words(folder, &start, "they go up to 3 pieces of this variant");
    refused(folder, "tablebase stats --variant rural", "tables has no tables of the variant rural");
    write_weights(&folder.join("w.safetensors"), &[32], 1);
    let player = "alphabeta:tables=tables";
    refused(
        folder,
        &format!("match {player} greedy --pairs 1 --rules no-repeat"),
        "the tables in tables prove nothing under the rules no-repeat",
    );
    refused(
        folder,
        &format!("match {player} greedy --pairs 1 --variant sepur"),
        "the tables in tables hold no endgame of sepur",
    );
    refused(folder, "match alphabeta:tables=none greedy --pairs 1", "there is no folder none");
    write(folder, "c.toml", &SMALL.replace("games_in_flight = 2", "end_by_tables = true"));
    refused(
        folder,
        "selfplay --player random --games 1 --seed 1 --config c.toml --out out",
        "[selfplay] end_by_tables is true, and [run] tables names none",
    );

    let nothing = surakarta(folder).args(["tablebase", "verify", "--share", "1e-300"]).assert();
    nothing.failure().stderr(predicate::str::contains("so little that nothing was checked"));
    refused_words(
        folder,
        &["tablebase", "probe", "--position", "6/6/6/6/6/b5 b 0 1"],
        "one side has no pieces",
    );
    refused(
        folder,
        "analyse --player greedy --tables tables --rules no-repeat",
        "the tables in tables prove nothing under the rules no-repeat",
    );
    // A table under the name of another would be overwritten, and two of one class leave it to chance.
    let path = |class: &str| folder.join(format!("tables/standard.{class}.table"));
    std::fs::rename(path("1-2"), path("3-3")).unwrap();
    for words in ["tablebase stats", "tablebase build --pieces 3"] {
        refused(folder, words, "standard.3-3.table holds what belongs into standard.1-2.table");
    }
    // Without a class that its moves lead to, a table would be asked in vain.
    std::fs::remove_file(path("3-3")).unwrap();
    for words in ["tablebase stats", "net grade w.safetensors", "bench tables"] {
        refused(
            folder,
            words,
            "there is no table of standard 1-2 in tables; `surakarta tablebase build --variant standard --pieces 3 --out tables` makes it",
        );
    }
    stdout(folder, "--quiet tablebase build --pieces 3");

    let path = path("2-1");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[300] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    for words in ["tablebase stats", "tablebase build --pieces 3", "net grade w.safetensors"] {
        refused(folder, words, "standard.2-1.table is damaged");
    }
}
