//! x86-64 with AVX2.

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

/// For each byte of the lanes of [`Machine::forward`] the byte of [`Stops`] that it is: the circuit's
/// forward word, turned down by as many bytes as the loop has lines before it.
const FORWARD: [u8; 4 * LOOPS] = bytes(0, false);
/// Likewise for [`Machine::backward`], from the backward words, which follow the two forward ones; they
/// are turned up.
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
