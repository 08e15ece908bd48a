//! The numbers of positions: 0, 1, 2 … for those of a class that no symmetry of the board makes equal.
//!
//! The pieces of the smaller side, the base, decide the symmetry: their sets fall into orbits under
//! the eight symmetries, of each of which the first set stands for all. Turned so, the pieces of the
//! other side are numbered among the points that the base leaves free, in the order of their sets as
//! numbers (Knuth, The Art of Computer Programming 4A, 7.2.1.3: the combinatorial number system).
//! Where symmetries leave the base as it is, the least of the sets that they make of the other side's
//! stands for all, and a bit set counts those.

use surakarta_game::{Position, Symmetry, Variant, points};

use crate::class::{Class, MAX_PIECES};

/// A side has fewer pieces than this.
const MOST: usize = MAX_PIECES as usize;
/// Points of the grid, of which a board has some.
const GRID: usize = 64;

/// `BINOMIALS[n][k]`: how many sets of k of n points there are.
const BINOMIALS: [[u32; MOST]; GRID] = {
    let mut table = [[0u32; MOST]; GRID];
    let mut n = 0;
    while n < GRID {
        table[n][0] = 1;
        let mut k = 1;
        while n > 0 && k < MOST {
            // The largest that are used are those of 49 points.
            table[n][k] = table[n - 1][k].wrapping_add(table[n - 1][k - 1]);
            k += 1;
        }
        n += 1;
    }
    table
};

/// The board's points in their order, and where symmetries take them.
#[derive(Debug)]
struct Places {
    variant: Variant,
    /// By the index of a point: how many points of the board lie before it.
    before: [u8; GRID],
    /// By symmetry and index of a point.
    images: [[u8; GRID]; 8],
}

impl Places {
    fn new(variant: Variant) -> Places {
        let mut places = Places { variant, before: [0; GRID], images: [[0; GRID]; 8] };
        for (n, point) in points(variant.board()).enumerate() {
            places.before[point.index()] = n as u8;
            for symmetry in Symmetry::ALL {
                places.images[symmetry.index()][point.index()] =
                    symmetry.point(variant, point).index() as u8;
            }
        }
        places
    }

    /// The number of a set among those of as many points that leave `taken` free.
    #[inline]
    fn rank(&self, set: u64, taken: u64) -> u32 {
        let (mut set, mut rank, mut k) = (set, 0, 1);
        while set != 0 {
            let point = set.trailing_zeros() as usize;
            let below = (taken & ((1 << point) - 1)).count_ones();
            rank += BINOMIALS[self.before[point] as usize - below as usize][k];
            set &= set - 1;
            k += 1;
        }
        rank
    }

    #[inline]
    fn turned(&self, set: u64, symmetry: usize) -> u64 {
        let (mut set, mut turned) = (set, 0);
        while set != 0 {
            turned |= 1 << self.images[symmetry][set.trailing_zeros() as usize];
            set &= set - 1;
        }
        turned
    }

    /// The set of `k` of these points with a number.
    fn unrank(free: &[u8], k: usize, rank: u32) -> u64 {
        let (mut rank, mut set, mut n) = (rank, 0, free.len());
        for k in (1..=k).rev() {
            n = (0..n).rev().find(|&n| BINOMIALS[n][k] <= rank).unwrap_or(0);
            rank -= BINOMIALS[n][k];
            set |= 1 << free[n];
        }
        set
    }
}

/// The sets of the base that no symmetry makes equal.
#[derive(Debug)]
struct Orbit {
    /// The base that stands for all.
    base: u64,
    /// The positions with this base have the numbers from here on.
    start: u32,
    /// The symmetries that leave the base as it is, but for the one that changes nothing.
    symmetries: Vec<u8>,
    /// With such symmetries: which sets of the other side stand for all.
    canonical: Option<Bits>,
}

/// A bit set that counts.
#[derive(Debug)]
struct Bits {
    words: Vec<u64>,
    /// Bits before each word.
    before: Vec<u32>,
}

