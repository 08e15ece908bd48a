//! Results from our own files: the same whichever way they come.

use std::path::Path;

use rayon::ThreadPoolBuilder;
use surakarta_arena::{
    ArenaGame, JournalFile, Results, Session, Standings, StandingsOptions, Tournament, write_pgn,
};
use surakarta_game::{Color, Ending, Move, OLYMPIAD, Outcome, Symmetry, Variant};
use surakarta_search::{GreedyPlayer, Player, RandomPlayer};

fn names() -> Vec<String> {
    ["random", "greedy", "other"].map(str::to_owned).to_vec()
}

fn factory(player: usize) -> Result<Box<dyn Player>, Box<dyn std::error::Error + Send + Sync>> {
    Ok(match player {
        1 => Box::new(GreedyPlayer::new(Default::default())),
        _ => Box::new(RandomPlayer::new(Default::default())),
    })
}

/// A round robin, and its journal.
fn played(journal: &Path) -> Vec<ArenaGame> {
    let tournament =
        Tournament::round_robin(&names(), 4, 6, Variant::Standard, OLYMPIAD, 5).unwrap();
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let session = Session { journal: Some(journal), ..Session::new(&pool) };
    tournament.play(&factory, &session).unwrap().games
}

#[test]
fn journal_and_pgn_say_what_the_games_say() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, pgn) = (folder.path().join("games.jsonl"), folder.path().join("games.pgn"));
    let games = played(&journal);
    write_pgn(&games, OLYMPIAD, std::fs::File::create(&pgn).unwrap()).unwrap();
    let mut direct = Results::of_players(&names());
    direct.add(&games).unwrap();
    assert!(direct.games.iter().all(|game| game.moves.is_some() && game.opening.is_some()));
    for path in [&journal, &pgn] {
        let mut read = Results::of_players(&names());
        read.read(path).unwrap();
        let mut found = read.games.clone();
        // A journal has them in the order in which they ended.
        found.sort_by_key(|game| (game.pair, game.first));
        let mut wanted = direct.games.clone();
        wanted.sort_by_key(|game| (game.pair, game.first));
        assert_eq!(found, wanted, "{}", path.display());
    }
    // Together each game is there twice, and counts once.
    let mut both = Results::default();
    both.read(&journal).unwrap();
    both.read(&pgn).unwrap();
    let standings = Standings::of_results(&both, &StandingsOptions::default()).unwrap();
    let once = Standings::of(&names(), &games, &StandingsOptions::default()).unwrap();
    assert_eq!((standings.games, standings.counted), (48, 24));
    let ratings = |standings: &Standings| -> Vec<(String, Option<f64>, Option<f64>)> {
        standings.players.iter().map(|p| (p.name.clone(), p.rating, p.error)).collect()
    };
    assert_eq!(ratings(&standings), ratings(&once));
}

#[test]
fn a_last_line_without_its_end_is_left_out_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    played(&path);
    let text = std::fs::read_to_string(&path).unwrap().replace("greedy", "grüßig");
    let named = text.rfind('ü').unwrap();
    // Complete but for its end; amid the line; amid a letter of a name.
    for length in [text.len() - 1, text.len() - 30, named + 1] {
        std::fs::write(&path, &text.as_bytes()[..length]).unwrap();
        let mut read = Results::default();
        read.read(&path).unwrap();
        let missing = text[named..].lines().count();
        let wanted = if length > named + 1 { 23 } else { 24 - missing };
        assert_eq!(read.games.len(), wanted, "{length} of {} bytes", text.len());
        assert!(read.notes[0].contains("games.jsonl: the last line was not written to its end"));
        assert!(JournalFile::read(&path).unwrap().cut);
    }
    std::fs::write(&path, &text).unwrap();
    let whole = JournalFile::read(&path).unwrap();
    assert_eq!((whole.games.len(), whole.cut), (24, false));
    // Twice in a file is once; two journals in a file are none.
    let last = text.lines().last().unwrap();
    std::fs::write(&path, format!("{text}{last}\n")).unwrap();
    assert_eq!(JournalFile::read(&path).unwrap().games, whole.games);
    std::fs::write(&path, format!("{text}{text}")).unwrap();
    let said = JournalFile::read(&path).unwrap_err().to_string();
    assert!(said.contains("line 26: another journal begins here"), "{said}");
}

/// Some editors put it before the first letter of a file.
#[test]
fn a_byte_order_mark_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    let games = played(&path);
    let journal = std::fs::read(&path).unwrap();
    let mut pgn = Vec::new();
    write_pgn(&games, OLYMPIAD, &mut pgn).unwrap();
    let table = b"pair,first,second,result\n1,a,b,1-0\n1,b,a,1-0\n".to_vec();
    for text in [&journal, &pgn, &table] {
        let read = || {
            let mut read = Results::default();
            read.read(&path).unwrap();
            (read.players, read.games)
        };
        std::fs::write(&path, text).unwrap();
        let without = read();
        std::fs::write(&path, ["\u{feff}".as_bytes(), text].concat()).unwrap();
        assert_eq!(read(), without);
    }
    // A journal with it can be shown, and the tournament goes on.
    let marked = ["\u{feff}".as_bytes(), &journal].concat();
    std::fs::write(&path, &marked[..marked.len() - 1]).unwrap();
    assert_eq!(JournalFile::read(&path).unwrap().games.len(), games.len() - 1);
    assert_eq!(played(&path).len(), games.len());
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!((text.matches('\u{feff}').count(), text.lines().count()), (1, 1 + games.len()));
}

#[test]
fn notes_name_their_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    let mut games = played(&path);
    let mut third = games[0].clone();
    third.key.swapped = true;
    third.key.pairing = 9;
    games.extend([third.clone(), third.clone(), third]);
    let mut direct = Results::of_players(&names());
    direct.add(&games).unwrap();
    assert!(
        direct.notes[0]
            .starts_with("the tournament: more than two games of the same players in 1 pair:"),
        "{:?}",
        direct.notes
    );
}

#[test]
fn a_mirrored_game_is_a_repeated_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut games = played(&folder.path().join("games.jsonl"));
    let before = games.len();
    let mirrored = |mv: Move| mv.under(Variant::Standard, Symmetry::FLIP_FILES);
    let mut mirror = games[0].clone();
    mirror.opening.moves.iter_mut().for_each(|mv| *mv = mirrored(*mv));
    mirror.plies.iter_mut().for_each(|ply| ply.mv = mirrored(ply.mv));
    mirror.key.pair = 77;
    games.push(mirror.clone());
    // Whoever had Black has White now: another game.
    std::mem::swap(&mut mirror.black, &mut mirror.white);
    games.push(mirror);
    let standings = Standings::of(&names(), &games, &StandingsOptions::default()).unwrap();
    assert_eq!((standings.games, standings.counted), (before + 2, before + 1));
}

#[test]
fn losses_by_anything_but_play_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut games = played(&folder.path().join("games.jsonl"));
    let says = |games: &[ArenaGame], words: &str| {
        let standings = Standings::of(&names(), games, &StandingsOptions::default()).unwrap();
        standings.warnings.iter().any(|warning| warning.contains(words))
    };
    assert!(!says(&games, "by time") && !says(&games, "by crash"));
    for (n, ending) in [(0, Ending::Time), (1, Ending::Crash), (2, Ending::IllegalMove)] {
        games[n].ending = ending;
        games[n].outcome = Outcome::Win(Color::Black);
    }
    let loser = games[0].white.clone();
    assert!(says(&games, &format!("`{loser}` lost 1 of its 16 games by time")));
    assert!(says(&games, "by crash") && says(&games, "by illegal-move"));
}
