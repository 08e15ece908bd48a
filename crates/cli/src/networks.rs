//! The flags that say where networks come from.

use std::path::PathBuf;

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
    pub(crate) fn place(&self) -> NetworkPlace {
        NetworkPlace { run: self.run.clone(), device: self.device }
    }
}
