//! Where the tests take their positions from.

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surakarta_game::{Color, Game, POINTS, Position, RuleSet, Variant};

pub(crate) fn stream(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Up to twelve pieces a side anywhere, few as often as many.
pub(crate) fn scattered(rng: &mut ChaCha8Rng) -> Position {
    let mut indices: Vec<u32> = (0..POINTS as u32).collect();
    indices.shuffle(rng);
    let (black, white) = (rng.random_range(0..=12), rng.random_range(0..=12));
    let set = |points: &[u32]| points.iter().fold(0u64, |set, point| set | 1 << point);
    let side = if rng.random() { Color::Black } else { Color::White };
    Position::new(
        Variant::Standard,
        set(&indices[..black]),
        set(&indices[black..black + white]),
        side,
        rng.random_range(0..60),
    )
    .expect("disjoint sets of at most twelve")
}

/// A move at random, while the game goes on.
pub(crate) fn play_random(game: &mut Game, rng: &mut ChaCha8Rng) {
    let mv = *game.legal_moves().choose(rng).expect("a game that goes on has a move");
    game.play(mv).expect("a listed move is legal");
}

/// A game of random moves to its end.
pub(crate) fn random_game(rules: RuleSet, start: Position, rng: &mut ChaCha8Rng) -> Game {
    let mut game = Game::from_position(rules, start);
    while game.result().is_none() {
        play_random(&mut game, rng);
    }
    game
}

/// Scattered positions, and those of random games.
pub(crate) fn positions(seed: u64, n: usize) -> Vec<Position> {
    let mut rng = stream(seed);
    let mut positions: Vec<Position> = (0..n / 2).map(|_| scattered(&mut rng)).collect();
    while positions.len() < n {
        let game = random_game(RuleSet::default(), Position::default(), &mut rng);
        positions.extend(game.positions().iter().step_by(3));
    }
    positions.truncate(n);
    positions
}

/// A rule set with other limits.
pub(crate) fn limited(
    mut rules: RuleSet,
    no_capture: Option<u16>,
    ply_cap: Option<u16>,
) -> RuleSet {
    (rules.no_capture, rules.ply_cap) = (no_capture, ply_cap);
    rules
}
