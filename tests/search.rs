//! Searches through the binary: `analyse` and `bench search`.

mod support;

use std::process::{Command, Stdio};
use std::time::Duration;

use predicates::prelude::*;
use serde_json::Value;
use support::{json, refused, refused_words, stdout, surakarta, write, write_weights};
use tempfile::TempDir;

const START: &str = "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1";

fn moves(analysis: &Value) -> &Vec<Value> {
    analysis["moves"].as_array().unwrap()
}

fn lines(analysis: &Value) -> usize {
    let has_line = |one: &&Value| !one["line"].as_array().unwrap().is_empty();
    moves(analysis).iter().filter(has_line).count()
}

#[test]
fn a_tree_search_tells_what_it_knows_of_every_move() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write_weights(&folder.join("w.safetensors"), &[32], 1);
    for method in ["puct", "gumbel"] {
        let player = format!("mcts:net=w.safetensors,method={method},sims=50");
        let words = format!("analyse --player {player} --sims 200 --multipv 3 --json");
        let analysis = json(folder, &words);
        assert_eq!(analysis["position"], START);
        assert_eq!((&analysis["simulations"], &analysis["complete"]), (&200.into(), &true.into()));
        assert!(analysis["evaluations"].as_u64().unwrap() > 100 && analysis["nodes"] == 0);
        let network = ["win", "draw", "loss"].map(|key| analysis["network"][key].as_f64().unwrap());
        assert!((network.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{network:?}");
        assert_eq!((moves(&analysis).len(), lines(&analysis)), (16, 3));
        let sum = |key: &str| -> f64 {
            moves(&analysis).iter().map(|one| one[key].as_f64().unwrap()).sum()
        };
        // The root's own evaluation is the first simulation.
        assert_eq!(sum("visits"), 199.0);
        assert!((sum("prior") - 1.0).abs() < 1e-5);
        for one in moves(&analysis).iter().take(3) {
            assert_eq!(one["line"][0], one["move"]);
        }
        if method == "puct" {
            let visits: Vec<u64> =
                moves(&analysis).iter().map(|one| one["visits"].as_u64().unwrap()).collect();
            assert!(visits.is_sorted_by(|a, b| a >= b), "{visits:?}");
        }
        // What it would play is what it plays.
        let played = json(folder, &words);
        assert_eq!(moves(&played), moves(&analysis));
    }
    let text = stdout(folder, "analyse --player mcts:net=w.safetensors,sims=50");
    assert!(text.starts_with(START) && text.contains("the network alone: win 0."), "{text}");
    assert!(text.contains("50 simulations, "), "{text}");
}

#[test]
fn random_games_have_values_and_visits() {
    let folder = TempDir::new().unwrap();
    let words = "analyse --player rollout:sims=100 --multipv 2 --json";
    let analysis = json(folder.path(), words);
    assert_eq!((moves(&analysis).len(), lines(&analysis)), (16, 2));
    let visits: Vec<u64> =
        moves(&analysis).iter().map(|one| one["visits"].as_u64().unwrap()).collect();
    assert_eq!(visits.iter().sum::<u64>(), 100);
    assert!(visits.is_sorted_by(|a, b| a >= b), "{visits:?}");
    assert_eq!(analysis["value"], moves(&analysis)[0]["value"]);
    assert!(analysis["network"].is_null() && moves(&analysis)[0]["prior"].is_null());
}

#[test]
fn alphabeta_ranks_all_moves_as_it_ranks_the_best() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let position = "bb3b/1b2w1/6/b5/b3w1/w5 w 0 1";
    let ask = |more: &str| {
        let mut words = vec!["analyse", "--position", position, "--json", "--player"];
        // Only an exact search finds the same value by both ways.
        words.push("alphabeta:exact=yes");
        words.extend(more.split_whitespace());
        let output = surakarta(folder).args(words).assert().success();
        serde_json::from_slice::<Value>(&output.get_output().stdout).unwrap()
    };
    for depth in 2..=4 {
        let one = ask(&format!("--depth {depth}"));
        let all = ask(&format!("--depth {depth} --multipv 4"));
        assert_eq!((one["depth"].as_u64(), all["depth"].as_u64()), (Some(depth), Some(depth)));
        assert_eq!((moves(&one).len(), moves(&all).len(), lines(&all)), (1, 19, 4));
        // Both are minimax to the same depth, but for the sooner of two wins.
        assert_eq!(one["value"], all["value"]);
        let values: Vec<f64> =
            moves(&all).iter().map(|one| one["value"].as_f64().unwrap()).collect();
        assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
    }
    // However little it may do, something is known.
    assert_eq!(moves(&ask("--nodes 1 --multipv 2")).len(), 19);
    let few = ask("--nodes 5000");
    assert!(few["nodes"].as_u64().unwrap() <= 5000 && few["depth"].as_u64().unwrap() > 1);
}

