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
///
/// These and the weights below are hand-made terms fitted by logistic regression to the results of
/// 3,000 games of the player with itself, a piece being 100, and rounded; c2 is the measure.
const CLASSES: [(u64, Score); 5] = [
    (class(0), -20), // a1
    (class(1), -11), // b1
    (class(2), -4),  // c1
    (class(7), 13),  // b2
    (class(14), 8),  // c3
];

/// A point that a side's pieces attack over a loop, whatever stands there.
const ATTACK: Score = 3;
/// An enemy piece that is attacked, beyond [`ATTACK`].
const THREAT: Score = 18;
/// An own piece that is attacked and so defended, beyond [`ATTACK`].
const DEFENCE: Score = 11;
/// To be the side to move.
const TEMPO: Score = 7;

/// Hand-made: pieces, where they stand, and what they attack.
pub fn evaluate(position: &Position) -> Score {
    let (own, enemy) = (position.own(), position.enemy());
    let mut score = TEMPO + PIECE * difference(own, enemy);
    for (points, worth) in CLASSES {
        score += worth * difference(own & points, enemy & points);
    }
    let side = position.side_to_move();
    let attacks = position.attacks();
    let (by_own, by_enemy) = (attacks[side as usize], attacks[side.other() as usize]);
    score
        + ATTACK * difference(by_own, by_enemy)
        + THREAT * difference(by_own & enemy, by_enemy & own)
        + DEFENCE * difference(by_own & own, by_enemy & enemy)
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

/// The expected result in [−1, 1] that a score s stands for: ±1 once the game is decided, else
/// tanh(s / 140), which fits the results of games at 1,500 nodes a move.
pub fn value(score: Score) -> f32 {
    if score.abs() > DECIDED { score.signum() as f32 } else { (score as f32 / 140.0).tanh() }
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
