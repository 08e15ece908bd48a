//! Checking tables against the rules.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use surakarta_game::{Position, Variant};

use crate::class::{Class, Entry};
use crate::table::TableError;
use crate::tables::Tables;

/// A position whose entry does not follow from those after its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The position, with Black to move.
    pub position: Position,
    /// What the table says.
    pub found: Entry,
    /// What follows.
    pub derived: Entry,
}

/// What a check of a class has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The class.
    pub class: Class,
    /// Positions of the class.
    pub positions: u64,
    /// How many of them were checked.
    pub checked: u64,
    /// How many of these were wrong.
    pub wrong: u64,
    /// The wrong one with the least number.
    pub fault: Option<Fault>,
}

/// Numbers that one thread looks at in one go.
const CHUNK: usize = 1 << 14;

impl Tables {
    /// Derives the entries of a class from those of the positions after their moves, of all positions
    /// or of a share that the seed draws: each in (0, 1] of them. That every entry follows from
    /// those after it, plies included, proves all of them: a forced capture comes nearer with each ply, and
    /// what is counted leads to nothing better.
    ///
    /// `goes_on` is told how many positions have been looked at, and says whether to go on. What had been looked at by then is reported.
    ///
    /// # Errors
    /// If there is no table of the class, or of one that its moves lead to.
    pub fn verify(
        &self,
        variant: Variant,
        class: Class,
        share: f64,
        seed: u64,
        goes_on: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Check, TableError> {
        let needed = [Some(class), Some(class.turned()), class.after_capture()];
        for needed in needed.into_iter().flatten() {
            self.table(variant, needed).ok_or_else(|| TableError::Missing {
                folder: self.folder().to_owned(),
                variant,
                class: needed,
            })?;
        }
        let table = self.table(variant, class).expect("looked for");
        let checked = AtomicU64::new(0);
        let chunks = (0..table.positions()).into_par_iter().step_by(CHUNK);
        let faults = chunks.map(|start| {
            let range = start..(start + CHUNK).min(table.positions());
            let mut faults = (0, None);
            if !goes_on(range.len() as u64) {
                return faults;
            }
            let stream = (start / CHUNK) as u64;
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(stream);
            let drawn: Vec<bool> =
                range.clone().map(|_| share >= 1.0 || random.random_bool(share)).collect();
            checked.fetch_add(drawn.iter().filter(|&&drawn| drawn).count() as u64, Relaxed);
            table.index().visit(
                range,
                |n| drawn[n - start],
                |number, own, enemy| {
                    let position = table.index().position_of(own, enemy);
                    let found = table.code(number).entry(class);
                    let derived = self.derive(&position).expect("all tables are there");
                    if found != derived {
                        faults.0 += 1;
                        faults.1 = faults.1.or(Some((number, Fault { position, found, derived })));
                    }
                },
            );
            faults
        });
        let (wrong, fault) = faults.reduce(
            || (0, None),
            |a, b| {
                let first = [a.1, b.1].into_iter().flatten().min_by_key(|&(number, _)| number);
                (a.0 + b.0, first)
            },
        );
        Ok(Check {
            class,
            positions: table.positions() as u64,
            checked: checked.into_inner(),
            wrong,
            fault: fault.map(|(_, fault)| fault),
        })
    }
}
