//! Formats and conditions of tournaments: whom they pair, what ends games and matches, and that none of
//! it depends on threads or interruptions.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};
use surakarta_arena::{
    Adjudication, Allowance, ArenaError, ArenaGame, Colors, Conduct, DrawRule, Events, Format,
    MatchScore, OpeningSet, Pentanomial, PlayedGames, Scoring, Session, Sprt, SprtModel,
    TimeControl, Tournament, Until, WinRule,
};
use surakarta_game::{Color, Ending, Game, OLYMPIAD, Outcome, Variant};
use surakarta_search::{
    AlphaBetaConfig, AlphaBetaPlayer, Choice, GreedyPlayer, Limits, Player, PlayerError,
    RandomPlayer,
};

type Made = Result<Box<dyn Player>, Box<dyn std::error::Error + Send + Sync>>;

/// Players from weak to strong, by their numbers.
fn factory(player: usize) -> Made {
    Ok(match player {
        0 | 1 => Box::new(RandomPlayer::new(Default::default())),
        2 | 3 => Box::new(GreedyPlayer::new(Default::default())),
        n => {
            let limits = Limits { nodes: Some(20 * n as u64), ..Limits::default() };
            Box::new(AlphaBetaPlayer::new(AlphaBetaConfig {
                limits,
                table_mib: 1,
                ..Default::default()
            }))
        }
    })
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|k| format!("p{k}")).collect()
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

fn openings(count: usize) -> OpeningSet {
    OpeningSet::random(Variant::Standard, OLYMPIAD, 11, 6, count).unwrap()
}

fn played(tournament: &Tournament, journal: Option<&Path>, threads: usize) -> PlayedGames {
    let pool = pool(threads);
    let session = Session { journal, ..Session::new(&pool) };
    let mut played = tournament.play(&factory, &session).unwrap();
    // Time is all that may differ.
    assert!(played.processor.is_none_or(|share| share > 0.0 && share < 1.5));
    played.processor = None;
    for ply in played.games.iter_mut().flat_map(|game| &mut game.plies) {
        ply.us = 0;
    }
    played
}

fn two(pairs: usize, conduct: Conduct) -> Tournament {
    let tournament =
        Tournament::of(Format::RoundRobin, &names(2), openings(pairs), OLYMPIAD, 4).unwrap();
    tournament.conducted(conduct).unwrap()
}

#[test]
fn a_swiss_tournament_goes_on_from_any_place_to_the_same_end() {
    let (players, rounds, pairs) = (7, 4, 2);
    let tournament = Tournament::of(
        Format::Swiss(rounds),
        &names(players),
        openings(rounds * pairs),
        OLYMPIAD,
        4,
    )
    .unwrap();
    assert_eq!(tournament.games(), rounds * (players / 2) * pairs * 2);
    let whole = played(&tournament, None, 1);
    assert!(whole.complete);
    assert_eq!(whole.games.len(), tournament.games());
    // Nobody meets twice, and every round has openings of its own.
    let mut meetings: HashMap<u32, HashSet<[&String; 2]>> = HashMap::new();
    let mut from = HashMap::new();
    for game in &whole.games {
        let mut two = [&game.black, &game.white];
        two.sort();
        meetings.entry(game.key.pairing).or_default().insert(two);
        let round = game.key.pairing as usize / (players / 2);
        assert_eq!(*from.entry(game.opening.moves.clone()).or_insert(round), round);
    }
    let distinct: HashSet<_> = meetings.values().map(|two| two.iter().next().unwrap()).collect();
    assert!(meetings.values().all(|two| two.len() == 1));
    assert_eq!(distinct.len(), rounds * (players / 2));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    assert_eq!(played(&tournament, Some(&path), 3), whole);
    let journal = fs::read(&path).unwrap();
    let breaks: Vec<usize> = (0..journal.len()).filter(|&at| journal[at] == b'\n').collect();
    for &cut in breaks.iter().step_by(5) {
        fs::write(&path, &journal[..cut + 40.min(journal.len() - cut)]).unwrap();
        assert_eq!(played(&tournament, Some(&path), 2), whole, "cut at {cut}");
    }
    // Without a game of the first round, those of later ones cannot have been drawn.
    let text = String::from_utf8(journal).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.remove(1);
    fs::write(&path, format!("{}\n", lines.join("\n"))).unwrap();
    let pool = pool(1);
    let session = Session { journal: Some(&path), ..Session::new(&pool) };
    let error = tournament.play(&factory, &session).unwrap_err();
    assert!(matches!(error, ArenaError::Journal { .. }), "{error}");
}

