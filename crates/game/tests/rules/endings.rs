use surakarta_game::{
    AGREEMENT, CONTEST, Color, Ending, Game, GameResult, IllegalMove, Move, NO_REPEAT, OLYMPIAD,
    Outcome, Position, Repetition, RuleSet, THREEFOLD, reference,
};

use crate::perft::position;
use crate::sources::{limited, positions};

/// Both sides step out and back: after these four plies the start has occurred again.
const SHUFFLE: [&str; 4] = ["b2b3", "b5b4", "b3b2", "b4b5"];

fn mv(text: &str) -> Move {
    text.parse().expect("a move")
}

/// The result of a game after moves that are all legal.
fn played(rules: RuleSet, start: Position, moves: &[&str]) -> Option<GameResult> {
    let mut game = Game::from_position(rules, start);
    for text in moves {
        game.play(mv(text)).expect("a legal move");
    }
    game.result()
}

fn ending(rules: RuleSet, start: &str, moves: &[&str]) -> Option<Ending> {
    played(rules, position(start), moves).map(|result| result.ending)
}

const START: &str = "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1";
/// White's only piece is shut in its corner, where nobody can take it.
const SHUT_IN: &str = "wb4/bb4/6/6/6/6";

#[test]
fn the_named_rule_sets_are_those_of_the_table() {
    let table = [
        (OLYMPIAD, Repetition::Ends(2), Some(50), None, false, false),
        (THREEFOLD, Repetition::Ends(3), Some(100), None, false, false),
        (NO_REPEAT, Repetition::Illegal, Some(50), None, false, false),
        (CONTEST, Repetition::Allowed, Some(40), None, true, false),
        (AGREEMENT, Repetition::Allowed, None, Some(1_000), false, true),
    ];
    for (rules, repetition, no_capture, ply_cap, snapshot, agreement) in table {
        assert_eq!(rules.repetition, repetition, "{rules}");
        assert_eq!(rules.no_capture, no_capture, "{rules}");
        assert_eq!(rules.ply_cap, ply_cap, "{rules}");
        assert_eq!(rules.ends_without_captures, snapshot, "{rules}");
        assert_eq!(rules.by_agreement, agreement, "{rules}");
    }
}

#[test]
fn a_side_without_pieces_has_lost_under_every_rule_set() {
    for rules in RuleSet::ALL {
        // a2 runs round the loop and takes the last piece.
        let won =
            Some(GameResult { ending: Ending::CapturedAll, outcome: Outcome::Win(Color::Black) });
        assert_eq!(played(rules, position("6/6/6/6/b5/4w1 b 0 1"), &["a2e1"]), won);
        assert_eq!(played(rules, position("6/6/6/6/b5/6 b 0 1"), &[]), won);
        assert_eq!(played(rules, position("6/6/6/6/b5/6 w 0 1"), &[]), won);
        let nobody = Some(GameResult { ending: Ending::CapturedAll, outcome: Outcome::Draw });
        assert_eq!(played(rules, position("6/6/6/6/6/6 b 0 1"), &[]), nobody);
    }
}

#[test]
fn a_second_or_third_occurrence_ends_the_game() {
    let start = Position::default();
    let draw = Some(GameResult { ending: Ending::Repetition, outcome: Outcome::Draw });
    let twice = [SHUFFLE, SHUFFLE].concat();
    assert_eq!(played(OLYMPIAD, start, &SHUFFLE[..3]), None);
    assert_eq!(played(OLYMPIAD, start, &SHUFFLE), draw);
    assert_eq!(played(THREEFOLD, start, &twice[..7]), None);
    assert_eq!(played(THREEFOLD, start, &twice), draw);
    for rules in [CONTEST, AGREEMENT] {
        assert_eq!(played(rules, start, &twice), None);
    }
}

#[test]
fn repetition_counts_pieces() {
    let result =
        played(OLYMPIAD, position("w5/6/6/6/6/bb4 b 0 1"), &["a1a2", "a6a5", "a2a1", "a5a6"]);
    let win = GameResult { ending: Ending::Repetition, outcome: Outcome::Win(Color::Black) };
    assert_eq!(result, Some(win));
}

#[test]
fn occurrences_count_the_side_to_move_and_nothing_before_the_start() {
    // The start says that it has been quiet for longer than the game has lasted.
    let start = position("wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 30 100");
    let mut game = Game::from_position(AGREEMENT, start);
    for round in 1..=3 {
        assert_eq!(game.occurrences(), round);
        for text in SHUFFLE {
            game.play(mv(text)).expect("a legal move");
        }
    }
    // The same pieces again, but White has needed two moves where Black needed three.
    let mut game = Game::from_position(AGREEMENT, position("ww4/6/6/6/6/2b3 b 0 1"));
    for text in ["c1c2", "a6a5", "c2d1", "a5a6", "d1c1"] {
        game.play(mv(text)).expect("a legal move");
    }
    assert_eq!(game.position().occupied(), game.start().occupied());
    assert_eq!(game.occurrences(), 1, "another side is to move");
}

