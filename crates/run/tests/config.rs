//! The configurations that come with the project, and what is refused.

use std::collections::BTreeSet;
use std::path::PathBuf;

use surakarta_game::Variant;
use surakarta_net::{InputGroup, MlpShape, Shape, Trunk};
use surakarta_run::arena::ArenaConfig;
use surakarta_run::config::Config;
use surakarta_selfplay::Resign;
use surakarta_train::Device;

fn shipped(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs")).join(name)
}

const SMALL: &str = r#"
    [run]
    name = "small"
    seed = 1
    iterations = 2
    games = 8
    [network]
    kind = "mlp"
    hidden = [32]
    [rating]
    every = 0
"#;

fn keys(table: &toml::Table) -> BTreeSet<String> {
    let sections = table.iter().filter_map(|(name, value)| Some((name, value.as_table()?)));
    sections.flat_map(|(name, keys)| keys.keys().map(move |key| format!("{name}.{key}"))).collect()
}

#[test]
fn every_shipped_configuration_is_valid() {
    for name in ["quickstart.toml", "cpu.toml", "gpu.toml"] {
        let config = Config::load(&shipped(name)).unwrap();
        assert_eq!(format!("{}.toml", config.run.name), name);
    }
    for name in ["arena.toml", "reference.toml"] {
        let config = ArenaConfig::load(&shipped(name)).unwrap();
        assert!(config.openings.is_none_or(|path| path.exists()), "{name}");
    }
}

#[test]
fn arena_toml_explains_every_key() {
    let text = std::fs::read_to_string(shipped("arena.toml")).unwrap();
    // Keys without a value of their own are shown as comments.
    let uncommented = |line: &str| {
        let inner = line.strip_prefix("# ").unwrap_or(line);
        let word = inner.split([' ', ']']).next().unwrap_or_default().trim_start_matches('[');
        let name =
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b"_01".contains(&b));
        let key = name && (inner.contains(" = ") && inner.split(" = ").next() == Some(word));
        if key || inner.starts_with('[') { inner.to_owned() } else { line.to_owned() }
    };
    let shown: Vec<String> = text.lines().map(uncommented).collect();
    let shown: toml::Table = shown.join("\n").parse().unwrap();
    let config: ArenaConfig = toml::Value::Table(shown.clone()).try_into().unwrap();
    assert!(config.checkpoints.is_some() && config.sprt.is_some() && config.race.is_some());
    let all = toml::Table::try_from(&config).unwrap();
    assert_eq!(shown.keys().collect::<BTreeSet<_>>(), all.keys().collect::<BTreeSet<_>>());
    assert_eq!(keys(&shown), keys(&all));
}

#[test]
fn cpu_toml_explains_every_key() {
    let text = std::fs::read_to_string(shipped("cpu.toml")).unwrap();
    // Some keys are shown as comments: they have no value unless one is given.
    let mut shown = text.clone();
    for key in ["init", "c_base", "play_device", "openings", "resign"] {
        shown = shown.replace(&format!("# {key} = "), &format!("{key} = "));
    }
    let shown: toml::Table = shown.parse().unwrap();
    let mut config = Config::load(&shipped("cpu.toml")).unwrap();
    config.run.init = Some("weights.safetensors".into());
    config.search.c_base = Some(1.0);
    config.run.play_device = Some(Device::Cpu);
    config.selfplay.openings = Some("book.txt".into());
    // Some are not written at their defaults.
    config.selfplay.policy_plies = [0, 1];
    config.selfplay.policy_temperature = 0.5;
    config.selfplay.fork_share = 0.5;
    config.selfplay.resign = Some(Resign::default());
    config.selfplay.temperature = 0.5;
    config.selfplay.temperature_end = 0.5;
    config.selfplay.temperature_halflife = 0.5;
    let residual = Trunk::Mlp(MlpShape::new(&[16, 16], true).unwrap());
    config.network = Shape::from(residual).without([InputGroup::Quiet]);
    assert_eq!(keys(&shown), keys(&toml::Table::try_from(&config).unwrap()));
    // And each has a comment above it.
    let lines: Vec<_> = text.lines().collect();
    for (n, line) in lines.iter().enumerate() {
        let is_key = line.contains(" = ") && line.starts_with(|c: char| c.is_ascii_lowercase());
        let listed_together = n > 0 && lines[n - 1].contains(" = ");
        assert!(!is_key || listed_together || lines[n - 1].starts_with('#'), "{line}");
    }
}

