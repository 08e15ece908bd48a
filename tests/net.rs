//! Networks through the binary: `net info`, `convert`, `quantise`, `compare` and `bench net`.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{SMALL, assert_same_files, json, refused, stdout, surakarta, write};
use surakarta_game::{Position, Variant};
use surakarta_net::{Auxiliary, Kernel, QuantisedWeights, Shape, Weights, policy_index};
use surakarta_record::ShardReader;
use surakarta_record::shard::list_shards;
use tempfile::TempDir;

/// `w.safetensors`, a small network with an auxiliary head.
fn write_network(folder: &Path, name: &str, variant: Variant, seed: u64) -> Weights {
    let shape = Shape::mlp(&[32, 16]).unwrap().with_heads([Auxiliary::ShortTerm]);
    let weights = Weights::random(shape, variant, seed);
    weights.save(folder.join(name)).unwrap();
    weights
}

#[test]
fn what_a_file_holds() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let weights = write_network(folder, "w.safetensors", Variant::Standard, 1);
    let info = json(folder, "net info w.safetensors --json");
    assert_eq!(info["hash"], weights.hash());
    assert_eq!(info["numbers"], "f32");
    assert_eq!(info["variant"], "standard");
    assert_eq!(info["network"], weights.shape().describe(Variant::Standard));
    assert_eq!(info["parameters"], weights.shape().parameters(Variant::Standard));
    assert_eq!(info["source"], "random, seed 1");
    assert_eq!(info["shape"]["hidden"], serde_json::json!([32, 16]));
    let bytes: u64 =
        info["tensors"].as_array().unwrap().iter().map(|t| t["bytes"].as_u64().unwrap()).sum();
    assert_eq!(bytes, 4 * info["parameters"].as_u64().unwrap());
    assert!(bytes < info["bytes"].as_u64().unwrap());
    let text = stdout(folder, "net info w.safetensors");
    for part in [&weights.hash()[..], "short-term", "policy.weight", "768 × 16"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn quantised_networks_are_made_and_play() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for variant in [Variant::Standard, Variant::Sepur] {
        let weights = write_network(folder, "w.safetensors", variant, 2);
        assert_eq!(stdout(folder, "net quantise w.safetensors q.safetensors"), "");
        let made = QuantisedWeights::load(folder.join("q.safetensors")).unwrap();
        assert_eq!(made, QuantisedWeights::new(&weights).unwrap());
        let info = json(folder, "net info q.safetensors --json");
        assert_eq!(info["numbers"], "quantised");
        assert_eq!(info["hash"], made.hash());
        assert!(info["source"].as_str().unwrap().contains(&weights.hash()));

        let same = json(folder, "net compare w.safetensors w.safetensors --positions 100 --json");
        assert_eq!(same["top_move_agreement"], 1.0);
        for key in ["policy_max", "policy_kl_max", "value_max", "margin_max"] {
            assert!(same[key].as_f64().unwrap().abs() < 1e-6, "{key}: {same}");
        }
        let close = json(folder, "net compare w.safetensors q.safetensors --positions 500 --json");
        assert_eq!(close["positions"], 500);
        assert!(close["value_max"].as_f64().unwrap() > 0.0, "{close}");
        assert!(close["value_mean"].as_f64().unwrap() < 0.01, "{close}");
        assert!(close["policy_kl_mean"].as_f64().unwrap() < 0.01, "{close}");

        let played = json(
            folder,
            &format!(
                "match mcts:net=q.safetensors,sims=16 mcts:net=w.safetensors,sims=16 --pairs 2 \
                 --variant {variant} --json"
            ),
        );
        assert!(played.to_string().contains("q.safetensors"), "{played}");
    }
}

