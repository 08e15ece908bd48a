//! Games do not depend on threads or interruptions, and failing players lose.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};
use surakarta_arena::{
    ArenaError, ArenaGame, OpeningSet, Session, Standings, StandingsOptions, Tournament,
};
use surakarta_game::{Color, Ending, Game, Move, OLYMPIAD, Outcome, THREEFOLD, Variant};
use surakarta_search::{Choice, GreedyPlayer, Limits, Player, PlayerError, RandomPlayer, Work};

fn names() -> Vec<String> {
    ["random", "greedy", "shy"].map(str::to_owned).to_vec()
}

/// Random, greedy, and one that plays the first legal move.
fn factory(player: usize) -> Result<Box<dyn Player>, Box<dyn std::error::Error + Send + Sync>> {
    Ok(match player {
        0 => Box::new(RandomPlayer::new(Default::default())),
        1 => Box::new(GreedyPlayer::new(Default::default())),
        _ => Box::new(Scripted(|game: &Game| Ok(game.legal_moves()[0]))),
    })
}

struct Scripted<F>(F);

impl<F: FnMut(&Game) -> Result<Move, PlayerError> + Send> Player for Scripted<F> {
    fn new_game(&mut self, _seed: u64) {}

    fn choose(&mut self, game: &Game, _limits: &Limits) -> Result<Choice, PlayerError> {
        let mv = (self.0)(game)?;
        Ok(Choice { mv, value: Some(f32::NAN), line: Vec::new(), work: Work::default() })
    }
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

fn tournament(pairs: usize, seed: u64) -> Tournament {
    Tournament::round_robin(&names(), pairs, 8, Variant::Standard, OLYMPIAD, seed).unwrap()
}

/// Wall time is all that may differ.
fn untimed(mut games: Vec<ArenaGame>) -> Vec<ArenaGame> {
    games.iter_mut().flat_map(|game| &mut game.plies).for_each(|ply| ply.us = 0);
    games
}

fn play(tournament: &Tournament, journal: Option<&Path>, threads: usize) -> Vec<ArenaGame> {
    let pool = pool(threads);
    let played = tournament.play(&factory, &Session { journal, ..Session::new(&pool) }).unwrap();
    assert!(played.complete);
    untimed(played.games)
}

fn table(games: &[ArenaGame]) -> String {
    let options = StandingsOptions { first_advantage: true, ..Default::default() };
    Standings::of(&names(), games, &options).unwrap().table()
}

#[test]
fn games_do_not_depend_on_threads() {
    let tournament = tournament(20, 3);
    let one = play(&tournament, None, 1);
    assert_eq!(one.len(), 3 * 20 * 2);
    for threads in [2, 5] {
        assert_eq!(one, play(&tournament, None, threads));
    }
    assert_ne!(one, play(&self::tournament(20, 4), None, 2));
}

#[test]
fn pairs_swap_colours_from_one_opening() {
    let games = play(&tournament(25, 9), None, 2);
    for pair in games.chunks(2) {
        let [a, b] = pair else { panic!("half a pair") };
        assert_eq!((&a.black, &a.white), (&b.white, &b.black));
        assert_eq!(a.opening, b.opening);
        assert_eq!((a.key.swapped, b.key.swapped), (false, true));
        assert_eq!((a.key.pair, a.key.pairing), (b.key.pair, b.key.pairing));
    }
    for game in &games {
        // Every pairing has the same openings, and every game follows the rules to its end.
        let twin = games.iter().find(|g| g.key.pair == game.key.pair && g.key.pairing == 0);
        assert_eq!(twin.unwrap().opening, game.opening);
        let replayed = game.record(0).replay(OLYMPIAD).unwrap();
        assert_eq!(replayed.moves().len(), game.moves().count());
        assert!(game.plies.iter().all(|ply| ply.value.is_none()), "NaN is no value");
    }
    // The stronger player wins with either colour, so results belong to the right names.
    for color in [Color::Black, Color::White] {
        let greedy = games
            .iter()
            .filter(|g| g.player(color) == "greedy" && g.player(color.other()) == "random");
        let points: i32 = greedy.map(|g| i32::from(g.outcome.value_for(color))).sum();
        assert!(points >= 20, "greedy with {color}: {points} of 25");
    }
}

#[test]
fn a_journal_cut_anywhere_leads_to_the_same_games() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let tournament = tournament(2, 5);
    let games = play(&tournament, None, 1);
    assert_eq!(play(&tournament, Some(&path), 2), games);
    let whole = fs::read(&path).unwrap();
    // Finished: read back, and nothing is played again.
    assert_eq!(play(&tournament, Some(&path), 2), games);
    assert_eq!(fs::read(&path).unwrap(), whole);
    let breaks: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
    let near = breaks.iter().flat_map(|&at| [at - 1, at, at + 1]);
    let header = breaks[0];
    for cut in (0..header).chain(near).chain((header..whole.len()).step_by(997)) {
        fs::write(&path, &whole[..cut]).unwrap();
        let again = play(&tournament, Some(&path), 1);
        assert_eq!(again, games, "cut at byte {cut}");
        assert_eq!(table(&again), table(&games));
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert_eq!(lines, 1 + games.len(), "cut at byte {cut}");
    }
}

