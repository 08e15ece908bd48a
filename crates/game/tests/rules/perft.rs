use surakarta_game::{Position, Variant, perft, reference};

/// Rows of a table in `tests/data`: the position, then its numbers.
pub(crate) fn rows(text: &'static str) -> impl Iterator<Item = (Position, Vec<u64>)> {
    text.lines().skip(1).map(|line| {
        let (position, numbers) = line.split_once(',').expect("a row has two columns or more");
        let numbers = numbers.split(',').map(|n| n.parse().expect("a count")).collect();
        (position.parse().expect("a position"), numbers)
    })
}

pub(crate) fn position(text: &str) -> Position {
    text.parse().expect("a position")
}

fn slow_perft(position: &Position, depth: u32) -> u64 {
    let moves = reference::moves(position);
    if depth == 1 {
        return moves.len() as u64;
    }
    moves.into_iter().map(|mv| slow_perft(&position.after(mv), depth - 1)).sum()
}

const FROM_THE_START: [u64; 7] = [16, 256, 5_382, 111_122, 2_572_484, 58_479_230, 1_442_032_302];

#[test]
fn the_leaf_counts_from_the_start_are_known_to_depth_7() {
    for (leaves, depth) in FROM_THE_START.into_iter().zip(1..) {
        assert_eq!(perft(&Position::default(), depth), leaves, "depth {depth}");
    }
    assert_eq!(perft(&Position::default(), 0), 1);
}

#[test]
fn the_slow_twin_counts_the_same_leaves_from_the_start() {
    for (leaves, depth) in FROM_THE_START.into_iter().zip(1..=4) {
        assert_eq!(slow_perft(&Position::default(), depth), leaves, "depth {depth}");
    }
}

/// Both generators, which share no code, and a third in another language give these.
#[test]
fn the_leaf_counts_of_the_variants_are_known() {
    let known = [
        (Variant::Rural, [20, 380, 7_852, 159_482, 3_299_070, 67_231_682]),
        (Variant::Sepur, [19, 361, 8_873, 217_668, 6_051_117, 167_576_775]),
        (Variant::SepurOrthogonal, [7, 49, 609, 7_562, 101_809, 1_368_311]),
    ];
    for (variant, leaves) in known {
        let start = Position::start(variant);
        for (leaves, depth) in leaves.into_iter().zip(1..) {
            assert_eq!(perft(&start, depth), leaves, "{variant} at depth {depth}");
            if depth <= 3 {
                assert_eq!(slow_perft(&start, depth), leaves, "{variant} at depth {depth}");
            }
        }
    }
}

#[test]
fn all_reference_rows_hold_to_depth_5() {
    let mut checked = 0;
    for (position, leaves) in rows(include_str!("../data/perft.csv")) {
        for (leaves, depth) in leaves.into_iter().zip(1..) {
            assert_eq!(perft(&position, depth), leaves, "depth {depth} of {position}");
        }
        for depth in 1..=2 {
            assert_eq!(slow_perft(&position, depth), perft(&position, depth), "{position}");
        }
        checked += 1;
    }
    assert_eq!(checked, 120);
}

/// A piece that runs has left its start, so that point is empty to it: a piece on a crossing point
/// that comes round to that point goes on. If the start counted as occupied, perft from the start
/// would be the same to depth 5, and then 58,478,854 at depth 6 and 1,441,687,654 at depth 7; these
/// three positions would have 17 moves and no capture, 34 and 3, 26 and 3.
#[test]
fn the_start_of_a_run_counts_as_empty() {
    for (text, moves, captures) in [
        ("bb3b/1b2w1/6/b5/b3w1/w5 w 0 1", 19, 2),
        ("b5/1b1bb1/5b/1w4/ww4/w3b1 b 0 1", 35, 4),
        ("1w3b/b3bb/2b1bb/3w2/5w/2w2w b 0 1", 27, 4),
    ] {
        let position = position(text);
        assert_eq!((position.moves().len(), position.captures().len()), (moves, captures));
        let slow = (reference::moves(&position).len(), reference::captures(&position).len());
        assert_eq!(slow, (moves, captures), "{text}");
    }
}
