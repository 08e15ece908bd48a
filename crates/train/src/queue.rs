//! One device for many workers: their positions are evaluated together.
//!
//! A thread of its own owns the network. Workers hand it the positions of their batches and sleep; it
//! takes what waits, fills it up to one padded batch of a fixed size, and answers. While it runs, the
//! other workers search: with twice as many workers as cores both the device and the processor are
//! busy. On the processor no evaluation depends on which positions happened to meet; a test says so.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

use surakarta_game::Variant;
use surakarta_net::{Batch, Evaluator, EvaluatorError, inputs};

use crate::evaluator::{Rows, Said, TorchEvaluator};

/// How long a batch that is not full waits for more positions.
const PATIENCE: Duration = Duration::from_micros(500);

/// Rows of inputs, and where the answer goes.
struct Request {
    rows: Rows,
    answer: SyncSender<Result<Said, String>>,
}

/// The workers' end. Clones lead to the same device; the thread ends when none is left.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    requests: Sender<Request>,
    variant: Variant,
    size: usize,
    /// Counts the workers: every clone has one.
    _alive: Arc<()>,
}

/// Those that never ask: the queue that others are cloned from, and the thread's own count.
const SILENT: usize = 2;

impl Queue {
    /// Starts the thread that owns a network of this variant.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn start(evaluator: TorchEvaluator, variant: Variant) -> std::io::Result<Queue> {
        let (requests, waiting) = channel();
        let size = evaluator.size();
        let alive = Arc::new(());
        let workers = Arc::clone(&alive);
        let serve = move || Server { evaluator, width: inputs(variant), waiting, workers }.serve();
        std::thread::Builder::new().name("device".to_owned()).spawn(serve)?;
        Ok(Queue { requests, variant, size, _alive: alive })
    }
}

impl Evaluator for Queue {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        batch.expect_variant(self.variant)?;
        for first in (0..batch.len()).step_by(self.size) {
            let mut rows = Rows::default();
            rows.add(batch, first, batch.len().min(first + self.size));
            let (answer, answered) = sync_channel(1);
            let gone = || EvaluatorError("the thread of the device has ended".to_owned());
            self.requests.send(Request { rows, answer }).map_err(|_| gone())?;
            let said = answered.recv().map_err(|_| gone())?;
            said.map_err(EvaluatorError)?.write(batch, first);
        }
        Ok(())
    }
}

struct Server {
    evaluator: TorchEvaluator,
    width: usize,
    waiting: Receiver<Request>,
    workers: Arc<()>,
}

impl Server {
    /// Answers until no worker is left.
    fn serve(self) {
        let mut left_over = None;
        while let Some(first) = left_over.take().or_else(|| self.waiting.recv().ok()) {
            let mut together = vec![first];
            left_over = self.gather(&mut together);
            self.answer(together);
        }
    }

    fn positions(&self, request: &Request) -> usize {
        request.rows.0.len() / self.width
    }

    /// Takes requests until the batch is full, every worker waits or nobody comes for a while; returns
    /// one that did not fit.
    fn gather(&self, together: &mut Vec<Request>) -> Option<Request> {
        let mut room = self.evaluator.size() - self.positions(&together[0]);
        let until = Instant::now() + PATIENCE;
        while room > 0 && together.len() + SILENT < Arc::strong_count(&self.workers) {
            let left = until.saturating_duration_since(Instant::now());
            match self.waiting.recv_timeout(left) {
                Ok(request) if self.positions(&request) > room => return Some(request),
                Ok(request) => {
                    room -= self.positions(&request);
                    together.push(request);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        None
    }

    fn answer(&self, together: Vec<Request>) {
        let mut rows = Rows(Vec::with_capacity(self.evaluator.size() * self.width));
        together.iter().for_each(|request| rows.0.extend(&request.rows.0));
        let total = rows.0.len() / self.width;
        let said = self.evaluator.run(&mut rows).map_err(|error| error.to_string());
        let mut start = 0;
        for request in together {
            let n = self.positions(&request);
            let part = |all: &[f32]| {
                let width = all.len() / total;
                all[start * width..(start + n) * width].to_vec()
            };
            let said = match &said {
                Ok(said) => Ok(Said {
                    policy: part(&said.policy),
                    wdl: part(&said.wdl),
                    margin: part(&said.margin),
                }),
                Err(error) => Err(error.clone()),
            };
            // A worker that stopped waiting has failed elsewhere.
            let _ = request.answer.send(said);
            start += n;
        }
    }
}