impl Bits {
    fn new(words: Vec<u64>) -> Bits {
        let mut sum = 0;
        let count = |word: &u64| {
            let before = sum;
            sum += word.count_ones();
            before
        };
        let before = words.iter().map(count).collect();
        Bits { words, before }
    }

    fn count(&self) -> u32 {
        self.words.last().map_or(0, |word| word.count_ones() + self.before[self.words.len() - 1])
    }

    /// How many bits lie before one.
    fn rank(&self, bit: u32) -> u32 {
        let (word, bit) = (bit as usize / 64, bit % 64);
        self.before[word] + (self.words[word] & ((1 << bit) - 1)).count_ones()
    }

    /// The n-th bit, which there must be.
    fn select(&self, n: u32) -> u32 {
        let word = self.before.partition_point(|&before| before <= n) - 1;
        let mut left = self.words[word];
        for _ in self.before[word]..n {
            left &= left - 1;
        }
        64 * word as u32 + left.trailing_zeros()
    }
}

/// A bijection between the positions of a class, symmetrical ones counted once, and 0 to
/// [`len`](Self::len) − 1. Which colour is to move makes no difference.
#[derive(Debug)]
pub struct Index {
    places: Places,
    class: Class,
    /// By number of a set of the base: its orbit and, in the upper three bits, the symmetry that turns
    /// it into the set that stands for all.
    of_base: Vec<u32>,
    orbits: Vec<Orbit>,
    len: u32,
}

const SYMMETRY_SHIFT: u32 = 29;

/// How many positions a class has, symmetrical ones counted once: by Burnside's lemma, the mean over the
/// symmetries of how many positions each of them leaves as they are. Such a position has whole cycles of
/// points on either side.
pub fn positions(variant: Variant, class: Class) -> u64 {
    let fixed = Symmetry::ALL.iter().map(|symmetry| {
        // By pieces of both sides: how many ways there are to choose among the cycles so far.
        let mut ways = [[0u64; MOST]; MOST];
        ways[0][0] = 1;
        let mut seen = 0u64;
        for point in points(variant.board()) {
            let (mut at, mut length) = (point, 0);
            while seen & at.bit() == 0 {
                seen |= at.bit();
                at = symmetry.point(variant, at);
                length += 1;
            }
            if length == 0 {
                continue;
            }
            // Backwards, so that no cycle is chosen twice.
            for own in (0..MOST).rev() {
                for enemy in (0..MOST).rev() {
                    let more = |own: Option<usize>, enemy: Option<usize>| {
                        own.zip(enemy).map_or(0, |(own, enemy)| ways[own][enemy])
                    };
                    ways[own][enemy] += more(own.checked_sub(length), Some(enemy))
                        + more(Some(own), enemy.checked_sub(length));
                }
            }
        }
        ways[class.own as usize][class.enemy as usize]
    });
    fixed.sum::<u64>() / Symmetry::ALL.len() as u64
}

impl Index {
    /// The numbers of a class on a variant's board.
    pub fn new(variant: Variant, class: Class) -> Index {
        let places = Places::new(variant);
        let board: Vec<u8> = points(variant.board()).map(|point| point.index() as u8).collect();
        let base_pieces = class.own.min(class.enemy) as usize;
        let others = class.own.max(class.enemy) as usize;
        let sets = BINOMIALS[board.len()][base_pieces];
        let mut of_base = vec![u32::MAX; sets as usize];
        let (mut orbits, mut start) = (Vec::<Orbit>::new(), 0);
        for rank in 0..sets {
            if of_base[rank as usize] != u32::MAX {
                continue;
            }
            let base = Places::unrank(&board, base_pieces, rank);
            let mut symmetries = Vec::new();
            // Backwards, so that a set that several symmetries turn into the base has the first.
            for symmetry in Symmetry::ALL.iter().rev() {
                let image = places.rank(places.turned(base, symmetry.inverse().index()), 0);
                of_base[image as usize] =
                    orbits.len() as u32 | (symmetry.index() as u32) << SYMMETRY_SHIFT;
                if image == rank && *symmetry != Symmetry::IDENTITY {
                    symmetries.push(symmetry.index() as u8);
                }
            }
            let free = free_points(&board, base);
            let all = BINOMIALS[free.len()][others];
            let canonical = (!symmetries.is_empty()).then(|| {
                let mut words = vec![0u64; all.div_ceil(64) as usize];
                for rank in 0..all {
                    let set = Places::unrank(&free, others, rank);
                    let least = symmetries.iter().all(|&s| set <= places.turned(set, s as usize));
                    words[rank as usize / 64] |= (least as u64) << (rank % 64);
                }
                Bits::new(words)
            });
            let count = canonical.as_ref().map_or(all, Bits::count);
            orbits.push(Orbit { base, start, symmetries, canonical });
            start += count;
        }
        Index { places, class, of_base, orbits, len: start }
    }

