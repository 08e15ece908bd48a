//! The one definition of what a network sees, and of how it names moves.
//!
//! Everything is seen by the side to move. For White the ranks are mirrored (a1 ↔ a6), so that the
//! mover's pieces always start on ranks 1 and 2 and play up. All inputs are 0 or 1:
//!
//! | inputs | are 1 for |
//! |---|---|
//! | 0–35 | points with a piece of the mover, by [`Point::index`](surakarta_game::Point::index) |
//! | 36–71 | points with an enemy piece |
//! | 72–107 | points that the mover attacks, as [`Position::attacks`] has it |
//! | 108–143 | points that the enemy attacks |
//! | 144–155 | the number of the mover's pieces, 1 to 12; none of these when it has no piece left |
//! | 156–167 | the number of enemy pieces, likewise |
//! | 168–183 | plies without capture in steps of three: 0–2, 3–5, …, 42–44, 45 and more |
//!
//! Moves have the index of [`Move::index`] in the same view: see [`policy_index`].
//!
//! Exchanging colours changes no input. The symmetries of the board are best applied to the
//! position and its moves ([`Position::under`], [`Move::under`]) before the inputs are taken.

use surakarta_game::board::SIDE;
use surakarta_game::{Color, MOVES, Move, POINTS, Position, Symmetry};

/// Changes whenever the meaning of an input or of a policy index does; weights files quote it.
pub const INPUT_VERSION: u32 = 1;

/// How many inputs there are.
pub const INPUTS: usize = 184;

/// One group of inputs after another, as the table above has them.
const ENEMY: usize = POINTS;
const ATTACKS: usize = 2 * POINTS;
const ENEMY_ATTACKS: usize = 3 * POINTS;
const COUNT: usize = 4 * POINTS;
const ENEMY_COUNT: usize = COUNT + 12;
const QUIET: usize = ENEMY_COUNT + 12;
const QUIET_STEPS: u32 = 16;
const QUIET_STEP: u32 = 3;
const _: () = assert!(QUIET + QUIET_STEPS as usize == INPUTS);

/// Lists the inputs that are 1, in ascending order, in a buffer that the caller keeps.
///
/// ```
/// use surakarta_game::Position;
/// use surakarta_net::{INPUTS, active};
///
/// let mut buffer = [0; INPUTS];
/// let listed = active(&Position::default(), &mut buffer);
/// assert_eq!(listed[..3], [0, 1, 2]); // the mover's pieces on a1, b1, c1
/// assert_eq!(listed[listed.len() - 3..], [155, 167, 168]); // 12 pieces each, no quiet ply
/// ```
#[inline]
pub fn active<'a>(position: &Position, buffer: &'a mut [u16; INPUTS]) -> &'a [u16] {
    let mut listed = 0;
    for (word, mut bits) in words(position).into_iter().enumerate() {
        while bits != 0 {
            buffer[listed] = (64 * word as u32 + bits.trailing_zeros()) as u16;
            listed += 1;
            bits &= bits - 1;
        }
    }
    &buffer[..listed]
}

/// The inputs as a bit set: input `i` is bit `i % 64` of word `i / 64`.
#[inline]
fn words(position: &Position) -> [u64; 3] {
    let side = position.side_to_move();
    let attacks = position.attacks();
    let [own, enemy, own_attacks, enemy_attacks] =
        [position.own(), position.enemy(), attacks[side as usize], attacks[side.other() as usize]]
            .map(|set| if side == Color::White { mirror_ranks(set) } else { set });
    // No bit for a count of 0, the lowest one for a count of 1.
    let count = |set: u64| (1 << set.count_ones()) >> 1;
    let quiet = 1 << (position.quiet_plies() / QUIET_STEP).min(QUIET_STEPS - 1);

    const TWO: usize = 2 * 64;
    [
        own | enemy << ENEMY,
        enemy >> (64 - ENEMY)
            | own_attacks << (ATTACKS - 64)
            | enemy_attacks << (ENEMY_ATTACKS - 64),
        enemy_attacks >> (TWO - ENEMY_ATTACKS)
            | count(own) << (COUNT - TWO)
            | count(enemy) << (ENEMY_COUNT - TWO)
            | quiet << (QUIET - TWO),
    ]
}

/// Turns a set of points upside down (a1 ↔ a6): swaps its halves of three ranks, then the outer
/// ranks of each half.
const fn mirror_ranks(set: u64) -> u64 {
    const RANK: u64 = (1 << SIDE) - 1;
    const LOW: u64 = RANK | RANK << (3 * SIDE);
    const MIDDLE: u64 = LOW << SIDE;
    let halves = (set >> (3 * SIDE) | set << (3 * SIDE)) & ((1 << POINTS) - 1);
    (halves >> (2 * SIDE) & LOW) | (halves & MIDDLE) | (halves & LOW) << (2 * SIDE)
}

/// A move in the view of the side that makes it; applied twice, it is the move again.
pub const fn mover_move(mv: Move, side: Color) -> Move {
    match side {
        Color::Black => mv,
        Color::White => mv.under(Symmetry::FLIP_RANKS),
    }
}

/// Where a policy of [`MOVES`] entries keeps a move of `side`: the index of the move in that side's
/// view, or `None` if the geometry has no such move.
#[inline]
pub fn policy_index(mv: Move, side: Color) -> Option<usize> {
    let index = mv.index()?;
    Some(match side {
        Color::Black => index,
        Color::White => MIRRORED[index] as usize,
    })
}

static MIRRORED: [u16; MOVES] = {
    let mut table = [0; MOVES];
    let mut index = 0;
    while index < MOVES {
        if let Some(mv) = Move::from_index(index)
            && let Some(mirrored) = mover_move(mv, Color::White).index()
        {
            table[index] = mirrored as u16;
        }
        index += 1;
    }
    table
};
