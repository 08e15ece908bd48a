//! Sums of integers in the registers of x86 processors.

// Safety of this module: its types are named only in functions that enable the features of their
// intrinsics (`for_each_kernel!` in `mod.rs`), and every load and store is of the 64 bytes of a vector
// of `integers.rs`, a half or a quarter of it.

use std::arch::x86_64::*;

use super::integers::{Integers, QUADS, SUMS, Shorts, Signed, Units};
use crate::vector::MEMBERS;

/// Two registers of AVX2 for each vector. The products of two activations with two weights fit
/// sixteen bits: 2 · 127 · 127 < 2¹⁵.
pub(super) struct Avx2;

/// One register of AVX-512 for each vector, and its instructions for sums of products (VNNI).
pub(super) struct Vnni;

/// The halves of 64 bytes.
#[inline(always)]
fn halves<T>(x: &T) -> (__m256i, __m256i) {
    const { assert!(size_of::<T>() == 64 && align_of::<T>() == 64) };
    let at: *const __m256i = std::ptr::from_ref(x).cast();
    // SAFETY: see the module.
    unsafe { (_mm256_load_si256(at), _mm256_load_si256(at.add(1))) }
}

#[inline(always)]
fn store_halves<T>(low: __m256i, high: __m256i, to: &mut T) {
    const { assert!(size_of::<T>() == 64 && align_of::<T>() == 64) };
    let at: *mut __m256i = std::ptr::from_mut(to).cast();
    // SAFETY: see the module.
    unsafe {
        _mm256_store_si256(at, low);
        _mm256_store_si256(at.add(1), high);
    }
}

/// The sum of each register's lanes.
#[inline(always)]
fn sums_of_lanes([a, b, c, d]: [__m256i; 4]) -> [i32; 4] {
    let mut sums = [0; 4];
    // SAFETY: see the module; the store fills the array exactly.
    unsafe {
        let quarters = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
        let high = _mm256_extracti128_si256::<1>(quarters);
        let all = _mm_add_epi32(_mm256_castsi256_si128(quarters), high);
        _mm_storeu_si128(sums.as_mut_ptr().cast(), all);
    }
    sums
}

impl Integers for Avx2 {
    type Shorts = (__m256i, __m256i);
    type Sums = (__m256i, __m256i);
    type Quad = __m256i;

    #[inline(always)]
    fn load(at: &Shorts) -> Self::Shorts {
        halves(at)
    }

    #[inline(always)]
    fn plus(sums: Self::Shorts, x: &Shorts) -> Self::Shorts {
        let (low, high) = halves(x);
        // SAFETY: see the module.
        unsafe { (_mm256_add_epi16(sums.0, low), _mm256_add_epi16(sums.1, high)) }
    }

    #[inline(always)]
    fn minus(sums: Self::Shorts, x: &Shorts) -> Self::Shorts {
        let (low, high) = halves(x);
        // SAFETY: see the module.
        unsafe { (_mm256_sub_epi16(sums.0, low), _mm256_sub_epi16(sums.1, high)) }
    }

    #[inline(always)]
    fn store(sums: Self::Shorts, to: &mut Shorts) {
        store_halves(sums.0, sums.1, to);
    }

    #[inline(always)]
    fn clip(sums: [Self::Shorts; 2], shift: i16, units: &mut Units) {
        // Intrinsics are inlined only where their features are known: not into closures.
        let low = clipped(sums[0], shift);
        let high = clipped(sums[1], shift);
        store_halves(low, high, units);
    }

    #[inline(always)]
    fn zero() -> Self::Sums {
        // SAFETY: see the module.
        unsafe { (_mm256_setzero_si256(), _mm256_setzero_si256()) }
    }

    #[inline(always)]
    fn quad(units: [u8; 4]) -> __m256i {
        // SAFETY: see the module.
        unsafe { _mm256_set1_epi32(i32::from_ne_bytes(units)) }
    }

