//! What a network says of one position, number by number: for those who bring their own.

use std::fmt;

use anyhow::{Result, bail};
use serde::Serialize;
use surakarta_game::Position;
use surakarta_net::{Batch, MAX_INPUTS, active, policy_index};
use surakarta_search::NetRef;

use crate::players::{NetworkPlace, Networks};

/// What a network sees of a position, and what it says of it, both from the side to move.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// The position.
    pub position: String,
    /// The inputs that are 1, ascending; all others are 0.
    pub inputs: Vec<u16>,
    /// Probability of a win.
    pub win: f32,
    /// Probability of a draw.
    pub draw: f32,
    /// Probability of a loss.
    pub loss: f32,
    /// Win minus loss, in [−1, 1].
    pub value: f32,
    /// Expected piece margin at the end, (own − enemy) / pieces at the start.
    pub margin: f32,
    /// The legal moves, the most probable first.
    pub moves: Vec<MovePrior>,
}

/// What the policy says of a move.
#[derive(Clone, Debug, Serialize)]
pub struct MovePrior {
    /// The move, as in `a2a3`.
    pub r#move: String,
    /// Its place among all policy logits.
    pub index: usize,
    /// Its probability among the legal moves.
    pub probability: f32,
}

/// Evaluates a position with the network in a file, or one of a run.
///
/// # Errors
/// If the network cannot be loaded, or the position has no legal move.
pub fn evaluate(net: &NetRef, place: &NetworkPlace, position: &Position) -> Result<Evaluation> {
    let moves = position.moves();
    if moves.is_empty() {
        bail!("{position} has no legal move, so there is nothing to evaluate");
    }
    let mut evaluator = Networks::of(place, position.variant()).load(net)?.evaluator(1)?;
    let mut batch = Batch::default();
    batch.push(*position, &moves);
    evaluator.evaluate(&mut batch)?;
    let outlook = batch.outlook(0);
    let side = position.side_to_move();
    let mut priors: Vec<MovePrior> = moves
        .iter()
        .zip(batch.policy(0))
        .filter_map(|(&mv, &probability)| {
            let index = policy_index(position.variant(), mv, side)?;
            Some(MovePrior { r#move: mv.to_string(), index, probability })
        })
        .collect();
    priors.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let [win, draw, loss] = outlook.wdl;
    Ok(Evaluation {
        position: position.to_string(),
        inputs: active(position, &mut [0; MAX_INPUTS]).to_vec(),
        win,
        draw,
        loss,
        value: outlook.value(),
        margin: outlook.margin,
        moves: priors,
    })
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Evaluation { win, draw, loss, value, margin, .. } = self;
        writeln!(f, "{}, seen by the side to move:", self.position)?;
        writeln!(f, "  value {value:+.3} (win {win:.3}, draw {draw:.3}, loss {loss:.3})")?;
        writeln!(f, "  margin {margin:+.3}")?;
        for MovePrior { r#move, index, probability } in &self.moves {
            writeln!(f, "  {} {probability:.4}  (logit {index})", r#move)?;
        }
        write!(f, "  inputs that are 1: {:?}", self.inputs)
    }
}
