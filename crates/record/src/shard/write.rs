use std::path::Path;

use super::index::{Block, Index};
use super::{
    END_MAGIC, FORMAT_VERSION, MAGIC, MOST_BLOCK_BYTES, MOST_HEADER_BYTES, ShardError, ShardHeader,
    State, checksum,
};
use crate::codec::{Reason, encode_game, encode_state, push_chunk};
use crate::file::write_atomically;
use crate::game::GameRecord;

/// A block is closed at this many games or states, or at this many bytes.
const BLOCK_GAMES: u32 = 64;
const BLOCK_STATES: u32 = 4096;
const BLOCK_BYTES: usize = 1 << 18;

/// Higher levels take several times as long for a percent or two.
const ZSTD_LEVEL: i32 = 9;

/// Writes the games as a shard, whole or not at all; what stood under the name before is replaced.
/// Policies come back in the [canonical form](crate::PlyRecord::canonical) of their plies.
///
/// # Errors
/// If the header does not describe the games, a game breaks the header's rules or cannot be kept (a
/// value that is no number, a policy with an illegal move), or the system refuses.
pub fn write_shard(
    path: &Path,
    header: &ShardHeader,
    games: &[GameRecord],
) -> Result<(), ShardError> {
    write_shard_with_states(path, header, games, &[])
}

/// Writes games and states outside games as a shard: see [`write_shard`].
///
/// # Errors
/// As [`write_shard`].
pub fn write_shard_with_states(
    path: &Path,
    header: &ShardHeader,
    games: &[GameRecord],
    states: &[State],
) -> Result<(), ShardError> {
    let unfit = |reason| ShardError::Unfit { path: path.to_owned(), reason };
    let bytes = shard_bytes(header, games, states).map_err(unfit)?;
    write_atomically(path, &bytes).map_err(|source| ShardError::Io {
        path: path.to_owned(),
        action: "write the shard",
        source,
    })
}

/// The whole file.
fn shard_bytes(
    header: &ShardHeader,
    games: &[GameRecord],
    states: &[State],
) -> Result<Vec<u8>, Reason> {
    check(header, games, states)?;
    let json = serde_json::to_vec(header).map_err(|error| error.to_string())?;
    if json.len() > MOST_HEADER_BYTES {
        return Err("its header is too large".into());
    }
    let mut out = Vec::new();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    out.extend_from_slice(&(json.len() as u32).to_le_bytes());
    out.extend_from_slice(&json);
    let header_sum = checksum(&out).to_le_bytes();
    out.extend_from_slice(&header_sum);

    let mut packer = Packer::new(out, BLOCK_GAMES);
    for game in games {
        let samples = game.plies.iter().filter(|ply| ply.is_sample()).count();
        packer
            .push([game.plies.len(), samples], |out| encode_game(game, out))
            .map_err(|reason| format!("in game {}, {reason}", game.number))?;
    }
    let (out, games) = packer.finish()?;
    let mut packer = Packer::new(out, BLOCK_STATES);
    for state in states {
        packer.push([0, 0], |out| encode_state(state, out))?;
    }
    let (mut out, states) = packer.finish()?;

    let place = (out.len() as u64).to_le_bytes();
    let index = Index { games, states }.encode();
    let sum = checksum(&[&header_sum, &index[..], &place].concat());
    out.extend_from_slice(&index);
    out.extend_from_slice(&place);
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(&END_MAGIC);
    Ok(out)
}

fn check(header: &ShardHeader, games: &[GameRecord], states: &[State]) -> Result<(), Reason> {
    if header.rules.to_string().parse() != Ok(header.rules) {
        return Err(format!("the rules differ from what their name {} says", header.rules));
    }
    if header.games != games.len() as u64 {
        return Err(format!("its header names {} games, not {}", header.games, games.len()));
    }
    let foreign = |variant| format!("a position is one of {variant}, not {}", header.variant);
    for (k, game) in games.iter().enumerate() {
        if Some(game.number) != header.first_game.checked_add(k as u64) {
            return Err(format!(
                "at place {k} after game {} stands game {}",
                header.first_game, game.number
            ));
        }
        if game.start.variant() != header.variant {
            return Err(foreign(game.start.variant()));
        }
        game.replay(header.rules).map_err(|error| format!("in game {}, {error}", game.number))?;
    }
    match states.iter().find(|state| state.position.variant() != header.variant) {
        Some(state) => Err(foreign(state.position.variant())),
        None => Ok(()),
    }
}

/// Gathers items in blocks and packs these at the end of a file.
struct Packer {
    out: Vec<u8>,
    blocks: Vec<Block>,
    most_items: u32,
    /// The open block and its bytes so far.
    block: Block,
    bytes: Vec<u8>,
    item: Vec<u8>,
}

impl Packer {
    fn new(out: Vec<u8>, most_items: u32) -> Packer {
        Packer {
            out,
            blocks: Vec::new(),
            most_items,
            block: Block::default(),
            bytes: Vec::new(),
            item: Vec::new(),
        }
    }

    fn push(
        &mut self,
        [plies, samples]: [usize; 2],
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        self.item.clear();
        encode(&mut self.item)?;
        push_chunk(&self.item, &mut self.bytes);
        if self.bytes.len() > MOST_BLOCK_BYTES {
            return Err("it is too long".into());
        }
        // A ply takes three bytes: the sums stay far below the limit of their type.
        self.block.items += 1;
        self.block.plies += plies as u32;
        self.block.samples += samples as u32;
        if self.block.items >= self.most_items || self.bytes.len() >= BLOCK_BYTES {
            self.close()?;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Reason> {
        let packed =
            zstd::bulk::compress(&self.bytes, ZSTD_LEVEL).map_err(|error| error.to_string())?;
        self.blocks.push(Block {
            offset: self.out.len() as u64,
            stored: packed.len() as u32,
            unpacked: self.bytes.len() as u32,
            checksum: checksum(&packed),
            ..self.block
        });
        self.out.extend_from_slice(&packed);
        self.block = Block::default();
        self.bytes.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<(Vec<u8>, Vec<Block>), Reason> {
        if self.block.items > 0 {
            self.close()?;
        }
        Ok((self.out, self.blocks))
    }
}
