//! Sums of sixteen lanes held in registers.
//!
//! Compilers do not keep several arrays of sixteen numbers in registers dependably, so the innermost
//! sums are spelt in each processor's own vectors. Every implementation rounds alike: an addition
//! once, a fused multiply-add once.

use crate::lanes::{LANES, Lanes, larger};

/// Sixteen running sums.
pub(crate) trait Vector: Copy {
    /// Starts at these numbers.
    fn start(at: &Lanes) -> Self;
    /// Adds these numbers.
    fn plus(self, x: &Lanes) -> Self;
    /// Adds these numbers times a factor, rounding once.
    fn plus_scaled(self, x: &Lanes, factor: f32) -> Self;
    /// Adds the products of these numbers, rounding once.
    fn plus_product(self, x: &Lanes, y: &Lanes) -> Self;
    /// The sums.
    fn lanes(self) -> Lanes;
    /// The sums, 0 where they are negative.
    fn relu(self) -> Lanes;

    /// All lanes of each added, in the order of [`Lanes::sum`].
    #[inline(always)]
    fn totals(four: [Self; 4]) -> [f32; 4] {
        let mut totals = [0.0; 4];
        for (total, sums) in totals.iter_mut().zip(four) {
            *total = sums.lanes().sum();
        }
        totals
    }

    /// Writes the numbers above 0 and their places, counted from `first`, to the front of `values`
    /// and `places`, and returns how many there are.
    #[inline(always)]
    fn list_positive(
        x: &Lanes,
        first: u16,
        places: &mut [u16; LANES],
        values: &mut [f32; LANES],
    ) -> usize {
        let mut count = 0;
        for (lane, &x) in x.0.iter().enumerate() {
            // Written always and kept only if above 0: no branch to guess.
            places[count] = first + lane as u16;
            values[count] = x;
            count += usize::from(x > 0.0);
        }
        count
    }
}

/// Plain numbers, for any processor.
impl Vector for Lanes {
    #[inline(always)]
    fn start(at: &Lanes) -> Self {
        *at
    }

    #[inline(always)]
    fn plus(self, x: &Lanes) -> Self {
        Lanes::plus(self, *x)
    }

    #[inline(always)]
    fn plus_scaled(self, x: &Lanes, factor: f32) -> Self {
        let mut sums = self;
        for (sum, x) in sums.0.iter_mut().zip(x.0) {
            *sum = x.mul_add(factor, *sum);
        }
        sums
    }

    #[inline(always)]
    fn plus_product(self, x: &Lanes, y: &Lanes) -> Self {
        let mut sums = self;
        for ((sum, x), y) in sums.0.iter_mut().zip(x.0).zip(y.0) {
            *sum = x.mul_add(y, *sum);
        }
        sums
    }

    #[inline(always)]
    fn lanes(self) -> Lanes {
        self
    }

    #[inline(always)]
    fn relu(self) -> Lanes {
        let mut positive = self;
        for x in &mut positive.0 {
            *x = larger(*x, 0.0);
        }
        positive
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512, MEMBERS};

// Safety of this module: its types are named only in functions that enable the features of their
// intrinsics (`for_each_kernel!`: `mlp.rs`, `tower/mod.rs`), and every load is of the 64 bytes of a `Lanes` or of one half of it.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use crate::lanes::LANES;

    use super::{Lanes, Vector};

    /// One register of AVX-512.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512);

    /// Two registers of AVX.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256, __m256);

    /// For each set of eight lanes its members, ascending.
    pub(crate) static MEMBERS: [[u8; 8]; 256] = {
        let mut members = [[0; 8]; 256];
        let mut set = 0;
        while set < members.len() {
            let (mut count, mut lane) = (0, 0);
            while lane < 8 {
                if set >> lane & 1 != 0 {
                    members[set][count] = lane;
                    count += 1;
                }
                lane += 1;
            }
            set += 1;
        }
        members
    };

