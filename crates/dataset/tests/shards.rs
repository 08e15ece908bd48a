//! Merging and splitting, against sets of games in memory.

#[path = "../../record/tests/games/mod.rs"]
mod games;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use games::{random_game, stream};
use surakarta_dataset::{DatasetError, Numbers, Part, Shares, merge, split};
use surakarta_game::OLYMPIAD;
use surakarta_record::shard::{list_shards, verify, write_shard_with_states};
use surakarta_record::{GameRecord, Shard, ShardHeader, State, shard_name, write_shard};

/// What tells a game of a set from all others: its maker, its number there, and all of it.
type Named = (u64, u64, u64, String);

fn named(header: &ShardHeader, game: &GameRecord) -> Named {
    let original = Numbers::of(header).original(game.number);
    let unnumbered = GameRecord { number: 0, ..game.clone() };
    (header.seed, header.iteration, original, format!("{unnumbered:?}"))
}

fn read_all(folder: &Path) -> Vec<Named> {
    let mut all = Vec::new();
    for path in list_shards(folder).unwrap() {
        verify(&path).unwrap();
        let shard = Shard::read(&path).unwrap();
        all.extend(shard.games.iter().map(|game| named(&shard.header, game)));
    }
    all
}

fn bytes(folder: &Path) -> Vec<Vec<u8>> {
    list_shards(folder).unwrap().iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Two runs of two iterations of two shards of ten games; some games of the second run are the first's.
struct Runs {
    dir: tempfile::TempDir,
    paths: Vec<PathBuf>,
    games: Vec<Named>,
    repeated: usize,
}

fn runs() -> Runs {
    let dir = tempfile::tempdir().unwrap();
    let mut random = stream(4);
    let (mut paths, mut all, mut repeated) = (Vec::new(), Vec::new(), 0);
    let mut first_run: Vec<GameRecord> = Vec::new();
    for seed in [1, 2] {
        for (iteration, first_game) in [(0, 0), (0, 10), (1, 0), (1, 10)] {
            let header =
                ShardHeader { seed, iteration, first_game, games: 10, ..ShardHeader::default() };
            let games: Vec<GameRecord> = (first_game..first_game + 10)
                .map(|number| match seed == 2 && iteration == 1 && number % 4 == 0 {
                    true => GameRecord { number, ..first_run[number as usize].clone() },
                    false => long_game(number, &mut random),
                })
                .collect();
            if seed == 1 && iteration == 0 {
                first_run.extend(games.clone());
            }
            for game in &games {
                match seed == 2 && iteration == 1 && game.number % 4 == 0 {
                    true => repeated += 1,
                    false => all.push(named(&header, game)),
                }
            }
            let folder = dir.path().join(format!("run{seed}"));
            fs::create_dir_all(&folder).unwrap();
            paths.push(folder.join(shard_name(iteration, first_game)));
            write_shard(&paths[paths.len() - 1], &header, &games).unwrap();
        }
    }
    Runs { dir, paths, games: all, repeated }
}

/// No two of these are the same by accident.
fn long_game(number: u64, random: &mut games::Stream) -> GameRecord {
    loop {
        let game = random_game(OLYMPIAD, number, random);
        if game.plies.len() > 5 {
            break game;
        }
    }
}

fn sorted(mut games: Vec<Named>) -> Vec<Named> {
    games.sort();
    games
}

#[test]
fn a_merge_holds_each_game_once_whatever_the_order_and_the_threads() {
    let mut runs = runs();
    let out = |n: usize| runs.dir.path().join(format!("out{n}"));
    let merged = merge(&runs.paths, &out(0)).unwrap();
    assert_eq!((merged.games, merged.repeated), (75, runs.repeated as u64));
    assert_eq!(sorted(read_all(&out(0))), sorted(runs.games.clone()));
    // Games of one maker lie together, and the numbers of an iteration do not repeat.
    assert_eq!(merged.shards, 4);
    let names: Vec<_> = list_shards(&out(0)).unwrap();
    let names: Vec<_> = names.iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    let expected = [(0, 0), (0, 20), (1, 0), (1, 20)].map(|(i, n)| shard_name(i, n));
    assert_eq!(names, expected.map(std::ffi::OsString::from));

    runs.paths.reverse();
    let threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    // Everything twice.
    let twice = [&runs.paths[..], &runs.paths[2..]].concat();
    let again = threads.install(|| merge(&twice, &out(1))).unwrap();
    assert_eq!((again.games, again.repeated), (75, 65));
    assert_eq!(bytes(&out(0)), bytes(&out(1)));
    // What is merged already stays as it is.
    let paths = list_shards(&out(0)).unwrap();
    assert_eq!(merge(&paths, &out(2)).unwrap().repeated, 0);
    assert_eq!(bytes(&out(0)), bytes(&out(2)));
}

#[test]
fn games_in_many_shards_come_together_and_long_sets_are_cut() {
    let dir = tempfile::tempdir().unwrap();
    let mut random = stream(5);
    let mut paths = Vec::new();
    let mut count = 0;
    while count < 2_100 {
        let numbers = count..count + 70;
        let games: Vec<_> = numbers.map(|n| random_game(OLYMPIAD, n, &mut random)).collect();
        let header = ShardHeader { first_game: count, games: 70, ..ShardHeader::default() };
        paths.push(dir.path().join(shard_name(0, count)));
        write_shard(&paths[paths.len() - 1], &header, &games).unwrap();
        count += 70;
    }
    let out = dir.path().join("out");
    let merged = merge(&paths, &out).unwrap();
    // Games that end at once, at the same start, are the same.
    assert_eq!(merged.games + merged.repeated, 2_100);
    assert!(merged.games > 1_900 && (2..=5).contains(&merged.shards), "{merged:?}");
    assert_eq!(read_all(&out).len() as u64, merged.games);
}

#[test]
fn a_split_shares_every_game_out_and_is_stable() {
    let runs = runs();
    let out = |n: usize| runs.dir.path().join(format!("out{n}"));
    let shares = "0.5,0.3,0.2".parse::<Shares>().unwrap().with_key(7);
    let parts = |folder: PathBuf| Part::ALL.map(|part| sorted(read_all(&folder.join(part.name()))));
    let done = split(&runs.paths, &out(0), &shares).unwrap();
    let whole = parts(out(0));
    assert_eq!(done.games, [0, 1, 2].map(|n| whole[n].len() as u64));
    assert!(done.games.iter().all(|&n| n > 3), "{:?}", done.games);
    assert_eq!(done.games.iter().sum::<u64>(), 80);
    // Games that went the same way are in the same part.
    let courses = whole
        .each_ref()
        .map(|part| part.iter().map(|(_, _, _, game)| game.clone()).collect::<BTreeSet<_>>());
    assert!(courses[0].is_disjoint(&courses[1]) && courses[1].is_disjoint(&courses[2]));
    // Data that is added moves no game.
    split(&runs.paths[..3], &out(1), &shares).unwrap();
    for (part, whole) in parts(out(1)).iter().zip(&whole) {
        assert!(part.iter().all(|game| whole.contains(game)));
    }
    split(&runs.paths, &out(2), &shares.with_key(8)).unwrap();
    assert_ne!(parts(out(2)), whole);
}

#[test]
fn damaged_shards_are_left_out_whole_and_named() {
    let runs = runs();
    let mut bytes = fs::read(&runs.paths[1]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&runs.paths[1], bytes).unwrap();
    let out = runs.dir.path().join("out");
    let merged = merge(&runs.paths, &out).unwrap();
    assert_eq!(merged.left_out.len(), 1);
    assert_eq!(merged.left_out[0].path(), runs.paths[1]);
    assert_eq!(merged.games + merged.repeated, 70);
    // Nothing is left of a merge that cannot be.
    let none = runs.dir.path().join("none");
    let error = merge(&runs.paths[1..2], &none).unwrap_err();
    assert!(matches!(error, DatasetError::NothingLeft { .. }), "{error}");
    assert!(!none.exists() && !runs.dir.path().join("none.partial").exists());
    let error = merge(&runs.paths, &out).unwrap_err();
    assert!(matches!(error, DatasetError::Occupied { .. }), "{error}");
}

#[test]
fn states_outside_games_go_along() {
    let dir = tempfile::tempdir().unwrap();
    let mut random = stream(6);
    let states: Vec<State> = (0..300)
        .map(|_| State {
            position: games::random_start(surakarta_game::Variant::Standard, &mut random),
            value: 0.0,
        })
        .collect();
    let path = dir.path().join("a.shard");
    let games: Vec<_> = (0..5).map(|n| random_game(OLYMPIAD, n, &mut random)).collect();
    let header = ShardHeader { games: 5, ..ShardHeader::default() };
    write_shard_with_states(&path, &header, &games, &states).unwrap();
    let out = dir.path().join("out");
    let texts = |folder: &Path| {
        let mut texts = BTreeMap::<String, usize>::new();
        for path in list_shards(folder).unwrap() {
            for state in Shard::read(&path).unwrap().states {
                *texts.entry(state.position.to_string()).or_default() += 1;
            }
        }
        texts
    };
    merge(std::slice::from_ref(&path), &out).unwrap();
    assert_eq!(texts(&out), texts(dir.path()));
    let parts = dir.path().join("parts");
    split(&[path], &parts, &"0.5,0.25,0.25".parse().unwrap()).unwrap();
    let counts = Part::ALL.map(|part| texts(&parts.join(part.name())).values().sum::<usize>());
    assert_eq!(counts.iter().sum::<usize>(), 300);
    assert!(counts.iter().all(|&n| n > 10), "{counts:?}");
}
