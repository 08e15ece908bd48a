//! What a network makes of its inputs, in tch: each shape's layers as [`surakarta_net`] defines them.
//! Nothing depends on the number of positions, so that the pass can be traced to a module.

use std::collections::HashMap;

use surakarta_game::Variant;
use surakarta_net::{
    Auxiliary, CircuitShape, ConvShape, MOVE_CHANNELS, MlpShape, OCCUPANTS, Shape, TensorSpec,
    Trunk, inputs, seen_as,
};
use tch::{Kind, TchError, Tensor};

/// What the network makes of n positions.
#[derive(Debug)]
pub struct Outputs {
    /// Logits of all moves in the mover's view: [n, [`Variant::moves`]].
    pub policy: Tensor,
    /// Logits of win, draw and loss: [n, 3].
    pub wdl: Tensor,
    /// Expected piece margin, (own − enemy) / pieces at the start: [n, 1].
    pub margin: Tensor,
    /// The auxiliary heads of the shape, in its order. Occupancy: logits [n, 3 (own, enemy, empty),
    /// [`Variant::points`]]; reply and soft policy: like the policy; short-term value: [n, horizons].
    pub auxiliary: Vec<(Auxiliary, Tensor)>,
}

/// The way from inputs to outputs. It holds what is fixed: where tensors stand, and the geometry.
#[derive(Debug)]
pub(crate) struct Forward {
    shape: Shape,
    variant: Variant,
    /// The place of each tensor of the shape by its name.
    places: HashMap<String, usize>,
    /// Takes inputs to those that they count as for the network: [inputs, inputs]. None if it sees all.
    seen: Option<Tensor>,
    geometry: Option<Geometry>,
}

/// The board, for towers.
#[derive(Debug)]
struct Geometry {
    /// from · points + to of each move: [moves].
    moves: Tensor,
    /// The point of each stop of both circuits, each begun and ended by as many stops of its other
    /// end as the network's reach: [2 · (stops + 2 · reach)].
    walks: Tensor,
    /// 1 where a stop (of both circuits, one after the other) is at a point: [2 · stops, points].
    stops: Tensor,
}

/// Tensors by name.
struct Layers<'a> {
    places: &'a HashMap<String, usize>,
    tensors: &'a [Tensor],
}

impl Layers<'_> {
    fn weight(&self, layer: &str) -> &Tensor {
        &self.tensors[self.places[&format!("{layer}.weight")]]
    }

    fn bias(&self, layer: &str) -> &Tensor {
        &self.tensors[self.places[&format!("{layer}.bias")]]
    }

    fn linear(&self, layer: &str, x: &Tensor) -> Result<Tensor, TchError> {
        x.f_linear(self.weight(layer), Some(self.bias(layer)))
    }

    /// Of x [n, channels, size, size], with zeros beside the board.
    fn conv(&self, layer: &str, x: &Tensor) -> Result<Tensor, TchError> {
        x.f_conv2d(self.weight(layer), Some(self.bias(layer)), [1, 1], [1, 1], [1, 1], 1)
    }

    /// Each point alone: of x [n, channels, …].
    fn pointwise(&self, layer: &str, x: &Tensor) -> Result<Tensor, TchError> {
        let flat = x.f_flatten(2, -1)?;
        let out = self.weight(layer).f_matmul(&flat)?;
        out.f_add(&self.bias(layer).f_view([-1, 1])?)
    }

    /// What the pooled channels of y [n, channels, size, size] add to every point: [n, channels, 1, 1].
    fn pool(&self, layer: &str, y: &Tensor) -> Result<Tensor, TchError> {
        let out = pooled(y)?.f_linear::<Tensor>(self.weight(layer), None)?;
        out.f_unsqueeze(2)?.f_unsqueeze(3)
    }
}

/// Mean and maximum of each channel over all points: [n, 2 · channels].
fn pooled(y: &Tensor) -> Result<Tensor, TchError> {
    let flat = y.f_flatten(2, -1)?;
    let mean = flat.f_mean_dim(&[2i64][..], false, Kind::Float)?;
    let most = flat.f_amax([2i64], false)?;
    Tensor::f_cat(&[mean, most], 1)
}

