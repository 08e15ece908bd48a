use surakarta_game::{Game, Position, Variant};
use surakarta_run::picture;

#[test]
fn the_board_shows_its_loops() {
    insta::assert_snapshot!(picture::board(&Position::default(), None, false));
}

#[test]
fn the_larger_board_shows_its_loops() {
    let start = Position::start(Variant::Sepur);
    insta::assert_snapshot!("sepur", picture::board(&start, None, false));
    let last = "f5g6".parse().unwrap();
    let position = "7/6w/b3b2/5w1/7/bb5/6w b 3 9 sepur".parse().unwrap();
    insta::assert_snapshot!("sepur-flipped", picture::board(&position, Some(last), true));
}

#[test]
fn boards_of_the_same_size_look_alike() {
    let picture = |variant| picture::board(&Position::start(variant), None, false);
    assert_eq!(picture(Variant::Rural), picture(Variant::Standard));
    assert_eq!(picture(Variant::SepurOrthogonal), picture(Variant::Sepur));
}

#[test]
fn the_last_move_is_marked_on_both_its_points() {
    let mut game = Game::new(Default::default());
    game.play("b2b3".parse().unwrap()).unwrap();
    game.play("e5d4".parse().unwrap()).unwrap();
    let last = game.moves().last().copied();
    insta::assert_snapshot!("marked", picture::board(game.position(), last, false));
    insta::assert_snapshot!("marked-flipped", picture::board(game.position(), last, true));
}

/// A board seen from the other side is the same board turned by 180 degrees.
#[test]
fn flipped_is_turned() {
    for text in [
        "w4b/1w2b1/2wb2/1b1w2/b1w3/5w b 3 9",
        "w4b/1w2b1/2wb2/1b1w2/b1w3/5w b 3 9 rural",
        "w4b1/1w2b2/2wb3/1b1w3/b1w3b/5w1/3b3 b 3 9 sepur",
    ] {
        let position: Position = text.parse().unwrap();
        let signs = |flipped| -> Vec<char> {
            let text = picture::board(&position, None, flipped);
            let body: Vec<_> = text.lines().filter(|line| !line.starts_with(' ')).collect();
            body.concat().chars().filter(|c| "xo·".contains(*c)).collect()
        };
        let mut turned = signs(true);
        turned.reverse();
        assert_eq!(turned.len(), position.variant().points());
        assert_eq!(signs(false), turned);
    }
}
