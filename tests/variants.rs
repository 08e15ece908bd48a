//! Every variant goes through the whole program.

mod support;

use predicates::prelude::*;
use serde_json::Value;
use support::{files, json, refused, refused_words, stdout, surakarta, write, write_weights_for};
use surakarta_game::{Position, Variant, reference};
use tempfile::TempDir;

/// A tiny run.
const CONFIG: &str = r#"
[run]
name = "tiny"
seed = 5
iterations = 2
games = 24
variant = "VARIANT"
[network]
kind = "mlp"
hidden = [32, 16]
[selfplay]
games_per_shard = 6
full_simulations = 16
fast_simulations = 8
[train]
batch_size = 64
warmup_samples = 500
checkpoint_steps = 10
[rating]
every = 1
pairs = 2
final_pairs = 2
player = "mcts:net=latest,sims=8"
opponents = ["greedy", "random"]
"#;

/// A folder with the configuration of a variant and a network for it.
fn folder(variant: Variant) -> TempDir {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "tiny.toml", &CONFIG.replace("VARIANT", variant.name()));
    write_weights_for(variant, &folder.path().join("net.safetensors"), &[32, 16], 5);
    folder
}

/// Another variant, whose network may have tensors of the same dimensions or not.
fn other(variant: Variant) -> Variant {
    Variant::ALL[(variant as usize + 1) % Variant::ALL.len()]
}

/// Leaves of the tree of legal moves, by the slow twin of the rules.
fn leaves(position: &Position, depth: u32) -> usize {
    let moves = reference::moves(position);
    match depth {
        1 => moves.len(),
        _ => moves.into_iter().map(|mv| leaves(&position.after(mv), depth - 1)).sum(),
    }
}

#[test]
fn leaves_and_moves() {
    let folder = TempDir::new().unwrap();
    for variant in Variant::ALL {
        let start = Position::start(variant);
        let count = |words: &[&str]| {
            let output = surakarta(folder.path()).args(words).assert().success();
            String::from_utf8(output.get_output().stdout.clone()).unwrap().trim().to_owned()
        };
        let expected = leaves(&start, 3).to_string();
        assert_eq!(count(&["perft", "3", "--variant", variant.name()]), expected);
        // A position that names its variant needs no option, and may not contradict one.
        let text = start.to_string();
        assert_eq!(count(&["perft", "3", "--position", &text]), expected);
        assert_eq!(count(&["moves", "--position", &text]).split(' ').count(), start.moves().len());
        if variant != Variant::Standard {
            let words = ["perft", "3", "--position", &text, "--variant", other(variant).name()];
            let reason = format!("of the variant {variant}, but {} is played", other(variant));
            refused_words(folder.path(), &words, &reason);
        }
    }
    refused(folder.path(), "perft 3 --variant hexagonal", "`hexagonal` is not a variant");
    let bare = "7/7/3b3/7/7/7/3w3 b 0 1";
    refused_words(folder.path(), &["moves", "--position", bare], "--position: ");
    surakarta(folder.path())
        .args(["moves", "--variant", "sepur", "--position", bare])
        .assert()
        .success()
        .stdout("d5e5 d5c5 d5d6 d5d4 d5e6 d5c6 d5e4 d5c4\n");
}

#[test]
fn positions_of_several_variants_are_read_line_by_line() {
    let folder = TempDir::new().unwrap();
    let starts = Variant::ALL.map(Position::start);
    let input = starts.map(|start| start.to_string()).join("\n");
    let output =
        surakarta(folder.path()).args(["moves", "--stdin", "--json"]).write_stdin(input).assert();
    let text = String::from_utf8(output.success().get_output().stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 4);
    for (line, start) in text.lines().zip(starts) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["position"], start.to_string());
        assert_eq!(line["moves"].as_array().unwrap().len(), start.moves().len());
    }
}

