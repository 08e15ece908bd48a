//! The replay window: the newest samples of a run, packed in memory.

mod part;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use surakarta_game::{Symmetry, Variant};

use crate::sample::Sample;
use crate::shard::{ShardError, ShardInfo, ShardReader, newest_first};
use crate::shuffle::{Permutation, mix, stream};
use part::Part;

/// The newest samples of a list of shards.
///
/// A window depends on the set of shards alone, not on the order in which they are listed: it orders
/// them by iteration and first game. From the newest backwards it takes whole shards until it holds
/// as many samples as wanted, held-out ones included, so it ends up with those or a few more; a shard
/// whose content is there already is passed over.
///
/// A sample takes 32 bytes and its policy, about 60 in all, and the plies of its game take 4 bytes each
/// ([`Window::bytes`] says exactly).
///
/// # Validation
/// A window may hold games out ([`Window::holding_out`]): batches never draw from them, and their
/// samples are there to test what was learned. Start and moves of a game alone decide
/// ([`GameRecord::course`](crate::GameRecord::course)), so that it is held out in every window and
/// every training, and in every shard that repeats it.
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
/// for step in 0..4_000 {
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
    /// Share of games that are held out.
    held_out: f64,
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
    /// An empty window that will hold out this share of all games, from 0 to 1.
    pub fn holding_out(share: f64) -> Window {
        Window { held_out: share, ..Window::default() }
    }

    /// Makes this the window of the newest `samples` of these shards, held-out ones included.
    ///
    /// Returns what is wrong with each shard that it had to leave out, as [`Window::hold`] does, and
    /// with each that cannot be opened.
    pub fn load(&mut self, paths: &[PathBuf], samples: usize) -> Vec<ShardError> {
        let (shards, mut errors) = newest_first(paths);
        errors.extend(self.hold(&shards, samples));
        errors
    }

    /// The same of shards that are known already, in the order of [`newest_first`]. Those that the
    /// window holds are not opened again, nor are those beyond it.
    ///
    /// Returns what is wrong with each shard that it had to leave out: damaged, or of another variant
    /// or other rules than the newest. The window then is that of the others; it is for the caller to
    /// go on with it, or to stop.
    pub fn hold<'a>(
        &mut self,
        shards: impl IntoIterator<Item = &'a ShardInfo>,
        samples: usize,
    ) -> Vec<ShardError> {
        let mut shards = shards.into_iter().peekable();
        let newest = shards.peek().map_or(String::new(), |shard| shard.header.kind());

        let (mut parts, mut errors) = (Vec::<Arc<Part>>::new(), Vec::new());
        let mut held = 0;
        for shard in shards {
            if held >= samples {
                break;
            }
            let part = match self.parts.iter().find(|part| part.root == shard.root) {
                _ if shard.header.kind() != newest => Err(ShardError::Foreign {
                    path: shard.path.clone(),
                    found: shard.header.kind(),
                    expected: newest.clone(),
                }),
                Some(part) => Ok(Arc::clone(part)),
                None => ShardReader::open(&shard.path)
                    .and_then(|mut reader| Part::read(&mut reader, self.held_out))
                    .map(Arc::new),
            };
            match part {
                Ok(part) => {
                    held += part.samples.len() + part.held_out.len();
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

    /// How many samples batches draw from.
    pub fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether there is no such sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The variant that all samples are of; none without any.
    pub fn variant(&self) -> Option<Variant> {
        self.parts.iter().find_map(|part| part.variant())
    }

    /// Memory that the samples take.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes()).sum()
    }

    /// The shards that the samples come from, oldest first.
    pub fn shards(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.parts.iter().map(|part| part.path.as_path())
    }

    /// The sample at an index below [`Window::len`], shards and games in their order.
    ///
    /// # Panics
    /// If there is none: a bug in the caller.
    pub fn sample(&self, index: usize) -> Sample {
        assert!(index < self.len(), "sample {index} of {}", self.len());
        let part = self.starts.partition_point(|&start| start <= index) - 1;
        let samples = &self.parts[part].samples;
        self.parts[part].sample(samples, index - self.starts[part])
    }

    /// The samples of the games that are held out, shards and games in their order.
    pub fn held_out(&self) -> impl Iterator<Item = Sample> + '_ {
        self.parts.iter().flat_map(|part| {
            (0..part.held_out.len()).map(|index| part.sample(&part.held_out, index))
        })
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
