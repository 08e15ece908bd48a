//! How numbers read.

use std::fmt::Display;

/// So many things, by the noun for one of them: `1 game`, `2 games`, `0 plies`.
pub fn quantity(n: impl Display, noun: &str) -> String {
    let n = n.to_string();
    match noun.strip_suffix('y') {
        _ if n == "1" => format!("1 {noun}"),
        Some(stem) => format!("{n} {stem}ies"),
        None => format!("{n} {noun}s"),
    }
}

/// A number with so many decimals. What is rounded to zero has no minus.
pub fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if is_zero(rest) => rest.to_owned(),
        _ => text,
    }
}

/// The same with its sign, which is a plus where it is rounded to zero.
pub fn signed(x: f64, decimals: usize) -> String {
    let text = format!("{x:+.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if is_zero(rest) => format!("+{rest}"),
        _ => text,
    }
}

fn is_zero(digits: &str) -> bool {
    digits.bytes().all(|b| b == b'0' || b == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_zero_positive() {
        let said = [0, 1, 2, 11].map(|n| [quantity(n, "game"), quantity(n, "ply")].join(", "));
        assert_eq!(
            said,
            ["0 games, 0 plies", "1 game, 1 ply", "2 games, 2 plies", "11 games, 11 plies"]
        );
        let numbers = [-0.04, 0.0, -0.0, 0.04, -0.06, 1.0, -10.0];
        assert_eq!(
            numbers.map(|x| fixed(x, 1)),
            ["0.0", "0.0", "0.0", "0.0", "-0.1", "1.0", "-10.0"]
        );
        assert_eq!(
            numbers.map(|x| signed(x, 1)),
            ["+0.0", "+0.0", "+0.0", "+0.0", "-0.1", "+1.0", "-10.0"]
        );
        assert_eq!((fixed(-0.4, 0), signed(f64::NEG_INFINITY, 2)), ("0".into(), "-inf".into()));
    }
}
