//! The shape of a network, and the tensors that it consists of.

mod heads;
mod mlp;
mod tower;

pub use heads::{Auxiliary, HORIZONS, MOVE_CHANNELS, OCCUPANTS};
pub use mlp::Mlp as MlpShape;
pub use tower::{Circuit as CircuitShape, Conv as ConvShape};

use serde::{Deserialize, Serialize};
use surakarta_game::Variant;

use crate::inputs::{InputGroup, POINT_STATES, inputs, seen_as, state_seen_as};
use mlp::{MAX_LAYERS, MAX_WIDTH, WIDTH_STEP};
use tower::{CHANNEL_STEP, MAX_BLOCKS, MAX_CHANNELS, MAX_REACH};

/// What a network is built like. The board adds the numbers of inputs and of moves. In a
/// configuration: `kind = "mlp"`, `hidden = [256, 128]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Shape {
    #[serde(flatten)]
    trunk: Trunk,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without: Vec<InputGroup>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    heads: Vec<Auxiliary>,
}

#[derive(Deserialize)]
struct Written {
    #[serde(flatten)]
    trunk: Trunk,
    #[serde(default)]
    without: Vec<InputGroup>,
    #[serde(default)]
    heads: Vec<Auxiliary>,
}

/// The layers between the inputs and the heads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Trunk {
    /// Fully connected layers over sparse binary inputs: the choice for a CPU.
    Mlp(MlpShape),
    /// A residual tower of 3×3 convolutions with global pooling: the choice for a GPU.
    Conv(ConvShape),
    /// A residual tower that looks along the circuits, too.
    Circuit(CircuitShape),
}

/// The network cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidShape {
    /// No hidden layer, or too many.
    #[error("hidden lists {0} layers; give the widths of 1 to {MAX_LAYERS}, as in [256, 128]")]
    Layers(usize),
    /// A layer is too narrow, too wide or not a multiple of 16.
    #[error(
        "hidden has a layer of {0} units; a width is a multiple of {WIDTH_STEP} from {WIDTH_STEP} to {MAX_WIDTH}"
    )]
    Width(usize),
    /// No two neighbouring layers are equally wide.
    #[error(
        "residual = true needs two neighbouring layers of one width, as in hidden = [256, 128, 128]"
    )]
    NothingResidual,
    /// No block, or too many.
    #[error("blocks is {0}; it must be from 1 to {MAX_BLOCKS}")]
    Blocks(usize),
    /// Too few or too many channels, or not a multiple of 16.
    #[error(
        "channels is {0}; it must be a multiple of {CHANNEL_STEP} from {CHANNEL_STEP} to {MAX_CHANNELS}"
    )]
    Channels(usize),
    /// A reach beyond the circuit.
    #[error("reach is {0}; it must be from 1 to {MAX_REACH} stops")]
    Reach(usize),
}

/// Name and dimensions of a tensor; matrices are (out, in), as PyTorch has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorSpec {
    /// `hidden.0.weight`, `policy.bias`, …
    pub name: String,
    /// Length of each dimension.
    pub dims: Vec<usize>,
}

impl TensorSpec {
    /// How many numbers it has.
    pub fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Whether it has none; tensors of a valid shape always have some.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A list of tensors in the making.
#[derive(Default)]
struct Tensors(Vec<TensorSpec>);

impl Tensors {
    /// A weight and a bias for each of its outputs, the first dimension.
    fn layer(&mut self, name: &str, dims: &[usize]) {
        self.matrix(name, dims);
        self.bias(name, dims[0]);
    }

    /// A weight alone.
    fn matrix(&mut self, name: &str, dims: &[usize]) {
        self.0.push(TensorSpec { name: format!("{name}.weight"), dims: dims.to_vec() });
    }

