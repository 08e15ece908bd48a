use std::collections::HashSet;

use surakarta_game::{
    Color, Loops, MAX_MOVES, Move, Point, Position, Survey, Variant, points, reference,
};

use crate::perft::{position, rows};
use crate::sources::{all_pairs, board, hemmed_in, positions_of_all, stream};

fn sorted(mut moves: Vec<Move>) -> Vec<Move> {
    moves.sort();
    moves
}

/// A survey by walking away from each loop both ways.
fn survey(position: &Position) -> Survey {
    let variant = position.variant();
    let steps = |position: &Position| {
        let moves = reference::moves(position);
        let next_to = |mv: &&Move| {
            let files = mv.from().file().abs_diff(mv.to().file());
            let ranks = mv.from().rank().abs_diff(mv.to().rank());
            let diagonals = matches!(variant, Variant::Standard | Variant::Sepur);
            if diagonals { files.max(ranks) == 1 } else { files + ranks == 1 }
        };
        moves.iter().filter(|mv| !position.is_capture(**mv)).filter(next_to).count() as u32
    };
    let mut loops = Loops {
        after: [Loops::BEYOND; 8],
        before: [Loops::BEYOND; 8],
        own: 0,
        enemy: 0,
        captures: !reference::captures(position).is_empty(),
    };
    for n in 0..8 {
        let circuit: Vec<Point> = variant.circuit(n / 4).collect();
        let start = n % 4 * variant.size();
        let nearest = |forward: bool| {
            (0..circuit.len()).find_map(|free| {
                let stop = if forward { start + free } else { start + circuit.len() - 1 - free };
                let color = position.color_at(circuit[stop % circuit.len()])?;
                Some((free, color == position.side_to_move()))
            })
        };
        let (Some(after), Some(before)) = (nearest(true), nearest(false)) else { continue };
        let within = |free: usize| if free < variant.size() { free as u8 } else { Loops::BEYOND };
        (loops.after[n], loops.before[n]) = (within(after.0), within(before.0));
        loops.own |= ((after.1 && before.1) as u8) << n;
        loops.enemy |= ((!after.1 && !before.1) as u8) << n;
    }
    Survey { steps: [steps(position), steps(&position.with_other_side_to_move())], loops }
}

