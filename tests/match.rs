//! `surakarta match` and `surakarta arena`.

mod support;

use support::{files, json, killed_again_and_again, refused, stdout, surakarta, write};
use tempfile::TempDir;

const MATCH: &str = "--quiet match alphabeta:nodes=400 greedy --pairs 30 --seed 3";

#[test]
fn greedy_beats_random() {
    let folder = TempDir::new().unwrap();
    let table = json(folder.path(), "--quiet match random greedy --pairs 10 --json");
    let players = table["players"].as_array().unwrap();
    assert_eq!(players.len(), 2);
    assert_eq!(players[0]["name"], "greedy", "the better one comes first");
    assert!(players[0]["score"].as_f64().unwrap() > 0.9);
    assert_eq!((&table["games"], &table["pairs"]), (&20.into(), &10.into()));
    assert!(table["distinct_games"].as_u64().unwrap() > 10);
    assert_eq!(files(folder.path(), "").len(), 0, "no file without --journal");
}

#[test]
fn a_match_depends_on_its_seed_alone() {
    let folder = TempDir::new().unwrap();
    let play = |more: &str| stdout(folder.path(), &format!("{MATCH} --json {more}"));
    let one = play("--threads 1");
    assert_eq!(one, play("--threads 2"));
    assert_eq!(one, play("--threads 1"));
    let other = stdout(folder.path(), &format!("{} --json", MATCH.replace("seed 3", "seed 4")));
    assert_ne!(one, other);
}

#[test]
fn the_table_has_three_forms() {
    let folder = TempDir::new().unwrap();
    let words = "--quiet match alphabeta:depth=1 random --pairs 4";
    let table = stdout(folder.path(), words);
    assert!(table.contains("alphabeta:depth=1") && table.contains("Elo"), "{table}");
    let csv = stdout(folder.path(), &format!("{words} --csv"));
    let columns: Vec<_> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns.len(), 3, "{csv}");
    assert!(columns.iter().all(|&n| n == columns[0]), "{csv}");
    assert_eq!(json(folder.path(), &format!("{words} --json"))["games"], 8);
}

#[test]
fn a_killed_match_goes_on_from_its_journal() {
    let folder = TempDir::new().unwrap();
    let undisturbed = stdout(folder.path(), &format!("{MATCH} --json"));
    let words = format!("{MATCH} --json --journal games.jsonl");
    let moments = [(1, 0), (5, 10), (1, 25), (9, 3), (2, 40)];
    killed_again_and_again(folder.path(), &words, folder.path(), &moments);
    assert_eq!(stdout(folder.path(), &words), undisturbed);
    // Nothing is played twice, and a line that a kill tore is not lost for good.
    let path = folder.path().join("games.jsonl");
    let journal = std::fs::read_to_string(&path).unwrap();
    assert_eq!(journal.lines().count(), 62, "two lines about the match and one for each game");
    std::fs::write(&path, &journal[..journal.len() - 30]).unwrap();
    assert_eq!(stdout(folder.path(), &words), undisturbed);
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 62);
}

#[test]
fn a_journal_belongs_to_one_match() {
    let folder = TempDir::new().unwrap();
    let words = "--quiet match random greedy --pairs 2 --journal games.jsonl";
    stdout(folder.path(), words);
    let before = files(folder.path(), "");
    refused(folder.path(), &words.replace("pairs 2", "pairs 3"), "journal of another tournament");
    refused(folder.path(), &format!("{words} --seed 9"), "journal of another tournament");
    refused(folder.path(), &words.replace("greedy", "rollout:sims=1"), "another tournament");
    assert_eq!(files(folder.path(), ""), before);
    let text = String::from_utf8(before["games.jsonl"].clone()).unwrap();
    let lines: Vec<_> = text.lines().collect();
    write(folder.path(), "games.jsonl", &[lines[0], lines[1], "{\"torn", lines[3]].join("\n"));
    refused(folder.path(), words, "games.jsonl, line 3");
}

#[test]
fn a_tournament_is_read_from_its_configuration() {
    let folder = TempDir::new().unwrap();
    let config = "players = [\"random\", \"greedy\", \"alphabeta:depth=1\"]\npairs = 3\nseed = 1\n";
    write(folder.path(), "three.toml", config);
    let table = json(folder.path(), "--quiet arena three.toml --json");
    assert_eq!(table["games"], 18);
    assert_eq!(table["players"].as_array().unwrap().len(), 3);
    assert!(folder.path().join("three.jsonl").exists());
    let anchored = format!("{config}[anchors]\n\"nobody\" = 0.0\n");
    write(folder.path(), "three.toml", &anchored);
    refused(folder.path(), "arena three.toml", "anchors: `nobody` is not one of the players");
    write(folder.path(), "three.toml", &config.replace("pairs = 3", "pairs = 0"));
    refused(folder.path(), "arena three.toml", "pairs is 0");
}

/// The arena's configuration that comes with the project is a good one.
#[test]
fn the_arena_that_comes_along_can_be_read() {
    let folder = TempDir::new().unwrap();
    let text = include_str!("../configs/arena.toml").replace("pairs = 50", "pairs = 1");
    let text = text.replace("alphabeta:nodes=10000", "alphabeta:nodes=50");
    write(folder.path(), "arena.toml", &text);
    stdout(folder.path(), "--quiet arena arena.toml");
}

#[test]
fn limits_that_say_nothing_to_a_player_are_told() {
    let folder = TempDir::new().unwrap();
    let said = |words: &str| {
        let words = format!("--quiet match {words} --pairs 1");
        let output = surakarta(folder.path()).args(words.split_whitespace()).assert().success();
        String::from_utf8(output.get_output().stderr.clone()).unwrap()
    };
    let one = said("alphabeta:nodes=100 greedy --sims 10");
    assert_eq!(one.lines().count(), 1, "{one}");
    assert!(one.contains("`alphabeta:nodes=100` takes no notice of sims=10"), "{one}");
    let both = said("alphabeta:nodes=100 rollout:sims=5 --sims 10 --nodes 20 --depth 1");
    assert_eq!(both.lines().count(), 2, "{both}");
    assert!(both.contains("`rollout:sims=5` takes no notice of nodes=20, depth=1"), "{both}");
    assert_eq!(said("alphabeta:nodes=100 random --nodes 20"), "");
}

/// Service managers and batch systems send one signal, then wait.
#[cfg(unix)]
#[test]
fn one_signal_ends_a_search_without_end() {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("surakarta"))
        .args(["match", "alphabeta:depth=255", "random", "--pairs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(child.try_wait().unwrap(), None, "the search ends by itself");
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let mut ended = None;
    for _ in 0..600 {
        ended = child.try_wait().unwrap();
        if ended.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ = child.kill();
    assert_eq!(ended.and_then(|status| status.code()), Some(130));
}
