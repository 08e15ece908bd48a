//! The numbers of a quantised network, and the file that they live in.
//!
//! A safetensors file as [`Weights`](crate::Weights) has them, whose metadata also say
//! `"quantised": 1` ([`QUANTISED_VERSION`]). Dimensions are those of the f32 tensors; the table at
//! [`Quantised`](crate::Quantised) says what is computed with them.
//!
//! | tensor | type | one for |
//! |---|---|---|
//! | `hidden.0.weight`, `hidden.0.bias` | i16 | each weight and bias of the first layer |
//! | `hidden.0.shift` | i16 | the layer |
//! | `hidden.{i}.weight`, `policy.weight` | i8 | each weight |
//! | `wdl.weight`, `margin.weight` | i16 | each weight |
//! | `….scale`, `….bias` of all these | f32 | each output |

use std::fs;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use surakarta_game::Variant;
use xxhash_rust::xxh3::Xxh3;

use super::{LEVELS, most_outlook_weight};
use crate::file::{Header, LoadError, LoadProblem, SaveError, write_tensors};
use crate::inputs::{INPUT_VERSION, exclusive, inputs};
use crate::shape::{MlpShape, Shape, Trunk};
use crate::weights::InvalidWeights;

/// The version of the arithmetic and of the tensors of quantised networks.
pub const QUANTISED_VERSION: u64 = 1;

/// All numbers of a quantised fully connected network, valid, with what they are for.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantisedWeights {
    pub(super) shape: Shape,
    pub(super) variant: Variant,
    pub(super) source: String,
    pub(super) first: First,
    /// The hidden layers after the first.
    pub(super) hidden: Vec<Linear<i8>>,
    pub(super) policy: Linear<i8>,
    pub(super) wdl: Linear<i16>,
    pub(super) margin: Linear<i16>,
}

/// The first hidden layer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct First {
    /// (out, in).
    pub(super) weight: Vec<i16>,
    pub(super) bias: Vec<i16>,
    /// Bits that a sum loses when it becomes an activation.
    pub(super) shift: i16,
}

/// A later layer, or a head.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Linear<T> {
    /// (out, in).
    pub(super) weight: Vec<T>,
    /// What a sum of products is multiplied with, for each output.
    pub(super) scale: Vec<f32>,
    /// What is added then.
    pub(super) bias: Vec<f32>,
}

