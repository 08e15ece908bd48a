//! What a position is worth, seen by the side to move, in hundredths of what a piece is worth when half
//! of them are gone.

use surakarta_game::board::WIDTH;
use surakarta_game::{Game, Loops, Position, Survey, Variant};
use surakarta_tablebase::Value;

/// A score: about hundredths of a piece while the game goes on, beyond [`DECIDED`] once it is won or lost.
pub type Score = i32;

/// A piece more than the opponent, at the end of a game.
pub const PIECE: Score = 100;

/// Every won game scores more than this, every lost one less than its negative, and no evaluation
/// comes near.
pub const DECIDED: Score = 20_000 - 128;

/// What something is worth on a full board, and what it would be on an empty one: between them it
/// changes in a straight line with the number of pieces.
type Worth = [i64; 2];

// The weights are fitted by logistic regression to results and scores of games of the player with
// itself in the standard variant, in positions where no capture is possible. The other variants take
// them over: points go by what they are to the circuits, which is why the corners have the company of
// other points without a circuit on 7×7.

/// A piece.
const MATERIAL: Worth = [59, 141];

/// Points of one class, the same under the eight symmetries, and what a piece there is worth beyond
/// [`MATERIAL`].
type Classes = [(u64, Worth); 5];

const fn classes(variant: Variant) -> Classes {
    let size = variant.size();
    let mut without_circuit = class(size, 0, 0);
    if size % 2 == 1 {
        without_circuit |= class(size, size / 2, 0) | class(size, size / 2, size / 2);
    }
    [
        (without_circuit, [-11, -55]),
        (class(size, 1, 0), [2, 7]), // b1, an end of the inner circuit's lines
        (class(size, 2, 0), [2, 13]), // c1, an end of the outer circuit's lines
        (class(size, 1, 1), [4, 7]), // b2, where the inner circuit crosses itself
        (class(size, 2, 2), [6, 19]), // c3, where the outer circuit does
    ]
}

/// To be the side to move.
const TEMPO: Score = 5;
/// A step to a neighbouring point.
const STEP: Score = 1;
/// A loop whose nearest pieces are of one side, by the circuit and by the free stops that lie between
/// the loop and either of them: see [`Loops`](surakarta_game::Loops). The same whichever way round.
static HELD: [[[i16; REACH]; REACH]; 2] = [
    [
        [-19, -1, 2, 0, 7, 16, 16, 13],
        [-1, 26, 0, 0, 0, 0, 0, 0],
        [2, 0, 20, 17, 18, 11, 11, 24],
        [0, 0, 17, 25, 16, 15, 15, 13],
        [7, 0, 18, 16, 9, 6, 6, 4],
        [16, 0, 11, 15, 6, 15, 15, 10],
        [16, 0, 11, 15, 6, 15, 15, 10],
        [13, 0, 24, 13, 4, 10, 10, 2],
    ],
    [
        [-7, -1, 4, 4, 0, 6, 6, 1],
        [-1, 3, 11, 8, 4, 9, 9, 12],
        [4, 11, 14, 0, 0, 0, 0, 0],
        [4, 8, 0, 0, 7, 5, 5, -2],
        [0, 4, 0, 7, 11, 6, 6, 12],
        [6, 9, 0, 5, 6, 4, 4, 6],
        [6, 9, 0, 5, 6, 4, 4, 6],
        [1, 12, 0, -2, 12, 6, 6, 3],
    ],
];
/// The numbers of free stops that are told apart.
const REACH: usize = Loops::BEYOND as usize + 1;

/// The worth of the pieces on a rank, by the rank and the set of its points: the number of pieces and
/// both ends of their [`Worth`], each in a field of its own of one integer, so that ranks are added and
/// sides subtracted in one go.
type Ranks = [[i64; 1 << WIDTH]; WIDTH];

const EMPTY_BOARD: u32 = 20;
const PIECES: u32 = 40;

const fn ranks(variant: Variant) -> Ranks {
    let mut ranks = [[0; 1 << WIDTH]; WIDTH];
    let classes = classes(variant);
    let mut point = 0;
    while point < 64 {
        let (rank, file) = (point / WIDTH, point % WIDTH);
        let [mut full, mut empty] = MATERIAL;
        let mut c = 0;
        while c < classes.len() {
            let (points, [on_full, on_empty]) = classes[c];
            if points >> point & 1 != 0 {
                (full, empty) = (full + on_full, empty + on_empty);
            }
            c += 1;
        }
        let mut row = 0;
        while row < 1 << WIDTH {
            if row >> file & 1 != 0 {
                ranks[rank][row] += full + (empty << EMPTY_BOARD) + (1 << PIECES);
            }
            row += 1;
        }
        point += 1;
    }
    ranks
}

static RANKS: [Ranks; Variant::ALL.len()] = {
    let mut table = [[[0; 1 << WIDTH]; WIDTH]; Variant::ALL.len()];
    let mut v = 0;
    while v < table.len() {
        table[v] = ranks(Variant::ALL[v]);
        v += 1;
    }
    table
};

/// The lowest of the fields of a sum, and the sum of those above it.
fn split(sum: i64, bits: u32) -> (i64, i64) {
    let low = sum << (64 - bits) >> (64 - bits);
    (low, (sum - low) >> bits)
}

/// Hand-made: pieces and where they stand, their steps, and the loops that a side holds.
pub fn evaluate(position: &Position) -> Score {
    judge(position).0
}

/// The evaluation, and whether the side to move has a capture.
pub(super) fn judge(position: &Position) -> (Score, bool) {
    let variant = position.variant();
    let ranks = &RANKS[variant as usize];
    let size = variant.size();
    let sum = |set: u64| -> i64 {
        (0..size).map(|rank| ranks[rank][(set >> (WIDTH * rank)) as usize % (1 << WIDTH)]).sum()
    };
    let (own, enemy) = (sum(position.own()), sum(position.enemy()));
    let (full, rest) = split(own - enemy, EMPTY_BOARD);
    let (empty, _) = split(rest, PIECES - EMPTY_BOARD);
    let pieces = (own + enemy + (1 << (PIECES - 1))) >> PIECES;
    let most = 2 * variant.pieces() as i64;
    let mut score = (full * pieces + empty * (most - pieces)) as Score / most as Score;

    let Survey { steps, loops } = position.survey();
    score += TEMPO + STEP * (steps[0] as Score - steps[1] as Score);
    for n in 0..loops.after.len() {
        let holder = (loops.own >> n & 1) as Score - (loops.enemy >> n & 1) as Score;
        let [after, before] = [loops.after[n], loops.before[n]].map(|stops| stops as usize % REACH);
        score += holder * HELD[n / 4][after][before] as Score;
    }
    (score, loops.captures)
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

/// The score of a position that tables prove, `ply` plies below the root, with the plies until a
/// forced capture: less than that of any game that is over.
pub(super) fn proven_score(value: Value, plies: Option<u8>, ply: usize) -> Score {
    // Lines have less than a hundred plies, so that this stays decided.
    let plies = plies.map_or(LONG, Score::from).min(LONG);
    value.sign() as Score * (20_000 - ply as Score - plies)
}

/// More plies than this count as so many.
const LONG: Score = 30;

/// The expected result in [−1, 1] that a score s stands for: ±1 once the game is decided, else
/// tanh(s / 102), which fits the results of games at 3,000 nodes a move.
pub fn value(score: Score) -> f32 {
    if score.abs() > DECIDED { score.signum() as f32 } else { (score as f32 / 102.0).tanh() }
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
