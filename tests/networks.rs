//! Networks of every shape play, natively and through libtorch.

mod support;

use std::path::Path;

use support::{SMALL, refused, stdout};
use surakarta_game::Variant;
use surakarta_net::{Shape, Weights};
use tempfile::TempDir;

/// Writes a small network of each shape; returns the files' names.
fn write_shapes(folder: &Path) -> [&'static str; 3] {
    let shapes = [Shape::mlp(&[32]), Shape::conv(1, 16), Shape::circuit(1, 16, 3)];
    let names = ["mlp.safetensors", "conv.safetensors", "circuit.safetensors"];
    for (shape, name) in shapes.into_iter().zip(names) {
        let weights = Weights::random(shape.unwrap(), Variant::Standard, 7);
        weights.save(folder.join(name)).unwrap();
    }
    names
}

#[test]
fn towers_play_and_make_the_same_games_on_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    support::write(folder.path(), "small.toml", SMALL);
    for name in write_shapes(folder.path()) {
        let table = stdout(
            folder.path(),
            &format!("--quiet match mcts:net={name},sims=8 random --pairs 2 --json"),
        );
        assert!(table.contains(name), "{table}");
        for threads in [1, 2] {
            let words = format!(
                "--quiet selfplay --player mcts:net={name},sims=8 --games 18 --seed 3 --config small.toml --threads {threads} --out {name}-{threads}"
            );
            stdout(folder.path(), &words);
        }
        let [one, two] = [1, 2].map(|threads| folder.path().join(format!("{name}-{threads}")));
        assert_eq!(support::assert_same_files(&one, &two, ".shard"), 6);
    }
}

#[cfg(not(feature = "torch"))]
#[test]
fn a_device_needs_libtorch() {
    let folder = TempDir::new().unwrap();
    write_shapes(folder.path());
    let player = "match mcts:net=mlp.safetensors,sims=8 random";
    refused(folder.path(), &format!("{player} --device cpu"), "built without libtorch");
}

#[test]
fn a_device_has_a_name() {
    let folder = TempDir::new().unwrap();
    surakarta_refuses(&folder, "gpu");
    surakarta_refuses(&folder, "cuda:x");
}

fn surakarta_refuses(folder: &TempDir, device: &str) {
    let words = format!("match random greedy --device {device}");
    let said = format!("`{device}` is not a device; write cpu, cuda or cuda:N");
    refused(folder.path(), &words, &said);
}

#[cfg(feature = "torch")]
mod with_libtorch {
    use std::fs;

    use surakarta_record::ShardReader;
    use surakarta_record::shard::list_shards;
    use surakarta_train::export_script;

    use super::*;

    #[test]
    fn libtorch_makes_the_same_games_on_any_number_of_threads() {
        let folder = TempDir::new().unwrap();
        write_shapes(folder.path());
        support::write(folder.path(), "small.toml", SMALL);
        let weights = Weights::load(folder.path().join("conv.safetensors")).unwrap();
        export_script(&weights, &folder.path().join("model.pt")).unwrap();
        for (name, device) in [
            ("circuit.safetensors", "--device cpu"),
            ("mlp.safetensors", "--device cpu"),
            ("model.pt", ""),
        ] {
            for threads in [1, 2] {
                let words = format!(
                    "--quiet selfplay --player mcts:net={name},sims=8 --games 18 --seed 3 --config small.toml {device} --threads {threads} --out {name}-{threads}"
                );
                stdout(folder.path(), &words);
            }
            let [one, two] = [1, 2].map(|threads| folder.path().join(format!("{name}-{threads}")));
            assert_eq!(support::assert_same_files(&one, &two, ".shard"), 6);
            let shard = list_shards(&one).unwrap().remove(0);
            let header = ShardReader::open(&shard).unwrap().header().clone();
            assert_eq!(header.kernel.as_deref(), Some("libtorch cpu"));
        }
    }

    #[test]
    fn a_module_of_your_own_plays_and_is_rated() {
        let folder = TempDir::new().unwrap();
        write_shapes(folder.path());
        let weights = Weights::load(folder.path().join("mlp.safetensors")).unwrap();
        export_script(&weights, &folder.path().join("model.pt")).unwrap();
        let table =
            stdout(folder.path(), "--quiet match mcts:net=model.pt,sims=8 random --pairs 2 --json");
        assert!(table.contains("mcts:net=model.pt,sims=8"), "{table}");

        fs::write(folder.path().join("none.pt"), "no module").unwrap();
        let words = "match mcts:net=none.pt,sims=8 random";
        refused(folder.path(), words, "none.pt cannot be used as a TorchScript network");
        let words = "match mcts:net=gone.pt,sims=8 random";
        refused(folder.path(), words, "cannot read gone.pt");
        let words = "match mcts:net=model.pt,sims=8 random --variant sepur";
        refused(folder.path(), words, "model.pt cannot be used as a TorchScript network");
        let words = "match mcts:net=model.pt,sims=8 random --device cuda:99";
        refused(folder.path(), words, "cuda:99 is not available");
    }
}
