//! What networks see, how their weights are kept, and what they say.

mod inputs;
mod mlp;
mod twin;
mod weights;
