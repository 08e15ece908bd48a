//! `surakarta selfplay`, and `surakarta dataset` on what it leaves.

mod support;

use std::path::Path;

use predicates::prelude::*;
use rand::RngExt;
use serde_json::Value;
use support::{
    assert_same_files, files, killed, killed_again_and_again, refused, stdout, surakarta, table,
    truncate, write, write_weights,
};
use surakarta_search::stream;
use tempfile::TempDir;

/// Small shards, so that an interruption leaves some finished and some not.
const CONFIG: &str = r#"
[run]
name = "small"
seed = 1
iterations = 1
games = 1
[network]
kind = "mlp"
hidden = [32, 16]
[selfplay]
games_per_shard = 6
games_in_flight = 4
[rating]
every = 0
"#;

const ALPHABETA: &str =
    "--quiet selfplay --player alphabeta:nodes=200 --games 60 --seed 7 --config small.toml";
const MCTS: &str = "--quiet selfplay --player mcts:net=net.safetensors,sims=16 --games 60 --seed 7 --config small.toml";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "small.toml", CONFIG);
    write_weights(&folder.path().join("net.safetensors"), &[32, 16], 5);
    folder
}

#[test]
fn shards_do_not_depend_on_threads() {
    let folder = folder();
    for player in [ALPHABETA, MCTS] {
        let listed = stdout(folder.path(), &format!("{player} --threads 1 --out one"));
        assert_eq!(listed.lines().count(), 10, "{listed}");
        assert!(listed.lines().all(|line| folder.path().join(line).exists()));
        stdout(folder.path(), &format!("{player} --threads 2 --out two"));
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        assert_eq!(assert_same_files(&one, &two, ".shard"), 10);
        let other = player.replace("seed 7", "seed 8");
        stdout(folder.path(), &format!("{other} --out other"));
        let other = folder.path().join("other");
        assert_ne!(files(&one, ".shard"), files(&other, ".shard"));
        for out in [one, two, other] {
            std::fs::remove_dir_all(out).unwrap();
        }
    }
}

/// What a person sees, as a table too.
#[test]
fn a_log_says_what_was_played_and_how_fast() {
    let folder = folder();
    for player in [ALPHABETA, MCTS] {
        let words = format!("{player} --json --out games --log logs");
        let played: Value = serde_json::from_str(&stdout(folder.path(), &words)).unwrap();
        let rows = table(&folder.path().join("logs/selfplay.csv"));
        let [row] = &rows[..] else {
            panic!("a row for a batch of less than ten seconds: {rows:?}")
        };
        let number = |column: &str| row[column].parse::<f64>().unwrap();
        for (column, key) in [
            ("games", "games"),
            ("positions", "plies"),
            ("full_searches", "full_searches"),
            ("simulations", "simulations"),
            ("evaluations", "evaluations"),
        ] {
            assert_eq!(Some(number(column)), played[key].as_f64(), "{column}");
        }
        assert_eq!(number("games"), 60.0);
        assert_eq!(number("black_wins") + number("draws") + number("white_wins"), 60.0);
        let endings = ["captured_all", "repetition", "no_progress", "no_moves"].map(number);
        assert_eq!(endings.iter().sum::<f64>(), 60.0);
        let rate = number("games") / number("seconds");
        assert!((number("games_per_second") / rate - 1.0).abs() < 1e-6, "{row:?}");
        if player == MCTS {
            // Games in flight run short in the last batches alone.
            assert!((0.5..=1.0).contains(&number("batch_fill")), "{row:?}");
            let saved = 1.0 - number("evaluations") / number("simulations");
            assert!((number("saved_share") - saved).abs() < 1e-6 && saved > 0.0, "{row:?}");
            assert!(number("full_searches") < number("positions") / 2.0, "{row:?}");
        }
        assert_eq!(files(&folder.path().join("logs/tensorboard/selfplay"), "").len(), 1);
        // With nothing left to play there is nothing to say.
        stdout(folder.path(), &words);
        assert_eq!(table(&folder.path().join("logs/selfplay.csv")).len(), 1);
        for made in ["games", "logs"] {
            std::fs::remove_dir_all(folder.path().join(made)).unwrap();
        }
    }
    write(folder.path(), "selfplay.csv", "my notes\n");
    refused(folder.path(), &format!("{MCTS} --out games --log ."), "selfplay.csv");
    let text = std::fs::read_to_string(folder.path().join("selfplay.csv")).unwrap();
    assert_eq!(text, "my notes\n");
}

