//! The network in tch. Its parameters are views into one flat tensor, which the optimiser updates.

use surakarta_game::Variant;
use surakarta_net::{Shape, TensorSpec, Weights};
use tch::{Tensor, no_grad};

use crate::device::Device;
use crate::error::TrainError;
use crate::forward::{Forward, Outputs};
use crate::library::check;

/// A network whose weights can be trained.
#[derive(Debug)]
pub struct Model {
    shape: Shape,
    variant: Variant,
    layout: Layout,
    forward: Forward,
    /// All parameters, as `layout` places them. No gradients are tracked here.
    flat: Tensor,
    /// The tensors of the shape, in its order; they share their memory with `flat`.
    tensors: Vec<Tensor>,
}

/// Where each tensor of a shape lies in a flat one: first all matrices, which decay, then all biases.
#[derive(Clone, Debug)]
struct Layout {
    /// In the order of [`Shape::tensors`], each with the place of its first number.
    places: Vec<(TensorSpec, usize)>,
    /// The tensors' numbers in the order of their places.
    order: Vec<usize>,
    matrices: usize,
    parameters: usize,
}

impl Layout {
    fn of(weights: &Weights) -> Layout {
        let specs = weights.shape().tensors(weights.variant());
        let is_matrix = |spec: &TensorSpec| spec.dims.len() > 1;
        let matrices = specs.iter().filter(|spec| is_matrix(spec)).map(TensorSpec::len).sum();
        let (mut matrix, mut bias) = (0, matrices);
        let mut places = Vec::new();
        for spec in specs {
            let next = if is_matrix(&spec) { &mut matrix } else { &mut bias };
            let place = *next;
            *next += spec.len();
            places.push((spec, place));
        }
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&tensor| places[tensor].1);
        Layout { places, order, matrices, parameters: bias }
    }

    fn flatten(&self, weights: &Weights) -> Vec<f32> {
        let mut flat = vec![0.0; self.parameters];
        for ((spec, place), (_, _, data)) in self.places.iter().zip(weights.tensors()) {
            flat[*place..place + spec.len()].copy_from_slice(data);
        }
        flat
    }

    fn unflatten(&self, flat: &[f32]) -> Vec<(String, Vec<usize>, Vec<f32>)> {
        let part = |(spec, place): &(TensorSpec, usize)| {
            let data = flat[*place..place + spec.len()].to_vec();
            (spec.name.clone(), spec.dims.clone(), data)
        };
        self.places.iter().map(part).collect()
    }
}

/// Keeps libtorch to the thread that calls it, which OpenMP wants to hear from each thread: more of
/// them would sum in another order, and are slower on a busy machine.
pub(crate) fn use_one_thread() {
    tch::set_num_threads(1);
}

/// The device in tch's terms, if it is there.
pub(crate) fn open_device(device: Device) -> Result<tch::Device, TrainError> {
    check(device)?;
    Ok(match device {
        Device::Cpu => tch::Device::Cpu,
        Device::Cuda(number) => tch::Device::Cuda(number.into()),
    })
}

impl Model {
    /// A network with these weights on a device.
    ///
    /// # Errors
    /// If the device is missing or has no memory left.
    pub fn new(weights: &Weights, device: Device) -> Result<Model, TrainError> {
        use_one_thread();
        let device = open_device(device)?;
        let layout = Layout::of(weights);
        let flat = Tensor::f_from_slice(&layout.flatten(weights))?.f_to_device(device)?;
        let view = |(spec, place): &(TensorSpec, usize)| {
            let dims: Vec<i64> = spec.dims.iter().map(|&dim| dim as i64).collect();
            let part = flat.f_narrow(0, *place as i64, spec.len() as i64)?;
            part.f_view(&dims[..])?.f_detach()?.f_set_requires_grad(true)
        };
        let tensors = layout.places.iter().map(view).collect::<Result<_, _>>()?;
        let (shape, variant) = (weights.shape().clone(), weights.variant());
        let forward = Forward::new(&shape, variant, device)?;
        Ok(Model { shape, variant, layout, forward, flat, tensors })
    }

    /// The same network, never to be trained: no gradients are tracked.
    ///
    /// # Errors
    /// If memory runs out.
    pub(crate) fn frozen(mut self) -> Result<Model, TrainError> {
        self.tensors = self.tensors.iter().map(Tensor::f_detach).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// Policy, outlook and margin for inputs of 0 and 1: [n, [`inputs`](surakarta_net::inputs) of the variant].
    ///
    /// # Errors
    /// If the inputs are not of that size or on another device.
    pub fn forward(&self, inputs: &Tensor) -> Result<Outputs, TrainError> {
        Ok(self.forward.outputs(&self.tensors, inputs)?)
    }

    /// Writes the gradient of a loss by all parameters into a flat tensor like
    /// [`flat`](Model::flat), and returns its length (L2 norm).
    ///
    /// # Errors
    /// If the loss was not computed from this network, or memory runs out.
    pub fn gradient(&self, loss: &Tensor, flat: &Tensor) -> Result<Tensor, TrainError> {
        let gradients = Tensor::f_run_backward(&[loss], &self.tensors, false, false)?;
        no_grad(|| {
            let part = |&i: &usize| gradients[i].f_reshape([-1]);
            let parts = self.layout.order.iter().map(part).collect::<Result<Vec<_>, _>>()?;
            let _ = Tensor::f_cat_out(flat, &parts, 0)?;
            Ok(flat.f_norm()?)
        })
    }

    /// All parameters in one flat tensor: those of matrices, then biases.
    pub fn flat(&mut self) -> &mut Tensor {
        &mut self.flat
    }

    /// How many parameters there are, and how many of them, from the first of the flat tensor,
    /// belong to matrices.
    pub fn parameters(&self) -> (usize, usize) {
        (self.layout.parameters, self.layout.matrices)
    }

    /// The weights as they are now, with a note on where they come from.
    ///
    /// # Errors
    /// If one of them is no longer finite.
    pub fn weights(&self, source: &str) -> Result<Weights, TrainError> {
        self.named(&self.flat, source)
    }

    /// A flat tensor, cut and named as the weights are: the optimiser's state, for one.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn named(&self, flat: &Tensor, source: &str) -> Result<Weights, TrainError> {
        let flat = Vec::<f32>::try_from(&flat.f_to_device(tch::Device::Cpu)?)?;
        let mut tensors = self.layout.unflatten(&flat);
        for (name, dims, data) in &mut tensors {
            let spec = TensorSpec { name: name.clone(), dims: dims.clone() };
            self.shape.blind(self.variant, &spec, data);
        }
        Ok(Weights::from_tensors(self.shape.clone(), self.variant, source, tensors)?)
    }

    /// The reverse of [`named`](Model::named).
    pub(crate) fn flatten(&self, weights: &Weights) -> Vec<f32> {
        self.layout.flatten(weights)
    }

    /// The shape of the network.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The variant that it plays.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The device that it is on.
    pub fn device(&self) -> tch::Device {
        self.flat.device()
    }
}