#[test]
fn self_play_of_a_quantised_network_names_it() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write_network(folder, "w.safetensors", Variant::Standard, 3);
    stdout(folder, "net quantise w.safetensors q.safetensors");
    write(folder, "small.toml", SMALL);
    let play = |threads: u32, out: &str| {
        stdout(
            folder,
            &format!(
                "selfplay --player mcts:net=q.safetensors,sims=8 --games 24 --seed 1 \
                 --config small.toml --threads {threads} --out {out}"
            ),
        );
        folder.join(out)
    };
    let (one, two) = (play(1, "one"), play(2, "two"));
    assert_eq!(assert_same_files(&one, &two, ".shard"), 8);
    let hash = QuantisedWeights::load(folder.join("q.safetensors")).unwrap().hash();
    for shard in list_shards(&one).unwrap() {
        let header = ShardReader::open(&shard).unwrap().header().clone();
        assert_eq!(header.weights.as_deref(), Some(&hash[..]));
        assert_eq!(header.kernel.as_deref(), Some(Kernel::best().name()));
    }
}

#[test]
fn heads_are_stripped_and_notes_changed() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let weights = write_network(folder, "w.safetensors", Variant::Rural, 4);
    surakarta(folder)
        .args([
            "net",
            "convert",
            "w.safetensors",
            "s.safetensors",
            "--strip-heads",
            "--note",
            "a b",
        ])
        .assert()
        .success();
    let stripped = Weights::load(folder.join("s.safetensors")).unwrap();
    assert_eq!(stripped.source(), "a b");
    assert!(stripped.shape().heads().is_empty());
    for (name, _, data) in stripped.tensors() {
        assert_eq!(weights.tensor(name), Some(data));
    }
    let same = json(folder, "net compare w.safetensors s.safetensors --positions 100 --json");
    assert_eq!(same["value_max"], 0.0);
}

#[test]
fn rates_of_every_backend() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let rates = json(
        folder,
        "bench net --shape mlp:32,16 --shape mlp:48 --shape circuit:1,16,2 --batches 1,4 --seconds 0 --json",
    );
    let rows = rates["rates"].as_array().unwrap();
    for backend in ["f32", "quantised"] {
        for all in [false, true] {
            for batch in [1, 4] {
                for shape in ["mlp 436→32→16", "mlp 436→48"] {
                    let row = rows.iter().find(|row| {
                        row["backend"] == backend
                            && row["all_logits"] == all
                            && row["batch"] == batch
                            && row["shape"] == shape
                    });
                    let rate = row.unwrap()["evaluations_per_s"].as_f64().unwrap();
                    assert!(rate > 0.0);
                }
            }
        }
    }
    let tower = |row: &&Value| row["shape"] == "circuit 1×16 reach 2" && row["backend"] == "f32";
    assert!(rows.iter().filter(tower).count() >= 2);
    let torch = rates["libtorch"].as_bool().unwrap();
    for row in rows {
        assert_eq!(row["times_libtorch_best"].is_number(), torch, "{row}");
        assert_eq!(row["times_libtorch_single"].is_number(), torch, "{row}");
    }
    let text = stdout(folder, "bench net --shape mlp:16 --batches 2 --seconds 0");
    assert!(text.contains("mlp 436→16, standard") && text.contains("quantised portable"), "{text}");
}

#[test]
fn mistakes_are_named() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write_network(folder, "w.safetensors", Variant::Standard, 1);
    write_network(folder, "r.safetensors", Variant::Rural, 1);
    stdout(folder, "net quantise w.safetensors q.safetensors");
    let tower = Weights::random(Shape::conv(1, 16).unwrap(), Variant::Standard, 1);
    tower.save(folder.join("conv.safetensors")).unwrap();
    let file = fs::read(folder.join("q.safetensors")).unwrap();
    let mut damaged = file.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(folder.join("damaged.safetensors"), damaged).unwrap();
    fs::write(folder.join("cut.safetensors"), &file[..file.len() - 1]).unwrap();

    for (words, reason) in [
        ("net info none.safetensors", "none.safetensors"),
        (
            "net info damaged.safetensors",
            "damaged.safetensors cannot be used as weights: its checksum",
        ),
        (
            "net info cut.safetensors",
            "cut.safetensors cannot be used as weights: it is not a complete",
        ),
        (
            "net quantise q.safetensors x.safetensors",
            "it holds a quantised network; give the f32 weights",
        ),
        (
            "net quantise conv.safetensors x.safetensors",
            "conv.safetensors cannot be quantised: only networks of kind mlp",
        ),
        (
            "net quantise w.safetensors w.safetensors",
            "w.safetensors is the file, too; name another file",
        ),
        ("net quantise w.safetensors no/such/x.safetensors", "there is no folder no/such"),
        (
            "net compare w.safetensors r.safetensors",
            "r.safetensors for rural; compare networks of one variant",
        ),
        (
            "match mcts:net=damaged.safetensors,sims=8 random --pairs 1",
            "its checksum does not match",
        ),
        ("bench net --net q.safetensors", "it holds a quantised network"),
        ("net info model.PT", "model.PT is a TorchScript module by its name"),
        ("net compare w.safetensors model.pt", "give a file of weights"),
        ("net quantise w.safetensors q.pt", "q.pt would be taken for a TorchScript module"),
        ("net evaluate best --run nowhere", "--run nowhere is no folder"),
        ("bench net --shape mlp:17", "a width is a multiple of 16"),
        ("bench net --shape conv:4", "write mlp:256,128, conv:4,64 or circuit:4,64,3"),
    ] {
        refused(folder, words, reason);
    }
    assert!(!folder.join("x.safetensors").exists());
}

