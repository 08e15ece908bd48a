//! Self-play: many games at once with batched leaves, written to shards.
