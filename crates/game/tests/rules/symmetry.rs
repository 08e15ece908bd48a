use std::collections::HashSet;

use surakarta_game::{Color, Move, Point, Position, Symmetry, Variant};

use crate::sources::{board, positions_of_all};

#[test]
fn the_symmetries_are_the_eight_of_the_square() {
    for variant in Variant::ALL {
        let image = |symmetry: &Symmetry| -> Vec<Point> {
            board(variant).map(|p| symmetry.point(variant, p)).collect()
        };
        let images: HashSet<Vec<Point>> = Symmetry::ALL.iter().map(image).collect();
        assert_eq!(images.len(), 8);
        for symmetry in Symmetry::ALL {
            assert_eq!(Symmetry::ALL[symmetry.index()], symmetry);
            for point in board(variant) {
                let moved = symmetry.point(variant, point);
                assert!(variant.board() & moved.bit() != 0, "on the board");
                assert_eq!(symmetry.set(variant, point.bit()), moved.bit());
                assert_eq!(symmetry.inverse().point(variant, moved), point);
                // Neighbours stay neighbours: files and ranks are as far apart as before.
                for other in board(variant) {
                    let distance = |a: Point, b: Point| {
                        a.file().abs_diff(b.file()).pow(2) + a.rank().abs_diff(b.rank()).pow(2)
                    };
                    let moved = distance(moved, symmetry.point(variant, other));
                    assert_eq!(moved, distance(point, other));
                }
            }
        }
    }
    let point = |text: &str| text.parse::<Point>().expect("a point");
    for (variant, file, rank) in [(Variant::Standard, "e1", "b6"), (Variant::Sepur, "f1", "b7")] {
        assert_eq!(Symmetry::IDENTITY.point(variant, point("b1")), point("b1"));
        assert_eq!(Symmetry::FLIP_FILES.point(variant, point("b1")), point(file));
        assert_eq!(Symmetry::FLIP_RANKS.point(variant, point("b1")), point(rank));
    }
    // A point beside the board stays where it is, and no set has it.
    assert_eq!(Symmetry::FLIP_FILES.point(Variant::Standard, point("g1")), point("g1"));
    assert_eq!(Symmetry::IDENTITY.set(Variant::Standard, u64::MAX), Variant::Standard.board());
}

#[test]
fn move_generation_commutes_with_the_symmetries() {
    for position in positions_of_all(10, 1_000) {
        for symmetry in Symmetry::ALL {
            let turned = position.under(symmetry);
            let fast: HashSet<Move> = turned.moves().into_iter().collect();
            let moved: HashSet<Move> = position
                .moves()
                .into_iter()
                .map(|mv| mv.under(position.variant(), symmetry))
                .collect();
            assert_eq!(fast, moved, "{position}");
            assert_eq!(
                turned.attacks(),
                position.attacks().map(|set| symmetry.set(position.variant(), set))
            );
            assert_eq!(turned.under(symmetry.inverse()), position);
            for mv in position.moves() {
                let after = position.after(mv).under(symmetry);
                assert_eq!(turned.after(mv.under(position.variant(), symmetry)), after);
            }
        }
    }
}

#[test]
fn each_symmetry_permutes_the_move_index() {
    for variant in Variant::ALL {
        for symmetry in Symmetry::ALL {
            let images: HashSet<usize> = (0..variant.moves())
                .map(|index| {
                    let mv = variant.move_at(index).expect("below the number of moves");
                    let moved = mv.under(variant, symmetry);
                    variant.move_index(moved).expect("symmetries keep the geometry")
                })
                .collect();
            assert_eq!(images.len(), variant.moves());
        }
    }
}

#[test]
fn the_colours_are_interchangeable() {
    for position in positions_of_all(11, 1_000) {
        let exchanged = position.with_colors_exchanged();
        assert_eq!(exchanged.moves(), position.moves());
        let [black, white] = position.attacks();
        assert_eq!(exchanged.attacks(), [white, black]);
        assert_eq!(exchanged.with_colors_exchanged(), position);
        assert_eq!(exchanged.pieces(Color::Black), position.pieces(Color::White));
        assert_eq!(exchanged.own(), position.own());
        assert_eq!(exchanged.enemy(), position.enemy());
    }
    // Turned and exchanged, the start is itself, but for the side to move.
    for start in Variant::ALL.map(Position::start) {
        let turned = start.with_colors_exchanged().under(Symmetry::FLIP_RANKS);
        assert_eq!(turned, start.with_other_side_to_move());
    }
}
