//! Monte Carlo tree search as a state machine, by PUCT or by Gumbel's sequential halving.
//!
//! A [`Search`] never calls a network. It descends until it needs an evaluation, puts the position
//! into a [`Batch`](surakarta_net::Batch) and stops; whoever drives it evaluates the batch, with the
//! leaves of other games in it, and hands the answer back. Evaluations never meet inside one tree, so
//! a search in lockstep with a thousand others does to the bit what it does alone.
//!
//! ```
//! use surakarta_game::{Game, OLYMPIAD};
//! use surakarta_net::{Batch, Evaluator};
//! use surakarta_search::{Root, Search, SearchConfig, Step, stream};
//!
//! # struct Even;
//! # impl Evaluator for Even {
//! #     fn evaluate(&mut self, batch: &mut Batch) -> Result<(), surakarta_net::EvaluatorError> {
//! #         for at in 0..batch.len() {
//! #             let (_, moves, policy, outlook) = batch.item_mut(at);
//! #             policy.fill(1.0 / moves.len() as f32);
//! #             outlook.wdl = [0.25, 0.5, 0.25];
//! #         }
//! #         Ok(())
//! #     }
//! # }
//! # let mut network = Even;
//! let game = Game::new(OLYMPIAD);
//! let (mut search, mut batch) = (Search::new(SearchConfig::default()), Batch::default());
//! search.begin(&game, Root { simulations: 100, noise: false }, &mut stream(1, [0, 0, 0]));
//! while let Step::Leaf(at) = search.step(&mut batch) {
//!     network.evaluate(&mut batch)?;
//!     search.accept(&batch, at);
//!     batch.clear();
//! }
//! assert_eq!(search.simulations(), 100);
//! assert!(game.legal_moves().contains(&search.best().unwrap()));
//! # Ok::<(), surakarta_net::EvaluatorError>(())
//! ```

mod cache;
mod forced;
pub mod gumbel;
mod halving;
mod player;
mod root;
mod search;
mod solver;
mod symmetries;
mod tree;

use serde::{Deserialize, Serialize};

pub use player::{MOST_SIMULATIONS, MctsConfig, MctsPlayer};
pub use root::MoveStats;
pub use search::{Root, Search, Step};
pub use solver::Proof;

/// How a search chooses where to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The best move of a node with N visits maximises Q + c(N) · P · √N / (1 + n), as in AlphaZero
    /// (Silver et al., Science 362, 2018).
    #[default]
    Puct,
    /// Sequential halving of some moves at the root, and visits that follow the improved policy below
    /// it, as in Gumbel AlphaZero: see [`gumbel`]. A tree that the search inherits keeps its values
    /// and visits; the halving is of the visits that the budget leaves.
    Gumbel,
}

impl Method {
    /// `puct` or `gumbel`.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Puct => "puct",
            Method::Gumbel => "gumbel",
        }
    }
}

/// What a search does, whatever its budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// How it chooses where to go. Some of the rest is for one method alone.
    pub method: Method,
    /// Gumbel: how many moves the root considers, if it has as many.
    pub considered: u32,
    /// Gumbel: visits that σ counts from the start. The paper's and mctx's value.
    pub c_visit: f32,
    /// Gumbel: the slope of σ for each visit. The default is mctx's, for rescaled values.
    pub c_scale: f32,
    /// Gumbel: whether values are rescaled to [0, 1] among those of a node before σ, as mctx does.
    pub rescale_values: bool,
    /// PUCT: weight c of the prior against the value.
    pub c_init: f32,
    /// PUCT: lets c grow by ln((N + c_base + 1) / c_base), as AlphaZero's does; `None` keeps it
    /// constant.
    pub c_base: Option<f32>,
    /// PUCT: first-play urgency. A move without visits counts as the node's own value, less this
    /// times the square root of the prior already visited there (KataGo's form).
    pub fpu_reduction: f32,
    /// PUCT: the same at the root.
    pub root_fpu_reduction: f32,
    /// PUCT: concentration of the root's Dirichlet noise, shared out evenly among its moves.
    pub noise_alpha: f32,
    /// PUCT: how much of the root's prior is noise, where noise is asked for.
    pub noise_fraction: f32,
    /// PUCT: the root's prior is raised to one over this and scaled to sum to 1; 1 leaves it alone.
    pub root_temperature: f32,
    /// A leaf is worth (value + weight · margin) / (1 + weight).
    pub margin_weight: f32,
    /// PUCT: stop as soon as the most visited move can no longer be overtaken. Visits are then fewer
    /// than the budget, which self-play does not want.
    pub stop_early: bool,
    /// Only evaluate a root with a single legal move.
    pub skip_forced: bool,
    /// Carry the results of finished games up a tree of PUCT as proofs: a move that is proven to lose is not
    /// looked into again, and the search stops once the root is proven. Visits are then fewer than the
    /// budget, and the policy of a proven root is that of the moves that keep its result.
    pub solve: bool,
    /// Where noise is asked for, a move of the root that has been visited gets √(k · P · N) visits at
    /// least, this being k and N the visits of all moves (KataGo: 2). Those that PUCT would not have
    /// chosen are taken out of the policy again; 0 forces none.
    pub forced_playouts: f32,
}

impl Default for SearchConfig {
    fn default() -> Self {
        SearchConfig {
            method: Method::Puct,
            considered: 16,
            c_visit: 50.0,
            c_scale: 0.1,
            rescale_values: true,
            c_init: 1.25,
            c_base: None,
            fpu_reduction: 0.2,
            root_fpu_reduction: 0.1,
            noise_alpha: 10.83,
            noise_fraction: 0.25,
            root_temperature: 1.0,
            margin_weight: 0.0,
            stop_early: false,
            skip_forced: false,
            solve: false,
            forced_playouts: 0.0,
        }
    }
}

impl SearchConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// A sentence that names the first key with a value that makes no sense.
    pub fn validate(&self) -> Result<(), String> {
        if self.considered == 0 {
            return Err("considered is 0; it must be 1 or more".to_owned());
        }
        let positive = [
            ("c_scale", self.c_scale),
            ("c_init", self.c_init),
            ("c_base", self.c_base.unwrap_or(1.0)),
            ("noise_alpha", self.noise_alpha),
            ("root_temperature", self.root_temperature),
        ];
        let at_least_0 = [
            ("c_visit", self.c_visit),
            ("fpu_reduction", self.fpu_reduction),
            ("root_fpu_reduction", self.root_fpu_reduction),
            ("margin_weight", self.margin_weight),
            ("forced_playouts", self.forced_playouts),
        ];
        for (key, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(format!("{key} is {value}; it must be a number above 0"));
            }
        }
        for (key, value) in at_least_0 {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(format!("{key} is {value}; it must be 0 or a number above"));
            }
        }
        if !(0.0..=1.0).contains(&self.noise_fraction) {
            let value = self.noise_fraction;
            return Err(format!("noise_fraction is {value}; it must lie between 0 and 1"));
        }
        Ok(())
    }

    /// c(N) · √N.
    #[inline]
    fn exploration(&self, visits: u32) -> f32 {
        let n = visits as f32;
        let growth = self.c_base.map_or(0.0, |base| ((n + base + 1.0) / base).ln());
        (self.c_init + growth) * n.sqrt()
    }
}
