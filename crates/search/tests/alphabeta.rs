//! Alpha-beta against plain minimax, and its limits.

use std::time::{Duration, Instant};

use rand::RngExt;
use surakarta_game::{
    Color, Ending, Game, Move, Outcome, Point, Position, Repetition, RuleSet, Variant,
};
use surakarta_search::alphabeta::{DECIDED, Score, evaluate, final_score};
use surakarta_search::{AlphaBetaConfig, AlphaBetaPlayer, Limits, Player, PlayerError, Stream, stream};

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
        game.play(mv).expect("a legal move");
        best = best.max(-minimax(game, depth.saturating_sub(1), ply + 1));
        game.undo();
    }
    best
}

/// A few pieces on random points, and some plies of play that like to go back, so that repetitions
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
        let mut sets = [0u64; 2];
        for set in 0..2 {
            for _ in 0..rng.random_range(1..=3) {
                let bit = 1 << rng.random_range(0..36);
                sets[set] |= bit & !sets[1 - set];
            }
        }
        let side = if rng.random() { Color::Black } else { Color::White };
        let quiet = rng.random_range(0..8);
        let start = Position::new(Variant::Standard, sets[0], sets[1], side, quiet);
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
    (3..=5).rev().find(|&depth| branching.pow(depth) < 20_000).unwrap_or(3)
}

#[test]
fn finds_the_value_of_minimax() {
    let rng = &mut stream(1, [0; 3]);
    let mut player = AlphaBetaPlayer::new(AlphaBetaConfig { table_mib: 1, ..Default::default() });
    let mut endings = std::collections::BTreeSet::new();
    let mut compared = 0;
    while compared < 3000 {
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
