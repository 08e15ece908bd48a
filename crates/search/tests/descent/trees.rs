//! Trees that can be followed by hand.

use surakarta_game::{Move, OLYMPIAD, Position};
use surakarta_net::Outlook;
use surakarta_search::Player;
use surakarta_search::descent::{Method, MoveValue};

use crate::script::{by, even, game, outlook, player, simulations};

fn mv(text: &str) -> Move {
    text.parse().unwrap()
}

/// Two pieces in corners: three moves each. Values seen by Black, by where the pieces are.
fn corners(position: &Position) -> Outlook {
    let text = position.to_string();
    let board = text.split(' ').next().unwrap();
    let black = match board {
        // Black has moved: a1-a2, a1-b1, a1-b2.
        "5w/6/6/6/b5/6" => 0.5,
        "5w/6/6/6/6/1b4" => 0.25,
        "5w/6/6/6/1b4/6" => 0.0,
        // After a1-a2, White's f6-e5, f6-f5, f6-e6.
        "6/4w1/6/6/b5/6" => 0.375,
        "6/5w/6/6/b5/6" => 0.75,
        "4w1/6/6/6/b5/6" => 0.125,
        // After a1-b1 whatever White plays.
        "6/4w1/6/6/6/1b4" | "6/5w/6/6/6/1b4" | "4w1/6/6/6/6/1b4" => 0.5,
        _ => panic!("{board} is not in this tree"),
    };
    outlook(if text.contains(" b ") { black } else { -black })
}

#[test]
fn the_best_leaf_is_opened_next() {
    let start = game(OLYMPIAD, "5w/6/6/6/6/b5 b 0 1", "");
    let mut player = player(by(Method::Ubfm), corners);
    let names = ["a1a2", "a1b1", "a1b2"];
    for (iterations, values, visits, best, line) in [
        // The root.
        (1, [0.5, 0.25, 0.0], [0, 0, 0], "a1a2", vec!["a1a2"]),
        // White answers a1-a2 with f6-e6: 0.125. Only a1-a2 has been visited, so it is the safest.
        (2, [0.125, 0.25, 0.0], [1, 0, 0], "a1a2", vec!["a1a2", "f6e6"]),
        // a1-b1 promised more, and keeps more.
        (3, [0.125, 0.5, 0.0], [1, 1, 0], "a1b1", vec!["a1b1"]),
    ] {
        let choice = player.choose(&start, &simulations(iterations)).unwrap();
        for (at, name) in names.into_iter().enumerate() {
            let found = player.moves().find(|found| found.mv == mv(name)).unwrap();
            let (value, visits) = (values[at], visits[at]);
            assert_eq!(found, MoveValue { mv: mv(name), visits, value, proven: None });
        }
        assert_eq!(choice.mv, mv(best));
        let line: Vec<Move> = line.into_iter().map(mv).collect();
        assert!(choice.line.starts_with(&line), "{:?}", choice.line);
        assert_eq!(choice.work.simulations, 1);
        assert_eq!((choice.work.nodes, choice.work.evaluations), (3, 3));
    }
}

#[test]
fn a_win_in_one_is_proven_at_once() {
    let start = game(OLYMPIAD, "6/6/6/6/w5/1bb3 b 0 1", "");
    for method in Method::ALL {
        let mut player = player(by(method), even);
        let choice = player.choose(&start, &simulations(400)).unwrap();
        assert!(start.position().captures().contains(&choice.mv));
        assert_eq!((choice.value, choice.work.simulations), (Some(1.0), 1));
        assert_eq!(choice.line, [choice.mv]);
        let won = player.moves().filter(|found| found.proven == Some(1)).count();
        assert_eq!(won, start.position().captures().len());
    }
}

/// Black has three pieces against one, but has just gone from a1 to a2 and back, as White has between
/// f6 and f5; what comes again ends the game.
#[test]
fn repetitions_end_lines_and_an_iteration_stops_there() {
    let rules = "olympiad,no-capture=3".parse().unwrap();
    let start = game(rules, "5w/6/6/6/6/b5 b 0 1", "");
    // Three plies without a capture, and one piece each: a draw, unless somebody captures.
    let mut descent = player(by(Method::Descent), even);
    let choice = descent.choose(&start, &simulations(1)).unwrap();
    // Root, reply, last move: three states opened by a single iteration.
    assert_eq!((choice.work.simulations, choice.work.depth), (1, 3));
    let opened: Vec<u32> = descent.states().map(|state| state.depth).collect();
    assert_eq!(opened, [0, 1, 2]);
    let last = descent.states().last().unwrap();
    assert!(last.proven.is_some());

    let once = game(OLYMPIAD, "5w/6/6/6/6/b5 b 0 1", "a1a2 f6f5 a2a1");
    let mut ubfm = player(by(Method::Ubfm), even);
    ubfm.choose(&once, &simulations(1)).unwrap();
    let back = ubfm.moves().find(|found| found.mv == mv("f5f6")).unwrap();
    assert_eq!((back.value, back.proven), (0.0, Some(0)));
    assert!(ubfm.moves().filter(|found| found.proven.is_some()).count() == 1);
}

/// White's only hope is the draw by repetition, which is proven without a single visit.
#[test]
fn a_proven_draw_is_taken_for_want_of_better() {
    fn bad_for_white(position: &Position) -> Outlook {
        outlook(if position.to_string().contains(" b ") { 0.25 } else { -0.25 })
    }
    fn good_for_white(position: &Position) -> Outlook {
        outlook(if position.to_string().contains(" b ") { -0.25 } else { 0.25 })
    }
    let once = game(OLYMPIAD, "5w/6/6/6/6/b5 b 0 1", "a1a2 f6f5 a2a1");
    for method in Method::ALL {
        let choice = player(by(method), bad_for_white).choose(&once, &simulations(8)).unwrap();
        assert_eq!((choice.mv, choice.value), (mv("f5f6"), Some(0.0)), "{method:?}");
    }
    let choice = player(by(Method::Ubfm), good_for_white).choose(&once, &simulations(8)).unwrap();
    assert_ne!(choice.mv, mv("f5f6"));
    assert_eq!(choice.value, Some(0.25));
}
