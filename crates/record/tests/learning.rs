//! The replay window, against the records that they come from.

mod games;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;

use games::{random_game, random_game_of, random_variant, stream};
use rand::seq::SliceRandom;
use surakarta_game::{Move, OLYMPIAD, Outcome, Symmetry, THREEFOLD, Variant};
use surakarta_record::shard::{Catalogue, newest_first};
use surakarta_record::{
    GameRecord, Sample, ShardError, ShardHeader, Window, shard_name, write_shard,
};

/// Shards of one run: three iterations of two shards of 30 games.
struct Run {
    dir: tempfile::TempDir,
    paths: Vec<PathBuf>,
    /// Games of each shard.
    games: Vec<Vec<GameRecord>>,
}

fn run() -> Run {
    run_of(Variant::Standard)
}

fn run_of(variant: Variant) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let (mut paths, mut all) = (Vec::new(), Vec::new());
    let mut random = stream(1);
    for iteration in 0..3 {
        for first_game in [0, 30] {
            let numbers = first_game..first_game + 30;
            let game = |n| random_game_of(variant, OLYMPIAD, n, &mut random);
            let games: Vec<_> = numbers.map(game).collect();
            let header =
                ShardHeader { variant, iteration, first_game, games: 30, ..Default::default() };
            let path = dir.path().join(shard_name(iteration, first_game));
            write_shard(&path, &header, &games).unwrap();
            paths.push(path);
            all.push(games);
        }
    }
    Run { dir, paths, games: all }
}

impl Run {
    fn samples(&self, shards: std::ops::Range<usize>) -> Vec<Sample> {
        self.games[shards].iter().flatten().flat_map(GameRecord::samples).collect()
    }
}

fn load(paths: &[PathBuf], samples: usize) -> Window {
    let mut window = Window::default();
    let errors = window.load(paths, samples);
    assert!(errors.is_empty(), "{errors:?}");
    window
}

#[test]
fn samples_are_seen_by_the_mover() {
    let mut random = stream(2);
    let (mut seen, mut found) = (0, 0);
    for number in 0..300 {
        let variant = random_variant(&mut random);
        let game = random_game_of(variant, OLYMPIAD, number, &mut random);
        let last = *game.positions().collect::<Vec<_>>().last().unwrap();
        let positions: Vec<_> = game.positions().zip(&game.plies).collect();
        let full = (0..).zip(&positions).filter(|(_, (_, ply))| ply.is_sample());
        let full: Vec<(usize, _)> = full.collect();
        let samples: Vec<_> = game.samples().collect();
        assert_eq!(samples.len(), full.len());
        for (sample, (number, &(position, ply))) in samples.iter().zip(full) {
            seen += 1;
            assert_eq!((sample.position, sample.value), (position, ply.value));
            assert_eq!(sample.last, last);
            match positions.get(number + 1) {
                None => assert_eq!(sample.reply, []),
                Some((_, next)) if next.is_sample() => {
                    assert_eq!(sample.reply, next.policy.shares());
                    found += 1;
                }
                Some((_, next)) => assert_eq!(sample.reply, [(next.mv, 1.0)]),
            }
            // A value says the same whoever sees it.
            let mut future = Vec::new();
            for (later, ply) in &positions[number..] {
                let same = later.side_to_move() == position.side_to_move();
                future.extend(ply.value.map(|value| if same { value } else { -value }));
            }
            future.push(f32::from(sample.outcome));
            assert_eq!(sample.future, future);
            let sum: f32 = sample.policy.iter().map(|(_, share)| share).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
            let me = position.side_to_move();
            let expected = match game.result.outcome {
                Outcome::Draw => 0,
                Outcome::Win(winner) => {
                    if winner == me {
                        1
                    } else {
                        -1
                    }
                }
            };
            assert_eq!(sample.outcome, expected);
            let ahead = last.count(me) as f32 - last.count(me.other()) as f32;
            assert_eq!(sample.margin, ahead / variant.pieces() as f32);
        }
    }
    assert!(seen > 1_000 && found > 100, "{seen} {found}");
}