#[test]
fn matches() {
    for variant in Variant::ALL {
        let folder = folder(variant);
        let words = |variant: Variant| {
            format!(
                "--quiet match alphabeta:nodes=300 random --pairs 3 --variant {variant} --journal games.jsonl --json"
            )
        };
        let table = json(folder.path(), &words(variant));
        assert_eq!(table["games"], 6);
        let warnings = table["warnings"].as_array().unwrap();
        let few = |warning: &Value| warning.as_str().unwrap().starts_with("few games");
        assert!(warnings.iter().all(few), "{warnings:?}");
        assert_eq!(table["players"][0]["name"], "alphabeta:nodes=300");
        let journal = std::fs::read_to_string(folder.path().join("games.jsonl")).unwrap();
        assert_eq!(journal.lines().count(), 8, "the match, what the players are, and the games");
        let header: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
        assert_eq!(header["variant"], variant.name());
        assert_eq!(json(folder.path(), &words(variant)), table, "all games are in the journal");
        let reason = format!("variant is \"{variant}\" there and \"{}\" here", other(variant));
        refused(folder.path(), &words(other(variant)), &reason);

        let config = format!(
            "players = [\"mcts:net=net.safetensors,sims=8\", \"greedy\"]\npairs = 2\nseed = 1\nvariant = \"{variant}\"\n"
        );
        write(folder.path(), "arena.toml", &config);
        assert_eq!(json(folder.path(), "--quiet arena arena.toml --json")["games"], 4);
    }
}

#[test]
fn self_play_and_its_data() {
    for variant in Variant::ALL {
        let folder = folder(variant);
        let words = format!(
            "--quiet selfplay --player mcts:net=net.safetensors,sims=16 --games 18 --seed 7 --config tiny.toml --out games --variant {variant}"
        );
        let listed = stdout(folder.path(), &words);
        assert_eq!(listed.lines().count(), 3);
        let shards = files(&folder.path().join("games"), ".shard");
        // What is there is kept; what is missing is played again.
        std::fs::remove_file(folder.path().join(listed.lines().nth(1).unwrap())).unwrap();
        assert_eq!(stdout(folder.path(), &words), listed);
        assert_eq!(files(&folder.path().join("games"), ".shard"), shards);

        stdout(folder.path(), "dataset verify games");
        let stats = json(folder.path(), "dataset stats games --json");
        assert_eq!(stats["variants"], serde_json::json!({ variant.name(): 18 }));
        assert!(stats["recorded"].as_u64().unwrap() > 50, "{stats}");
        let text = stdout(folder.path(), "dataset stats games");
        assert!(text.contains(&format!("variant      {variant}: 18 (100.0 %)")), "{text}");
        stdout(folder.path(), "dataset export games --out tables");
        let games = std::fs::read_to_string(folder.path().join("tables/games.csv")).unwrap();
        let start = Position::start(variant).to_string();
        assert!(games.lines().skip(1).all(|row| row.contains(&start)), "{games}");
        assert!(games.lines().next().unwrap().contains(",variant,rules,"), "{games}");

        // Another variant's games do not belong into the folder.
        let alphabeta = format!(
            "selfplay --player alphabeta:nodes=100 --games 6 --seed 7 --config tiny.toml --variant {} --out games",
            other(variant)
        );
        refused(folder.path(), &alphabeta, "was made with another variant");
    }
}

#[test]
fn a_network_of_another_variant_is_refused_by_name() {
    for variant in Variant::ALL {
        let folder = folder(variant);
        let played = other(variant);
        let reason = format!(
            "net.safetensors cannot be used as weights: it is for the variant {variant} where {played} is wanted"
        );
        let player = "mcts:net=net.safetensors,sims=8";
        for words in [
            format!("match {player} random --pairs 1 --variant {played}"),
            format!("play --against {player} --variant {played}"),
            format!("selfplay --player {player} --games 1 --seed 1 --out x --variant {played}"),
        ] {
            refused(folder.path(), &words, &reason);
        }
        let config = CONFIG.replace("VARIANT", played.name());
        let init = config.replace("seed = 5", "seed = 5\ninit = \"net.safetensors\"");
        let opponent = config.replace("\"greedy\"", &format!("\"{player}\""));
        for config in [init, opponent] {
            write(folder.path(), "bad.toml", &config);
            refused(folder.path(), "run bad.toml", &reason);
        }
        assert!(!folder.path().join("runs").exists(), "nothing was begun");
    }
}

