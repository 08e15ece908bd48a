use surakarta_game::{Game, Position};
use surakarta_run::picture;

#[test]
fn the_board_shows_its_loops() {
    insta::assert_snapshot!(picture::board(&Position::default(), None, false));
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
    let position: Position = "w4b/1w2b1/2wb2/1b1w2/b1w3/5w b 3 9".parse().unwrap();
    let signs = |flipped| -> Vec<char> {
        let text = picture::board(&position, None, flipped);
        let body: Vec<_> = text.lines().filter(|line| !line.starts_with(' ')).collect();
        body.concat().chars().filter(|c| "xo·".contains(*c)).collect()
    };
    let mut turned = signs(true);
    turned.reverse();
    assert_eq!(turned.len(), 36);
    assert_eq!(signs(false), turned);
}
