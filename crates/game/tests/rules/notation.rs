use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use surakarta_game::{
    AGREEMENT, Color, Ending, InvalidPosition, Move, NO_REPEAT, OLYMPIAD, Point, Position,
    Repetition, RuleSet, Symmetry, THREEFOLD, Variant,
};

use crate::perft::position;
use crate::sources::{all_pairs, limited, positions_of, positions_of_all};

const START: &str = "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1";

#[test]
fn a_position_reads_as_it_is_written() {
    assert_eq!(Position::default().to_string(), START);
    assert_eq!(position(START), Position::start(Variant::Standard));
    for position in positions_of_all(20, 3_000) {
        for position in [
            position,
            position.with_other_side_to_move(),
            position.with_colors_exchanged(),
            position.under(Symmetry::ALL[5]),
        ] {
            assert_eq!(position.to_string().parse(), Ok(position));
        }
    }
}

#[test]
fn the_fields_of_a_position_mean_what_they_say() {
    let position = position("w5/6/6/6/6/1b3b w 17 9");
    let on = |text: &str| position.color_at(text.parse().expect("a point"));
    assert_eq!(
        [on("a6"), on("b1"), on("f1"), on("a1")].map(|c| c.map(Color::name)),
        [Some("white"), Some("black"), Some("black"), None]
    );
    assert_eq!((position.count(Color::Black), position.count(Color::White)), (2, 1));
    assert_eq!(position.side_to_move(), Color::White);
    assert_eq!(position.quiet_plies(), 17);
    assert_eq!(position.ply(), 17, "eight moves of both and one of Black's");
}

#[test]
fn a_position_may_be_empty_and_its_counters_high() {
    for text in ["6/6/6/6/6/6 b 0 1", "6/6/6/6/6/6 w 65535 32768", "wbwbwb/6/6/6/6/6 b 65535 32768"]
    {
        assert_eq!(position(text).to_string(), text);
    }
    // Beyond the last number the counters stand still, and what is written still reads.
    let mut position = position("6/6/6/6/6/b4w b 65534 32768");
    for text in ["a1a2", "f1f2", "a2a1", "f2f1"] {
        position = position.after(text.parse().expect("a move"));
        assert_eq!(position.to_string().parse(), Ok(position));
    }
    assert_eq!(position.to_string(), "6/6/6/6/6/b4w b 65535 32768");
}

#[test]
fn a_position_is_small() {
    assert!(size_of::<Position>() <= 24);
}

#[test]
fn what_is_not_a_position_is_refused_for_its_reason() {
    type Test = fn(&InvalidPosition) -> bool;
    let cases: [(&str, Test); 22] = [
        ("", |e| matches!(e, InvalidPosition::Fields(_))),
        ("wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0", |e| matches!(e, InvalidPosition::Fields(_))),
        ("wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1 1", |e| {
            matches!(e, InvalidPosition::UnknownVariant(_))
        }),
        ("wwwwww/wwwwww/6/6/bbbbbb b 0 1", |e| matches!(e, InvalidPosition::Ranks(_, 6))),
        ("6/6/6/6/6/6/6 b 0 1", |e| matches!(e, InvalidPosition::Ranks(_, 6))),
        ("6/6/6/6/6/5 b 0 1", |e| matches!(e, InvalidPosition::Ranks(_, 6))),
        ("6/6/6/6/6/7 b 0 1", |e| matches!(e, InvalidPosition::Ranks(_, 6))),
        ("6/6/6/6/6/6b b 0 1", |e| matches!(e, InvalidPosition::Ranks(_, 6))),
        ("6/6/6/6/6/b6 b 0 1", |e| matches!(e, InvalidPosition::Ranks(_, 6))),
        ("6/6/6/6/6/33 b 0 1", |e| matches!(e, InvalidPosition::Ranks(_, 6))),
        ("6/6/6/6/6/06 b 0 1", |e| matches!(e, InvalidPosition::Ranks(_, 6))),
        ("6/6/6/6/6/B5 b 0 1", |e| matches!(e, InvalidPosition::Ranks(_, 6))),
        ("6/6/6/6/6/é5 b 0 1", |e| matches!(e, InvalidPosition::Ranks(_, 6))),
        ("6/6/6//6/6 b 0 1", |e| matches!(e, InvalidPosition::Ranks(_, 6))),
        ("6/6/6/6/6/6 x 0 1", |e| matches!(e, InvalidPosition::Side(_))),
        ("6/6/6/6/6/6 b -1 1", |e| matches!(e, InvalidPosition::Quiet(_))),
        ("6/6/6/6/6/6 b +1 1", |e| matches!(e, InvalidPosition::Quiet(_))),
        ("6/6/6/6/6/6 b 65536 1", |e| matches!(e, InvalidPosition::Quiet(_))),
        ("6/6/6/6/6/6 b 0 0", |e| matches!(e, InvalidPosition::MoveNumber(_))),
        ("6/6/6/6/6/6 b 0 32769", |e| matches!(e, InvalidPosition::MoveNumber(_))),
        ("bbbbbb/bbbbbb/b5/6/6/6 b 0 1", |e| {
            matches!(e, InvalidPosition::TooManyPieces(Color::Black, 13, 12))
        }),
        ("wwwwww/wwwwww/w5/w5/6/6 b 0 1", |e| {
            matches!(e, InvalidPosition::TooManyPieces(Color::White, 14, 12))
        }),
    ];
    for (text, expected) in cases {
        let error = text.parse::<Position>().expect_err(text);
        assert!(expected(&error), "`{text}`: {error}");
    }
}