/// All that the fast generator says about a position, against the slow one.
fn compare(position: &Position) {
    let moves = sorted(reference::moves(position));
    let captures = sorted(reference::captures(position));
    assert_eq!(sorted(position.moves()), moves, "{position}");
    assert_eq!(sorted(position.captures()), captures, "{position}");
    assert_eq!(position.count_moves(), moves.len() as u64, "{position}");
    let listed = position.moves();
    for n in 0..=listed.len() {
        assert_eq!(position.nth_move(n as u64), listed.get(n).copied(), "{n} of {position}");
    }
    assert_eq!(position.nth_move(u64::MAX), None);
    assert_eq!(position.has_move(), !moves.is_empty(), "{position}");
    assert_eq!(position.has_capture(), !captures.is_empty(), "{position}");
    assert_eq!(position.attacks(), reference::attacks(position), "{position}");
    assert_eq!(position.survey(), survey(position), "{position}");
    let mut quiet = Vec::new();
    position.for_each_quiet_move(|mv| quiet.push(mv));
    assert!(quiet.iter().all(|mv| !captures.contains(mv)), "{position}");
    assert_eq!(quiet.len() + captures.len(), moves.len(), "{position}");
    for &mv in &moves {
        assert!(position.variant().move_index(mv).is_some(), "{mv} in {position}");
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
    for position in positions_of_all(1, 10_000) {
        compare(&position);
        compare(&position.with_other_side_to_move());
    }
}

#[test]
fn pieces_without_a_step_still_capture() {
    let mut rng = stream(23);
    for variant in Variant::ALL {
        let mut only_captures = 0;
        for _ in 0..1_000 {
            let position = hemmed_in(variant, &mut rng);
            compare(&position);
            let (moves, captures) = (position.moves().len(), position.captures().len());
            only_captures += usize::from(moves == captures && moves > 0);
        }
        assert!(only_captures > 20, "{variant}: {only_captures}");
    }
}

#[test]
fn exactly_the_listed_moves_are_legal() {
    for position in positions_of_all(2, 500) {
        let moves = sorted(reference::moves(&position));
        for mv in all_pairs(position.variant()) {
            let listed = moves.binary_search(&mv).is_ok();
            assert_eq!(position.is_legal(mv), listed, "{mv} in {position}");
        }
    }
}

#[test]
fn a_move_changes_what_the_rules_say_and_nothing_else() {
    for position in positions_of_all(3, 1_000) {
        let (own, enemy) = (position.side_to_move(), position.side_to_move().other());
        for mv in position.moves() {
            let next = position.after(mv);
            assert_eq!(next.color_at(mv.from()), None);
            assert_eq!(next.color_at(mv.to()), Some(own));
            for point in board(position.variant()).filter(|p| ![mv.from(), mv.to()].contains(p)) {
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

/// Every pair that some position allows: a lone piece goes where it can, and takes one lone enemy.
#[test]
fn the_index_numbers_what_the_geometry_allows() {
    let expected = [
        (Variant::Standard, 220, 704, 768),
        (Variant::Rural, 444, 704, 736),
        (Variant::Sepur, 312, 1_048, 1_208),
        (Variant::SepurOrthogonal, 168, 1_048, 1_120),
    ];
    for (variant, quiet, captures, all) in expected {
        let mut found = [HashSet::new(), HashSet::new()];
        for from in board(variant) {
            for to in board(variant).filter(|&to| to != from) {
                let lone = |white: u64| {
                    Position::new(variant, from.bit(), white, Color::Black, 0).expect("two pieces")
                };
                found[0].extend(reference::moves(&lone(0)));
                found[1].extend(reference::captures(&lone(to.bit())));
            }
        }
        assert_eq!(found.each_ref().map(HashSet::len), [quiet, captures], "{variant}");
        let union: HashSet<Move> = found[0].union(&found[1]).copied().collect();
        assert_eq!((union.len(), variant.moves()), (all, all), "{variant}");

        let is_indexed = |mv: &Move| variant.move_index(*mv).is_some();
        assert_eq!(all_pairs(variant).filter(is_indexed).collect::<HashSet<Move>>(), union);
        let moves: Vec<Move> = (0..all).filter_map(|index| variant.move_at(index)).collect();
        assert!(moves.is_sorted(), "by start, then target");
        for (index, mv) in moves.into_iter().enumerate() {
            assert_eq!(variant.move_index(mv), Some(index));
        }
        assert_eq!([all, usize::MAX].map(|index| variant.move_at(index)), [None, None]);
    }
    assert_eq!(Variant::ALL.map(Variant::moves).into_iter().max(), Some(MAX_MOVES));
}

/// The corners; on the larger board also the ends of its middle lines, and its centre.
#[test]
fn a_piece_on_no_circuit_neither_captures_nor_is_captured() {
    let of_6 = ["a1", "a6", "f1", "f6"];
    let of_7 = ["a1", "a4", "a7", "d1", "d4", "d7", "g1", "g4", "g7"];
    for variant in Variant::ALL {
        let names = if variant.size() == 6 { &of_6[..] } else { &of_7[..] };
        let circuits: HashSet<Point> = variant.circuit(0).chain(variant.circuit(1)).collect();
        let none: HashSet<Point> = board(variant).filter(|p| !circuits.contains(p)).collect();
        let named: HashSet<Point> = names.iter().map(|n| n.parse().expect("a point")).collect();
        assert_eq!(none, named);
    }
    for position in positions_of_all(4, 1_000) {
        let variant = position.variant();
        let circuits: HashSet<Point> = variant.circuit(0).chain(variant.circuit(1)).collect();
        for mv in position.captures() {
            assert!(circuits.contains(&mv.from()) && circuits.contains(&mv.to()), "{position}");
        }
        let attacked = position.attacks()[0] | position.attacks()[1];
        assert!(points(attacked).all(|point| circuits.contains(&point)), "{position}");
    }
}

#[test]
fn a_capture_is_possible_one_way_alone() {
    let one_way = positions_of_all(5, 2_000).into_iter().any(|position| {
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

#[test]
fn a_piece_of_the_rural_game_slides_along_the_outer_circuit() {
    let targets = |text: &str, from: &str| {
        let moves = position(text).moves();
        let from_here = moves.iter().map(Move::to_string).filter(|mv| mv.starts_with(from));
        let mut targets: Vec<String> = from_here.map(|mv| mv[2..].to_owned()).collect();
        targets.sort();
        targets.join(" ")
    };
    // Alone, it comes to each of the 19 other points of the outer circuit, and steps off it to a2.
    assert_eq!(targets("6/6/6/b5/6/6 b 0 1 rural", "a3").split(' ').count(), 20);
    // It stops at the first piece either way, and takes an enemy behind a loop.
    assert_eq!(targets("6/6/6/b1w3/6/2w3 b 0 1 rural", "a3"), "a2 a4 b3 c1");
    assert_eq!(targets("6/6/6/bw4/2b3/6 b 0 1 rural", "a3"), "a2 a4 c1");
    assert_eq!(targets("6/6/6/bb4/6/2b3 b 0 1 rural", "a3"), "a2 a4");
    // A piece beside the circuit steps onto it, no further.
    assert_eq!(targets("6/6/6/6/b5/6 b 0 1 rural", "a2"), "a1 a3 b2");
}

#[test]
fn steps_are_straight_where_the_variant_has_no_diagonals() {
    for (variant, steps) in [("standard", 8), ("rural", 4), ("sepur", 8), ("sepur,diagonals=no", 4)]
    {
        let variant: Variant = variant.parse().expect("a variant");
        let b2: Point = "b2".parse().expect("a point");
        let lone = Position::new(variant, b2.bit(), 0, Color::Black, 0).expect("a piece");
        assert_eq!(lone.moves().len(), steps, "b2 lies on the inner circuit alone");
    }
}

/// As many as were ever found; each of the eight loops gives two at most.
#[test]
fn a_position_can_have_sixteen_captures() {
    for (text, captures) in [
        ("w1b2w/1bw1b1/wwwb2/2b1wb/1b1wb1/6 b 0 1", 14),
        ("w2b2b/1b1w1b1/2bwb2/bwwwwww/2bwb2/1b1w1b1/w5b b 0 1 sepur", 16),
    ] {
        let position = position(text);
        assert_eq!(position.captures().len(), captures);
        compare(&position);
    }
}
