//! The file of a class: every code in a few bits, found without unpacking.
//!
//! All numbers are little-endian.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `SZTABLE` and a zero |
//! | 8 | 4 | version of the layout: 1 |
//! | 12 | 1 | variant: 0 `standard`, 1 `rural`, 2 `sepur`, 3 `sepur,diagonals=no` |
//! | 13 | 2 | pieces of the side to move, of the other |
//! | 15 | 1 | 0 |
//! | 16 | 8 | positions, in the order of their numbers ([`Index`]) |
//! | 24 | 256 | the codes, the most frequent first (of equal ones the lesser), zeros after the last |
//! | 280 | 4 × (blocks + 1) | where each block of 64 positions begins, and the last one ends, in words |
//! | | 0 or 4 | zeros, up to a multiple of 8 |
//! | | 8 × words | the blocks |
//! | | 8 | XXH3 of everything before, 64 bits |
//!
//! A code is 0 where the value of the position is the count of the pieces. Otherwise it is twice the
//! plies until the forced capture, less one if the value is the lower of the two others, seen by the
//! side that forces it; with as many pieces on both sides it is less one if the side to move loses.
//!
//! A block has as many words as its largest place in the list of codes has bits, often none. Bit `i` of
//! word `j` is bit `j` of that place for position `i` of the block.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use memmap2::Mmap;
use rayon::prelude::*;
use surakarta_game::{Position, Variant};
use surakarta_record::write_atomically;
use xxhash_rust::xxh3::xxh3_64;

use crate::class::{Class, Code, Entry};
use crate::index::Index;
use crate::solve::Solved;

const MAGIC: &[u8; 8] = b"SZTABLE\0";
const FORMAT_VERSION: u32 = 1;
const PALETTE: usize = 24;
const STARTS: usize = PALETTE + 256;
const BLOCK: usize = 64;
const CHECKSUM: usize = 8;

/// A table cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{} is not a table: it does not begin as one; move it away", path.display())]
    NotATable {
        /// The file.
        path: PathBuf,
    },
    /// Another version of the layout.
    #[error("{} has table format {version}, and this program reads format {FORMAT_VERSION}; delete it and build the tables again, or use the program that wrote it", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The file's version.
        version: u32,
    },
    /// A part is missing or altered.
    #[error("{} is damaged: {what}; delete it and build the tables again, which makes only what is missing", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: &'static str,
    },
    /// The file has the name of another, or none of a table.
    #[error("{} holds what belongs into {name}; rename it, or move it away", path.display())]
    Misnamed {
        /// The file.
        path: PathBuf,
        /// What it should be called.
        name: String,
    },
    /// Another program writes there.
    #[error("another build is at work in {}; wait for it, or name another folder", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// There is no such folder.
    #[error("there is no folder {}; make tables with `surakarta tablebase build --pieces 6 --out DIR`, and name their folder", path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// Nothing to probe.
    #[error("there are no tables in {}; make some with `surakarta tablebase build --pieces 6 --out {}`", path.display(), path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// A class without a table.
    #[error("there is no table of {variant} {class} in {}; `surakarta tablebase build --variant {variant} --pieces {} --out {}` makes it", folder.display(), class.pieces(), folder.display())]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// The variant.
        variant: Variant,
        /// The class.
        class: Class,
    },
    /// More plies than a code holds.
    #[error(
        "class {class} has captures that take more than {} plies to force, which tables cannot hold",
        Code::MOST_PLIES
    )]
    TooLong {
        /// The class.
        class: Class,
    },
}

/// The name of the file of a class.
pub(crate) fn file_name(variant: Variant, class: Class) -> String {
    format!("{variant}.{class}.table")
}

/// Writes a solved class, whole or not at all.
pub(crate) fn write(path: &Path, solved: &Solved) -> Result<(), TableError> {
    write_atomically(path, &pack(solved)).map_err(|source| TableError::Io {
        path: path.to_owned(),
        action: "write",
        source,
    })
}

