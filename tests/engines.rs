//! Programs as players, and our players behind their protocols.

mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use support::{refused_words, surakarta};
use tempfile::TempDir;

/// What the binary prints for these words, which must succeed.
fn printed(folder: &Path, words: &[&str]) -> String {
    let output = surakarta(folder).args(words).assert().success();
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

/// Plays a match and returns each game's moves, ending and result, by pair and colours.
fn games(folder: &Path, players: [&str; 2], more: &[&str]) -> Vec<(String, Value)> {
    let journal = folder.join("games.jsonl");
    let _ = std::fs::remove_file(&journal);
    let words = [&["--quiet", "match", players[0], players[1], "--journal", "games.jsonl"], more];
    printed(folder, &words.concat());
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut games: Vec<_> = lines
        .filter(|game| game.get("black").is_some())
        .map(|game| {
            let moves: Vec<&Value> =
                game["plies"].as_array().unwrap().iter().map(|ply| &ply["move"]).collect();
            let key = format!("{}-{}-{}", game["pairing"], game["pair"], game["swapped"]);
            let played =
                serde_json::json!([game["opening"], moves, game["ending"], game["result"]]);
            (key, played)
        })
        .collect();
    games.sort_by(|a, b| a.0.cmp(&b.0));
    games
}

fn own(protocol: &str, words: &str) -> String {
    format!("'{}' {protocol} {words}", cargo_bin!("surakarta").display())
}

#[test]
fn a_protocol_between_them_changes_no_game() {
    let folder = TempDir::new().unwrap();
    let opponent = "alphabeta:depth=2";
    let more = ["--pairs", "4", "--seed", "3"];
    let direct = games(folder.path(), ["alphabeta:nodes=200", opponent], &more);
    assert_eq!(direct.len(), 8);
    let player = own("ugi", "--player alphabeta:nodes=200");
    let ugi = format!("ugi:cmd=\"{player}\"");
    assert_eq!(games(folder.path(), [&ugi, opponent], &more), direct);
    // Limits are passed on.
    let ugi = format!("ugi:cmd=\"{}\",nodes=200", own("ugi", "--player alphabeta:depth=1"));
    assert_eq!(games(folder.path(), [&ugi, opponent], &more), direct);
    let player = own("contest", "--player alphabeta:nodes=200 --rules olympiad");
    let contest = format!("contest:cmd=\"{player}\",openings=yes");
    assert_eq!(games(folder.path(), [&contest, opponent], &more), direct);
}

/// Random numbers are those of the arena: UGI passes the seed on.
#[test]
fn players_that_draw_random_numbers_are_the_same_over_ugi() {
    let folder = TempDir::new().unwrap();
    let more = ["--pairs", "5", "--variant", "sepur", "--rules", "threefold"];
    let direct = games(folder.path(), ["random", "rollout:sims=20"], &more);
    let player = own("ugi", "--player random --variant sepur --rules threefold");
    let one = format!("ugi:cmd=\"{player}\",name=one");
    // Variant and rules would be set without being given.
    let player = player.replace("--variant sepur --rules threefold", "");
    let unaware = format!("ugi:cmd=\"{player}\",name=one");
    let player = own("ugi", "--player rollout --variant sepur --rules threefold");
    let other = format!("ugi:cmd=\"{player}\",sims=20");
    assert_eq!(games(folder.path(), [&one, &other], &more), direct);
    assert_eq!(games(folder.path(), [&unaware, &other], &more), direct);
}

#[test]
fn objections_to_options_are_told_before_the_games() {
    let folder = TempDir::new().unwrap();
    let engine = format!("ugi:cmd=\"{}\",option.Player=foo", own("ugi", ""));
    let words = ["--quiet", "match", "random", &engine, "--pairs", "1"];
    let output = surakarta(folder.path()).args(words).assert().success();
    let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert_eq!(said.matches("says: `foo` is not a player").count(), 1, "{said}");
}

#[test]
fn programs_that_cannot_play_are_refused_before_any_game() {
    let folder = TempDir::new().unwrap();
    let refuse = |words: &[&str], reason: &str| refused_words(folder.path(), words, reason);
    refuse(&["match", "random", "ugi:cmd=./missing"], "cannot start the engine `./missing`");
    refuse(&["match", "random", "contest:cmd=true"], "does not answer by the contest protocol");
    let contest = format!("contest:cmd=\"{}\"", own("contest", ""));
    refuse(&["match", "random", &contest, "--variant", "rural"], "standard board only");
    let words =
        ["selfplay", "--player", "ugi:cmd=x", "--games", "1", "--seed", "1", "--out", "games"];
    refuse(&words, "programs play in the arena only");
    refuse(&["ugi", "--player", "mcts:net=none.safetensors"], "none.safetensors");
}

/// What a program prints for this input.
fn conversation(words: &[&str], input: &str) -> String {
    let mut command = assert_cmd::Command::new(cargo_bin!("surakarta"));
    let output = command.args(words).write_stdin(input).assert().success();
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

#[test]
fn the_binary_speaks_both_protocols() {
    let words = ["ugi", "--player", "alphabeta:nodes=100"];
    let said = conversation(&words, "ugi\nisready\nposition startpos moves a2a3\ngo depth 2\n");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("id name Surakarta Zero "), "{said}");
    assert!(lines.contains(&"ugiok") && lines.contains(&"readyok"), "{said}");
    assert!(lines[lines.len() - 2].starts_with("info depth 2 nodes "), "{said}");
    assert!(lines[lines.len() - 1].starts_with("bestmove "), "{said}");
    let said = conversation(&["contest", "--player", "greedy"], "name?\nnew black\nquit\n");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "name SurakartaZero");
    assert!(lines[1].starts_with("move "), "{said}");
    assert_eq!(lines.len(), 2);
}