#[test]
fn colours_are_as_asked() {
    let black = |colors| -> Vec<String> {
        let games = played(&two(40, Conduct { colors, ..Conduct::default() }), None, 2).games;
        games.iter().map(|game| game.black.clone()).collect()
    };
    assert!(black(Colors::First).iter().all(|name| name == "p0"));
    let alternating = black(Colors::Alternating);
    assert!(alternating.chunks(2).all(|pair| pair == ["p0", "p1"]));
    let coin = black(Colors::Coin);
    assert_eq!(coin, black(Colors::Coin), "the coin is seeded");
    let heads = coin.iter().filter(|name| *name == "p0").count();
    assert!((20..=60).contains(&heads), "{heads} of 80");
    let same = coin.chunks(2).filter(|pair| pair[0] == pair[1]).count();
    assert!((8..=32).contains(&same), "{same} of 40 pairs");
}

/// A race ends where the games, in the order of the schedule, pass the mark.
#[test]
fn a_race_is_judged_in_order() {
    for (scoring, target) in
        [(Scoring::Games, 7.0), (Scoring::Pieces, 60.0), (Scoring::PiecesOfBoth, 90.0)]
    {
        let score = MatchScore { scoring, forfeit: None };
        let all = played(&two(30, Conduct::default()), None, 1).games;
        let mut points = HashMap::new();
        let end = all.iter().position(|game| {
            for (name, x) in [&game.black, &game.white].into_iter().zip(score.points(game)) {
                *points.entry(name.clone()).or_insert(0.0) += x;
            }
            points.values().any(|&x| x >= target)
        });
        let end = end.unwrap() + 1;
        let until = Until::Race(score, target);
        let race = two(30, Conduct { until, ..Conduct::default() });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        for threads in [1, 4] {
            let found = played(&race, Some(&path), threads);
            assert!(found.complete);
            assert_eq!(found.games, all[..end]);
            assert_eq!(found.decision.unwrap().games, end);
            // Cut in the middle, half a pair included, it comes to the same end.
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            for keep in [2, end / 2, end / 2 + 1, end] {
                fs::write(&path, lines[..keep].join("\n") + "\n").unwrap();
                assert_eq!(played(&race, Some(&path), threads).games, all[..end], "{keep} lines");
            }
            // Games in progress were finished; the same command plays no other.
            let kept = fs::read(&path).unwrap();
            assert_eq!(played(&race, Some(&path), 2).games, all[..end]);
            assert_eq!(fs::read(&path).unwrap(), kept);
            fs::remove_file(&path).unwrap();
        }
    }
    let three = Tournament::of(Format::RoundRobin, &names(3), openings(2), OLYMPIAD, 4).unwrap();
    let until = Until::Race(MatchScore::default(), 3.0);
    let error = three.conducted(Conduct { until, ..Conduct::default() }).unwrap_err();
    assert!(error.to_string().contains("two players"), "{error}");
}

/// A test stops after the pair after which it would stop with all games at hand, in pair order.
#[test]
fn a_test_is_judged_in_pair_order() {
    let test =
        Sprt { elo0: -200.0, elo1: 100.0, alpha: 0.1, beta: 0.1, model: SprtModel::Logistic };
    let all = played(&two(200, Conduct::default()), None, 2).games;
    let mut pairs = Pentanomial::default();
    let end = all.chunks(2).position(|pair| {
        pairs.add([pair[0].score(), 1.0 - pair[1].score()]);
        test.verdict(&pairs).is_some()
    });
    let end = 2 * (end.unwrap() + 1);
    assert!((8..380).contains(&end), "{end}: decided at once or never");
    let match_of_two = two(200, Conduct { until: Until::Sprt(test), ..Conduct::default() });
    for threads in [1, 5] {
        let found = played(&match_of_two, None, threads);
        assert_eq!(found.games, all[..end]);
        let decision = found.decision.unwrap();
        assert!(decision.verdict.contains("accepts H"), "{}", decision.verdict);
        assert_eq!(decision.games, end);
    }
    // Where players keep their colours, there are no pairs to count.
    let colors = Colors::First;
    let conduct = Conduct { until: Until::Sprt(test), colors, ..Conduct::default() };
    let tournament = Tournament::of(Format::RoundRobin, &names(2), openings(2), OLYMPIAD, 4);
    let error = tournament.unwrap().conducted(conduct).unwrap_err().to_string();
    assert!(error.contains("colours swapped"), "{error}");
    // Players who repeat their games from one opening never decide it.
    let start = OpeningSet::start_position(Variant::Standard, 30);
    let tournament = Tournament::new(&names(6), vec![[5, 4]], start, OLYMPIAD, 4).unwrap();
    let until = Until::Sprt(Sprt { elo0: 0.0, elo1: 400.0, ..test });
    let found =
        played(&tournament.conducted(Conduct { until, ..Conduct::default() }).unwrap(), None, 2);
    assert!(found.decision.is_none() && found.games.len() == 60);
}