#[test]
fn a_game_written_twice_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let tournament = tournament(2, 5);
    let games = play(&tournament, Some(&path), 1);
    let text = fs::read_to_string(&path).unwrap();
    let last = text.lines().last().unwrap();
    fs::write(&path, format!("{text}{last}\n")).unwrap();
    assert_eq!(play(&tournament, Some(&path), 1), games);
}

#[test]
fn a_stopped_tournament_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let tournament = tournament(10, 5);
    let (stop, shown) = (AtomicBool::new(false), AtomicUsize::new(0));
    let pool = pool(2);
    let played = tournament
        .play(
            &factory,
            &Session {
                journal: Some(&path),
                stop: Some(&stop),
                on_progress: Some(&|games, progress| {
                    let n = shown.fetch_add(1, Ordering::Relaxed);
                    assert_eq!((n, games.len()), (progress.done, usize::from(n > 0)));
                    stop.store(progress.done >= 7, Ordering::Relaxed);
                }),
                ..Session::new(&pool)
            },
        )
        .unwrap();
    assert!(!played.complete);
    // One more may have been in progress.
    assert!((7..=8).contains(&played.games.len()), "{}", played.games.len());
    assert_eq!(play(&tournament, Some(&path), 2), play(&tournament, None, 1));
}

#[test]
fn another_tournament_is_refused_with_the_difference() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    play(&tournament(2, 5), Some(&path), 1);
    let kept = fs::read(&path).unwrap();
    let pool = pool(1);
    let refused = |tournament: Tournament| {
        let session = Session { journal: Some(&path), ..Session::new(&pool) };
        let error = tournament.play(&factory, &session).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), kept);
        error.to_string()
    };
    let error = refused(tournament(3, 6));
    assert!(error.contains("pairs is 2 there and 3 here; seed is 5 there and 6 here"), "{error}");
    let error =
        refused(Tournament::round_robin(&names(), 2, 8, Variant::Standard, THREEFOLD, 5).unwrap());
    assert!(error.contains("rules is \"olympiad\" there and \"threefold\" here"), "{error}");
    let rural = Tournament::round_robin(&names(), 2, 8, Variant::Rural, OLYMPIAD, 5).unwrap();
    let error = refused(rural);
    assert!(error.contains("variant is \"standard\" there and \"rural\" here"), "{error}");
    let error = refused(
        Tournament::round_robin(&names()[..2], 2, 6, Variant::Standard, OLYMPIAD, 5).unwrap(),
    );
    assert!(error.contains("players") && error.contains("openings"), "{error}");
}

