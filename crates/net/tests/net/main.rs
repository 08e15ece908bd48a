//! What networks see, how their weights are kept, and what they say.

mod inputs;
mod mlp;
mod quantised;
mod tower;
mod tower_twin;
mod twin;
mod weights;
