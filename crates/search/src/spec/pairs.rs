//! `key=value{,key=value}`: the part of a player's string after the colon.

use std::fmt;

use super::PlayerSpecError;

/// The pairs of `key=value{,key=value}`, quotes taken off.
pub(super) fn split(mut text: &str) -> Result<Vec<(String, String)>, PlayerSpecError> {
    let mut pairs = Vec::new();
    loop {
        let part = &text[..text.find(',').unwrap_or(text.len())];
        let (key, _) =
            part.split_once('=').ok_or_else(|| PlayerSpecError::Pair(part.trim().to_owned()))?;
        let value = text[key.len() + 1..].trim_start();
        let (value, rest) = match value.strip_prefix('"') {
            Some(quoted) => {
                unquote(quoted).ok_or_else(|| PlayerSpecError::Quote(value.to_owned()))?
            }
            None => {
                let end = value.find(',').unwrap_or(value.len());
                (value[..end].trim_end().to_owned(), &value[end..])
            }
        };
        pairs.push((key.trim().to_owned(), value));
        match rest.strip_prefix(',') {
            Some(rest) => text = rest,
            None => return Ok(pairs),
        }
    }
}

/// The value up to the closing quote, and what follows it: nothing or a comma first.
fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut symbols = quoted.char_indices();
    while let Some((at, symbol)) = symbols.next() {
        match symbol {
            '"' => {
                let rest = quoted[at + 1..].trim_start();
                return Some((value, rest)).filter(|_| rest.is_empty() || rest.starts_with(','));
            }
            '\\' => value.push(symbols.next().map(|(_, c)| c).filter(|c| matches!(c, '"' | '\\'))?),
            _ => value.push(symbol),
        }
    }
    None
}

/// A value as it is written: in quotes where it could not be read back without.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        if value.contains([',', '"']) || value.trim() != value {
            write!(f, "\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
        } else {
            f.write_str(value)
        }
    }
}
