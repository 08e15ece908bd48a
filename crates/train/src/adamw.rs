//! AdamW (Loshchilov & Hutter 2019, algorithm 2) over one flat tensor, with a state that can be
//! saved: tch's own optimisers keep theirs out of reach.

use tch::{Kind, Tensor, no_grad};

use crate::config::TrainConfig;
use crate::error::TrainError;

/// Keeps a step finite where the gradient is 0.
const EPSILON: f64 = 1e-8;

/// The optimiser and its state. All parameters lie in one flat tensor: a step is nine calls of
/// libtorch, however many tensors the network has.
#[derive(Debug)]
pub struct AdamW {
    /// Running mean of gradients, flat.
    mean: Tensor,
    /// Running mean of squared gradients, flat.
    square: Tensor,
    /// Steps taken.
    steps: u64,
    /// How many parameters, from the first, decay.
    decayed: i64,
    beta1: f64,
    beta2: f64,
    weight_decay: f64,
    clip_norm: f64,
    /// Room for one flat tensor, so that a step allocates nothing.
    room: Tensor,
}

impl AdamW {
    /// An optimiser that has taken no step, for `parameters` numbers of which the first `decayed`
    /// are subject to weight decay.
    ///
    /// # Errors
    /// If the device has no memory left.
    pub fn new(
        config: &TrainConfig,
        parameters: usize,
        decayed: usize,
        device: tch::Device,
    ) -> Result<AdamW, TrainError> {
        let zeros = || Tensor::f_zeros([parameters as i64], (Kind::Float, device));
        Ok(AdamW {
            mean: zeros()?,
            square: zeros()?,
            room: zeros()?,
            steps: 0,
            decayed: decayed as i64,
            beta1: config.beta1,
            beta2: config.beta2,
            weight_decay: config.weight_decay,
            clip_norm: config.clip_norm,
        })
    }

    /// Takes up a saved state: both means, flat, and the steps taken.
    ///
    /// # Errors
    /// If the device fails.
    pub fn restore(&mut self, mean: &[f32], square: &[f32], steps: u64) -> Result<(), TrainError> {
        no_grad(|| {
            self.mean.f_copy_(&Tensor::f_from_slice(mean)?)?;
            self.square.f_copy_(&Tensor::f_from_slice(square)?)
        })?;
        self.steps = steps;
        Ok(())
    }