/// Numbers of the processes with this word on their command line.
#[cfg(target_os = "linux")]
fn marked(marker: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let has = |number: &String| {
        let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).any(|word| word == marker.as_bytes())
    };
    processes.filter_map(|entry| entry.file_name().into_string().ok()).filter(has).collect()
}

/// Whether something becomes true within a time that a busy machine needs.
#[cfg(target_os = "linux")]
fn soon(mut holds: impl FnMut() -> bool) -> bool {
    (0..3000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        holds()
    })
}

/// The command line of the engine for tests, behind a script that waits for it.
#[cfg(target_os = "linux")]
fn wrapped(folder: &Path, words: &str) -> String {
    let wrapper = folder.join("wrapper.sh");
    std::fs::write(&wrapper, "python3 \"$@\"\ntrue\n").unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../arena/tests/engine/misbehaver.py");
    format!("sh '{}' '{}' ugi {words}", wrapper.display(), script.display())
}

/// A command whose last word is an engine that is waited for without end.
#[cfg(target_os = "linux")]
fn hanging(folder: &Path, words: &[&str], cmd: &str) -> std::process::Child {
    let engine = format!("ugi:cmd=\"{cmd}\",hang-ms=1000000,start-ms=1000000");
    Process::new(cargo_bin!("surakarta"))
        .arg("--quiet")
        .args(words)
        .args([&engine, "--threads", "2"])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[cfg(target_os = "linux")]
fn signal(process: &std::process::Child, name: &str) {
    Process::new("kill").args([name, &process.id().to_string()]).status().unwrap();
}

/// Engines that never answer, and hear nothing, do not outlive us, nor does what they have started.
#[test]
#[cfg(target_os = "linux")]
fn no_engine_outlives_us() {
    for name in ["-KILL", "-INT"] {
        let folder = TempDir::new().unwrap();
        let marker = format!("outlives{name}-{}", std::process::id());
        let record = folder.path().join("misdeeds");
        let cmd = wrapped(folder.path(), &format!("hang 0 {marker} '{}'", record.display()));
        let mut arena = hanging(folder.path(), &["match", "random"], &cmd);
        let hanging =
            || std::fs::read_to_string(&record).is_ok_and(|text| text.lines().count() == 2);
        assert!(soon(hanging), "both engines are asked for a move");
        assert_eq!(marked(&marker).len(), 4, "two scripts and two programs");
        // The first Ctrl-C asks, the second ends.
        assert!(soon(|| {
            signal(&arena, name);
            arena.try_wait().unwrap().is_some()
        }));
        assert!(soon(|| marked(&marker).is_empty()), "{name}: engines were left behind");
    }
}

/// Nothing has been begun then that could be finished.
#[test]
#[cfg(target_os = "linux")]
fn an_engine_that_does_not_start_is_not_waited_for_after_ctrl_c() {
    let words =
        [&["match", "random"][..], &["book", "--count", "1", "--out", "book.txt", "--judge"]];
    for (n, words) in words.into_iter().enumerate() {
        let folder = TempDir::new().unwrap();
        let marker = format!("starts-{n}-{}", std::process::id());
        let cmd = wrapped(folder.path(), &format!("deaf 0 {marker}"));
        let waiting = hanging(folder.path(), words, &cmd);
        assert!(soon(|| marked(&marker).len() == 2));
        signal(&waiting, "-INT");
        let output = waiting.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("stopped before the engine `"), "not by the time of grace: {said}");
        assert!(soon(|| marked(&marker).is_empty()), "engines were left behind");
    }
}

/// Our own engines end with their input, even without being told.
#[test]
fn our_engines_end_with_their_input() {
    for words in [["ugi", "--player", "greedy"], ["contest", "--player", "greedy"]] {
        let mut engine = Process::new(cargo_bin!("surakarta"))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = engine.stdin.take().unwrap();
        input.write_all(b"go\nmove half a li").unwrap();
        drop(input);
        assert!(engine.wait().unwrap().success());
    }
}