/// Two machines that share a seed share the games out between them.
#[test]
fn a_range_of_games_is_a_part_of_the_whole() {
    for player in [ALPHABETA, MCTS] {
        let folder = folder();
        stdout(folder.path(), &format!("{player} --out whole"));
        for (first, games) in [(24, 36), (0, 24)] {
            let part = player.replace("games 60", &format!("games {games} --first {first}"));
            stdout(folder.path(), &format!("{part} --out parts"));
        }
        let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
        assert_eq!(assert_same_files(&whole, &parts, ".shard"), 10);
    }
}

#[test]
fn killed_self_play_goes_on() {
    let folder = folder();
    for player in [ALPHABETA, MCTS] {
        stdout(folder.path(), &format!("{player} --out whole"));
        let words = format!("{player} --threads 1 --out killed");
        let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(name));
        killed_again_and_again(folder.path(), &words, &killed, &[(1, 0), (2, 13), (1, 40), (1, 5)]);
        assert_eq!(assert_same_files(&whole, &killed, ".shard"), 10);
        assert_same_files(&whole, &killed, "");
        std::fs::remove_dir_all(whole).unwrap();
        std::fs::remove_dir_all(killed).unwrap();
    }
}

/// At any moment: while it starts, plays, or writes a shard; and it goes on with other threads.
#[test]
fn fifty_kills_change_nothing() {
    let folder = folder();
    stdout(folder.path(), &format!("{MCTS} --threads 2 --out whole"));
    let whole = folder.path().join("whole");
    let mut random = stream(1, [0, 0, 0]);
    let (mut kills, mut batches) = (0, 0);
    while kills < 50 {
        let out = format!("killed{batches}");
        let killed_batch = folder.path().join(&out);
        let words = |threads: u32| format!("{MCTS} --threads {threads} --out {out}");
        while kills < 50 {
            let moment = (random.random_range(0..4), random.random_range(0..25));
            if !killed(folder.path(), &words(1 + kills % 3), &killed_batch, moment) {
                break;
            }
            kills += 1;
        }
        stdout(folder.path(), &words(1 + batches % 2));
        assert_same_files(&whole, &killed_batch, "");
        batches += 1;
    }
}

/// A device that is always full stands where a shard is written before it gets its name.
#[cfg(unix)]
#[test]
fn a_full_disk_stops_self_play_and_spoils_nothing() {
    let folder = folder();
    stdout(folder.path(), &format!("{MCTS} --out whole"));
    let [whole, games] = ["whole", "games"].map(|name| folder.path().join(name));
    std::fs::create_dir(&games).unwrap();
    let name = files(&whole, ".shard").into_keys().nth(4).unwrap();
    let full = games.join(format!("{name}.tmp"));
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let words = format!("{MCTS} --out games");
    refused(folder.path(), &words, &format!("games/{name}: cannot write the shard"));
    assert!(!games.join(&name).exists() && !full.exists());
    for (name, bytes) in files(&games, "") {
        assert_eq!(std::fs::read(whole.join(name)).unwrap(), bytes);
    }
    // Once there is space again, it goes on.
    stdout(folder.path(), &words);
    assert_eq!(assert_same_files(&whole, &games, ""), 10);
}

#[test]
fn a_damaged_shard_is_set_aside_and_played_again() {
    let folder = folder();
    let words = format!("{ALPHABETA} --out games");
    stdout(folder.path(), &words);
    let games = folder.path().join("games");
    let whole = files(&games, ".shard");
    let [first, second] = [0, 1].map(|n| games.join(whole.keys().nth(n).unwrap()));
    truncate(&first, 100);
    truncate(&second, whole.values().nth(1).unwrap().len() as u64 - 1);
    let said = words.replace("--quiet ", "");
    surakarta(folder.path())
        .args(said.split_whitespace())
        .assert()
        .success()
        .stderr(predicate::str::contains("is cut short"))
        .stderr(predicate::str::contains("played again"));
    assert_eq!(files(&games, ".shard"), whole);
    assert_eq!(files(&games, ".damaged").len(), 2, "nothing is thrown away");
}

