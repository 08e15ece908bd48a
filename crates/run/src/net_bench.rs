//! Speed of inference: native networks in single precision and quantised, beside libtorch where the
//! binary has it, in the same process.

use std::fmt;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde::Serialize;
use surakarta_game::Position;
use surakarta_net::{
    Batch, Evaluator, EvaluatorError, Kernel, Mlp, Quantised, QuantisedWeights, Tower, Trunk,
    Weights,
};

use crate::bench::ROUNDS;
use crate::net::random_positions;

/// What is measured, and for how long.
#[derive(Clone, Debug)]
pub struct NetBench {
    /// The networks, of any shapes and variants.
    pub networks: Vec<Weights>,
    /// Positions that are evaluated together.
    pub batches: Vec<usize>,
    /// Processor time for each rate at least, in all rounds together.
    pub time: Duration,
}

/// Rates on one core, medians of [`ROUNDS`] rounds in which all take turns.
#[derive(Clone, Debug, Serialize)]
pub struct NetRates {
    /// Whether libtorch was measured.
    pub libtorch: bool,
    /// One for each network, backend, batch and number of logits.
    pub rates: Vec<NetRate>,
}

/// How fast one backend evaluates one network. The inputs are worked out of the position each time, and
/// legal moves are given.
#[derive(Clone, Debug, Serialize)]
pub struct NetRate {
    /// The network's shape.
    pub shape: String,
    /// The network's variant.
    pub variant: String,
    /// `f32`, `quantised` or `libtorch`.
    pub backend: &'static str,
    /// The instructions, of native ones.
    pub kernel: Option<&'static str>,
    /// Positions that were evaluated together.
    pub batch: usize,
    /// Whether the logits of illegal moves were computed, too.
    pub all_logits: bool,
    /// Positions a second of processor time.
    pub evaluations_per_s: f64,
    /// How many times that is what libtorch does at the batch at which it is fastest.
    pub times_libtorch_best: Option<f64>,
    /// How many times that is what libtorch does with one position at a time.
    pub times_libtorch_single: Option<f64>,
}

/// Positions of random games, in an order without any relation between neighbours.
const POSITIONS: usize = 2_048;

/// Evaluates a batch.
type Work = Box<dyn FnMut(&mut Batch) -> Result<(), EvaluatorError>>;

impl NetBench {
    /// Measures. Calls `begin` before each round, with its number.
    ///
    /// # Errors
    /// If libtorch fails.
    pub fn run(&self, begin: impl Fn(usize)) -> Result<NetRates> {
        ensure!(
            self.batches.iter().all(|&size| size > 0 && size <= POSITIONS),
            "a batch has from 1 to {POSITIONS} positions"
        );
        let mut rows = Vec::new();
        for weights in &self.networks {
            let positions = random_positions(weights.variant(), POSITIONS, 1);
            for &size in &self.batches {
                for (rate, work) in backends(weights, size)? {
                    rows.push((rate, work, batches(&positions, size), Vec::new()));
                }
            }
        }
        for round in 0..ROUNDS {
            begin(round);
            for (_, work, batches, rates) in &mut rows {
                rates.push(speed(work, batches, self.time / ROUNDS as u32)?);
            }
        }
        let rates = rows.into_iter().map(|(mut rate, _, _, mut rates)| {
            rates.sort_by(f64::total_cmp);
            rate.evaluations_per_s = rates[ROUNDS / 2];
            rate
        });
        let mut rates: Vec<NetRate> = rates.collect();
        compare(&mut rates);
        Ok(NetRates { libtorch: rates.iter().any(|rate| rate.backend == LIBTORCH), rates })
    }
}

const LIBTORCH: &str = "libtorch";

