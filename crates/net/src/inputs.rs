//! The one definition of what a network sees, and of how it names moves.
//!
//! Everything is seen by the side to move. For White the ranks are mirrored (a1 ↔ a6), so that the
//! mover's pieces always start on ranks 1 and 2 and play up. All inputs are 0 or 1; how many there are
//! follows from the board ([`inputs`]):
//!
//! | 6×6 | 7×7 | are 1 for |
//! |---|---|---|
//! | 0–35 | 0–48 | points with a piece of the mover, by [`Variant::point_index`] |
//! | 36–71 | 49–97 | points with an enemy piece |
//! | 72–107 | 98–146 | points that the mover attacks, as [`Position::attacks`] has it |
//! | 108–143 | 147–195 | points that the enemy attacks |
//! | 144–155 | 196–209 | the number of the mover's pieces, 1 to 12 or 14; none of these when it has no piece left |
//! | 156–167 | 210–223 | the number of enemy pieces, likewise |
//! | 168–183 | 224–239 | plies without capture in steps of three: 0–2, 3–5, …, 42–44, 45 and more |
//!
//! Moves have the index of [`Variant::move_index`] in the same view: see [`policy_index`].
//!
//! Exchanging colours changes no input. The symmetries of the board are best applied to the
//! position and its moves ([`Position::under`], [`Move::under`]) before the inputs are taken.

use serde::{Deserialize, Serialize};
use surakarta_game::board::{MAX_SIZE, WIDTH};
use surakarta_game::{Color, MAX_MOVES, Move, Position, Symmetry, Variant};

/// Changes whenever the meaning of an input or of a policy index does; weights files quote it.
pub const INPUT_VERSION: u32 = 1;

/// How many inputs the networks of a variant have: 184 on 6×6 points, 240 on 7×7.
pub const fn inputs(variant: Variant) -> usize {
    let groups = Groups::of(variant.size());
    groups.quiet + QUIET_STEPS as usize
}

/// The most [`inputs`] of any variant, for buffers.
pub const MAX_INPUTS: usize = {
    let mut most = 0;
    let mut v = 0;
    while v < Variant::ALL.len() {
        if inputs(Variant::ALL[v]) > most {
            most = inputs(Variant::ALL[v]);
        }
        v += 1;
    }
    most
};

/// The groups of inputs that belong to points, each with one input a point.
pub(crate) const POINT_GROUPS: usize = 4;

/// Inputs that a network can be blind to, to see what they are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputGroup {
    /// The pieces of both sides.
    Pieces,
    /// The points that each side attacks.
    Attacks,
    /// How many pieces each side has.
    Counts,
    /// Plies without capture.
    Quiet,
}

impl InputGroup {
    /// All of them.
    pub const ALL: [InputGroup; 4] =
        [InputGroup::Pieces, InputGroup::Attacks, InputGroup::Counts, InputGroup::Quiet];

    /// `pieces`, `attacks`, `counts` or `quiet`.
    pub const fn name(self) -> &'static str {
        match self {
            InputGroup::Pieces => "pieces",
            InputGroup::Attacks => "attacks",
            InputGroup::Counts => "counts",
            InputGroup::Quiet => "quiet",
        }
    }

    /// The inputs of the group in the networks of a variant.
    pub const fn range(self, variant: Variant) -> std::ops::Range<usize> {
        let groups = Groups::of(variant.size());
        match self {
            InputGroup::Pieces => 0..groups.attacks,
            InputGroup::Attacks => groups.attacks..groups.count,
            InputGroup::Counts => groups.count..groups.quiet,
            InputGroup::Quiet => groups.quiet..inputs(variant),
        }
    }
}

const QUIET_STEPS: u32 = 16;
const QUIET_STEP: u32 = 3;

/// Where each group of inputs begins, one after another, as the table above has them.
struct Groups {
    enemy: usize,
    attacks: usize,
    enemy_attacks: usize,
    count: usize,
    enemy_count: usize,
    quiet: usize,
}

impl Groups {
    const fn of(size: usize) -> Groups {
        let (points, pieces) = (size * size, 2 * size);
        Groups {
            enemy: points,
            attacks: 2 * points,
            enemy_attacks: 3 * points,
            count: 4 * points,
            enemy_count: 4 * points + pieces,
            quiet: 4 * points + 2 * pieces,
        }
    }
}

/// Lists the inputs that are 1, in ascending order, in a buffer that the caller keeps.
///
/// ```
/// use surakarta_game::Position;
/// use surakarta_net::{MAX_INPUTS, active};
///
/// let mut buffer = [0; MAX_INPUTS];
/// let listed = active(&Position::default(), &mut buffer);
/// assert_eq!(listed[..3], [0, 1, 2]); // the mover's pieces on a1, b1, c1
/// assert_eq!(listed[listed.len() - 3..], [155, 167, 168]); // 12 pieces each, no quiet ply
/// ```
#[inline]
pub fn active<'a>(position: &Position, buffer: &'a mut [u16; MAX_INPUTS]) -> &'a [u16] {
    match position.variant().size() {
        6 => list(words::<6, 3>(position), buffer),
        _ => list(words::<MAX_SIZE, 4>(position), buffer),
    }
}

