//! Building tables, class by class.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use surakarta_game::Variant;

use crate::class::Class;
use crate::index::{Index, positions};
use crate::solve::{Solved, Unsolved, solve};
use crate::table::{self, Table, TableError};
use crate::tables::Tables;

/// Who is told how a build goes, from any thread.
pub trait Watch: Sync {
    /// How much there is to do, in parts of which [`advance`](Self::advance) tells: three for each
    /// position.
    fn begin(&self, all: u64);
    /// A class, beside its turned one, has been written or was there.
    fn solved(&self, class: Class, positions: usize, bytes: u64);
    /// So much more has been done.
    fn advance(&self, parts: u64);
    /// Whether to go on: asked all the time.
    fn goes_on(&self) -> bool;
}

/// Nobody is told, and nobody stops it.
impl Watch for () {
    fn begin(&self, _: u64) {}
    fn solved(&self, _: Class, _: usize, _: u64) {}
    fn advance(&self, _: u64) {}
    fn goes_on(&self) -> bool {
        true
    }
}

/// What a build has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    /// All tables are there.
    All,
    /// It was told to stop; the classes that were finished are there.
    Stopped,
}

/// Makes the tables of a variant of up to `pieces` pieces that are not in a folder yet. The same files
/// come out, byte for byte, whatever the number of threads and of beginnings.
///
/// # Errors
/// If a table cannot be written, or one that is there is damaged.
pub fn build(
    folder: &Path,
    variant: Variant,
    pieces: u32,
    watch: &dyn Watch,
) -> Result<Built, TableError> {
    std::fs::create_dir_all(folder).map_err(|source| TableError::Io {
        path: folder.to_owned(),
        action: "make the folder",
        source,
    })?;
    let _lock = lock(folder)?;
    let mut tables = Tables::found(folder)?;
    let pairs: Vec<Class> = Class::up_to(pieces).filter(|class| class.own <= class.enemy).collect();
    // Everything is looked at twice forwards, and about as much as once backwards.
    let parts = |class| 3 * positions(variant, class) * classes(class).len() as u64;
    let there = |tables: &Tables, class: Class| {
        classes(class).iter().all(|&class| tables.table(variant, class).is_some())
    };
    watch.begin(pairs.iter().filter(|&&class| !there(&tables, class)).map(|&c| parts(c)).sum());
    for class in pairs {
        if !there(&tables, class) {
            let below = |class: Class| {
                let after = class.after_capture()?;
                Some(tables.table(variant, after).expect("fewer pieces first").unpack())
            };
            let below: Vec<Option<Solved>> = classes(class).into_iter().map(below).collect();
            let sides = classes(class).into_iter().zip(&below);
            let sides = sides.map(|(class, below)| (Index::new(variant, class), below.as_ref()));
            let told = AtomicU64::new(0);
            let watched = |positions| {
                told.fetch_add(positions as u64, Relaxed);
                watch.advance(positions as u64);
                watch.goes_on()
            };
            match solve(sides.collect(), &watched) {
                Ok(solved) => {
                    for solved in &solved {
                        let path = folder.join(table::file_name(variant, solved.class()));
                        table::write(&path, solved)?;
                        tables.add(Table::open(&path)?);
                    }
                }
                Err(Unsolved::Stopped) => return Ok(Built::Stopped),
                Err(Unsolved::TooLong) => return Err(TableError::TooLong { class }),
            }
            watch.advance(parts(class).saturating_sub(told.into_inner()));
        }
        for class in classes(class) {
            let table = tables.table(variant, class).expect("solved or found");
            watch.solved(class, table.positions(), table.bytes());
        }
    }
    Ok(Built::All)
}

/// Keeps other builds out of a folder for as long as the handle lives.
fn lock(folder: &Path) -> Result<File, TableError> {
    let io = |source| TableError::Io { path: folder.to_owned(), action: "lock", source };
    let handle = File::open(folder).map_err(io)?;
    match handle.try_lock() {
        Ok(()) => Ok(handle),
        Err(TryLockError::WouldBlock) => Err(TableError::Busy { path: folder.to_owned() }),
        Err(TryLockError::Error(source)) => Err(io(source)),
    }
}

/// A class and its turned one.
fn classes(class: Class) -> Vec<Class> {
    let turned = Some(class.turned()).filter(|&turned| turned != class);
    std::iter::once(class).chain(turned).collect()
}
