//! Moves and their notation.

use std::fmt;
use std::str::FromStr;

use crate::board::{Point, Symmetry};
use crate::variant::Variant;

/// Start and target of a move. Whether it captures is evident from the position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move {
    from: u8,
    to: u8,
}

impl Move {
    /// The move between two points; it need not be one that the geometry allows.
    #[inline]
    pub const fn new(from: Point, to: Point) -> Move {
        Move { from: from.index() as u8, to: to.index() as u8 }
    }

    /// The move between two points given by their indices.
    #[inline]
    pub(crate) const fn of_indices(from: u8, to: u8) -> Move {
        Move::new(Point::of_index(from), Point::of_index(to))
    }

    /// Where the piece starts.
    #[inline]
    pub const fn from(self) -> Point {
        Point::of_index(self.from)
    }

    /// Where it ends.
    #[inline]
    pub const fn to(self) -> Point {
        Point::of_index(self.to)
    }

    /// The same move after a symmetry of a variant's board.
    pub const fn under(self, variant: Variant, symmetry: Symmetry) -> Move {
        Move::new(symmetry.point(variant, self.from()), symmetry.point(variant, self.to()))
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
