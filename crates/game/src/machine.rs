//! What the processor can do, chosen at run time: hot code is written once, generic over a
//! [`Machine`], and runs as a [`Task`] of the best one that is present.

use crate::stops::Stops;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

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
