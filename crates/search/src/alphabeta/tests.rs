//! Alpha-beta against plain minimax, and its limits.

use std::collections::BTreeSet;
use std::time::Duration;

use super::search::{Bounds, Search};
use super::table::Bound;
use super::{AlphaBetaConfig, AlphaBetaPlayer, DECIDED, Score, evaluate, final_score};
use crate::player::{Limits, Player, PlayerError};
use crate::random::{Stream, stream};
use rand::RngExt;
use surakarta_game::{Color, Ending, Game, Move, Position, RuleSet, Variant, points};

fn small() -> AlphaBetaConfig {
    AlphaBetaConfig { table_mib: 1, ..Default::default() }
}

/// A player that finds the value of minimax.
fn exact() -> AlphaBetaPlayer {
    AlphaBetaPlayer::new(AlphaBetaConfig { exact: true, ..small() })
}

/// Minimax as the rules have it: every legal move to the given depth, then captures or none.
fn minimax(game: &mut Game, depth: u32, ply: usize) -> Score {
    if game.result().is_some() {
        return final_score(game, ply);
    }
    let mut moves = game.legal_moves();
    let mut best = Score::MIN;
    if depth == 0 {
        best = evaluate(game.position());
        moves.retain(|&mv| game.position().is_capture(mv));
    }
    for mv in moves {
        game.play_legal(mv);
        best = best.max(-minimax(game, depth.saturating_sub(1), ply + 1));
        game.undo();
    }
    best
}

/// A few pieces on random points of any variant's board, and some plies of play that like to go back, so that repetitions
/// and counters are near.
fn endgame(rng: &mut Stream) -> Game {
    loop {
        let mut rules = RuleSet::ALL[rng.random_range(0..RuleSet::ALL.len())];
        if rules.no_capture.is_some() && rng.random_bool(0.5) {
            rules.no_capture = Some(rng.random_range(1..14));
        }
        if rng.random_bool(0.2) {
            rules.ply_cap = Some(rng.random_range(1..20));
        }
        let variant = Variant::ALL[rng.random_range(0..Variant::ALL.len())];
        let mut sets = [0u64; 2];
        for set in 0..2 {
            for _ in 0..rng.random_range(1..=3) {
                let point = points(variant.board()).nth(rng.random_range(0..variant.points()));
                sets[set] |= point.expect("on the board").bit() & !sets[1 - set];
            }
        }
        let side = if rng.random() { Color::Black } else { Color::White };
        let quiet = rng.random_range(0..8);
        let start = Position::new(variant, sets[0], sets[1], side, quiet);
        let mut game = Game::from_position(rules, start.expect("disjoint sets"));
        for _ in 0..rng.random_range(0..14) {
            random_ply(&mut game, rng);
        }
        if game.result().is_none() {
            return game;
        }
    }
}

/// Plays a move at random, half the time the own last one backwards.
fn random_ply(game: &mut Game, rng: &mut Stream) {
    let moves = game.legal_moves();
    if moves.is_empty() {
        return;
    }
    let back = game.moves().iter().rev().nth(1).map(|last| Move::new(last.to(), last.from()));
    let mv = match back {
        Some(mv) if moves.contains(&mv) && rng.random() => mv,
        _ => moves[rng.random_range(0..moves.len())],
    };
    game.play(mv).expect("a legal move");
}

/// The greatest depth, at most 5, that minimax searches soon.
fn depth_for(game: &Game) -> u32 {
    let branching = game.legal_moves().len().max(5) as u32;
    (2..=5).rev().find(|&depth| branching.pow(depth) < 8_000).unwrap_or(2)
}

#[test]
fn finds_the_value_of_minimax() {
    let rng = &mut stream(1, [0; 3]);
    let mut player = exact();
    let mut endings = BTreeSet::new();
    let mut compared = 0;
    while compared < 1200 {
        let mut game = endgame(rng);
        player.new_game(0);
        // The table is kept along the game.
        for _ in 0..3 {
            if game.result().is_some() {
                break;
            }
            let depth = depth_for(&game);
            let limits = Limits { depth: Some(depth), ..Limits::default() };
            let found = player.analyse(&game, &limits).expect("the game goes on");
            let score = minimax(&mut game.clone(), depth, 0);
            assert_eq!(
                (found.score, found.depth),
                (score, depth),
                "{} {:?} {:?} {:?}",
                game.rules(),
                game.start(),
                game.moves(),
                found.line
            );
            // The line leads to the score.
            let mut end = game.clone();
            for &mv in &found.line {
                end.play(mv).expect("the line is legal");
            }
            endings.extend(end.result().map(|result| result.ending));
            if let Some(result) = end.result() {
                let sign = result.outcome.value_for(game.side_to_move()) as Score;
                assert_eq!(score.signum() * (score.abs() > DECIDED) as Score, sign);
            }
            compared += 1;
            random_ply(&mut game, rng);
        }
    }
    for ending in [
        Ending::CapturedAll,
        Ending::NoCaptureLeft,
        Ending::Repetition,
        Ending::NoProgress,
        Ending::PlyCap,
    ] {
        assert!(endings.contains(&ending), "no line ended by {ending}");
    }
}