/// Numbers of a tensor of one type or another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Numbers<'a> {
    /// Eight bits.
    I8(&'a [i8]),
    /// Sixteen bits.
    I16(&'a [i16]),
    /// Single precision.
    F32(&'a [f32]),
}

impl Numbers<'_> {
    /// `i8`, `i16` or `f32`.
    pub fn name(self) -> &'static str {
        match self {
            Numbers::I8(_) => "i8",
            Numbers::I16(_) => "i16",
            Numbers::F32(_) => "f32",
        }
    }

    /// How many bytes each takes.
    pub fn size(self) -> usize {
        match self {
            Numbers::I8(_) => size_of::<i8>(),
            Numbers::I16(_) => size_of::<i16>(),
            Numbers::F32(_) => size_of::<f32>(),
        }
    }

    fn little_endian(self) -> Vec<u8> {
        match self {
            Numbers::I8(x) => x.iter().map(|&x| x as u8).collect(),
            Numbers::I16(x) => x.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Numbers::F32(x) => x.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    fn dtype(self) -> Dtype {
        match self {
            Numbers::I8(_) => Dtype::I8,
            Numbers::I16(_) => Dtype::I16,
            Numbers::F32(_) => Dtype::F32,
        }
    }
}

impl QuantisedWeights {
    /// The shape of the network, without auxiliary heads.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The variant that it plays.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The note on where the weights come from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The same weights with another note.
    #[must_use]
    pub fn with_source(self, source: impl Into<String>) -> QuantisedWeights {
        QuantisedWeights { source: source.into(), ..self }
    }

    pub(super) fn mlp(&self) -> &MlpShape {
        match self.shape.trunk() {
            Trunk::Mlp(mlp) => mlp,
            _ => unreachable!("only fully connected networks are quantised"),
        }
    }

    /// Name, dimensions and numbers (row-major) of every tensor.
    pub fn tensors(&self) -> Vec<(String, Vec<usize>, Numbers<'_>)> {
        let First { weight, bias, shift } = &self.first;
        let width = bias.len();
        let mut tensors = vec![
            ("hidden.0.weight".to_owned(), vec![width, weight.len() / width], Numbers::I16(weight)),
            ("hidden.0.bias".to_owned(), vec![width], Numbers::I16(bias)),
            ("hidden.0.shift".to_owned(), vec![1], Numbers::I16(std::slice::from_ref(shift))),
        ];
        for (i, layer) in self.hidden.iter().enumerate() {
            layer.list(&format!("hidden.{}", i + 1), Numbers::I8(&layer.weight), &mut tensors);
        }
        self.policy.list("policy", Numbers::I8(&self.policy.weight), &mut tensors);
        self.wdl.list("wdl", Numbers::I16(&self.wdl.weight), &mut tensors);
        self.margin.list("margin", Numbers::I16(&self.margin.weight), &mut tensors);
        tensors
    }

    /// What tells networks apart: 32 hexadecimal digits over all but the note. Never that of an f32
    /// network.
    pub fn hash(&self) -> String {
        format!("{:032x}", self.hashed().digest128())
    }

    fn hashed(&self) -> Xxh3 {
        let mut hash = Xxh3::new();
        let identity = serde_json::json!([
            "quantised",
            QUANTISED_VERSION,
            &self.shape,
            self.variant.name(),
            INPUT_VERSION
        ]);
        hash.update(identity.to_string().as_bytes());
        for (_, _, numbers) in self.tensors() {
            hash.update(&numbers.little_endian());
        }
        hash
    }

    fn checksum(&self) -> String {
        let mut hash = self.hashed();
        hash.update(self.source.as_bytes());
        format!("{:032x}", hash.digest128())
    }

    /// Writes the file beside its name, syncs it and renames it.
    ///
    /// # Errors
    /// If the file system refuses; the message names the file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let checksum = self.checksum();
        let mut header = Header::new(self.variant, &self.shape, &self.source, checksum);
        header.quantised = Some(QUANTISED_VERSION);
        let tensors = self.tensors();
        let data: Vec<_> = tensors.iter().map(|(_, _, n)| n.little_endian()).collect();
        let views = tensors.iter().zip(&data).map(|((name, dims, numbers), data)| {
            TensorView::new(numbers.dtype(), dims.clone(), data).map(|view| (&name[..], view))
        });
        write_tensors(path.as_ref(), &header, views)
    }

    /// Reads the file of a quantised network.
    ///
    /// # Errors
    /// If it is missing or damaged, holds an f32 network, or another build's; the message is one
    /// sentence that names the file.
    pub fn load(path: impl AsRef<Path>) -> Result<QuantisedWeights, LoadError> {
        let path = path.as_ref();
        let read = || {
            let file = fs::read(path)?;
            QuantisedWeights::read(Header::of(&file)?, &SafeTensors::deserialize(&file)?)
        };
        read().map_err(|problem| LoadError { path: path.to_owned(), problem })
    }

    pub(crate) fn read(
        header: Header,
        tensors: &SafeTensors,
    ) -> Result<QuantisedWeights, LoadProblem> {
        match header.quantised {
            Some(QUANTISED_VERSION) => {}
            Some(other) => return Err(LoadProblem::QuantisedVersion(other)),
            None => return Err(LoadProblem::NotQuantised),
        }
        let variant: Variant = header.variant.parse()?;
        let Trunk::Mlp(mlp) = header.shape.trunk() else {
            return Err(LoadProblem::Metadata("no such shape is quantised".to_owned()));
        };
        if !header.shape.heads().is_empty() {
            return Err(LoadProblem::Metadata(
                "a quantised network has no auxiliary heads".to_owned(),
            ));
        }
        let mut given = Given { tensors, taken: 0 };
        let (width, last) = (mlp.hidden()[0], mlp.last());
        let first = First {
            weight: given.take("hidden.0.weight", &[width, inputs(variant)], Dtype::I16)?,
            bias: given.take("hidden.0.bias", &[width], Dtype::I16)?,
            shift: given.take("hidden.0.shift", &[1], Dtype::I16)?[0],
        };
        let hidden = mlp
            .hidden()
            .windows(2)
            .zip(1..)
            .map(|(pair, i)| given.linear(&format!("hidden.{i}"), pair[1], pair[0], Dtype::I8));
        let hidden = hidden.collect::<Result<_, _>>()?;
        let weights = QuantisedWeights {
            first,
            hidden,
            policy: given.linear("policy", variant.moves(), last, Dtype::I8)?,
            wdl: given.linear("wdl", 3, last, Dtype::I16)?,
            margin: given.linear("margin", 1, last, Dtype::I16)?,
            shape: header.shape,
            variant,
            source: header.source,
        };
        if given.taken != tensors.len() {
            let known = weights.tensors();
            let unknown = tensors.names().into_iter().filter(|n| known.iter().all(|k| k.0 != **n));
            let name = unknown.min().map_or_else(String::new, |name| name.to_owned());
            return Err(InvalidWeights::Unexpected(name).into());
        }
        if header.checksum.is_some_and(|checksum| checksum != weights.checksum()) {
            return Err(LoadProblem::Checksum);
        }
        weights.check()?;
        Ok(weights)
    }

    /// Whether no sum can overflow, so that integers are exact in whatever order they are added, and
    /// whether all floats are finite.
    pub(super) fn check(&self) -> Result<(), InvalidWeights> {
        let overflow = |name: &str| InvalidWeights::Overflow(name.to_owned());
        // With 15 the half that rounds would not fit sixteen bits beside its sign.
        if !(0..15).contains(&self.first.shift) {
            return Err(overflow("hidden.0.shift"));
        }
        if self.first.reach(self.variant) > i64::from(i16::MAX) {
            return Err(overflow("hidden.0.weight"));
        }
        for (i, layer) in self.hidden.iter().enumerate() {
            if layer.weight.contains(&i8::MIN) {
                return Err(overflow(&format!("hidden.{}.weight", i + 1)));
            }
        }
        if self.policy.weight.contains(&i8::MIN) {
            return Err(overflow("policy.weight"));
        }
        let most = most_outlook_weight(self.mlp().last());
        for (name, head) in [("wdl.weight", &self.wdl), ("margin.weight", &self.margin)] {
            if head.weight.iter().any(|w| i64::from(*w).abs() > most) {
                return Err(overflow(name));
            }
        }
        for (name, _, numbers) in self.tensors() {
            if matches!(numbers, Numbers::F32(x) if !x.iter().all(|x| x.is_finite())) {
                return Err(InvalidWeights::NotFinite(name));
            }
        }
        Ok(())
    }
}

impl First {
    /// The largest magnitude of any sum: the bias and the weights of any inputs that can be 1 together,
    /// and the half that rounds.
    pub(super) fn reach(&self, variant: Variant) -> i64 {
        let inputs = inputs(variant);
        let rows = self.weight.chunks_exact(inputs).zip(&self.bias);
        let half = 1 << self.shift >> 1;
        let reach = rows.map(|(row, &bias)| {
            let most = |sign: i64| {
                let positive = |i: usize| (sign * i64::from(row[i])).max(0);
                let groups = exclusive(variant);
                let sum: i64 = groups.map(|group| group.map(positive).max().unwrap_or(0)).sum();
                sign * i64::from(bias) + sum
            };
            most(1).max(most(-1)) + half
        });
        reach.max().unwrap_or(0)
    }
}

impl<T> Linear<T> {
    fn list<'a>(
        &'a self,
        name: &str,
        weight: Numbers<'a>,
        tensors: &mut Vec<(String, Vec<usize>, Numbers<'a>)>,
    ) {
        let outputs = self.bias.len();
        tensors.push((
            format!("{name}.weight"),
            vec![outputs, self.weight.len() / outputs],
            weight,
        ));
        tensors.push((format!("{name}.scale"), vec![outputs], Numbers::F32(&self.scale)));
        tensors.push((format!("{name}.bias"), vec![outputs], Numbers::F32(&self.bias)));
    }
}

/// The tensors of a file, and how many of them have been asked for.
struct Given<'a> {
    tensors: &'a SafeTensors<'a>,
    taken: usize,
}

