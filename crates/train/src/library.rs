//! Whether this binary can train, and on what.

use crate::device::Device;
use crate::error::TrainError;

/// The libtorch that this binary runs with, in words.
///
/// # Errors
/// What lacks and what to do, if there is none.
pub fn library() -> Result<String, String> {
    #[cfg(feature = "torch")]
    {
        let cuda = match tch::Cuda::device_count() {
            0 => "no CUDA device".to_owned(),
            n => format!("{n} CUDA devices"),
        };
        Ok(format!("libtorch answers; {cuda}"))
    }
    #[cfg(not(feature = "torch"))]
    Err("this binary was built without libtorch: it plays and rates but does not train; build it with the feature `torch`".to_owned())
}

/// Whether a device is there to train on.
///
/// # Errors
/// If it is missing, or the binary was built without libtorch.
pub fn check(device: Device) -> Result<(), TrainError> {
    #[cfg(feature = "torch")]
    match device {
        Device::Cuda(n) if i64::from(n) >= tch::Cuda::device_count() => {
            Err(TrainError::NoDevice(device))
        }
        _ => Ok(()),
    }
    #[cfg(not(feature = "torch"))]
    {
        let _ = device;
        Err(TrainError::NoTorch)
    }
}
