//! The flags of this program as an engine of others.

use surakarta_search::PlayerSpec;

use crate::networks::NetworkArguments;

/// Who plays, and from which seed.
#[derive(clap::Args)]
pub(crate) struct EngineArguments {
    /// Who plays, as in "mcts:net=runs/quickstart/weights/best.safetensors,sims=400".
    #[arg(long, default_value = "alphabeta:nodes=10000")]
    pub(crate) player: PlayerSpec,
    /// The seed of the first game; each later one takes the next.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) networks: NetworkArguments,
}
