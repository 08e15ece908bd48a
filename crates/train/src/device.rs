//! Where a network is trained, or computed when it plays.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where tensors live: written `cpu`, `cuda` (the first GPU) or `cuda:N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Device {
    /// The processor, with one thread.
    #[default]
    Cpu,
    /// A CUDA device by its number.
    Cuda(u16),
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

/// The text names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a device; write cpu, cuda or cuda:N")]
pub struct UnknownDevice(String);

impl FromStr for Device {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "cpu" => Ok(Device::Cpu),
            "cuda" => Ok(Device::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .filter(|number| number.bytes().all(|b| b.is_ascii_digit()))
                .and_then(|number| number.parse().ok())
                .map(Device::Cuda)
                .ok_or_else(|| UnknownDevice(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Device {
    type Error = UnknownDevice;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Device> for String {
    fn from(device: Device) -> String {
        device.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        for (text, device) in [("cpu", Device::Cpu), ("cuda:3", Device::Cuda(3))] {
            assert_eq!(text.parse(), Ok(device));
            assert_eq!(device.to_string(), text);
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
        for text in ["gpu", "cuda:", "cuda:+1", "cuda:x", "cuda:65536", ""] {
            assert!(text.parse::<Device>().is_err(), "{text}");
        }
    }
}
