use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::avx2::Avx2;
use super::*;
use crate::layout::{Board, with_board};
use crate::placement::{Nearest, Placement};
use crate::{Move, Variant};

/// Every operation, as numbers.
struct Operations {
    stops: Stops,
    words: [[u32; LOOPS]; 2],
    sets: [u64; 2],
}

impl Task for Operations {
    type Output = (Vec<[u32; LOOPS]>, [u64; 3]);

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> Self::Output {
        let [a, b] = [m.lanes(&self.words[0]), m.lanes(&self.words[1])];
        let equal = m.equal(a, b);
        let lanes = [
            m.forward(&self.stops),
            m.backward(&self.stops),
            m.zero(),
            m.and(a, b),
            m.or(a, b),
            m.xor(a, b),
            m.without(a, b),
            m.lowest(a),
            m.swap_halves(a),
            equal,
        ];
        let words = lanes.into_iter().map(|lanes| m.words(lanes)).collect();
        let [set, mask] = self.sets;
        let n = (mask % set.count_ones().max(1) as u64) as u32;
        (words, [m.mask(equal).into(), m.nth_bit(set, n).into(), m.compress(set, mask)])
    }
}

/// What is built of them.
struct Answers<B>(Placement<B>);

impl<B: Board> Task for Answers<B> {
    type Output = (u64, Vec<Move>, Vec<Option<Move>>);

    #[inline(always)]
    fn run<M: Machine>(self, m: M) -> Self::Output {
        let nearest = Nearest::of(m, &self.0);
        let runs = nearest.read::<B, M>(m);
        let each = (0..nearest.count_runs(m)).map(|n| runs.nth(m, n)).collect();
        (self.0.count_moves(m), self.0.captures(m).as_slice().to_vec(), each)
    }
}

fn avx2() -> Option<Avx2> {
    let avx2 = Avx2::detect();
    if avx2.is_none() {
        println!("this processor has no AVX2: nothing to compare");
    }
    avx2
}

#[test]
fn all_machines_compute_the_same() {
    let Some(avx2) = avx2() else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for n in 0..20_000 {
        let mut words = [[0u32; LOOPS]; 2].map(|words| words.map(|_| rng.random()));
        // Some lanes are equal, some bits rare.
        words[1][n % LOOPS] = words[0][n % LOOPS];
        words[0][(n + 1) % LOOPS] &= rng.random::<u32>() & rng.random::<u32>();
        let stops = Stops { forward: rng.random(), backward: rng.random() };
        let sets = [rng.next_u64() & rng.next_u64(), rng.next_u64()];
        let task = || Operations { stops, words, sets };
        assert_eq!(Portable.run(task()), avx2.run(task()));
    }
}

#[test]
fn all_machines_generate_the_same_moves() {
    let Some(avx2) = avx2() else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for variant in Variant::ALL {
        for _ in 0..10_000 {
            let mut some = || match rng.random_range(0..3) {
                0 => rng.next_u64(),
                1 => rng.next_u64() & rng.next_u64(),
                _ => rng.next_u64() & rng.next_u64() & rng.next_u64(),
            };
            let own = some() & variant.board();
            let enemy = some() & variant.board() & !own;
            with_board!(variant, B => {
                let placement = Placement::<B>::new(own, enemy);
                assert_eq!(Portable.run(Answers(placement)), avx2.run(Answers(placement)));
            });
        }
    }
}
