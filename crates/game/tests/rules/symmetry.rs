use std::collections::HashSet;

use surakarta_game::{Color, MOVES, Move, Point, Position, Symmetry, Variant};

use crate::sources::positions;

#[test]
fn the_symmetries_are_the_eight_of_the_square() {
    let images: HashSet<Vec<usize>> = Symmetry::ALL
        .iter()
        .map(|symmetry| Point::all().map(|p| symmetry.point(p).index()).collect())
        .collect();
    assert_eq!(images.len(), 8);
    for symmetry in Symmetry::ALL {
        assert_eq!(Symmetry::ALL[symmetry.index()], symmetry);
        for point in Point::all() {
            assert_eq!(symmetry.inverse().point(symmetry.point(point)), point);
            // Neighbours stay neighbours: files and ranks are as far apart as before.
            for other in Point::all() {
                let distance = |a: Point, b: Point| {
                    a.file().abs_diff(b.file()).pow(2) + a.rank().abs_diff(b.rank()).pow(2)
                };
                let moved = distance(symmetry.point(point), symmetry.point(other));
                assert_eq!(moved, distance(point, other));
            }
        }
    }
    let point = |text: &str| text.parse::<Point>().expect("a point");
    assert_eq!(Symmetry::IDENTITY.point(point("b1")), point("b1"));
    assert_eq!(Symmetry::FLIP_FILES.point(point("b1")), point("e1"));
    assert_eq!(Symmetry::FLIP_RANKS.point(point("b1")), point("b6"));
}

#[test]
fn move_generation_commutes_with_the_symmetries() {
    for position in positions(10, 2_000) {
        for symmetry in Symmetry::ALL {
            let turned = position.under(symmetry);
            let fast: HashSet<Move> = turned.moves().into_iter().collect();
            let moved: HashSet<Move> =
                position.moves().into_iter().map(|mv| mv.under(symmetry)).collect();
            assert_eq!(fast, moved, "{position}");
            assert_eq!(turned.attacks(), position.attacks().map(|set| symmetry.set(set)));
            assert_eq!(turned.under(symmetry.inverse()), position);
            for mv in position.moves() {
                let after = position.after(mv).under(symmetry);
                assert_eq!(turned.after(mv.under(symmetry)), after);
            }
        }
    }
}

#[test]
fn each_symmetry_permutes_the_move_index() {
    for symmetry in Symmetry::ALL {
        let images: HashSet<usize> = (0..MOVES)
            .map(|index| {
                let mv = Move::from_index(index).expect("below MOVES");
                mv.under(symmetry).index().expect("symmetries keep the geometry")
            })
            .collect();
        assert_eq!(images.len(), MOVES);
    }
}

#[test]
fn the_colours_are_interchangeable() {
    for position in positions(11, 2_000) {
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
    let start = Position::start(Variant::Standard);
    let turned = start.with_colors_exchanged().under(Symmetry::FLIP_RANKS);
    assert_eq!(turned, start.with_other_side_to_move());
}
