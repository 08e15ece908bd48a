//! Best-first minimax and Descent against a plain twin, a solver, hand-made trees and the rules.

mod player;
mod script;
mod solver;
mod trees;
mod twin;