/// Everything that evaluates such a network, with its rate to be filled in.
fn backends(weights: &Weights, batch: usize) -> Result<Vec<(NetRate, Work)>> {
    let variant = weights.variant();
    let row = |backend, kernel: Option<Kernel>, all_logits| NetRate {
        shape: weights.shape().describe(variant),
        variant: variant.to_string(),
        backend,
        kernel: kernel.map(Kernel::name),
        batch,
        all_logits,
        evaluations_per_s: 0.0,
        times_libtorch_best: None,
        times_libtorch_single: None,
    };
    let mut works: Vec<(NetRate, Work)> = Vec::new();
    match weights.shape().trunk() {
        Trunk::Mlp(_) => {
            let quantised = QuantisedWeights::new(weights)?;
            for kernel in Kernel::available() {
                let mut mlp = Mlp::with_kernel(weights, kernel);
                works.push((row("f32", Some(kernel), false), legal(mlp.clone())));
                let mut integers = Quantised::with_kernel(&quantised, kernel);
                works.push((row("quantised", Some(kernel), false), legal(integers.clone())));
                if kernel == Kernel::best() {
                    let mut logits = Vec::new();
                    let all = move |batch: &mut Batch| mlp.evaluate_all(batch, &mut logits);
                    works.push((row("f32", Some(kernel), true), Box::new(all)));
                    let mut logits = Vec::new();
                    let all = move |batch: &mut Batch| integers.evaluate_all(batch, &mut logits);
                    works.push((row("quantised", Some(kernel), true), Box::new(all)));
                }
            }
        }
        Trunk::Conv(_) | Trunk::Circuit(_) => {
            // Plain code would take minutes for a batch of a large tower.
            let plain = |kernel: &Kernel| kernel.name() == "portable";
            let vector = Kernel::available().into_iter().filter(|kernel| !plain(kernel));
            let kernels: Vec<Kernel> = vector.collect();
            let best = vec![Kernel::best()];
            for kernel in if kernels.is_empty() { best } else { kernels } {
                let tower = Tower::with_kernel(weights, kernel);
                works.push((row("f32", Some(kernel), false), legal(tower)));
            }
        }
    }
    #[cfg(feature = "torch")]
    {
        use surakarta_train::{Device, TorchEvaluator};
        let torch = TorchEvaluator::new(weights, Device::Cpu, batch)?;
        works.push((row(LIBTORCH, None, true), legal(torch)));
    }
    Ok(works)
}

fn legal(mut evaluator: impl Evaluator + 'static) -> Work {
    Box::new(move |batch| evaluator.evaluate(batch))
}

fn batches(positions: &[Position], size: usize) -> Vec<Batch> {
    let fill = |positions: &[Position]| {
        let mut batch = Batch::default();
        for position in positions {
            batch.push(*position, &position.moves());
        }
        batch
    };
    positions.chunks_exact(size).map(fill).collect()
}

/// Positions a second of processor time, all batches over and over for about this time.
fn speed(work: &mut Work, batches: &mut [Batch], time: Duration) -> Result<f64> {
    let (began, mut done) = (clock(), 0);
    // The clock is read ever more rarely: for small networks that would take longer than they do.
    let mut some = 1;
    loop {
        let mut rest = &mut *batches;
        while !rest.is_empty() {
            let (now, later) = rest.split_at_mut(some.min(rest.len()));
            rest = later;
            for batch in now {
                work(batch)?;
                done += batch.len();
            }
            let spent = clock() - began;
            if spent >= time && !spent.is_zero() {
                return Ok(done as f64 / spent.as_secs_f64());
            }
            some = 64.min(2 * some);
        }
    }
}

/// The processor time of this thread: what others do on the machine counts less.
#[cfg(unix)]
pub(crate) fn clock() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

#[cfg(not(unix))]
pub(crate) fn clock() -> Duration {
    static BEGAN: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    BEGAN.elapsed()
}

/// Fills in the ratios to libtorch's rates of the same network.
fn compare(rates: &mut [NetRate]) {
    let torch: Vec<NetRate> =
        rates.iter().filter(|rate| rate.backend == LIBTORCH).cloned().collect();
    for rate in rates {
        let same = torch.iter().filter(|t| t.shape == rate.shape && t.variant == rate.variant);
        let best = same.clone().map(|t| t.evaluations_per_s).max_by(f64::total_cmp);
        let single = same.clone().find(|t| t.batch == 1).map(|t| t.evaluations_per_s);
        rate.times_libtorch_best = best.map(|torch| rate.evaluations_per_s / torch);
        rate.times_libtorch_single = single.map(|torch| rate.evaluations_per_s / torch);
    }
}

impl fmt::Display for NetRates {
    /// A table with a line for each rate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "one core, processor time; inputs are worked out of the position, legal moves are given"
        )?;
        let ratio =
            |ratio: Option<f64>| ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        let mut shape = None;
        for rate in &self.rates {
            let this = format!("{}, {}", rate.shape, rate.variant);
            if shape.as_ref() != Some(&this) {
                writeln!(
                    f,
                    "\n{this:<34} {:>6} {:>7} {:>14} {:>12} {:>12}",
                    "batch", "logits", "evaluations/s", "× torch best", "× torch at 1"
                )?;
                shape = Some(this);
            }
            let name = match rate.kernel {
                Some(kernel) => format!("{} {kernel}", rate.backend),
                None => rate.backend.to_owned(),
            };
            let logits = if rate.all_logits { "all" } else { "legal" };
            writeln!(
                f,
                "{name:<34} {:>6} {logits:>7} {:>14.0} {:>12} {:>12}",
                rate.batch,
                rate.evaluations_per_s,
                ratio(rate.times_libtorch_best),
                ratio(rate.times_libtorch_single)
            )?;
        }
        if !self.libtorch {
            writeln!(f, "\nthis binary has no libtorch to compare with")?;
        }
        Ok(())
    }
}
