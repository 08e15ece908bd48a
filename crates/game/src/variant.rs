use std::fmt;
use std::str::FromStr;

use crate::board::Point;
use crate::layout::{Layout, RURAL, SEPUR, SEPUR_ORTHOGONAL, STANDARD};
use crate::moves::Move;

/// A board and its way of moving. Records, shards and weights files name the variant they belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Variant {
    /// 6×6 points, twelve pieces a side: the game as the Computer Olympiad plays it.
    #[default]
    Standard = 0,
    /// As played in China and Korea: no diagonal steps, but a piece may slide along the outer circuit
    /// over empty points, with or without a loop, to any empty point but its own.
    Rural = 1,
    /// Bas-basan sepur of Yogyakarta: 7×7 points, fourteen pieces a side, longer circuits.
    Sepur = 2,
    /// [`Sepur`](Variant::Sepur) without diagonal steps, as some descriptions have it.
    SepurOrthogonal = 3,
}

impl Variant {
    /// Every variant, in the order of their numbers.
    pub const ALL: [Variant; 4] =
        [Variant::Standard, Variant::Rural, Variant::Sepur, Variant::SepurOrthogonal];

    /// The name used in configurations, records and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Standard => "standard",
            Variant::Rural => "rural",
            Variant::Sepur => "sepur",
            Variant::SepurOrthogonal => "sepur,diagonals=no",
        }
    }

    pub(crate) const fn layout(self) -> &'static Layout {
        match self {
            Variant::Standard => STANDARD,
            Variant::Rural => RURAL,
            Variant::Sepur => SEPUR,
            Variant::SepurOrthogonal => SEPUR_ORTHOGONAL,
        }
    }

    /// Whether a piece may slide along the outer circuit: otherwise every move that takes nothing is a
    /// step to a neighbour.
    pub const fn has_slides(self) -> bool {
        self.layout().slides
    }

    /// Files, and ranks, of the board: 6 or 7.
    pub const fn size(self) -> usize {
        self.layout().size
    }

    /// The points of the board.
    pub const fn board(self) -> u64 {
        self.layout().board
    }

    /// How many points the board has: 36 or 49.
    pub const fn points(self) -> usize {
        self.size() * self.size()
    }

    /// Pieces that each side starts with, the most it can have: 12 or 14.
    pub const fn pieces(self) -> u32 {
        2 * self.size() as u32
    }

    /// The place of a point, 0 to [`points`](Self::points) − 1, rank by rank from a1; `None` beside the
    /// board.
    pub const fn point_index(self, point: Point) -> Option<usize> {
        if self.board() & point.bit() == 0 {
            return None;
        }
        Some(point.rank() * self.size() + point.file())
    }

    /// The points of a circuit (0 inner, 1 outer) in walking order, one for each stop: a point where
    /// the circuit crosses itself stands twice. A loop follows every [`size`](Self::size) stops.
    pub fn circuit(self, circuit: usize) -> impl ExactSizeIterator<Item = Point> {
        let layout = self.layout();
        layout.circuits[circuit % 2][..layout.stops].iter().map(|&index| Point::of_index(index))
    }

    /// Distinct (from, to) pairs that a move can have: the length of a policy vector. 768 on the
    /// standard board.
    pub const fn moves(self) -> usize {
        self.layout().moves
    }

    /// The place of a move, 0 to [`moves`](Self::moves) − 1, among those that the geometry allows, or
    /// `None` if it is not one of them.
    #[inline]
    pub const fn move_index(self, mv: Move) -> Option<usize> {
        self.layout().index_of(mv)
    }

    /// The move with this index, or `None` at [`moves`](Self::moves) and beyond.
    pub const fn move_at(self, index: usize) -> Option<Move> {
        let layout = self.layout();
        if index < layout.moves { Some(layout.move_at[index]) } else { None }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a variant; the variants are: standard, rural, sepur (or sepur,diagonals=no, without diagonal steps)"
)]
pub struct UnknownVariant(String);

impl FromStr for Variant {
    type Err = UnknownVariant;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Blanks around the comma are allowed, as in the rules' text.
        let name = text.split(',').map(str::trim).collect::<Vec<_>>().join(",");
        match name.as_str() {
            "sepur,diagonals=yes" => Ok(Variant::Sepur),
            _ => Variant::ALL
                .into_iter()
                .find(|v| v.name() == name)
                .ok_or_else(|| UnknownVariant(text.to_owned())),
        }
    }
}
