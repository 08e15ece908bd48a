//! Building tables, and what they say.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surakarta_game::{
    AGREEMENT, CONTEST, Color, Game, NO_REPEAT, OLYMPIAD, Position, RuleSet, THREEFOLD, Variant,
};
use surakarta_tablebase::{Built, Class, Index, TableError, Tables, Value, Watch, build};

/// Stops when it has been asked a number of times.
struct Until(AtomicU64);

impl Watch for Until {
    fn begin(&self, _: u64) {}
    fn solved(&self, _: Class, _: usize, _: u64) {}
    fn advance(&self, _: u64) {}
    fn goes_on(&self) -> bool {
        self.0.fetch_sub(1, Relaxed) > 0
    }
}

fn built(folder: &Path, pieces: u32) -> Tables {
    let watch = Until(AtomicU64::new(u64::MAX));
    assert_eq!(build(folder, Variant::Standard, pieces, &watch).unwrap(), Built::All);
    Tables::open(folder).unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn the_same_files_come_out_at_any_number_of_threads_and_after_any_stop() {
    let whole = tempfile::tempdir().unwrap();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool(1).install(|| built(whole.path(), 4));
    let whole = files(whole.path());
    assert_eq!(whole.len(), 6);
    for (threads, patience) in [(2, 1), (3, 7), (2, 20)] {
        let folder = tempfile::tempdir().unwrap();
        let mut stops = 0;
        pool(threads).install(|| {
            loop {
                // A little further each time, as a class is never continued in its middle.
                let watch = Until(AtomicU64::new(patience * (stops + 1)));
                match build(folder.path(), Variant::Standard, 4, &watch).unwrap() {
                    Built::All => break,
                    Built::Stopped => stops += 1,
                }
            }
        });
        assert!(stops > 0);
        assert!(files(folder.path()) == whole, "{threads} threads, {stops} stops");
    }
}

#[test]
fn a_build_leaves_what_is_there_and_names_what_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path(), 3);
    let before = files(folder.path());
    built(folder.path(), 4);
    let after = files(folder.path());
    assert!(before.iter().all(|(name, bytes)| after[name] == *bytes));
    assert_eq!(after.len(), 6);

    let path = folder.path().join("standard.2-1.table");
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let watch = Until(AtomicU64::new(u64::MAX));
    for error in [
        build(folder.path(), Variant::Standard, 4, &watch).unwrap_err(),
        Tables::open(folder.path()).unwrap_err(),
    ] {
        assert!(matches!(&error, TableError::Damaged { path: named, .. } if *named == path));
    }
}

#[test]
fn a_table_with_wrong_entries_does_not_verify() {
    let [right, wrong] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let tables = built(right.path(), 4);
    for class in Class::up_to(4) {
        let check = tables.verify(Variant::Standard, class, 1.0, 1, &|_| true).unwrap();
        assert_eq!((check.checked, check.wrong), (check.positions, 0), "{class}");
        let some = tables.verify(Variant::Standard, class, 0.25, 1, &|_| true).unwrap();
        assert!(some.checked < check.positions / 2 + 20, "{class}: {}", some.checked);
    }
    // The codes of one class in the list of another: each file is whole, and not all of it is true.
    built(wrong.path(), 4);
    let path = wrong.path().join("standard.2-2.table");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.swap(24, 25);
    let end = bytes.len() - 8;
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&sum);
    std::fs::write(&path, bytes).unwrap();
    let tables = Tables::open(wrong.path()).unwrap();
    let class = Class { own: 2, enemy: 2 };
    let check = tables.verify(Variant::Standard, class, 1.0, 1, &|_| true).unwrap();
    let fault = check.fault.unwrap();
    assert!(check.wrong > 1000);
    assert_eq!(tables.probe(&fault.position), Some(fault.found));
    assert_ne!(fault.found, fault.derived);
}

/// The value of a game for the side to move, by trying everything until its end.
fn exhausted(game: &mut Game) -> i8 {
    if let Some(result) = game.result() {
        return result.outcome.value_for(game.side_to_move());
    }
    let mut best = -1;
    for mv in game.legal_moves() {
        game.play(mv).unwrap();
        best = best.max(-exhausted(game));
        game.undo();
        if best == 1 {
            break;
        }
    }
    best
}