impl Forward {
    pub(crate) fn new(
        shape: &Shape,
        variant: Variant,
        device: tch::Device,
    ) -> Result<Forward, TchError> {
        let names = shape.tensors(variant).into_iter().enumerate();
        let places = names.map(|(place, TensorSpec { name, .. })| (name, place)).collect();
        let seen = match shape.blind_to() {
            [] => None,
            blind => {
                let inputs = inputs(variant);
                let mut seen = vec![0.0f32; inputs * inputs];
                for input in 0..inputs {
                    if let Some(as_input) = seen_as(variant, blind, input) {
                        seen[inputs * input + as_input] = 1.0;
                    }
                }
                let square = [inputs as i64, inputs as i64];
                Some(Tensor::f_from_slice(&seen)?.f_reshape(square)?.f_to_device(device)?)
            }
        };
        let geometry = match shape.trunk() {
            Trunk::Mlp(_) => None,
            Trunk::Conv(_) => Some(Geometry::new(variant, 0, device)?),
            Trunk::Circuit(circuit) => Some(Geometry::new(variant, circuit.reach(), device)?),
        };
        Ok(Forward { shape: shape.clone(), variant, places, seen, geometry })
    }

    /// The outputs for inputs [n, [`inputs`]] of a network with these tensors, in the order of
    /// [`Shape::tensors`].
    pub(crate) fn outputs(&self, tensors: &[Tensor], x: &Tensor) -> Result<Outputs, TchError> {
        debug_assert_eq!(x.size()[1], inputs(self.variant) as i64);
        let layers = Layers { places: &self.places, tensors };
        let x = match &self.seen {
            None => x.shallow_clone(),
            Some(seen) => x.f_matmul(seen)?,
        };
        match (self.shape.trunk(), &self.geometry) {
            (Trunk::Conv(conv), Some(geometry)) => {
                let x = self.conv(conv, &layers, &x)?;
                self.heads_on_points(geometry, &layers, &x)
            }
            (Trunk::Circuit(circuit), Some(geometry)) => {
                let x = self.circuit(circuit, geometry, &layers, &x)?;
                self.heads_on_points(geometry, &layers, &x)
            }
            (Trunk::Mlp(mlp), _) => self.mlp(mlp, &layers, x),
            (_, None) => unreachable!("towers have a geometry"),
        }
    }

    fn mlp(&self, mlp: &MlpShape, layers: &Layers, mut x: Tensor) -> Result<Outputs, TchError> {
        for i in 0..mlp.hidden().len() {
            let y = layers.linear(&format!("hidden.{i}"), &x)?.f_relu_()?;
            x = if mlp.adds(i) { x.f_add(&y)? } else { y };
        }
        let points = self.variant.points() as i64;
        let auxiliary = |&head: &Auxiliary| -> Result<_, TchError> {
            let out = layers.linear(head.name(), &x)?;
            Ok((
                head,
                if head == Auxiliary::Occupancy {
                    out.f_view([-1, OCCUPANTS as i64, points])?
                } else {
                    out
                },
            ))
        };
        Ok(Outputs {
            policy: layers.linear("policy", &x)?,
            wdl: layers.linear("wdl", &x)?,
            margin: layers.linear("margin", &x)?,
            auxiliary: self.shape.heads().iter().map(auxiliary).collect::<Result<_, _>>()?,
        })
    }

    /// [n, channels, size, size].
    fn stem(&self, layers: &Layers, x: &Tensor) -> Result<Tensor, TchError> {
        let (size, points) = (self.variant.size() as i64, self.variant.points() as i64);
        let groups = layers.weight("stem").size()[1];
        let on_points = x.f_narrow(1, 0, groups * points)?.f_reshape([-1, groups, size, size])?;
        let others = x.f_narrow(1, groups * points, x.size()[1] - groups * points)?;
        let globals = others.f_linear::<Tensor>(layers.weight("globals"), None)?;
        let globals = globals.f_unsqueeze(2)?.f_unsqueeze(3)?;
        layers.conv("stem", &on_points)?.f_add(&globals)?.f_relu()
    }

    fn conv(&self, conv: &ConvShape, layers: &Layers, x: &Tensor) -> Result<Tensor, TchError> {
        let mut x = self.stem(layers, x)?;
        for i in 0..conv.blocks() {
            let y = layers.conv(&format!("block.{i}.first"), &x)?.f_relu()?;
            let z = layers.conv(&format!("block.{i}.second"), &y)?;
            let pool = layers.pool(&format!("block.{i}.pool"), &y)?;
            x = x.f_add(&z)?.f_add(&pool)?.f_relu()?;
        }
        Ok(x)
    }