#[test]
fn point_sets_that_make_no_position_are_refused() {
    let new = |black, white| Position::new(Variant::Standard, black, white, Color::Black, 0);
    assert!(new(0x3f3f, 0x3f3f << 32).is_ok());
    assert_eq!(new(1, 1), Err(InvalidPosition::Overlap));
    assert_eq!(new(1 << 48, 1), Err(InvalidPosition::Overlap));
    assert_eq!(new(1, 1 << 63), Err(InvalidPosition::Overlap));
    assert_eq!(new(0x13f3f, 0), Err(InvalidPosition::TooManyPieces(Color::Black, 13, 12)));
}

#[test]
fn keys_are_equal_exactly_when_pieces_and_side_are() {
    for variant in Variant::ALL {
        let mut seen: HashMap<_, String> = HashMap::new();
        for position in positions_of(variant, 21, 3_000) {
            for position in [position, position.with_other_side_to_move()] {
                let text = position.to_string();
                let placed = text.split(' ').take(2).collect::<Vec<_>>().join(" ");
                assert_eq!(seen.entry(position.key()).or_insert_with(|| placed.clone()), &placed);
            }
        }
        let texts: std::collections::HashSet<&String> = seen.values().collect();
        assert_eq!(texts.len(), seen.len(), "equal pieces and side have one key");
        assert!(seen.len() > 3_000);
    }
}

/// All but the standard variant write their names, and a reader that knows what is played may go
/// without, but not with another.
#[test]
fn a_position_names_its_variant() {
    let text = "wwwwwww/wwwwwww/7/7/7/bbbbbbb/bbbbbbb b 0 1";
    let sepur = Position::start(Variant::Sepur);
    assert_eq!(sepur.to_string(), format!("{text} sepur"));
    assert_eq!(Position::parse(text, Variant::Sepur), Ok(sepur));
    assert_eq!(Position::parse(&sepur.to_string(), Variant::Sepur), Ok(sepur));
    assert_eq!(format!("{START} rural").parse(), Ok(Position::start(Variant::Rural)));
    assert_eq!(format!("{START} standard").parse(), Ok(Position::default()));
    assert!(matches!(text.parse::<Position>(), Err(InvalidPosition::Ranks(_, 6))));
    assert!(matches!(
        Position::parse(START, Variant::SepurOrthogonal),
        Err(InvalidPosition::Ranks(_, 7))
    ));
    assert_eq!(
        Position::parse(&sepur.to_string(), Variant::SepurOrthogonal),
        Err(InvalidPosition::OtherVariant(Variant::Sepur, Variant::SepurOrthogonal))
    );
    let error = format!("{START} chess").parse::<Position>().expect_err("no such variant");
    assert!(error.to_string().contains("rural"), "{error}");
}

