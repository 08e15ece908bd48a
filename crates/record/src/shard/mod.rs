//! Shards: files of whole games, the unit of work of a run.
//!
//! A shard holds the games of a fixed range of numbers, and states outside games with a value to
//! learn. It appears under its name whole or not at all, the same games and header always make the
//! same bytes, and every byte is covered by a checksum or by the structure, so that a flipped bit or
//! a missing end is found and its place named.
//!
//! # Layout
//!
//! Integers are little-endian. A *varint* has seven bits a byte, the lowest first; the high bit says
//! that more follow. A *chunk* is a varint and as many bytes. Checksums are xxh3-64, seed 0.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 8 | magic `SKSHARD\n` |
//! | 8 | 4 | format version, 1 |
//! | 12 | 4 | H, length of the header |
//! | 16 | H | header: [`ShardHeader`] as JSON, rules and variant as their names |
//! | 16 + H | 8 | checksum of all bytes before it |
//! | 24 + H | | blocks of games, one after another, then blocks of states |
//! | I | 4 + 4 | number of blocks of games, G; of states, S |
//! | I + 8 | 28 (G + S) | the index: an entry for each block, in order |
//! | end − 24 | 8 | I |
//! | end − 16 | 8 | checksum of the header's checksum, the index from I on, and I |
//! | end − 8 | 8 | magic `SKS-END\n` |
//!
//! The blocks fill the space between header and index exactly. An index entry is
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 4 | bytes of the block in the file: one zstd frame |
//! | 4 | 4 | bytes of the block unpacked, at most 2²⁶ |
//! | 8 | 4 | games, or states |
//! | 12 | 4 | plies of these games; 0 for states |
//! | 16 | 4 | plies among them that are [samples](crate::PlyRecord::is_sample); 0 for states |
//! | 20 | 8 | checksum of the block as it lies in the file |
//!
//! Unpacked, a block is one chunk for each game (or state), nothing between. Game *k* of the shard has
//! the number `first_game` + *k*. A game is
//!
//! | bytes | |
//! |---|---|
//! | chunk | the start in its one-line notation; empty for the start of the variant |
//! | 1 | ending, by its number: `captured-all` 0, … `crash` 11 |
//! | 1 | outcome: 0 draw, 1 Black has won, 2 White |
//! | varint | number of plies |
//! | … | the plies |
//!
//! and a ply, with *n* legal moves before it, ordered by start, then target (a1, b1, … f6; ending rules
//! and repetition do not count):
//!
//! | bytes | |
//! |---|---|
//! | 1 | bits 0–1 kind of search: opening 0, fast 1, full 2; bits 2–3 kind of policy: none 0, visits 1, improved 2; bit 4: there is a value; bits 5–7 are 0 |
//! | varint | the move, by its place in that order |
//! | 0 or 2 | value of the root in 1/32767, signed |
//! | varint | simulations; where the policy is visits, what they exceed the sum of visits by, zigzag (0, −1, 1, −2, … are 0, 1, 2, 3, …) |
//! | 0, *n* varints or *n* | nothing, visits of each move, or its share in 1/255 |
//!
//! Where games have been taken out of shards or brought together, the header's setting `numbers` keeps what
//! they were called before, in their order: `0-12,14,130-141`.
//!
//! The simulations that were asked for, temperature and noise of a ply are in no byte: they follow from the
//! header's settings, as `surakarta_selfplay::Manner` documents.
//!
//! A state is two bytes of value, as above and seen by the side to move, and its one-line notation.
//!
//! ```
//! use surakarta_game::{Game, OLYMPIAD};
//! use surakarta_record::{GameRecord, PlyRecord, Policy, SearchKind, Shard, ShardHeader};
//! use surakarta_record::{shard_name, write_shard};
//!
//! let mut game = Game::new(OLYMPIAD);
//! while game.result().is_none() {
//!     game.play(game.legal_moves()[0])?;
//! }
//! let opening = |&mv| PlyRecord::new(mv, SearchKind::Opening, 0, None, Policy::None);
//! let record = GameRecord::of(&game, 7, game.moves().iter().map(opening).collect());
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join(shard_name(0, 7));
//! let header = ShardHeader { first_game: 7, games: 1, ..ShardHeader::default() };
//! write_shard(&path, &header, &[record.clone()])?;
//! assert_eq!(Shard::read(&path)?.games, [record]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod header;
mod index;
mod list;
mod name;
mod read;
mod write;

pub use error::{Place, ShardError};
pub use header::ShardHeader;
pub use list::{Catalogue, ShardInfo, newest_first, root_of};
pub use name::{list_shards, parse_shard_name, shard_name};
pub use read::{Games, Shard, ShardReader, verify};
pub use write::{write_shard, write_shard_with_states};

use surakarta_game::Position;

/// The version of the layout that this program writes, the only one that it reads.
pub const FORMAT_VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"SKSHARD\n";
const END_MAGIC: [u8; 8] = *b"SKS-END\n";
/// Magic, version, length of the header.
const PREFIX_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 8;
/// Place of the index, checksum, magic.
const FOOTER_BYTES: usize = 24;
/// What a block may unpack to: a false number reserves no more.
const MOST_BLOCK_BYTES: usize = 1 << 26;
/// What a header may take.
const MOST_HEADER_BYTES: usize = 1 << 24;

/// A position outside games whose value is to be learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The position.
    pub position: Position,
    /// Its value in [−1, 1], seen by the side to move; kept to 1/32767.
    pub value: f32,
}

use xxhash_rust::xxh3::xxh3_64 as checksum;
