//! Games begin as they are told to: with given moves, random ones, and some from the policy.

mod support;

use std::path::Path;

use rand::RngExt;
use support::{config, contents, games, header, network, play_batch};
use surakarta_game::{Game, Move, OLYMPIAD, Position};
use surakarta_net::{Batch as Leaves, Evaluator};
use surakarta_record::{GameRecord, SearchKind, ShardHeader};
use surakarta_search::{SearchConfig, stream};
use surakarta_selfplay::{Batch, Beginnings, Conduct, Line, Lines, Manner, Played, SelfplayConfig};

fn play(
    folder: &Path,
    config: &SelfplayConfig,
    beginnings: &Beginnings,
    games: std::ops::Range<u64>,
    threads: usize,
) -> Played {
    let batch = Batch { header: &header(), config, games, folder, tables: None, beginnings };
    play_batch(&batch, SearchConfig::default(), threads, &|| false).unwrap()
}

fn moves(text: &str) -> Vec<Move> {
    text.split_whitespace().map(|mv| mv.parse().unwrap()).collect()
}

fn lines(lines: Vec<(Position, Vec<Move>)>) -> Option<Lines> {
    let lines = lines.into_iter().map(|(start, moves)| Line { start, moves }).collect();
    Some(Lines { source: "a test".to_owned(), lines })
}

fn openings() -> Beginnings {
    let endgame: Position = "6/wwww2/6/6/1bbbb1/6 b 0 1".parse().unwrap();
    let lines = lines(vec![(Position::default(), moves("a2a3 b5b4")), (endgame, Vec::new())]);
    Beginnings { openings: lines, forks: None }
}

/// Plays the opening of a game again, one evaluation at a time: `given` plies, those that its stream
/// draws at random, and those of the policy. Returns how many were of the policy.
fn compare(record: &GameRecord, config: &SelfplayConfig, given: usize) -> usize {
    let mut random = stream(5, [2, record.number, 0]);
    let mut game = Game::from_position(OLYMPIAD, record.start);
    let opening = record.plies.iter().take_while(|ply| ply.search == SearchKind::Opening);
    let opening: Vec<Move> = opening.map(|ply| ply.mv).collect();
    let (given, rest) = opening.split_at(given);
    given.iter().for_each(|&mv| game.play(mv).unwrap());
    let [least, most] = config.opening_plies;
    let count = random.random_range(least..=most) as usize;
    let (at_random, of_policy) = rest.split_at(count.min(rest.len()));
    for &mv in at_random {
        let moves = game.legal_moves();
        assert_eq!(mv, moves[random.random_range(0..moves.len())]);
        game.play(mv).unwrap();
    }
    let [least, most] = config.sampled_plies;
    let sampled = random.random_range(least..=most) as usize;
    let (mut batch, mut network) = (Leaves::default(), network());
    for &mv in of_policy {
        batch.clear();
        batch.push(*game.position(), &game.legal_moves());
        network.evaluate(&mut batch).unwrap();
        let weights = batch.policy(0).iter().map(|&p| f64::from(p));
        let weights: Vec<f64> = weights.map(|p| p.powf(1.0 / config.policy_temperature)).collect();
        let mut left = random.random::<f64>() * weights.iter().sum::<f64>();
        let drawn = weights.iter().position(|w| {
            left -= w;
            left < 0.0
        });
        assert_eq!(mv, batch.moves(0)[drawn.unwrap()], "game {}", record.number);
        game.play(mv).unwrap();
    }
    expect_conduct(record, config, [given.len(), opening.len() - of_policy.len()], sampled);
    of_policy.len()
}

/// What a reader of the record makes of it.
fn expect_conduct(
    record: &GameRecord,
    config: &SelfplayConfig,
    [given, drawn]: [usize; 2],
    sampled: usize,
) {
    let settings = |section: &str, text: String| {
        let table: toml::Table = text.parse().unwrap();
        let name = |key: String| format!("{section}.{key}");
        table
            .into_iter()
            .map(move |(key, value)| (name(key), value.to_string()))
            .collect::<Vec<_>>()
    };
    let selfplay = settings("selfplay", toml::to_string(config).unwrap());
    let search = settings("search", toml::to_string(&SearchConfig::default()).unwrap());
    let settings = selfplay.into_iter().chain(search).collect();
    let manner = Manner::of(&ShardHeader { settings, ..header() }).unwrap();
    for (n, (ply, conduct)) in
        record.plies.iter().zip(manner.conduct(record.number, record)).enumerate()
    {
        let expected = match ply.search {
            SearchKind::Opening if n < drawn => Conduct::default(),
            SearchKind::Opening => Conduct {
                temperature: Some(config.policy_temperature as f32),
                ..Conduct::default()
            },
            kind => Conduct {
                simulations: if kind == SearchKind::Full { 24 } else { 8 },
                temperature: Some(if n - given < sampled { 1.0 } else { 0.0 }),
                noise: kind == SearchKind::Full,
            },
        };
        assert_eq!(conduct, expected, "ply {n} of game {}", record.number);
    }
    assert!(Manner::of(&header()).is_none());
}

