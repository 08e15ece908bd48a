//! What a network says, and on what each answer stands.
//!
//! The main heads are in every network: policy, win/draw/loss and piece margin. [`Auxiliary`] heads
//! only help training: they are there if the configuration gives them a weight, and play ignores
//! them.
//!
//! In an `mlp` every head is a linear layer on the last hidden one. In a tower, a policy is a product
//! of what the two points of a move say, plus a bias for each move:
//! logit(a → b) = from(a) · to(b) + bias(a → b), with [`MOVE_CHANNELS`] numbers a point; heads on the
//! whole board stand on `value`, a layer with ReLU over mean and maximum of every channel; heads on
//! points are linear in the point's channels.

use serde::{Deserialize, Serialize};
use surakarta_game::Variant;

use super::Tensors;

/// Numbers with which a point describes itself as the origin, or the target, of a move.
pub const MOVE_CHANNELS: usize = 32;

/// Plies over which the short-term value looks ahead, on average: one output each.
pub const HORIZONS: [f32; 3] = [2.0, 6.0, 16.0];

/// Heads that help training alone. All targets are seen by the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Auxiliary {
    /// Who stands on each point when the game is over: logits of own, enemy and empty.
    Occupancy,
    /// The opponent's next move: logits of all moves, in the view of the side to move now.
    Reply,
    /// The search's value in the near future, one for each of [`HORIZONS`], in [−1, 1].
    ShortTerm,
    /// The policy's target to the power of ¼, normalised: logits of all moves.
    SoftPolicy,
}

impl Auxiliary {
    /// All of them, in the order of their tensors.
    pub const ALL: [Auxiliary; 4] =
        [Auxiliary::Occupancy, Auxiliary::Reply, Auxiliary::ShortTerm, Auxiliary::SoftPolicy];

    /// `occupancy`, `reply`, `short-term` or `soft-policy`: also how its tensors begin.
    pub const fn name(self) -> &'static str {
        match self {
            Auxiliary::Occupancy => "occupancy",
            Auxiliary::Reply => "reply",
            Auxiliary::ShortTerm => "short-term",
            Auxiliary::SoftPolicy => "soft-policy",
        }
    }
}

/// The number of outputs of a point for [`Auxiliary::Occupancy`].
pub const OCCUPANTS: usize = 3;

/// The heads of an `mlp` on so many units.
pub(super) fn on_units(variant: Variant, auxiliary: &[Auxiliary], width: usize, out: &mut Tensors) {
    out.layer("policy", &[variant.moves(), width]);
    out.layer("wdl", &[3, width]);
    out.layer("margin", &[1, width]);
    for head in auxiliary {
        let outputs = match head {
            Auxiliary::Occupancy => OCCUPANTS * variant.points(),
            Auxiliary::Reply | Auxiliary::SoftPolicy => variant.moves(),
            Auxiliary::ShortTerm => HORIZONS.len(),
        };
        out.layer(head.name(), &[outputs, width]);
    }
}

/// The heads of a tower of so many channels.
pub(super) fn on_points(
    variant: Variant,
    auxiliary: &[Auxiliary],
    channels: usize,
    out: &mut Tensors,
) {
    let policy = |name: &str, out: &mut Tensors| {
        out.layer(&format!("{name}.from"), &[MOVE_CHANNELS, channels]);
        out.layer(&format!("{name}.to"), &[MOVE_CHANNELS, channels]);
        out.bias(name, variant.moves());
    };
    policy("policy", out);
    out.layer("value", &[channels, 2 * channels]);
    out.layer("wdl", &[3, channels]);
    out.layer("margin", &[1, channels]);
    for head in auxiliary {
        match head {
            Auxiliary::Occupancy => out.layer(head.name(), &[OCCUPANTS, channels]),
            Auxiliary::Reply | Auxiliary::SoftPolicy => policy(head.name(), out),
            Auxiliary::ShortTerm => out.layer(head.name(), &[HORIZONS.len(), channels]),
        }
    }
}
