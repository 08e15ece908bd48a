//! Random streams keyed by what they are for.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator of every random choice in play.
pub type Stream = ChaCha8Rng;

/// The stream of a run's seed and a key: (iteration, game), say. Different keys give unrelated
/// streams; the same key always gives the same one.
pub fn stream(seed: u64, key: [u64; 3]) -> Stream {
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip([seed, key[0], key[1], key[2]]) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(bytes)
}
