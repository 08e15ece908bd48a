//! Shards give back what was put into them, and notice every change.

mod games;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use games::{random_game, random_game_of, random_rules, random_shard, stream, typical_game};
use rand::RngExt;
use surakarta_game::{Ending, OLYMPIAD, Outcome, Variant};
use surakarta_record::shard::{
    Place, list_shards, parse_shard_name, verify, write_shard_with_states,
};
use surakarta_record::{
    GameRecord, Policy, Shard, ShardError, ShardHeader, ShardReader, State, dequantise, quantise,
    shard_name, write_shard,
};

#[test]
fn games_come_back_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.shard");
    let (mut endings, mut variants) = (BTreeMap::new(), BTreeMap::new());
    for seed in 0..60 {
        let mut random = stream(seed);
        let (header, games) = random_shard(seed * 2, &mut random);
        write_shard(&path, &header, &games).unwrap();
        assert_eq!(verify(&path).unwrap(), header);
        let shard = Shard::read(&path).unwrap();
        assert_eq!(shard.header, header);
        assert_eq!(shard.games, games);
        assert_eq!(shard.states, []);

        let mut reader = ShardReader::open(&path).unwrap();
        assert_eq!(reader.plies(), games.iter().map(|game| game.plies.len() as u64).sum::<u64>());
        assert_eq!(reader.samples() as usize, games.iter().flat_map(GameRecord::samples).count());
        for _ in 0..games.len().min(10) {
            let place = random.random_range(0..games.len());
            assert_eq!(reader.game(place as u64).unwrap(), games[place]);
        }
        let error = reader.game(games.len() as u64).unwrap_err();
        assert!(matches!(error, ShardError::NoSuchGame { .. }), "{error}");
        *variants.entry(header.variant.name()).or_insert(0) += games.len();
        for game in &games {
            *endings.entry(game.result.ending).or_insert(0) += 1;
        }
    }
    // The generator reaches everything that can happen.
    assert_eq!(endings.keys().copied().collect::<Vec<_>>(), Ending::ALL, "{endings:?}");
    assert!(endings.values().sum::<i32>() > 3_000, "{endings:?}");
    assert!(variants.len() == Variant::ALL.len() && variants.values().all(|&n| n > 300));
}

#[test]
fn a_game_of_another_variant_than_the_headers_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.shard");
    for header in Variant::ALL {
        for variant in Variant::ALL {
            let game = random_game_of(variant, OLYMPIAD, 0, &mut stream(10));
            let header = ShardHeader { variant: header, games: 1, ..ShardHeader::default() };
            let written = write_shard(&path, &header, &[game]);
            if variant == header.variant {
                written.unwrap();
                assert_eq!(ShardReader::open(&path).unwrap().header().variant, variant);
            } else {
                let error = written.unwrap_err().to_string();
                let expected = format!("a position is one of {variant}, not {}", header.variant);
                assert!(error.contains(&expected), "{error}");
            }
        }
    }
}

#[test]
fn the_same_games_make_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a.shard"), dir.path().join("b.shard"));
    let (header, mut games) = random_shard(100, &mut stream(1));
    write_shard(&a, &header, &games).unwrap();
    // In whatever order a search lists its moves.
    for ply in games.iter_mut().flat_map(|game| &mut game.plies) {
        if let Policy::Visits(visits) = &mut ply.policy {
            visits.reverse();
        }
    }
    write_shard(&b, &header, &games).unwrap();
    assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    assert_eq!(list_shards(dir.path()).unwrap(), [a, b], "nothing else is left");
}

#[test]
fn states_come_back_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.shard");
    let mut random = stream(2);
    let (header, games) = random_shard(3, &mut random);
    let states: Vec<State> = (0..10_000)
        .map(|_| State {
            position: games::random_start(header.variant, &mut random),
            value: dequantise(random.random_range(-i16::MAX..=i16::MAX)),
        })
        .collect();
    write_shard_with_states(&path, &header, &games, &states).unwrap();
    verify(&path).unwrap();
    assert_eq!(Shard::read(&path).unwrap(), Shard { header, games, states });
}