#[test]
fn points_are_the_pieces_left_or_all_of_them_for_a_forfeit() {
    let mut game = played(&two(1, Conduct::default()), None, 1).games.remove(0);
    let count = |color| f64::from(game.last_position().count(color));
    let left = [Color::Black, Color::White].map(count);
    let points = |game: &ArenaGame, scoring, forfeit| MatchScore { scoring, forfeit }.points(game);
    game.outcome = Outcome::Win(Color::White);
    assert_eq!(points(&game, Scoring::Games, None), [0.0, 1.0]);
    assert_eq!(points(&game, Scoring::Pieces, None), [0.0, left[1]]);
    assert_eq!(points(&game, Scoring::PiecesOfBoth, None), left);
    game.ending = Ending::Time;
    assert_eq!(points(&game, Scoring::Pieces, None), [0.0, 12.0]);
    assert_eq!(points(&game, Scoring::PiecesOfBoth, Some(5)), [0.0, 5.0]);
    (game.outcome, game.ending) = (Outcome::Draw, Ending::Repetition);
    assert_eq!(points(&game, Scoring::Games, None), [0.5, 0.5]);
    assert_eq!(points(&game, Scoring::Pieces, None), [0.0, 0.0]);
}

/// Plays the first legal move, with an evaluation that a script gives.
struct Saying(fn(&Game) -> f32);

impl Player for Saying {
    fn new_game(&mut self, _seed: u64) {}

    fn choose(&mut self, game: &Game, limits: &Limits) -> Result<Choice, PlayerError> {
        if let Some(time) = limits.time {
            std::thread::sleep(time / 2);
        }
        let value = Some((self.0)(game));
        Ok(Choice { mv: game.legal_moves()[0], value, line: Vec::new(), work: Default::default() })
    }
}

#[test]
fn games_are_adjudicated_only_where_that_is_asked_for() {
    // Both think that Black is lost from the tenth ply on.
    let lost = |game: &Game| match (game.moves().len() >= 10, game.side_to_move()) {
        (true, Color::Black) => -0.99,
        (true, Color::White) => 0.99,
        _ => 0.0,
    };
    let factory = |_: usize| -> Made { Ok(Box::new(Saying(lost))) };
    let play = |adjudication| {
        let tournament = two(3, Conduct { adjudication, ..Conduct::default() });
        tournament.play(&factory, &Session::new(&pool(1))).unwrap().games
    };
    assert!(play(Adjudication::default()).iter().all(|game| game.ending != Ending::Adjudicated));
    let win = Some(WinRule { value: 0.9, plies: 4, both: true });
    for game in play(Adjudication { win, ..Adjudication::default() }) {
        assert_eq!(game.ending, Ending::Adjudicated);
        assert_eq!(game.outcome, Outcome::Win(Color::White));
        assert_eq!(game.moves().count(), 14);
        assert!(game.record(0).replay(OLYMPIAD).is_ok());
    }
    let draw = Some(DrawRule { value: 0.01, plies: 2, from: 3 });
    for game in play(Adjudication { win, draw, tables: None }) {
        assert_eq!(game.ending, Ending::Adjudicated);
        let quiet = game.last_position().quiet_plies() >= 2;
        assert!(!quiet || game.outcome == Outcome::Draw);
    }
}

#[test]
fn who_oversteps_the_time_loses_by_it() {
    let ms = Duration::from_millis;
    // The second sleeps half of what it is allowed, which is too long for the clock of the game.
    let slow = |_: &Game| 0.0;
    let factory =
        |n: usize| if n == 0 { self::factory(0) } else { Ok(Box::new(Saying(slow)) as _) };
    let clock = Some(TimeControl { base: ms(60), increment: ms(0) });
    let limits = Limits { time: Some(ms(40)), ..Limits::default() };
    let allowances = vec![Allowance::default(), Allowance { limits, clock, margin: ms(0) }];
    let tournament = two(2, Conduct { allowances, ..Conduct::default() });
    assert!(tournament.is_timed());
    let games = tournament.play(&factory, &Session::new(&pool(1))).unwrap().games;
    for game in games {
        assert_eq!(game.ending, Ending::Time);
        let winner = if game.black == "p0" { Color::Black } else { Color::White };
        assert_eq!(game.outcome, Outcome::Win(winner));
        let moves = game.plies.len();
        // On a busy machine a sleep takes longer.
        assert!(moves <= 6, "three moves of 20 ms are the clock's end: {moves} plies");
        assert!(game.fault.unwrap().contains("ms were left"));
        // The slow one moves first with Black.
        let slow = game.plies.iter().skip(usize::from(game.black == "p0")).step_by(2);
        assert!(slow.map(|ply| ply.us).all(|us| us <= 40_000));
    }
}