#[test]
fn the_window_holds_the_samples_of_the_newest_shards() {
    let run = run();
    let all = run.samples(0..6);
    let window = load(&run.paths, usize::MAX);
    assert_eq!(window.len(), all.len());
    for (index, sample) in all.iter().enumerate() {
        assert_eq!(window.sample(index), *sample);
    }
    assert!(window.bytes() / window.len() < 120, "{}", window.bytes());

    // Whole shards from the newest on, until there are enough.
    let last_two = run.samples(4..6);
    for (wanted, shards) in
        [(0, 0), (1, 1), (run.games[5].iter().flat_map(GameRecord::samples).count(), 1)]
            .into_iter()
            .chain([(last_two.len() - 1, 2), (last_two.len(), 2), (last_two.len() + 1, 3)])
    {
        let window = load(&run.paths, wanted);
        assert_eq!(window.shards().collect::<Vec<_>>(), run.paths[6 - shards..], "{wanted}");
        assert_eq!(window.len(), run.samples(6 - shards..6).len());
    }
}

#[test]
fn games_held_out_are_never_drawn() {
    let run = run();
    // A second shard with the games of the first under other numbers.
    let again = run.dir.path().join(shard_name(9, 500));
    let header = ShardHeader { iteration: 9, first_game: 500, games: 30, ..Default::default() };
    let games = run.games[0].iter().cloned();
    let games: Vec<_> = (500..).zip(games).map(|(number, g)| GameRecord { number, ..g }).collect();
    write_shard(&again, &header, &games).unwrap();
    let paths: Vec<_> = run.paths.iter().cloned().chain([again]).collect();
    let all: Vec<_> = run.games.iter().chain([&games]).flatten().collect();

    let mut window = Window::holding_out(0.3);
    assert!(window.load(&paths, 1_000_000).is_empty());
    let drawn: Vec<_> = (0..window.len()).map(|index| window.sample(index)).collect();
    let out: Vec<_> = window.held_out().collect();
    // Whole games, in their order, on one side or the other.
    let (mut next_drawn, mut next_out, mut games_out) = (drawn.iter(), out.iter(), 0);
    let mut side = HashMap::new();
    for game in all {
        let mut samples = game.samples().peekable();
        let is_out = match samples.peek() {
            None => continue,
            Some(sample) => next_out.clone().next() == Some(sample),
        };
        games_out += usize::from(is_out);
        for sample in samples {
            let next = if is_out { next_out.next() } else { next_drawn.next() };
            assert_eq!(next, Some(&sample));
        }
        // A repetition of a game is on the side of the game.
        assert_eq!(*side.entry(game.course()).or_insert(is_out), is_out);
    }
    assert_eq!((next_drawn.next(), next_out.next()), (None, None));
    assert!((35..90).contains(&games_out), "{games_out} of 210");
    // Another window with other shards agrees on each game, and a greater share holds out the same
    // games and more.
    let mut more = Window::holding_out(0.6);
    assert!(more.load(&paths[3..5], 1_000_000).is_empty());
    let more: Vec<_> = more.held_out().collect();
    let both = run.samples(3..5).into_iter().filter(|sample| out.contains(sample));
    assert!(both.clone().count() > 0 && both.clone().count() < more.len());
    assert!(both.into_iter().all(|sample| more.contains(&sample)));
    assert_eq!(load(&paths, 1_000_000).held_out().count(), 0);
}

#[test]
fn what_has_left_a_growing_window_never_returns() {
    let run = run();
    let count = |shard: usize| run.samples(shard..shard + 1).len();
    // It begins with the second shard and grows by every sample that comes, the most it may.
    let mut wanted = count(1);
    let mut window = Window::holding_out(0.2);
    for end in 2..=6 {
        assert!(window.load(&run.paths[..end], wanted).is_empty());
        assert_eq!(window.shards().collect::<Vec<_>>(), run.paths[1..end]);
        let held = window.len() + window.held_out().count();
        assert_eq!(held, run.samples(1..end).len());
        assert!(window.held_out().count() > 0);
        wanted += if end < 6 { count(end) } else { 0 };
    }
}

