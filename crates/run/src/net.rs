//! Looks into the files of networks, changes them, and compares what networks say.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use surakarta_game::{Game, Position, RuleSet, Variant};
use surakarta_net::{Batch, Network, NetworkFile, QuantisedWeights, Shape, Weights};

use crate::players::is_script;

/// What a file of a network holds.
#[derive(Clone, Debug, Serialize)]
pub struct NetInfo {
    /// The file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// `f32` or `quantised`.
    pub numbers: &'static str,
    /// The variant that the network plays.
    pub variant: String,
    /// The shape in words.
    pub network: String,
    /// The shape as configurations have it.
    pub shape: Shape,
    /// How many numbers it consists of, without those that only scale quantised ones.
    pub parameters: usize,
    /// What tells networks apart.
    pub hash: String,
    /// The note on where it comes from.
    pub source: String,
    /// Every tensor.
    pub tensors: Vec<TensorInfo>,
}

/// One tensor of a network.
#[derive(Clone, Debug, Serialize)]
pub struct TensorInfo {
    /// `hidden.0.weight`, …
    pub name: String,
    /// Length of each dimension.
    pub dims: Vec<usize>,
    /// `f32`, `i16` or `i8`.
    pub numbers: &'static str,
    /// How many bytes they take.
    pub bytes: usize,
}

fn refuse_script(path: &Path) -> Result<()> {
    if is_script(path) {
        bail!(
            "{} is a TorchScript module by its name; give a file of weights (`surakarta net evaluate` takes modules, too)",
            path.display()
        );
    }
    Ok(())
}

fn load(path: &Path) -> Result<NetworkFile> {
    refuse_script(path)?;
    Ok(NetworkFile::load(path)?)
}

/// Reads a file of a network.
///
/// # Errors
/// If it is missing, damaged, or of another build.
pub fn info(path: &Path) -> Result<NetInfo> {
    let file = load(path)?;
    let bytes =
        std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    let variant = file.variant();
    let tensor = |name: &str, dims: &[usize], numbers: &'static str, size: usize| TensorInfo {
        name: name.to_owned(),
        dims: dims.to_vec(),
        numbers,
        bytes: size * dims.iter().product::<usize>(),
    };
    let (numbers, shape, hash, source, tensors) = match &file {
        NetworkFile::F32(weights) => {
            let tensors = weights.tensors().map(|(name, dims, _)| tensor(name, dims, "f32", 4));
            ("f32", weights.shape(), weights.hash(), weights.source(), tensors.collect())
        }
        NetworkFile::Quantised(weights) => {
            let tensors = weights
                .tensors()
                .into_iter()
                .map(|(name, dims, numbers)| tensor(&name, &dims, numbers.name(), numbers.size()));
            ("quantised", weights.shape(), weights.hash(), weights.source(), tensors.collect())
        }
    };
    Ok(NetInfo {
        file: path.to_owned(),
        bytes: bytes.len(),
        numbers,
        variant: variant.to_string(),
        network: shape.describe(variant),
        shape: shape.clone(),
        parameters: shape.parameters(variant),
        hash,
        source: source.to_owned(),
        tensors,
    })
}

impl fmt::Display for NetInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        writeln!(f, "file        {} ({} bytes)", self.file.display(), self.bytes)?;
        writeln!(f, "network     {}, {}", self.network, self.numbers)?;
        writeln!(f, "variant     {}", self.variant)?;
        writeln!(f, "parameters  {}", self.parameters)?;
        writeln!(
            f,
            "blind to    {}",
            list(self.shape.blind_to().iter().map(|g| g.name()).collect())
        )?;
        writeln!(f, "auxiliary   {}", list(self.shape.heads().iter().map(|h| h.name()).collect()))?;
        writeln!(f, "hash        {}", self.hash)?;
        writeln!(f, "source      {}", self.source)?;
        for tensor in &self.tensors {
            let dims: Vec<String> = tensor.dims.iter().map(usize::to_string).collect();
            let dims = dims.join(" × ");
            writeln!(
                f,
                "  {:<22} {dims:>14} {:>4} {:>9} bytes",
                tensor.name, tensor.numbers, tensor.bytes
            )?;
        }
        Ok(())
    }
}