#[test]
fn occurrences_are_counted_beyond_the_last_number_of_a_counter() {
    let mut game = Game::new(limited(AGREEMENT, None, None));
    let rounds = u16::MAX as usize / SHUFFLE.len() + 2;
    for text in SHUFFLE.iter().cycle().take(rounds * SHUFFLE.len()) {
        game.play_legal(mv(text));
    }
    assert_eq!(game.occurrences() as usize, rounds + 1);
    assert_eq!(game.position().to_string(), "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 65535 32768");
}

#[test]
fn plies_without_a_capture_end_the_game() {
    let five = limited(CONTEST, Some(5), None);
    assert_eq!(played(five, Position::default(), &SHUFFLE), None);
    let draw = Some(GameResult { ending: Ending::NoProgress, outcome: Outcome::Draw });
    let moves = [&SHUFFLE[..], &SHUFFLE[..1]].concat();
    assert_eq!(played(five, Position::default(), &moves), draw);
    // A start that has been quiet for long enough is over at once.
    assert_eq!(ending(OLYMPIAD, "w5/6/6/6/6/b5 b 49 40", &[]), None);
    assert_eq!(ending(OLYMPIAD, "w5/6/6/6/6/b5 b 49 40", &["a1a2"]), Some(Ending::NoProgress));
    assert_eq!(ending(OLYMPIAD, "w5/6/6/6/6/b5 b 50 40", &[]), Some(Ending::NoProgress));
}

#[test]
fn a_side_without_a_move_ends_the_game_and_pieces_count() {
    for rules in [OLYMPIAD, THREEFOLD, NO_REPEAT, AGREEMENT] {
        let result = played(rules, position(&format!("{SHUT_IN} w 0 1")), &[]);
        let win = GameResult { ending: Ending::NoMoves, outcome: Outcome::Win(Color::Black) };
        assert_eq!(result, Some(win), "{rules}");
        assert_eq!(ending(rules, &format!("{SHUT_IN} b 0 1"), &[]), None, "{rules}");
    }
}

#[test]
fn the_cap_counts_plies_from_the_move_number() {
    let capped = limited(AGREEMENT, None, Some(3));
    assert_eq!(ending(capped, START, &SHUFFLE[..2]), None);
    assert_eq!(ending(capped, START, &SHUFFLE[..3]), Some(Ending::PlyCap));
    let late = "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 2";
    assert_eq!(ending(capped, late, &SHUFFLE[..1]), Some(Ending::PlyCap));
}

#[test]
fn contest_ends_once_a_piece_is_gone_and_no_side_has_a_capture() {
    assert!(!Position::default().has_capture());
    assert_eq!(ending(CONTEST, START, &[]), None, "24 pieces: nothing is gone");
    let one_less = "wwwww1/wwwwww/6/6/bbbbbb/bbbbbb b 0 1";
    let result = played(CONTEST, position(one_less), &[]);
    let win = GameResult { ending: Ending::NoCaptureLeft, outcome: Outcome::Win(Color::Black) };
    assert_eq!(result, Some(win));
    // Whose turn it is does not matter: where one side alone has a capture, the game goes on.
    let contest = limited(CONTEST, None, None);
    let mut one_sided = 0;
    for position in positions(40, 2_000) {
        let other = position.with_other_side_to_move();
        if position.has_capture() && !other.has_capture() && position.has_move() && other.has_move()
        {
            assert_eq!([position, other].map(|start| played(contest, start, &[])), [None, None]);
            one_sided += 1;
        }
    }
    assert!(one_sided > 0);
    for rules in [OLYMPIAD, THREEFOLD, NO_REPEAT, AGREEMENT] {
        assert_eq!(ending(rules, one_less, &[]), None, "{rules}");
    }
}

#[test]
fn where_endings_coincide_the_order_decides() {
    use Ending::*;
    // All pieces taken on the ply of the cap, in a position without a move or capture for either.
    let capped = |rules, plies| limited(rules, Some(50), Some(plies));
    assert_eq!(ending(capped(CONTEST, 1), "6/6/6/6/b5/4w1 b 0 1", &["a2e1"]), Some(CapturedAll));
    assert_eq!(ending(capped(OLYMPIAD, 1), "6/6/6/6/b5/6 w 99 99", &[]), Some(CapturedAll));

    // Nothing to take, 40 plies without a capture, no move, and the cap.
    let shut_in = format!("{SHUT_IN} w 50 9");
    assert_eq!(ending(capped(CONTEST, 1), &shut_in, &[]), Some(NoCaptureLeft));

    // The start again, four plies without a capture, and the cap.
    let four = limited(OLYMPIAD, Some(4), Some(4));
    assert_eq!(ending(four, START, &SHUFFLE), Some(Repetition));
    assert_eq!(ending(limited(THREEFOLD, Some(4), Some(4)), START, &SHUFFLE), Some(NoProgress));
    assert_eq!(ending(limited(THREEFOLD, None, Some(4)), START, &SHUFFLE), Some(PlyCap));

    // No move, 50 plies without a capture, and the cap.
    assert_eq!(ending(capped(OLYMPIAD, 1), &shut_in, &[]), Some(NoProgress));
    assert_eq!(ending(limited(OLYMPIAD, None, Some(1)), &shut_in, &[]), Some(NoMoves));
    assert_eq!(ending(limited(OLYMPIAD, None, Some(1)), START, &["a2a3"]), Some(PlyCap));
}

