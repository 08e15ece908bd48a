//! What a position is worth, in hundredths of a piece, seen by the side to move.

use surakarta_game::{Game, Position};

/// A score: hundredths of a piece while the game goes on, beyond [`DECIDED`] once it is won or lost.
pub type Score = i32;

/// A piece more than the opponent.
pub const PIECE: Score = 100;

/// Every won game scores more than this, every lost one less than its negative, and no evaluation
/// comes near.
pub const DECIDED: Score = 20_000 - 128;

/// Points of one class, the same under the eight symmetries, and what a piece on one of them is
/// worth beyond [`PIECE`].
const CLASSES: [(u64, Score); 6] = [
    (class(0), -14), // a1
    (class(1), 0),   // b1
    (class(2), 0),   // c1
    (class(7), 0),   // b2
    (class(8), 0),   // c2
    (class(14), 0),  // c3
];

/// A point that a side's pieces attack over a loop.
const ATTACK: Score = 3;

/// Hand-made: pieces, where they stand, and the points that they attack.
pub fn evaluate(position: &Position) -> Score {
    let (own, enemy) = (position.own(), position.enemy());
    let mut score = PIECE * difference(own, enemy);
    for (points, worth) in CLASSES {
        score += worth * difference(own & points, enemy & points);
    }
    let side = position.side_to_move();
    let attacks = position.attacks();
    score + ATTACK * difference(attacks[side as usize], attacks[side.other() as usize])
}

/// The score of a game that is over, `ply` plies below the root: 0 for a draw, else more for a
/// greater margin of pieces, and among equal margins for a win that comes sooner or a loss that
/// comes later.
pub fn final_score(game: &Game, ply: usize) -> Score {
    let outcome = game.result().map(|result| result.outcome);
    let side = game.side_to_move();
    let sign = outcome.map_or(0, |outcome| outcome.value_for(side)) as Score;
    let position = game.position();
    let margin = difference(position.own(), position.enemy()).abs();
    sign * (20_000 + PIECE * margin - ply as Score)
}

/// The expected result in [−1, 1] that a score stands for: ±1 once the game is decided.
pub fn value(score: Score) -> f32 {
    if score.abs() > DECIDED { score.signum() as f32 } else { (score as f32 / 300.0).tanh() }
}

fn difference(own: u64, enemy: u64) -> Score {
    own.count_ones() as Score - enemy.count_ones() as Score
}

/// The points that the symmetries take this one to, by its index on the standard board.
const fn class(point: u32) -> u64 {
    let (file, rank) = (point % 6, point / 6);
    let mut set = 0;
    let mut turn = 0;
    while turn < 8 {
        let (f, r) = if turn & 4 != 0 { (rank, file) } else { (file, rank) };
        let f = if turn & 1 != 0 { 5 - f } else { f };
        let r = if turn & 2 != 0 { 5 - r } else { r };
        set |= 1 << (r * 6 + f);
        turn += 1;
    }
    set
}