#[test]
fn every_flipped_bit_and_missing_end_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.shard");
    let mut random = stream(3);
    // Short games: the test takes the square of their length.
    let (header, games) = loop {
        let (header, games) = random_shard(3, &mut random);
        if games.iter().all(|game| (5..40).contains(&game.plies.len())) {
            break (header, games);
        }
    };
    let states = [State { position: games[0].start, value: 0.5 }];
    write_shard_with_states(&path, &header, &games, &states).unwrap();
    let whole = fs::read(&path).unwrap();
    let damaged = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let read = Shard::read(&path).expect_err("reading notices");
        let verified = verify(&path).expect_err("verifying notices");
        assert_eq!(read.to_string(), verified.to_string());
        assert!(read.to_string().starts_with(path.to_str().unwrap()), "{read}");
        read
    };
    let mut places = BTreeMap::new();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        let place = match damaged(&bytes) {
            ShardError::Damaged { place, .. } => place.to_string(),
            ShardError::NotAShard { .. } => "magic".into(),
            ShardError::Version { .. } => "version".into(),
            ShardError::Truncated { .. } => "end".into(),
            error => panic!("at {at}: {error}"),
        };
        *places.entry(place).or_insert(0) += 1;
    }
    let sizes = |place: &str| places[place];
    assert_eq!((sizes("magic"), sizes("version")), (8, 4));
    // The end's magic, and the higher bytes of the header's length.
    assert!((8..=12).contains(&sizes("end")), "{places:?}");
    assert!(sizes("its header") > 200 && sizes("block 0 of its games") > 100);
    assert!(sizes("block 0 of its states") > 10 && sizes("its index") == 8 + 2 * 28 + 16);

    for length in 0..whole.len() {
        let error = damaged(&whole[..length]);
        assert!(matches!(error, ShardError::Truncated { .. }), "{length}: {error}");
    }
    for extra in [&b"\0"[..], &whole] {
        damaged(&[&whole, extra].concat());
    }
}

#[test]
fn only_the_damaged_block_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.shard");
    let mut random = stream(4);
    let games: Vec<_> = (0..300).map(|n| random_game(OLYMPIAD, n, &mut random)).collect();
    let header = ShardHeader { games: 300, ..ShardHeader::default() };
    write_shard(&path, &header, &games).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();

    let mut reader = ShardReader::open(&path).unwrap();
    assert_eq!(reader.game(0).unwrap(), games[0]);
    assert_eq!(reader.game(299).unwrap(), games[299]);
    let read: Vec<_> = reader.games().collect();
    let (last, before) = read.split_last().unwrap();
    assert!(before.iter().zip(&games).all(|(read, game)| read.as_ref().unwrap() == game));
    let Err(ShardError::Damaged { place: Place::Games(block), .. }) = last else {
        panic!("{last:?}")
    };
    assert!(*block > 0 && before.len() >= *block);
}

#[test]
fn other_files_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let open = |bytes: &[u8]| {
        let path = dir.path().join("a.shard");
        fs::write(&path, bytes).unwrap();
        ShardReader::open(&path).unwrap_err().to_string()
    };
    assert!(open(b"{\"games\": 3}").contains("is not a shard"));
    let mut newer = b"SKSHARD\n".to_vec();
    newer.extend([2, 0, 0, 0, 0, 0, 0, 0]);
    assert!(open(&newer).contains("has shard format 2, and this program reads format 1"));
    let absent = ShardReader::open(Path::new("none/a.shard")).unwrap_err().to_string();
    assert!(absent.starts_with("none/a.shard: cannot open the shard: "), "{absent}");
}

#[test]
fn what_is_no_shard_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.shard");
    let mut random = stream(5);
    let game = loop {
        let game = random_game(OLYMPIAD, 0, &mut random);
        if game.plies.len() > 20 && game.result.ending == Ending::Repetition {
            break game;
        }
    };
    let header = ShardHeader { games: 1, ..ShardHeader::default() };
    let refused = |header: &ShardHeader, change: &dyn Fn(&mut GameRecord)| {
        let mut game = game.clone();
        change(&mut game);
        let error = write_shard(&path, header, &[game]).unwrap_err();
        assert!(matches!(error, ShardError::Unfit { .. }), "{error}");
        assert!(!path.exists());
        error.to_string()
    };
    let two = ShardHeader { games: 2, ..header.clone() };
    assert!(refused(&two, &|_| {}).contains("2 games, not 1"));
    assert!(refused(&header, &|game| game.number = 3).contains("game 3"));
    let nan = refused(&header, &|game| game.plies[7].value = Some(f32::NAN));
    assert!(nan.contains("not a number"), "{nan}");
    let far = "a1f6".parse().unwrap();
    let policy = |moves: Vec<_>| Policy::Visits(moves.into_iter().map(|mv| (mv, 1)).collect());
    let illegal =
        refused(&header, &|game: &mut GameRecord| game.plies[0].policy = policy(vec![far]));
    assert!(illegal.contains("a1f6 is not a legal move"), "{illegal}");
    let own = game.plies[0].mv;
    let twice =
        refused(&header, &|game: &mut GameRecord| game.plies[0].policy = policy(vec![own, own]));
    assert!(twice.contains("twice"), "{twice}");
    refused(&header, &|game| game.plies[3].mv = far);
    refused(&header, &|game| {
        game.plies.pop();
    });
    refused(&header, &|game| game.result.ending = Ending::NoProgress);
    let mut odd = header.clone();
    odd.rules.ply_cap = Some(0);
    assert!(refused(&odd, &|_| {}).contains("the rules differ"));
    let mut other = game.clone();
    other.result.outcome = match other.result.outcome {
        Outcome::Draw => Outcome::Win(surakarta_game::Color::Black),
        _ => Outcome::Draw,
    };
    refused(&header, &|game| *game = other.clone());
    // And unchanged it is one.
    write_shard(&path, &header, &[game]).unwrap();
}

