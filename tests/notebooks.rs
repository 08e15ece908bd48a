//! Every notebook runs from top to bottom on the files of a run.

mod support;

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

const CONFIG: &str = r#"
[run]
name = "tiny"
seed = 5
iterations = 2
games = 24
[network]
kind = "mlp"
hidden = [32, 16]
[selfplay]
full_simulations = 16
fast_simulations = 8
[train]
batch_size = 64
[rating]
every = 1
pairs = 3
final_pairs = 4
player = "mcts:net=latest,sims=8"
opponents = ["greedy", "random"]
"#;

#[test]
fn notebooks_run_on_the_files_of_a_run() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    // `cargo xtask test` provides the packages and says so; a bare `cargo test` may have none.
    let provided = std::env::var_os("SURAKARTA_PYTHON_PATH").is_some();
    if !provided && !root.join(".python").exists() {
        eprintln!(
            "left out: the packages of notebooks are missing; `cargo xtask python` gets them"
        );
        return;
    }
    let folder = TempDir::new().unwrap();
    support::write(folder.path(), "tiny.toml", CONFIG);
    support::stdout(folder.path(), "--quiet run tiny.toml");
    // A table of the other kind, for the notebook that reads both.
    let table =
        support::stdout(folder.path(), "--quiet match greedy rollout:sims=4 --pairs 4 --csv");
    let table = support::write(folder.path(), "match.csv", &table);
    let mut executed = 0;
    for entry in std::fs::read_dir(root.join("notebooks")).unwrap() {
        let notebook = entry.unwrap().path();
        if notebook.extension().is_none_or(|ending| ending != "ipynb") {
            continue;
        }
        let out = folder.path().join("executed.ipynb");
        for ratings in [None, Some(&table)] {
            if ratings.is_some() && notebook.file_stem() != Some("ratings".as_ref()) {
                continue;
            }
            let mut python = Command::new("python3");
            python.arg(root.join("notebooks/execute.py")).args([&notebook, &out]);
            python.env("SURAKARTA_RUN", folder.path().join("runs/tiny"));
            python.env("SURAKARTA", assert_cmd::cargo::cargo_bin!("surakarta"));
            python.env("SURAKARTA_OUT", folder.path());
            if let Some(table) = ratings {
                python.env("SURAKARTA_RATINGS", table);
            }
            let output = python.output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {errors}", notebook.display());
            let results = std::fs::read_to_string(&out).unwrap();
            assert!(results.contains("image/png"), "{} shows no picture", notebook.display());
            executed += 1;
        }
    }
    assert_eq!(executed, 6);
}
