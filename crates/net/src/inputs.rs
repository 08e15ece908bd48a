//! The one definition of what a network sees, and of how it names moves.
//!
//! Everything is seen by the side to move. For White the ranks are mirrored (a1 ↔ a6), so that the
//! mover's pieces always start on ranks 1 and 2 and play up. All inputs are 0 or 1; how many there are
//! follows from the board ([`inputs`]). Those of points come first: what stands on a point and who
//! attacks it, as [`Position::attacks`] has it, are one of twelve states, and all but the last have an
//! input for each point, by [`Variant::point_index`]:
//!
//! | 6×6 | 7×7 | on the point | attacked by |
//! |---|---|---|---|
//! | 0–35 | 0–48 | a piece of the mover | nobody |
//! | 36–71 | 49–97 | | the mover (it is defended) |
//! | 72–107 | 98–146 | | the enemy |
//! | 108–143 | 147–195 | | both |
//! | 144–287 | 196–391 | an enemy piece | likewise, in four groups |
//! | 288–323 | 392–440 | nothing | the mover |
//! | 324–359 | 441–489 | | the enemy |
//! | 360–395 | 490–538 | | both |
//! | – | – | | nobody |
//!
//! Then come inputs for the whole position:
//!
//! | 6×6 | 7×7 | are 1 for |
//! |---|---|---|
//! | 396–407 | 539–552 | the number of the mover's pieces, 1 to 12 or 14; none of these when it has no piece left |
//! | 408–419 | 553–566 | the number of enemy pieces, likewise |
//! | 420–435 | 567–582 | plies without capture in steps of three: 0–2, 3–5, …, 42–44, 45 and more |
//!
//! A piece and its being attacked make one input, so that the first layer need not find out that they
//! go together; and no more than one input of a point is 1, so that few rows of weights are added.
//!
//! Moves have the index of [`Variant::move_index`] in the same view: see [`policy_index`].
//!
//! Exchanging colours changes no input. The symmetries of the board are best applied to the
//! position and its moves ([`Position::under`], [`Move::under`]) before the inputs are taken.

use serde::{Deserialize, Serialize};
use surakarta_game::board::{MAX_SIZE, WIDTH};
use surakarta_game::{Color, MAX_MOVES, Move, Position, Symmetry, Variant};

/// Changes whenever the meaning of an input or of a policy index does; weights files quote it.
pub const INPUT_VERSION: u32 = 2;

/// How many inputs the networks of a variant have: 436 on 6×6 points, 583 on 7×7.
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

/// The states of a point that have inputs, each with one input a point.
pub(crate) const POINT_STATES: usize = 11;

/// Inputs that a network can be blind to, to see what they are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputGroup {
    /// The pieces of both sides: every point counts as empty.
    Pieces,
    /// The points that each side attacks: every point counts as attacked by nobody.
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
}

/// The input that one counts as for a network that is blind to these groups; `None` if it is nothing to it.
pub fn seen_as(variant: Variant, without: &[InputGroup], input: usize) -> Option<usize> {
    let groups = Groups::of(variant.size());
    let blind = |group| without.contains(&group);
    if input >= groups.count {
        let group = if input < groups.quiet { InputGroup::Counts } else { InputGroup::Quiet };
        return (!blind(group)).then_some(input);
    }
    let points = variant.points();
    let state = state_seen_as(without, input / points)?;
    Some(state * points + input % points)
}

/// The same for the states of a point.
pub(crate) fn state_seen_as(without: &[InputGroup], state: usize) -> Option<usize> {
    let blind = |group| without.contains(&group);
    // The empty, unattacked point, which has no input, would be the first of its four.
    let state = if state < EMPTY { state } else { state + 1 };
    let (mut on_it, mut attacked) = (state / 4, state % 4);
    if blind(InputGroup::Pieces) {
        on_it = EMPTY / 4;
    }
    if blind(InputGroup::Attacks) {
        attacked = 0;
    }
    match 4 * on_it + attacked {
        EMPTY => None,
        state if state < EMPTY => Some(state),
        state => Some(state - 1),
    }
}

/// The inputs of a variant in groups of which one at most is 1.
pub(crate) fn exclusive(variant: Variant) -> impl Iterator<Item = Box<dyn Iterator<Item = usize>>> {
    let points = variant.points();
    let groups = Groups::of(variant.size());
    let states = move |point| (0..POINT_STATES).map(move |state| state * points + point);
    let of_points = (0..points).map(move |point| Box::new(states(point)) as Box<_>);
    let ends = [groups.count, groups.enemy_count, groups.quiet, inputs(variant)];
    of_points.chain((1..ends.len()).map(move |i| Box::new(ends[i - 1]..ends[i]) as Box<_>))
}

/// The first state of an empty point: attacked by the mover.
const EMPTY: usize = 8;

const QUIET_STEPS: u32 = 16;
const QUIET_STEP: u32 = 3;

/// Where each group of inputs behind those of points begins, as the table above has them.
struct Groups {
    count: usize,
    enemy_count: usize,
    quiet: usize,
}

impl Groups {
    const fn of(size: usize) -> Groups {
        let (on_points, pieces) = (POINT_STATES * size * size, 2 * size);
        Groups { count: on_points, enemy_count: on_points + pieces, quiet: on_points + 2 * pieces }
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
/// assert_eq!(listed[..3], [0, 5, 7]); // the mover's pieces on a1, f1 and b2, which nobody attacks
/// assert_eq!(listed[listed.len() - 3..], [407, 419, 420]); // 12 pieces each, no quiet ply
/// ```
#[inline]
pub fn active<'a>(position: &Position, buffer: &'a mut [u16; MAX_INPUTS]) -> &'a [u16] {
    match position.variant().size() {
        6 => list(words::<6, { WORDS[0] }>(position), buffer),
        _ => list(words::<MAX_SIZE, { WORDS[1] }>(position), buffer),
    }
}

/// The inputs that are 1 as a bit set: input `i` is bit `i % 64` of word `i / 64`.
#[inline]
pub(crate) fn bits(position: &Position) -> [u64; WORDS[1]] {
    match position.variant().size() {
        6 => {
            let mut bits = [0; WORDS[1]];
            bits[..WORDS[0]].copy_from_slice(&words::<6, { WORDS[0] }>(position));
            bits
        }
        _ => words::<MAX_SIZE, { WORDS[1] }>(position),
    }
}

/// Words that hold a bit for each input, on the smaller board and on the largest.
const WORDS: [usize; 2] = [inputs(Variant::Standard).div_ceil(64), MAX_INPUTS.div_ceil(64)];

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
    let empty = ((1 << points) - 1) & !(own | enemy);
    let by_nobody = !(own_attacks | enemy_attacks);
    let by_own = own_attacks & !enemy_attacks;
    let by_enemy = enemy_attacks & !own_attacks;
    let by_both = own_attacks & enemy_attacks;
    let mut words = [0; WORDS];
    for (on_it, standing) in [own, enemy].into_iter().enumerate() {
        for (attacked, points_of) in [by_nobody, by_own, by_enemy, by_both].into_iter().enumerate()
        {
            put(&mut words, (4 * on_it + attacked) * points, points, standing & points_of);
        }
    }
    for (attacked, points_of) in [by_own, by_enemy, by_both].into_iter().enumerate() {
        put(&mut words, (EMPTY + attacked) * points, points, empty & points_of);
    }
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
