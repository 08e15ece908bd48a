use std::collections::HashMap;
use std::fs;

use safetensors::tensor::{Dtype, TensorView};
use surakarta_game::{Position, Variant};
use surakarta_net::{
    Batch, Evaluator, InputGroup, InvalidWeights, LoadError, LoadProblem, Mlp, Shape, Weights,
    seen_as,
};

type Named = Vec<(String, Vec<usize>, Vec<f32>)>;

fn shape() -> Shape {
    Shape::mlp(&[32, 16]).unwrap()
}

fn named(weights: &Weights) -> Named {
    weights.tensors().map(|(n, dims, data)| (n.to_owned(), dims.to_vec(), data.to_vec())).collect()
}

fn rebuilt(change: impl FnOnce(&mut Named)) -> Result<Weights, InvalidWeights> {
    let mut tensors = named(&Weights::random(shape(), Variant::Standard, 1));
    change(&mut tensors);
    Weights::from_tensors(shape(), Variant::Standard, "a test", tensors)
}

/// The file that the weights make.
fn written(weights: &Weights) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    weights.save(&path).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    fs::read(path).unwrap()
}

/// What loading these bytes gives; an error must name the file in one line.
fn loaded(bytes: &[u8]) -> Result<Weights, LoadError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    fs::write(&path, bytes).unwrap();
    let result = Weights::load(&path);
    if let Err(error) = &result {
        let text = error.to_string();
        assert!(text.contains("w.safetensors") && !text.contains('\n'), "{text}");
    }
    result
}

fn problem(bytes: &[u8]) -> LoadProblem {
    loaded(bytes).unwrap_err().problem
}

/// The file with one text in its header replaced by another.
fn edited(file: &[u8], from: &str, to: &str) -> Vec<u8> {
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let (header, data) = file[8..].split_at(length);
    let header = std::str::from_utf8(header).unwrap();
    assert!(header.contains(from), "{header}");
    let header = header.replace(from, to);
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

#[test]
fn come_back_as_they_were() {
    for hidden in [&[16][..], &[32, 16], &[16, 32, 48, 16]] {
        let weights = Weights::random(Shape::mlp(hidden).unwrap(), Variant::Standard, 7)
            .with_source("α \"note\"\n");
        let file = written(&weights);
        let again = loaded(&file).unwrap();
        assert_eq!(again, weights);
        assert_eq!(again.hash(), weights.hash());
        assert_eq!(written(&again), file, "equal weights make equal bytes");
    }
}

#[test]
fn every_variant_has_its_own() {
    let networks = Variant::ALL.map(|variant| Weights::random(shape(), variant, 7));
    for (weights, variant) in networks.iter().zip(Variant::ALL) {
        let again = loaded(&written(weights)).unwrap();
        assert_eq!((&again, again.variant()), (weights, variant));
        let policy = weights.tensors().find(|(name, ..)| *name == "policy.bias").unwrap();
        assert_eq!(policy.1, [variant.moves()]);
    }
    // Two variants may have tensors of the same dimensions and still differ in their hash.
    let hashes: std::collections::HashSet<_> = networks.iter().map(Weights::hash).collect();
    assert_eq!(hashes.len(), networks.len());
}

#[test]
fn replace_an_older_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    let [old, new] = [1, 2].map(|seed| Weights::random(shape(), Variant::Standard, seed));
    old.save(&path).unwrap();
    new.save(&path).unwrap();
    assert_eq!(Weights::load(&path).unwrap(), new);
    let error = new.save(folder.path().join("no/such/folder")).unwrap_err().to_string();
    assert!(error.contains("no/such/folder"), "{error}");
}

#[test]
fn a_seed_makes_a_network() {
    let weights = Weights::random(shape(), Variant::Standard, 3);
    assert_eq!(weights, Weights::random(shape(), Variant::Standard, 3));
    assert_eq!(weights.hash(), "d9c85db99c6e1970968337ba8ee2a235");
    assert_ne!(weights.hash(), Weights::random(shape(), Variant::Standard, 4).hash());
    let variance = |name: &str| {
        let data = weights.tensor(name).unwrap();
        data.iter().map(|x| x * x).sum::<f32>() / data.len() as f32
    };
    let first = variance("hidden.0.weight") * 436.0;
    assert!((1.9..2.1).contains(&first), "{first}");
    assert_eq!(variance("hidden.0.bias"), 0.0);
    let policy = variance("policy.weight") * 16.0 * 100.0;
    assert!((1.9..2.1).contains(&policy), "{policy}");
}

#[test]
fn the_hash_is_over_the_network_alone() {
    let weights = rebuilt(|_| ()).unwrap();
    assert_eq!(weights.hash(), weights.clone().with_source("another note").hash());
    let other = rebuilt(|tensors| tensors[9].2[0] = -1.0e-6).unwrap();
    assert_ne!(weights.hash(), other.hash());
    let reordered = rebuilt(|tensors| tensors.reverse()).unwrap();
    assert_eq!(weights, reordered);
}