/// The inputs that are 1 as a bit set: input `i` is bit `i % 64` of word `i / 64`.
#[inline]
pub(crate) fn bits(position: &Position) -> [u64; MAX_INPUTS.div_ceil(64)] {
    match position.variant().size() {
        6 => {
            let [a, b, c] = words::<6, 3>(position);
            [a, b, c, 0]
        }
        _ => words::<MAX_SIZE, 4>(position),
    }
}

/// Lists the bits of a set, ascending.
#[inline]
pub(crate) fn list<const WORDS: usize>(
    words: [u64; WORDS],
    buffer: &mut [u16; MAX_INPUTS],
) -> &[u16] {
    let mut listed = 0;
    for (word, mut bits) in words.into_iter().enumerate() {
        while bits != 0 {
            buffer[listed] = (64 * word as u32 + bits.trailing_zeros()) as u16;
            listed += 1;
            bits &= bits - 1;
        }
    }
    &buffer[..listed]
}

/// [`bits`] on a board of this size.
#[inline]
fn words<const SIZE: usize, const WORDS: usize>(position: &Position) -> [u64; WORDS] {
    let side = position.side_to_move();
    let attacks = position.attacks();
    let [own, enemy, own_attacks, enemy_attacks] =
        [position.own(), position.enemy(), attacks[side as usize], attacks[side.other() as usize]]
            .map(|set| {
                pack::<SIZE>(if side == Color::White { mirror_ranks::<SIZE>(set) } else { set })
            });
    // No bit for a count of 0, the lowest one for a count of 1.
    let count = |set: u64| (1 << set.count_ones()) >> 1;
    let quiet = 1 << (position.quiet_plies() / QUIET_STEP).min(QUIET_STEPS - 1);

    let groups = const { Groups::of(SIZE) };
    let (points, pieces) = (SIZE * SIZE, 2 * SIZE);
    let mut words = [0; WORDS];
    put(&mut words, 0, points, own);
    put(&mut words, groups.enemy, points, enemy);
    put(&mut words, groups.attacks, points, own_attacks);
    put(&mut words, groups.enemy_attacks, points, enemy_attacks);
    put(&mut words, groups.count, pieces, count(own));
    put(&mut words, groups.enemy_count, pieces, count(enemy));
    put(&mut words, groups.quiet, QUIET_STEPS as usize, quiet);
    words
}

/// Sets the bits of a group, so many from `start` on. Both are constants once this is inlined.
#[inline(always)]
fn put(words: &mut [u64], start: usize, length: usize, bits: u64) {
    let (word, shift) = (start / 64, start % 64);
    words[word] |= bits << shift;
    if shift + length > 64 {
        words[word + 1] |= bits >> (64 - shift);
    }
}

/// A set of points by [`Variant::point_index`]: closes the gaps between ranks, then between pairs of
/// ranks, then between fours.
#[inline]
const fn pack<const SIZE: usize>(mut set: u64) -> u64 {
    let gap = WIDTH - SIZE;
    let mut step = 0;
    while step < 3 {
        let even = [0x00ff_00ff_00ff_00ff, 0x0000_ffff_0000_ffff, 0x0000_0000_ffff_ffff][step];
        set = set & even | (set & !even) >> (gap << step);
        step += 1;
    }
    set
}

/// Turns a set of points upside down.
#[inline]
const fn mirror_ranks<const SIZE: usize>(set: u64) -> u64 {
    set.swap_bytes() >> (WIDTH * (WIDTH - SIZE))
}

/// A move in a variant in the view of the side that makes it; applied twice, it is the move again.
pub const fn mover_move(variant: Variant, mv: Move, side: Color) -> Move {
    match side {
        Color::Black => mv,
        Color::White => mv.under(variant, Symmetry::FLIP_RANKS),
    }
}

/// Where a policy of [`Variant::moves`] entries keeps a move of `side`: the index of the move in that
/// side's view, or `None` if the variant's geometry has no such move.
#[inline]
pub fn policy_index(variant: Variant, mv: Move, side: Color) -> Option<usize> {
    let index = variant.move_index(mv)?;
    Some(match side {
        Color::Black => index,
        Color::White => MIRRORED[variant as usize][index] as usize,
    })
}

static MIRRORED: [[u16; MAX_MOVES]; Variant::ALL.len()] = {
    let mut tables = [[0; MAX_MOVES]; Variant::ALL.len()];
    let mut v = 0;
    while v < tables.len() {
        let variant = Variant::ALL[v];
        let mut index = 0;
        while let Some(mv) = variant.move_at(index) {
            if let Some(mirrored) = variant.move_index(mover_move(variant, mv, Color::White)) {
                tables[v][index] = mirrored as u16;
            }
            index += 1;
        }
        v += 1;
    }
    tables
};