#[test]
fn claims_decided_games_only_where_they_are() {
    let rng = &mut stream(5, [0; 3]);
    let (mut player, mut judge) = (AlphaBetaPlayer::new(small()), exact());
    let (mut positions, mut claims, mut missed) = (0, [0; 2], 0);
    while positions < 1500 {
        let mut game = endgame(rng);
        player.new_game(0);
        judge.new_game(0);
        // The table is kept along the game.
        for _ in 0..3 {
            if game.result().is_some() {
                break;
            }
            let limits = Limits { depth: Some(6), nodes: Some(20_000), ..Limits::default() };
            let found = player.analyse(&game, &limits).expect("the game goes on");
            let mut depth = found.depth;
            let mut truth = 0;
            if found.score.abs() > DECIDED {
                // What was found in the table may look deeper than the search that used it.
                for deeper in [0, 2, 4] {
                    depth = found.depth + deeper;
                    let limits = Limits { depth: Some(depth), ..Limits::default() };
                    truth = judge.analyse(&game, &limits).expect("the game goes on").score;
                    if truth * found.score.signum() >= found.score.abs() {
                        break;
                    }
                }
                // At least so good for the winner.
                assert!(
                    truth * found.score.signum() >= found.score.abs(),
                    "{} {:?} {:?}: {found:?}, but {truth} at depth {depth}",
                    game.rules(),
                    game.start(),
                    game.moves(),
                );
                claims[(found.score > 0) as usize] += 1;
            } else if found.depth > 0 && positions % 4 == 0 {
                let limits = Limits { depth: Some(found.depth.min(5)), ..Limits::default() };
                truth = judge.analyse(&game, &limits).expect("the game goes on").score;
                missed += (truth.abs() > DECIDED) as u32;
            }
            positions += 1;
            random_ply(&mut game, rng);
        }
    }
    assert!(claims.iter().all(|&n| n > 150), "{claims:?}");
    assert!(missed < 20, "{missed} decided games not seen");
}

/// The same position after another past: the game cut short behind some ply, or longer quiet.
fn with_another_past(game: &Game, rng: &mut Stream) -> Game {
    let at = rng.random_range(0..game.positions().len());
    let start = game.positions()[at];
    let quiet = if rng.random() { rng.random_range(0..8) } else { start.quiet_plies() as u16 };
    let start = Position::new(
        start.variant(),
        start.pieces(Color::Black),
        start.pieces(Color::White),
        start.side_to_move(),
        quiet,
    );
    let mut other = Game::from_position(*game.rules(), start.expect("a position of the game"));
    for &mv in &game.moves()[at..] {
        // A longer quiet may end the game earlier.
        if other.play(mv).is_err() {
            return game.clone();
        }
    }
    other
}

#[test]
fn findings_hold_wherever_their_digest_is_the_same() {
    let rng = &mut stream(4, [0; 3]);
    let mut player = exact();
    let (mut served, mut refused, mut mattered) = (0, 0, 0);
    while served < 6_000 {
        let game = endgame(rng);
        let limits = Limits { depth: Some(3), nodes: Some(3000), ..Limits::default() };
        player.analyse(&game, &limits).expect("the game goes on");
        // Elsewhere in the tree, and with another past.
        for n in 0..20 {
            let mut game = if n % 2 == 0 { game.clone() } else { with_another_past(&game, rng) };
            for _ in 0..rng.random_range(0..=4) {
                random_ply(&mut game, rng);
            }
            let Some(entry) = player.table.get(game.position().key()) else { continue };
            if game.result().is_some() || entry.depth > 2 {
                continue;
            }
            let bounds = Bounds { exact: true, nodes: 0, deadline: None };
            let search = Search::new(&game, &mut player.table, &mut player.ordering, bounds);
            let serves = search.past(entry.bound, entry.score(0), entry.mv, entry.depth as u32)
                == entry.past;
            let truth = minimax(&mut game.clone(), entry.depth as u32, 0);
            let holds = match entry.bound {
                Bound::Exact => entry.score(0) == truth,
                Bound::Lower => entry.score(0) <= truth,
                Bound::Upper => entry.score(0) >= truth,
            };
            assert!(holds || !serves, "{entry:?} {truth} {} {:?}", game.rules(), game.positions());
            served += serves as u32;
            refused += !serves as u32;
            mattered += !holds as u32;
        }
    }
    assert!(mattered > 10 && refused < served, "{mattered} {refused} {served}");
}

