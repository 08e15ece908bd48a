//! What a search asks of a network: policy and outlook for a batch of positions.

use surakarta_game::{Move, Position, Variant};

/// Positions to evaluate together and, afterwards, their evaluations. Buffers are kept between
/// uses, so that a warm batch allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    positions: Vec<Position>,
    moves: Vec<Move>,
    /// Where the moves of each position end in `moves`.
    ends: Vec<usize>,
    policy: Vec<f32>,
    outlooks: Vec<Outlook>,
}

/// How the game is expected to end, seen by the side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outlook {
    /// Probabilities of a win, a draw and a loss; they sum to 1.
    pub wdl: [f32; 3],
    /// Expected piece margin at the end, (own − enemy) / pieces at the start.
    pub margin: f32,
}

impl Outlook {
    /// The expected result in [−1, 1]: P(win) − P(loss).
    pub fn value(&self) -> f32 {
        self.wdl[0] - self.wdl[2]
    }
}

impl Batch {
    /// Removes all positions and evaluations.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.moves.clear();
        self.ends.clear();
        self.policy.clear();
        self.outlooks.clear();
    }

    /// Adds a position with its legal moves (at least one) and returns its place in the batch.
    pub fn push(&mut self, position: Position, moves: &[Move]) -> usize {
        self.positions.push(position);
        self.moves.extend_from_slice(moves);
        self.ends.push(self.moves.len());
        self.policy.resize(self.moves.len(), 0.0);
        self.outlooks.push(Outlook::default());
        self.positions.len() - 1
    }

    /// How many positions it holds.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The position at a place.
    pub fn position(&self, at: usize) -> &Position {
        &self.positions[at]
    }

    /// Whether every position is one of the variant that a network plays.
    ///
    /// # Errors
    /// If one is not; the message names both variants.
    pub fn expect_variant(&self, variant: Variant) -> Result<(), EvaluatorError> {
        match self.positions.iter().find(|position| position.variant() != variant) {
            None => Ok(()),
            Some(position) => Err(EvaluatorError(format!(
                "it is for the variant {variant} and the game is one of {}; give weights for that variant",
                position.variant()
            ))),
        }
    }

    /// Whether the network has said numbers of every position. One that is not spoils all that its
    /// softmax gives, so the first of each is enough to look at.
    pub(crate) fn expect_numbers(&self) -> Result<(), EvaluatorError> {
        let says_numbers = |at: usize| {
            let outlook = self.outlook(at);
            let policy = self.policy(at).first().is_none_or(|p| p.is_finite());
            policy && outlook.wdl[0].is_finite() && outlook.margin.is_finite()
        };
        match (0..self.len()).find(|&at| !says_numbers(at)) {
            None => Ok(()),
            Some(at) => Err(EvaluatorError(format!(
                "it says NaN or infinity of the position {}: its weights are too large; give other \
                 weights, or train it with more weight decay",
                self.position(at)
            ))),
        }
    }

    /// Its legal moves, as pushed.
    pub fn moves(&self, at: usize) -> &[Move] {
        &self.moves[self.range(at)]
    }

    /// The probability of each of [`moves`](Batch::moves), in the same order; they sum to 1.
    pub fn policy(&self, at: usize) -> &[f32] {
        &self.policy[self.range(at)]
    }

    /// The outlook of the position at a place.
    pub fn outlook(&self, at: usize) -> &Outlook {
        &self.outlooks[at]
    }

    /// Everything an evaluator needs of one place: position and moves to read, policy (logits or
    /// probabilities, one a move) and outlook to write.
    pub fn item_mut(&mut self, at: usize) -> (&Position, &[Move], &mut [f32], &mut Outlook) {
        let range = self.range(at);
        (
            &self.positions[at],
            &self.moves[range.clone()],
            &mut self.policy[range],
            &mut self.outlooks[at],
        )
    }

    fn range(&self, at: usize) -> std::ops::Range<usize> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        start..self.ends[at]
    }
}

/// An evaluation failed: a device ran out of memory, say, or a position is of another variant.
#[derive(Debug, thiserror::Error)]
#[error("the network could not be evaluated: {0}")]
pub struct EvaluatorError(pub String);

/// A source of evaluations: a native network, one behind tch, or a script in a test.
///
/// The evaluation of a position must not depend on the rest of the batch, to the bit: self-play is
/// reproducible only then.
pub trait Evaluator: Send {
    /// Fills in policy and outlook of every position of the batch.
    ///
    /// # Errors
    /// If a position is of another variant than the network, or the device or library behind it
    /// fails.
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError>;
}

/// A network that is loaded and ready, wherever it is computed: every worker gets an evaluator of its
/// own from it.
pub trait Inference: Send + Sync {
    /// An evaluator for a worker whose batches have about `size` positions. It matters only where
    /// batches are padded to that size, and larger ones cut.
    ///
    /// # Errors
    /// If the device behind it has no memory left.
    fn evaluator(&self, size: usize) -> Result<Box<dyn Evaluator>, EvaluatorError>;

    /// What tells networks apart: 32 hexadecimal digits.
    fn hash(&self) -> &str;

    /// What computes it, for the headers of files that depend on evaluations: `avx2`,
    /// `libtorch cuda:0`.
    fn kernel(&self) -> String;
}
