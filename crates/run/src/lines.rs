//! Lines of a protocol from a source that need not be well-behaved.

use std::io::{self, BufRead, Read};

/// The next line without its end, `None` at the end of the input. Lines of more than `longest` bytes
/// are left out, bytes that are no text replaced.
pub(crate) fn next_line(input: &mut dyn BufRead, longest: usize) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let room = longest as u64 + 1;
        if input.take(room).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        if bytes.last() == Some(&b'\n') || bytes.len() <= longest {
            let text = String::from_utf8_lossy(&bytes);
            return Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()));
        }
        input.skip_until(b'\n')?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_too_long_are_left_out() {
        let mut input = b"one\r\n123456789\n12345678\n\n\xff\nend".as_slice();
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input, 8).unwrap() {
            lines.push(line);
        }
        assert_eq!(lines, ["one", "12345678", "", "\u{fffd}", "end"]);
    }
}
