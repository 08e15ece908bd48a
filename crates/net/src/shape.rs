//! The shape of a network, and the tensors that it consists of.

use serde::{Deserialize, Serialize};
use surakarta_game::Variant;

use crate::inputs::inputs;
use crate::lanes::LANES;

/// What a network is built like. The board adds the numbers of inputs and of moves. In a configuration: `kind = "mlp"`, `hidden = [256, 128]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Shape {
    /// Fully connected layers over sparse binary inputs.
    Mlp(MlpShape),
}

/// Fully connected: [`inputs`] → hidden layers, each followed by ReLU → policy, win/draw/loss, margin.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "UncheckedMlp")]
pub struct MlpShape {
    hidden: Vec<usize>,
}

/// As written by hand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedMlp {
    hidden: Vec<usize>,
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
}

/// The most hidden layers.
const MAX_LAYERS: usize = 4;
/// The widest hidden layer.
const MAX_WIDTH: usize = 4096;
/// Widths are multiples of this, so that a layer is a whole number of vectors.
const WIDTH_STEP: usize = LANES;

impl MlpShape {
    /// Widths of the hidden layers, first to last: 1 to 4 of them.
    pub fn hidden(&self) -> &[usize] {
        &self.hidden
    }

    /// The width of the last hidden layer, on which the heads stand.
    pub fn last(&self) -> usize {
        self.hidden[self.hidden.len() - 1]
    }
}

impl TryFrom<UncheckedMlp> for MlpShape {
    type Error = InvalidShape;

    fn try_from(UncheckedMlp { hidden }: UncheckedMlp) -> Result<Self, InvalidShape> {
        if !(1..=MAX_LAYERS).contains(&hidden.len()) {
            return Err(InvalidShape::Layers(hidden.len()));
        }
        for &width in &hidden {
            if width == 0 || width > MAX_WIDTH || width % WIDTH_STEP != 0 {
                return Err(InvalidShape::Width(width));
            }
        }
        Ok(MlpShape { hidden })
    }
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

impl Shape {
    /// Fully connected, with hidden layers of these widths.
    ///
    /// # Errors
    /// If there are no layers or more than 4, or a width is not a multiple of 16 from 16 to 4096.
    pub fn mlp(hidden: &[usize]) -> Result<Shape, InvalidShape> {
        UncheckedMlp { hidden: hidden.to_vec() }.try_into().map(Shape::Mlp)
    }

    /// Every tensor of such a network for a variant, in the order in which weights keep them:
    /// `hidden.{i}.weight` (out, in) and `hidden.{i}.bias` for each hidden layer, then weight and
    /// bias of `policy` ([`Variant::moves`] logits, see [`policy_index`](crate::policy_index)), `wdl` (logits of
    /// win, draw, loss) and `margin` (linear), each on the last hidden layer.
    pub fn tensors(&self, variant: Variant) -> Vec<TensorSpec> {
        let Shape::Mlp(mlp) = self;
        let mut tensors = Vec::new();
        let mut linear = |name: &str, outputs: usize, inputs: usize| {
            tensors
                .push(TensorSpec { name: format!("{name}.weight"), dims: vec![outputs, inputs] });
            tensors.push(TensorSpec { name: format!("{name}.bias"), dims: vec![outputs] });
        };
        let mut inputs = inputs(variant);
        for (i, &width) in mlp.hidden().iter().enumerate() {
            linear(&format!("hidden.{i}"), width, inputs);
            inputs = width;
        }
        linear("policy", variant.moves(), inputs);
        linear("wdl", 3, inputs);
        linear("margin", 1, inputs);
        tensors
    }

    /// How many numbers such a network for a variant consists of.
    pub fn parameters(&self, variant: Variant) -> usize {
        self.tensors(variant).iter().map(TensorSpec::len).sum()
    }

    /// How messages name such a network for a variant: `mlp 184→256→128`.
    pub fn describe(&self, variant: Variant) -> String {
        let Shape::Mlp(mlp) = self;
        let hidden = mlp.hidden().iter().map(|width| format!("→{width}"));
        format!("mlp {}{}", inputs(variant), hidden.collect::<String>())
    }
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
                "hidden.0.weight [256, 184]",
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
        let parameters = 184 * 256 + 256 + below + 129 * (768 + 3 + 1);
        assert_eq!(shape.parameters(Variant::Standard), parameters);
        assert_eq!(shape.describe(Variant::Standard), "mlp 184→256→128");

        let moves = Variant::Sepur.moves();
        assert_ne!(moves, 768);
        let parameters = 240 * 256 + 256 + below + 129 * (moves + 3 + 1);
        assert_eq!(shape.parameters(Variant::Sepur), parameters);
        assert_eq!(shape.describe(Variant::Sepur), "mlp 240→256→128");
    }

    #[test]
    fn is_written_and_read_by_kind() {
        let shape = Shape::mlp(&[64]).unwrap();
        let text = serde_json::to_string(&shape).unwrap();
        assert_eq!(text, r#"{"kind":"mlp","hidden":[64]}"#);
        assert_eq!(serde_json::from_str::<Shape>(&text).unwrap(), shape);
    }

    #[test]
    fn refuses_what_cannot_be_built() {
        for hidden in [&[][..], &[16; 5], &[0], &[100], &[256, 8192]] {
            let error = Shape::mlp(hidden).unwrap_err().to_string();
            let text = format!(r#"{{"kind":"mlp","hidden":{hidden:?}}}"#);
            let read = serde_json::from_str::<Shape>(&text).unwrap_err().to_string();
            assert!(read.starts_with(&error), "{read}");
        }
        assert!(serde_json::from_str::<Shape>(r#"{"kind":"mlp","hidden":[16],"x":1}"#).is_err());
        assert!(serde_json::from_str::<Shape>(r#"{"kind":"lstm","hidden":[16]}"#).is_err());
    }
}
