//! The rules: every fast path against its slow twin, against known values, and against the text.

mod endings;
mod games;
mod moves;
mod notation;
mod perft;
mod playouts;
mod sources;
mod symmetry;
