//! Sums of integers held in registers. All are exact, so that every implementation gives the same.

use super::LEVELS;

/// Units of a layer come in blocks of this many.
pub(super) const BLOCK: usize = 64;
/// Sixteen-bit numbers in a vector.
pub(super) const SHORTS: usize = 32;
/// Sums of 32 bits in a vector.
pub(super) const SUMS: usize = 16;
/// Fours of units in a block.
pub(super) const QUADS: usize = BLOCK / 4;

/// Sums or weights of sixteen bits, in a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Shorts(pub(super) [i16; SHORTS]);

/// Weights of eight bits, none of them −128.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Signed(pub(super) [i8; BLOCK]);

/// Activations from 0 to [`LEVELS`], in fours.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Units(pub(super) [[u8; 4]; QUADS]);

impl Units {
    #[inline(always)]
    pub(super) fn quad(&self, at: usize) -> [u8; 4] {
        self.0[at]
    }

    /// A quarter of them.
    #[inline(always)]
    pub(super) fn sixteen(&self, part: usize) -> &[u8; SUMS] {
        &self.0.as_flattened().as_chunks().0[part]
    }

    #[inline(always)]
    pub(super) fn sixteen_mut(&mut self, part: usize) -> &mut [u8; SUMS] {
        &mut self.0.as_flattened_mut().as_chunks_mut().0[part]
    }
}

/// Arithmetic of one kind of processor.
pub(super) trait Integers {
    /// [`SHORTS`] running sums of sixteen bits; they wrap around on the way.
    type Shorts: Copy;
    /// Sixteen running sums of 32 bits.
    type Sums: Copy;
    /// Four activations, for each sum.
    type Quad: Copy;

    /// Starts at these numbers.
    fn load(at: &Shorts) -> Self::Shorts;
    /// Adds these numbers.
    fn plus(sums: Self::Shorts, x: &Shorts) -> Self::Shorts;
    /// Subtracts these numbers.
    fn minus(sums: Self::Shorts, x: &Shorts) -> Self::Shorts;
    /// Writes the sums.
    fn store(sums: Self::Shorts, to: &mut Shorts);
    /// Writes the sums without their lowest bits, at least 0 and at most [`LEVELS`].
    fn clip(sums: [Self::Shorts; 2], shift: i16, units: &mut Units);

    /// Starts at 0.
    fn zero() -> Self::Sums;
    /// The same four activations for each sum.
    fn quad(units: [u8; 4]) -> Self::Quad;
    /// Adds to each sum the products of four activations with its four weights.
    fn plus_quads(sums: Self::Sums, weights: &Signed, quad: Self::Quad) -> Self::Sums;
    /// The sums.
    fn sums(sums: Self::Sums) -> [i32; SUMS];
    /// The products of four rows of weights with activations, summed by row.
    fn dots(rows: [&[Signed]; 4], units: &[Units]) -> [i32; 4];
    /// The same of weights of sixteen bits.
    fn wide_dots(rows: [&[Shorts]; 4], units: &[Units]) -> [i32; 4];

    /// Writes the places, counted from `first`, of fours that are not all 0 to the front of `places`, and
    /// returns how many there are.
    fn list_quads(units: &Units, first: u16, places: &mut [u16; QUADS]) -> usize;
}

/// Plain numbers, for any processor.
pub(super) struct Portable;

impl Integers for Portable {
    type Shorts = Shorts;
    type Sums = [i32; SUMS];
    type Quad = [u8; 4];

    #[inline(always)]
    fn load(at: &Shorts) -> Shorts {
        *at
    }

    #[inline(always)]
    fn plus(sums: Shorts, x: &Shorts) -> Shorts {
        let mut sums = sums;
        for (sum, x) in sums.0.iter_mut().zip(x.0) {
            *sum = sum.wrapping_add(x);
        }
        sums
    }

    #[inline(always)]
    fn minus(sums: Shorts, x: &Shorts) -> Shorts {
        let mut sums = sums;
        for (sum, x) in sums.0.iter_mut().zip(x.0) {
            *sum = sum.wrapping_sub(x);
        }
        sums
    }

    #[inline(always)]
    fn store(sums: Shorts, to: &mut Shorts) {
        *to = sums;
    }

    #[inline(always)]
    fn clip(sums: [Shorts; 2], shift: i16, units: &mut Units) {
        let sums = sums[0].0.iter().chain(&sums[1].0);
        for (unit, sum) in units.0.as_flattened_mut().iter_mut().zip(sums) {
            *unit = (sum >> shift).clamp(0, LEVELS as i16) as u8;
        }
    }

    #[inline(always)]
    fn zero() -> Self::Sums {
        [0; SUMS]
    }

    #[inline(always)]
    fn quad(units: [u8; 4]) -> [u8; 4] {
        units
    }

    #[inline(always)]
    fn plus_quads(sums: Self::Sums, weights: &Signed, quad: [u8; 4]) -> Self::Sums {
        let mut sums = sums;
        for (sum, weights) in sums.iter_mut().zip(weights.0.as_chunks::<4>().0) {
            for (&w, unit) in weights.iter().zip(quad) {
                *sum += i32::from(w) * i32::from(unit);
            }
        }
        sums
    }

    #[inline(always)]
    fn sums(sums: Self::Sums) -> [i32; SUMS] {
        sums
    }

    #[inline(always)]
    fn dots(rows: [&[Signed]; 4], units: &[Units]) -> [i32; 4] {
        let mut sums = [0; 4];
        for (sum, row) in sums.iter_mut().zip(rows) {
            for (row, units) in row.iter().zip(units) {
                for (&w, &unit) in row.0.iter().zip(units.0.as_flattened()) {
                    *sum += i32::from(w) * i32::from(unit);
                }
            }
        }
        sums
    }

    #[inline(always)]
    fn wide_dots(rows: [&[Shorts]; 4], units: &[Units]) -> [i32; 4] {
        let mut sums = [0; 4];
        for (sum, row) in sums.iter_mut().zip(rows) {
            let row = row.iter().flat_map(|shorts| &shorts.0);
            for (&w, &unit) in row.zip(units.iter().flat_map(|units| units.0.as_flattened())) {
                *sum += i32::from(w) * i32::from(unit);
            }
        }
        sums
    }

    #[inline(always)]
    fn list_quads(units: &Units, first: u16, places: &mut [u16; QUADS]) -> usize {
        let mut count = 0;
        for (i, &quad) in units.0.iter().enumerate() {
            // Written always and kept only if not 0: no branch to guess.
            places[count] = first + i as u16;
            count += usize::from(quad != [0; 4]);
        }
        count
    }
}
