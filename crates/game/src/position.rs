//! Positions.

use std::fmt;

use crate::board::{Point, Symmetry, WIDTH};
use crate::moves::Move;
use crate::variant::Variant;

mod notation;

pub use notation::InvalidPosition;

/// The players by the colour of their pieces. Black moves first, from ranks 1 and 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Color {
    /// The first player.
    Black = 0,
    /// The second player.
    White = 1,
}

impl Color {
    /// The opponent.
    pub const fn other(self) -> Color {
        match self {
            Color::Black => Color::White,
            Color::White => Color::Black,
        }
    }

    /// `black` or `white`.
    pub const fn name(self) -> &'static str {
        match self {
            Color::Black => "black",
            Color::White => "white",
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The pieces, whose turn it is, and the counters that endings need. Sets of points are bit sets by
/// [`Point::index`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    pieces: [u64; 2],
    quiet: u16,
    ply: u16,
    side: Color,
    variant: Variant,
}

/// What tells positions apart for repetition: the pieces and the side to move. Equal exactly when
/// these are.
pub type Key = [u64; 2];

impl Default for Position {
    fn default() -> Self {
        Position::start(Variant::Standard)
    }
}

impl Position {
    /// The start of a game.
    pub const fn start(variant: Variant) -> Position {
        let black = variant.board() & ((1 << (2 * WIDTH)) - 1);
        Position {
            pieces: [black, black << (WIDTH * (variant.size() - 2))],
            quiet: 0,
            ply: 0,
            side: Color::Black,
            variant,
        }
    }

    /// A position from its parts: the point sets of Black and White, the side to move, and the plies
    /// since the last capture. It counts as the first move of its game.
    ///
    /// # Errors
    /// If the sets overlap, leave the board, or hold more pieces than a side starts with.
    pub fn new(
        variant: Variant,
        black: u64,
        white: u64,
        side: Color,
        quiet: u16,
    ) -> Result<Position, InvalidPosition> {
        let position = Position { pieces: [black, white], quiet, ply: side as u16, side, variant };
        position.validate()?;
        Ok(position)
    }

    /// The one definition of a valid position.
    pub(crate) fn validate(&self) -> Result<(), InvalidPosition> {
        let [black, white] = self.pieces;
        if black & white != 0 || (black | white) & !self.variant.board() != 0 {
            return Err(InvalidPosition::Overlap);
        }
        for (color, set) in [(Color::Black, black), (Color::White, white)] {
            let (count, most) = (set.count_ones(), self.variant.pieces());
            if count > most {
                return Err(InvalidPosition::TooManyPieces(color, count, most));
            }
        }
        Ok(())
    }

    /// The variant that is played.
    pub const fn variant(&self) -> Variant {
        self.variant
    }

    /// Whose turn it is.
    pub const fn side_to_move(&self) -> Color {
        self.side
    }

    /// The points that a colour's pieces stand on.
    pub const fn pieces(&self, color: Color) -> u64 {
        self.pieces[color as usize]
    }

    /// The pieces of the side to move.
    pub const fn own(&self) -> u64 {
        self.pieces(self.side)
    }

    /// The pieces of the other side.
    pub const fn enemy(&self) -> u64 {
        self.pieces(self.side.other())
    }

    /// The points that any piece stands on.
    pub const fn occupied(&self) -> u64 {
        self.pieces[0] | self.pieces[1]
    }

    /// The points that no piece stands on.
    pub const fn empty(&self) -> u64 {
        self.variant.board() & !self.occupied()
    }

    /// How many pieces a colour has.
    pub const fn count(&self, color: Color) -> u32 {
        self.pieces(color).count_ones()
    }

    /// The colour of the piece on a point.
    pub const fn color_at(&self, point: Point) -> Option<Color> {
        if self.pieces[0] & point.bit() != 0 {
            Some(Color::Black)
        } else if self.pieces[1] & point.bit() != 0 {
            Some(Color::White)
        } else {
            None
        }
    }

    /// Plies since the last capture, or since the start of the game.
    pub const fn quiet_plies(&self) -> u32 {
        self.quiet as u32
    }

    /// Plies played before this position: 0 at the start, even exactly when Black is to move. A
    /// position given in the middle of a game counts from its move number.
    pub const fn ply(&self) -> u32 {
        self.ply as u32
    }

    /// What repetition compares.
    pub const fn key(&self) -> Key {
        [self.pieces[0] | (self.side as u64) << 63, self.pieces[1]]
    }

    /// Whether the move takes a piece, given that it is legal.
    pub const fn is_capture(&self, mv: Move) -> bool {
        self.enemy() & mv.to().bit() != 0
    }

    /// The position after a legal move. An illegal one gives a position without meaning, never a
    /// panic: see [`Position::is_legal`](Position::is_legal).
    #[must_use]
    #[inline]
    pub const fn after(&self, mv: Move) -> Position {
        let (from, to) = (mv.from().bit(), mv.to().bit());
        let (own, enemy) = (self.own() & !from | to, self.enemy() & !to);
        // Made anew, not changed in place: a store of parts that is read as a whole soon takes time.
        Position {
            pieces: match self.side {
                Color::Black => [own, enemy],
                Color::White => [enemy, own],
            },
            quiet: if self.is_capture(mv) { 0 } else { self.quiet.saturating_add(1) },
            // At the end of its range the move number stays, and the side to move still alternates.
            ply: if self.ply == u16::MAX { u16::MAX - 1 } else { self.ply + 1 },
            side: self.side.other(),
            variant: self.variant,
        }
    }

    /// The position that many plies later, with these pieces of the side that is to move then and of the
    /// other.
    pub(crate) fn later(&self, plies: u32, own: u64, enemy: u64, quiet: u32) -> Position {
        let mut next = *self;
        if plies % 2 == 1 {
            next.side = self.side.other();
        }
        next.pieces[next.side as usize] = own;
        next.pieces[next.side.other() as usize] = enemy;
        next.quiet = quiet.min(u16::MAX as u32) as u16;
        // As `after` counts: at the end of its range the number stays, and its parity goes on.
        let ply = self.ply as u64 + plies as u64;
        next.ply =
            if ply <= u16::MAX as u64 { ply as u16 } else { u16::MAX - 1 + (ply % 2) as u16 };
        next
    }

    /// The same position with the other side to move, in the same move and as long without a capture.
    #[must_use]
    pub const fn with_other_side_to_move(&self) -> Position {
        let mut other = *self;
        other.side = self.side.other();
        other.ply ^= 1;
        other
    }

    /// The position after a symmetry of the board.
    #[must_use]
    pub fn under(&self, symmetry: Symmetry) -> Position {
        Position { pieces: self.pieces.map(|set| symmetry.set(self.variant, set)), ..*self }
    }

    /// The position with the colours exchanged, the side to move too.
    #[must_use]
    pub const fn with_colors_exchanged(&self) -> Position {
        let mut other = self.with_other_side_to_move();
        other.pieces = [self.pieces[1], self.pieces[0]];
        other
    }
}