    fn circuit(
        &self,
        circuit: &CircuitShape,
        geometry: &Geometry,
        layers: &Layers,
        x: &Tensor,
    ) -> Result<Tensor, TchError> {
        let mut x = self.stem(layers, x)?;
        for i in 0..circuit.blocks() {
            let walk = geometry.walk(layers.weight(&format!("block.{i}.circuit")), &x)?;
            let y = layers.conv(&format!("block.{i}.board"), &x)?;
            let y = y.f_add(&walk.f_view_as(&y)?)?.f_relu()?;
            let z = layers.pointwise(&format!("block.{i}.mix"), &y)?.f_view_as(&x)?;
            let pool = layers.pool(&format!("block.{i}.pool"), &y)?;
            x = x.f_add(&z)?.f_add(&pool)?.f_relu()?;
        }
        Ok(x)
    }

    fn heads_on_points(
        &self,
        geometry: &Geometry,
        layers: &Layers,
        x: &Tensor,
    ) -> Result<Outputs, TchError> {
        let value = layers.linear("value", &pooled(x)?)?.f_relu()?;
        let auxiliary = |&head: &Auxiliary| -> Result<_, TchError> {
            let name = head.name();
            let out = match head {
                Auxiliary::Occupancy => layers.pointwise(name, x)?,
                Auxiliary::Reply | Auxiliary::SoftPolicy => geometry.policy(layers, name, x)?,
                Auxiliary::ShortTerm => layers.linear(name, &value)?,
            };
            Ok((head, out))
        };
        Ok(Outputs {
            policy: geometry.policy(layers, "policy", x)?,
            wdl: layers.linear("wdl", &value)?,
            margin: layers.linear("margin", &value)?,
            auxiliary: self.shape.heads().iter().map(auxiliary).collect::<Result<_, _>>()?,
        })
    }
}

impl Geometry {
    fn new(variant: Variant, reach: usize, device: tch::Device) -> Result<Geometry, TchError> {
        let index = |point| variant.point_index(point).expect("a point of the board");
        let points = variant.points();
        let moves: Vec<i64> = (0..variant.moves())
            .filter_map(|i| variant.move_at(i))
            .map(|mv| (index(mv.from()) * points + index(mv.to())) as i64)
            .collect();
        let circuits = [0, 1].map(|c| variant.circuit(c).map(index).collect::<Vec<_>>());
        let mut walks = Vec::new();
        for stops in &circuits {
            let n = stops.len();
            walks.extend((n - reach..n + n + reach).map(|i| stops[i % n] as i64));
        }
        let all = circuits.concat();
        let mut at = vec![0.0f32; all.len() * points];
        for (stop, point) in all.iter().enumerate() {
            at[stop * points + point] = 1.0;
        }
        Ok(Geometry {
            moves: Tensor::f_from_slice(&moves)?.f_to_device(device)?,
            walks: Tensor::f_from_slice(&walks)?.f_to_device(device)?,
            stops: Tensor::f_from_slice(&at)?
                .f_view([all.len() as i64, points as i64])?
                .f_to_device(device)?,
        })
    }

    /// The convolution along both circuits: [n, channels, points] of x [n, channels, size, size].
    fn walk(&self, weight: &Tensor, x: &Tensor) -> Result<Tensor, TchError> {
        let (channels, stops) = (x.size()[1], self.walks.size()[0] / 2);
        let walks = x.f_flatten(2, -1)?.f_index_select(2, &self.walks)?;
        let walks = walks.f_view([-1, channels, 2, stops])?;
        let kernel = weight.f_unsqueeze(2)?;
        let seen = walks.f_conv2d::<Tensor>(&kernel, None, [1, 1], [0, 0], [1, 1], 1)?;
        seen.f_flatten(2, -1)?.f_matmul(&self.stops)
    }

    /// Logits of all moves: [n, moves] of x [n, channels, size, size].
    fn policy(&self, layers: &Layers, head: &str, x: &Tensor) -> Result<Tensor, TchError> {
        let side = |end: &str| layers.pointwise(&format!("{head}.{end}"), x);
        let (from, to) = (side("from")?, side("to")?);
        debug_assert_eq!(from.size()[1], MOVE_CHANNELS as i64);
        let pairs = from.f_transpose(1, 2)?.f_matmul(&to)?.f_flatten(1, -1)?;
        pairs.f_index_select(1, &self.moves)?.f_add(layers.bias(head))
    }
}