    /// The class that is numbered.
    pub fn class(&self) -> Class {
        self.class
    }

    /// The variant whose board it is.
    pub fn variant(&self) -> Variant {
        self.places.variant
    }

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Never: every class has positions.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of a position of this class and board. Another position gets a number without
    /// meaning, or a panic.
    pub fn number(&self, position: &Position) -> usize {
        debug_assert_eq!(Class::of(position), Some(self.class));
        self.number_of(position.own(), position.enemy())
    }

    /// The number of the position with these pieces of the side to move and of the other.
    #[inline]
    pub(crate) fn number_of(&self, own: u64, enemy: u64) -> usize {
        let (base, other) = if self.base_is_own() { (own, enemy) } else { (enemy, own) };
        let entry = self.of_base[self.places.rank(base, 0) as usize];
        let orbit = &self.orbits[(entry & ((1 << SYMMETRY_SHIFT) - 1)) as usize];
        let mut other = self.places.turned(other, (entry >> SYMMETRY_SHIFT) as usize);
        let Some(canonical) = &orbit.canonical else {
            return (orbit.start + self.places.rank(other, orbit.base)) as usize;
        };
        let images = orbit.symmetries.iter().map(|&s| self.places.turned(other, s as usize));
        other = images.fold(other, u64::min);
        (orbit.start + canonical.rank(self.places.rank(other, orbit.base))) as usize
    }

    /// The position with a number below [`len`](Self::len), with Black to move.
    ///
    /// # Panics
    /// If there is none.
    pub fn position(&self, number: usize) -> Position {
        assert!(number < self.len(), "there is no position {number} in class {}", self.class);
        let mut found = None;
        self.visit(number..number + 1, |_| true, |_, own, enemy| found = Some((own, enemy)));
        let (own, enemy) = found.expect("each number belongs to an orbit");
        self.position_of(own, enemy)
    }

    pub(crate) fn position_of(&self, own: u64, enemy: u64) -> Position {
        let black = surakarta_game::Color::Black;
        Position::new(self.variant(), own, enemy, black, 0).expect("few pieces on the board")
    }

    /// Calls `visit` with each number of a range that `chosen` says yes to, and the pieces of the side
    /// to move and of the other.
    pub(crate) fn visit(
        &self,
        range: std::ops::Range<usize>,
        chosen: impl Fn(usize) -> bool,
        mut visit: impl FnMut(usize, u64, u64),
    ) {
        let board: Vec<u8> =
            points(self.variant().board()).map(|point| point.index() as u8).collect();
        let others = self.class.own.max(self.class.enemy) as usize;
        let mut at = self.orbits.partition_point(|orbit| orbit.start as usize <= range.start);
        let mut number = range.start;
        while number < range.end {
            let orbit = &self.orbits[at - 1];
            let end = self.orbits.get(at).map_or(self.len(), |next| next.start as usize);
            let free = free_points(&board, orbit.base);
            for number in (number..end.min(range.end)).filter(|&number| chosen(number)) {
                let place = (number - orbit.start as usize) as u32;
                let rank = orbit.canonical.as_ref().map_or(place, |bits| bits.select(place));
                let other = Places::unrank(&free, others, rank);
                match self.base_is_own() {
                    true => visit(number, orbit.base, other),
                    false => visit(number, other, orbit.base),
                }
            }
            number = end;
            at += 1;
        }
    }

