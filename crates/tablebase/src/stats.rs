//! What the tables say of the game.

use rayon::prelude::*;
use surakarta_game::{Position, Variant};

use crate::class::{Class, Code, Value};
use crate::table::TableError;
use crate::tables::Tables;

/// A class summed up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// The class.
    pub class: Class,
    /// Positions, symmetrical ones counted once.
    pub positions: u64,
    /// Bytes of its file.
    pub bytes: u64,
    /// How many the side to move loses, draws and wins.
    pub values: [u64; 3],
    /// By value other than the count, how many take so many plies until the capture, from 1 ply on.
    pub plies: [Vec<u64>; 3],
    /// By value other than the count, the one that takes longest, with Black to move; of several the
    /// one with the least number.
    pub longest: [Option<Position>; 3],
}

impl Stats {
    /// How many have a value.
    pub fn count(&self, value: Value) -> u64 {
        self.values[value as usize]
    }

    /// Plies of the longest forced line to a value, 0 if there is none.
    pub fn most_plies(&self, value: Value) -> usize {
        self.plies[value as usize].len()
    }

    /// Where the side with fewer pieces wins: the longest such line.
    pub fn upset(&self) -> Option<Position> {
        match self.class.counted() {
            Value::Win => self.longest[Value::Loss as usize],
            Value::Loss => self.longest[Value::Win as usize],
            Value::Draw => None,
        }
    }
}

impl Tables {
    /// Sums a class up.
    ///
    /// # Errors
    /// If there is no table of it.
    pub fn stats(&self, variant: Variant, class: Class) -> Result<Stats, TableError> {
        let table = self.table(variant, class).ok_or_else(|| TableError::Missing {
            folder: self.folder().to_owned(),
            variant,
            class,
        })?;
        // By code: how many, and the first.
        let none = || vec![(0u64, usize::MAX); 256];
        let counts = (0..table.positions())
            .into_par_iter()
            .fold(none, |mut counts, number| {
                let (count, first) = &mut counts[table.code(number).0 as usize];
                *count += 1;
                *first = number.min(*first);
                counts
            })
            .reduce(none, |mut a, b| {
                for (a, b) in a.iter_mut().zip(b) {
                    *a = (a.0 + b.0, a.1.min(b.1));
                }
                a
            });
        let mut stats = Stats {
            class,
            positions: table.positions() as u64,
            bytes: table.bytes(),
            values: [0; 3],
            plies: [const { Vec::new() }; 3],
            longest: [None; 3],
        };
        for (code, (count, first)) in (0..=255).map(Code).zip(counts) {
            if count == 0 {
                continue;
            }
            let value = code.value(class) as usize;
            stats.values[value] += count;
            if code != Code::COUNTED {
                // Codes of one value come with more and more plies.
                stats.plies[value].resize(code.plies() as usize, 0);
                stats.plies[value][code.plies() as usize - 1] = count;
                stats.longest[value] = Some(table.index().position(first));
            }
        }
        Ok(stats)
    }
}
