//! Points, sets of points, and the symmetries of the square.
//!
//! Points are numbered on a grid of 8 × 8, whatever the size of the board, which lies in its lower
//! left corner: a rank is a byte of a set, and a step that leaves the board falls on a point that no
//! board has.

use std::fmt;
use std::str::FromStr;

use crate::variant::Variant;

/// The indices of points lie below this.
pub const GRID: usize = WIDTH * WIDTH;
/// Files and ranks of the grid: the index of a point is `WIDTH * rank + file`.
pub const WIDTH: usize = 8;
/// Files and ranks of the largest board.
pub const MAX_SIZE: usize = 7;

/// A point of the largest board: a1 has the index 0, b1 is 1, a2 is 8, g7 is 54. Which of them a
/// variant's board has is told by [`Variant::board`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point(u8);

impl Point {
    /// The point with this index, or `None` if there is none.
    pub const fn new(index: usize) -> Option<Point> {
        Point::at(index % WIDTH, index / WIDTH)
    }

    /// The point on a file and a rank, both counted from 0, or `None` beyond g and 7.
    pub const fn at(file: usize, rank: usize) -> Option<Point> {
        if file < MAX_SIZE && rank < MAX_SIZE { Some(Point::of(file, rank)) } else { None }
    }

    pub(crate) const fn of(file: usize, rank: usize) -> Point {
        debug_assert!(file < MAX_SIZE && rank < MAX_SIZE);
        Point((WIDTH * rank + file) as u8)
    }

    /// The point with an index that is known to be one.
    pub(crate) const fn of_index(index: u8) -> Point {
        debug_assert!(Point::new(index as usize).is_some());
        Point(index)
    }

    /// `8 * rank + file`.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// 0 (file a) to 6 (file g).
    pub const fn file(self) -> usize {
        self.index() % WIDTH
    }

    /// 0 (rank 1) to 6 (rank 7).
    pub const fn rank(self) -> usize {
        self.index() / WIDTH
    }

    /// The set that holds this point alone.
    pub const fn bit(self) -> u64 {
        1 << self.0
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, rank) = (self.file() as u8, self.rank() as u8);
        write!(f, "{}{}", (b'a' + file) as char, (b'1' + rank) as char)
    }
}

impl fmt::Debug for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not a point of any board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a point; points are written a1 to f6, on the largest board to g7")]
pub struct InvalidPoint(pub(crate) String);

impl FromStr for Point {
    type Err = InvalidPoint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            [file @ b'a'..=b'g', rank @ b'1'..=b'7'] => {
                Ok(Point::of((file - b'a') as usize, (rank - b'1') as usize))
            }
            _ => Err(InvalidPoint(text.to_owned())),
        }
    }
}

/// The points of a set, lowest index first; bits that are no point of the largest board are passed
/// over.
pub fn points(set: u64) -> impl Iterator<Item = Point> {
    let mut set = set & LARGEST;
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let point = Point(set.trailing_zeros() as u8);
            set &= set - 1;
            point
        })
    })
}

/// Every [`Point`].
const LARGEST: u64 = square(MAX_SIZE);

/// The set of the points of a board.
pub(crate) const fn square(size: usize) -> u64 {
    let mut set = 0;
    let mut rank = 0;
    while rank < size {
        set |= ((1 << size) - 1) << (WIDTH * rank);
        rank += 1;
    }
    set
}

/// One of the eight symmetries of the square, under which the rules are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symmetry(u8);

impl Symmetry {
    /// The symmetry that changes nothing.
    pub const IDENTITY: Symmetry = Symmetry(0);
    /// Ranks mirrored (a1 ↔ a6, on the larger board a7): the turn of the board that shows White's view.
    pub const FLIP_RANKS: Symmetry = Symmetry(2);
    /// Files mirrored (a1 ↔ f1, on the larger board g1).
    pub const FLIP_FILES: Symmetry = Symmetry(1);
    /// All eight; bit 0 mirrors files, then bit 1 mirrors ranks, then bit 2 swaps files and ranks.
    pub const ALL: [Symmetry; 8] = [
        Symmetry(0),
        Symmetry(1),
        Symmetry(2),
        Symmetry(3),
        Symmetry(4),
        Symmetry(5),
        Symmetry(6),
        Symmetry(7),
    ];

    /// Its number, 0 to 7.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Where a point of a variant's board goes. A point beside the board stays where it is.
    pub const fn point(self, variant: Variant, point: Point) -> Point {
        let last = variant.size() - 1;
        let (mut file, mut rank) = (point.file(), point.rank());
        if file > last || rank > last {
            return point;
        }
        if self.0 & 1 != 0 {
            file = last - file;
        }
        if self.0 & 2 != 0 {
            rank = last - rank;
        }
        if self.0 & 4 != 0 { Point::of(rank, file) } else { Point::of(file, rank) }
    }

    /// Where a set of points of a variant's board goes.
    pub const fn set(self, variant: Variant, set: u64) -> u64 {
        let unused = (WIDTH - variant.size()) as u32;
        let mut set = set & variant.board();
        if self.0 & 1 != 0 {
            set = set.reverse_bits().swap_bytes() >> unused;
        }
        if self.0 & 2 != 0 {
            set = set.swap_bytes() >> (WIDTH as u32 * unused);
        }
        if self.0 & 4 != 0 { transpose(set) } else { set }
    }

    /// The symmetry that undoes this one.
    pub const fn inverse(self) -> Symmetry {
        // Only the two quarter turns are not their own inverse.
        match self.0 {
            5 => Symmetry(6),
            6 => Symmetry(5),
            other => Symmetry(other),
        }
    }
}

/// Swaps files and ranks of the grid, in blocks of 1, 2 and 4 (Warren, Hacker's Delight, 7-3).
const fn transpose(mut set: u64) -> u64 {
    let swap = (set ^ set >> 7) & 0x00aa_00aa_00aa_00aa;
    set ^= swap ^ swap << 7;
    let swap = (set ^ set >> 14) & 0x0000_cccc_0000_cccc;
    set ^= swap ^ swap << 14;
    let swap = (set ^ set >> 28) & 0x0000_0000_f0f0_f0f0;
    set ^ swap ^ swap << 28
}