#[test]
fn a_folder_belongs_to_one_player() {
    let folder = folder();
    let words = format!("{MCTS} --out games");
    stdout(folder.path(), &words);
    let games = folder.path().join("games");
    let before = files(&games, "");
    let refuse = |words: &str, reason: &str| {
        refused(folder.path(), words, reason);
        assert_eq!(files(&games, ""), before, "{words}");
    };
    refuse(&words.replace("seed 7", "seed 8"), "was made with another seed and iteration");
    refuse(&words.replace("sims=16", "sims=17"), "was made with another");
    refuse(
        &format!("{words} --rules threefold"),
        "another rule set (\"olympiad\"; here \"threefold\")",
    );
    refuse(&format!("{words} --variant rural"), "rural");
    refuse(&format!("{ALPHABETA} --out games"), "was made with another player");
    // The same file name with another network in it.
    write_weights(&folder.path().join("net.safetensors"), &[48], 5);
    refuse(&words, "was made with another network");
}

#[test]
fn players_that_cannot_play_are_refused() {
    let folder = folder();
    write(folder.path(), "noise.safetensors", "noise");
    write_weights(&folder.path().join("cut.safetensors"), &[32, 16], 5);
    truncate(&folder.path().join("cut.safetensors"), 5_000);
    let play = |player: &str| format!("selfplay --player {player} --games 4 --seed 1 --out games");
    let cases = [
        ("alphabeta:ms=5", "alphabeta:ms=5 is limited by time"),
        ("mcts:net=net.safetensors,ms=5", "is limited by time"),
        ("mcts:net=net.safetensors,method=gumbel", "the sections [selfplay] and [search]"),
        ("mcts:net=gone.safetensors,sims=9", "gone.safetensors"),
        ("mcts:net=noise.safetensors,sims=9", "noise.safetensors"),
        ("mcts:net=cut.safetensors,sims=9", "cut.safetensors"),
        ("mcts:net=latest,sims=9", "net=latest names a network of a run"),
        // Each of the games in flight would keep such a tree in memory.
        ("mcts:net=net.safetensors,sims=200000", "full_simulations is 200000"),
    ];
    for (player, reason) in cases {
        refused(folder.path(), &play(player), reason);
    }
    write(folder.path(), "file", "");
    let words = "selfplay --player greedy --games 4 --seed 1 --out";
    refused(folder.path(), &format!("{words} file"), "file is not a folder");
    refused(folder.path(), &format!("{words} other --threads 99999"), "threads is 99999");
    assert!(!folder.path().join("other").exists());
    let games = folder.path().join("games");
    assert!(!games.exists() || files(&games, "").is_empty());
}

fn stats(folder: &Path, data: &str) -> Value {
    serde_json::from_str(&stdout(folder, &format!("dataset stats {data} --json"))).unwrap()
}

#[test]
fn datasets_are_summed_up_and_exported() {
    let folder = folder();
    stdout(folder.path(), &format!("{MCTS} --out games"));
    let verified = stdout(folder.path(), "dataset verify games");
    assert_eq!(verified.lines().filter(|line| line.starts_with("ok ")).count(), 10, "{verified}");
    let summary = stats(folder.path(), "games");
    assert_eq!((&summary["games"], &summary["shards"]), (&60.into(), &10.into()));
    let count = |key: &str| summary[key].as_u64().unwrap();
    assert_eq!(count("black_wins") + count("white_wins") + count("draws"), 60);
    let endings = summary["endings"].as_object().unwrap().values();
    assert_eq!(endings.map(|n| n.as_u64().unwrap()).sum::<u64>(), 60);
    assert!(count("recorded") > 0 && count("recorded") < count("plies"), "some searches are full");
    assert!(stdout(folder.path(), "dataset stats games").starts_with("games        60 in 10"));
    stdout(folder.path(), "dataset export games --out tables");
    let lines = |name: &str| {
        std::fs::read_to_string(folder.path().join("tables").join(name)).unwrap().lines().count()
    };
    assert_eq!(lines("games.csv"), 61);
    assert_eq!(lines("positions.csv") as u64, 1 + count("plies"));
    // One shard alone is a data set, too.
    let shard = files(&folder.path().join("games"), ".shard").into_keys().next().unwrap();
    assert_eq!(stats(folder.path(), &format!("games/{shard}"))["games"], 6);
}

