//! `surakarta play`, by a script.

mod support;

use predicates::prelude::*;
use support::surakarta;
use tempfile::TempDir;

/// What is said when this is typed.
fn talk(words: &[&str], typed: &str) -> String {
    let folder = TempDir::new().unwrap();
    let command =
        surakarta(folder.path()).arg("play").args(words).write_stdin(typed).assert().success();
    String::from_utf8(command.get_output().stdout.clone()).unwrap()
}

#[test]
fn a_game_is_played_and_left() {
    let said = talk(
        &["--against", "greedy", "--color", "black", "--seed", "1"],
        "help\na2a3\nback\nb2b3\nmoves\nhint\nquit\n",
    );
    assert!(said.starts_with("You are black (x)"), "{said}");
    assert!(said.contains("╭─x───x───x"), "no loops: {said}");
    assert!(said.contains("take your last move back"), "{said}");
    assert_eq!(said.matches("white plays").count(), 2, "{said}");
    assert!(said.contains("in your place"), "{said}");
    assert!(said.ends_with("The game is left unfinished.\n"), "{said}");
}

#[test]
fn the_same_seed_gives_the_same_game() {
    let typed = "hint\nback\nquit\n";
    let play = |seed: &str| talk(&["--against", "random", "--seed", seed], typed);
    assert_eq!(play("5"), play("5"));
    // The coin falls both ways.
    let coins = (0..16).map(|seed| play(&seed.to_string()).lines().next().unwrap().to_owned());
    let coins: std::collections::BTreeSet<_> = coins.collect();
    assert_eq!(
        coins.into_iter().collect::<Vec<_>>(),
        ["The coin gives you black.", "The coin gives you white."]
    );
}

#[test]
fn white_sits_at_the_bottom_of_its_board() {
    let said = talk(&["--against", "random", "--color", "white", "--seed", "1"], "quit\n");
    assert!(said.contains("f   e   d   c   b   a\n"), "{said}");
    assert_eq!(said.matches("black plays").count(), 1);
}

#[test]
fn the_end_is_agreed_upon_or_a_side_resigns() {
    let equal = "wwww2/6/6/6/6/bbbb2 b 0 1";
    let words = [
        "--against",
        "alphabeta:depth=2",
        "--color",
        "black",
        "--rules",
        "agreement",
        "--position",
    ];
    let said = talk(&[&words[..], &[equal]].concat(), "offer\nresign\n");
    assert!(said.contains("accepts") || said.contains("plays on"), "{said}");
    let behind = "wwww2/6/6/6/6/b5 b 0 1";
    let said = talk(&[&words[..], &[behind]].concat(), "offer\n");
    // White wins by the count, and cannot expect more than that.
    assert!(said.ends_with("Your opponent wins as white by agreement (black 1, white 4).\n"));
    let said = talk(&["--against", "greedy", "--color", "white", "--seed", "1"], "resign\n");
    assert!(said.ends_with("Your opponent wins as black by resignation (black 12, white 12).\n"));
}

#[test]
fn a_network_can_be_the_opponent() {
    let folder = TempDir::new().unwrap();
    support::write_weights(&folder.path().join("net.safetensors"), &[32, 16], 1);
    surakarta(folder.path())
        .args(["play", "--against", "mcts:net=net.safetensors,sims=20", "--color", "black"])
        .write_stdin("hint\na2a3\n")
        .assert()
        .success()
        .stdout(predicate::str::contains("white plays"))
        .stdout(predicate::str::contains("worth"));
}