#[test]
fn players_who_cannot_be_set_up_begin_at_the_start() {
    let tournament =
        Tournament::of(Format::RoundRobin, &names(3), openings(2), OLYMPIAD, 4).unwrap();
    let from_start = vec![false, false, true];
    let tournament = tournament.conducted(Conduct { from_start, ..Conduct::default() }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let found = played(&tournament, Some(&path), 2);
    for game in &found.games {
        let start = [&game.black, &game.white].contains(&&"p2".to_owned());
        assert_eq!(game.opening.moves.is_empty(), start);
    }
    assert_eq!(played(&tournament, Some(&path), 1), found);
}

#[test]
fn a_player_that_changes_between_sessions_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let tournament = two(2, Conduct::default());
    let pool = pool(1);
    let play = |identities: &[&str]| -> Vec<usize> {
        let identities: Vec<String> = identities.iter().map(|&text| text.to_owned()).collect();
        let session =
            Session { journal: Some(&path), identities: &identities, ..Session::new(&pool) };
        let known = tournament.play(&factory, &session).unwrap().identities;
        known.iter().map(BTreeSet::len).collect()
    };
    let lines = || fs::read_to_string(&path).unwrap().lines().count();
    let cut = |lines: usize| {
        let text = fs::read_to_string(&path).unwrap();
        let kept: Vec<&str> = text.lines().take(lines).collect();
        fs::write(&path, format!("{}\n", kept.join("\n"))).unwrap();
    };
    assert_eq!(play(&["one", "two"]), [1, 1]);
    assert_eq!(lines(), 1 + 1 + 4);
    cut(4);
    assert_eq!(play(&["one", "two"]), [1, 1]);
    assert_eq!(lines(), 6, "the same players need no other line");
    cut(4);
    assert_eq!(play(&[]), [1, 1], "nothing is known of this session");
    cut(4);
    assert_eq!(play(&["one", "other"]), [1, 2]);
    assert_eq!(lines(), 7);
    assert_eq!(play(&["one", "other"]), [1, 2], "when all is played it is still so");
}

#[test]
fn events_tell_every_game_from_its_beginning_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let events = Events::open(&path, &AtomicBool::new(false)).unwrap();
    let pool = pool(2);
    let session = Session { events: Some(&events), ..Session::new(&pool) };
    let games = two(3, Conduct::default()).play(&factory, &session).unwrap().games;
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of =
        |kind: &str| lines.iter().filter(move |line| line["event"] == kind).collect::<Vec<_>>();
    assert_eq!(lines[0]["event"], "begin");
    assert_eq!(lines[0]["games"], 6);
    assert_eq!(lines[lines.len() - 1]["event"], "finish");
    assert_eq!(lines[lines.len() - 1]["complete"], true);
    assert_eq!((of("game").len(), of("result").len()), (6, 6));
    for game in &games {
        let key = serde_json::to_value(game.key).unwrap();
        let plies: Vec<_> = of("ply").into_iter().filter(|line| line["game"] == key).collect();
        assert_eq!(plies.len(), game.plies.len());
        for (n, (line, ply)) in plies.iter().zip(&game.plies).enumerate() {
            assert_eq!(line["ply"], n);
            assert_eq!(line["move"], ply.mv.to_string());
        }
        let result = of("result").into_iter().find(|line| line["game"] == key).unwrap();
        assert_eq!(result["ending"], game.ending.name());
        assert_eq!(result["black"], game.black);
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_without_a_reader_is_waited_for_until_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let error = Events::open(&path, &AtomicBool::new(true)).err().unwrap().to_string();
    assert!(error.ends_with("pipe: stopped before anybody read from this pipe"), "{error}");
    let reader = std::thread::spawn({
        let path = path.clone();
        move || fs::read_to_string(path).unwrap()
    });
    let events = Events::open(&path, &AtomicBool::new(false)).unwrap();
    let pool = pool(1);
    let session = Session { events: Some(&events), ..Session::new(&pool) };
    // More than a pipe holds: a slow reader is waited for, too.
    two(60, Conduct::default()).play(&factory, &session).unwrap();
    drop(events);
    let text = reader.join().unwrap();
    assert!(text.len() > 1 << 16 && text.ends_with("\"verdict\":null}\n"));
}