    #[inline(always)]
    fn plus_quads(sums: Self::Sums, weights: &Signed, quad: __m256i) -> Self::Sums {
        let (low, high) = halves(weights);
        (plus_products(sums.0, quad, low), plus_products(sums.1, quad, high))
    }

    #[inline(always)]
    fn sums(sums: Self::Sums) -> [i32; SUMS] {
        let mut all = [0; SUMS];
        let at: *mut __m256i = all.as_mut_ptr().cast();
        // SAFETY: see the module.
        unsafe {
            _mm256_storeu_si256(at, sums.0);
            _mm256_storeu_si256(at.add(1), sums.1);
        }
        all
    }

    #[inline(always)]
    fn dots(rows: [&[Signed]; 4], units: &[Units]) -> [i32; 4] {
        // SAFETY: see the module.
        let mut sums = [unsafe { _mm256_setzero_si256() }; 4];
        for (i, units) in units.iter().enumerate() {
            let units = halves(units);
            for (sum, row) in sums.iter_mut().zip(rows) {
                let row = halves(&row[i]);
                *sum = plus_products(plus_products(*sum, units.0, row.0), units.1, row.1);
            }
        }
        sums_of_lanes(sums)
    }

    #[inline(always)]
    fn wide_dots(rows: [&[Shorts]; 4], units: &[Units]) -> [i32; 4] {
        // SAFETY: see the module.
        unsafe {
            let mut sums = [_mm256_setzero_si256(); 4];
            for (i, units) in units.iter().enumerate() {
                for part in 0..2 {
                    let units = units.0.as_ptr().cast::<__m128i>().add(2 * part);
                    let low = _mm256_cvtepu8_epi16(_mm_load_si128(units));
                    let high = _mm256_cvtepu8_epi16(_mm_load_si128(units.add(1)));
                    for (sum, row) in sums.iter_mut().zip(rows) {
                        let row = halves(&row[2 * i + part]);
                        let low = _mm256_madd_epi16(low, row.0);
                        let high = _mm256_madd_epi16(high, row.1);
                        *sum = _mm256_add_epi32(*sum, _mm256_add_epi32(low, high));
                    }
                }
            }
            sums_of_lanes(sums)
        }
    }

    #[inline(always)]
    fn list_quads(units: &Units, first: u16, places: &mut [u16; QUADS]) -> usize {
        let (low, high) = halves(units);
        // SAFETY: see the module; a half fills at most eight places from `count` on, which is
        // at most eight.
        unsafe {
            let mut count = 0;
            for (half, first) in [(low, first), (high, first + 8)] {
                let zero = _mm256_cmpeq_epi32(half, _mm256_setzero_si256());
                let set = !_mm256_movemask_ps(_mm256_castsi256_ps(zero)) as usize & 0xff;
                let members = _mm_loadl_epi64(MEMBERS[set].as_ptr().cast());
                let members = _mm_cvtepu8_epi16(members);
                let members = _mm_add_epi16(members, _mm_set1_epi16(first as i16));
                _mm_storeu_si128(places.as_mut_ptr().add(count).cast(), members);
                count += set.count_ones() as usize;
            }
            count
        }
    }
}

/// Adds four products to each sum of 32 bits.
#[inline(always)]
fn plus_products(sums: __m256i, units: __m256i, weights: __m256i) -> __m256i {
    // SAFETY: see the module.
    unsafe {
        let pairs = _mm256_maddubs_epi16(units, weights);
        _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
    }
}

/// Sums without their lowest bits as bytes from 0 to 127.
#[inline(always)]
fn clipped((low, high): (__m256i, __m256i), shift: i16) -> __m256i {
    // SAFETY: see the module.
    unsafe {
        let shift = _mm_cvtsi32_si128(shift.into());
        let (low, high) = (_mm256_sra_epi16(low, shift), _mm256_sra_epi16(high, shift));
        // Packs to at most 127, and the second and third quarters in each other's place.
        let packed = _mm256_packs_epi16(low, high);
        let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
        _mm256_max_epi8(packed, _mm256_setzero_si256())
    }
}

