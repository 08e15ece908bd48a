//! Proofs against an exhaustive search of small endgames.

use rand::RngExt;
use surakarta_game::{Color, Game, Move, Position, RuleSet, Variant};
use surakarta_search::{Proof, Search, SearchConfig, Stream, stream};

use crate::script::{even, finish, search};

/// The result for the side to move with best play, from every continuation there is; `None` if these
/// are more than `left` positions.
pub(crate) fn exhaustive(game: &mut Game, left: &mut u32) -> Option<Proof> {
    if let Some(result) = game.result() {
        let value = result.outcome.value_for(game.side_to_move());
        return Some([Proof::Loss, Proof::Draw, Proof::Win][(value + 1) as usize]);
    }
    *left = left.checked_sub(1)?;
    let mut best = Proof::Loss;
    for mv in game.legal_moves() {
        game.play(mv).unwrap();
        let value = exhaustive(game, left);
        game.undo();
        best = best.max(value?.opposite());
    }
    Some(best)
}

/// Rules under which games end soon without a capture.
const RULES: [&str; 9] = [
    "olympiad,no-capture=6",
    "olympiad,no-capture=4",
    "olympiad,repetition=3,no-capture=9",
    "threefold,no-capture=10",
    "threefold,no-capture=14",
    "no-repeat,no-capture=6",
    "no-repeat,no-capture=9",
    "contest,no-capture=5",
    "agreement,ply-cap=12",
];

/// A game of few pieces after some plies, many of them back and forth; `None` if that did not work out.
fn endgame(seed: u64) -> Option<Game> {
    let mut rng = stream(seed, [8, 0, 0]);
    let rules: RuleSet = RULES[seed as usize % RULES.len()].parse().unwrap();
    let variant = Variant::ALL[rng.random_range(0..4)];
    let mut points: Vec<u64> =
        (0..64).map(|n| 1 << n).filter(|bit| bit & variant.board() != 0).collect();
    let mut pieces = |n: usize, rng: &mut Stream| -> u64 {
        (0..n).map(|_| points.swap_remove(rng.random_range(0..points.len()))).sum()
    };
    let black = pieces([1, 1, 2, 2, 3][rng.random_range(0..5)], &mut rng);
    let white = pieces([1, 1, 2, 2, 3][rng.random_range(0..5)], &mut rng);
    let side = if rng.random_bool(0.5) { Color::Black } else { Color::White };
    let start = Position::new(variant, black, white, side, 0).unwrap();
    let mut game = Game::from_position(rules, start);
    for _ in 0..rng.random_range(0..12) {
        let moves = game.legal_moves();
        if moves.is_empty() {
            break;
        }
        let own = game.moves().len().checked_sub(2).map(|n| game.moves()[n]);
        let back = own.map(|mv| Move::new(mv.to(), mv.from())).filter(|mv| moves.contains(mv));
        let mv = back.filter(|_| rng.random_bool(0.6));
        game.play(mv.unwrap_or(moves[rng.random_range(0..moves.len())])).unwrap();
    }
    if game.result().is_some() {
        game.undo();
    }
    game.result().is_none().then_some(game)
}

/// Whether a position of the game has occurred before.
fn repeats(game: &Game) -> bool {
    let keys: std::collections::BTreeSet<_> = game.positions().iter().map(Position::key).collect();
    keys.len() < game.positions().len()
}

#[derive(Default)]
struct Tally {
    games: u32,
    proven: u32,
    repeats: u32,
    results: [u32; 3],
}

/// What each move leads to, and the best of that.
struct Truth {
    moves: Vec<(Move, Proof)>,
    best: Proof,
}

impl Truth {
    fn of(game: &mut Game, left: &mut u32) -> Option<Truth> {
        let mut moves = Vec::new();
        for mv in game.legal_moves() {
            game.play(mv).unwrap();
            let value = exhaustive(game, left);
            game.undo();
            moves.push((mv, value?.opposite()));
        }
        let best = moves.iter().map(|&(_, value)| value).max()?;
        Some(Truth { moves, best })
    }
}

/// Checks what a search claims of a game and of its moves. False if it has not proven the root.
fn check(game: &Game, truth: &Truth, tree: &Search, seed: u64) -> bool {
    for (stats, &(mv, value)) in tree.moves().zip(&truth.moves) {
        assert!(stats.proof.is_none_or(|proof| proof == value), "{mv}, seed {seed}");
    }
    let Some(proof) = tree.proof() else { return false };
    assert_eq!(proof, truth.best, "seed {seed}");
    assert_eq!(tree.value(), Some([-1.0, 0.0, 1.0][proof as usize]));
    for mv in tree.policy_visits().into_iter().map(|(mv, _)| mv).chain(tree.best()) {
        assert!(truth.moves.contains(&(mv, proof)), "{mv} throws it away, seed {seed}");
    }
    assert!(!tree.policy_visits().is_empty());
    // The line goes to the end of the game and has that result.
    let mut end = game.clone();
    tree.line().into_iter().for_each(|mv| end.play(mv).unwrap());
    let outcome = end.result().unwrap().outcome.value_for(game.side_to_move());
    assert_eq!(outcome, proof as i8 - 1);
    true
}

/// Plays the best move against random answers to the end: what was proven once is proven all the way,
/// without another simulation.
fn play_out(game: &mut Game, tree: &mut Search, rng: &mut Stream) {
    let (us, proof) = (game.side_to_move(), tree.proof().unwrap());
    loop {
        game.play(tree.best().unwrap()).unwrap();
        let answers = game.legal_moves();
        if !answers.is_empty() {
            game.play(answers[rng.random_range(0..answers.len())]).unwrap();
        }
        if let Some(result) = game.result() {
            assert!(result.outcome.value_for(us) >= proof as i8 - 1);
            return;
        }
        search(tree, &even, game, 3_000, rng);
        assert!(tree.proof() >= Some(proof));
        assert!(tree.work().simulations == 0 || proof != Proof::Win);
    }
}

#[test]
fn what_is_proven_is_what_an_exhaustive_search_finds() {
    let mut tally = Tally::default();
    let mut seed = 0;
    while tally.games < 1200 {
        seed += 1;
        let Some(mut game) = endgame(seed) else { continue };
        let Some(truth) = Truth::of(&mut game, &mut 1_500) else { continue };
        tally.games += 1;
        let mut rng = stream(seed, [9, 0, 0]);
        let solve = SearchConfig { solve: true, ..SearchConfig::default() };
        let mut tree = Search::new(solve);
        // Claims hold at any time, not only in the end.
        let early = rng.random_range(1..200);
        search(&mut tree, &even, &game, early, &mut rng);
        check(&game, &truth, &tree, seed);
        tree.extend(6_000);
        finish(&mut tree, &even);
        if check(&game, &truth, &tree, seed) {
            tally.proven += 1;
            tally.repeats += repeats(&game) as u32;
            tally.results[tree.proof().unwrap() as usize] += 1;
            play_out(&mut game, &mut tree, &mut rng);
        }
    }
    let Tally { games, proven, repeats, results } = tally;
    println!("{proven} of {games}, {repeats} with repetitions, {results:?}, {seed} seeds");
    assert!(proven * 10 >= games * 9, "only {proven} of {games} proven");
    assert!(repeats >= 100, "only {repeats} with repetitions");
    assert!(results.iter().all(|&n| n >= 100), "{results:?}");
}
