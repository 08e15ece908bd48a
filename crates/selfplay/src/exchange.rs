//! Workers with games left hand some to workers without: no core waits for the last games of a batch.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard};

/// Where work changes hands. Whose hands it is in has no influence on what comes of it.
pub(crate) struct Exchange<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// Whether a worker waits that nothing is offered to yet: looked at in every step.
    wanted: AtomicBool,
}

struct State<T> {
    offered: Vec<T>,
    /// Workers that may still offer something.
    active: usize,
}

/// A worker's place at the exchange; it leaves when this is dropped, however it ends.
pub(crate) struct Seat<'a, T> {
    exchange: &'a Exchange<T>,
    active: bool,
}

impl<T> Exchange<T> {
    /// For so many workers, each of which takes a seat once.
    pub(crate) fn new(workers: usize) -> Exchange<T> {
        let state = State { offered: Vec::new(), active: workers };
        Exchange {
            state: Mutex::new(state),
            changed: Condvar::new(),
            wanted: AtomicBool::new(false),
        }
    }

    pub(crate) fn seat(&self) -> Seat<'_, T> {
        Seat { exchange: self, active: true }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<T> Seat<'_, T> {
    /// Offers the later half of the work if a worker waits for some and there is enough to share.
    pub(crate) fn share(&mut self, work: &mut Vec<T>) {
        if work.len() < 2 || !self.exchange.wanted.swap(false, Relaxed) {
            return;
        }
        let half = work.split_off(work.len().div_ceil(2));
        self.exchange.lock().offered.extend(half);
        self.exchange.changed.notify_all();
    }

    /// Waits for work that others offer; none once nobody can offer any more.
    pub(crate) fn wait(&mut self) -> Vec<T> {
        let Exchange { changed, wanted, .. } = self.exchange;
        let mut state = self.exchange.lock();
        state.active -= 1;
        self.active = false;
        while state.offered.is_empty() && state.active > 0 {
            wanted.store(true, Relaxed);
            state = changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        let work = std::mem::take(&mut state.offered);
        if work.is_empty() {
            // Those that wait are to see it too.
            changed.notify_all();
        } else {
            state.active += 1;
            self.active = true;
        }
        work
    }
}

impl<T> Drop for Seat<'_, T> {
    fn drop(&mut self) {
        if self.active {
            self.exchange.lock().active -= 1;
            self.exchange.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn all_work_is_done_once_by_somebody() {
        for workers in 1..5u64 {
            let exchange = Exchange::new(workers as usize);
            let sum = AtomicU64::new(0);
            std::thread::scope(|scope| {
                for worker in 0..workers {
                    let (exchange, sum) = (&exchange, &sum);
                    scope.spawn(move || {
                        let mut seat = exchange.seat();
                        // One begins with all of it.
                        let mut work: Vec<u64> =
                            if worker == 0 { (1..=1000).collect() } else { Vec::new() };
                        loop {
                            if work.is_empty() {
                                work = seat.wait();
                            }
                            let Some(item) = work.pop() else { return };
                            sum.fetch_add(item, Relaxed);
                            seat.share(&mut work);
                        }
                    });
                }
            });
            assert_eq!(sum.into_inner(), 500_500);
        }
    }

    #[test]
    fn nobody_waits_for_a_worker_that_has_failed() {
        let exchange = Exchange::<u64>::new(3);
        std::thread::scope(|scope| {
            drop(exchange.seat());
            for _ in 0..2 {
                scope.spawn(|| assert!(exchange.seat().wait().is_empty()));
            }
        });
    }
}
