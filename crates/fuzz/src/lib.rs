//! Inputs that nobody would write: readers and sequences of calls under a fuzzer.
//!
//! As tests they run a fixed number of random inputs. For longer, and guided by coverage, on the
//! stable toolchain, after `cargo install cargo-bolero`:
//!
//! ```text
//! cargo bolero test -p surakarta-fuzz rules::games --sanitizer NONE -T 15m
//! ```

#[cfg(test)]
mod rules;
