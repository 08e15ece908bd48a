//! Where the tests take their positions from.

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surakarta_game::{Color, Game, Move, Point, Position, RuleSet, Variant, points};

pub(crate) fn stream(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The points of a variant's board.
pub(crate) fn board(variant: Variant) -> impl Iterator<Item = Point> {
    points(variant.board())
}

/// Every pair of points of a variant's board.
pub(crate) fn all_pairs(variant: Variant) -> impl Iterator<Item = Move> {
    board(variant).flat_map(move |from| board(variant).map(move |to| Move::new(from, to)))
}

/// As many pieces a side as may be, anywhere, few as often as many.
pub(crate) fn scattered(variant: Variant, rng: &mut ChaCha8Rng) -> Position {
    let mut bits: Vec<u64> = board(variant).map(Point::bit).collect();
    bits.shuffle(rng);
    let most = variant.pieces() as usize;
    let (black, white) = (rng.random_range(0..=most), rng.random_range(0..=most));
    let set = |bits: &[u64]| bits.iter().fold(0, |set, bit| set | bit);
    let side = if rng.random() { Color::Black } else { Color::White };
    let quiet = rng.random_range(0..60);
    Position::new(variant, set(&bits[..black]), set(&bits[black..black + white]), side, quiet)
        .expect("disjoint sets of no more pieces than a side has")
}

/// One or two pieces of the side to move, with an enemy on every point around them as far as there are
/// enough: hardly a step is possible, if any.
pub(crate) fn hemmed_in(variant: Variant, rng: &mut ChaCha8Rng) -> Position {
    let points: Vec<Point> = board(variant).collect();
    let own = (0..rng.random_range(1..=2))
        .fold(0, |set, _| set | points.choose(rng).expect("a board has points").bit());
    let near =
        |a: Point, b: Point| a.file().abs_diff(b.file()) <= 1 && a.rank().abs_diff(b.rank()) <= 1;
    let around = points.iter().filter(|&&point| {
        own & point.bit() == 0 && points.iter().any(|&b| own & b.bit() != 0 && near(point, b))
    });
    let most = variant.pieces() as usize;
    let mut enemies: Vec<u64> = around.map(|point| point.bit()).take(most).collect();
    let mut others: Vec<u64> = points.iter().map(|point| point.bit()).collect();
    others.retain(|bit| own & bit == 0 && !enemies.contains(bit));
    others.shuffle(rng);
    let more = rng.random_range(0..=(most - enemies.len()).min(others.len()));
    enemies.extend(&others[..more]);
    let enemy = enemies.iter().fold(0, |set, bit| set | bit);
    Position::new(variant, own, enemy, Color::Black, 0)
        .expect("disjoint sets of no more pieces than a side has")
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

/// Scattered positions of the standard variant, and those of random games.
pub(crate) fn positions(seed: u64, n: usize) -> Vec<Position> {
    positions_of(Variant::Standard, seed, n)
}

/// Scattered positions of a variant, and those of random games.
pub(crate) fn positions_of(variant: Variant, seed: u64, n: usize) -> Vec<Position> {
    let mut rng = stream(seed);
    let mut positions: Vec<Position> = (0..n / 2).map(|_| scattered(variant, &mut rng)).collect();
    while positions.len() < n {
        let game = random_game(RuleSet::default(), Position::start(variant), &mut rng);
        positions.extend(game.positions().iter().step_by(3));
    }
    positions.truncate(n);
    positions
}

/// Such positions of every variant, `n` of each.
pub(crate) fn positions_of_all(seed: u64, n: usize) -> Vec<Position> {
    Variant::ALL.into_iter().flat_map(|variant| positions_of(variant, seed, n)).collect()
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