#[test]
fn a_move_reads_as_it_is_written_with_or_without_x() {
    for mv in all_pairs(Variant::Sepur) {
        let text = mv.to_string();
        assert_eq!(text.parse(), Ok(mv));
        assert_eq!(format!("{}x{}", &text[..2], &text[2..]).parse(), Ok(mv));
    }
    let mv: Move = "b1xe5".parse().expect("a move");
    assert_eq!((mv.from().to_string(), mv.to().to_string()), ("b1".into(), "e5".into()));
    for text in [
        "", "a", "a2", "a2a", "a2xa", "a2a8", "h2a3", "a0a1", "a2xxa3", "xa2a3", "a2a3x", "a2-a3",
        "A2A3", " a2a3", "éa2", "aéa3",
    ] {
        let error = text.parse::<Move>().expect_err(text);
        assert!(error.to_string().contains(text));
    }
    for text in ["", "a", "a8", "a0", "h1", "a11", "é"] {
        assert!(text.parse::<Point>().is_err(), "{text}");
    }
}

#[test]
fn points_are_those_of_the_largest_board() {
    for index in 0..200 {
        let (file, rank) = (index % 8, index / 8);
        let point = Point::new(index);
        assert_eq!(point, Point::at(file, rank));
        assert_eq!(point.is_some(), file < 7 && rank < 7, "{index}");
        if let Some(point) = point {
            assert_eq!((point.index(), point.file(), point.rank()), (index, file, rank));
            assert_eq!(point.bit(), 1 << index);
            assert_eq!(point.to_string().parse(), Ok(point));
            for variant in Variant::ALL {
                let size = variant.size();
                let place = (file < size && rank < size).then_some(rank * size + file);
                assert_eq!(variant.point_index(point), place, "{point} of {variant}");
            }
        }
    }
    assert_eq!([Point::new(usize::MAX), Point::at(usize::MAX, 0), Point::at(7, 0)], [None; 3]);
}

#[test]
fn rule_sets_read_as_they_are_written() {
    let texts = ["olympiad", "threefold", "no-repeat", "contest", "agreement"];
    for (rules, name) in RuleSet::ALL.into_iter().zip(texts) {
        assert_eq!((rules.name(), rules.to_string().as_str()), (name, name));
        assert_eq!(name.parse(), Ok(rules));
        for no_capture in [None, Some(1), Some(50), Some(65_535)] {
            for ply_cap in [None, Some(1), Some(1_000), Some(65_535)] {
                let changed = limited(rules, no_capture, ply_cap);
                assert_eq!(changed.to_string().parse(), Ok(changed));
            }
        }
    }
    let repetitions = [2, 3, 255].map(Repetition::Ends);
    for repetition in repetitions.into_iter().chain([Repetition::Allowed, Repetition::Illegal]) {
        for rules in RuleSet::ALL {
            for ends_without_captures in [false, true] {
                for by_agreement in [false, true] {
                    let mut all = rules;
                    all.repetition = repetition;
                    all.ends_without_captures = ends_without_captures;
                    all.by_agreement = by_agreement;
                    assert_eq!(all.to_string().parse(), Ok(all));
                }
            }
        }
    }
    let mut more = THREEFOLD;
    (more.repetition, more.by_agreement) = (Repetition::Ends(255), true);
    assert_eq!(more.to_string(), "threefold,repetition=255,by-agreement=yes");
    assert_eq!(
        "olympiad, no-capture=60, ply-cap=300".parse(),
        Ok(limited(OLYMPIAD, Some(60), Some(300)))
    );
    assert_eq!("agreement,ply-cap=none".parse(), Ok(limited(AGREEMENT, None, None)));
    assert_eq!(RuleSet::default(), OLYMPIAD);
}