#[test]
fn cpu_toml_shows_every_kind_of_network() {
    let text = std::fs::read_to_string(shipped("cpu.toml")).unwrap();
    let section = text.split("\n[network]\n").nth(1).unwrap().split("\n[").next().unwrap();
    for shape in [Shape::conv(4, 64).unwrap(), Shape::circuit(4, 64, 3).unwrap()] {
        for (key, value) in toml::Table::try_from(&shape).unwrap() {
            assert!(section.contains(&format!("# {key} = {value}\n")), "{key} = {value}");
        }
    }
}

#[test]
fn defaults_are_what_cpu_toml_says() {
    let shown = Config::load(&shipped("cpu.toml")).unwrap();
    let small = Config::parse(SMALL).unwrap();
    assert_eq!(shown.selfplay, small.selfplay);
    assert_eq!(shown.search, small.search);
    let mut train = shown.train.clone();
    train.decay_samples = small.train.decay_samples;
    assert_eq!(train, small.train);
}

#[test]
fn a_configuration_survives_being_written() {
    for name in ["quickstart.toml", "cpu.toml", "gpu.toml"] {
        let config = Config::load(&shipped(name)).unwrap();
        assert_eq!(Config::parse(&config.to_text().unwrap()).unwrap(), config);
    }
}

#[test]
fn every_variant_can_be_named() {
    let parse = |name: &str| {
        let variant = format!("games = 8\nvariant = \"{name}\"");
        Config::parse(&SMALL.replace("games = 8", &variant))
    };
    for variant in Variant::ALL {
        let config = parse(variant.name()).unwrap();
        assert_eq!(config.run.variant, variant);
        assert_eq!(Config::parse(&config.to_text().unwrap()).unwrap(), config);
    }
    assert_eq!(Config::parse(SMALL).unwrap().run.variant, Variant::Standard);
    let differences = parse("sepur").unwrap().differences(&parse("rural").unwrap());
    assert_eq!(differences, ["[run] variant: \"sepur\" → \"rural\""]);
}