#[test]
fn what_tables_prove_is_what_games_come_to() {
    let folder = tempfile::tempdir().unwrap();
    let tables = built(folder.path(), 3);
    assert_eq!(tables.longest(Variant::Standard), 3);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut counts = [0; 3];
    // With so few pieces no line changes its course, and the least limit that leaves time for all of them
    // will do: games are then short enough to be exhausted.
    for rules in ["olympiad,no-capture=3", "olympiad,no-capture=4", "threefold,no-capture=3"] {
        let rules: RuleSet = rules.parse().unwrap();
        for (class, games) in Class::up_to(3).zip([165, 60, 60]) {
            let index = Index::new(Variant::Standard, class);
            for n in 0..games {
                let number = match class.pieces() {
                    2 => n,
                    _ => random.random_range(0..index.len()),
                };
                let start = index.position(number);
                let mut game = Game::from_position(rules, start);
                let proof = tables.prove(&start, &OLYMPIAD).unwrap();
                counts[proof as usize] += 1;
                assert_eq!(exhausted(&mut game), proof.sign(), "{rules} {start}");
                // Some plies on, with what has been before.
                for _ in 0..2 {
                    let Some(&mv) = game.legal_moves().iter().find(|mv| !start.is_capture(**mv))
                    else {
                        break;
                    };
                    game.play(mv).unwrap();
                    if game.result().is_none()
                        && let Some(proof) = tables.prove(game.position(), &OLYMPIAD)
                    {
                        assert_eq!(
                            exhausted(&mut game),
                            proof.sign(),
                            "{rules} {:?}",
                            game.moves()
                        );
                    }
                }
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 40), "{counts:?}");
}

#[test]
fn forced_values_are_proven_just_after_a_capture_only() {
    let folder = tempfile::tempdir().unwrap();
    let tables = built(folder.path(), 4);
    let class = Class { own: 2, enemy: 2 };
    let index = Index::new(Variant::Standard, class);
    for number in 0..2000 {
        let fresh = index.position(number);
        let (own, enemy) = (fresh.own(), fresh.enemy());
        let later = Position::new(Variant::Standard, own, enemy, Color::Black, 1).unwrap();
        let entry = tables.probe(&fresh).unwrap();
        assert_eq!(tables.probe(&later), Some(entry));
        assert_eq!(tables.prove(&fresh, &OLYMPIAD), Some(entry.value));
        let counted = entry.plies.is_none();
        assert_eq!(tables.prove(&later, &THREEFOLD), counted.then_some(Value::Draw));
    }
}

#[test]
fn rules_under_which_nothing_is_proven() {
    let folder = tempfile::tempdir().unwrap();
    let tables = built(folder.path(), 4);
    let holds = |rules: &str| tables.holds_under(&rules.parse().unwrap(), Variant::Standard);
    assert!([OLYMPIAD, THREEFOLD].iter().all(|rules| tables.holds_under(rules, Variant::Standard)));
    assert!(
        ![NO_REPEAT, CONTEST, AGREEMENT]
            .iter()
            .any(|rules| tables.holds_under(rules, Variant::Standard))
    );
    assert_eq!(tables.longest(Variant::Standard), 8);
    assert!(holds("olympiad,no-capture=16") && !holds("olympiad,no-capture=15"));
    assert!(holds("olympiad,no-capture=none") && !holds("olympiad,ply-cap=200"));
    assert!(holds("olympiad,repetition=allowed"));
    assert!(!holds("olympiad,repetition=allowed,no-capture=none"));
}

#[test]
fn stats_add_up_and_show_the_longest_lines() {
    let folder = tempfile::tempdir().unwrap();
    let tables = built(folder.path(), 4);
    for class in Class::up_to(4) {
        let stats = tables.stats(Variant::Standard, class).unwrap();
        assert_eq!(stats.values.iter().sum::<u64>(), stats.positions, "{class}");
        for value in [Value::Loss, Value::Draw, Value::Win] {
            let forced = value != class.counted();
            let positions = if forced { stats.count(value) } else { 0 };
            assert_eq!(stats.plies[value as usize].iter().sum::<u64>(), positions, "{class}");
            if let Some(position) = stats.longest[value as usize] {
                let entry = tables.probe(&position).unwrap();
                let plies = entry.plies.map(usize::from);
                assert_eq!((entry.value, plies), (value, Some(stats.most_plies(value))));
            }
        }
    }
    let upset = tables.stats(Variant::Standard, Class { own: 1, enemy: 3 }).unwrap().upset();
    assert_eq!(tables.probe(&upset.unwrap()).unwrap().value, Value::Win);
}

#[test]
fn folders_without_tables_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = Tables::open(folder.path()).unwrap_err();
    assert!(matches!(error, TableError::Empty { .. }), "{error}");
    let error = Tables::open(&folder.path().join("none")).unwrap_err();
    assert!(matches!(error, TableError::NoFolder { .. }), "{error}");
    std::fs::write(folder.path().join("text"), "no table").unwrap();
    built(folder.path(), 2);
    let tables = Tables::open(folder.path()).unwrap();
    let (pieces, class) = (tables.pieces(Variant::Standard), Class { own: 1, enemy: 2 });
    assert_eq!((pieces, tables.pieces(Variant::Rural)), (2, 0));
    let error = tables.stats(Variant::Standard, class).unwrap_err();
    assert!(matches!(error, TableError::Missing { .. }), "{error}");
    // A build that was killed between a class and its turned one.
    built(folder.path(), 3);
    std::fs::remove_file(folder.path().join("standard.2-1.table")).unwrap();
    let error = Tables::open(folder.path()).unwrap_err();
    assert!(matches!(error, TableError::Missing { .. }), "{error}");
    built(folder.path(), 3);
}