/// The same of one register.
#[inline(always)]
fn clipped_512(sums: __m512i, shift: i16) -> __m256i {
    // SAFETY: see the module.
    unsafe {
        let sums = _mm512_sra_epi16(sums, _mm_cvtsi32_si128(shift.into()));
        _mm512_cvtsepi16_epi8(_mm512_max_epi16(sums, _mm512_setzero_si512()))
    }
}

/// Each lane added to the one eight further.
#[inline(always)]
fn halved(sums: __m512i) -> __m256i {
    // SAFETY: see the module.
    unsafe {
        let high = _mm512_extracti64x4_epi64::<1>(sums);
        _mm256_add_epi32(_mm512_castsi512_si256(sums), high)
    }
}

#[inline(always)]
fn whole<T>(x: &T) -> __m512i {
    const { assert!(size_of::<T>() == 64 && align_of::<T>() == 64) };
    // SAFETY: see the module.
    unsafe { _mm512_load_si512(std::ptr::from_ref(x).cast()) }
}

impl Integers for Vnni {
    type Shorts = __m512i;
    type Sums = __m512i;
    type Quad = __m512i;

    #[inline(always)]
    fn load(at: &Shorts) -> __m512i {
        whole(at)
    }

    #[inline(always)]
    fn plus(sums: __m512i, x: &Shorts) -> __m512i {
        // SAFETY: see the module.
        unsafe { _mm512_add_epi16(sums, whole(x)) }
    }

    #[inline(always)]
    fn minus(sums: __m512i, x: &Shorts) -> __m512i {
        // SAFETY: see the module.
        unsafe { _mm512_sub_epi16(sums, whole(x)) }
    }

    #[inline(always)]
    fn store(sums: __m512i, to: &mut Shorts) {
        // SAFETY: see the module.
        unsafe { _mm512_store_si512(to.0.as_mut_ptr().cast(), sums) };
    }

    #[inline(always)]
    fn clip(sums: [__m512i; 2], shift: i16, units: &mut Units) {
        store_halves(clipped_512(sums[0], shift), clipped_512(sums[1], shift), units);
    }

    #[inline(always)]
    fn zero() -> __m512i {
        // SAFETY: see the module.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn quad(units: [u8; 4]) -> __m512i {
        // SAFETY: see the module.
        unsafe { _mm512_set1_epi32(i32::from_ne_bytes(units)) }
    }

    #[inline(always)]
    fn plus_quads(sums: __m512i, weights: &Signed, quad: __m512i) -> __m512i {
        // SAFETY: see the module.
        unsafe { _mm512_dpbusd_epi32(sums, quad, whole(weights)) }
    }

    #[inline(always)]
    fn sums(sums: __m512i) -> [i32; SUMS] {
        let mut all = [0; SUMS];
        // SAFETY: see the module.
        unsafe { _mm512_storeu_si512(all.as_mut_ptr().cast(), sums) };
        all
    }

    #[inline(always)]
    fn dots(rows: [&[Signed]; 4], units: &[Units]) -> [i32; 4] {
        let mut sums = [Self::zero(); 4];
        for (i, units) in units.iter().enumerate() {
            let units = whole(units);
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum = Self::plus_quads(*sum, &row[i], units);
            }
        }
        let [a, b, c, d] = sums;
        sums_of_lanes([halved(a), halved(b), halved(c), halved(d)])
    }

    #[inline(always)]
    fn wide_dots(rows: [&[Shorts]; 4], units: &[Units]) -> [i32; 4] {
        Avx2::wide_dots(rows, units)
    }

    #[inline(always)]
    fn list_quads(units: &Units, first: u16, places: &mut [u16; QUADS]) -> usize {
        // SAFETY: see the module; the store fills the array exactly.
        unsafe {
            let units = whole(units);
            let there = _mm512_test_epi32_mask(units, units);
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let all = _mm512_add_epi32(lanes, _mm512_set1_epi32(first.into()));
            let kept = _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(there, all));
            _mm256_storeu_si256(places.as_mut_ptr().cast(), kept);
            there.count_ones() as usize
        }
    }
}
