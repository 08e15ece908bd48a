//! `surakarta run` and `surakarta train` on a tiny configuration.

mod support;

use std::path::PathBuf;

use support::{refused, write};
use tempfile::TempDir;

const CONFIG: &str = r#"
[run]
name = "tiny"
seed = 5
iterations = 3
games = 48
[network]
kind = "mlp"
hidden = [32, 16]
[selfplay]
games_per_shard = 6
full_simulations = 24
fast_simulations = 8
[train]
batch_size = 64
warmup_samples = 500
checkpoint_steps = 10
[rating]
every = 2
pairs = 3
final_pairs = 4
player = "mcts:net=latest,sims=8"
opponents = ["greedy", "random"]
"#;

const RUN: &str = "--quiet run tiny.toml";

/// A folder with the configuration, and where its run will be.
fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "tiny.toml", CONFIG);
    let run = folder.path().join("runs/tiny");
    (folder, run)
}

#[test]
fn a_run_begins_with_a_good_configuration() {
    let (folder, run) = folder();
    let cases = [
        ("[run]", "[run]\nspeed = 1", "`speed`"),
        ("\"greedy\"", "\"stockfish\"", "`stockfish` is not a player"),
        ("\"greedy\"", "\"mcts:net=gone.safetensors\"", "gone.safetensors"),
        ("games = 48", "games = 0", "[run] games is 0; it must be 1 or more"),
        ("name = \"tiny\"", "name = \"../tiny\"", "[run] name is `../tiny`"),
        ("seed = 5", "seed = 5\ninit = \"gone.safetensors\"", "gone.safetensors"),
        ("hidden = [32, 16]", "hidden = [33]", "33"),
    ];
    for (old, new, reason) in cases {
        assert!(CONFIG.contains(old));
        write(folder.path(), "bad.toml", &CONFIG.replace(old, new));
        refused(folder.path(), "run bad.toml", reason);
        assert!(!run.exists(), "{new}: nothing was begun");
    }
}

#[cfg(not(feature = "torch"))]
#[test]
fn training_needs_libtorch() {
    let (folder, run) = folder();
    refused(folder.path(), RUN, "libtorch");
    assert!(!run.exists(), "nothing was begun");
}

#[cfg(feature = "torch")]
mod with_libtorch {
    use std::path::Path;
    use std::time::Duration;

    use predicates::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use support::{
        assert_same_files, files, killed, killed_again_and_again, stdout, surakarta, table,
        truncate, write_weights,
    };

    use super::*;

    /// Weights, shards, ratings, and what the metrics say apart from speed.
    fn assert_same_run(one: &Path, other: &Path) {
        let shards = assert_same_files(&one.join("shards"), &other.join("shards"), ".shard");
        assert!(shards > 0);
        assert_same_files(&one.join("weights"), &other.join("weights"), ".safetensors");
        let checkpoints = |run: &Path| files(&run.join("checkpoints"), "").into_keys();
        assert!(checkpoints(one).eq(checkpoints(other)));
        assert_eq!(
            std::fs::read(one.join("elo.csv")).ok(),
            std::fs::read(other.join("elo.csv")).ok()
        );
        assert_eq!(learned(one), learned(other));
    }

    /// The columns of the metrics that say what was learned.
    fn learned(run: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(run.join("metrics.csv")).unwrap();
        let columns = text.lines().next().unwrap().split(',').take_while(|name| *name != "seconds");
        let columns = columns.count();
        text.lines().map(|row| row.split(',').take(columns).collect::<Vec<_>>().join(",")).collect()
    }

    /// Everything in a run's folder but its ratings' times.
    fn everything(run: &Path) -> Vec<std::collections::BTreeMap<String, Vec<u8>>> {
        ["shards", "weights", "checkpoints"].map(|part| files(&run.join(part), "")).into()
    }

