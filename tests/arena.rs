//! `surakarta arena` in all its formats, `surakarta match` with conditions, and books of openings.

mod support;

use serde_json::Value;
use support::{files, json, killed, refused, stdout, surakarta, write, write_weights};
use tempfile::TempDir;

const FOUR: &str = r#"
players = ["alphabeta:nodes=600", "alphabeta:nodes=300", "rollout:sims=3", "greedy"]
pairs = 30
seed = 5
"#;

fn names(table: &Value) -> Vec<&str> {
    let players = table["players"].as_array().unwrap();
    players.iter().map(|player| player["name"].as_str().unwrap()).collect()
}

/// Killed fifty times at moments without a pattern, it ends with the table of an undisturbed one, and
/// no game was played twice.
#[test]
fn fifty_kills_change_nothing() {
    for (format, games) in [("round-robin", 6 * 60), ("swiss=3", 3 * 2 * 60)] {
        let folder = TempDir::new().unwrap();
        write(folder.path(), "four.toml", &format!("{FOUR}format = \"{format}\"\n"));
        let undisturbed =
            stdout(folder.path(), "--quiet arena four.toml --json --journal undisturbed.jsonl");
        let watched = TempDir::new().unwrap();
        let journal = watched.path().join("games.jsonl");
        let words = format!("--quiet arena four.toml --json --journal {}", journal.display());
        let mut number = 1_u64;
        let mut hits = 0;
        for _ in 0..25 {
            // Knuth's multiplier; the high bits look random.
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (changes, milliseconds) = ((number >> 60) as u32 / 2, number >> 32 & 15);
            hits +=
                u32::from(killed(folder.path(), &words, watched.path(), (changes, milliseconds)));
        }
        assert!(hits >= 15, "only {hits} kills hit it at work");
        assert_eq!(stdout(folder.path(), &words), undisturbed);
        let lines = std::fs::read_to_string(&journal).unwrap().lines().count();
        assert_eq!(lines, 2 + games, "{format}");
    }
}

#[test]
fn challengers_are_placed_among_the_others() {
    let folder = TempDir::new().unwrap();
    let config = FOUR.replace("pairs = 30", "pairs = 6") + "[anchors]\n\"greedy\" = 1000.0\n";
    write(folder.path(), "four.toml", &config);
    let words =
        "--quiet arena four.toml --json --challenger random --challenger alphabeta:nodes=50";
    let table = json(folder.path(), words);
    assert_eq!(names(&table).len(), 6);
    assert_eq!(table["games"], 2 * 4 * 12, "they meet all others and not each other");
    let of = |name: &str| {
        let players = table["players"].as_array().unwrap();
        players.iter().find(|player| player["name"] == name).unwrap().clone()
    };
    assert_eq!(of("greedy")["rating"], 1000.0);
    assert_eq!(
        (of("random")["games"].clone(), of("greedy")["games"].clone()),
        (48.into(), 24.into())
    );
}

#[test]
fn checkpoints_of_a_run_climb_a_ladder() {
    let folder = TempDir::new().unwrap();
    let weights = folder.path().join("run/weights");
    std::fs::create_dir_all(&weights).unwrap();
    for iteration in [0, 1, 2, 3, 4, 5] {
        write_weights(
            &weights.join(format!("iteration-{iteration:04}.safetensors")),
            &[32],
            iteration,
        );
    }
    let config = |every: u32| {
        format!(
            "format = \"ladder\"\npairs = 2\nseed = 1\n[checkpoints]\nrun = \"run\"\nevery = {every}\nplayer = \"mcts:net=latest,sims=8\"\n"
        )
    };
    write(folder.path(), "ladder.toml", &config(2));
    let table = json(folder.path(), "--quiet arena ladder.toml --json");
    let mut names = names(&table);
    names.sort_unstable();
    assert_eq!(names, ["iteration 0", "iteration 2", "iteration 4", "iteration 5"]);
    assert_eq!(table["games"], 3 * 4);
    write(folder.path(), "ladder.toml", &config(4_000_000_000));
    let table = json(folder.path(), "--quiet arena ladder.toml --json --journal huge.jsonl");
    assert_eq!(table["games"], 4, "the first and the newest");
    std::fs::remove_file(weights.join("iteration-0002.safetensors")).unwrap();
    write(folder.path(), "ladder.toml", &config(1));
    refused(folder.path(), "arena ladder.toml --journal other.jsonl", "iteration-0002");
    write(folder.path(), "ladder.toml", &config(0));
    refused(folder.path(), "arena ladder.toml --journal other.jsonl", "checkpoints.every is 0");
    write(folder.path(), "ladder.toml", &config(2).replace("\"run\"", "\"nowhere\""));
    refused(folder.path(), "arena ladder.toml --journal other.jsonl", "nowhere");
}

