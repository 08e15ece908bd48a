//! The rules through the binary: `perft` and `moves`.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use predicates::prelude::*;
use serde_json::Value;
use support::{refused_words, stdout, surakarta};
use tempfile::TempDir;

/// Positions where the start point counts as empty during a run: moves, captures.
const START_SQUARE: [(&str, u64, usize); 3] = [
    ("bb3b/1b2w1/6/b5/b3w1/w5 w 0 1", 19, 2),
    ("b5/1b1bb1/5b/1w4/ww4/w3b1 b 0 1", 35, 4),
    ("1w3b/b3bb/2b1bb/3w2/5w/2w2w b 0 1", 27, 4),
];

#[test]
fn leaves_from_the_start() {
    let folder = TempDir::new().unwrap();
    let known = [1, 16, 256, 5_382, 111_122, 2_572_484];
    for (depth, leaves) in known.into_iter().enumerate() {
        assert_eq!(stdout(folder.path(), &format!("perft {depth}")), format!("{leaves}\n"));
    }
    let json: Value = serde_json::from_str(&stdout(folder.path(), "perft 3 --json")).unwrap();
    assert_eq!(json["depth"], 3);
    assert_eq!(json["leaves"], 5_382);
    assert_eq!(json["position"], "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1");
}

#[test]
fn leaves_from_a_position() {
    let folder = TempDir::new().unwrap();
    for (position, moves, _) in START_SQUARE {
        surakarta(folder.path())
            .args(["perft", "1", "--position", position])
            .assert()
            .success()
            .stdout(format!("{moves}\n"));
    }
}

#[test]
fn moves_of_a_position() {
    let folder = TempDir::new().unwrap();
    let text = stdout(folder.path(), "moves");
    assert_eq!(text.split_whitespace().count(), 16);
    for (position, moves, captures) in START_SQUARE {
        let command =
            surakarta(folder.path()).args(["moves", "--position", position]).assert().success();
        let text = String::from_utf8(command.get_output().stdout.clone()).unwrap();
        assert_eq!(text.split_whitespace().count() as u64, moves, "{text}");
        assert_eq!(text.matches('x').count(), captures, "{text}");
    }
}

#[test]
fn moves_as_json_lines() {
    let folder = TempDir::new().unwrap();
    let input = START_SQUARE.map(|(position, ..)| position).join("\n\n") + "\n";
    let command = surakarta(folder.path())
        .args(["moves", "--stdin", "--json"])
        .write_stdin(input)
        .assert()
        .success();
    let text = String::from_utf8(command.get_output().stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 3, "one line a position, none for an empty line");
    for (line, (position, moves, captures)) in text.lines().zip(START_SQUARE) {
        let json: Value = serde_json::from_str(line).unwrap();
        assert_eq!(json["position"], position);
        let list = |key: &str| json[key].as_array().unwrap().clone();
        assert_eq!(list("moves").len() as u64, moves);
        assert_eq!(list("captures").len(), captures);
        assert!(list("captures").iter().all(|mv| list("moves").contains(mv)));
    }
}

#[test]
fn a_bad_line_is_named_by_its_number() {
    let folder = TempDir::new().unwrap();
    let good = START_SQUARE[0].0;
    for bad in ["nonsense", "bb3b/1b2w1/6/b5/b3w1/w5 x 0 1", "7/6/6/6/6/6 b 0 1"] {
        surakarta(folder.path())
            .args(["moves", "--stdin"])
            .write_stdin(format!("{good}\n\n{bad}\n{good}\n"))
            .assert()
            .failure()
            .stderr(predicate::str::starts_with("error: line 3 of standard input: "))
            .stderr(predicate::str::contains("panicked").not());
    }
    surakarta(folder.path())
        .args(["moves", "--stdin"])
        .write_stdin(&b"\xff\xfe\n"[..])
        .assert()
        .failure()
        .stderr(predicate::str::starts_with("error: line 1 of standard input"));
}

#[test]
fn bad_positions_and_depths_are_refused() {
    let folder = TempDir::new().unwrap();
    let crowded = "wwwwww/wwwwww/w5/6/bbbbbb/bbbbbb b 0 1";
    refused_words(folder.path(), &["moves", "--position", crowded], "13");
    refused_words(folder.path(), &["perft", "2", "--position", "what"], "is not a position");
    refused_words(folder.path(), &["perft", "13"], "13");
    refused_words(folder.path(), &["perft", "x"], "x");
}

/// As in `surakarta moves --stdin | head -1`.
#[test]
fn a_reader_that_leaves_ends_the_program_quietly() {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("surakarta"))
        .args(["moves", "--stdin", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // Far more than a pipe holds; fails once the program has ended, as it should.
        (0..100_000).all(|_| writeln!(input, "{}", START_SQUARE[0].0).is_ok())
    });
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with('{'));
    assert!(!writer.join().unwrap(), "the program has read on although nobody listens");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn rates_beside_the_slow_twin() {
    let folder = TempDir::new().unwrap();
    for variant in ["standard", "rural", "sepur"] {
        let words = format!("--quiet bench rules --seconds 0 --depth 3 --variant {variant} --json");
        let json: Value = serde_json::from_str(&stdout(folder.path(), &words)).unwrap();
        assert_eq!((&json["variant"], &json["rules"]), (&variant.into(), &"olympiad".into()));
        let rate = |key: &str| json[key].as_f64().filter(|rate| rate.is_finite() && *rate > 0.0);
        for key in [
            "perft_leaves_per_s",
            "random_plies_per_s",
            "random_plies_per_s_lanes",
            "listed_plies_per_s",
            "perft_ratio",
            "random_ratio",
            "random_lanes_ratio",
            "listed_ratio",
        ] {
            assert!(rate(key).is_some(), "{key} in {json}");
        }
    }
    let table = stdout(folder.path(), "--quiet bench rules --seconds 0 --depth 2");
    assert_eq!(table.lines().count(), 5, "{table}");
    assert!(table.contains("perft 2, leaves (last ply counted, not played)"), "{table}");
}
