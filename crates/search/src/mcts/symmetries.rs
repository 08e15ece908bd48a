//! A position evaluated under all eight symmetries of the board. The rules do not tell them apart, and
//! a network should not, but does: the mean says more than any of them.

use surakarta_game::{Move, Symmetry};
use surakarta_net::{Batch, Evaluator, EvaluatorError, Outlook};

/// Evaluates a position of a batch as the mean over the symmetries: of the probabilities of each move,
/// of win, draw and loss, and of the margin. `spare` is kept for its memory alone.
pub(super) fn evaluate_under_all(
    evaluator: &mut dyn Evaluator,
    batch: &mut Batch,
    at: usize,
    spare: &mut Batch,
) -> Result<(), EvaluatorError> {
    let (position, moves, policy, outlook) = batch.item_mut(at);
    spare.clear();
    for symmetry in Symmetry::ALL {
        let turned = |mv: &Move| mv.under(position.variant(), symmetry);
        let moves: Vec<Move> = moves.iter().map(turned).collect();
        spare.push(position.under(symmetry), &moves);
    }
    evaluator.evaluate(spare)?;
    let weight = 1.0 / Symmetry::ALL.len() as f32;
    policy.fill(0.0);
    *outlook = Outlook::default();
    for n in 0..spare.len() {
        for (mean, p) in policy.iter_mut().zip(spare.policy(n)) {
            *mean += weight * p;
        }
        let said = spare.outlook(n);
        for (mean, p) in outlook.wdl.iter_mut().zip(said.wdl) {
            *mean += weight * p;
        }
        outlook.margin += weight * said.margin;
    }
    Ok(())
}
