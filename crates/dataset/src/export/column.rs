//! The columns of tables, named and explained once.

use surakarta_game::Move;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number from 0 to 2⁶⁴ − 1.
    Count64,
    /// A number from 0 to 2³² − 1.
    Count,
    /// A number from −128 to 127.
    Sign,
    Text,
    Real,
    /// A real number, or none.
    MaybeReal,
    /// Moves with their shares: one text in CSV, two lists in Parquet, whose names end in `_index` and
    /// `_share`.
    Policy,
}

impl Kind {
    /// As a reader of the table sees it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Count64 => "uint64",
            Kind::Count => "uint32",
            Kind::Sign => "int8",
            Kind::Text => "string",
            Kind::Real => "float32",
            Kind::MaybeReal => "float32, may be null",
            Kind::Policy => "see below",
        }
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) meaning: &'static str,
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Count64(u64),
    Count(u32),
    Sign(i8),
    Text(&'a str),
    Real(f32),
    MaybeReal(Option<f32>),
    Policy(&'a [Share]),
}

/// A move, its index as the side to move sees it, and its share of the search.
pub(crate) type Share = (Move, u16, f32);

/// A row of a table with these columns.
pub(crate) trait Row {
    /// The columns in their order.
    const COLUMNS: &'static [Column];

    /// Visits the values in the order of the columns.
    fn values<'a>(&'a self, visit: &mut dyn FnMut(Value<'a>));
}

pub(crate) const fn column(name: &'static str, kind: Kind, meaning: &'static str) -> Column {
    Column { name, kind, meaning }
}
