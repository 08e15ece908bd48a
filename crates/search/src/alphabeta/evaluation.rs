//! What a position is worth, in hundredths of a piece, seen by the side to move.

use surakarta_game::board::WIDTH;
use surakarta_game::{Game, Position, Variant};

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
/// 3,000 games of the player with itself in the standard variant, a piece being 100, and rounded; c2
/// is the measure. The other variants take the weights over: the classes go by what a point is to the
/// circuits, which is why the corners have the company of other points without a circuit on 7×7.
type Classes = [(u64, Score); 5];

const fn classes(variant: Variant) -> Classes {
    let size = variant.size();
    let mut without_circuit = class(size, 0, 0);
    if size % 2 == 1 {
        without_circuit |= class(size, size / 2, 0) | class(size, size / 2, size / 2);
    }
    [
        (without_circuit, -20),
        (class(size, 1, 0), -11), // b1, an end of the inner circuit's lines
        (class(size, 2, 0), -4),  // c1, an end of the outer circuit's lines
        (class(size, 1, 1), 13),  // b2, where the inner circuit crosses itself
        (class(size, 2, 2), 8),   // c3, where the outer circuit does
    ]
}

static CLASSES: [Classes; Variant::ALL.len()] = {
    let mut table = [classes(Variant::Standard); Variant::ALL.len()];
    let mut v = 0;
    while v < table.len() {
        table[v] = classes(Variant::ALL[v]);
        v += 1;
    }
    table
};

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
    for (points, worth) in CLASSES[position.variant() as usize] {
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

/// The points that the symmetries of a board of this size take this one to.
const fn class(size: usize, file: usize, rank: usize) -> u64 {
    let last = size - 1;
    let mut set = 0;
    let mut turn = 0;
    while turn < 8 {
        let (f, r) = if turn & 4 != 0 { (rank, file) } else { (file, rank) };
        let f = if turn & 1 != 0 { last - f } else { f };
        let r = if turn & 2 != 0 { last - r } else { r };
        set |= 1 << (r * WIDTH + f);
        turn += 1;
    }
    set
}
