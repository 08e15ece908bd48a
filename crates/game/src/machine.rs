//! What the processor can do, chosen at run time: hot code is written once, generic over a
//! [`Machine`], and runs as a [`Task`] of the best one that is present.

use crate::stops::Stops;

/// Loops of the two circuits: the inner circuit's four, then the outer's.
pub(crate) const LOOPS: usize = 8;

/// A processor with its widest instructions, whose presence having such a value proves.
pub(crate) trait Machine: Copy {
    const NAME: &'static str;
    /// A word of 32 bits for each loop.
    type Lanes: Copy;

    /// Runs a task with all instructions of this machine.
    fn run<T: Task>(self, task: T) -> T::Output;

    /// The index of the bit that is the n-th of a set, counted from 0; any number if there is none.
    fn nth_bit(self, set: u64, n: u32) -> u32;
    /// The bits of a set that a mask has, moved together.
    fn compress(self, set: u64, mask: u64) -> u64;

    /// For each loop the circuit in walking order, turned so that the loop's next line is the lowest
    /// byte.
    fn forward(self, stops: &Stops) -> Self::Lanes;
    /// For each loop the circuit in the opposite order, turned so that the line before the loop is the
    /// lowest byte.
    fn backward(self, stops: &Stops) -> Self::Lanes;
    fn lanes(self, words: &[u32; LOOPS]) -> Self::Lanes;
    fn words(self, a: Self::Lanes) -> [u32; LOOPS];
    fn zero(self) -> Self::Lanes;
    fn and(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// The bits of `a` that `b` has not.
    fn without(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn or(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn xor(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// The lowest bit of each lane alone.
    fn lowest(self, a: Self::Lanes) -> Self::Lanes;
    /// The halves of each lane exchanged.
    fn swap_halves(self, a: Self::Lanes) -> Self::Lanes;
    /// All bits of a lane where both are equal, else none.
    fn equal(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// A bit for each lane that has all bits; every lane has all or none.
    fn mask(self, a: Self::Lanes) -> u32;
}

/// A computation for any machine.
pub(crate) trait Task {
    type Output;

    /// To be inlined, so that it is compiled once for each machine with that machine's instructions.
    fn run<M: Machine>(self, machine: M) -> Self::Output;
}

/// Runs a task on the best machine that is present.
#[inline]
pub(crate) fn run<T: Task>(task: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2::Avx2::detect() {
        return avx2.run(task);
    }
    Portable.run(task)
}

/// The instructions that fast code uses on this machine: `avx2` (with both sets of bit manipulation
/// instructions), or `portable`.
pub fn instructions() -> &'static str {
    struct Name;

    impl Task for Name {
        type Output = &'static str;

        fn run<M: Machine>(self, _: M) -> &'static str {
            M::NAME
        }
    }

    run(Name)
}

/// Any processor.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Portable {
    #[inline(always)]
    fn map(f: impl Fn(usize) -> u32) -> [u32; LOOPS] {
        std::array::from_fn(f)
    }
}

impl Machine for Portable {
    const NAME: &'static str = "portable";
    type Lanes = [u32; LOOPS];

    #[inline(always)]
    fn run<T: Task>(self, task: T) -> T::Output {
        task.run(self)
    }

    #[inline(always)]
    fn nth_bit(self, mut set: u64, n: u32) -> u32 {
        for _ in 0..n {
            set &= set.wrapping_sub(1);
        }
        set.trailing_zeros()
    }

    #[inline(always)]
    fn compress(self, set: u64, mut mask: u64) -> u64 {
        let (mut compressed, mut at) = (0, 0);
        while mask != 0 {
            // The lowest run of the mask moves as a whole.
            let low = mask.trailing_zeros();
            let len = (mask >> low).trailing_ones();
            let run = (u64::MAX >> (64 - len)) << low;
            compressed |= (set & run) >> low << at;
            at += len;
            mask &= !run;
        }
        compressed
    }

    #[inline(always)]
    fn forward(self, stops: &Stops) -> Self::Lanes {
        Portable::map(|i| stops.forward[i / 4].rotate_right(8 * (i as u32 % 4)))
    }

    #[inline(always)]
    fn backward(self, stops: &Stops) -> Self::Lanes {
        Portable::map(|i| stops.backward[i / 4].rotate_left(8 * (i as u32 % 4)))
    }

    #[inline(always)]
    fn lanes(self, words: &[u32; LOOPS]) -> Self::Lanes {
        *words
    }

    #[inline(always)]
    fn words(self, a: Self::Lanes) -> [u32; LOOPS] {
        a
    }

    #[inline(always)]
    fn zero(self) -> Self::Lanes {
        [0; LOOPS]
    }

    #[inline(always)]
    fn and(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Portable::map(|i| a[i] & b[i])
    }

    #[inline(always)]
    fn without(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Portable::map(|i| a[i] & !b[i])
    }

    #[inline(always)]
    fn or(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Portable::map(|i| a[i] | b[i])
    }

    #[inline(always)]
    fn xor(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Portable::map(|i| a[i] ^ b[i])
    }

    #[inline(always)]
    fn lowest(self, a: Self::Lanes) -> Self::Lanes {
        Portable::map(|i| a[i] & a[i].wrapping_neg())
    }

    #[inline(always)]
    fn swap_halves(self, a: Self::Lanes) -> Self::Lanes {
        Portable::map(|i| a[i].rotate_right(16))
    }

    #[inline(always)]
    fn equal(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        Portable::map(|i| if a[i] == b[i] { u32::MAX } else { 0 })
    }

    #[inline(always)]
    fn mask(self, a: Self::Lanes) -> u32 {
        (0..LOOPS).fold(0, |mask, i| mask | (a[i] & 1) << i)
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2 {
    use std::arch::x86_64::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::{LOOPS, Machine, Task};
    use crate::stops::Stops;

    /// A processor with AVX2 and both sets of bit manipulation instructions, as nearly all since 2013.
    ///
    /// Every `unsafe` block below calls an instruction of these sets, and a value of this type is made
    /// only where [`detect`](Avx2::detect) has found them.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(());

    impl Avx2 {
        #[inline]
        pub(crate) fn detect() -> Option<Avx2> {
            const UNKNOWN: u8 = 0;
            const ABSENT: u8 = 1;
            const PRESENT: u8 = 2;
            static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);
            if FOUND.load(Ordering::Relaxed) == UNKNOWN {
                let present = is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt");
                FOUND.store(if present { PRESENT } else { ABSENT }, Ordering::Relaxed);
            }
            (FOUND.load(Ordering::Relaxed) == PRESENT).then_some(Avx2(()))
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn run<T: Task>(machine: Avx2, task: T) -> T::Output {
        task.run(machine)
    }

    /// The bytes that [`Machine::forward`] takes from the four words of [`Stops`]: those of a word
    /// turned by as many lines as the loop has before it.
    const FORWARD: [u8; 4 * LOOPS] = bytes(0, false);
    const BACKWARD: [u8; 4 * LOOPS] = bytes(8, true);

    const fn bytes(first: usize, backward: bool) -> [u8; 4 * LOOPS] {
        let mut bytes = [0; 4 * LOOPS];
        let mut at = 0;
        while at < bytes.len() {
            let (circuit, line, byte) = (at / 16, at / 4 % 4, at % 4);
            let turned = if backward { byte + 4 - line } else { byte + line } % 4;
            bytes[at] = (first + 4 * circuit + turned) as u8;
            at += 1;
        }
        bytes
    }

    impl Avx2 {
        #[inline(always)]
        fn shuffled(self, stops: &Stops, bytes: &'static [u8; 4 * LOOPS]) -> __m256i {
            // SAFETY: see `Avx2`; both references are valid for as many bytes as are read.
            unsafe {
                let stops = _mm_load_si128(std::ptr::from_ref(stops).cast());
                let bytes = _mm256_loadu_si256(bytes.as_ptr().cast());
                _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(stops), bytes)
            }
        }
    }

    impl Machine for Avx2 {
        const NAME: &'static str = "avx2";
        type Lanes = __m256i;

        #[inline(always)]
        fn run<T: Task>(self, task: T) -> T::Output {
            // SAFETY: see `Avx2`.
            unsafe { run(self, task) }
        }

        #[inline(always)]
        fn nth_bit(self, set: u64, n: u32) -> u32 {
            // SAFETY: see `Avx2`.
            unsafe { _pdep_u64(1 << (n % 64), set) }.trailing_zeros()
        }

        #[inline(always)]
        fn compress(self, set: u64, mask: u64) -> u64 {
            // SAFETY: see `Avx2`.
            unsafe { _pext_u64(set, mask) }
        }

        #[inline(always)]
        fn forward(self, stops: &Stops) -> __m256i {
            self.shuffled(stops, &FORWARD)
        }

        #[inline(always)]
        fn backward(self, stops: &Stops) -> __m256i {
            self.shuffled(stops, &BACKWARD)
        }

        #[inline(always)]
        fn lanes(self, words: &[u32; LOOPS]) -> __m256i {
            // SAFETY: see `Avx2`; the words are as many bytes as are read.
            unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
        }

        #[inline(always)]
        fn words(self, a: __m256i) -> [u32; LOOPS] {
            let mut words = [0; LOOPS];
            // SAFETY: see `Avx2`; the words are as many bytes as are written.
            unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), a) };
            words
        }

        #[inline(always)]
        fn zero(self) -> __m256i {
            // SAFETY: see `Avx2`.
            unsafe { _mm256_setzero_si256() }
        }

        #[inline(always)]
        fn without(self, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: see `Avx2`.
            unsafe { _mm256_andnot_si256(b, a) }
        }

        #[inline(always)]
        fn and(self, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: see `Avx2`.
            unsafe { _mm256_and_si256(a, b) }
        }

        #[inline(always)]
        fn or(self, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: see `Avx2`.
            unsafe { _mm256_or_si256(a, b) }
        }

        #[inline(always)]
        fn xor(self, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: see `Avx2`.
            unsafe { _mm256_xor_si256(a, b) }
        }

        #[inline(always)]
        fn lowest(self, a: __m256i) -> __m256i {
            // SAFETY: see `Avx2`.
            unsafe { _mm256_and_si256(a, _mm256_sub_epi32(_mm256_setzero_si256(), a)) }
        }

        #[inline(always)]
        fn swap_halves(self, a: __m256i) -> __m256i {
            // SAFETY: see `Avx2`.
            unsafe { _mm256_or_si256(_mm256_srli_epi32(a, 16), _mm256_slli_epi32(a, 16)) }
        }

        #[inline(always)]
        fn equal(self, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: see `Avx2`.
            unsafe { _mm256_cmpeq_epi32(a, b) }
        }

        #[inline(always)]
        fn mask(self, a: __m256i) -> u32 {
            // SAFETY: see `Avx2`.
            unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(a)) as u32 }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
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
}
