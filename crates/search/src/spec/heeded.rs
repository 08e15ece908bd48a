//! Which limits mean something to a player.

use super::{PlayerSpec, Protocol};
use crate::Limits;

impl PlayerSpec {
    /// The given limits that it takes no notice of, as they are written: `sims=100`. Limits of time hold
    /// for all players; one that does not search keeps to any limit.
    pub fn unheeded(&self, limits: &Limits) -> Vec<String> {
        let [sims, nodes, depth] = match self {
            PlayerSpec::Random | PlayerSpec::Greedy => [true; 3],
            PlayerSpec::Rollout(_) | PlayerSpec::Mcts(_) => [true, false, false],
            PlayerSpec::Descent(_) => [true, true, false],
            PlayerSpec::AlphaBeta(_) => [false, true, true],
            PlayerSpec::External(spec) => match spec.protocol {
                // Simulations are told as nodes, where no others are.
                Protocol::Ugi => [limits.nodes.is_none(), true, true],
                Protocol::Contest => [false; 3],
            },
        };
        let given = [
            (sims, "sims", limits.simulations.map(u64::from)),
            (nodes, "nodes", limits.nodes),
            (depth, "depth", limits.depth.map(u64::from)),
        ];
        let unheeded = given.into_iter().filter(|(heeded, ..)| !heeded);
        unheeded.filter_map(|(_, key, value)| Some(format!("{key}={}", value?))).collect()
    }
}
