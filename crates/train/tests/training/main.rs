//! Training and evaluation through libtorch, from outside. One program: linking takes longer than
//! running.
#![cfg(feature = "torch")]

mod agreement;
mod learning;
mod positions;
mod script;