    /// Combines the eight lanes of each: first each with the one four further, then two, one. What is
    /// left of all four is turned into one register, so that they share the instructions.
    #[inline(always)]
    fn totals_of_eight(a: __m256, b: __m256, c: __m256, d: __m256) -> [f32; 4] {
        let mut totals = [0.0; 4];
        // SAFETY: see the module; the store fills the array exactly.
        unsafe {
            let quarter = [halve(a), halve(b), halve(c), halve(d)];
            let ab = _mm_add_ps(
                _mm_movelh_ps(quarter[0], quarter[1]),
                _mm_movehl_ps(quarter[1], quarter[0]),
            );
            let cd = _mm_add_ps(
                _mm_movelh_ps(quarter[2], quarter[3]),
                _mm_movehl_ps(quarter[3], quarter[2]),
            );
            let even = _mm_shuffle_ps::<0b10_00_10_00>(ab, cd);
            let odd = _mm_shuffle_ps::<0b11_01_11_01>(ab, cd);
            _mm_storeu_ps(totals.as_mut_ptr(), _mm_add_ps(even, odd));
        }
        totals
    }

    #[inline(always)]
    fn halve(x: __m256) -> __m128 {
        // SAFETY: see the module.
        unsafe { _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x)) }
    }

    #[inline(always)]
    fn load(x: &Lanes) -> __m512 {
        // SAFETY: see the module.
        unsafe { _mm512_load_ps(x.0.as_ptr()) }
    }

    impl Avx512 {
        /// Each lane added to the one eight further.
        #[inline(always)]
        fn halve(self) -> __m256 {
            // SAFETY: see the module.
            unsafe {
                let high = _mm512_extractf32x8_ps::<1>(self.0);
                _mm256_add_ps(_mm512_castps512_ps256(self.0), high)
            }
        }
    }

    impl Vector for Avx512 {
        #[inline(always)]
        fn start(at: &Lanes) -> Self {
            Avx512(load(at))
        }

        #[inline(always)]
        fn plus(self, x: &Lanes) -> Self {
            // SAFETY: see the module.
            Avx512(unsafe { _mm512_add_ps(self.0, load(x)) })
        }

        #[inline(always)]
        fn plus_scaled(self, x: &Lanes, factor: f32) -> Self {
            // SAFETY: see the module.
            Avx512(unsafe { _mm512_fmadd_ps(load(x), _mm512_set1_ps(factor), self.0) })
        }

        #[inline(always)]
        fn plus_product(self, x: &Lanes, y: &Lanes) -> Self {
            // SAFETY: see the module.
            Avx512(unsafe { _mm512_fmadd_ps(load(x), load(y), self.0) })
        }

        #[inline(always)]
        fn lanes(self) -> Lanes {
            let mut lanes = Lanes::splat(0.0);
            // SAFETY: see the module.
            unsafe { _mm512_store_ps(lanes.0.as_mut_ptr(), self.0) };
            lanes
        }

        #[inline(always)]
        fn relu(self) -> Lanes {
            // SAFETY: see the module.
            Avx512(unsafe { _mm512_max_ps(self.0, _mm512_setzero_ps()) }).lanes()
        }

        #[inline(always)]
        fn totals(four: [Self; 4]) -> [f32; 4] {
            let [a, b, c, d] = four;
            totals_of_eight(a.halve(), b.halve(), c.halve(), d.halve())
        }

        #[inline(always)]
        fn list_positive(
            x: &Lanes,
            first: u16,
            places: &mut [u16; LANES],
            values: &mut [f32; LANES],
        ) -> usize {
            // SAFETY: see the module; the stores fill the two arrays exactly.
            unsafe {
                let x = load(x);
                let positive = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, _mm512_setzero_ps());
                let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let all = _mm512_add_epi32(lanes, _mm512_set1_epi32(first.into()));
                let kept = _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(positive, all));
                _mm256_storeu_si256(places.as_mut_ptr().cast(), kept);
                _mm512_storeu_ps(values.as_mut_ptr(), _mm512_maskz_compress_ps(positive, x));
                positive.count_ones() as usize
            }
        }
    }

    #[inline(always)]
    fn halves(x: &Lanes) -> (__m256, __m256) {
        let (low, high) = x.0.split_at(LANES / 2);
        // SAFETY: see the module.
        unsafe { (_mm256_load_ps(low.as_ptr()), _mm256_load_ps(high.as_ptr())) }
    }

    impl Vector for Avx2 {
        #[inline(always)]
        fn start(at: &Lanes) -> Self {
            let (low, high) = halves(at);
            Avx2(low, high)
        }

        #[inline(always)]
        fn plus(self, x: &Lanes) -> Self {
            let (low, high) = halves(x);
            // SAFETY: see the module.
            unsafe { Avx2(_mm256_add_ps(self.0, low), _mm256_add_ps(self.1, high)) }
        }

        #[inline(always)]
        fn plus_scaled(self, x: &Lanes, factor: f32) -> Self {
            let (low, high) = halves(x);
            // SAFETY: see the module.
            unsafe {
                let factor = _mm256_set1_ps(factor);
                Avx2(_mm256_fmadd_ps(low, factor, self.0), _mm256_fmadd_ps(high, factor, self.1))
            }
        }

        #[inline(always)]
        fn plus_product(self, x: &Lanes, y: &Lanes) -> Self {
            let ((x_low, x_high), (y_low, y_high)) = (halves(x), halves(y));
            // SAFETY: see the module.
            unsafe {
                Avx2(_mm256_fmadd_ps(x_low, y_low, self.0), _mm256_fmadd_ps(x_high, y_high, self.1))
            }
        }

        #[inline(always)]
        fn lanes(self) -> Lanes {
            let mut lanes = Lanes::splat(0.0);
            let (low, high) = lanes.0.split_at_mut(LANES / 2);
            // SAFETY: see the module.
            unsafe {
                _mm256_store_ps(low.as_mut_ptr(), self.0);
                _mm256_store_ps(high.as_mut_ptr(), self.1);
            }
            lanes
        }

        #[inline(always)]
        fn relu(self) -> Lanes {
            // SAFETY: see the module.
            let positive = unsafe {
                let zero = _mm256_setzero_ps();
                Avx2(_mm256_max_ps(self.0, zero), _mm256_max_ps(self.1, zero))
            };
            positive.lanes()
        }

        #[inline(always)]
        fn list_positive(
            x: &Lanes,
            first: u16,
            places: &mut [u16; LANES],
            values: &mut [f32; LANES],
        ) -> usize {
            let (low, high) = halves(x);
            let mut count = 0;
            for (half, first) in [(low, first), (high, first + LANES as u16 / 2)] {
                // SAFETY: see the module; a half fills at most eight places from `count` on, which is
                // at most eight.
                unsafe {
                    let positive = _mm256_cmp_ps::<_CMP_GT_OQ>(half, _mm256_setzero_ps());
                    let set = _mm256_movemask_ps(positive) as usize;
                    let members = _mm_loadl_epi64(MEMBERS[set].as_ptr().cast());
                    let all =
                        _mm_add_epi16(_mm_cvtepu8_epi16(members), _mm_set1_epi16(first as i16));
                    _mm_storeu_si128(places.as_mut_ptr().add(count).cast(), all);
                    let kept = _mm256_permutevar8x32_ps(half, _mm256_cvtepu8_epi32(members));
                    _mm256_storeu_ps(values.as_mut_ptr().add(count), kept);
                    count += set.count_ones() as usize;
                }
            }
            count
        }

        #[inline(always)]
        fn totals(four: [Self; 4]) -> [f32; 4] {
            let [a, b, c, d] = four;
            // SAFETY: see the module.
            unsafe {
                let (a, b) = (_mm256_add_ps(a.0, a.1), _mm256_add_ps(b.0, b.1));
                let (c, d) = (_mm256_add_ps(c.0, c.1), _mm256_add_ps(d.0, d.1));
                totals_of_eight(a, b, c, d)
            }
        }
    }
}
