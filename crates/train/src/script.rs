//! Networks of your own: TorchScript modules.
//!
//! A module's `forward` takes one float tensor [n, inputs] of 0 and 1, in the order that
//! [`surakarta_net::active`] documents, and returns a tuple of three: logits of all moves
//! [n, [`Variant::moves`]] by [`surakarta_net::policy_index`], logits of win, draw and loss [n, 3], and
//! expected piece margins [n, 1]; or one tensor [n, moves + 4] of the three side by side. All are seen
//! by the side to move. It must say the same of a position whatever the rest of the batch is.

use std::fs;
use std::path::Path;

use surakarta_game::Variant;
use surakarta_net::{Weights, inputs};
use surakarta_record::write_atomically;
use tch::{CModule, IValue, Kind, Tensor, no_grad};

use crate::device::Device;
use crate::error::TrainError;
use crate::model::{Model, open_device, use_one_thread};

/// A TorchScript module that has been seen to take the inputs and give the outputs of a variant.
#[derive(Debug)]
pub(crate) struct Script {
    module: CModule,
    variant: Variant,
    device: tch::Device,
}

impl Script {
    /// Loads a module from the bytes of its file.
    ///
    /// # Errors
    /// If they are none, its inputs or outputs are others, or the device is missing or full.
    pub(crate) fn from_bytes(
        path: &Path,
        mut bytes: &[u8],
        variant: Variant,
        device: Device,
    ) -> Result<Script, TrainError> {
        let device = open_device(device)?;
        use_one_thread();
        let refuse = |problem: String| TrainError::Script { path: path.to_owned(), problem };
        let first_line = |error: tch::TchError| {
            refuse(match TrainError::from(error) {
                TrainError::Torch(problem) => problem,
                other => other.to_string(),
            })
        };
        // A profiled module is compiled anew after some calls, and its bits with it.
        tch::jit::f_set_profiling_mode(false)?;
        let mut module = CModule::load_data_on_device(&mut bytes, device).map_err(first_line)?;
        module.f_set_eval().map_err(first_line)?;
        let script = Script { module, variant, device };
        let n = 2;
        let x = Tensor::f_zeros([n, inputs(variant) as i64], (Kind::Float, device))?;
        let (policy, wdl, margin) =
            no_grad(|| script.forward(&x)).map_err(|error| match error {
                TrainError::Torch(problem) => refuse(problem),
                other => other,
            })?;
        let (moves, width) = (variant.moves() as i64, inputs(variant));
        for (what, tensor, dims) in
            [("policy", policy, [n, moves]), ("wdl", wdl, [n, 3]), ("margin", margin, [n, 1])]
        {
            if tensor.size() != dims {
                return Err(refuse(format!(
                    "for inputs [{n}, {width}] its output {what} is {:?}, and {variant} needs {dims:?}",
                    tensor.size()
                )));
            }
        }
        Ok(script)
    }

    /// The variant that it plays.
    pub(crate) fn variant(&self) -> Variant {
        self.variant
    }

    /// The device that it is on.
    pub(crate) fn device(&self) -> tch::Device {
        self.device
    }

    /// Policy, win/draw/loss and margin for inputs.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<(Tensor, Tensor, Tensor), TrainError> {
        let output = self.module.forward_is(&[IValue::Tensor(x.shallow_clone())])?;
        let parts = match output {
            IValue::Tuple(parts) => <[IValue; 3]>::try_from(parts).ok(),
            IValue::Tensor(all) => return self.split(&all),
            _ => None,
        };
        match parts {
            Some([IValue::Tensor(policy), IValue::Tensor(wdl), IValue::Tensor(margin)]) => {
                Ok((policy, wdl, margin))
            }
            _ => Err(TrainError::Torch(
                "its output is neither a tensor nor a tuple of three tensors".to_owned(),
            )),
        }
    }

    fn split(&self, all: &Tensor) -> Result<(Tensor, Tensor, Tensor), TrainError> {
        let moves = self.variant.moves() as i64;
        let part = |first, length| all.f_narrow(-1, first, length);
        let width = all.size().last().copied().unwrap_or(0);
        if width != moves + 4 {
            return Err(TrainError::Torch(format!(
                "its output has {width} numbers a position, and {} needs {}: {moves} moves, win, draw, loss and margin",
                self.variant,
                moves + 4
            )));
        }
        Ok((part(0, moves)?, part(moves, 3)?, part(moves + 3, 1)?))
    }
}

/// Bytes of a module beside its numbers, generously: twice what it is for the deepest towers.
const ROOM: usize = 1 << 21;

/// Writes a network as a TorchScript module, with the inputs and outputs of this module's page.
///
/// # Errors
/// If the file cannot be written.
pub fn export_script(weights: &Weights, path: &Path) -> Result<(), TrainError> {
    let weights = weights.clone().with_heads(&[], 0);
    let model = Model::new(&weights, Device::Cpu)?.frozen()?;
    let example =
        Tensor::f_zeros([1, inputs(weights.variant()) as i64], (Kind::Float, tch::Device::Cpu))?;
    let mut failed = None;
    let side_by_side = |x: &Tensor| -> Result<Tensor, TrainError> {
        let outputs = model.forward(x)?;
        Ok(Tensor::f_cat(&[outputs.policy, outputs.wdl, outputs.margin], 1)?)
    };
    let mut forward = |x: &[Tensor]| match side_by_side(&x[0]) {
        Ok(all) => vec![all],
        Err(error) => {
            failed = Some(error);
            Vec::new()
        }
    };
    let module =
        no_grad(|| CModule::create_by_tracing("surakarta", "forward", &[example], &mut forward));
    if let Some(error) = failed {
        return Err(error);
    }
    // libtorch writes where it is told and at once: beside the name, then as any other file.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = folder
        .unwrap_or(Path::new("."))
        .join(format!(".{}.tracing", path.file_name().unwrap_or_default().to_string_lossy()));
    // A full disk would end the process within libtorch.
    let size = 4 * weights.shape().parameters(weights.variant()) + ROOM;
    if let Err(error) = fs::write(&beside, vec![0; size]) {
        let _ = fs::remove_file(&beside);
        return Err(TrainError::io("write", path, error));
    }
    let written = module?.save(&beside).map_err(TrainError::from).and_then(|()| {
        let bytes = fs::read(&beside).map_err(|error| TrainError::io("read", &beside, error))?;
        write_atomically(path, &bytes).map_err(|error| TrainError::io("write", path, error))
    });
    let _ = fs::remove_file(&beside);
    written
}
