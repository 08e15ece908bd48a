//! Random streams keyed by what they are for.

use rand::RngExt;
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

/// The place of one of these weights, drawn with probability ∝ w^(1/temperature); `None`, with nothing
/// drawn, at temperature 0 or where no weight is above 0.
pub fn draw(weights: &[f64], temperature: f32, rng: &mut Stream) -> Option<usize> {
    let most = weights.iter().copied().fold(0.0, f64::max);
    if temperature <= 0.0 || most == 0.0 {
        return None;
    }
    // Scaled by the highest, so that a low temperature cannot overflow.
    let weight = |w: f64| (w / most).powf(1.0 / temperature as f64);
    let total: f64 = weights.iter().map(|&w| weight(w)).sum();
    let mut left = rng.random::<f64>() * total;
    let found = weights.iter().position(|&w| {
        left -= weight(w);
        left < 0.0
    });
    // Rounding may leave a little.
    found.or_else(|| weights.iter().position(|&w| w == most))
}