    #[test]
    fn the_loop_leaves_what_it_promises() {
        let (folder, run) = folder();
        let said = stdout(folder.path(), RUN);
        assert!(said.contains("After iteration 2:"), "{said}");
        assert!(said.contains("iteration 3") && said.contains("greedy"), "{said}");
        assert_eq!(files(&run.join("shards"), ".shard").len(), 24);
        let weights: Vec<_> = files(&run.join("weights"), "").into_keys().collect();
        let numbers = [0, 1, 2, 3].map(|n| format!("iteration-{n:04}.safetensors"));
        assert_eq!(weights[0], "best.safetensors");
        assert_eq!(weights[1..], numbers);
        // Every value is kept, for a program whose defaults are others.
        let kept = std::fs::read_to_string(run.join("config.toml")).unwrap();
        for line in ["name = \"tiny\"", "learning_rate = 0.002", "window_samples = 100000"] {
            assert!(kept.lines().any(|l| l == line), "{line}: {kept}");
        }
        assert_eq!(learned(&run).len(), 4);
        let played: Vec<_> = table(&run.join("selfplay.csv"))
            .iter()
            .map(|row| ["iteration", "games"].map(|column| row[column].clone()))
            .collect();
        assert_eq!(played, [["1", "48"], ["2", "48"], ["3", "48"]]);
        let elo = std::fs::read_to_string(run.join("elo.csv")).unwrap();
        assert_eq!(elo.lines().count(), 5, "{elo}");
        // What was learned is a player like any other, and games of it can be learned from.
        let player = "mcts:net=runs/tiny/weights/best.safetensors,sims=8";
        stdout(folder.path(), &format!("--quiet match {player} random --pairs 1"));
        stdout(folder.path(), "dataset verify runs/tiny/shards");
        // The same command again finds everything done.
        let before = everything(&run);
        let again = stdout(folder.path(), RUN);
        assert!(again.contains("After iteration 3:"), "{again}");
        assert_eq!(everything(&run), before);
    }

    #[test]
    fn threads_and_kills_change_nothing() {
        let (folder, one) = folder();
        stdout(folder.path(), &format!("{RUN} --threads 1"));
        stdout(folder.path(), &format!("{RUN} --threads 2 --dir two"));
        assert_same_run(&one, &folder.path().join("two"));

        let words = format!("{RUN} --threads 2 --dir killed");
        let run = folder.path().join("killed");
        let mut random = ChaCha8Rng::seed_from_u64(8);
        let moments: Vec<_> =
            (0..8).map(|_| (random.random_range(1..12), random.random_range(0..40))).collect();
        killed_again_and_again(folder.path(), &words, &run, &moments);
        assert_same_run(&one, &run);

        // Once in each stage, and amid the files that it writes.
        let words = format!("{RUN} --threads 1 --dir staged");
        let run = folder.path().join("staged");
        for (stage, moment) in [
            ("shards", (3, 2)),
            ("checkpoints", (2, 0)),
            ("checkpoints", (1, 1)),
            ("weights", (1, 0)),
            ("ratings", (3, 1)),
        ] {
            assert!(killed(folder.path(), &words, &run.join(stage), moment), "{stage}");
        }
        stdout(folder.path(), &words);
        assert_same_run(&one, &run);
    }

    /// All that makes the games of an iteration depend on more than its network.
    #[test]
    fn forks_policy_plies_and_resignation_change_nothing_of_that() {
        let (folder, one) = folder();
        let keys = "fork_share = 0.5\npolicy_plies = [0, 3]\n\
                    resign = { below = -0.2, plies = 1, soft = true, played_on = 0.3 }";
        let config = CONFIG.replace("[selfplay]", &format!("[selfplay]\n{keys}"));
        write(folder.path(), "tiny.toml", &config.replace("every = 2", "every = 0"));
        stdout(folder.path(), &format!("{RUN} --threads 1"));
        let metrics = table(&one.join("metrics.csv"));
        let sum =
            |column: &str| metrics.iter().map(|row| row[column].parse::<u64>().unwrap()).sum();
        let [given_up, played_on]: [u64; 2] = ["games_given_up", "games_played_on"].map(sum);
        assert!(given_up > 0 && played_on > 0, "{metrics:?}");

        let words = format!("{RUN} --threads 2 --dir killed");
        let run = folder.path().join("killed");
        killed_again_and_again(folder.path(), &words, &run, &[(3, 4), (9, 11), (12, 2), (5, 30)]);
        assert_same_run(&one, &run);
        stdout(folder.path(), "dataset verify runs/tiny/shards");
    }