#[test]
fn no_repeat_forbids_the_moves_that_repeat() {
    let mut game = Game::new(NO_REPEAT);
    for text in &SHUFFLE[..3] {
        game.play(mv(text)).expect("a legal move");
    }
    let back = mv(SHUFFLE[3]);
    assert!(game.position().is_legal(back) && game.repeats(&game.position().after(back)));
    assert!(!game.legal_moves().contains(&back));
    assert_eq!(game.legal_moves().len(), game.position().moves().len() - 1);
    let before = game.positions().to_vec();
    assert_eq!(game.play(back), Err(IllegalMove::Repeats(back)));
    assert_eq!(game.positions(), before);
    game.play(mv("b4c5")).expect_err("occupied");
    game.play(mv("b4c4")).expect("another way is legal");
}

#[test]
fn no_repeat_can_leave_a_side_without_a_move() {
    // White's only piece has two points to stand on; the second time round it may not step back.
    let start = position("5b/6/6/1bbbb1/1bw1b1/1bbbb1 b 0 1");
    let mut game = Game::from_position(NO_REPEAT, start);
    for text in ["f6f5", "c2d2", "f5f6"] {
        assert_eq!(game.result(), None);
        game.play(mv(text)).expect("a legal move");
    }
    assert_eq!(game.position().moves(), [mv("d2c2")]);
    let win = GameResult { ending: Ending::NoMoves, outcome: Outcome::Win(Color::Black) };
    assert_eq!(game.result(), Some(win));
    assert_eq!(reference::result(&NO_REPEAT, game.positions()), Some(win));
}

#[test]
fn a_game_refuses_what_is_illegal_and_stays_as_it_was() {
    let mut game = Game::new(OLYMPIAD);
    for text in ["a1a2", "a2a4", "a5a4", "a3a4", "a1a1", "b1b6"] {
        let error = game.play(mv(text)).expect_err(text);
        assert_eq!(error, IllegalMove::Illegal(mv(text), Position::default()));
    }
    assert_eq!((game.moves().len(), game.positions().len(), game.result()), (0, 1, None));
    game.forfeit(Color::White, Ending::Resignation);
    let error = game.play(mv("a2a3")).expect_err("the game is over");
    assert_eq!(error, IllegalMove::GameOver(mv("a2a3"), Ending::Resignation));
    assert!(game.legal_moves().is_empty());
}

#[test]
fn a_game_can_end_beyond_the_board_once() {
    let mut game = Game::new(AGREEMENT);
    game.play(mv("a2a3")).expect("a legal move");
    game.forfeit(Color::Black, Ending::Time);
    let lost = GameResult { ending: Ending::Time, outcome: Outcome::Win(Color::White) };
    assert_eq!(game.result(), Some(lost));
    game.end(Ending::Agreement, Outcome::by_count(game.position()));
    assert_eq!(game.result(), Some(lost), "the first reason stands");
    assert_eq!(game.undo(), Some(mv("a2a3")));
    assert_eq!((game.result(), game.undo()), (None, None));
    game.end(Ending::Agreement, Outcome::by_count(game.position()));
    let counted = GameResult { ending: Ending::Agreement, outcome: Outcome::Draw };
    assert_eq!(game.result(), Some(counted));
}

#[test]
fn a_start_that_is_over_stays_over() {
    let mut game = Game::from_position(OLYMPIAD, position("6/6/6/6/b5/6 w 0 1"));
    let result = game.result();
    assert!(result.is_some() && game.legal_moves().is_empty());
    assert_eq!(game.undo(), None);
    assert_eq!(game.result(), result);
}

#[test]
fn outcomes_have_a_value_for_either_side() {
    let count = |text: &str| Outcome::by_count(&position(text));
    assert_eq!(count("ww4/6/6/6/6/b5 b 0 1"), Outcome::Win(Color::White));
    assert_eq!(count("w5/6/6/6/6/bb4 w 0 1"), Outcome::Win(Color::Black));
    assert_eq!(count("ww4/6/6/6/6/bb4 w 0 1"), Outcome::Draw);
    for color in [Color::Black, Color::White] {
        assert_eq!(Outcome::Win(color).value_for(color), 1);
        assert_eq!(Outcome::Win(color).value_for(color.other()), -1);
        assert_eq!(Outcome::Draw.value_for(color), 0);
    }
}
