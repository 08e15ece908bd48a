//! `surakarta train`: streams of shards, heads, averages, games held out, and sudden death.

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use predicates::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use support::{
    assert_same_files, files, killed_again_and_again, refused, stdout, surakarta, table, write,
    write_weights,
};
use tempfile::TempDir;

const CONFIG: &str = r#"
[run]
name = "tiny"
seed = 5
iterations = 1
games = 1
[network]
kind = "mlp"
hidden = [32, 16]
[selfplay]
games_per_shard = 8
[train]
batch_size = 32
warmup_samples = 500
checkpoint_steps = 5
window_samples = 300
window_growth = 0.5
stage_samples = 200
validation_share = 0.2
ema_samples = 1000
occupancy_weight = 0.5
reply_weight = 0.2
short_term_weight = 0.5
soft_policy_weight = 0.5
"#;

const TRAIN: &str = "--quiet train --data games --config stream.toml";

/// A folder with games and the configuration.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "stream.toml", CONFIG);
    write_weights(&folder.path().join("net.safetensors"), &[32, 16], 3);
    let player = "mcts:net=net.safetensors,sims=16";
    let games = "--games 96 --seed 7 --config stream.toml --out games";
    stdout(folder.path(), &format!("--quiet selfplay --player {player} {games}"));
    folder
}

/// Everything but what a clock measured.
fn learned(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let mut rows = table(&folder.join("metrics.csv"));
    let measured = |name: &str| {
        let rates = ["samples_per_second", "batch_share", "optimiser_share", "wait_share"];
        name.ends_with("seconds") || rates.contains(&name)
    };
    rows.iter_mut().for_each(|row| row.retain(|name, _| !measured(name)));
    rows
}

#[test]
fn a_stream_killed_anywhere_ends_with_the_same_weights() {
    let folder = folder();
    let whole = folder.path().join("whole");
    stdout(folder.path(), &format!("{TRAIN} --out whole"));
    let names: Vec<_> = files(&whole, ".safetensors").into_keys().collect();
    assert_eq!(names, ["checkpoint.safetensors", "weights.safetensors"]);
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for seed in 0..2 {
        let out = folder.path().join(format!("killed{seed}"));
        let moments: Vec<_> =
            (0..8).map(|_| (random.random_range(1..8), random.random_range(0..12))).collect();
        let words = format!("{TRAIN} --out killed{seed}");
        killed_again_and_again(folder.path(), &words, &out, &moments);
        assert_same_files(&whole, &out, ".safetensors");
        assert_eq!(learned(&whole), learned(&out));
        let calibration = |of: &Path| std::fs::read(of.join("calibration.csv")).unwrap();
        assert_eq!(calibration(&whole), calibration(&out));
    }
}

#[test]
fn only_the_same_training_goes_on() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let command = format!("{TRAIN} --init net.safetensors --out out");
    let weights = stdout(folder.path(), &command);
    let (checkpoint, partial) = (at("out/checkpoint.safetensors"), at("out/partial.safetensors"));
    let trained = std::fs::read(at("out/weights.safetensors")).unwrap();
    refused(folder.path(), &command, "choose another --out");

    // As if it had been killed when all was written.
    std::fs::copy(&checkpoint, &partial).unwrap();
    assert_eq!(stdout(folder.path(), &command), weights);
    assert!(!partial.exists());

    // As if it had been killed a moment earlier.
    std::fs::rename(&checkpoint, &partial).unwrap();
    for (from, to, problem) in [
        ("seed = 5", "seed = 6", "begun otherwise: [run] seed: 5 → 6; undo"),
        ("warmup_samples = 500", "", "[train] warmup_samples: 500 → 20000; undo"),
        ("ema_samples = 1000", "", "[train] ema_samples: 1000 → 50000; undo"),
        ("reply_weight = 0.2", "", "[train] reply_weight: 0.2 → 0.0; undo"),
        ("[32, 16]", "[32]", "[network] hidden: [32, 16] → [32]; undo"),
    ] {
        write(folder.path(), "stream.toml", &CONFIG.replace(from, to));
        refused(folder.path(), &command, problem);
    }
    // What changes no result may change.
    let may_change = CONFIG.replace("checkpoint_steps = 5", "checkpoint_steps = 6");
    write(folder.path(), "stream.toml", &may_change.replace("games = 1\n", "games = 2\n"));
    let shards: Vec<_> = files(&at("games"), ".shard").into_keys().collect();
    let fewer = command.replace("--data games", &format!("--data games/{}", shards[0]));
    refused(folder.path(), &fewer, "begun otherwise: --data: 12 shards with the checksum ");
    write_weights(&at("other.safetensors"), &[32, 16], 9);
    refused(folder.path(), &command.replace("net.safe", "other.safe"), "otherwise: --init: the");
    refused(folder.path(), &command.replace("--init net.safetensors", ""), "→ not set; undo");
    // The configuration may name them, and a shard that is given twice counts once.
    let named = CONFIG.replace("seed = 5", "seed = 5\ninit = \"net.safetensors\"");
    write(folder.path(), "stream.toml", &named);
    let twice = command.replace("--init net.safetensors", &format!("--data games/{}", shards[0]));
    assert_eq!(stdout(folder.path(), &twice), weights);
    std::fs::rename(&checkpoint, &partial).unwrap();
    write(folder.path(), "stream.toml", CONFIG);
    std::fs::rename(at("games"), at("moved")).unwrap();
    stdout(folder.path(), &command.replace("--data games", "--data moved"));
    assert_eq!(std::fs::read(at("out/weights.safetensors")).unwrap(), trained);
    assert!(checkpoint.exists() && !partial.exists());
}