    #[test]
    fn iterations_threads_and_device_may_change() {
        let (folder, whole) = folder();
        stdout(folder.path(), RUN);
        let part = folder.path().join("part");
        let words = format!("{RUN} --dir part");
        stdout(folder.path(), &format!("{words} --iterations 1 --threads 1"));
        assert_eq!(learned(&part).len(), 2);
        write(folder.path(), "tiny.toml", &CONFIG.replace("games = 48", "games = 48\nthreads = 2"));
        stdout(folder.path(), &words);
        assert_same_files(&whole.join("shards"), &part.join("shards"), ".shard");
        for n in 0..=3 {
            let name = format!("weights/iteration-{n:04}.safetensors");
            assert_eq!(std::fs::read(whole.join(&name)).ok(), std::fs::read(part.join(name)).ok());
        }
        assert_eq!(learned(&whole), learned(&part));
    }

    #[test]
    fn other_changes_are_refused() {
        let (folder, run) = folder();
        stdout(folder.path(), &format!("{RUN} --iterations 1"));
        let before = everything(&run);
        for (old, new, shown) in [
            ("full_simulations = 24", "full_simulations = 25", "full_simulations: 24 → 25"),
            ("batch_size = 64", "", "batch_size: 64 → 512"),
            ("hidden = [32, 16]", "hidden = [48]", "hidden: [32, 16] → [48]"),
            ("seed = 5", "seed = 6", "[run] seed: 5 → 6"),
            ("[\"greedy\", ", "[", "opponents"),
        ] {
            assert!(CONFIG.contains(old));
            write(folder.path(), "tiny.toml", &CONFIG.replace(old, new));
            refused(folder.path(), "run tiny.toml", shown);
            assert_eq!(everything(&run), before);
        }
        write(folder.path(), "tiny.toml", CONFIG);
        refused(folder.path(), "run tiny.toml --seed 7", "[run] seed: 5 → 7");
        stdout(folder.path(), &format!("{RUN} --iterations 2"));
    }

    #[test]
    fn damaged_shards_are_played_again() {
        let (folder, run) = folder();
        stdout(folder.path(), RUN);
        let shards = files(&run.join("shards"), ".shard");
        let names: Vec<_> = shards.keys().collect();
        truncate(&run.join("shards").join(names[3]), 200);
        truncate(&run.join("shards").join(names[20]), 1_000);
        std::fs::remove_file(run.join("shards").join(names[12])).unwrap();
        surakarta(folder.path())
            .args(["run", "tiny.toml"])
            .assert()
            .success()
            .stderr(predicate::str::contains("is cut short").count(2));
        assert_eq!(files(&run.join("shards"), ".shard"), shards);
    }

    /// Damaged files that cannot be made again from others are named, and nothing else changes.
    #[test]
    fn damaged_networks_are_named() {
        let (folder, run) = folder();
        stdout(folder.path(), RUN);
        let path =
            |part: &str, n: u32| run.join(part).join(format!("iteration-{n:04}.safetensors"));
        for damaged in [path("checkpoints", 3), path("weights", 2)] {
            let whole = std::fs::read(&damaged).unwrap();
            truncate(&damaged, 3_000);
            let before = everything(&run);
            let name = damaged.file_name().unwrap().to_str().unwrap();
            refused(folder.path(), "--quiet run tiny.toml --iterations 4", name);
            let after = everything(&run);
            assert!(before[0].iter().all(|(name, shard)| after[0].get(name) == Some(shard)));
            assert_eq!(before[1..], after[1..]);
            std::fs::write(&damaged, whole).unwrap();
        }
        // A rating that a power cut tore goes on; a training's own checkpoint is written anew whole
        // or not at all, so damage to it is the disk's.
        write(&run.join("checkpoints"), "partial-0004.safetensors", "noise");
        refused(folder.path(), "--quiet run tiny.toml --iterations 4", "partial-0004.safetensors");
        std::fs::remove_file(run.join("checkpoints/partial-0004.safetensors")).unwrap();
        stdout(folder.path(), &format!("{RUN} --iterations 4"));
        assert_eq!(learned(&run).len(), 5);
    }