/// Writes a network with another note, without auxiliary heads, or, to a name that ends in `.pt`, as a
/// TorchScript module.
///
/// # Errors
/// If the file cannot be used, or the other one cannot be written.
pub fn convert(from: &Path, to: &Path, note: Option<&str>, strip: bool) -> Result<()> {
    let file = load(from)?;
    if is_script(to) {
        let NetworkFile::F32(weights) = file else {
            bail!("{} is quantised; a TorchScript module is made from f32 weights", from.display());
        };
        if note.is_some() || strip {
            bail!(
                "a TorchScript module has neither a note nor auxiliary heads; leave the flags out"
            );
        }
        return export_script(&weights, to);
    }
    match file {
        NetworkFile::F32(weights) => {
            let weights = if strip { weights.with_heads(&[], 0) } else { *weights };
            let source = note.unwrap_or(weights.source()).to_owned();
            weights.with_source(source).save(to)?;
        }
        NetworkFile::Quantised(weights) => {
            let source = note.unwrap_or(weights.source()).to_owned();
            weights.with_source(source).save(to)?;
        }
    }
    Ok(())
}

#[cfg(feature = "torch")]
fn export_script(weights: &Weights, to: &Path) -> Result<()> {
    Ok(surakarta_train::export_script(weights, to)?)
}

#[cfg(not(feature = "torch"))]
fn export_script(_: &Weights, _: &Path) -> Result<()> {
    Err(surakarta_train::TrainError::NoTorch.into())
}

/// Quantises f32 weights.
///
/// # Errors
/// If the file cannot be used or holds what cannot be quantised, or the other one cannot be written.
pub fn quantise(from: &Path, to: &Path) -> Result<()> {
    if is_script(to) {
        bail!("{} would be taken for a TorchScript module; give a name without .pt", to.display());
    }
    refuse_script(from)?;
    let weights = Weights::load(from)?;
    let quantised = QuantisedWeights::new(&weights)
        .with_context(|| format!("{} cannot be quantised", from.display()))?;
    quantised.save(to)?;
    Ok(())
}

/// How much two networks differ on positions of random games.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NetDifference {
    /// Positions that both have evaluated.
    pub positions: usize,
    /// The largest difference between two probabilities of a move.
    pub policy_max: f64,
    /// The mean difference between two probabilities of a move, over moves.
    pub policy_mean: f64,
    /// The Kullback-Leibler divergence of the second policy from the first, in nats, mean over positions.
    pub policy_kl_mean: f64,
    /// The largest of these.
    pub policy_kl_max: f64,
    /// The share of positions in which both like the same move best.
    pub top_move_agreement: f64,
    /// The largest difference between two values, from −1 to 1.
    pub value_max: f64,
    /// The mean difference.
    pub value_mean: f64,
    /// The root of the mean squared difference.
    pub value_rms: f64,
    /// The largest difference between two probabilities of an outcome.
    pub wdl_max: f64,
    /// The largest difference between two expected margins.
    pub margin_max: f64,
    /// The mean difference.
    pub margin_mean: f64,
}

/// Lets two networks, f32 or quantised, of any shapes, evaluate the same positions.
///
/// # Errors
/// If a file cannot be used, or they are for different variants.
pub fn compare(first: &Path, second: &Path, positions: usize, seed: u64) -> Result<NetDifference> {
    let [one, other] = [load(first)?, load(second)?];
    let variant = one.variant();
    if other.variant() != variant {
        bail!(
            "{} is for the variant {variant} and {} for {}; compare networks of one variant",
            first.display(),
            second.display(),
            other.variant()
        );
    }
    let [one, other] = [one, other].map(|file| Network::from(file).evaluator());
    let mut evaluators = [one, other];
    let positions = random_positions(variant, positions, seed);
    let mut difference = Sums::default();
    for some in positions.chunks(256) {
        let mut batches = [Batch::default(), Batch::default()];
        for (batch, evaluator) in batches.iter_mut().zip(&mut evaluators) {
            for position in some {
                batch.push(*position, &position.moves());
            }
            evaluator.evaluate(batch)?;
        }
        for at in 0..some.len() {
            difference.add(&batches, at);
        }
    }
    Ok(difference.means())
}

