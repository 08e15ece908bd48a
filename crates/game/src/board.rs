//! The board: its points, its two circuits and its symmetries, as constants.
//!
//! Everything here derives from [`CIRCUIT_WALKS`], the two walks of the rules.

use std::fmt;
use std::str::FromStr;

/// Files, and ranks, of the board.
pub const SIDE: usize = 6;
/// Points of the board.
pub const POINTS: usize = SIDE * SIDE;
/// Stops of one circuit, walked once round; a crossing point is two of them.
pub const STOPS: usize = 24;
/// A loop joins each of these runs of stops to the next: a line of the board.
pub const STOPS_PER_LINE: usize = 6;

/// The inner and the outer circuit, stop by stop. A loop follows every sixth stop.
const CIRCUIT_WALKS: [&[u8; 2 * STOPS]; 2] = [
    b"a2b2c2d2e2f2e1e2e3e4e5e6f5e5d5c5b5a5b6b5b4b3b2b1",
    b"a3b3c3d3e3f3d1d2d3d4d5d6f4e4d4c4b4a4c6c5c4c3c2c1",
];

/// The points of the two circuits (inner, outer) in walking order, as indices of [`Point`].
pub const CIRCUITS: [[u8; STOPS]; 2] = {
    let mut circuits = [[0; STOPS]; 2];
    let mut c = 0;
    while c < 2 {
        let mut s = 0;
        while s < STOPS {
            let file = CIRCUIT_WALKS[c][2 * s] - b'a';
            let rank = CIRCUIT_WALKS[c][2 * s + 1] - b'1';
            circuits[c][s] = rank * SIDE as u8 + file;
            s += 1;
        }
        c += 1;
    }
    circuits
};

/// A point of the board: a1 is 0, b1 is 1, a2 is 6, f6 is 35.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point(u8);

impl Point {
    /// The point with this index, or `None` beyond the board.
    pub const fn new(index: u8) -> Option<Point> {
        if (index as usize) < POINTS { Some(Point(index)) } else { None }
    }

    pub(crate) const fn of(index: u8) -> Point {
        debug_assert!((index as usize) < POINTS);
        Point(index)
    }

    /// 0 to 35, rank by rank from a1.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// 0 (file a) to 5 (file f).
    pub const fn file(self) -> usize {
        self.index() % SIDE
    }

    /// 0 (rank 1) to 5 (rank 6).
    pub const fn rank(self) -> usize {
        self.index() / SIDE
    }

    /// The set that holds this point alone.
    pub const fn bit(self) -> u64 {
        1 << self.0
    }

    /// All points in the order of their indices.
    pub fn all() -> impl ExactSizeIterator<Item = Point> {
        (0..POINTS as u8).map(Point)
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

/// The text is not a point of the board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a point; points are written a1 to f6")]
pub struct InvalidPoint(pub(crate) String);

impl FromStr for Point {
    type Err = InvalidPoint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            [file @ b'a'..=b'f', rank @ b'1'..=b'6'] => {
                Ok(Point((rank - b'1') * SIDE as u8 + (file - b'a')))
            }
            _ => Err(InvalidPoint(text.to_owned())),
        }
    }
}

/// The points of a set, lowest index first.
pub fn points(mut set: u64) -> impl Iterator<Item = Point> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let point = Point(set.trailing_zeros() as u8);
            set &= set - 1;
            point
        })
    })
}

/// One of the eight symmetries of the square, under which the rules are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symmetry(u8);

impl Symmetry {
    /// The symmetry that changes nothing.
    pub const IDENTITY: Symmetry = Symmetry(0);
    /// Ranks mirrored (a1 ↔ a6): the turn of the board that shows White's view.
    pub const FLIP_RANKS: Symmetry = Symmetry(2);
    /// Files mirrored (a1 ↔ f1).
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

    /// Where a point goes.
    pub const fn point(self, point: Point) -> Point {
        Point(SYMMETRY_POINTS[self.0 as usize][point.index()])
    }

    /// Where a set of points goes.
    pub fn set(self, set: u64) -> u64 {
        points(set).fold(0, |moved, p| moved | self.point(p).bit())
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

const SYMMETRY_POINTS: [[u8; POINTS]; 8] = {
    let mut table = [[0; POINTS]; 8];
    let mut s = 0;
    while s < 8 {
        let mut p = 0;
        while p < POINTS {
            let (mut file, mut rank) = (p % SIDE, p / SIDE);
            if s & 1 != 0 {
                file = SIDE - 1 - file;
            }
            if s & 2 != 0 {
                rank = SIDE - 1 - rank;
            }
            if s & 4 != 0 {
                (file, rank) = (rank, file);
            }
            table[s][p] = (rank * SIDE + file) as u8;
            p += 1;
        }
        s += 1;
    }
    table
};