#[test]
fn policy_plies_are_drawn_from_the_network_in_the_batch() {
    let config = SelfplayConfig { policy_plies: [0, 6], policy_temperature: 0.7, ..config() };
    let one = tempfile::tempdir().unwrap();
    let games = games(&play(one.path(), &config, &Beginnings::default(), 0..24, 1));
    let plies: Vec<usize> = games.iter().map(|game| compare(game, &config, 0)).collect();
    assert!(plies.contains(&0) && plies.contains(&6) && plies.iter().all(|&n| n <= 6), "{plies:?}");
    for (threads, games_in_flight) in [(2, 1), (3, 7)] {
        let other = tempfile::tempdir().unwrap();
        let config = SelfplayConfig { games_in_flight, ..config.clone() };
        play(other.path(), &config, &Beginnings::default(), 0..24, threads);
        assert_eq!(contents(one.path()), contents(other.path()));
    }
}

#[test]
fn games_begin_with_the_openings_of_a_file() {
    let config = SelfplayConfig { opening_plies: [0, 2], policy_plies: [1, 2], ..config() };
    let folder = tempfile::tempdir().unwrap();
    let games = games(&play(folder.path(), &config, &openings(), 0..20, 2));
    let mut from_the_start = 0;
    for game in &games {
        game.replay(OLYMPIAD).unwrap();
        let begun = game.start == Position::default();
        from_the_start += usize::from(begun);
        let given: Vec<_> = game.plies.iter().map(|ply| ply.mv).take(2).collect();
        assert!(!begun || given == moves("a2a3 b5b4"));
        assert!(compare(game, &config, if begun { 2 } else { 0 }) <= 2);
    }
    assert!((1..20).contains(&from_the_start), "{from_the_start}");
}

#[test]
fn games_fork_off_earlier_ones() {
    let folder = tempfile::tempdir().unwrap();
    let earlier = games(&play(folder.path(), &config(), &Beginnings::default(), 0..8, 2));
    let whole = |game: &GameRecord| (game.start, game.plies.iter().map(|ply| ply.mv).collect());
    let forks = lines(earlier.iter().map(whole).collect());
    let beginnings = Beginnings { forks, ..openings() };
    let config = SelfplayConfig { opening_plies: [1, 1], fork_share: 0.5, ..config() };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let played = play(one.path(), &config, &beginnings, 0..40, 1);
    play(two.path(), &config, &beginnings, 16..40, 2);
    play(two.path(), &config, &beginnings, 0..16, 2);
    assert_eq!(contents(one.path()), contents(two.path()));
    let mut deep = 0;
    for game in games(&played) {
        game.replay(OLYMPIAD).unwrap();
        let opening = game.plies.iter().take_while(|ply| ply.search == SearchKind::Opening);
        let opening: Vec<_> = opening.map(|ply| ply.mv).collect();
        let given = &opening[..opening.len() - 1];
        let follows = |line: &Line| line.start == game.start && line.moves.starts_with(given);
        let lines = |of: &Option<Lines>| of.as_ref().unwrap().lines.iter().any(follows);
        assert!(lines(&beginnings.forks) || lines(&beginnings.openings));
        deep += usize::from(given.len() > 2);
    }
    assert!((10..30).contains(&deep), "{deep} of 40 games fork off");
}

#[test]
fn what_is_off_is_not_in_the_header() {
    let names = |config: &SelfplayConfig| {
        let text = toml::to_string(config).unwrap();
        let table: toml::Table = text.parse().unwrap();
        table.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    let before = [
        "end_by_tables",
        "fast_simulations",
        "full_share",
        "full_simulations",
        "games_in_flight",
        "games_per_shard",
        "opening_plies",
        "sampled_plies",
    ];
    let mut known = names(&SelfplayConfig::default());
    known.sort();
    assert_eq!(known, before);
    let on = SelfplayConfig { fork_share: 0.1, ..SelfplayConfig::default() };
    assert!(names(&on).contains(&"fork_share".to_owned()));
}
