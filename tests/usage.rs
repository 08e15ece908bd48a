//! What the binary says about itself, and about mistakes.

mod support;

use std::process::{Command, Stdio};

use support::{refused, refused_words, stdout, surakarta, write};
use tempfile::TempDir;

const COMMANDS: [&str; 12] = [
    "run", "selfplay", "train", "arena", "match", "play", "report", "dataset", "perft", "moves",
    "bench", "doctor",
];

#[test]
fn every_command_explains_itself() {
    let folder = TempDir::new().unwrap();
    let overview = stdout(folder.path(), "--help");
    for command in COMMANDS {
        assert!(overview.contains(&format!("\n  {command} ")), "{command} is not in --help");
        let help = stdout(folder.path(), &format!("{command} --help"));
        assert!(help.contains("Examples:\n"), "{help}");
        assert!(help.contains(&format!("\n  surakarta {command}")), "{help}");
        assert_eq!(stdout(folder.path(), &format!("help {command}")), help);
    }
    for command in ["verify", "stats", "show", "merge", "split", "export", "import"] {
        let help = stdout(folder.path(), &format!("dataset {command} --help"));
        assert!(help.contains("Example"), "{help}");
        assert!(help.contains(&format!("\n  surakarta dataset {command} ")), "{help}");
    }
    assert!(stdout(folder.path(), "bench rules --help").contains("Usage"));
    assert!(stdout(folder.path(), "--version").starts_with("surakarta "));
}

#[test]
fn unknown_words_are_refused() {
    let folder = TempDir::new().unwrap();
    let cases = [
        ("fly", "unrecognized subcommand 'fly'"),
        ("dataset burn", "unrecognized subcommand 'burn'"),
        ("perft 2 --fast", "unexpected argument '--fast'"),
        ("match greedy", "<SECOND>"),
        ("match greedy stockfish", "`stockfish` is not a player; the players are random, greedy"),
        ("match greedy alphabeta:node=5", "alphabeta has no key `node`; its keys are nodes"),
        ("match greedy alphabeta:nodes=none", "nodes"),
        ("match greedy mcts:sims=20", "an mcts player needs a network"),
        ("match greedy greedy", "player `greedy` is named twice"),
        ("match greedy random --pairs 0", "0 is not in 1.."),
        ("match greedy random --opening-plies 1000", "1000 is not in 0..=200"),
        ("match greedy random --rules chess", "`chess` is not a rule set; the rule sets are"),
        ("match greedy random --threads 99999", "99999"),
        ("match greedy random --json --csv", "cannot be used with"),
        ("match greedy mcts:net=best,sims=9", "net=best names a network of a run"),
        ("play --against nobody", "`nobody` is not a player"),
        ("play --color red", "red"),
        ("selfplay --player random --games 1 --seed 1", "--out"),
        ("selfplay --player random --games 0 --seed 1 --out x", "0 is not in 1.."),
        ("--quiet --verbose perft 1", "cannot be used with"),
        ("bench rules --seconds -1", "--seconds"),
        ("bench rules --seconds NaN", "give a number of seconds from 0 to 3600"),
        ("bench rules --variant chess", "`chess` is not a variant; the variants are: standard"),
    ];
    for (words, reason) in cases {
        refused(folder.path(), words, reason);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing was made");
}

#[test]
fn missing_and_foreign_files_are_named() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "noise.safetensors", "not weights at all");
    write(folder.path(), "noise.shard", "not a shard");
    write(folder.path(), "noise.toml", "[run\nname=");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let cases = [
        ("run missing.toml", "cannot read the configuration missing.toml: No such file"),
        ("run noise.toml", "in the configuration noise.toml"),
        ("arena missing.toml", "cannot read the configuration missing.toml"),
        ("arena noise.toml", "in the configuration noise.toml"),
        ("match greedy mcts:net=gone.safetensors,sims=9", "gone.safetensors"),
        ("match greedy mcts:net=noise.safetensors,sims=9", "noise.safetensors"),
        ("play --against mcts:net=gone.safetensors", "gone.safetensors"),
        ("dataset stats gone.shard", "gone.shard: cannot open the shard: No such file"),
        ("dataset stats noise.shard", "noise.shard is not a shard"),
        ("dataset verify empty", "there are no shards in empty"),
        ("dataset export empty --out out", "there are no shards in empty"),
    ];
    for (words, reason) in cases {
        refused(folder.path(), words, reason);
    }
    assert!(!folder.path().join("out").exists());
}

