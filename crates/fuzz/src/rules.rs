use bolero::{TypeGenerator, check};
use surakarta_game::{
    Color, Ending, Game, GameResult, Move, Outcome, Point, Position, RuleSet, Symmetry, Variant,
    perft, play_out, points, reference,
};

/// What reads is written so that it reads as the same.
fn reads_back<T>(text: &str)
where
    T: std::str::FromStr + ToString + PartialEq + std::fmt::Debug,
{
    if let Ok(value) = text.parse::<T>() {
        let written = value.to_string();
        assert_eq!(written.parse().ok(), Some(value), "`{text}` is written `{written}`");
    }
}

/// All that can be asked of a position, whatever it is.
fn ask(position: &Position) {
    let mut moves = position.moves();
    assert_eq!(position.count_moves(), moves.len() as u64);
    assert_eq!(position.has_move(), !moves.is_empty());
    assert_eq!(position.has_capture(), !position.captures().is_empty());
    for (n, &mv) in moves.iter().enumerate() {
        assert_eq!(position.nth_move(n as u64), Some(mv));
        assert!(position.variant().move_index(mv).is_some());
        let after = position.after(mv);
        assert_eq!(after.to_string().parse(), Ok(after), "{mv} leads to a valid position");
    }
    moves.sort();
    assert_eq!(moves, reference::moves(position), "{position}");
    assert_eq!(position.attacks(), reference::attacks(position), "{position}");
    let leaves: u64 = moves.iter().map(|&mv| position.after(mv).count_moves()).sum();
    assert_eq!(perft(position, 2), leaves);
    for symmetry in Symmetry::ALL {
        assert_eq!(position.under(symmetry).count_moves(), moves.len() as u64);
    }
}

#[test]
fn readers() {
    check!().with_iterations(20_000).for_each(|bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        reads_back::<Position>(&text);
        reads_back::<Move>(&text);
        reads_back::<Point>(&text);
        reads_back::<RuleSet>(&text);
        reads_back::<Variant>(&text);
        reads_back::<Ending>(&text);
        for variant in Variant::ALL {
            if let Ok(position) = Position::parse(&text, variant) {
                assert_eq!(position.variant(), variant);
                ask(&position);
            }
        }
    });
}

/// Texts of the letters that readers take.
#[test]
fn texts_that_are_nearly_right() {
    const LETTERS: &[u8] = b"bbbwww1234567/////  01abcdefgx,=sepurtandloimyh-vk";
    check!().with_iterations(20_000).with_type::<Vec<u8>>().for_each(|letters| {
        let letter = |&n: &u8| LETTERS[n as usize % LETTERS.len()] as char;
        let text: String = letters.iter().map(letter).collect();
        reads_back::<Position>(&text);
        reads_back::<Move>(&text);
        reads_back::<RuleSet>(&text);
        reads_back::<Variant>(&text);
        if let Ok(position) = format!("wwwwww/wwwwww/6/6/bbbbbb/{text}").parse() {
            ask(&position);
        }
        // As the end of something right.
        for start in ["wwwwww/wwwwww/6/6/bbbbbb/", "6/6/6/6/6/6 b 0 1 ", "olympiad,", "sepur,"] {
            reads_back::<Position>(&format!("{start}{text}"));
            reads_back::<RuleSet>(&format!("{start}{text}"));
            reads_back::<Variant>(&format!("{start}{text}"));
        }
    });
}

#[derive(Debug, TypeGenerator)]
struct Pieces {
    variant: u8,
    black: u64,
    white: u64,
    is_white: bool,
    quiet: u16,
}

fn variant(number: u8) -> Variant {
    Variant::ALL[number as usize % Variant::ALL.len()]
}

#[test]
fn positions() {
    check!().with_iterations(20_000).with_type::<Pieces>().for_each(|pieces| {
        let &Pieces { variant: number, black, white, is_white, quiet } = pieces;
        let side = if is_white { Color::White } else { Color::Black };
        let variant = variant(number);
        // As they come, and so that they make a position.
        let _ = Position::new(variant, black, white, side, quiet);
        let few = |set: u64| {
            let most = variant.pieces() as usize;
            points(set & variant.board()).take(most).fold(0, |set, point| set | point.bit())
        };
        let black = few(black);
        let position = Position::new(variant, black, few(white & !black), side, quiet);
        let position = position.expect("disjoint sets of few pieces");
        assert_eq!(position.to_string().parse(), Ok(position));
        ask(&position);
    });
}

#[derive(Debug, TypeGenerator)]
enum Action {
    /// The move with this number, of those that are legal.
    Play(u8),
    /// Any two points.
    Try(u8, u8),
    Undo,
    End(u8, bool),
    PlayOut(u64),
}

/// A game does what its slow twin does, whatever is asked of it, in any order.
#[test]
fn games() {
    let scripts = check!().with_iterations(1_000).with_type::<(u8, u8, u8, Vec<Action>)>();
    scripts.for_each(|(number, rules, limit, actions)| {
        let mut rules = RuleSet::ALL[*rules as usize % RuleSet::ALL.len()];
        if *limit > 0 {
            rules.no_capture = Some((*limit).into());
            rules.ply_cap = Some(3 * u16::from(*limit));
        }
        let mut game = Game::from_position(rules, Position::start(variant(*number)));
        let mut ended = None;
        for action in actions {
            let before = (game.positions().to_vec(), game.result());
            let legal = game.legal_moves();
            match *action {
                Action::Play(n) => {
                    if let Some(&mv) = legal.get(n as usize % legal.len().max(1)) {
                        game.play(mv).expect("a listed move is legal");
                    }
                }
                Action::Try(from, to) => {
                    let point = |n: u8| Point::new(n.into());
                    if let (Some(from), Some(to)) = (point(from), point(to)) {
                        let mv = Move::new(from, to);
                        if game.play(mv).is_ok() {
                            assert!(legal.contains(&mv));
                        } else {
                            assert!(!legal.contains(&mv));
                            assert_eq!((game.positions().to_vec(), game.result()), before);
                        }
                    }
                }
                Action::Undo => {
                    if game.undo().is_some() {
                        ended = None;
                    }
                }
                Action::End(n, draw) => {
                    let ending = Ending::ALL[n as usize % Ending::ALL.len()];
                    if game.result().is_none() {
                        let outcome = Outcome::Win(game.side_to_move());
                        let outcome = if draw { Outcome::Draw } else { outcome };
                        game.end(ending, outcome);
                        ended = Some(GameResult { ending, outcome });
                    }
                }
                Action::PlayOut(seed) => {
                    let mut state = seed;
                    let playout = play_out(&game, 300, || {
                        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                        state
                    });
                    assert_eq!(playout.plies == 0, game.result().is_some());
                    assert!(playout.plies <= 300);
                    if let (None, None) = (playout.result, game.result()) {
                        assert_eq!(playout.plies, 300, "broken off only there");
                    }
                    ask(&playout.position);
                }
            }
            let result = ended.or_else(|| reference::result(&rules, game.positions()));
            assert_eq!(game.result(), result);
        }
    });
}