    /// Running means of gradients and of squared gradients, flat.
    pub fn state(&self) -> (&Tensor, &Tensor) {
        (&self.mean, &self.square)
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Moves the parameters one step against the gradient, both flat. `norm` is the gradient's
    /// length; above the limit the gradient is first shortened to it, in place.
    ///
    /// # Errors
    /// If the device fails.
    pub fn step(
        &mut self,
        parameters: &mut Tensor,
        gradient: &mut Tensor,
        norm: f64,
        learning_rate: f64,
    ) -> Result<(), TrainError> {
        self.steps += 1;
        // Both means start at 0: dividing by these removes that bias (Kingma & Ba 2015). They are
        // drawn out of the tensors into the two numbers of a step.
        let bias1 = 1.0 - self.beta1.powf(self.steps as f64);
        let bias2 = (1.0 - self.beta2.powf(self.steps as f64)).sqrt();
        let size = -learning_rate * bias2 / bias1;
        // Each operation also returns the tensor that it has changed.
        #[allow(unused_must_use)]
        no_grad(|| -> Result<(), tch::TchError> {
            if self.clip_norm > 0.0 && norm > self.clip_norm {
                gradient.f_mul_scalar_(self.clip_norm / norm)?;
            }
            self.mean.f_lerp_(gradient, 1.0 - self.beta1)?;
            gradient.f_square_out(&self.room)?;
            self.square.f_lerp_(&self.room, 1.0 - self.beta2)?;
            self.square.f_sqrt_out(&self.room)?;
            self.room.f_add_scalar_(EPSILON * bias2)?;
            self.mean.f_div_out(&self.room, &self.room)?;
            self.room.f_mul_scalar_(size)?;
            let mut decayed = parameters.f_narrow(0, 0, self.decayed)?;
            decayed.f_mul_scalar_(1.0 - learning_rate * self.weight_decay)?;
            parameters.f_add_(&self.room)?;
            Ok(())
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The algorithm as published, a number at a time, in double precision.
    struct Twin {
        mean: Vec<f64>,
        square: Vec<f64>,
        steps: i32,
    }

    impl Twin {
        fn step(&mut self, p: &mut [f64], gradient: &[f64], decayed: usize, c: &TrainConfig) {
            let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            let scale = if norm > c.clip_norm { c.clip_norm / norm } else { 1.0 };
            self.steps += 1;
            for i in 0..p.len() {
                let g = gradient[i] * scale;
                self.mean[i] = c.beta1 * self.mean[i] + (1.0 - c.beta1) * g;
                self.square[i] = c.beta2 * self.square[i] + (1.0 - c.beta2) * g * g;
                let mean = self.mean[i] / (1.0 - c.beta1.powi(self.steps));
                let square = self.square[i] / (1.0 - c.beta2.powi(self.steps));
                let decay = if i < decayed { c.weight_decay * p[i] } else { 0.0 };
                p[i] -= c.learning_rate * (mean / (square.sqrt() + EPSILON) + decay);
            }
        }
    }

    #[test]
    fn agrees_with_a_plain_double_precision_twin() {
        const N: usize = 1_000;
        const DECAYED: usize = 600;
        let config = TrainConfig {
            learning_rate: 0.01,
            weight_decay: 0.1,
            clip_norm: 20.0,
            ..TrainConfig::default()
        };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut twin = Twin { mean: vec![0.0; N], square: vec![0.0; N], steps: 0 };
        let mut expected: Vec<f64> = (0..N).map(|_| rng.random_range(-1.0..1.0)).collect();
        let start: Vec<f32> = expected.iter().map(|&p| p as f32).collect();
        let mut parameters = Tensor::from_slice(&start);
        let mut adamw = AdamW::new(&config, N, DECAYED, tch::Device::Cpu).unwrap();
        let mut clipped = 0;
        for step in 0..300 {
            // Lengths from far below the limit to above it; a few gradients are exactly 0.
            let scale = 1.6 * f64::from(step % 10) / 10.0 + 0.01;
            let gradient: Vec<f32> = (0..N)
                .map(|i| if i % 50 == 0 { 0.0 } else { rng.random_range(-1.0..1.0) * scale } as f32)
                .collect();
            let wide: Vec<f64> = gradient.iter().map(|&g| g.into()).collect();
            let norm = wide.iter().map(|g| g * g).sum::<f64>().sqrt();
            clipped += usize::from(norm > config.clip_norm);
            twin.step(&mut expected, &wide, DECAYED, &config);
            let mut gradient = Tensor::from_slice(&gradient);
            adamw.step(&mut parameters, &mut gradient, norm, config.learning_rate).unwrap();
        }
        assert!(clipped > 30 && clipped < 270, "{clipped} clipped");
        assert_eq!(adamw.steps(), 300);
        for (i, (found, expected)) in
            Vec::<f32>::try_from(&parameters).unwrap().into_iter().zip(expected).enumerate()
        {
            let found = f64::from(found);
            assert!((found - expected).abs() < 2e-5, "{i}: {found} instead of {expected}");
        }
    }

    #[test]
    fn a_restored_state_goes_on_to_the_bit() {
        let config = TrainConfig::default();
        let gradient =
            |step: i64| (Tensor::arange(64, (Kind::Float, tch::Device::Cpu)) - step).sin();
        let mut one = Tensor::ones([64], (Kind::Float, tch::Device::Cpu));
        let mut adamw = AdamW::new(&config, 64, 64, tch::Device::Cpu).unwrap();
        for step in 0..5 {
            adamw.step(&mut one, &mut gradient(step), 1.0, 0.01).unwrap();
        }
        let (mean, square) = adamw.state();
        let state = [mean, square].map(|tensor| Vec::<f32>::try_from(tensor).unwrap());
        let mut restored = AdamW::new(&config, 64, 64, tch::Device::Cpu).unwrap();
        restored.restore(&state[0], &state[1], adamw.steps()).unwrap();
        let mut other = one.copy();
        for step in 5..10 {
            adamw.step(&mut one, &mut gradient(step), 1.0, 0.01).unwrap();
            restored.step(&mut other, &mut gradient(step), 1.0, 0.01).unwrap();
        }
        assert_eq!(Vec::<f32>::try_from(&one).unwrap(), Vec::<f32>::try_from(&other).unwrap());
    }
}