#[test]
fn players_may_have_names_and_limits_of_their_own() {
    let folder = TempDir::new().unwrap();
    let config = "pairs = 2\nseed = 1\nplayers = [\n\"greedy\",\n{ player = \"alphabeta\", name = \"ours\", limits = { nodes = 100 } },\n]\n";
    write(folder.path(), "named.toml", config);
    let table = json(folder.path(), "--quiet arena named.toml --json");
    assert_eq!(names(&table), ["ours", "greedy"]);
    let journal = std::fs::read_to_string(folder.path().join("named.jsonl")).unwrap();
    assert!(journal.contains("\"nodes\":100") && !journal.contains("\"nodes\":10000"), "limits");
    for (wrong, said) in [
        ("name = \"ours\"", "name = 5"),
        ("nodes = 100", "nodes = 0"),
        ("name = \"ours\"", "nme = \"ours\""),
        ("nodes = 100", "clock = \"five\""),
    ]
    .map(|(old, new)| (config.replace(old, new), new.split(" =").next().unwrap()))
    {
        write(folder.path(), "wrong.toml", &wrong);
        refused(folder.path(), "arena wrong.toml", said);
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let folder = TempDir::new().unwrap();
    for (more, said) in [
        ("format = \"knockout\"", "`knockout` is not a format"),
        ("format = \"swiss=9\"", "at most 3 rounds"),
        ("format = \"gauntlet=4\"", "gauntlet of 4"),
        ("race = 5.0", "two players"),
        ("race = -1.0", "race is -1"),
        ("openings = \"missing.txt\"", "missing.txt"),
        ("openings = \"missing.txt\"\nopening_plies = 4", "openings and opening_plies"),
        ("[sprt]\nelo0 = 5.0\nelo1 = 5.0", "[sprt]"),
        ("[sprt]\nelo0 = 0.0\nelo1 = 5.0", "two players"),
        ("[adjudication]\nwin = { value = 2.0, plies = 3 }", "win.value"),
        ("opening_plies = 1000", "opening_plies is 1000; it must lie between 0 and 200"),
        ("[limits]\nms = 0", "limits.ms is 0"),
        ("forfeit = 3", "forfeit counts pieces"),
        ("[anchors]\ngreedy = nan", "anchors: `greedy` has the rating NaN"),
        ("[anchors]\ngreedy = 1e9", "anchors: `greedy`"),
        ("colors = \"red\"", "`red` does not say who moves first"),
        ("scoring = \"points\"", "scoring"),
    ] {
        write(folder.path(), "wrong.toml", &format!("{FOUR}{more}\n"));
        refused(folder.path(), "arena wrong.toml", said);
    }
    assert_eq!(files(folder.path(), "jsonl").len(), 0, "no journal was begun");
}

#[test]
fn a_match_can_be_a_race_a_test_or_against_the_clock() {
    let folder = TempDir::new().unwrap();
    let words = "--quiet match alphabeta:nodes=200 random --pairs 50 --json";
    let race = json(folder.path(), &format!("{words} --race 30 --scoring pieces --threads 2"));
    let points = &race["points"]["alphabeta:nodes=200"];
    assert!(points.as_f64().unwrap() >= 30.0 && race["games"].as_u64().unwrap() < 10, "{race}");
    assert!(race["verdict"].as_str().unwrap().contains("has won the race"));
    let test = json(folder.path(), &format!("{words} --sprt=-100,100 --model logistic"));
    assert!(test["verdict"].as_str().unwrap().contains("accepts H1"), "{}", test["verdict"]);
    assert!(test["games"].as_u64().unwrap() < 100);
    let clock =
        "--quiet match alphabeta rollout --pairs 2 --clock 0.5+0.01 --journal c.jsonl --json";
    let table = json(folder.path(), clock);
    assert_eq!((&table["games"], &table["complete"]), (&4.into(), &true.into()));
    let journal = std::fs::read_to_string(folder.path().join("c.jsonl")).unwrap();
    assert!(journal.contains("clock=0.5+0.01"), "the journal says what was granted");
    refused(folder.path(), "match greedy random --race 5 --sprt 0,5", "cannot be used with");
    refused(folder.path(), "match greedy random --sprt 5,5", "--sprt");
    refused(folder.path(), "match greedy random --clock 5s", "`5s` is not a clock");
}

#[test]
fn games_are_written_as_pgn_and_told_as_events() {
    let folder = TempDir::new().unwrap();
    let words =
        "--quiet match greedy random --pairs 3 --pgn games.pgn --events events.jsonl --markdown";
    let table = stdout(folder.path(), words);
    assert!(table.starts_with("| #"), "{table}");
    let pgn = std::fs::read_to_string(folder.path().join("games.pgn")).unwrap();
    assert_eq!(pgn.matches("[Result ").count(), 6);
    let events = std::fs::read_to_string(folder.path().join("events.jsonl")).unwrap();
    assert_eq!(events.matches("\"event\":\"result\"").count(), 6);
    assert!(events.ends_with("{\"event\":\"finish\",\"complete\":true,\"verdict\":null}\n"));
}

/// Nothing that a command reads or keeps is written over, and what cannot be written is said at once.
#[test]
fn files_are_kept_apart() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "four.toml", FOUR);
    write(folder.path(), "book.txt", "a2a3\n");
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let words = "match greedy random --pairs 1";
    for (more, said) in [
        ("--journal j --pgn j", "--pgn j is --journal, too"),
        ("--journal j --pgn ./folder/../j", "is --journal, too"),
        ("--journal j --events j", "--events j is --journal, too"),
        ("--openings book.txt --pgn book.txt", "is openings, too"),
        ("--openings book.txt --journal book.txt", "is openings, too"),
        ("--pgn nowhere/games.pgn", "there is no folder nowhere"),
        ("--pgn folder", "--pgn folder is a folder"),
        ("--journal /dev/full", "/dev/full is not a file"),
    ] {
        refused(folder.path(), &format!("{words} {more}"), said);
    }
    refused(folder.path(), "arena four.toml --pgn four.toml", "is the configuration, too");
    let made = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(made, 3, "nothing was made but the two files and the folder");
}