    /// A bias alone.
    fn bias(&mut self, name: &str, outputs: usize) {
        self.0.push(TensorSpec { name: format!("{name}.bias"), dims: vec![outputs] });
    }
}

impl From<Trunk> for Shape {
    /// With all inputs and no auxiliary head.
    fn from(trunk: Trunk) -> Shape {
        Shape { trunk, without: Vec::new(), heads: Vec::new() }
    }
}

impl From<Written> for Shape {
    fn from(Written { trunk, without, heads }: Written) -> Shape {
        Shape::from(trunk).without(without).with_heads(heads)
    }
}

impl Shape {
    /// Fully connected, with hidden layers of these widths.
    ///
    /// # Errors
    /// As [`MlpShape::new`].
    pub fn mlp(hidden: &[usize]) -> Result<Shape, InvalidShape> {
        Ok(Trunk::Mlp(MlpShape::new(hidden, false)?).into())
    }

    /// A tower of 3×3 convolutions.
    ///
    /// # Errors
    /// As [`ConvShape::new`].
    pub fn conv(blocks: usize, channels: usize) -> Result<Shape, InvalidShape> {
        Ok(Trunk::Conv(ConvShape::new(blocks, channels)?).into())
    }

    /// A tower that looks along the circuits.
    ///
    /// # Errors
    /// As [`CircuitShape::new`].
    pub fn circuit(blocks: usize, channels: usize, reach: usize) -> Result<Shape, InvalidShape> {
        Ok(Trunk::Circuit(CircuitShape::new(blocks, channels, reach)?).into())
    }

    /// The same shape, blind to these inputs.
    #[must_use]
    pub fn without(self, groups: impl IntoIterator<Item = InputGroup>) -> Shape {
        Shape { without: in_order(groups), ..self }
    }

    /// The same shape with these auxiliary heads.
    #[must_use]
    pub fn with_heads(self, heads: impl IntoIterator<Item = Auxiliary>) -> Shape {
        Shape { heads: in_order(heads), ..self }
    }

    /// The layers between inputs and heads.
    pub fn trunk(&self) -> &Trunk {
        &self.trunk
    }

    /// The inputs that it is blind to.
    pub fn blind_to(&self) -> &[InputGroup] {
        &self.without
    }

    /// Its auxiliary heads.
    pub fn heads(&self) -> &[Auxiliary] {
        &self.heads
    }

    /// Every tensor of such a network for a variant, in the order in which weights keep them: those of
    /// the trunk, then those of the heads `policy` ([`Variant::moves`] logits, see
    /// [`policy_index`](crate::policy_index)), `wdl` (logits of win, draw, loss) and `margin` (linear),
    /// then those of the auxiliary heads. A weight is (out, in, …), and a bias follows most.
    pub fn tensors(&self, variant: Variant) -> Vec<TensorSpec> {
        let mut tensors = Tensors::default();
        let (inputs, points) = (inputs(variant), variant.points());
        let on_points = |channels, tensors: &mut Tensors| {
            heads::on_points(variant, &self.heads, channels, tensors);
        };
        match &self.trunk {
            Trunk::Mlp(mlp) => {
                let width = mlp.tensors(inputs, &mut tensors);
                heads::on_units(variant, &self.heads, width, &mut tensors);
            }
            Trunk::Conv(conv) => {
                conv.tensors(inputs, points, &mut tensors);
                on_points(conv.channels(), &mut tensors);
            }
            Trunk::Circuit(circuit) => {
                circuit.tensors(inputs, points, &mut tensors);
                on_points(circuit.channels(), &mut tensors);
            }
        }
        tensors.0
    }

