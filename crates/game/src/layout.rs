//! Boards with two circuits, and all that follows from their description: one definition serves
//! every variant. Tables are made at compile time; code that is generic over a [`Board`] sees them as
//! constants.

use crate::board::{GRID, Point, square};
use crate::moves::Move;
use crate::pairs::PairTables;
use crate::stops::{MAX_STOPS, StopTables};
use crate::variant::Variant;

/// What tells the variants apart.
#[derive(Clone, Copy)]
struct Description {
    /// Files, and ranks, of the board. Each circuit has four lines of so many stops.
    size: usize,
    /// Steps go to the four diagonal neighbours, too.
    diagonals: bool,
    /// A piece may slide along the outer circuit, over empty points, to an empty point.
    slides: bool,
}

/// How far the lines of the inner and of the outer circuit lie from the edge.
const INSETS: [usize; 2] = [1, 2];
/// Lines of a circuit: two files and two ranks.
pub(crate) const LINES: usize = 4;

/// By the number of the variant.
const DESCRIPTIONS: [Description; Variant::ALL.len()] = [
    Description { size: 6, diagonals: true, slides: false },
    Description { size: 6, diagonals: false, slides: true },
    Description { size: 7, diagonals: true, slides: false },
    Description { size: 7, diagonals: false, slides: false },
];

pub(crate) const STANDARD: &Layout = &Layout::new(Variant::Standard);
pub(crate) const RURAL: &Layout = &Layout::new(Variant::Rural);
pub(crate) const SEPUR: &Layout = &Layout::new(Variant::Sepur);
pub(crate) const SEPUR_ORTHOGONAL: &Layout = &Layout::new(Variant::SepurOrthogonal);

/// A board as a type. [`with_board!`] goes from a [`Variant`] to its type.
pub(crate) trait Board: Copy + 'static {
    const VARIANT: Variant;
    const LAYOUT: &'static Layout = Self::VARIANT.layout();
}

macro_rules! boards {
    ($($name:ident),*) => { $(
        #[derive(Clone, Copy)]
        pub(crate) struct $name;

        impl Board for $name {
            const VARIANT: Variant = Variant::$name;
        }
    )* };
}
boards!(Standard, Rural, Sepur, SepurOrthogonal);

/// Evaluates an expression that is generic over a [`Board`] for that of a variant.
macro_rules! with_board {
    ($variant:expr, $board:ident => $body:expr) => {
        match $variant {
            $crate::Variant::Standard => {
                type $board = $crate::layout::Standard;
                $body
            }
            $crate::Variant::Rural => {
                type $board = $crate::layout::Rural;
                $body
            }
            $crate::Variant::Sepur => {
                type $board = $crate::layout::Sepur;
                $body
            }
            $crate::Variant::SepurOrthogonal => {
                type $board = $crate::layout::SepurOrthogonal;
                $body
            }
        }
    };
}
pub(crate) use with_board;

/// The tables of a board.
pub(crate) struct Layout {
    pub(crate) size: usize,
    pub(crate) board: u64,
    pub(crate) slides: bool,
    /// How far the index of a point moves with a step: eight directions, or the first four.
    pub(crate) directions: &'static [i32],
    /// Stops of each circuit.
    pub(crate) stops: usize,
    /// The indices of the points of the two circuits, in walking order.
    pub(crate) circuits: [[u8; MAX_STOPS]; 2],
    pub(crate) stop_tables: StopTables,
    pub(crate) pairs: PairTables,
    /// How many moves the geometry allows.
    pub(crate) moves: usize,
    pub(crate) move_at: [Move; MAX_MOVES],
    index_of: [u16; GRID * GRID],
}

/// To the right, to the left, up, down, and the four diagonals.
const DIRECTIONS: [i32; 8] = [1, -1, 8, -8, 9, 7, -7, -9];

/// Not a move of the geometry.
const NONE: u16 = u16::MAX;

/// `allowed[from]`: the targets of steps, slides and captures.
type Allowed = [u64; GRID];

/// The most moves that a variant's geometry allows: [`Variant::moves`] of `sepur`.
pub const MAX_MOVES: usize = {
    let mut most = 0;
    let mut v = 0;
    while v < DESCRIPTIONS.len() {
        let moves = count(&allowed(&DESCRIPTIONS[v]));
        if moves > most {
            most = moves;
        }
        v += 1;
    }
    most
};