/// Sums of what [`NetDifference`] has means of.
#[derive(Default)]
struct Sums {
    sums: NetDifference,
    moves: usize,
}

impl Sums {
    fn add(&mut self, batches: &[Batch; 2], at: usize) {
        let sums = &mut self.sums;
        let [p, q] = [batches[0].policy(at), batches[1].policy(at)];
        let [one, other] = [batches[0].outlook(at), batches[1].outlook(at)];
        let apart = |x: f32, y: f32| (f64::from(x) - f64::from(y)).abs();
        sums.positions += 1;
        self.moves += p.len();
        let mut divergence = 0.0;
        for (&p, &q) in p.iter().zip(q) {
            sums.policy_max = sums.policy_max.max(apart(p, q));
            sums.policy_mean += apart(p, q);
            if p > 0.0 {
                let q = f64::from(q).max(f64::from(f32::MIN_POSITIVE));
                divergence += f64::from(p) * (f64::from(p) / q).ln();
            }
        }
        sums.policy_kl_mean += divergence;
        sums.policy_kl_max = sums.policy_kl_max.max(divergence);
        sums.top_move_agreement += f64::from(u8::from(best(p) == best(q)));
        let value = apart(one.value(), other.value());
        sums.value_max = sums.value_max.max(value);
        sums.value_mean += value;
        sums.value_rms += value * value;
        for (&x, &y) in one.wdl.iter().zip(&other.wdl) {
            sums.wdl_max = sums.wdl_max.max(apart(x, y));
        }
        let margin = apart(one.margin, other.margin);
        sums.margin_max = sums.margin_max.max(margin);
        sums.margin_mean += margin;
    }

    fn means(self) -> NetDifference {
        let Sums { mut sums, moves } = self;
        let positions = sums.positions.max(1) as f64;
        sums.policy_mean /= moves.max(1) as f64;
        for sum in [
            &mut sums.policy_kl_mean,
            &mut sums.top_move_agreement,
            &mut sums.value_mean,
            &mut sums.value_rms,
            &mut sums.margin_mean,
        ] {
            *sum /= positions;
        }
        sums.value_rms = sums.value_rms.sqrt();
        sums
    }
}

/// The place of the largest, the first of equals.
fn best(policy: &[f32]) -> usize {
    (0..policy.len()).rev().max_by(|&a, &b| policy[a].total_cmp(&policy[b])).unwrap_or(0)
}

impl fmt::Display for NetDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} positions of random games", self.positions)?;
        writeln!(f, "same best move      {:.2} %", 100.0 * self.top_move_agreement)?;
        let mut line = |what: &str, mean: f64, max: f64| {
            writeln!(f, "{what:<19} mean {mean:.6}, at most {max:.6}")
        };
        line("policy divergence", self.policy_kl_mean, self.policy_kl_max)?;
        line("move's probability", self.policy_mean, self.policy_max)?;
        line("value", self.value_mean, self.value_max)?;
        line("margin", self.margin_mean, self.margin_max)?;
        writeln!(f, "value, root of mean square {:.6}", self.value_rms)?;
        writeln!(f, "outcome's probability at most {:.6}", self.wdl_max)
    }
}

/// Positions of random games with a legal move, so many and in an order without any relation between
/// neighbours; the same ones for the same seed.
pub(crate) fn random_positions(variant: Variant, count: usize, seed: u64) -> Vec<Position> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut positions = Vec::new();
    let (mut game, mut moves) = (start(variant), Vec::new());
    // Twice as many as wanted, so that the last game is not always cut.
    while positions.len() < 2 * count {
        if game.result().is_some() {
            game = start(variant);
        }
        game.legal_moves_into(&mut moves);
        positions.push(*game.position());
        game.play_legal(moves[rng.random_range(0..moves.len())]);
    }
    for i in 0..count {
        let other = rng.random_range(i..positions.len());
        positions.swap(i, other);
    }
    positions.truncate(count);
    positions
}

fn start(variant: Variant) -> Game {
    Game::from_position(RuleSet::default(), Position::start(variant))
}
