//! Files of text, and values that are written in them as the project's texts: moves, positions, endings.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// The bytes of a file without the byte-order mark that some editors put before text in UTF-8.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

pub(crate) fn serialize<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

pub(crate) fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    parse(&String::deserialize(from)?)
}

fn parse<T: FromStr<Err: Display>, E: Error>(text: &str) -> Result<T, E> {
    text.parse().map_err(E::custom)
}

/// A list of such values.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<T: Display, S: Serializer>(
        values: &[T],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(ToString::to_string))
    }

    pub(crate) fn deserialize<'de, T, D>(from: D) -> Result<Vec<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        Vec::<String>::deserialize(from)?.iter().map(|text| parse(text)).collect()
    }
}

/// The result of a game as seen by Black, who moves first: `1-0`, `0-1`, `1/2-1/2`.
pub(crate) mod outcome {
    use surakarta_game::{Color, Outcome};

    use super::*;

    /// The text of a result.
    pub(crate) fn name(value: Outcome) -> &'static str {
        match value {
            Outcome::Win(Color::Black) => "1-0",
            Outcome::Win(Color::White) => "0-1",
            Outcome::Draw => "1/2-1/2",
        }
    }

    pub(crate) fn serialize<S: Serializer>(value: &Outcome, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(name(*value))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Outcome, D::Error> {
        match String::deserialize(from)?.as_str() {
            "1-0" => Ok(Outcome::Win(Color::Black)),
            "0-1" => Ok(Outcome::Win(Color::White)),
            "1/2-1/2" => Ok(Outcome::Draw),
            other => Err(D::Error::custom(format!(
                "`{other}` is not a result; results are 1-0, 0-1 and 1/2-1/2"
            ))),
        }
    }
}