#[test]
fn a_file_that_is_no_journal_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let pool = pool(1);
    for text in ["one line without an end", "a line\nand another\n", "{\"players\":[]}\n"] {
        fs::write(&path, text).unwrap();
        let session = Session { journal: Some(&path), ..Session::new(&pool) };
        let error = tournament(1, 1).play(&factory, &session).unwrap_err();
        assert!(matches!(error, ArenaError::Journal { line: 1, .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_damaged_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let tournament = tournament(1, 1);
    play(&tournament, Some(&path), 1);
    let lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(Into::into).collect();
    let pool = pool(1);
    for (old, new) in
        [("\"pair\":0", "\"pair\":7"), ("\"black\":", "\"back\":"), ("[\"", "[\"a1f6\",\"")]
    {
        let mut damaged = lines.clone();
        damaged[2] = damaged[2].replacen(old, new, 1);
        assert_ne!(damaged, lines);
        fs::write(&path, damaged.join("\n") + "\n").unwrap();
        let session = Session { journal: Some(&path), ..Session::new(&pool) };
        let error = tournament.play(&factory, &session).unwrap_err();
        assert!(matches!(error, ArenaError::Journal { line: 3, .. }), "{error}");
    }
}

#[test]
fn two_sessions_cannot_share_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let (outer, inner) = (pool(1), pool(1));
    let tournament = tournament(1, 1);
    let session = Session { journal: Some(&path), ..Session::new(&inner) };
    let refused = AtomicUsize::new(0);
    tournament
        .play(
            &factory,
            &Session {
                journal: Some(&path),
                on_progress: Some(&|_, _| {
                    let error = tournament.play(&factory, &session).unwrap_err();
                    assert!(matches!(error, ArenaError::InUse(_)), "{error}");
                    refused.fetch_add(1, Ordering::Relaxed);
                }),
                ..Session::new(&outer)
            },
        )
        .unwrap();
    assert_eq!(refused.into_inner(), 7);
}

#[test]
fn a_player_that_fails_or_cheats_loses_that_game() {
    let names = ["random", "failing", "cheating"].map(str::to_owned);
    let made = AtomicUsize::new(0);
    let factory = |player: usize| -> Result<Box<dyn Player>, _> {
        let after = |game: &Game, moves: usize| game.moves().len() >= moves;
        Ok(match player {
            0 => factory(0)?,
            1 => {
                made.fetch_add(1, Ordering::Relaxed);
                Box::new(Scripted(move |game: &Game| match after(game, 14) {
                    true => Err(PlayerError::GameOver),
                    false => Ok(game.legal_moves()[0]),
                }))
            }
            _ => Box::new(Scripted(move |game: &Game| match after(game, 10) {
                true => Ok("a1f6".parse().unwrap()),
                false => Ok(game.legal_moves()[0]),
            })),
        })
    };
    let tournament = Tournament::round_robin(&names, 4, 8, Variant::Standard, OLYMPIAD, 1).unwrap();
    let games = tournament.play(&factory, &Session::new(&pool(1))).unwrap().games;
    assert_eq!(games.len(), 24);
    for game in &games {
        let cheated = [&game.black, &game.white].contains(&&"cheating".to_owned());
        let (ending, loser, after) = match cheated {
            true => (Ending::IllegalMove, "cheating", 10),
            false => (Ending::Crash, "failing", 14),
        };
        let winner = if game.black == loser { Color::White } else { Color::Black };
        assert_eq!((game.ending, game.outcome), (ending, Outcome::Win(winner)));
        let moves = game.moves().count();
        assert!((after..=after + 1).contains(&moves), "{loser} lost after {moves} plies");
        assert!(game.fault.is_some());
        assert!(game.record(0).replay(OLYMPIAD).is_ok());
    }
    assert!(made.into_inner() >= 8, "a player that crashed is made anew");
    let standings = Standings::of(&names, &games, &StandingsOptions::default()).unwrap();
    let warnings = standings.warnings.join("\n");
    assert!(warnings.contains("`cheating` lost 16 of its 16 games by illegal-move"), "{warnings}");
    assert!(warnings.contains("`failing` lost 8 of its 16 games by crash"), "{warnings}");
}

#[test]
fn a_player_that_cannot_be_made_ends_the_tournament() {
    let factory = |player: usize| match player {
        1 => Err("no such file".into()),
        other => factory(other),
    };
    let error = tournament(5, 1).play(&factory, &Session::new(&pool(2))).unwrap_err();
    assert_eq!(error.to_string(), "player `greedy`: no such file");
}

#[test]
fn every_variant_is_played_and_goes_on_from_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    for variant in Variant::ALL {
        let tournament = Tournament::round_robin(&names(), 3, 8, variant, OLYMPIAD, 5).unwrap();
        let path = folder.path().join("journal.jsonl");
        let games = play(&tournament, Some(&path), 2);
        assert_eq!(games.len(), 18);
        assert!(games.iter().all(|game| game.opening.start.variant() == variant));
        assert!(games.iter().all(|game| game.fault.is_none()), "{variant}");
        // The whole journal is read back; half of it, and the rest is played again.
        let journal = fs::read_to_string(&path).unwrap();
        assert_eq!(play(&tournament, Some(&path), 1), games);
        fs::write(&path, &journal[..journal.len() / 2]).unwrap();
        assert_eq!(play(&tournament, Some(&path), 1), games);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn openings_of_another_variant_are_refused() {
    let mut openings = OpeningSet::random(Variant::Sepur, OLYMPIAD, 1, 8, 2).unwrap();
    openings.openings.extend(OpeningSet::start_position(Variant::Rural, 1).openings);
    let error = Tournament::new(&names(), vec![[0, 1]], openings, OLYMPIAD, 1).unwrap_err();
    assert!(matches!(error, ArenaError::OtherVariant(2, Variant::Rural, Variant::Sepur)));
}

#[test]
fn impossible_tournaments_are_refused() {
    let of = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Tournament::round_robin(&names, 1, 8, Variant::Standard, OLYMPIAD, 1)
            .map(drop)
            .map_err(|e| e.to_string())
    };
    assert!(of(&["a", "b"]).is_ok());
    assert!(of(&["a"]).unwrap_err().contains("two players or more"));
    assert!(of(&["a", "b", "a"]).unwrap_err().contains("`a` is named twice"));
}