#[test]
fn each_stage_leaves_its_figures() {
    let folder = folder();
    let out = folder.path().join("out");
    stdout(folder.path(), &format!("{TRAIN} --out out"));
    let rows = learned(&out);
    assert!(rows.len() >= 3, "{rows:?}");
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row["iteration"], number.to_string());
        let of =
            |name: &str| row[name].parse::<f64>().unwrap_or_else(|_| panic!("{name}: {row:?}"));
        for head in ["policy", "wdl", "margin", "occupancy", "reply", "short_term", "soft_policy"] {
            assert!(of(&format!("{head}_loss")) > 0.0);
        }
        assert!((0.0..=2.0).contains(&of("calibration_error")));
    }
    // In so small a window there may be no game that is held out.
    let (tested, untested): (Vec<_>, Vec<_>) =
        rows.iter().partition(|row| !row["validation_samples"].is_empty());
    assert!(!tested.is_empty(), "{rows:?}");
    for row in untested {
        let columns = row.iter().filter(|(name, _)| name.starts_with("validation_"));
        assert!(columns.into_iter().all(|(_, cell)| cell.is_empty()), "{row:?}");
    }
    let mut held_out = Vec::new();
    for row in tested {
        let of = |name: &str| row[&format!("validation_{name}")].parse::<f64>().unwrap();
        for head in ["policy", "wdl", "margin", "occupancy", "reply", "short_term", "soft_policy"] {
            assert!(of(&format!("{head}_loss")) > 0.0);
        }
        assert!((0.0..=2.0).contains(&of("calibration_error")));
        held_out.push(of("samples"));
    }
    // A fifth of the games, give or take: games are few, and not equally long.
    let mean = held_out.iter().sum::<f64>() / held_out.len() as f64;
    assert!(mean > 10.0 && mean < 250.0, "{held_out:?}");
    // What the bins hold is what was tested and trained on.
    let bins = table(&out.join("calibration.csv"));
    let count = |of: &str, iteration: &str| -> u64 {
        let bins = bins.iter().filter(|bin| bin["samples_of"] == of);
        let bins = bins.filter(|bin| bin["iteration"] == iteration);
        bins.map(|bin| bin["samples"].parse::<u64>().unwrap()).sum()
    };
    for row in &rows {
        let validation = count("validation", &row["iteration"]);
        assert_eq!(validation, row["validation_samples"].parse().unwrap_or(0), "{row:?}");
    }
    assert_eq!(count("training", "0").to_string(), rows[0]["samples"]);
    assert_eq!(files(&out.join("tensorboard"), "").len(), 1);
    // The weights for play are those of a player like any other.
    let player = "mcts:net=out/weights.safetensors,sims=8";
    stdout(folder.path(), &format!("--quiet match {player} random --pairs 1"));
}

#[test]
fn heads_may_be_added_to_given_weights() {
    let folder = folder();
    // Of the same trunk, without heads; and then with others than are wanted.
    stdout(folder.path(), &format!("{TRAIN} --out first --init net.safetensors"));
    let fewer = CONFIG.replace("occupancy_weight = 0.5", "");
    write(folder.path(), "stream.toml", &fewer);
    stdout(folder.path(), &format!("{TRAIN} --out second --init first/weights.safetensors"));
    let columns = &table(&folder.path().join("second/metrics.csv"))[0];
    assert_eq!((&columns["occupancy_loss"][..], columns["reply_loss"].is_empty()), ("", false));
    write_weights(&folder.path().join("other.safetensors"), &[48], 1);
    refused(
        folder.path(),
        &format!("{TRAIN} --out third --init other.safetensors"),
        "other.safeten",
    );
    let all = CONFIG.replace("validation_share = 0.2", "validation_share = 0.9999");
    write(folder.path(), "stream.toml", &all);
    refused(folder.path(), &format!("{TRAIN} --out fourth"), "lower validation_share");
}

#[test]
fn a_folder_with_other_logs_or_another_process_is_left_alone() {
    let folder = folder();
    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    for log in ["metrics.csv", "calibration.csv"] {
        write(&other, log, "my notes\n");
        refused(folder.path(), &format!("{TRAIN} --out other"), log);
        assert_eq!(std::fs::read_to_string(other.join(log)).unwrap(), "my notes\n");
        std::fs::remove_file(other.join(log)).unwrap();
    }
    let lock = std::fs::File::create(other.join("lock")).unwrap();
    lock.try_lock().unwrap();
    refused(folder.path(), &format!("{TRAIN} --out other"), "another process trains in other");
    drop(lock);
    stdout(folder.path(), &format!("{TRAIN} --out other"));
}

#[test]
fn damaged_shards_are_named_and_the_others_learned_from() {
    let folder = folder();
    let games = folder.path().join("games");
    let (name, mut bytes) = files(&games, ".shard").into_iter().nth(3).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(games.join(&name), bytes).unwrap();
    surakarta(folder.path())
        .args(TRAIN.split_whitespace())
        .args(["--out", "out"])
        .assert()
        .success()
        .stderr(predicate::str::contains(format!("left out: games/{name} is damaged")));
    // Where none is left there is nothing to learn from.
    let alone = TRAIN.replace("--data games", &format!("--data games/{name}"));
    refused(folder.path(), &format!("{alone} --out none"), "none of the shards can be used");
}
