use surakarta_game::{Color, Move, Position, Symmetry, Variant};
use surakarta_net::{InputGroup, MAX_INPUTS, active, inputs, mover_move, policy_index, seen_as};

use crate::twin::{dense_inputs, dense_inputs_without, random_positions};

fn listed(position: &Position) -> Vec<u16> {
    active(position, &mut [0; MAX_INPUTS]).to_vec()
}

/// The inputs that are 1 by the slow twin.
fn expected(position: &Position) -> Vec<u16> {
    let dense = dense_inputs(position);
    (0..dense.len() as u16).filter(|&i| dense[i as usize] != 0.0).collect()
}

#[test]
fn there_are_as_many_as_the_board_asks_for() {
    let counts = Variant::ALL.map(inputs);
    assert_eq!(counts, [436, 436, 583, 583]);
    assert_eq!(MAX_INPUTS, 583);
}

#[test]
fn lists_what_the_table_says() {
    for variant in Variant::ALL {
        for position in random_positions(variant, 10_000, 1) {
            assert_eq!(listed(&position), expected(&position), "{position}");
        }
    }
}

#[test]
fn the_extremes_fit() {
    for variant in Variant::ALL {
        let start = Position::start(variant);
        let (black, white) = (start.pieces(Color::Black), start.pieces(Color::White));
        for (black, white, quiet) in [(0, 0, 0), (1, 0, u16::MAX), (white, black, 44)] {
            for side in [Color::Black, Color::White] {
                let position = Position::new(variant, black, white, side, quiet).unwrap();
                assert_eq!(listed(&position), expected(&position), "{position}");
            }
        }
    }
}

#[test]
fn blind_networks_take_inputs_for_others() {
    for variant in Variant::ALL {
        for position in random_positions(variant, 500, 3) {
            for blind in 0..16 {
                let groups = InputGroup::ALL.iter().enumerate();
                let blind_to = groups.filter(|(i, _)| blind >> i & 1 == 1);
                let without: Vec<_> = blind_to.map(|(_, &group)| group).collect();
                let mut seen = vec![0.0; inputs(variant)];
                for input in listed(&position) {
                    if let Some(as_input) = seen_as(variant, &without, input.into()) {
                        seen[as_input] += 1.0;
                    }
                }
                assert_eq!(seen, dense_inputs_without(&position, &without), "{without:?}");
            }
        }
    }
}

#[test]
fn white_sees_what_black_would_see_upside_down() {
    for variant in Variant::ALL {
        for position in random_positions(variant, 2_000, 2) {
            let turned = position.with_colors_exchanged().under(Symmetry::FLIP_RANKS);
            assert_eq!(listed(&position), listed(&turned), "{position}");
            let index = |p: &Position, mv| policy_index(variant, mv, p.side_to_move());
            for mv in position.moves() {
                let mirrored = mv.under(variant, Symmetry::FLIP_RANKS);
                assert_eq!(index(&position, mv), index(&turned, mirrored), "{mv} in {position}");
            }
        }
    }
}

#[test]
fn policy_index_is_the_movers_move() {
    for variant in Variant::ALL {
        let mut seen = vec![false; variant.moves()];
        for index in 0..variant.moves() {
            let mv = variant.move_at(index).unwrap();
            assert_eq!(policy_index(variant, mv, Color::Black), Some(index));
            let mirrored = mover_move(variant, mv, Color::White);
            assert_eq!(mover_move(variant, mirrored, Color::White), mv);
            let white = policy_index(variant, mv, Color::White).unwrap();
            assert_eq!(variant.move_at(white), Some(mirrored));
            assert!(!std::mem::replace(&mut seen[white], true));
        }
    }
    let forward: Move = "a5a4".parse().unwrap();
    assert_eq!(mover_move(Variant::Standard, forward, Color::White).to_string(), "a2a3");
    assert_eq!(mover_move(Variant::Sepur, forward, Color::White).to_string(), "a3a4");
    let impossible: Move = "a1f6".parse().unwrap();
    let long: Move = "g6g7".parse().unwrap();
    for color in [Color::Black, Color::White] {
        assert_eq!(policy_index(Variant::Standard, impossible, color), None);
        assert_eq!(policy_index(Variant::Standard, long, color), None);
        assert!(policy_index(Variant::Sepur, long, color).is_some());
    }
}