#[test]
fn what_is_not_a_rule_set_is_refused() {
    for text in [
        "",
        "Olympiad",
        "olympic",
        "olympiad,",
        "olympiad,ply-cap",
        "olympiad,ply-cap=",
        "olympiad,ply-cap=0",
        "olympiad,ply-cap=+5",
        "olympiad,ply-cap=-5",
        "olympiad,ply-cap=65536",
        "olympiad,no-capture=0",
        "olympiad,no-capture=many",
        "olympiad,repetition=1",
        "olympiad,repetition=0",
        "olympiad,repetition=256",
        "olympiad,repetition=+3",
        "olympiad,repetition=none",
        "olympiad,plycap=5",
        "olympiad,repetition=many",
        "olympiad,by-agreement=perhaps",
        "olympiad,ends-without-captures",
        "olympiad,ply-cap=5,ply-cap=6",
        "olympiad,repetition=3,no-capture=9,repetition=3",
    ] {
        assert!(text.parse::<RuleSet>().is_err(), "{text}");
    }
    let error = "fide".parse::<RuleSet>().expect_err("no such rules").to_string();
    assert!(RuleSet::ALL.iter().all(|rules| error.contains(rules.name())), "{error}");
    assert_ne!(NO_REPEAT, OLYMPIAD);
}

#[test]
fn endings_and_variants_read_as_they_are_written() {
    for ending in Ending::ALL {
        assert_eq!(ending.to_string().parse(), Ok(ending));
    }
    assert!(Ending::ALL.is_sorted());
    assert!("checkmate".parse::<Ending>().is_err());
    for variant in Variant::ALL {
        assert_eq!(variant.to_string().parse(), Ok(variant));
        assert_eq!(Variant::ALL[variant as usize], variant);
    }
    assert_eq!("sepur,diagonals=yes".parse(), Ok(Variant::Sepur));
    for text in ["chess", "", "Standard", "sepur,", "rural,diagonals=no", "sepur,diagonals=maybe"] {
        assert!(text.parse::<Variant>().is_err(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_text_makes_a_reader_panic(text in any::<String>()) {
        let _ = text.parse::<Position>();
        let _ = text.parse::<Move>();
        let _ = text.parse::<Point>();
        let _ = text.parse::<RuleSet>();
        let _ = text.parse::<Ending>();
    }

    /// Nearly right texts: what is accepted is a position that is written the same, but for
    /// blanks and leading zeros.
    #[test]
    fn what_reads_as_a_position_writes_as_one(
        text in "[bw1-6]{1,6}(/[bw1-6]{1,6}){4,6} [bwx] [0-9]{1,6} [0-9]{1,6}"
    ) {
        if let Ok(position) = text.parse::<Position>() {
            let written = position.to_string();
            prop_assert_eq!(written.parse(), Ok(position));
            prop_assert_eq!(written.split(' ').next(), text.split(' ').next());
            position.moves();
            position.attacks();
        }
    }

    /// One letter of a good text exchanged for any other.
    #[test]
    fn a_slip_of_the_pen_is_read_or_refused(at in 0usize..37, letter in any::<char>()) {
        let mut text: Vec<char> = START.chars().collect();
        text[at] = letter;
        let text: String = text.into_iter().collect();
        if let Ok(position) = text.parse::<Position>() {
            prop_assert_eq!(position.to_string().parse(), Ok(position));
        }
    }

    #[test]
    fn what_reads_as_a_move_writes_as_one(text in "[a-g][0-7]x{0,2}[a-g][0-7]") {
        if let Ok(mv) = text.parse::<Move>() {
            prop_assert_eq!(mv.to_string(), text.replace('x', ""));
        }
    }

    #[test]
    fn what_reads_as_rules_writes_as_rules(
        text in "(olympiad|threefold|no-repeat|contest|agreement)(,(repetition|no-capture|ply-cap|by-agreement)=(none|allowed|yes|[0-9]{1,5})){0,3}"
    ) {
        if let Ok(rules) = text.parse::<RuleSet>() {
            prop_assert_eq!(rules.to_string().parse(), Ok(rules));
        }
    }
}

#[test]
fn points_and_moves_are_shown_as_they_are_written() {
    let mv: Move = "a2-a3".parse().or_else(|_| "a2a3".parse()).unwrap();
    assert_eq!(format!("{mv:?} {:?}", mv.from()), format!("{mv} {}", mv.from()));
    assert_eq!(format!("{:?}", mv.from()), "a2");
}

#[test]
fn the_instructions_of_this_machine_have_a_name() {
    let name = surakarta_game::instructions();
    #[cfg(target_arch = "x86_64")]
    {
        let present = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
        assert_eq!(name == "avx2", present, "{name}");
    }
    assert!(["avx2", "portable"].contains(&name), "{name}");
}