/// A cause that the system gave is said once.
#[test]
fn causes_are_not_repeated() {
    let folder = TempDir::new().unwrap();
    let command = support::surakarta(folder.path())
        .args(["dataset", "stats", "gone.shard"])
        .assert()
        .failure();
    let text = String::from_utf8(command.get_output().stderr.clone()).unwrap();
    assert_eq!(text.matches("os error").count(), 1, "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn unknown_keys_of_configurations_are_named() {
    let folder = TempDir::new().unwrap();
    let run = "[run]\nname = \"x\"\nseed = 1\niterations = 1\ngames = 1\n";
    let network = "[network]\nkind = \"mlp\"\nhidden = [32, 16]\n";
    let cases = [
        (format!("{run}speed = 9\n{network}"), "bad.toml: line 6, column 1: unknown field `speed`"),
        (
            run.replace("games = 1", "games = \"many\""),
            "bad.toml: line 5, column 9, games: invalid",
        ),
        (run.replace("games", "seed"), "bad.toml: line 5, column 1, seed: duplicate key"),
        (run.replace("seed = 1", "seed = = 1"), "bad.toml: line 3, column 8"),
        (format!("{run}{network}[selfplay]\nsimulations = 9\n"), "`simulations`"),
        (format!("{run}{network}[flags]\nall = true\n"), "`flags`"),
        (run.to_owned(), "network"),
        (format!("{run}[network]\nkind = \"mlp\"\nhidden = []\n"), "hidden"),
        (format!("{run}{network}[rating]\nopponents = [\"stockfish\"]\n"), "`stockfish`"),
        (format!("{run}{network}[selfplay]\nfull_share = 2.0\n"), "full_share"),
    ];
    for (text, reason) in cases {
        // Some editors put a mark before the first letter.
        for text in [format!("\u{feff}{text}"), text] {
            write(folder.path(), "bad.toml", &text);
            let output = surakarta(folder.path()).args(["run", "bad.toml"]).assert().failure();
            let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
            assert!(said.starts_with("error: in the configuration bad.toml: "), "{said}");
            assert!(said.contains(reason) && said.lines().count() == 1, "{said}");
        }
    }
    for (line, reason) in [
        ("sed = 2", "bad.toml: line 3, column 1: unknown field `sed`"),
        ("anchors = { \"a=b\" = \"x\" }", "bad.toml: line 3, column 21, \"a=b\": invalid type"),
        (
            "players = [{ player = \"greedy\", name = 5 }]",
            "bad.toml: line 3, column 40, name: invalid",
        ),
    ] {
        write(folder.path(), "bad.toml", &format!("pairs = 1\nseed = 1\n{line}\n"));
        refused(folder.path(), "arena bad.toml", reason);
    }
    assert!(!folder.path().join("runs").exists(), "nothing was begun");
}

#[test]
fn a_value_with_a_comma_is_quoted() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("odd, name.safetensors");
    support::write_weights(&path, &[32, 16], 1);
    let player = "mcts:net=\"odd, name.safetensors\",sims=4";
    support::surakarta(folder.path())
        .args(["--quiet", "match", player, "random", "--pairs", "1"])
        .assert()
        .success();
    let unquoted = "mcts:net=odd, name.safetensors,sims=4";
    refused_words(
        folder.path(),
        &["match", unquoted, "random", "--pairs", "1"],
        "name.safetensors",
    );
}

/// Whoever reads stdout may leave at any time.
#[test]
fn a_closed_stdout_is_no_error() {
    for words in [
        "perft 2",
        "moves",
        "doctor",
        "doctor --json",
        "--quiet match greedy random --pairs 1",
        "--quiet match greedy random --pairs 1 --csv",
        "--quiet match greedy random --pairs 1 --json",
    ] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("surakarta"))
            .args(words.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{words}: {}", output.status);
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{words}");
    }
}