/// Nobody reads the messages, or the events, any more.
#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_reason_to_panic() {
    use std::fs::File;
    use std::process::{Command, Stdio};

    let folder = TempDir::new().unwrap();
    let binary = assert_cmd::cargo::cargo_bin!("surakarta");
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(binary)
        .args(["match", "greedy", "random", "--pairs", "2"])
        .stderr(full())
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("greedy"));
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut reader =
        Command::new("head").args(["-c", "10"]).arg(&pipe).stdout(Stdio::null()).spawn().unwrap();
    surakarta(folder.path())
        .args(["--quiet", "match", "greedy", "random", "--pairs", "50", "--events", "pipe"])
        .assert()
        .failure()
        .stderr(predicates::str::contains("pipe: Broken pipe"));
    reader.wait().unwrap();
}

#[test]
fn a_book_of_balanced_openings_is_made_and_played() {
    let folder = TempDir::new().unwrap();
    let book = "--quiet book --count 12 --judge alphabeta:nodes=200 --out";
    stdout(folder.path(), &format!("{book} one.txt --threads 1"));
    stdout(folder.path(), &format!("{book} two.txt --threads 2"));
    let texts = files(folder.path(), "txt");
    assert_eq!(texts["one.txt"], texts["two.txt"]);
    let text = std::fs::read_to_string(folder.path().join("one.txt")).unwrap();
    assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 12);
    let words = "--quiet match greedy random --openings one.txt --json";
    assert_eq!(json(folder.path(), &format!("{words} --pairs 12"))["distinct_openings"], 12);
    refused(folder.path(), &format!("{words} --pairs 13"), "12 openings for 13 pairs");
    let other = json(folder.path(), &format!("{words} --pairs 4 --seed 2 --journal j.jsonl"));
    assert_eq!(other["games"], 8);
    // The journal belongs to the file as it was.
    write(folder.path(), "one.txt", &text.replacen("# ", "#", 1));
    refused(folder.path(), &format!("{words} --pairs 4 --seed 2 --journal j.jsonl"), "openings is");
    refused(folder.path(), "book --count 3 --judge random --out x.txt", "gives no evaluations");
    refused(folder.path(), "book --count 3 --balance 5 --out x.txt", "--balance is 5");
    surakarta(folder.path())
        .args(["--quiet", "book", "--count", "500", "--plies", "1", "--out", "x.txt"])
        .assert()
        .failure()
        .stderr(predicates::str::contains("ask for fewer openings"));
}
