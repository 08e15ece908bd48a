//! Positions and their one-line notation.

use std::fmt;
use std::str::FromStr;

use crate::board::{POINTS, Point, SIDE, Symmetry};
use crate::moves::Move;
use crate::variant::Variant;

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

/// Pieces that each side starts with, the most it can have.
pub const PIECES: u32 = 12;

/// The highest move number: its second ply is the highest that a position can count.
const MOST_MOVES: u16 = u16::MAX / 2 + 1;

const BOARD: u64 = (1 << POINTS) - 1;

impl Default for Position {
    fn default() -> Self {
        Position::start(Variant::Standard)
    }
}

impl Position {
    /// The start of a game.
    pub const fn start(variant: Variant) -> Position {
        let black = (1 << (2 * SIDE)) - 1;
        Position {
            pieces: [black, black << (4 * SIDE)],
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
    /// If the sets overlap, leave the board, or hold more than twelve pieces.
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
        if black & white != 0 || (black | white) & !BOARD != 0 {
            return Err(InvalidPosition::Overlap);
        }
        for (color, set) in [(Color::Black, black), (Color::White, white)] {
            if set.count_ones() > PIECES {
                return Err(InvalidPosition::TooManyPieces(color, set.count_ones()));
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
        BOARD & !self.occupied()
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
    pub const fn after(&self, mv: Move) -> Position {
        let mut next = *self;
        let (own, enemy) = (self.side as usize, self.side.other() as usize);
        next.pieces[own] = (self.pieces[own] & !mv.from().bit()) | mv.to().bit();
        next.pieces[enemy] = self.pieces[enemy] & !mv.to().bit();
        next.quiet = if self.is_capture(mv) { 0 } else { self.quiet.saturating_add(1) };
        // At the end of its range the move number stays, and the side to move still alternates.
        next.ply = if self.ply == u16::MAX { u16::MAX - 1 } else { self.ply + 1 };
        next.side = self.side.other();
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
        Position { pieces: self.pieces.map(|set| symmetry.set(set)), ..*self }
    }

    /// The position with the colours exchanged, the side to move too.
    #[must_use]
    pub const fn with_colors_exchanged(&self) -> Position {
        let mut other = self.with_other_side_to_move();
        other.pieces = [self.pieces[1], self.pieces[0]];
        other
    }
}

/// The parts do not make a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPosition {
    /// Two pieces on a point, or one beside the board.
    #[error("two pieces share a point or one lies off the board")]
    Overlap,
    /// A side has more than twelve pieces.
    #[error("{0} has {1} pieces; a side has at most twelve")]
    TooManyPieces(Color, u32),
    /// The notation does not have four fields.
    #[error(
        "`{0}` is not a position; it needs ranks, side, plies since the last capture and move number, as in wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1"
    )]
    Fields(String),
    /// The ranks are not six rows of six points.
    #[error("`{0}` does not describe six ranks of six points with b, w and the digits 1 to 6")]
    Ranks(String),
    /// The side to move is neither b nor w.
    #[error("`{0}` is not a side to move; write b or w")]
    Side(String),
    /// A counter is not a number in range.
    #[error(
        "`{0}` is not a number of plies since the last capture (0 to 65535) or a move number (1 to 32768)"
    )]
    Counter(String),
}

impl FromStr for Position {
    type Err = InvalidPosition;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [ranks, side, quiet, number] = fields[..] else {
            return Err(InvalidPosition::Fields(text.to_owned()));
        };
        let side = match side {
            "b" => Color::Black,
            "w" => Color::White,
            _ => return Err(InvalidPosition::Side(side.to_owned())),
        };
        let counter = |field: &str, least: u16, most: u16| {
            // `parse` alone would take a plus sign.
            let digits = field.bytes().all(|b| b.is_ascii_digit());
            let value = field.parse().ok().filter(|n| digits && (least..=most).contains(n));
            value.ok_or_else(|| InvalidPosition::Counter(field.to_owned()))
        };
        let quiet = counter(quiet, 0, u16::MAX)?;
        let number = counter(number, 1, MOST_MOVES)?;
        let position = Position {
            pieces: parse_ranks(ranks).ok_or_else(|| InvalidPosition::Ranks(ranks.to_owned()))?,
            quiet,
            ply: 2 * (number - 1) + side as u16,
            side,
            variant: Variant::Standard,
        };
        position.validate()?;
        Ok(position)
    }
}

fn parse_ranks(text: &str) -> Option<[u64; 2]> {
    let mut pieces = [0; 2];
    let ranks: Vec<&str> = text.split('/').collect();
    if ranks.len() != SIDE {
        return None;
    }
    for (rank, row) in ranks.into_iter().rev().enumerate() {
        let mut file = 0;
        let mut after_digit = false;
        for symbol in row.bytes() {
            // Two digits in a row would be a second spelling of the same run.
            if file >= SIDE || after_digit && symbol.is_ascii_digit() {
                return None;
            }
            after_digit = symbol.is_ascii_digit();
            match symbol {
                b'b' | b'w' => {
                    pieces[(symbol == b'w') as usize] |= 1 << (rank * SIDE + file);
                    file += 1;
                }
                b'1'..=b'6' => file += (symbol - b'0') as usize,
                _ => return None,
            }
        }
        if file != SIDE {
            return None;
        }
    }
    Some(pieces)
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in (0..SIDE).rev() {
            let mut empty = 0;
            for file in 0..SIDE {
                let symbol = match self.color_at(Point::of((rank * SIDE + file) as u8)) {
                    None => {
                        empty += 1;
                        continue;
                    }
                    Some(Color::Black) => 'b',
                    Some(Color::White) => 'w',
                };
                if empty > 0 {
                    write!(f, "{empty}")?;
                    empty = 0;
                }
                write!(f, "{symbol}")?;
            }
            if empty > 0 {
                write!(f, "{empty}")?;
            }
            if rank > 0 {
                write!(f, "/")?;
            }
        }
        let side = if self.side == Color::Black { 'b' } else { 'w' };
        write!(f, " {side} {} {}", self.quiet, self.ply / 2 + 1)
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