#[test]
fn mistakes_are_named() {
    for (from, to, expected) in [
        ("seed = 1", "seed = 1\nsede = 2", "sede"),
        ("seed = 1\n", "", "seed"),
        ("seed = 1", "seed = \"one\"", "seed"),
        ("name = \"small\"", "name = \"../small\"", "[run] name"),
        ("iterations = 2", "iterations = 0", "[run] iterations is 0"),
        ("games = 8", "games = 8\nrules = \"chess\"", "`chess` is not a rule set"),
        ("games = 8", "games = 8\nvariant = \"hexagonal\"", "`hexagonal` is not a variant"),
        ("games = 8", "games = 8\ndevice = \"tpu\"", "tpu"),
        ("hidden = [32]", "hidden = [33]", "33"),
        ("hidden = [32]", "hidden = [32]\nheads = [\"reply\"]", "by its weight in [train]"),
        ("every = 0", "every = 5", "opponents is empty"),
        ("every = 0", "every = 0\nopponents = [\"stockfish\"]", "stockfish"),
        ("every = 0", "every = 0\nopponents = [\"greedy\", \"greedy\"]", "greedy twice"),
        ("every = 0", "every = 0\npairs = 4000000000", "pairs is 4000000000"),
        ("every = 0", "every = 0\nplayer = \"greedy\"", "player is greedy"),
        ("every = 0", "every = 0\nopponents = [\"mcts:net=best\"]", "whose network changes"),
        ("[rating]", "[selfplay]\nfull_share = 0.0\n[rating]", "full_share is 0"),
        ("[rating]", "[selfplay]\nopening_plies = [8, 0]\n[rating]", "opening_plies"),
        ("[rating]", "[selfplay]\npolicy_plies = [3, 2]\n[rating]", "policy_plies"),
        ("[rating]", "[selfplay]\npolicy_temperature = 0.0\n[rating]", "policy_temperature is 0"),
        ("[rating]", "[selfplay]\ntemperature = -1.0\n[rating]", "temperature is -1"),
        ("[rating]", "[selfplay]\ntemperature_halflife = inf\n[rating]", "halflife is inf"),
        ("[rating]", "[selfplay]\nresign = { below = 0.5 }\n[rating]", "below is 0.5"),
        ("[rating]", "[selfplay]\nresign = { plies = 0 }\n[rating]", "plies is 0"),
        ("[rating]", "[selfplay]\nresign = { played_on = 2.0 }\n[rating]", "played_on is 2"),
        ("[rating]", "[selfplay]\nresign = { hard = true }\n[rating]", "`hard`"),
        ("[rating]", "[selfplay]\nfork_share = 1.5\n[rating]", "fork_share is 1.5"),
        ("[rating]", "[search]\nc_init = -1.0\n[rating]", "c_init is -1"),
        ("[rating]", "[search]\nmethod = \"uct\"\n[rating]", "`puct` or `gumbel`"),
        ("[rating]", "[search]\nconsidered = 0\n[rating]", "considered is 0"),
        ("[rating]", "[train]\nbatch_size = 0\n[rating]", "batch_size"),
        ("[rating]", "[trian]\n[rating]", "trian"),
    ] {
        assert!(SMALL.contains(from));
        let error = format!("{:#}", Config::parse(&SMALL.replace(from, to)).unwrap_err());
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn without_its_section_nothing_is_rated() {
    let (without, _) = SMALL.split_once("[rating]").unwrap();
    assert_eq!(Config::parse(without).unwrap(), Config::parse(SMALL).unwrap());
    let error = format!("{:#}", Config::parse(&format!("{without}[rating]")).unwrap_err());
    assert!(error.contains("opponents is empty"), "{error}");
}

#[test]
fn heads_follow_their_weights() {
    use surakarta_net::Auxiliary;
    let with = "[train]\nreply_weight = 0.1\nshort_term_weight = 0.2\n[rating]";
    let config = Config::parse(&SMALL.replace("[rating]", with)).unwrap();
    assert_eq!(config.shape().heads(), [Auxiliary::Reply, Auxiliary::ShortTerm]);
    assert_eq!(Config::parse(&config.to_text().unwrap()).unwrap(), config);
    let plain = Config::parse(SMALL).unwrap();
    assert_eq!(plain.shape(), plain.network);
}

#[test]
fn differences_name_key_and_values() {
    let before = Config::parse(SMALL).unwrap();
    let text =
        SMALL.replace("seed = 1", "seed = 2").replace("[rating]", "[train]\nuses = 1.5\n[rating]");
    let now = Config::parse(&text).unwrap();
    let differences = before.differences(&now);
    assert_eq!(differences, ["[run] seed: 1 → 2", "[train] uses: 4.0 → 1.5"]);
    // These may change on the way.
    let text = SMALL.replace("iterations = 2", "iterations = 9\nthreads = 1\ndevice = \"cuda:0\"");
    assert!(before.differences(&Config::parse(&text).unwrap()).is_empty());
}

#[test]
fn only_what_can_be_quantised_is() {
    let text = |run: &str, network: &str| {
        let run = format!(
            "[run]\nname = \"x\"\nseed = 1\niterations = 1\ngames = 1\nquantised = true\n{run}"
        );
        Config::parse(&format!("{run}\n[network]\n{network}\n[rating]\nevery = 0\n"))
    };
    let mlp = "kind = \"mlp\"\nhidden = [32]";
    assert!(text("", mlp).unwrap().run.network_place().quantised);
    let refused = |run, network| text(run, network).unwrap_err().to_string();
    assert!(refused("play_device = \"cpu\"", mlp).contains("leave one of the two out"));
    assert!(refused("", "kind = \"conv\"\nblocks = 1\nchannels = 16").contains("kind mlp"));
}