#[test]
fn shards_that_the_window_holds_are_not_opened_again() {
    let run = run();
    let (mut shards, errors) = newest_first(&run.paths);
    assert!(errors.is_empty());
    shards.reverse();
    let mut window = Window::default();
    assert!(window.hold(shards[..5].iter().rev(), 1_000_000).is_empty());
    run.paths[..5].iter().for_each(|path| fs::remove_file(path).unwrap());
    assert!(window.hold(shards.iter().rev(), 1_000_000).is_empty());
    assert_eq!(window.len(), run.samples(0..6).len());
    // Those beyond it are not opened at all.
    let mut newest = Window::default();
    assert!(newest.hold(shards.iter().rev(), 1).is_empty());
    assert_eq!(newest.shards().len(), 1);
    // A window that holds nothing needs them.
    assert_eq!(Window::default().hold(shards.iter().rev(), 1_000_000).len(), 5);
}

#[test]
fn a_catalogue_lists_what_a_fresh_look_does_and_opens_each_shard_once() {
    let run = run();
    let mut catalogue = Catalogue::default();
    for end in [2, 5, 5, 3, 6] {
        let (listed, errors) = catalogue.newest_first(&run.paths[..end]);
        assert!(errors.is_empty());
        assert_eq!(listed, newest_first(&run.paths[..end]).0);
    }
    run.paths.iter().for_each(|path| fs::remove_file(path).unwrap());
    assert!(catalogue.newest_first(&run.paths[..6]).1.is_empty());
    assert_eq!(catalogue.newest_first(&run.paths[1..6]).1.len(), 0);
    // What was left out is forgotten.
    assert_eq!(catalogue.newest_first(&run.paths[..6]).1.len(), 1);
}

#[test]
fn the_window_depends_on_the_set_of_shards_alone() {
    let run = run();
    let window = load(&run.paths, 1_000_000);
    let mut paths = run.paths.clone();
    paths.shuffle(&mut stream(3));
    paths.push(paths[0].clone());
    let other = load(&paths, 1_000_000);
    // And one that grew with the run, and let go of old shards on the way.
    let mut grown = load(&run.paths[..2], 10);
    assert!(grown.load(&run.paths[..5], 1_000_000).is_empty());
    assert!(grown.load(&run.paths, 1_000_000).is_empty());
    for step in [0, 1, 7, 1_000_000] {
        let batch = window.batch(1, 2, step, 64);
        assert_eq!(other.batch(1, 2, step, 64), batch);
        assert_eq!(grown.batch(1, 2, step, 64), batch);
        assert_ne!(window.batch(2, 2, step, 64), batch);
        assert_ne!(window.batch(1, 3, step, 64), batch);
        assert_ne!(window.batch(1, 2, step + 1, 64), batch);
    }
}

#[test]
fn every_sample_is_used_equally_often() {
    let run = run();
    let window = load(&run.paths, 1_000_000);
    let steps = (window.len() as u64 * 8).div_ceil(50);
    let mut uses = HashMap::<usize, u64>::new();
    let mut symmetries = BTreeMap::<usize, u64>::new();
    for step in 0..steps {
        let draws = window.draws(5, 6, step, 50);
        assert_eq!(draws.len(), 50);
        for draw in draws {
            *uses.entry(draw.index).or_default() += 1;
            *symmetries.entry(draw.symmetry.index()).or_default() += 1;
        }
    }
    assert_eq!(uses.len(), window.len());
    assert!(uses.values().all(|uses| [8, 9].contains(uses)));
    let expected = (steps * 50) as f64 / 8.0;
    assert_eq!(symmetries.len(), Symmetry::ALL.len());
    for count in symmetries.values() {
        let deviation = (*count as f64 - expected) / expected.sqrt();
        assert!(deviation.abs() < 5.0, "{symmetries:?}");
    }
}