#[test]
fn a_position_can_come_from_a_game() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(folder, "game.txt", "b2c3 a5a4 # so far\nc2b2\n");
    let at = |words: &str| {
        let words = format!("analyse --player alphabeta:depth=1 --json {words}");
        json(folder, &words)["position"].as_str().unwrap().to_owned()
    };
    assert_eq!(at("--game game.txt --ply 0"), START);
    assert_eq!(at("--game game.txt"), "wwwwww/1wwwww/w5/2b3/bb1bbb/bbbbbb w 3 2");
    stdout(folder, "match random greedy --pairs 2 --journal games.jsonl --threads 1 --quiet");
    let third = at("--game games.jsonl --number 3 --ply 6");
    assert!(third.ends_with(" 4") && third.contains(" b "), "{third}");
    refused(folder, "analyse --game games.jsonl", "the game is over by");
    refused(folder, "analyse --game games.jsonl --number 9", "give --number from 1 to 4");
    refused(folder, "analyse --game game.txt --ply 4", "give --ply 3 or less");
    refused(folder, "analyse --game missing.txt", "missing.txt");
}

#[test]
fn mistakes_are_named() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(folder, "bad.safetensors", "no weights");
    for (words, reason) in [
        ("analyse --player greedy", "analyse with an mcts, rollout or alphabeta player"),
        ("analyse --player alphabeta --sims 5", "takes no notice of sims=5"),
        ("analyse --player rollout --depth 5", "takes no notice of depth=5"),
        ("analyse --player mcts:net=bad.safetensors", "bad.safetensors"),
        ("analyse --player mcts:net=latest", "--run DIR"),
    ] {
        refused(folder, words, reason);
    }
    let over = ["analyse", "--position", "6/6/6/6/6/b5 w 0 1"];
    refused_words(folder, &over, "the game is over by");
}

#[cfg(unix)]
#[test]
fn an_interrupted_analysis_prints_what_is_known() {
    for player in ["rollout", "alphabeta"] {
        let child = Command::new(assert_cmd::cargo::cargo_bin!("surakarta"))
            .args(["analyse", "--player", player, "--ms", "600000", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs(3));
        let id = i32::try_from(child.id()).unwrap();
        let killed = Command::new("kill").args(["-INT", &id.to_string()]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(analysis["complete"], false);
        assert!(!moves(&analysis).is_empty() && analysis["depth"].as_u64().unwrap() > 0);
        // Nothing was shown on the way: this is no terminal.
        assert!(!String::from_utf8(output.stderr).unwrap().contains("value"));
    }
}

#[test]
fn rates_of_searches_beside_something_bare() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write_weights(&folder.join("w.safetensors"), &[32, 16], 1);
    let words = "--quiet bench search --net w.safetensors --simulations 4 --seconds 0";
    let rates = json(folder, &format!("{words} --json"));
    assert_eq!(rates["simulations"], 4);
    let rows = rates["rates"].as_array().unwrap();
    let of = |method: &str| rows.iter().filter(|row| row["method"] == method).count();
    // Two networks: three parts of a game, and many searches at once.
    assert_eq!(["alphabeta", "rollout", "descent", "mcts"].map(of), [1, 1, 2, 8]);
    for row in rows {
        for key in ["per_s", "beside_per_s", "ratio"] {
            let rate = row[key].as_f64().unwrap();
            assert!(rate.is_finite() && rate > 0.0, "{key} of {row}");
        }
        assert_eq!(row["evaluations_per_s"].is_number(), row["network"].is_string(), "{row}");
    }
    let text = stdout(folder, words);
    assert!(text.contains("mcts quantised, 32 at once, all"), "{text}");
    refused(folder, "bench search --net missing.safetensors", "missing.safetensors");
}

#[test]
fn a_checksum_for_each_method() {
    let folder = TempDir::new().unwrap();
    let text = stdout(folder.path(), "bench search --checksum");
    assert_eq!(text.lines().count(), 5);
    let lines = stdout(folder.path(), "bench search --checksum --json");
    for (line, json) in text.lines().zip(lines.lines()) {
        let json: Value = serde_json::from_str(json).unwrap();
        let checksum = json["checksum"].as_str().unwrap();
        assert!(line.starts_with(json["method"].as_str().unwrap()) && line.ends_with(checksum));
        assert!(checksum.len() == 16 && checksum.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
    surakarta(folder.path())
        .args(["bench", "search", "--checksum", "--seconds", "1"])
        .assert()
        .failure()
        .stderr(predicate::str::contains("--checksum"));
}