    /// The places in a tensor whose numbers multiply inputs that the shape is blind to, each with the
    /// place of the same number for what such an input counts as, if that is anything (see
    /// [`InputGroup`]). They are equal, or else 0, so that nothing which evaluates a network needs to
    /// know.
    pub(crate) fn blind_places(
        &self,
        variant: Variant,
        spec: &TensorSpec,
    ) -> impl Iterator<Item = (usize, Option<usize>)> {
        let (inputs, on_points) = (inputs(variant), POINT_STATES * variant.points());
        // What numbers next to each other multiply, how many multiply the same, and what each counts as.
        let without = &self.without[..];
        let as_input = |input| seen_as(variant, without, input);
        let as_state = |state| state_seen_as(without, state);
        let everywhere = |at| seen_as(variant, without, on_points + at).map(|at| at - on_points);
        let (alike, seen): (usize, Vec<Option<usize>>) = match &spec.name[..] {
            "hidden.0.weight" => (1, (0..inputs).map(as_input).collect()),
            "stem.weight" => (9, (0..POINT_STATES).map(as_state).collect()),
            "globals.weight" => (1, (0..inputs - on_points).map(everywhere).collect()),
            _ => (1, Vec::new()),
        };
        let places = if seen.is_empty() { 0 } else { spec.len() };
        (0..places).filter_map(move |place| {
            let at = place / alike % seen.len();
            let place_of = |other: usize| place + other * alike - at * alike;
            (seen[at] != Some(at)).then(|| (place, seen[at].map(place_of)))
        })
    }

    /// Makes the numbers of one of the shape's tensors those of a network that is as blind as the shape
    /// is: inputs that it does not tell apart get the same weights, and those that it leaves out get none.
    pub fn blind(&self, variant: Variant, spec: &TensorSpec, data: &mut [f32]) {
        for (place, seen) in self.blind_places(variant, spec) {
            data[place] = seen.map_or(0.0, |seen| data[seen]);
        }
    }

    /// How many numbers such a network for a variant consists of.
    pub fn parameters(&self, variant: Variant) -> usize {
        self.tensors(variant).iter().map(TensorSpec::len).sum()
    }

    /// How messages name such a network for a variant: `mlp 436→256→128`, `conv 4×64`,
    /// `circuit 4×64 reach 3`.
    pub fn describe(&self, variant: Variant) -> String {
        let mut text = match &self.trunk {
            Trunk::Mlp(mlp) => {
                let layer = |(i, width): (usize, &usize)| match mlp.adds(i) {
                    true => format!("⇒{width}"),
                    false => format!("→{width}"),
                };
                let hidden: String = mlp.hidden().iter().enumerate().map(layer).collect();
                format!("mlp {}{hidden}", inputs(variant))
            }
            Trunk::Conv(conv) => format!("conv {}×{}", conv.blocks(), conv.channels()),
            Trunk::Circuit(circuit) => {
                let (blocks, channels) = (circuit.blocks(), circuit.channels());
                format!("circuit {blocks}×{channels} reach {}", circuit.reach())
            }
        };
        let mut list = |what: &str, names: Vec<&str>| {
            if !names.is_empty() {
                text += &format!(" {what} {}", names.join(", "));
            }
        };
        list("without", self.without.iter().map(|group| group.name()).collect());
        list("with", self.heads.iter().map(|head| head.name()).collect());
        text
    }
}

/// Each once, in one order, so that equal shapes are equal.
fn in_order<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_the_tensors_of_a_network() {
        let shape = Shape::mlp(&[256, 128]).unwrap();
        let tensors: Vec<_> = shape
            .tensors(Variant::Standard)
            .iter()
            .map(|t| format!("{} {:?}", t.name, t.dims))
            .collect();
        assert_eq!(
            tensors,
            [
                "hidden.0.weight [256, 436]",
                "hidden.0.bias [256]",
                "hidden.1.weight [128, 256]",
                "hidden.1.bias [128]",
                "policy.weight [768, 128]",
                "policy.bias [768]",
                "wdl.weight [3, 128]",
                "wdl.bias [3]",
                "margin.weight [1, 128]",
                "margin.bias [1]",
            ]
        );
        let below = 256 * 128 + 128;
        let parameters = 436 * 256 + 256 + below + 129 * (768 + 3 + 1);
        assert_eq!(shape.parameters(Variant::Standard), parameters);
        assert_eq!(shape.describe(Variant::Standard), "mlp 436→256→128");

        let moves = Variant::Sepur.moves();
        assert_ne!(moves, 768);
        let parameters = 583 * 256 + 256 + below + 129 * (moves + 3 + 1);
        assert_eq!(shape.parameters(Variant::Sepur), parameters);
        assert_eq!(shape.describe(Variant::Sepur), "mlp 583→256→128");
    }

