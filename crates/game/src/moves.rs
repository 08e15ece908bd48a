//! Moves, and the dense index of all moves that the geometry allows.

use std::fmt;
use std::str::FromStr;

use crate::board::{CIRCUITS, POINTS, Point, SIDE, STOPS, STOPS_PER_LINE, Symmetry};

/// Distinct (from, to) pairs that a step or a capture can have: the length of a policy vector.
pub const MOVES: usize = 768;

const NONE: u16 = u16::MAX;

/// Start and target of a move. Whether it captures is evident from the position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move {
    from: u8,
    to: u8,
}

impl Move {
    /// The move between two points; it need not be one that the geometry allows.
    pub const fn new(from: Point, to: Point) -> Move {
        Move { from: from.index() as u8, to: to.index() as u8 }
    }

    /// Where the piece starts.
    pub const fn from(self) -> Point {
        Point::of(self.from)
    }

    /// Where it ends.
    pub const fn to(self) -> Point {
        Point::of(self.to)
    }

    /// Its place, 0 to 767, among the moves of the geometry, or `None` if it is not one of them.
    pub const fn index(self) -> Option<usize> {
        match INDEX_OF[self.from as usize * POINTS + self.to as usize] {
            NONE => None,
            index => Some(index as usize),
        }
    }

    /// The move with this index, or `None` at [`MOVES`] and beyond.
    pub const fn from_index(index: usize) -> Option<Move> {
        if index < MOVES { Some(MOVE_AT[index]) } else { None }
    }

    /// The same move after a symmetry of the board.
    pub const fn under(self, symmetry: Symmetry) -> Move {
        Move::new(symmetry.point(self.from()), symmetry.point(self.to()))
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not a move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a move; moves are written start and target, as in a2a3 or b1xe5")]
pub struct InvalidMove(String);

impl FromStr for Move {
    type Err = InvalidMove;

    /// Reads `a2a3` and, for captures, also `b1xe5`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || InvalidMove(text.to_owned());
        let (from, to) = text.split_at_checked(2).ok_or_else(error)?;
        let to = to.strip_prefix('x').unwrap_or(to);
        Ok(Move::new(from.parse().map_err(|_| error())?, to.parse().map_err(|_| error())?))
    }
}

/// `allowed[from][to]`: a step between neighbours, or a capture over at least one loop.
const ALLOWED: [[bool; POINTS]; POINTS] = {
    let mut allowed = [[false; POINTS]; POINTS];
    let mut from = 0;
    while from < POINTS {
        let mut to = 0;
        while to < POINTS {
            let files = (from % SIDE).abs_diff(to % SIDE);
            let ranks = (from / SIDE).abs_diff(to / SIDE);
            allowed[from][to] = from != to && files <= 1 && ranks <= 1;
            to += 1;
        }
        from += 1;
    }
    let mut circuit = 0;
    while circuit < 2 {
        let mut start = 0;
        while start < STOPS {
            let from = CIRCUITS[circuit][start];
            let mut backward = 0;
            while backward < 2 {
                // A point met before the first loop would have stopped the run there.
                let mut met = 1u64 << from;
                let mut looped = false;
                let mut n = 1;
                while n < STOPS {
                    let last =
                        if backward == 1 { start + STOPS - n + 1 } else { start + n - 1 } % STOPS;
                    let stop = if backward == 1 { start + STOPS - n } else { start + n } % STOPS;
                    if last / STOPS_PER_LINE != stop / STOPS_PER_LINE {
                        looped = true;
                    }
                    let to = CIRCUITS[circuit][stop];
                    if looped && met >> to & 1 == 0 {
                        allowed[from as usize][to as usize] = true;
                    }
                    met |= 1 << to;
                    n += 1;
                }
                backward += 1;
            }
            start += 1;
        }
        circuit += 1;
    }
    allowed
};

const MOVE_AT: [Move; MOVES] = {
    let mut moves = [Move { from: 0, to: 0 }; MOVES];
    let mut n = 0;
    let mut from = 0;
    while from < POINTS {
        let mut to = 0;
        while to < POINTS {
            if ALLOWED[from][to] {
                moves[n] = Move { from: from as u8, to: to as u8 };
                n += 1;
            }
            to += 1;
        }
        from += 1;
    }
    assert!(n == MOVES);
    moves
};

static INDEX_OF: [u16; POINTS * POINTS] = {
    let mut table = [NONE; POINTS * POINTS];
    let mut n = 0;
    while n < MOVES {
        table[MOVE_AT[n].from as usize * POINTS + MOVE_AT[n].to as usize] = n as u16;
        n += 1;
    }
    table
};