    #[test]
    fn a_folder_with_other_things_is_left_alone() {
        let (folder, _) = folder();
        std::fs::create_dir(folder.path().join("full")).unwrap();
        write(&folder.path().join("full"), "thesis.tex", "do not touch");
        refused(folder.path(), "run tiny.toml --dir full", "full is not the folder of a run");
        assert_eq!(files(&folder.path().join("full"), "").len(), 1);
    }

    #[test]
    fn a_run_is_held_by_one_process() {
        let (folder, run) = folder();
        let mut first = std::process::Command::new(assert_cmd::cargo::cargo_bin!("surakarta"))
            .args(["--quiet", "run", "tiny.toml", "--iterations", "1000"])
            .current_dir(folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while !run.join("shards/000001-0000000000.shard").exists() {
            assert!(first.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(5));
        }
        refused(folder.path(), "run tiny.toml --iterations 1000", "another process is working");
        first.kill().unwrap();
        first.wait().unwrap();
    }

    #[test]
    fn a_run_can_start_from_weights() {
        let (folder, _) = folder();
        write_weights(&folder.path().join("given.safetensors"), &[32, 16], 77);
        let given = std::fs::read(folder.path().join("given.safetensors")).unwrap();
        let config = CONFIG.replace("seed = 5", "seed = 5\ninit = \"given.safetensors\"");
        write(folder.path(), "tiny.toml", &config.replace("every = 2", "every = 0"));
        stdout(folder.path(), &format!("{RUN} --iterations 1"));
        let begun = folder.path().join("runs/tiny/weights/iteration-0000.safetensors");
        assert_eq!(std::fs::read(begun).unwrap(), given);
        // Of another shape they are refused, before anything is played.
        write_weights(&folder.path().join("given.safetensors"), &[48], 77);
        refused(folder.path(), "run tiny.toml --dir second", "given.safetensors");
        assert!(!folder.path().join("second").exists());
        // A run that has begun does not need them any more.
        stdout(folder.path(), &format!("{RUN} --iterations 1"));
    }

    #[test]
    fn old_shards_are_kept_as_long_as_wanted() {
        let (folder, run) = folder();
        let config = CONFIG.replace("seed = 5", "seed = 5\nkeep = 1");
        // The window reaches back less than an iteration.
        let config = config.replace("[train]", "[train]\nwindow_samples = 40");
        write(folder.path(), "tiny.toml", &config.replace("every = 2", "every = 0"));
        stdout(folder.path(), RUN);
        let shards: Vec<_> = files(&run.join("shards"), ".shard").into_keys().collect();
        assert_eq!(shards.len(), 8, "{shards:?}");
        assert!(shards.iter().all(|name| name.starts_with("000003-")), "{shards:?}");
        // What was removed is not played again.
        let before = everything(&run);
        stdout(folder.path(), RUN);
        assert_eq!(everything(&run), before);
    }

    #[test]
    fn training_alone() {
        let (folder, run) = folder();
        stdout(folder.path(), &format!("{RUN} --iterations 1"));
        let train = "--quiet train --data runs/tiny/shards --config tiny.toml";
        let listed = stdout(folder.path(), &format!("{train} --out trained"));
        assert_eq!(listed.trim(), "trained/weights.safetensors");
        let [trained, killed_at] = ["trained", "killed"].map(|name| folder.path().join(name));
        let words = format!("{train} --out killed");
        assert!(killed(folder.path(), &words, &killed_at, (2, 1)));
        assert!(killed(folder.path(), &words, &killed_at, (1, 0)));
        stdout(folder.path(), &words);
        assert_same_files(&trained, &killed_at, ".safetensors");
        let shards: Vec<_> = files(&run.join("shards"), ".shard").into_keys().collect();
        refused(folder.path(), &format!("{train} --out trained"), "finished training");
        write_weights(&folder.path().join("other.safetensors"), &[48], 1);
        let init = format!("{train} --out fresh --init other.safetensors");
        refused(folder.path(), &init, "other.safetensors");
        std::fs::create_dir(folder.path().join("none")).unwrap();
        let none = "train --data none --config tiny.toml --out fresh";
        refused(folder.path(), none, "holds no shards");
        // What is damaged is left out, and with nothing else left there is nothing to learn from.
        for shard in &shards {
            truncate(&run.join("shards").join(shard), 500);
        }
        refused(folder.path(), &format!("{train} --out fresh"), &shards[0]);
    }
}
