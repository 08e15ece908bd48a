use surakarta_game::{Color, MOVES, Move, Position, Variant};
use surakarta_net::{INPUTS, active, mover_move, policy_index};

use crate::twin::{dense_inputs, random_positions};

fn listed(position: &Position) -> Vec<u16> {
    active(position, &mut [0; INPUTS]).to_vec()
}

#[test]
fn lists_what_the_table_says() {
    for position in random_positions(20_000, 1) {
        let dense = dense_inputs(&position);
        let expected: Vec<u16> = (0..INPUTS as u16).filter(|&i| dense[i as usize] != 0.0).collect();
        assert_eq!(listed(&position), expected, "{position}");
    }
}

#[test]
fn the_extremes_fit() {
    let board = (1 << 36) - 1;
    for (black, white, quiet) in [(0, 0, 0), (1, 0, u16::MAX), (0xfff, board & !0xff_ffff, 44)] {
        for side in [Color::Black, Color::White] {
            let position = Position::new(Variant::Standard, black, white, side, quiet).unwrap();
            let dense = dense_inputs(&position);
            let expected: Vec<u16> =
                (0..INPUTS as u16).filter(|&i| dense[i as usize] != 0.0).collect();
            assert_eq!(listed(&position), expected, "{position}");
        }
    }
}

#[test]
fn white_sees_what_black_would_see_upside_down() {
    for position in random_positions(2_000, 2) {
        let turned = position.with_colors_exchanged().under(surakarta_game::Symmetry::FLIP_RANKS);
        assert_eq!(listed(&position), listed(&turned), "{position}");
        let index = |p: &Position, mv| policy_index(mv, p.side_to_move());
        for mv in position.moves() {
            let mirrored = mv.under(surakarta_game::Symmetry::FLIP_RANKS);
            assert_eq!(index(&position, mv), index(&turned, mirrored), "{mv} in {position}");
        }
    }
}

#[test]
fn policy_index_is_the_movers_move() {
    let mut seen = [false; MOVES];
    for index in 0..MOVES {
        let mv = Move::from_index(index).unwrap();
        assert_eq!(policy_index(mv, Color::Black), Some(index));
        let mirrored = mover_move(mv, Color::White);
        assert_eq!(mover_move(mirrored, Color::White), mv);
        let white = policy_index(mv, Color::White).unwrap();
        assert_eq!(Some(white), mirrored.index());
        assert!(!std::mem::replace(&mut seen[white], true));
    }
    let forward: Move = "a5a4".parse().unwrap();
    assert_eq!(mover_move(forward, Color::White).to_string(), "a2a3");
    let impossible: Move = "a1f6".parse().unwrap();
    assert_eq!(policy_index(impossible, Color::White), None);
}
