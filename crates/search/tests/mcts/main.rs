//! The tree search against a plain twin, hand-made trees and the rules.

mod budget;
mod endgames;
mod evaluations;
mod forced;
mod gumbel;
mod gumbel_twin;
mod mctx;
mod player;
mod root;
mod script;
mod solver;
mod trees;
mod twin;