    fn base_is_own(&self) -> bool {
        self.class.own <= self.class.enemy
    }
}

fn free_points(board: &[u8], base: u64) -> Vec<u8> {
    board.iter().copied().filter(|&point| base >> point & 1 == 0).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// The same for positions that a symmetry makes equal, and for no others.
    fn canonical(position: &Position) -> [u64; 2] {
        let images = Symmetry::ALL.map(|symmetry| position.under(symmetry));
        images.map(|image| [image.own(), image.enemy()]).into_iter().min().unwrap()
    }

    #[test]
    fn numbers_are_those_of_the_positions_and_no_symmetrical_two_are_among_them() {
        let small = Class::up_to(4).filter(|class| class.pieces() < 4 || class.own == 2);
        let classes = small.flat_map(|class| Variant::ALL.map(|variant| (variant, class)));
        for (variant, class) in classes {
            let index = Index::new(variant, class);
            let mut seen = HashSet::new();
            for number in 0..index.len() {
                let position = index.position(number);
                assert_eq!(index.number(&position), number, "{variant} {class} {position}");
                assert!(seen.insert(canonical(&position)), "{variant} {class} {position}");
            }
            // None is missing: by the definition, over every pair of sets.
            let board: Vec<u64> = points(variant.board()).map(|point| point.bit()).collect();
            let sets = |pieces: u8| -> Vec<u64> {
                (0..pieces).fold(vec![0], |sets: Vec<u64>, _| {
                    let more = |set: u64| {
                        board.iter().filter(move |&&bit| bit > set).map(move |bit| set | bit)
                    };
                    sets.into_iter().flat_map(more).collect()
                })
            };
            let enemies = sets(class.enemy);
            let mut all = HashSet::new();
            for own in sets(class.own) {
                for &enemy in enemies.iter().filter(|&enemy| enemy & own == 0) {
                    all.insert(canonical(&index.position_of(own, enemy)));
                }
            }
            assert_eq!(all, seen, "{variant} {class}");
        }
    }

    #[test]
    fn positions_are_counted_without_numbers() {
        for variant in Variant::ALL {
            for class in Class::up_to(6) {
                let index = Index::new(variant, class);
                assert_eq!(positions(variant, class), index.len() as u64, "{variant} {class}");
            }
        }
        assert_eq!(positions(Variant::Standard, Class { own: 4, enemy: 4 }), 264_802_788);
    }

    /// Positions of up to eight pieces, as points of the board in an order of its own.
    fn any_position() -> impl Strategy<Value = (Variant, Vec<usize>, usize)> {
        (0..Variant::ALL.len()).prop_flat_map(|variant| {
            let variant = Variant::ALL[variant];
            let places = prop::sample::subsequence(
                (0..variant.points()).collect::<Vec<_>>(),
                2..=MAX_PIECES as usize,
            );
            (Just(variant), places.prop_shuffle(), 1..MAX_PIECES as usize)
        })
    }

    proptest! {
        // Numbers of large classes take a while to make.
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn symmetrical_positions_have_one_number_and_it_leads_back((variant, places, own) in any_position()) {
            let board: Vec<u64> = points(variant.board()).map(|point| point.bit()).collect();
            let (own, enemy) = places.split_at(own.min(places.len() - 1));
            let set = |places: &[usize]| places.iter().map(|&place| board[place]).sum::<u64>();
            let class = Class { own: own.len() as u8, enemy: enemy.len() as u8 };
            // Numbers that fit into memory.
            prop_assume!(positions(variant, class) < 1 << 26);
            let index = Index::new(variant, class);
            let position = index.position_of(set(own), set(enemy));
            let number = index.number(&position);
            prop_assert_eq!(canonical(&index.position(number)), canonical(&position));
            for symmetry in Symmetry::ALL {
                prop_assert_eq!(index.number(&position.under(symmetry)), number);
            }
        }
    }
}