const fn count(allowed: &Allowed) -> usize {
    let mut moves = 0;
    let mut from = 0;
    while from < GRID {
        moves += allowed[from].count_ones() as usize;
        from += 1;
    }
    moves
}

/// The two walks of the rules: up the inset rank, loop, up the far file, loop, back along the far
/// rank, loop, down the inset file, loop.
const fn circuits(size: usize) -> [[u8; MAX_STOPS]; 2] {
    let mut circuits = [[0; MAX_STOPS]; 2];
    let mut c = 0;
    while c < 2 {
        let (near, far) = (INSETS[c], size - 1 - INSETS[c]);
        let mut n = 0;
        while n < size {
            let back = size - 1 - n;
            circuits[c][n] = Point::of(n, near).index() as u8;
            circuits[c][size + n] = Point::of(far, n).index() as u8;
            circuits[c][2 * size + n] = Point::of(back, far).index() as u8;
            circuits[c][3 * size + n] = Point::of(near, back).index() as u8;
            n += 1;
        }
        c += 1;
    }
    circuits
}

const fn allowed(description: &Description) -> Allowed {
    let &Description { size, diagonals, slides } = description;
    let board = square(size);
    let mut allowed = [0; GRID];
    let mut from = 0;
    while from < GRID {
        if board >> from & 1 != 0 {
            let mut d = 0;
            while d < directions(diagonals).len() {
                allowed[from] |= shift(1 << from, DIRECTIONS[d]) & board;
                d += 1;
            }
        }
        from += 1;
    }

    let (circuits, stops) = (circuits(size), LINES * size);
    let mut c = 0;
    while c < 2 {
        let mut start = 0;
        while start < 2 * stops {
            let backward = start >= stops;
            let mut at = start % stops;
            let from = circuits[c][at] as usize;
            // A point met before the first loop would have stopped the run there.
            let mut met = 1u64 << from;
            let mut looped = false;
            let mut n = 1;
            while n < stops {
                let last = at;
                at = (if backward { at + stops - 1 } else { at + 1 }) % stops;
                looped |= last / size != at / size;
                let to = circuits[c][at];
                if (looped || slides && c == 1) && met >> to & 1 == 0 {
                    allowed[from] |= 1 << to;
                }
                met |= 1 << to;
                n += 1;
            }
            start += 1;
        }
        c += 1;
    }
    allowed
}

const fn directions(diagonals: bool) -> &'static [i32] {
    if diagonals { &DIRECTIONS } else { DIRECTIONS.split_at(4).0 }
}

/// A set of points moved by a step. What leaves the board must be masked out.
pub(crate) const fn shift(set: u64, by: i32) -> u64 {
    if by > 0 { set << by } else { set >> -by }
}

impl Layout {
    const fn new(variant: Variant) -> Layout {
        let description = DESCRIPTIONS[variant as usize];
        let size = description.size;
        let circuits = circuits(size);
        let stop_tables = StopTables::new(size, &circuits);
        let mut layout = Layout {
            size,
            board: square(size),
            slides: description.slides,
            directions: directions(description.diagonals),
            stops: LINES * size,
            circuits,
            pairs: PairTables::new(size, square(size), description.diagonals, &stop_tables),
            stop_tables,
            moves: 0,
            move_at: [Move::of_indices(0, 0); MAX_MOVES],
            index_of: [NONE; GRID * GRID],
        };

        let allowed = allowed(&description);
        let mut from = 0;
        while from < GRID {
            let mut targets = allowed[from];
            while targets != 0 {
                let mv = Move::of_indices(from as u8, targets.trailing_zeros() as u8);
                layout.move_at[layout.moves] = mv;
                layout.index_of[Layout::place(mv)] = layout.moves as u16;
                layout.moves += 1;
                targets &= targets - 1;
            }
            from += 1;
        }
        layout
    }

    const fn place(mv: Move) -> usize {
        mv.from().index() * GRID + mv.to().index()
    }

    #[inline]
    pub(crate) const fn index_of(&self, mv: Move) -> Option<usize> {
        match self.index_of[Layout::place(mv)] {
            NONE => None,
            index => Some(index as usize),
        }
    }
}
