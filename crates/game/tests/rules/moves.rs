use std::collections::HashSet;

use surakarta_game::{Color, MOVES, Move, Point, Position, Variant, points, reference};

use crate::perft::{position, rows};
use crate::sources::positions;

fn sorted(mut moves: Vec<Move>) -> Vec<Move> {
    moves.sort();
    moves
}

fn all_pairs() -> impl Iterator<Item = Move> {
    Point::all().flat_map(|from| Point::all().map(move |to| Move::new(from, to)))
}

/// All that the fast generator says about a position, against the slow one.
fn compare(position: &Position) {
    let moves = sorted(reference::moves(position));
    let captures = sorted(reference::captures(position));
    assert_eq!(sorted(position.moves()), moves, "{position}");
    assert_eq!(sorted(position.captures()), captures, "{position}");
    assert_eq!(position.count_moves(), moves.len() as u64, "{position}");
    assert_eq!(position.has_move(), !moves.is_empty(), "{position}");
    assert_eq!(position.has_capture(), !captures.is_empty(), "{position}");
    assert_eq!(position.attacks(), reference::attacks(position), "{position}");
    for &mv in &moves {
        assert!(mv.index().is_some(), "{mv} in {position} has an index");
        assert_eq!(position.is_capture(mv), captures.binary_search(&mv).is_ok(), "{mv}");
    }
}

#[test]
fn all_reference_positions_have_the_listed_moves_and_captures() {
    let mut checked = 0;
    for (position, counts) in rows(include_str!("../data/positions.csv")) {
        let fast = [position.moves().len(), position.captures().len()];
        let slow = [reference::moves(&position).len(), reference::captures(&position).len()];
        assert_eq!(fast.map(|n| n as u64).as_slice(), counts, "{position}");
        assert_eq!(slow, fast, "{position}");
        checked += 1;
    }
    assert_eq!(checked, 4_000);
}

#[test]
fn the_generator_and_its_slow_twin_agree_on_thousands_of_positions() {
    for position in positions(1, 20_000) {
        compare(&position);
        compare(&position.with_other_side_to_move());
    }
}

#[test]
fn exactly_the_listed_moves_are_legal() {
    for position in positions(2, 1_000) {
        let moves = sorted(reference::moves(&position));
        for mv in all_pairs() {
            let listed = moves.binary_search(&mv).is_ok();
            assert_eq!(position.is_legal(mv), listed, "{mv} in {position}");
        }
    }
}

#[test]
fn a_move_changes_what_the_rules_say_and_nothing_else() {
    for position in positions(3, 2_000) {
        let (own, enemy) = (position.side_to_move(), position.side_to_move().other());
        for mv in position.moves() {
            let next = position.after(mv);
            assert_eq!(next.color_at(mv.from()), None);
            assert_eq!(next.color_at(mv.to()), Some(own));
            for point in Point::all().filter(|p| ![mv.from(), mv.to()].contains(p)) {
                assert_eq!(next.color_at(point), position.color_at(point), "{mv} in {position}");
            }
            let taken = position.is_capture(mv);
            assert_eq!(next.count(own), position.count(own));
            assert_eq!(next.count(enemy), position.count(enemy) - taken as u32);
            assert_eq!(next.quiet_plies(), if taken { 0 } else { position.quiet_plies() + 1 });
            assert_eq!(next.ply(), position.ply() + 1);
            assert_eq!(next.side_to_move(), enemy);
            assert_eq!(next.to_string().parse(), Ok(next), "a move leads to a valid position");
        }
    }
}

#[test]
fn steps_and_captures_make_768_pairs_and_the_index_numbers_them() {
    // Every pair that some position allows: a lone piece steps, and takes one lone enemy.
    let mut steps = HashSet::new();
    let mut captures = HashSet::new();
    for from in Point::all() {
        for to in Point::all().filter(|&to| to != from) {
            let lone = |white: u64| {
                Position::new(Variant::Standard, from.bit(), white, Color::Black, 0)
                    .expect("two pieces")
            };
            steps.extend(reference::moves(&lone(0)));
            captures.extend(reference::captures(&lone(to.bit())));
        }
    }
    assert_eq!((steps.len(), captures.len()), (220, 704));
    let union: HashSet<Move> = steps.union(&captures).copied().collect();
    assert_eq!(union.len(), MOVES);

    let indexed: HashSet<Move> = all_pairs().filter(|mv| mv.index().is_some()).collect();
    assert_eq!(indexed, union);
    for index in 0..MOVES {
        let mv = Move::from_index(index).expect("an index below MOVES");
        assert_eq!(mv.index(), Some(index));
    }
    assert_eq!(Move::from_index(MOVES), None);
    assert_eq!(Move::from_index(usize::MAX), None);
}

#[test]
fn a_corner_piece_neither_captures_nor_is_captured() {
    let corners = ["a1", "a6", "f1", "f6"].map(|text| text.parse::<Point>().expect("a point"));
    for position in positions(4, 2_000) {
        for mv in position.captures() {
            assert!(!corners.contains(&mv.from()) && !corners.contains(&mv.to()), "{position}");
        }
        let attacked = position.attacks()[0] | position.attacks()[1];
        assert!(points(attacked).all(|point| !corners.contains(&point)), "{position}");
    }
}

#[test]
fn a_capture_is_possible_one_way_alone() {
    let one_way = positions(5, 5_000).into_iter().any(|position| {
        let back = position.with_other_side_to_move();
        position.captures().iter().any(|mv| !back.is_legal(Move::new(mv.to(), mv.from())))
    });
    assert!(one_way, "A can take B without B being able to take A");
}

#[test]
fn two_routes_to_one_target_are_one_move() {
    // a2 and e1 are the only pieces of the inner circuit: either way round leads to the other.
    let position = position("6/6/6/6/b5/4w1 b 0 1");
    let captures = position.captures();
    assert_eq!(captures.len(), 1);
    assert_eq!(captures[0].to_string(), "a2e1");
}