#[test]
fn the_best_line_ends_with_the_capture_that_forces_the_value() {
    let folder = tempfile::tempdir().unwrap();
    let tables = built(folder.path(), 4);
    let mut forced = 0;
    for class in tables.classes(Variant::Standard) {
        let index = tables.index(Variant::Standard, class).unwrap();
        for number in (0..index.len()).step_by(7) {
            let position = index.position(number);
            let entry = tables.probe(&position).unwrap();
            let line = tables.line(&position);
            assert_eq!(line.len(), entry.plies.map_or(0, usize::from), "{position}");
            let Some((last, before)) = line.split_last() else { continue };
            forced += 1;
            let value = |position: &Position| match position.own() {
                0 => Value::Loss,
                _ => tables.probe(position).unwrap().value,
            };
            // Nobody gives anything away, and nobody captures before the end.
            let (mut at, mut worth) = (position, entry.value);
            for mv in before {
                assert!(!at.is_capture(*mv), "{position}");
                at = at.after(*mv);
                worth = worth.opposite();
                assert_eq!(value(&at), worth, "{position}");
            }
            assert!(at.is_capture(*last), "{position}");
            assert_eq!(value(&at.after(*last)), worth.opposite(), "{position}");
        }
    }
    assert!(forced > 1_000, "{forced}");
}

#[test]
fn a_folder_has_one_build_at_a_time() {
    /// Begins a second build in the middle of the first.
    struct Meddler<'a>(&'a Path);
    impl Watch for Meddler<'_> {
        fn begin(&self, _: u64) {}
        fn solved(&self, _: Class, _: usize, _: u64) {
            let watch = Until(AtomicU64::new(u64::MAX));
            let error = build(self.0, Variant::Standard, 2, &watch).unwrap_err();
            assert!(matches!(error, TableError::Busy { .. }), "{error}");
        }
        fn advance(&self, _: u64) {}
        fn goes_on(&self) -> bool {
            true
        }
    }
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), Variant::Standard, 3, &Meddler(folder.path())).unwrap();
    assert_eq!(files(folder.path()).len(), 3);
    built(folder.path(), 3);
}

#[test]
fn tables_tell_what_they_are() {
    let (small, large) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (small, large) = (built(small.path(), 3), built(large.path(), 4));
    let identity = |tables: &Tables| tables.identity(Variant::Standard);
    assert!(identity(&small).starts_with("up to 3 pieces, "), "{}", identity(&small));
    assert!(identity(&large).starts_with("up to 4 pieces, "), "{}", identity(&large));
    assert_eq!(small.bytes(Variant::Rural), 0);
    let again = tempfile::tempdir().unwrap();
    assert_eq!(identity(&small), identity(&built(again.path(), 3)));
}