#[test]
fn damage_is_found_and_the_rest_can_be_used() {
    let folder = folder();
    stdout(folder.path(), &format!("{ALPHABETA} --out games"));
    let games = folder.path().join("games");
    let shards = files(&games, ".shard");
    let names: Vec<_> = shards.keys().collect();
    truncate(&games.join(names[2]), 300);
    let mut bytes = shards[names[4]].clone();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(games.join(names[4]), bytes).unwrap();
    surakarta(folder.path())
        .args(["dataset", "verify", "games"])
        .assert()
        .failure()
        .stdout(predicate::str::contains(format!("damaged games/{}", names[2])))
        .stdout(predicate::str::contains(format!("damaged games/{}", names[4])))
        .stdout(predicate::str::contains("ok ").count(8))
        .stderr(predicate::str::starts_with("error: 2 cannot be used"));
    // What is damaged is named and left out, and the rest is used.
    surakarta(folder.path())
        .args(["dataset", "export", "games", "--out", "tables"])
        .assert()
        .success()
        .stderr(predicate::str::contains(format!("left out: games/{}", names[2])))
        .stderr(predicate::str::contains(format!("left out: games/{}", names[4])));
    assert_eq!(stats(folder.path(), "games")["games"], 48);
    let table = std::fs::read_to_string(folder.path().join("tables/games.csv")).unwrap();
    assert_eq!(table.lines().count(), 49);
    // Where nothing is left, that is an error.
    refused(folder.path(), &format!("dataset stats games/{}", names[2]), names[2]);
    refused(
        folder.path(),
        &format!("dataset export games/{} --out none", names[4]),
        "is damaged: block 0 of its games",
    );
    assert!(!folder.path().join("none").exists());
    assert_eq!(stats(folder.path(), &format!("games/{}", names[0]))["games"], 6);
}

/// Start and moves of each game.
fn courses(folder: &Path) -> Vec<(String, Vec<String>)> {
    stdout(folder, "dataset export games --out tables");
    let table = std::fs::read_to_string(folder.join("tables/games.csv")).unwrap();
    let column = |name: &str| table.lines().next().unwrap().split(',').position(|c| c == name);
    let (start, moves) = (column("start").unwrap(), column("moves").unwrap());
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let moves = cells[moves].split_whitespace().map(str::to_owned).collect();
        (cells[start].to_owned(), moves)
    };
    table.lines().skip(1).map(row).collect()
}

#[test]
fn games_begin_with_a_book_and_fork_off_earlier_games() {
    let folder = folder();
    write(folder.path(), "book.txt", "a2a3 b5b4\n# an endgame\n6/wwww2/6/6/1bbbb1/6 b 0 1\n");
    let begun = "opening_plies = [0, 0]\nopenings = \"book.txt\"\npolicy_plies = [1, 3]\n";
    let config = |more: &str| CONFIG.replace("[selfplay]\n", &format!("[selfplay]\n{begun}{more}"));
    write(folder.path(), "small.toml", &config(""));
    stdout(folder.path(), &format!("{MCTS} --out games"));
    let played = courses(folder.path());
    assert!(
        played
            .iter()
            .all(|(start, moves)| start.starts_with("6/wwww2") || moves[..2] == ["a2a3", "b5b4"])
    );
    assert!(played.iter().any(|(start, _)| start.starts_with("6/wwww2")));
    // A shard says which book it was, by its content.
    write(folder.path(), "book.txt", "a2a3 b5b4\n");
    refused(folder.path(), &format!("{MCTS} --out games"), "file book.txt (");
    refused(folder.path(), &format!("{ALPHABETA} --out other"), "policy_plies are drawn");
    write(folder.path(), "book.txt", "a2a3 a2a3\n");
    refused(folder.path(), &format!("{MCTS} --out other"), "[selfplay] openings: book.txt, line 1");

    std::fs::remove_file(folder.path().join("book.txt")).unwrap();
    std::fs::rename(folder.path().join("games"), folder.path().join("earlier")).unwrap();
    write(
        folder.path(),
        "small.toml",
        &CONFIG.replace("[selfplay]\n", "[selfplay]\nfork_share = 0.5\n"),
    );
    let forking = format!("{MCTS} --forks-of earlier");
    refused(folder.path(), &format!("{MCTS} --out other"), "--forks-of DIR");
    refused(folder.path(), &format!("{MCTS} --forks-of none --out other"), "there is no shard");
    refused(folder.path(), &format!("{forking} --rules threefold --out other"), "fork_share");
    stdout(folder.path(), &format!("{forking} --threads 1 --out one"));
    stdout(folder.path(), &format!("{forking} --threads 2 --out games"));
    let [one, two] = ["one", "games"].map(|name| folder.path().join(name));
    assert_same_files(&one, &two, ".shard");
    let forked = courses(folder.path());
    let endgames = forked.iter().filter(|(start, _)| start.starts_with("6/wwww2")).count();
    assert!((5..30).contains(&endgames), "{endgames} of 60 games fork off an endgame");
    stdout(folder.path(), "dataset verify games");
    write(folder.path(), "small.toml", CONFIG);
    refused(folder.path(), &format!("{forking} --out other"), "set fork_share");
}