impl Given<'_> {
    fn take<T: Little>(
        &mut self,
        name: &str,
        dims: &[usize],
        dtype: Dtype,
    ) -> Result<Vec<T>, InvalidWeights> {
        let Ok(view) = self.tensors.tensor(name) else {
            return Err(InvalidWeights::Missing(name.to_owned()));
        };
        if view.shape() != dims {
            let (name, found, expected) = (name.to_owned(), view.shape().to_vec(), dims.to_vec());
            return Err(InvalidWeights::Dimensions { name, found, expected });
        }
        if view.dtype() != dtype {
            return Err(InvalidWeights::Type(name.to_owned()));
        }
        self.taken += 1;
        Ok(view.data().chunks_exact(size_of::<T>()).map(T::little).collect())
    }

    fn linear<T: Little>(
        &mut self,
        name: &str,
        outputs: usize,
        inputs: usize,
        dtype: Dtype,
    ) -> Result<Linear<T>, InvalidWeights> {
        let weight = self.take(&format!("{name}.weight"), &[outputs, inputs], dtype)?;
        let mut floats = |part: &str| self.take(&format!("{name}.{part}"), &[outputs], Dtype::F32);
        Ok(Linear { weight, scale: floats("scale")?, bias: floats("bias")? })
    }
}

/// A number as files have it.
trait Little {
    fn little(bytes: &[u8]) -> Self;
}

