//! Positions and their one-line notation.

use std::fmt;
use std::str::FromStr;

use crate::board::{Point, Symmetry, WIDTH};
use crate::moves::Move;
use crate::variant::{UnknownVariant, Variant};

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

/// The highest move number: its second ply is the highest that a position can count.
const MOST_MOVES: u16 = u16::MAX / 2 + 1;

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

/// The parts do not make a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPosition {
    /// Two pieces on a point, or one beside the board.
    #[error("two pieces share a point or one lies off the board")]
    Overlap,
    /// A side has more pieces than it starts with.
    #[error("{0} has {1} pieces; a side has at most {2}")]
    TooManyPieces(Color, u32, u32),
    /// The notation does not have four fields, or five.
    #[error(
        "`{0}` is not a position; it needs ranks, side, plies since the last capture and move number, as in wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1, and may name its variant after them"
    )]
    Fields(String),
    /// The ranks are not so many rows of as many points.
    #[error("`{0}` does not describe {1} ranks of {1} points with b, w and the digits 1 to {1}")]
    Ranks(String, usize),
    /// The side to move is neither b nor w.
    #[error("`{0}` is not a side to move; write b or w")]
    Side(String),
    /// A counter is not a number in range.
    #[error(
        "`{0}` is not a number of plies since the last capture (0 to 65535) or a move number (1 to 32768)"
    )]
    Counter(String),
    /// The fifth field names no variant.
    #[error(transparent)]
    UnknownVariant(#[from] UnknownVariant),
    /// The fifth field names another variant than the one that is played.
    #[error("the position is of the variant {0}, but {1} is played")]
    OtherVariant(Variant, Variant),
}

impl Position {
    /// Reads a position of a variant. The notation may name its variant in a fifth field, as it is
    /// written for all but the standard one; it must be this one, then.
    ///
    /// # Errors
    /// If the text is not a position of this variant.
    pub fn parse(text: &str, variant: Variant) -> Result<Position, InvalidPosition> {
        let position = Position::parse_or(text, variant)?;
        if position.variant != variant {
            return Err(InvalidPosition::OtherVariant(position.variant, variant));
        }
        Ok(position)
    }

    /// Reads a position, of the given variant if the text names none.
    fn parse_or(text: &str, variant: Variant) -> Result<Position, InvalidPosition> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let (ranks, side, quiet, number, variant) = match fields[..] {
            [ranks, side, quiet, number] => (ranks, side, quiet, number, variant),
            [ranks, side, quiet, number, name] => (ranks, side, quiet, number, name.parse()?),
            _ => return Err(InvalidPosition::Fields(text.to_owned())),
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
        let size = variant.size();
        let position = Position {
            pieces: parse_ranks(ranks, size)
                .ok_or_else(|| InvalidPosition::Ranks(ranks.to_owned(), size))?,
            quiet,
            ply: 2 * (number - 1) + side as u16,
            side,
            variant,
        };
        position.validate()?;
        Ok(position)
    }
}

impl FromStr for Position {
    type Err = InvalidPosition;

    /// Reads a position of the variant that its fifth field names, of the standard one without.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Position::parse_or(text, Variant::Standard)
    }
}

fn parse_ranks(text: &str, size: usize) -> Option<[u64; 2]> {
    let mut pieces = [0; 2];
    let ranks: Vec<&str> = text.split('/').collect();
    if ranks.len() != size {
        return None;
    }
    for (rank, row) in ranks.into_iter().rev().enumerate() {
        let mut file = 0;
        let mut after_digit = false;
        for symbol in row.bytes() {
            // Two digits in a row would be a second spelling of the same run.
            if file >= size || after_digit && symbol.is_ascii_digit() {
                return None;
            }
            after_digit = symbol.is_ascii_digit();
            match symbol {
                b'b' | b'w' => {
                    pieces[(symbol == b'w') as usize] |= Point::of(file, rank).bit();
                    file += 1;
                }
                b'1'..=b'7' => file += (symbol - b'0') as usize,
                _ => return None,
            }
        }
        if file != size {
            return None;
        }
    }
    Some(pieces)
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.variant.size();
        for rank in (0..size).rev() {
            let mut empty = 0;
            for file in 0..size {
                let symbol = match self.color_at(Point::of(file, rank)) {
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
        write!(f, " {side} {} {}", self.quiet, self.ply / 2 + 1)?;
        match self.variant {
            Variant::Standard => Ok(()),
            variant => write!(f, " {variant}"),
        }
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
