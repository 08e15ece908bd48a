//! The replay window: the newest samples of a run, packed in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use surakarta_game::{Position, Symmetry, Variant};

use crate::codec::{Bytes, decode_policy, encode_policy, ordered_moves};
use crate::game::{GameRecord, dequantise, quantise};
use crate::sample::{Sample, margin, pieces_ahead};
use crate::shard::{ShardError, ShardHeader, ShardReader};
use crate::shuffle::{Permutation, mix, stream};

/// The newest samples of a list of shards.
///
/// A window depends on the set of shards alone, not on the order in which they are listed: it orders
/// them by iteration and first game. From the newest backwards it takes whole shards until it holds
/// as many samples as wanted, so it ends up with those or a few more; a shard whose content is there
/// already is passed over.
///
/// A sample takes 32 bytes and its policy, about 60 in all ([`Window::bytes`] says exactly).
///
/// # Batches
/// Training goes over the window in passes. Each pass visits every sample once, in an order of its own
/// that is a function of (seed, iteration, pass); step `s` of batches of `b` takes the places
/// `s·b .. (s+1)·b` of this endless walk. So a batch is a function of the window and (seed, iteration,
/// step, size), a training that goes on at step `s` needs nothing else, and after any number of steps
/// the uses of two samples differ by one at most.
///
/// ```no_run
/// # use std::path::Path;
/// use surakarta_record::{Window, shard::list_shards};
///
/// let paths = list_shards(Path::new("runs/q/shards"))?;
/// let mut window = Window::default();
/// for damaged in window.load(&paths, 500_000) {
///     eprintln!("{damaged}");
/// }
/// for step in 0..window.steps(512, 4.0) {
///     let batch = window.batch(1, 0, step, 512);
///     // …
/// #   let _ = batch;
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Oldest first.
    parts: Vec<Arc<Part>>,
    /// Number of the first sample of each part, then of all.
    starts: Vec<usize>,
}

/// A place in the window that a batch takes, and how the board is to be turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Of the sample.
    pub index: usize,
    /// Uniformly one of the eight.
    pub symmetry: Symmetry,
}

impl Window {
    /// Makes this the window of the newest `samples` of these shards. Shards that it holds already are
    /// not read again.
    ///
    /// Returns what is wrong with each shard that it had to leave out: damaged, or of another variant
    /// or other rules than the newest. The window then is that of the others; it is for the caller to
    /// go on with it, or to stop.
    pub fn load(&mut self, paths: &[PathBuf], samples: usize) -> Vec<ShardError> {
        let mut errors = Vec::new();
        let mut readers = Vec::new();
        for path in paths {
            match ShardReader::open(path) {
                Ok(reader) => readers.push(reader),
                Err(error) => errors.push(error),
            }
        }
        let age = |reader: &ShardReader| {
            let ShardHeader { iteration, first_game, seed, .. } = *reader.header();
            (iteration, first_game, seed, reader.root())
        };
        readers.sort_by_key(|reader| std::cmp::Reverse(age(reader)));
        readers.dedup_by_key(|reader| reader.root());
        let newest = readers.first().map_or(String::new(), |reader| reader.header().kind());

        let mut parts: Vec<Arc<Part>> = Vec::new();
        let mut held = 0;
        for mut reader in readers {
            if held >= samples {
                break;
            }
            let part = match self.parts.iter().find(|part| part.root == reader.root()) {
                _ if reader.header().kind() != newest => Err(ShardError::Foreign {
                    path: reader.path().to_owned(),
                    found: reader.header().kind(),
                    expected: newest.clone(),
                }),
                Some(part) => Ok(Arc::clone(part)),
                None => Part::read(&mut reader).map(Arc::new),
            };
            match part {
                Ok(part) => {
                    held += part.samples.len();
                    parts.push(part);
                }
                Err(error) => errors.push(error),
            }
        }
        parts.reverse();
        self.parts = parts;
        self.starts = vec![0];
        for part in &self.parts {
            self.starts.push(self.starts[self.starts.len() - 1] + part.samples.len());
        }
        errors
    }

    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The variant that all samples are of; none without any.
    pub fn variant(&self) -> Option<Variant> {
        let first = self.parts.iter().find_map(|part| part.samples.first());
        first.map(|sample| sample.position.variant())
    }

    /// Memory that the samples take.
    pub fn bytes(&self) -> usize {
        let bytes = |part: &Arc<Part>| {
            part.samples.capacity() * size_of::<Packed>() + part.policies.capacity()
        };
        self.parts.iter().map(bytes).sum()
    }

    /// The shards that the samples come from, oldest first.
    pub fn shards(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.parts.iter().map(|part| part.path.as_path())
    }

