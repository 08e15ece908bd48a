//! What heads say of a position, whatever is below them.

use surakarta_game::{Move, Variant};

use crate::evaluator::{Batch, Outlook};
use crate::inputs::policy_index;
use crate::lanes::{LANES, Lanes, softmax};

/// A policy's head above what a network makes of one position. It says `N` logits at a time.
pub(crate) trait PolicyHead<const N: usize> {
    /// The logits of these moves, which have these policy indices. Must be inlined.
    fn logits(&self, moves: [Move; N], indices: [usize; N]) -> [f32; N];
}

/// Fills in the outlook and the policy of a position of this variant. `outcomes` are the logits of win,
/// draw and loss, and the margin; `logits` is a buffer that the caller keeps.
#[inline(always)]
pub(crate) fn answer<const N: usize>(
    variant: Variant,
    outcomes: [f32; 4],
    head: &impl PolicyHead<N>,
    batch: &mut Batch,
    at: usize,
    logits: &mut Vec<Lanes>,
) {
    let (position, moves, policy, outlook) = batch.item_mut(at);
    let mut wdl = [Lanes::splat(f32::NEG_INFINITY)];
    wdl[0].0[..3].copy_from_slice(&outcomes[..3]);
    softmax(&mut wdl);
    *outlook = Outlook { wdl: [wdl[0].0[0], wdl[0].0[1], wdl[0].0[2]], margin: outcomes[3] };

    let side = position.side_to_move();
    logits.clear();
    for some in moves.chunks(LANES) {
        let mut lanes = Lanes::splat(f32::NEG_INFINITY);
        for (few, logits) in some.chunks(N).zip(lanes.0.chunks_mut(N)) {
            // Too few are filled up with the last one.
            let mut asked = [few[few.len() - 1]; N];
            asked[..few.len()].copy_from_slice(few);
            let mut indices = [0; N];
            for (index, &mv) in indices.iter_mut().zip(&asked) {
                *index = policy_index(variant, mv, side).expect("batches hold legal moves only");
            }
            let said = head.logits(asked, indices);
            for (logit, said) in logits.iter_mut().zip(said).take(few.len()) {
                *logit = said;
            }
        }
        logits.push(lanes);
    }
    softmax(logits);
    for (some, lanes) in policy.chunks_mut(LANES).zip(&*logits) {
        some.copy_from_slice(&lanes.0[..some.len()]);
    }
}