#[test]
fn batches_turn_the_board() {
    for variant in Variant::ALL {
        let run = run_of(variant);
        let window = load(&run.paths, 1_000_000);
        for step in 0..20 {
            let draws = window.draws(1, 1, step, 32);
            for (draw, sample) in draws.iter().zip(window.batch(1, 1, step, 32)) {
                let original = window.sample(draw.index);
                assert_eq!(sample, original.clone().under(draw.symmetry));
                assert_eq!(sample.clone().under(draw.symmetry.inverse()), original);
                let legal: BTreeSet<_> = sample.position.moves().into_iter().collect();
                assert!(sample.policy.iter().all(|(mv, _)| legal.contains(mv)));
                assert_eq!(sample.last, original.last.under(draw.symmetry));
                let turned = |&(mv, share): &(Move, f32)| (mv.under(variant, draw.symmetry), share);
                let turned: Vec<_> = original.reply.iter().map(turned).collect();
                assert_eq!((sample.reply, sample.future), (turned, original.future));
            }
        }
        // More than there are: the walk goes on.
        assert_eq!(window.draws(1, 1, 0, 3 * window.len()).len(), 3 * window.len());
    }
    assert_eq!(Window::default().batch(1, 1, 0, 32), []);
}

#[test]
fn damaged_and_foreign_shards_are_left_out_and_named() {
    let run = run();
    let undisturbed = load(&run.paths[..4], 1_000_000);
    // One damaged where only reading shows it, one cut short, one of other rules.
    let mut bytes = fs::read(&run.paths[4]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&run.paths[4], bytes).unwrap();
    let bytes = fs::read(&run.paths[5]).unwrap();
    fs::write(&run.paths[5], &bytes[..100]).unwrap();
    let foreign = run.dir.path().join("foreign.shard");
    let game = random_game(THREEFOLD, 0, &mut stream(4));
    let header = ShardHeader { rules: THREEFOLD, games: 1, ..Default::default() };
    write_shard(&foreign, &header, &[game]).unwrap();

    let mut window = Window::default();
    let paths: Vec<_> = run.paths.iter().cloned().chain([foreign.clone()]).collect();
    let mut errors = window.load(&paths, 1_000_000);
    errors.sort_by_key(|error| error.path().to_owned());
    assert_eq!(
        errors.iter().map(ShardError::path).collect::<Vec<_>>(),
        [&run.paths[4], &run.paths[5], &foreign]
    );
    assert!(matches!(errors[0], ShardError::Damaged { .. }), "{}", errors[0]);
    assert!(matches!(errors[1], ShardError::Truncated { .. }), "{}", errors[1]);
    assert!(matches!(errors[2], ShardError::Foreign { .. }), "{}", errors[2]);
    assert_eq!(window.batch(1, 2, 3, 64), undisturbed.batch(1, 2, 3, 64));
}

#[test]
fn a_window_holds_one_variant() {
    let (run, other) = (run(), run_of(Variant::Rural));
    let mut window = load(&run.paths[..4], 1_000_000);
    // The newest shard decides, even over those that the window holds already.
    let paths: Vec<_> = run.paths[..4].iter().chain(&other.paths[4..]).cloned().collect();
    let errors = window.load(&paths, 1_000_000);
    assert_eq!(errors.len(), 4);
    for error in errors {
        let error = error.to_string();
        let both =
            "games of standard under olympiad, the newest shard games of rural under olympiad";
        assert!(error.contains(both) && error.contains("leave one kind out"), "{error}");
    }
    assert_eq!(window.len(), other.samples(4..6).len());
    assert_eq!(window.variant(), Some(Variant::Rural));
    assert!((0..window.len()).all(|n| window.sample(n).position.variant() == Variant::Rural));
    assert_eq!(Window::default().variant(), None);
}