fn pack(solved: &Solved) -> Vec<u8> {
    let palette = palette(&solved.codes);
    let mut place = [0u8; 256];
    for (n, code) in palette.iter().enumerate() {
        place[code.0 as usize] = n as u8;
    }
    let places = |block: &[Code]| -> [u8; BLOCK] {
        let mut places = [0; BLOCK];
        for (to, code) in places.iter_mut().zip(block) {
            *to = place[code.0 as usize];
        }
        places
    };
    let class = solved.class();
    let mut bytes = Vec::from(MAGIC);
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend([solved.index.variant() as u8, class.own, class.enemy, 0]);
    bytes.extend((solved.codes.len() as u64).to_le_bytes());
    bytes.extend(palette.iter().map(|code| code.0));
    bytes.resize(STARTS, 0);
    let mut start = 0u32;
    for block in solved.codes.chunks(BLOCK) {
        bytes.extend(start.to_le_bytes());
        start += width(&places(block)) as u32;
    }
    bytes.extend(start.to_le_bytes());
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.reserve(8 * start as usize + CHECKSUM);
    for block in solved.codes.chunks(BLOCK) {
        let places = places(block);
        for bit in 0..width(&places) {
            let word = places.iter().rev().fold(0, |word, &p| word << 1 | (p >> bit & 1) as u64);
            bytes.extend(word.to_le_bytes());
        }
    }
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// The codes that occur, the most frequent first.
fn palette(codes: &[Code]) -> Vec<Code> {
    let mut counts = [0u64; 256];
    for code in codes {
        counts[code.0 as usize] += 1;
    }
    let mut palette: Vec<Code> =
        (0..=255).map(Code).filter(|code| counts[code.0 as usize] > 0).collect();
    palette.sort_by_key(|code| std::cmp::Reverse(counts[code.0 as usize]));
    palette
}

/// Bits of the largest.
fn width(places: &[u8; BLOCK]) -> usize {
    let all = places.iter().fold(0, |all, place| all | place);
    (u8::BITS - all.leading_zeros()) as usize
}

/// The table of a class, in memory as far as it is used.
#[derive(Debug)]
pub(crate) struct Table {
    map: Mmap,
    variant: Variant,
    class: Class,
    positions: usize,
    /// Where the blocks begin in the file.
    words: usize,
    /// Made when the first position is looked up.
    index: OnceLock<Index>,
}

impl Table {
    /// Opens a file and checks all of it.
    pub(crate) fn open(path: &Path) -> Result<Table, TableError> {
        let io =
            |source| TableError::Io { path: path.to_owned(), action: "read the table", source };
        let damaged = |what| TableError::Damaged { path: path.to_owned(), what };
        // Before it is opened, which would wait for the other end of a pipe.
        if !std::fs::metadata(path).map_err(io)?.is_file() {
            return Err(TableError::NotATable { path: path.to_owned() });
        }
        let file = File::open(path).map_err(io)?;
        // SAFETY: tables are replaced by renaming, so a mapped one does not change unless someone
        // writes into it by hand.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        if !map.starts_with(MAGIC) {
            return Err(TableError::NotATable { path: path.to_owned() });
        }
        let Some(head) = map.get(..STARTS) else { return Err(damaged("it is cut short")) };
        let version = u32::from_le_bytes(head[8..12].try_into().expect("4 bytes"));
        if version != FORMAT_VERSION {
            return Err(TableError::Version { path: path.to_owned(), version });
        }
        let [variant, own, enemy, zero] = head[12..16].try_into().expect("4 bytes");
        let positions = u64::from_le_bytes(head[16..24].try_into().expect("8 bytes"));
        // The numbers of the largest class fit.
        let positions = u32::try_from(positions).unwrap_or(u32::MAX) as usize;
        let (rest, sum) =
            map.split_last_chunk::<CHECKSUM>().ok_or_else(|| damaged("it is cut short"))?;
        if xxh3_64(rest) != u64::from_le_bytes(*sum) {
            return Err(damaged("its checksum does not fit its contents"));
        }
        // A file that no accident has made can still be nonsense.
        let variant = Variant::ALL.into_iter().find(|&known| known as u8 == variant);
        let class = Class { own, enemy };
        let blocks = positions.div_ceil(BLOCK);
        let words = (STARTS + 4 * (blocks + 1)).next_multiple_of(8);
        let end = rest.len();
        let (Some(variant), true) = (variant, Class::up_to(crate::MAX_PIECES).any(|c| c == class))
        else {
            return Err(damaged("it names no variant or class"));
        };
        if zero != 0 || positions as u64 != crate::positions(variant, class) {
            return Err(damaged("it does not hold as many positions as its class has"));
        }
        let name = file_name(variant, class);
        if path.file_name().is_none_or(|given| given != &name[..]) {
            return Err(TableError::Misnamed { path: path.to_owned(), name });
        }
        let table = Table { variant, class, positions, words, index: OnceLock::new(), map };
        let fits = words <= end
            && table.start(0) == 0
            && (0..blocks)
                .all(|n| (table.start(n)..=table.start(n) + 8).contains(&table.start(n + 1)))
            && words + 8 * table.start(blocks) == end;
        if !fits {
            return Err(damaged("its blocks do not fill it"));
        }
        Ok(table)
    }

    pub(crate) fn variant(&self) -> Variant {
        self.variant
    }

    pub(crate) fn class(&self) -> Class {
        self.class
    }

    /// The checksum of all of it.
    pub(crate) fn checksum(&self) -> u64 {
        self.map.last_chunk::<CHECKSUM>().map_or(0, |sum| u64::from_le_bytes(*sum))
    }

    /// Bytes of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(self.variant, self.class))
    }

    pub(crate) fn positions(&self) -> usize {
        self.positions
    }

    /// The most plies until a capture is forced.
    pub(crate) fn longest(&self) -> u8 {
        self.map[PALETTE..STARTS].iter().map(|&code| Code(code).plies()).max().unwrap_or(0)
    }

    /// What the table says of a position of its class and variant.
    pub(crate) fn entry(&self, position: &Position) -> Entry {
        self.code(self.index().number(position)).entry(self.class)
    }

    #[inline]
    pub(crate) fn code(&self, number: usize) -> Code {
        let (block, bit) = (number / BLOCK, number % BLOCK);
        let (start, end) = (self.start(block), self.start(block + 1));
        let words = &self.map[self.words + 8 * start..self.words + 8 * end];
        let place = words.chunks_exact(8).rev().fold(0, |place, word| {
            let word = u64::from_le_bytes(word.try_into().expect("8 bytes"));
            place << 1 | (word >> bit & 1) as usize
        });
        Code(self.map[PALETTE + place % 256])
    }

    /// The first word of a block.
    #[inline]
    fn start(&self, block: usize) -> usize {
        let at = STARTS + 4 * block;
        u32::from_le_bytes(self.map[at..at + 4].try_into().expect("4 bytes")) as usize
    }

    /// Every code.
    pub(crate) fn unpack(&self) -> Solved {
        let codes = (0..self.positions).into_par_iter().map(|number| self.code(number)).collect();
        Solved { index: Index::new(self.variant, self.class), codes }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A class with codes that are drawn: many of some, few of others, and blocks of one alone.
    fn drawn(class: Class, seed: u64) -> Solved {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let index = Index::new(Variant::Standard, class);
        let most: u32 = random.random_range(1..=256);
        let mut spread = 1;
        let codes = (0..index.len()).map(|number| {
            if number % BLOCK == 0 {
                spread = random.random_range(1..=most);
            }
            Code(random.random_range(0..spread) as u8)
        });
        let codes = codes.collect();
        Solved { index, codes }
    }

    #[test]
    fn codes_come_back_from_the_file() {
        let folder = tempfile::tempdir().unwrap();
        for (seed, class) in (0..7).flat_map(|_| Class::up_to(4)).enumerate() {
            let solved = drawn(class, seed as u64);
            let path = folder.path().join(file_name(Variant::Standard, class));
            write(&path, &solved).unwrap();
            let table = Table::open(&path).unwrap();
            assert_eq!((table.class(), table.variant()), (class, Variant::Standard));
            assert!(table.unpack().codes == solved.codes, "{class}, seed {seed}");
            let longest = solved.codes.iter().map(|code| code.plies()).max();
            assert_eq!(Some(table.longest()), longest);
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("standard.1-1.table");
        let whole = pack(&drawn(Class { own: 1, enemy: 1 }, 1));
        let open = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Table::open(&path)
        };
        assert!(open(&whole).is_ok());
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let error = open(&bytes).unwrap_err();
            let expected = match bit / 8 {
                0..8 => matches!(error, TableError::NotATable { .. }),
                8..12 => matches!(error, TableError::Version { .. }),
                _ => matches!(error, TableError::Damaged { .. }),
            };
            assert!(expected, "bit {bit}: {error}");
        }
        for length in 0..whole.len() {
            let error = open(&whole[..length]).unwrap_err();
            assert!(error.to_string().contains("standard.1-1.table"), "{error}");
        }
        assert!(open(&[&whole[..], &[0]].concat()).is_err());
    }

    #[test]
    fn nonsense_with_the_right_checksum_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("standard.1-2.table");
        let whole = pack(&drawn(Class { own: 1, enemy: 2 }, 3));
        // Variant, class, positions, and where the blocks begin.
        for (at, byte) in
            [(12, 9), (13, 0), (14, 8), (15, 1), (16, 1), (23, 255), (STARTS, 1), (STARTS + 7, 1)]
        {
            let mut bytes = whole.clone();
            assert_ne!(bytes[at], byte);
            bytes[at] = byte;
            let end = bytes.len() - CHECKSUM;
            let sum = xxh3_64(&bytes[..end]).to_le_bytes();
            bytes[end..].copy_from_slice(&sum);
            std::fs::write(&path, bytes).unwrap();
            let refused = Table::open(&path);
            assert!(matches!(refused, Err(TableError::Damaged { .. })), "byte {at}: {refused:?}");
        }
    }
}
