//! Sixteen numbers at a time, with one order of operations whatever the processor.
//!
//! Everything here is element-wise, fused where a product is added, and reduced in a fixed tree, so
//! that code inlined into functions for different processors gives the same bits in each. Whether
//! sixteen lanes are one register, two or sixteen scalars changes only the speed. What counts is
//! written as loops: a closure is not always inlined, and outside of such a function a fused
//! multiply-add is a call.

/// Numbers in a vector.
pub(crate) const LANES: usize = 16;

/// A vector, aligned to a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Lanes(pub(crate) [f32; LANES]);

impl Lanes {
    #[inline(always)]
    pub(crate) fn splat(x: f32) -> Lanes {
        Lanes([x; LANES])
    }

    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(f32) -> f32) -> Lanes {
        self.zip(self, |x, _| f(x))
    }

    #[inline(always)]
    pub(crate) fn zip(mut self, other: Lanes, f: impl Fn(f32, f32) -> f32) -> Lanes {
        for (x, y) in self.0.iter_mut().zip(other.0) {
            *x = f(*x, y);
        }
        self
    }

    #[inline(always)]
    pub(crate) fn plus(mut self, other: Lanes) -> Lanes {
        for i in 0..LANES {
            self.0[i] += other.0[i];
        }
        self
    }

    /// Combines all lanes: first each with the one eight further, then four, two, one.
    #[inline(always)]
    pub(crate) fn reduce(self, f: impl Fn(f32, f32) -> f32) -> f32 {
        let mut x = self.0;
        let mut half = LANES / 2;
        while half > 0 {
            for i in 0..half {
                x[i] = f(x[i], x[i + half]);
            }
            half /= 2;
        }
        x[0]
    }

    #[inline(always)]
    pub(crate) fn sum(self) -> f32 {
        self.reduce(|x, y| x + y)
    }
}

/// The larger one, in a form that is one instruction. Not for NaN.
#[inline(always)]
pub(crate) fn larger(x: f32, y: f32) -> f32 {
    if x > y { x } else { y }
}

/// e to the power of `x`, for `x` from −∞ to 0; below −87 it gives 0. Relative error below 2·10⁻⁷.
///
/// x = n ln 2 + r with |r| ≤ ½ ln 2; a polynomial for e to the power of r (the one of Cephes' `expf`),
/// and n goes straight into the exponent.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    /// 1.5 · 2²³: adding it rounds to an integer, which then stands in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let p = 1.987_569_1e-4f32
        .mul_add(r, 1.398_199_9e-3)
        .mul_add(r, 8.333_452e-3)
        .mul_add(r, 4.166_579_6e-2)
        .mul_add(r, 0.166_666_65)
        .mul_add(r, 0.5)
        .mul_add(r * r, r)
        + 1.0;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits()));
    if x < -87.0 { 0.0 } else { p * power }
}

/// Turns logits into probabilities in place; places to leave out hold −∞ and get 0.
#[inline(always)]
pub(crate) fn softmax(logits: &mut [Lanes]) {
    let mut most = Lanes::splat(f32::NEG_INFINITY);
    for x in &*logits {
        for i in 0..LANES {
            most.0[i] = larger(most.0[i], x.0[i]);
        }
    }
    let most = most.reduce(larger);
    let mut sum = Lanes::splat(0.0);
    for x in &mut *logits {
        for i in 0..LANES {
            x.0[i] = exp(x.0[i] - most);
        }
        sum = sum.plus(*x);
    }
    let scale = 1.0 / sum.sum();
    for x in logits {
        for i in 0..LANES {
            x.0[i] *= scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_close_everywhere() {
        assert_eq!((exp(0.0), exp(-87.1), exp(f32::NEG_INFINITY)), (1.0, 0.0, 0.0));
        for i in 0..=870_000 {
            let x = i as f32 * -1e-4;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 2e-7, "exp({x}) is off by {error}");
        }
    }

    #[test]
    fn reduction_meets_every_lane_once() {
        let lanes = Lanes(std::array::from_fn(|i| (1 << i) as f32));
        assert_eq!(lanes.sum(), 65_535.0);
        assert_eq!(lanes.reduce(larger), 32_768.0);
    }

    #[test]
    fn softmax_leaves_out_and_sums_to_one() {
        let mut logits = [Lanes::splat(f32::NEG_INFINITY); 2];
        logits[0].0[3] = 1000.0;
        logits[1].0[15] = 1000.0 + 3.0f32.ln();
        softmax(&mut logits);
        let all: Vec<f32> = logits.iter().flat_map(|x| x.0).collect();
        assert!((all[3] - 0.25).abs() < 1e-5 && (all[31] - 0.75).abs() < 1e-5);
        assert_eq!(all.iter().filter(|&&p| p == 0.0).count(), 30);
    }
}
