//! The tree search against a plain twin, hand-made trees and the rules.

mod budget;
mod player;
mod root;
mod script;
mod trees;
mod twin;
