//! The flags that say where networks come from.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use surakarta_run::players::NetworkPlace;
use surakarta_train::Device;

/// Where networks come from, and what computes them.
#[derive(clap::Args)]
pub(crate) struct NetworkArguments {
    /// The folder of the run that net=latest and net=best mean.
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Where libtorch computes networks: cpu, cuda or cuda:N [default: the processor, without
    /// libtorch; a TorchScript file always needs it].
    #[arg(long)]
    device: Option<Device>,
}

impl NetworkArguments {
    /// What they say.
    ///
    /// # Errors
    /// If the device is not there, whether or not a network will need it, or the run is no folder.
    pub(crate) fn place(&self) -> Result<NetworkPlace> {
        if let Some(device) = self.device {
            surakarta_train::check(device).context("--device")?;
        }
        if let Some(run) = self.run.as_ref().filter(|run| !run.is_dir()) {
            bail!("--run {} is no folder", run.display());
        }
        Ok(NetworkPlace { run: self.run.clone(), device: self.device, quantised: false })
    }
}
