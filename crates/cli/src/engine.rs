//! The flags of this program as an engine of others.

use std::path::PathBuf;

use surakarta_search::PlayerSpec;

/// Who plays, and from which seed.
#[derive(clap::Args)]
pub(crate) struct EngineArguments {
    /// Who plays, as in "mcts:net=runs/quickstart/weights/best.safetensors,sims=400".
    #[arg(long, default_value = "alphabeta:nodes=10000")]
    pub(crate) player: PlayerSpec,
    /// The seed of the first game; each later one takes the next.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The folder of the run that net=latest and net=best mean.
    #[arg(long, value_name = "DIR")]
    pub(crate) run: Option<PathBuf>,
}
