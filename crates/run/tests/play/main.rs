//! A person at the terminal, played by a script.

mod board;
mod session;