/// The random network is sure of nothing: it gives up at the least doubt.
#[test]
fn lost_games_are_given_up_and_some_are_played_on() {
    let folder = folder();
    let play = |resign: &str, out: &str| {
        let selfplay = format!("[selfplay]\nresign = {{ below = -0.001, plies = 2, {resign} }}\n");
        write(folder.path(), "small.toml", &CONFIG.replace("[selfplay]\n", &selfplay));
        let words = MCTS.replace("--quiet ", "");
        let words = format!("{words} --json --out {out}");
        let said = surakarta(folder.path()).args(words.split_whitespace()).assert().success();
        let output = said.get_output();
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["shards"].as_array().unwrap().len(), 10);
        assert_eq!((&summary["games"], &summary["complete"]), (&60.into(), &true.into()));
        (summary, said)
    };
    let count = |summary: &Value, key: &str| summary["resignations"][key].as_u64().unwrap();
    let (hard, said) = play("played_on = 0.5", "hard");
    let [given_up, played_on, wrong] =
        ["given_up", "played_on", "wrong"].map(|key| count(&hard, key));
    assert!(wrong > 0 && wrong <= played_on && played_on < given_up, "{hard}");
    assert_eq!(hard["endings"]["resignation"], given_up - played_on);
    let line =
        format!("{given_up} given up, {played_on} of them played on, {wrong} of these not lost (");
    assert!(said.contains(&line), "{said}");
    stdout(folder.path(), "dataset verify hard");
    assert_eq!(stats(folder.path(), "hard")["endings"]["resignation"], given_up - played_on);

    let (soft, _) = play("soft = true", "soft");
    assert_eq!(count(&soft, "given_up"), count(&soft, "played_on"));
    assert_eq!(soft["endings"]["resignation"], Value::Null);
    let recorded = |games: &str| stats(folder.path(), games)["recorded"].as_u64().unwrap();
    play("played_on = 1.0", "whole");
    assert!(recorded("soft") < recorded("whole"));
    refused(folder.path(), &format!("{ALPHABETA} --out other"), "resign goes by the values");
}

#[test]
fn exports_say_how_each_position_was_searched() {
    let folder = folder();
    let selfplay = "[selfplay]\nopening_plies = [1, 1]\npolicy_plies = [1, 1]\npolicy_temperature = 0.5\nsampled_plies = [4, 4]\ntemperature = 0.75\ntemperature_end = 0.25\nresign = { below = -0.001 }\n";
    write(folder.path(), "small.toml", &CONFIG.replace("[selfplay]\n", selfplay));
    stdout(folder.path(), &format!("{MCTS} --out games"));
    stdout(folder.path(), "dataset merge games --out merged");
    for games in ["games", "merged"] {
        stdout(folder.path(), &format!("dataset export {games} --out tables"));
        let table = std::fs::read_to_string(folder.path().join("tables/positions.csv")).unwrap();
        let names: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        let column = |name: &str| names.iter().position(|&found| found == name).unwrap();
        let columns = ["ply", "kind", "asked", "temperature", "noise"].map(column);
        for line in table.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let [ply, kind, asked, temperature, noise] = columns.map(|at| cells[at]);
            let temperature_expected = match ply.parse::<u32>().unwrap() {
                0 => "",
                1 => "0.5",
                // Two opening plies count, too.
                2..4 => "0.75",
                _ => "0.25",
            };
            assert_eq!(temperature, temperature_expected, "{line}");
            let expected = match kind {
                "opening" => ["0", "0"],
                "fast" => ["16", "0"],
                _ => ["16", "1"],
            };
            assert_eq!([asked, noise], expected, "{line}");
        }
    }
}