#[test]
fn tensors_must_fit_the_shape() {
    use InvalidWeights::*;
    let missing = rebuilt(|t| drop(t.remove(4)));
    assert_eq!(missing, Err(Missing("policy.weight".into())));
    let more = rebuilt(|t| t.push(("extra".into(), vec![1], vec![0.0])));
    assert_eq!(more, Err(Unexpected("extra".into())));
    let twice = rebuilt(|t| t.push(t[0].clone()));
    assert_eq!(twice, Err(Unexpected("hidden.0.weight".into())));
    let turned = rebuilt(|t| t[2].1.reverse());
    let (name, found, expected) = ("hidden.1.weight".into(), vec![32, 16], vec![16, 32]);
    assert_eq!(turned, Err(Dimensions { name, found, expected }));
    let short = rebuilt(|t| t[3].2.truncate(15));
    assert_eq!(short, Err(Data("hidden.1.bias".into())));
    for bad in [f32::NAN, f32::INFINITY] {
        let result = rebuilt(|t| t[7].2[2] = bad);
        assert_eq!(result, Err(NotFinite("wdl.bias".into())));
    }
}

#[test]
fn a_foreign_file_is_refused_by_name() {
    let file = written(&Weights::random(shape(), Variant::Standard, 1));
    assert!(matches!(problem(b""), LoadProblem::NotSafetensors(_)));
    assert!(matches!(problem(b"[network]\nkind = \"mlp\"\n"), LoadProblem::NotSafetensors(_)));
    assert!(matches!(problem(&file[..file.len() - 1]), LoadProblem::NotSafetensors(_)));
    let plain = edited(&file, "surakarta", "elsewhere");
    assert!(matches!(problem(&plain), LoadProblem::Metadata(_)));
    let newer = edited(&file, r#"\"format\":1"#, r#"\"format\":2"#);
    assert!(matches!(problem(&newer), LoadProblem::Format(2)));
    let inputs = edited(&file, r#"\"inputs\":2"#, r#"\"inputs\":9"#);
    assert!(matches!(problem(&inputs), LoadProblem::Inputs(9)));
    let variant = edited(&file, r#"\"standard\""#, r#"\"hexagonal\""#);
    assert!(matches!(problem(&variant), LoadProblem::Variant(_)));
    let unbuildable = edited(&file, "[32,16]", "[32,17]");
    assert!(matches!(problem(&unbuildable), LoadProblem::Metadata(_)));
    let wider = edited(&file, r#"\"hidden\":[32,16]"#, r#"\"hidden\":[48,16]"#);
    assert!(matches!(problem(&wider), LoadProblem::Tensors(InvalidWeights::Dimensions { .. })));
    let renamed = edited(&file, "margin.bias", "margin.bais");
    assert!(matches!(problem(&renamed), LoadProblem::Tensors(InvalidWeights::Missing(_))));
    let integers = edited(&file, r#""F32""#, r#""I32""#);
    assert!(matches!(problem(&integers), LoadProblem::Tensors(InvalidWeights::Data(_))));
    let note = edited(&file, "random, seed 1", "random, seed 2");
    assert!(matches!(problem(&note), LoadProblem::Checksum));

    let mut nan = file.clone();
    let end = nan.len();
    nan[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(matches!(problem(&nan), LoadProblem::Tensors(InvalidWeights::NotFinite(_))));

    let missing = Weights::load("no/such/w.safetensors").unwrap_err();
    assert!(missing.to_string().contains("no/such/w.safetensors"), "{missing}");
    assert!(matches!(missing.problem, LoadProblem::Io(_)));
}

#[test]
fn another_network_than_wanted_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    let weights = Weights::random(shape(), Variant::Standard, 1);
    weights.save(&path).unwrap();
    assert_eq!(Weights::load_as(&path, &shape(), Variant::Standard).unwrap(), weights);
    let wanted = Shape::mlp(&[64]).unwrap();
    let error = Weights::load_as(&path, &wanted, Variant::Standard).unwrap_err().to_string();
    for part in ["w.safetensors", "mlp 436→32→16", "mlp 436→64"] {
        assert!(error.contains(part), "{error}");
    }
    let error = Weights::load_as(&path, &shape(), Variant::Rural).unwrap_err().to_string();
    for part in ["w.safetensors", "the variant standard where rural is wanted"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn damage_is_never_loaded() {
    let weights = Weights::random(Shape::mlp(&[16]).unwrap(), Variant::Standard, 5);
    let file = written(&weights);
    let header = 8 + u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    // Every byte of the header, and some of each part of the data.
    let places = (0..header).chain((header..file.len()).step_by(97));
    for (n, place) in places.enumerate() {
        for flip in [1 << (n % 8), 0xff, 0x20] {
            let mut damaged = file.clone();
            damaged[place] ^= flip;
            // White space between tokens may change without harm.
            if let Ok(read) = loaded(&damaged) {
                assert_eq!(read, weights, "byte {place} with {flip:#x}");
                assert!(place < header);
            }
        }
        assert!(loaded(&file[..place]).is_err(), "cut at {place}");
    }
    let mut longer = file.clone();
    longer.push(0);
    assert!(loaded(&longer).is_err());
}

#[test]
fn a_blind_network_does_not_see() {
    let shape = Shape::mlp(&[32, 16]).unwrap().without([InputGroup::Quiet]);
    let weights = Weights::random(shape.clone(), Variant::Standard, 7);
    let evaluated = |weights: &Weights, position: &str| {
        let position: Position = position.parse().unwrap();
        let mut batch = Batch::default();
        batch.push(position, &position.moves());
        Mlp::new(weights).evaluate(&mut batch).unwrap();
        (batch.policy(0).to_vec(), *batch.outlook(0))
    };
    let (fresh, old) =
        ("wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1", "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 30 40");
    assert_eq!(evaluated(&weights, fresh), evaluated(&weights, old));
    let seeing = Weights::random(Shape::mlp(&[32, 16]).unwrap(), Variant::Standard, 7);
    assert_ne!(evaluated(&seeing, fresh), evaluated(&seeing, old));

    // What a network does not see of points is weighed alike.
    for group in InputGroup::ALL {
        let shape = Shape::mlp(&[32]).unwrap().without([group]);
        let weights = Weights::random(shape, Variant::Standard, 7);
        let rows = weights.tensor("hidden.0.weight").unwrap().chunks_exact(436);
        for row in rows {
            for (input, &weight) in row.iter().enumerate() {
                let seen = seen_as(Variant::Standard, &[group], input);
                assert_eq!(weight, seen.map_or(0.0, |seen| row[seen]));
            }
        }
    }

    // The tensors of a network that sees are not those of one that does not.
    let tensors =
        seeing.tensors().map(|(name, dims, data)| (name.to_owned(), dims.to_vec(), data.to_vec()));
    let error = Weights::from_tensors(shape, Variant::Standard, "", tensors).unwrap_err();
    assert_eq!(error, InvalidWeights::NotBlind("hidden.0.weight".to_owned()));
}

#[test]
fn a_file_of_another_program_needs_no_checksum() {
    let weights = Weights::random(shape(), Variant::Standard, 7);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.safetensors");
    let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = weights
        .tensors()
        .map(|(name, dims, data)| {
            let bytes = data.iter().flat_map(|x| x.to_le_bytes()).collect();
            (name.to_owned(), dims.to_vec(), bytes)
        })
        .collect();
    let written = |header: &str| {
        let views = tensors.iter().map(|(name, dims, bytes)| {
            (name, TensorView::new(Dtype::F32, dims.clone(), bytes).unwrap())
        });
        let metadata = HashMap::from([("surakarta".to_owned(), header.to_owned())]);
        fs::write(&path, safetensors::serialize(views, Some(metadata)).unwrap()).unwrap();
        Weights::load(&path)
    };
    let header =
        r#"{"format":1,"variant":"standard","inputs":2,"shape":{"kind":"mlp","hidden":[32,16]}}"#;
    let theirs = written(header).unwrap();
    assert_eq!((theirs.hash(), theirs.source()), (weights.hash(), ""));
    // One that is there counts.
    let wrong = header.replace("{\"format", "{\"checksum\":\"0\",\"format");
    assert!(matches!(written(&wrong).unwrap_err().problem, LoadProblem::Checksum));
}

#[test]
fn heads_come_and_go_without_touching_the_rest() {
    use surakarta_net::Auxiliary::{Occupancy, Reply, ShortTerm};
    let variant = Variant::Sepur;
    for trunk in [shape(), Shape::conv(1, 16).unwrap(), Shape::circuit(1, 16, 2).unwrap()] {
        let with = |heads: &[_]| trunk.clone().with_heads(heads.iter().copied());
        let given = Weights::random(with(&[Occupancy, Reply]), variant, 1);
        let changed = given.clone().with_heads(&[Reply, ShortTerm], 2);
        assert_eq!(*changed.shape(), with(&[Reply, ShortTerm]));
        assert_eq!(changed.source(), given.source());
        let fresh = named(&Weights::random(changed.shape().clone(), variant, 2));
        let (given_tensors, mut is_fresh) = (named(&given), 0);
        for (tensor, fresh) in named(&changed).iter().zip(&fresh) {
            if tensor.0.starts_with("short-term") {
                assert_eq!(tensor, fresh);
                is_fresh += 1;
            } else {
                assert!(given_tensors.contains(tensor), "{}", tensor.0);
            }
        }
        assert_eq!(is_fresh, 2);
        // Nothing to change: the same to the bit.
        assert_eq!(given.clone().with_heads(&[Reply, Occupancy], 3), given);

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("given.safetensors");
        given.save(&path).unwrap();
        let load = |shape: &Shape| Weights::load_to_train(&path, shape, variant, 2);
        assert_eq!(load(&with(&[Reply, ShortTerm])).unwrap(), changed);
        assert_eq!(load(&with(&[Occupancy, Reply])).unwrap(), given);
        let other = Shape::mlp(&[48]).unwrap();
        let error = load(&other).unwrap_err();
        assert!(matches!(error.problem, LoadProblem::OtherShape { .. }), "{error}");
    }
}