#[test]
fn stops_at_its_limits_with_a_legal_move() {
    let rng = &mut stream(2, [0; 3]);
    let mut player = AlphaBetaPlayer::new(small());
    for n in 0..300 {
        let game = endgame(rng);
        let nodes = [1, 2, 3, 7, 50, 1000, 3000][n % 7];
        let limits = Limits { nodes: Some(nodes), depth: Some(64), ..Limits::default() };
        let choice = player.choose(&game, &limits).expect("the game goes on");
        assert!(game.legal_moves().contains(&choice.mv));
        assert!(choice.work.nodes <= nodes);
        assert!(choice.work.nodes == nodes || choice.work.depth == 64);
        assert_eq!(choice.line.first(), Some(&choice.mv));
        assert!(choice.value.is_some_and(|value| (-1.0..=1.0).contains(&value)));

        let limits = Limits { depth: Some(2), ..Limits::default() };
        assert_eq!(player.choose(&game, &limits).expect("the game goes on").work.depth, 2);
    }
    let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    let choice = player.choose(&Game::new(RuleSet::default()), &limits).expect("the game goes on");
    assert_eq!((choice.work.nodes, choice.work.depth), (0, 0));
    assert!(Game::new(RuleSet::default()).legal_moves().contains(&choice.mv));
}

#[test]
fn takes_its_usual_limits_when_none_apply() {
    let game = Game::new(RuleSet::default());
    let with = |limits| AlphaBetaPlayer::new(AlphaBetaConfig { limits, ..small() });
    let nodes = |player: &mut AlphaBetaPlayer, limits: &Limits| {
        player.choose(&game, limits).expect("the game goes on").work.nodes
    };
    let others = Limits { simulations: Some(5), ..Limits::default() };
    let own = Limits { nodes: Some(123), ..Limits::default() };
    assert_eq!(nodes(&mut with(own), &others), 123);
    assert_eq!(nodes(&mut with(Limits::default()), &others), 10_000);
    assert_eq!(nodes(&mut with(own), &Limits { nodes: Some(77), ..others }), 77);
}

#[test]
fn a_new_game_forgets_the_last_one() {
    let rng = &mut stream(3, [0; 3]);
    let mut used = AlphaBetaPlayer::new(small());
    for _ in 0..20 {
        let mut fresh = AlphaBetaPlayer::new(small());
        used.new_game(7);
        fresh.new_game(7);
        let mut game = Game::new(RuleSet::default());
        for _ in 0..12 {
            let limits = Limits { nodes: Some(2000), ..Limits::default() };
            let analysis = used.analyse(&game, &limits).expect("the game goes on");
            assert_eq!(analysis, fresh.analyse(&game, &limits).expect("the game goes on"));
            random_ply(&mut game, rng);
            if game.result().is_some() {
                break;
            }
        }
    }
}

#[test]
fn ends_a_won_count_by_repetition_and_shuns_a_lost_one() {
    // The loner walks on the outer circuit only, the others on the inner: nobody can capture.
    let start: Position = "6/6/2w3/6/6/1b3b b 0 1".parse().expect("a position");
    let mut game = Game::from_position(surakarta_game::OLYMPIAD, start);
    for mv in ["b1a1", "c4c3", "a1b1"] {
        game.play(mv.parse().expect("a move")).expect("a legal move");
    }
    let mut player = AlphaBetaPlayer::new(AlphaBetaConfig::default());
    let limits = Limits { depth: Some(1), ..Limits::default() };
    let back: Move = "c3c4".parse().expect("a move");
    let found = player.analyse(&game, &limits).expect("the game goes on");
    assert!(found.score > -DECIDED && found.line[0] != back, "White must not repeat: {found:?}");

    let swapped = start.with_colors_exchanged().with_other_side_to_move();
    let mut game = Game::from_position(surakarta_game::OLYMPIAD, swapped);
    for mv in ["c4c3", "b1a1", "c3c4"] {
        game.play(mv.parse().expect("a move")).expect("a legal move");
    }
    let found = player.analyse(&game, &limits).expect("the game goes on");
    assert!(found.score > DECIDED, "White wins by repetition: {found:?}");
    assert_eq!(found.line, ["a1b1".parse().expect("a move")]);
}

#[test]
fn has_no_move_in_a_finished_game() {
    let over = Position::new(Variant::Standard, 1, 0, Color::Black, 0).expect("disjoint sets");
    let game = Game::from_position(RuleSet::default(), over);
    assert_eq!(game.result().map(|result| result.ending), Some(Ending::CapturedAll));
    let mut player = AlphaBetaPlayer::new(AlphaBetaConfig::default());
    let answer = player.choose(&game, &Limits::default());
    assert!(matches!(answer, Err(PlayerError::GameOver)));
}