impl Little for i8 {
    fn little(bytes: &[u8]) -> i8 {
        bytes[0] as i8
    }
}

impl Little for i16 {
    fn little(bytes: &[u8]) -> i16 {
        i16::from_le_bytes([bytes[0], bytes[1]])
    }
}

impl Little for f32 {
    fn little(bytes: &[u8]) -> f32 {
        f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

const _: () = assert!(LEVELS == i8::MAX as i32, "packing clips to this");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::Weights;

    #[test]
    fn numbers_beyond_what_sums_hold_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q.safetensors");
        let shape = Shape::mlp(&[32, 16]).unwrap();
        let weights = QuantisedWeights::new(&Weights::random(shape, Variant::Standard, 1)).unwrap();
        type Change = fn(&mut QuantisedWeights);
        let changes: [(&str, Change); 7] = [
            ("hidden.0.shift", |w| w.first.shift = 15),
            ("hidden.0.shift", |w| w.first.shift = -1),
            ("hidden.0.weight", |w| w.first.weight[..2].fill(i16::MAX)),
            ("hidden.0.weight", |w| w.first.bias[3] = i16::MIN),
            ("hidden.1.weight", |w| w.hidden[0].weight[7] = i8::MIN),
            ("policy.weight", |w| w.policy.weight[7] = i8::MIN),
            ("margin.weight", |w| w.margin.weight[7] = i16::MIN),
        ];
        for (tensor, change) in changes {
            let mut changed = weights.clone();
            change(&mut changed);
            changed.save(&path).unwrap();
            let problem = QuantisedWeights::load(&path).unwrap_err().problem;
            let expected = InvalidWeights::Overflow(tensor.to_owned());
            assert!(matches!(&problem, LoadProblem::Tensors(p) if *p == expected), "{problem}");
        }
        let mut infinite = weights;
        infinite.hidden[0].scale[3] = f32::INFINITY;
        infinite.save(&path).unwrap();
        let problem = QuantisedWeights::load(&path).unwrap_err().problem;
        let expected = InvalidWeights::NotFinite("hidden.1.scale".to_owned());
        assert!(matches!(&problem, LoadProblem::Tensors(p) if *p == expected), "{problem}");
    }

    #[test]
    fn every_input_is_in_one_group() {
        for variant in Variant::ALL {
            let mut all: Vec<usize> = exclusive(variant).flatten().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..inputs(variant)));
        }
    }
}
