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

/// What the operations mean, one bit at a time.
#[test]
fn the_portable_machine_computes_what_it_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..2_000 {
        let (set, mask) = (rng.next_u64() & rng.next_u64(), rng.next_u64());
        let bits = |set: u64| (0..64).filter(move |bit| set >> bit & 1 != 0);
        for (n, bit) in bits(set).enumerate() {
            assert_eq!(Portable.nth_bit(set, n as u32), bit);
        }
        let moved = bits(mask).enumerate().filter(|(_, bit)| set >> bit & 1 != 0);
        let expected = moved.fold(0, |all, (n, _)| all | 1 << n);
        assert_eq!(Portable.compress(set, mask), expected);

        // Byte k of a forward lane is the line that lies k lines on from the loop's next one; of a
        // backward lane, of the backward word, which has the line before the last loop first.
        let stops = Stops { forward: rng.random(), backward: rng.random() };
        let (forward, backward) = (Portable.forward(&stops), Portable.backward(&stops));
        for (lane, byte) in (0..LOOPS).flat_map(|lane| (0..4).map(move |byte| (lane, byte))) {
            let (circuit, line) = (lane / 4, lane % 4);
            let byte_of = |word: u32, byte: usize| word.to_le_bytes()[byte % 4];
            assert_eq!(byte_of(forward[lane], byte), byte_of(stops.forward[circuit], line + byte));
            let turned = byte_of(stops.backward[circuit], 4 - line + byte);
            assert_eq!(byte_of(backward[lane], byte), turned);
        }
        let a: [u32; LOOPS] = std::array::from_fn(|_| rng.random::<u32>() & rng.random::<u32>());
        let lowest = a.map(|word| bits(word.into()).next().map_or(0, |bit| 1 << bit));
        assert_eq!(Portable.lowest(a), lowest);
        assert_eq!(Portable.swap_halves(a), a.map(|word| word.rotate_left(16)));
    }
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
