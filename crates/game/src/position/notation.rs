//! Positions as a line of text, in the manner of FEN.

use std::fmt;
use std::str::FromStr;

use super::{Color, Position};
use crate::board::Point;
use crate::variant::{UnknownVariant, Variant};

/// The highest move number: its second ply is the highest that a position can count.
const MOST_MOVES: u16 = u16::MAX / 2 + 1;

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
    /// The third field is not a number in range.
    #[error("`{0}` is not a number of plies since the last capture; write 0 to 65535")]
    Quiet(String),
    /// The fourth field is not a number in range.
    #[error("`{0}` is not a move number; write 1 to 32768")]
    MoveNumber(String),
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
            field.parse().ok().filter(|n| digits && (least..=most).contains(n))
        };
        let quiet =
            counter(quiet, 0, u16::MAX).ok_or_else(|| InvalidPosition::Quiet(quiet.to_owned()))?;
        let number = counter(number, 1, MOST_MOVES)
            .ok_or_else(|| InvalidPosition::MoveNumber(number.to_owned()))?;
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