#[test]
fn the_terminal_shows_the_board() {
    let folder = folder(Variant::Sepur);
    let play = |words: &[&str], typed: &'static str| {
        surakarta(folder.path())
            .args(["play", "--color", "black", "--seed", "1"])
            .args(words)
            .write_stdin(typed)
            .assert()
            .success()
    };
    let network = ["--against", "mcts:net=net.safetensors,sims=8", "--variant", "sepur"];
    play(&network, "g2g3\nquit\n")
        .stdout(predicate::str::contains("a   b   c   d   e   f   g\n"))
        .stdout(predicate::str::contains("white plays"))
        .stdout(predicate::str::contains("black 14, white 14"));
    // A slide, which only the rural variant has.
    let rural = ["--against", "greedy", "--position", "6/6/w5/6/6/2b3 b 0 1 rural"];
    play(&rural, "c1f3\nquit\n").stdout(predicate::str::contains("white plays"));
    let standard = ["--against", "greedy", "--position", "6/6/w5/6/6/2b3 b 0 1"];
    play(&standard, "c1f3\nquit\n").stdout(predicate::str::contains("cannot go to f3"));
}

#[cfg(feature = "torch")]
mod with_libtorch {
    use support::assert_same_files;

    use super::*;

    #[test]
    fn a_run() {
        for variant in Variant::ALL {
            let folder = folder(variant);
            let said = stdout(folder.path(), "--quiet run tiny.toml");
            assert!(said.contains("iteration 2") && said.contains("greedy"), "{said}");
            // Interrupted after its first iteration it comes to the same.
            stdout(folder.path(), "--quiet run tiny.toml --dir parts --iterations 1");
            stdout(folder.path(), "--quiet run tiny.toml --dir parts");
            let [whole, parts] = ["runs/tiny", "parts"].map(|run| folder.path().join(run));
            for part in ["shards", "weights"] {
                let parts = parts.join(part);
                let best = "best.safetensors";
                // The first run of two was its last and rated the checkpoint with other pairs.
                if parts.join(best).exists() {
                    std::fs::copy(whole.join(part).join(best), parts.join(best)).unwrap();
                }
                assert!(assert_same_files(&whole.join(part), &parts, "") > 2);
            }
            let stats = json(folder.path(), "dataset stats runs/tiny/shards --json");
            assert_eq!(stats["variants"], serde_json::json!({ variant.name(): 48 }));

            let changed = CONFIG.replace("VARIANT", other(variant).name());
            write(folder.path(), "tiny.toml", &changed);
            let (was, is) = (variant.name(), other(variant).name());
            let reason = format!("[run] variant: \"{was}\" → \"{is}\"");
            refused(folder.path(), "run tiny.toml", &reason);
        }
    }

    #[test]
    fn training_alone() {
        for variant in Variant::ALL {
            let folder = folder(variant);
            let selfplay = |variant: Variant, out: &str, first: u32| {
                write_weights_for(variant, &folder.path().join("own.safetensors"), &[16], 5);
                stdout(
                    folder.path(),
                    &format!(
                        "--quiet selfplay --player mcts:net=own.safetensors,sims=8 --games 12 --first {first} --seed 7 --config tiny.toml --out {out} --variant {variant}"
                    ),
                );
            };
            selfplay(variant, "games", 0);
            let train = "train --data games --config tiny.toml";
            let begun = format!("--quiet {train} --out trained --init net.safetensors");
            assert_eq!(stdout(folder.path(), &begun).trim(), "trained/weights.safetensors");
            let trained = format!(
                "--quiet match mcts:net=trained/weights.safetensors,sims=8 random --pairs 1 --variant {variant} --json"
            );
            assert_eq!(json(folder.path(), &trained)["games"], 2);

            // Of the shards, the network and the configuration none may be of another variant.
            let config = CONFIG.replace("VARIANT", other(variant).name());
            write(folder.path(), "other.toml", &config);
            let words = "train --data games --config other.toml --out x";
            let reason =
                format!("hold games of {variant}, and [run] variant is {}", other(variant));
            refused(folder.path(), words, &reason);
            let network = folder.path().join("other.safetensors");
            write_weights_for(other(variant), &network, &[32, 16], 5);
            let words = format!("{train} --out x --init other.safetensors");
            let reason = format!("for the variant {} where {variant} is wanted", other(variant));
            refused(folder.path(), &words, &reason);
            selfplay(other(variant), "more", 12);
            let words = "train --data games more --config tiny.toml --out x";
            refused(folder.path(), words, "leave one kind out");
        }
    }
}
