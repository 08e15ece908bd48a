//! Proven results against a solver that knows nothing but the rules.

use surakarta_game::{Ending, Game, Repetition, RuleSet};
use surakarta_search::descent::Method;
use surakarta_search::{Limits, Player, stream};

use crate::script::{by, coarse, endgame, even, player, random_ply};

/// The result under best play of both, seen by the side to move: every legal move is tried, and the
/// whole game decides when it ends. `None` if it takes too long.
fn solve(game: &mut Game, left: &mut u32) -> Option<i8> {
    if let Some(result) = game.result() {
        return Some(result.outcome.value_for(game.side_to_move()));
    }
    *left = left.checked_sub(1)?;
    let mut best = -1;
    for mv in game.legal_moves() {
        game.play_legal(mv);
        let value = solve(game, left);
        game.undo();
        best = best.max(-value?);
    }
    Some(best)
}

#[test]
fn what_is_proven_is_so() {
    let rng = &mut stream(2, [0; 3]);
    let (mut solved, mut by_result, mut by_repetition, mut by_history) = (0, [0; 3], 0, 0);
    let mut by_rules = vec![0; RuleSet::ALL.len()];
    let mut n = 0;
    while solved < 1000 {
        n += 1;
        let limit = [5, 7, 9, 11][n % 4];
        let mut game = endgame(2, limit, rng);
        (0..limit / 2).for_each(|_| random_ply(&mut game, rng));
        if game.result().is_some() {
            continue;
        }
        let Some(result) = solve(&mut game, &mut 600) else { continue };
        let method = Method::ALL[n % 2];
        let script = if n % 3 == 0 { even } else { coarse };
        let mut player = player(by(method), script);
        let all = Limits { simulations: Some(u32::MAX), ..Limits::default() };
        let choice = player.choose(&game, &all).unwrap();
        let (start, moves) = (game.start().to_string(), game.moves().to_vec());
        let root = player.states().next().unwrap();
        assert_eq!(root.proven, Some(result), "{} {start} {moves:?}", game.rules());
        assert_eq!(root.value, result as f32);
        assert_eq!(choice.value, Some(result as f32), "{} {start} {moves:?}", game.rules());
        // Not every move has to be proven, but what is said of one is true.
        for found in player.moves().filter(|found| found.proven.is_some()) {
            game.play_legal(found.mv);
            let reply = solve(&mut game, &mut { u32::MAX }).unwrap();
            game.undo();
            assert_eq!(found.proven, Some(-reply), "{} {start} {moves:?}", game.rules());
        }
        // The move that is played keeps the result.
        game.play_legal(choice.mv);
        assert_eq!(solve(&mut game, &mut { u32::MAX }), Some(-result));
        game.undo();

        let repeats = |mv| {
            let mut after = game.clone();
            after.play_legal(mv);
            after.result().is_some_and(|result| result.ending == Ending::Repetition)
        };
        by_repetition += game.legal_moves().into_iter().any(repeats) as u32;
        solved += 1;
        by_result[(result + 1) as usize] += 1;
        let rules = RuleSet::ALL.iter().position(|rules| rules.name() == game.rules().name());
        by_rules[rules.unwrap()] += 1;
        // A solver that forgets how the game came here would sometimes be wrong.
        let forgetful = Game::from_position(*game.rules(), *game.position());
        let mut rules = *game.rules();
        rules.repetition = Repetition::Allowed;
        let careless = Game::from_position(rules, *game.position());
        by_history += [forgetful, careless]
            .iter_mut()
            .any(|other| solve(other, &mut 1000).is_some_and(|value| value != result))
            as u32;
    }
    assert!(by_result.iter().all(|&count| count > 50), "{by_result:?}");
    assert!(by_rules.iter().all(|&count| count > 50), "{by_rules:?}");
    assert!(by_repetition > 50 && by_history > 2, "{by_repetition} {by_history}");
}

/// Best play to the end, both sides by a player that proves as it goes along.
#[test]
fn a_proven_win_is_won() {
    let rng = &mut stream(3, [0; 3]);
    let mut won = 0;
    while won < 40 {
        let mut game = endgame(2, 8, rng);
        let Some(result) = solve(&mut game, &mut 600).filter(|&result| result > 0) else {
            continue;
        };
        let me = game.side_to_move();
        let mut winner = player(by(Method::ALL[won % 2]), coarse);
        let mut loser = player(by(Method::Ubfm), even);
        let limits = Limits { simulations: Some(100_000), ..Limits::default() };
        while game.result().is_none() {
            let player = if game.side_to_move() == me { &mut winner } else { &mut loser };
            let choice = player.choose(&game, &limits).unwrap();
            game.play(choice.mv).unwrap();
        }
        let end = game.result().unwrap();
        assert_eq!(end.outcome.value_for(me), result);
        won += 1;
    }
}
