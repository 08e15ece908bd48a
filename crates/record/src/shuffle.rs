//! A pseudo-random order of the numbers below n that needs no memory.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const ROUNDS: usize = 6;

/// A permutation of 0..n chosen by a key: a Feistel network over the smallest square of a power of two
/// that holds n, walked until it falls below n (on average fewer than four steps).
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    n: u64,
    /// Bits of each half.
    half: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of this key. Different keys give unrelated ones.
    pub(crate) fn new(n: u64, key: [u64; 4]) -> Permutation {
        let mut stream = stream(key);
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        let half = bits.div_ceil(2).max(1);
        Permutation { n, half, keys: std::array::from_fn(|_| stream.next_u64()) }
    }

    /// Where `index`, below n, goes.
    pub(crate) fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.n);
        let mut at = index;
        loop {
            at = self.encipher(at);
            if at < self.n {
                return at;
            }
        }
    }

    fn encipher(&self, value: u64) -> u64 {
        let mask = (1 << self.half) - 1;
        let (mut left, mut right) = (value >> self.half, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ mix(right ^ key) & mask);
        }
        left << self.half | right
    }
}

/// The random stream of a key.
pub(crate) fn stream(key: [u64; 4]) -> ChaCha8Rng {
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(key) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(bytes)
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit in changes half of those out.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for n in (1..300).chain([4095, 4096, 4097, 100_000]) {
            let order = Permutation::new(n, [n, 1, 2, 3]);
            let mut seen = vec![false; n as usize];
            for index in 0..n {
                let seen = &mut seen[order.at(index) as usize];
                assert!(!*seen, "{n}: twice");
                *seen = true;
            }
        }
    }

    #[test]
    fn every_number_is_as_likely_at_every_place() {
        // 20,000 keys of 5 numbers: each cell expects 4,000 and deviates by 57.
        let mut counts = [[0i32; 5]; 5];
        for key in 0..20_000 {
            let order = Permutation::new(5, [key, 0, 0, 0]);
            for (index, row) in counts.iter_mut().enumerate() {
                row[order.at(index as u64) as usize] += 1;
            }
        }
        for count in counts.iter().flatten() {
            assert!((count - 4_000).abs() < 300, "{counts:?}");
        }
    }

    #[test]
    fn neighbours_part() {
        let n = 100_000;
        let order = Permutation::new(n, [1, 2, 3, 4]);
        let near = (1..n).filter(|&i| order.at(i).abs_diff(order.at(i - 1)) < 1_000).count();
        // Two random places lie within 1,000 of each other in 2 % of cases.
        assert!((1_800..2_200).contains(&near), "{near}");
    }
}