    /// Steps of this batch size that use each sample so often on average, rounded up.
    pub fn steps(&self, size: usize, uses: f64) -> u64 {
        (self.len() as f64 * uses / size as f64).ceil() as u64
    }

    /// The sample at an index below [`Window::len`], shards and games in their order.
    ///
    /// # Panics
    /// If there is none: a bug in the caller.
    pub fn sample(&self, index: usize) -> Sample {
        assert!(index < self.len(), "sample {index} of {}", self.len());
        let part = self.starts.partition_point(|&start| start <= index) - 1;
        self.parts[part].sample(index - self.starts[part])
    }

    /// Which samples the batch of a step takes, and under which symmetries: see
    /// [batches](Window#batches). None if the window is empty.
    pub fn draws(&self, seed: u64, iteration: u64, step: u64, size: usize) -> Vec<Draw> {
        let n = self.len() as u128;
        if n == 0 {
            return Vec::new();
        }
        let salt =
            rand_chacha::rand_core::Rng::next_u64(&mut stream([seed, iteration, 0, SYMMETRIES]));
        let mut order: Option<(u64, Permutation)> = None;
        let first = step as u128 * size as u128;
        let draw = |place: u128| {
            let pass = (place / n) as u64;
            let order = match &mut order {
                Some((of, order)) if *of == pass => order,
                other => {
                    let made = Permutation::new(n as u64, [seed, iteration, pass, ORDER]);
                    &mut other.insert((pass, made)).1
                }
            };
            let turn = mix(salt ^ place as u64) >> 61;
            Draw {
                index: order.at((place % n) as u64) as usize,
                symmetry: Symmetry::ALL[turn as usize],
            }
        };
        (first..first + size as u128).map(draw).collect()
    }

    /// The samples of [`Window::draws`], each under its symmetry.
    pub fn batch(&self, seed: u64, iteration: u64, step: u64, size: usize) -> Vec<Sample> {
        let draws = self.draws(seed, iteration, step, size);
        draws.into_iter().map(|draw| self.sample(draw.index).under(draw.symmetry)).collect()
    }
}

/// What the streams of a window are for.
const ORDER: u64 = 0x006f_7264_6572;
const SYMMETRIES: u64 = 0x7379_6d6d;

/// The samples of one shard.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    root: u64,
    samples: Vec<Packed>,
    /// One after another: kind, then as in shards.
    policies: Vec<u8>,
}

#[derive(Debug)]
struct Packed {
    position: Position,
    policy: u32,
    /// In 1/32767, or [`NO_VALUE`].
    value: i16,
    outcome: i8,
    /// Pieces.
    margin: i8,
}

const NO_VALUE: i16 = i16::MIN;

impl Part {
    fn read(reader: &mut ShardReader) -> Result<Part, ShardError> {
        let mut part = Part {
            path: reader.path().to_owned(),
            root: reader.root(),
            samples: Vec::new(),
            policies: Vec::new(),
        };
        for game in reader.games() {
            part.push(&game?);
        }
        part.samples.shrink_to_fit();
        part.policies.shrink_to_fit();
        Ok(part)
    }

    fn push(&mut self, game: &GameRecord) {
        let last = game.last_position();
        let mut moves = Vec::with_capacity(64);
        for (position, ply) in game.positions().zip(&game.plies) {
            if !ply.is_sample() {
                continue;
            }
            let mover = position.side_to_move();
            ordered_moves(&position, &mut moves);
            let kind = self.policies.len();
            self.policies.push(0);
            self.policies[kind] = encode_policy(&ply.policy, &moves, &mut self.policies)
                .expect("a policy that came from a shard");
            self.samples.push(Packed {
                position,
                policy: kind.try_into().expect("a shard below 4 GiB"),
                value: ply.value.map_or(NO_VALUE, quantise),
                outcome: game.result.outcome.value_for(mover),
                margin: pieces_ahead(&last, mover),
            });
        }
    }

    fn sample(&self, index: usize) -> Sample {
        let packed = &self.samples[index];
        let mut moves = Vec::with_capacity(64);
        ordered_moves(&packed.position, &mut moves);
        let mut bytes = Bytes(&self.policies[packed.policy as usize + 1..]);
        let policy = decode_policy(self.policies[packed.policy as usize], &mut bytes, &moves)
            .expect("a policy that was packed");
        Sample {
            position: packed.position,
            policy: policy.shares(),
            outcome: packed.outcome,
            margin: margin(packed.position.variant(), packed.margin),
            value: (packed.value != NO_VALUE).then(|| dequantise(packed.value)),
        }
    }
}