    #[test]
    fn lists_the_tensors_of_a_tower() {
        let listed = |shape: Shape, variant| -> Vec<String> {
            let tensors = shape.tensors(variant).into_iter();
            tensors.map(|t| format!("{} {:?}", t.name, t.dims)).collect()
        };
        let heads = [
            "policy.from.weight [32, 16]",
            "policy.from.bias [32]",
            "policy.to.weight [32, 16]",
            "policy.to.bias [32]",
            "policy.bias [768]",
            "value.weight [16, 32]",
            "value.bias [16]",
            "wdl.weight [3, 16]",
            "wdl.bias [3]",
            "margin.weight [1, 16]",
            "margin.bias [1]",
        ];
        let stem = ["stem.weight [16, 11, 3, 3]", "stem.bias [16]", "globals.weight [16, 40]"];
        let conv = [
            "block.0.first.weight [16, 16, 3, 3]",
            "block.0.first.bias [16]",
            "block.0.second.weight [16, 16, 3, 3]",
            "block.0.second.bias [16]",
            "block.0.pool.weight [16, 32]",
        ];
        let circuit = [
            "block.0.board.weight [16, 16, 3, 3]",
            "block.0.board.bias [16]",
            "block.0.circuit.weight [16, 16, 5]",
            "block.0.mix.weight [16, 16]",
            "block.0.mix.bias [16]",
            "block.0.pool.weight [16, 32]",
        ];
        let all = |block: &[&'static str]| [&stem[..], block, &heads[..]].concat();
        assert_eq!(listed(Shape::conv(1, 16).unwrap(), Variant::Standard), all(&conv));
        assert_eq!(listed(Shape::circuit(1, 16, 2).unwrap(), Variant::Standard), all(&circuit));

        let helped = Shape::conv(1, 16).unwrap().with_heads(Auxiliary::ALL);
        let tensors = listed(helped, Variant::Sepur);
        let moves = Variant::Sepur.moves();
        assert_eq!(tensors[2], "globals.weight [16, 44]");
        assert!(tensors.contains(&"occupancy.weight [3, 16]".to_owned()));
        assert!(tensors.contains(&format!("reply.bias [{moves}]")));
        assert!(tensors.contains(&"short-term.weight [3, 16]".to_owned()));
        assert!(tensors.contains(&"soft-policy.to.weight [32, 16]".to_owned()));

        let helped = Shape::mlp(&[32]).unwrap().with_heads(Auxiliary::ALL);
        let tensors = listed(helped, Variant::Standard);
        assert!(tensors.contains(&"occupancy.weight [108, 32]".to_owned()));
        assert!(tensors.contains(&"reply.weight [768, 32]".to_owned()));
    }

    #[test]
    fn is_written_and_read_by_kind() {
        let residual = MlpShape::new(&[64, 32, 32], true).unwrap();
        for (shape, written, named) in [
            (Shape::mlp(&[64]).unwrap(), r#"{"kind":"mlp","hidden":[64]}"#, "mlp 436→64"),
            (
                Trunk::Mlp(residual).into(),
                r#"{"kind":"mlp","hidden":[64,32,32],"residual":true}"#,
                "mlp 436→64→32⇒32",
            ),
            (
                Shape::conv(4, 64).unwrap(),
                r#"{"kind":"conv","blocks":4,"channels":64}"#,
                "conv 4×64",
            ),
            (
                Shape::circuit(2, 32, 3)
                    .unwrap()
                    .without([InputGroup::Quiet, InputGroup::Attacks, InputGroup::Quiet])
                    .with_heads([Auxiliary::SoftPolicy, Auxiliary::Occupancy]),
                r#"{"kind":"circuit","blocks":2,"channels":32,"reach":3,"without":["attacks","quiet"],"heads":["occupancy","soft-policy"]}"#,
                "circuit 2×32 reach 3 without attacks, quiet with occupancy, soft-policy",
            ),
        ] {
            assert_eq!(serde_json::to_string(&shape).unwrap(), written);
            assert_eq!(serde_json::from_str::<Shape>(written).unwrap(), shape);
            assert_eq!(shape.describe(Variant::Standard), named);
        }
    }

    #[test]
    fn refuses_what_cannot_be_built() {
        let refused = |shape: Result<Shape, InvalidShape>, written: &str| {
            let error = shape.unwrap_err().to_string();
            let read = serde_json::from_str::<Shape>(written).unwrap_err().to_string();
            assert!(read.starts_with(&error), "{read}");
        };
        for hidden in [&[][..], &[16; 5], &[0], &[100], &[256, 8192]] {
            refused(Shape::mlp(hidden), &format!(r#"{{"kind":"mlp","hidden":{hidden:?}}}"#));
        }
        let residual = MlpShape::new(&[64, 32], true).map(|mlp| Trunk::Mlp(mlp).into());
        refused(residual, r#"{"kind":"mlp","hidden":[64,32],"residual":true}"#);
        for (blocks, channels) in [(0, 64), (41, 64), (4, 0), (4, 24), (4, 1024)] {
            let written = format!(r#""blocks":{blocks},"channels":{channels}"#);
            refused(Shape::conv(blocks, channels), &format!(r#"{{"kind":"conv",{written}}}"#));
            refused(
                Shape::circuit(blocks, channels, 2),
                &format!(r#"{{"kind":"circuit",{written},"reach":2}}"#),
            );
        }
        for reach in [0, 12] {
            refused(
                Shape::circuit(2, 32, reach),
                &format!(r#"{{"kind":"circuit","blocks":2,"channels":32,"reach":{reach}}}"#),
            );
        }
        for unknown in [
            r#"{"kind":"mlp","hidden":[16],"x":1}"#,
            r#"{"kind":"lstm","hidden":[16]}"#,
            r#"{"kind":"conv","blocks":2,"channels":16,"reach":1}"#,
            r#"{"kind":"mlp","hidden":[16],"without":["stones"]}"#,
            r#"{"kind":"mlp","hidden":[16],"heads":["policy"]}"#,
        ] {
            assert!(serde_json::from_str::<Shape>(unknown).is_err(), "{unknown}");
        }
    }

    #[test]
    fn blindness_is_equal_weights_or_none() {
        let count = |shape: Shape, name: &str| {
            let tensors = shape.tensors(Variant::Standard);
            let spec = tensors.into_iter().find(|t| t.name == name).unwrap();
            shape.blind_places(Variant::Standard, &spec).count()
        };
        let mlp = Shape::mlp(&[32]).unwrap();
        let conv = Shape::conv(1, 16).unwrap();
        assert_eq!(count(mlp.clone(), "hidden.0.weight"), 0);
        for (group, inputs, planes, globals) in [
            // Eight states of a point with a piece; nine of an attacked one.
            (InputGroup::Pieces, 288, 8, 0),
            (InputGroup::Attacks, 324, 9, 0),
            (InputGroup::Counts, 24, 0, 24),
            (InputGroup::Quiet, 16, 0, 16),
        ] {
            assert_eq!(count(mlp.clone().without([group]), "hidden.0.weight"), 32 * inputs);
            assert_eq!(count(mlp.clone().without([group]), "policy.weight"), 0);
            assert_eq!(count(conv.clone().without([group]), "stem.weight"), 16 * 9 * planes);
            assert_eq!(count(conv.clone().without([group]), "globals.weight"), 16 * globals);
        }
    }
}