#[test]
fn a_game_against_the_headers_rules_is_found() {
    // A header that lies needs a writer that lies: change the rules, and the checksums with them.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.shard");
    let mut random = stream(6);
    let mut rules = OLYMPIAD;
    rules.no_capture = Some(30);
    let games: Vec<_> = (0..50).map(|n| random_game(rules, n, &mut random)).collect();
    let header = ShardHeader { rules, games: 50, ..ShardHeader::default() };
    write_shard(&path, &header, &games).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let text = b"no-capture=30";
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
    bytes[at + text.len() - 2] = b'4';
    let sum = xxhash_rust::xxh3::xxh3_64;
    let json = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let header_sum = sum(&bytes[..16 + json]).to_le_bytes();
    bytes[16 + json..24 + json].copy_from_slice(&header_sum);
    let end = bytes.len() - 24;
    let index = u64::from_le_bytes(bytes[end..end + 8].try_into().unwrap()) as usize;
    let root = sum(&[&header_sum, &bytes[index..end + 8]].concat()).to_le_bytes();
    bytes[end + 8..end + 16].copy_from_slice(&root);
    fs::write(&path, &bytes).unwrap();

    Shard::read(&path).unwrap();
    let error = verify(&path).unwrap_err();
    assert!(matches!(error, ShardError::AgainstTheRules { .. }), "{error}");
}

#[test]
fn values_keep_to_their_grid() {
    for units in -i16::MAX..=i16::MAX {
        assert_eq!(quantise(dequantise(units)), units);
    }
    let mut random = stream(7);
    for _ in 0..10_000 {
        let value = random.random_range(-1.0..=1.0f32);
        assert!((dequantise(quantise(value)) - value).abs() <= 0.51 / 32767.0);
    }
    assert_eq!([-2.0, -1.0, 1.0, 2.0].map(quantise), [-32767, -32767, 32767, 32767]);
}

#[test]
fn names_sort_as_shards_do() {
    assert_eq!(shard_name(3, 512), "000003-0000000512.shard");
    let mut random = stream(8);
    for _ in 0..1_000 {
        let mut key = || (random.random_range(0..1_000_000), random.random_range(0..10u64.pow(10)));
        let (a, b) = (key(), key());
        assert_eq!(shard_name(a.0, a.1).cmp(&shard_name(b.0, b.1)), a.cmp(&b));
        assert_eq!(parse_shard_name(&shard_name(a.0, a.1)), Some(a));
    }
    for name in ["3-512.shard", "000003-0000000512.shard.tmp", "a-b.shard", "x"] {
        assert_eq!(parse_shard_name(name), None, "{name}");
    }
}

#[test]
fn a_recorded_position_takes_at_most_forty_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.shard");
    let mut random = stream(9);
    let games: Vec<_> = (0..500).map(|n| typical_game(n, &mut random)).collect();
    let header = ShardHeader { games: 500, ..ShardHeader::default() };
    write_shard(&path, &header, &games).unwrap();
    let reader = ShardReader::open(&path).unwrap();
    let per_sample = reader.bytes() as f64 / reader.samples() as f64;
    println!("{per_sample:.1} bytes a recorded position, {} plies", reader.plies());
    assert!(per_sample <= 40.0, "{per_sample}");
}

#[test]
fn rules_differ_in_the_generator() {
    let names: std::collections::BTreeSet<_> =
        (0..200).map(|seed| random_rules(&mut stream(seed)).to_string()).collect();
    assert!(names.len() > 50);
}
