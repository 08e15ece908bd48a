use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use cardinality_estimator::CardinalityEstimator;

/// How many different things there are: exactly, or estimated where there are too many to remember.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Distinct {
    /// How many.
    pub count: u64,
    /// Standard error of the count, as a part of it; 0 where it is exact.
    pub standard_error: f64,
}

/// 2¹⁴ registers.
const PRECISION: usize = 14;
const REGISTER_BITS: usize = 6;

/// Counts different hashes of 128 bits, of which no two of any real number fall together by accident. Beyond
/// its bound it forgets them and goes by HyperLogLog (Flajolet et al. 2007, in the form LogLog-Beta of Qin et
/// al. 2016), whose standard error is 1.04 / √registers.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    exact: Option<HashSet<u128, BuildHasherDefault<Ready>>>,
    estimator: CardinalityEstimator<u64, Ready, PRECISION, REGISTER_BITS>,
    bound: usize,
}

impl Counter {
    pub(super) fn new(bound: usize) -> Counter {
        Counter { exact: Some(HashSet::default()), estimator: CardinalityEstimator::new(), bound }
    }

    /// Hashes must come in the same order to give the same estimate to the last digit.
    pub(super) fn extend(&mut self, hashes: impl IntoIterator<Item = u128>) {
        for hash in hashes {
            self.estimator.insert_hash(hash as u64);
            if let Some(exact) = &mut self.exact {
                exact.insert(hash);
                if exact.len() > self.bound {
                    self.exact = None;
                }
            }
        }
    }

    pub(super) fn distinct(&self) -> Distinct {
        match &self.exact {
            Some(exact) => Distinct { count: exact.len() as u64, standard_error: 0.0 },
            None => Distinct {
                count: self.estimator.estimate() as u64,
                standard_error: 1.04 / ((1u64 << PRECISION) as f64).sqrt(),
            },
        }
    }
}

/// The hash of what is a hash already.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only hashes are counted");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write_u128(&mut self, hash: u128) {
        self.0 = (hash >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;

    #[test]
    fn counts_are_exact_up_to_the_bound_and_near_beyond_it() {
        let hash = |n: u64| xxh3_128(&n.to_le_bytes());
        for n in [0, 1, 1_000, 50_000, 400_000u64] {
            let mut small = Counter::new(10_000);
            let mut large = Counter::new(1_000_000);
            // Each twice.
            small.extend((0..n).chain(0..n).map(hash));
            large.extend((0..n).chain(0..n).map(hash));
            assert_eq!(large.distinct(), Distinct { count: n, standard_error: 0.0 });
            let Distinct { count, standard_error } = small.distinct();
            match n <= 10_000 {
                true => assert_eq!((count, standard_error), (n, 0.0)),
                false => {
                    let error = count as f64 / n as f64 - 1.0;
                    assert!(error.abs() < 4.0 * standard_error && standard_error > 0.0, "{error}");
                }
            }
        }
    }
}