#[test]
fn an_evaluation_has_every_number() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write_network(folder, "w.safetensors", Variant::Standard, 1);
    let white = "w1wwww/wwww1w/1w2w1/2b1b1/bb1b1b/bbbbbb w 0 5";
    let words = ["net", "evaluate", "w.safetensors", "--json", "--position", white];
    let output = support::surakarta(folder).args(words).assert().success();
    let said: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(said["position"], white);
    let moves = said["moves"].as_array().unwrap();
    let position: Position = white.parse().unwrap();
    assert_eq!(moves.len(), position.moves().len());
    let number = |value: &Value| value.as_f64().unwrap();
    let sum: f64 = moves.iter().map(|mv| number(&mv["probability"])).sum();
    assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    for mv in moves {
        let index = policy_index(
            Variant::Standard,
            mv["move"].as_str().unwrap().parse().unwrap(),
            position.side_to_move(),
        );
        assert_eq!(mv["index"].as_u64().unwrap() as usize, index.unwrap());
    }
    assert!(
        moves
            .windows(2)
            .all(|pair| number(&pair[0]["probability"]) >= number(&pair[1]["probability"]))
    );
    assert!((number(&said["win"]) - number(&said["loss"]) - number(&said["value"])).abs() < 1e-6);
    assert!(stdout(folder, "net evaluate w.safetensors").contains("seen by the side to move"));
    refused(folder, "net evaluate w.safetensors --variant rural", "for the variant standard");
    refused(folder, "net evaluate latest", "names a network of a run");
}

#[test]
fn a_network_becomes_a_module() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write_network(folder, "w.safetensors", Variant::Standard, 1);
    if cfg!(feature = "torch") {
        stdout(folder, "net convert w.safetensors model.pt");
        let said = |file: &str| support::json(folder, &format!("net evaluate {file} --json"));
        let (ours, theirs) = (said("w.safetensors"), said("model.pt"));
        for key in ["value", "margin"] {
            let apart = ours[key].as_f64().unwrap() - theirs[key].as_f64().unwrap();
            assert!(apart.abs() < 1e-5, "{key}: {apart}");
        }
        refused(folder, "net convert w.safetensors other.pt --note x", "leave the flags out");
        stdout(folder, "net quantise w.safetensors q.safetensors");
        refused(folder, "net convert q.safetensors other.pt", "q.safetensors is quantised");
        assert!(!folder.join("other.pt").exists());
    } else {
        refused(folder, "net convert w.safetensors model.pt", "built without libtorch");
        assert!(!folder.join("model.pt").exists());
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write_network(folder, "w.safetensors", Variant::Standard, 1);
    std::os::unix::fs::symlink("target.safetensors", folder.join("link.safetensors")).unwrap();
    fs::write(folder.join("target.safetensors"), "old").unwrap();
    stdout(folder, "net convert w.safetensors link.safetensors --note new");
    assert!(folder.join("link.safetensors").is_symlink());
    assert_eq!(json(folder, "net info target.safetensors --json")["source"], "new");
    // A device is written to, not replaced.
    stdout(folder, "net convert w.safetensors /dev/null");
    assert!(!Path::new("/dev/null").is_file());
}
