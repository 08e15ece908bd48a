use super::{CHECKSUM_BYTES, MOST_BLOCK_BYTES};

/// What the index says of one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// Where it begins; follows from the blocks before it.
    pub(crate) offset: u64,
    pub(crate) stored: u32,
    pub(crate) unpacked: u32,
    pub(crate) items: u32,
    pub(crate) plies: u32,
    pub(crate) samples: u32,
    pub(crate) checksum: u64,
}

const ENTRY_BYTES: usize = 28;
const COUNT_BYTES: usize = 8;

/// Where everything in a shard is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) games: Vec<Block>,
    pub(crate) states: Vec<Block>,
}

impl Index {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&(self.games.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.states.len() as u32).to_le_bytes());
        for block in self.games.iter().chain(&self.states) {
            for n in [block.stored, block.unpacked, block.items, block.plies, block.samples] {
                out.extend_from_slice(&n.to_le_bytes());
            }
            out.extend_from_slice(&block.checksum.to_le_bytes());
        }
        out
    }

    /// Reads an index of blocks that fill the file from `first` to `end`.
    pub(crate) fn decode(bytes: &[u8], first: u64, end: u64) -> Result<Index, &'static str> {
        let (counts, entries) = bytes.split_at_checked(COUNT_BYTES).ok_or("it is too short")?;
        let games = u32::from_le_bytes(word(counts, 0)) as u64;
        let states = u32::from_le_bytes(word(counts, 4)) as u64;
        if (games + states) * ENTRY_BYTES as u64 != entries.len() as u64 {
            return Err("the number of blocks does not fit its length");
        }
        let mut offset = first;
        let mut blocks = Vec::with_capacity(entries.len() / ENTRY_BYTES);
        for entry in entries.chunks_exact(ENTRY_BYTES) {
            let number = |place: usize| u32::from_le_bytes(word(entry, 4 * place));
            let block = Block {
                offset,
                stored: number(0),
                unpacked: number(1),
                items: number(2),
                plies: number(3),
                samples: number(4),
                checksum: u64::from_le_bytes(word(entry, ENTRY_BYTES - CHECKSUM_BYTES)),
            };
            if block.unpacked as usize > MOST_BLOCK_BYTES {
                return Err("a block is too large");
            }
            offset += block.stored as u64;
            blocks.push(block);
        }
        if offset != end {
            return Err("the blocks do not fill the space before it");
        }
        let states = blocks.split_off(games as usize);
        Ok(Index { games: blocks, states })
    }
}

/// The bytes of a number in a slice that is long enough.
pub(super) fn word<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut word = [0; N];
    word.copy_from_slice(&bytes[at..at + N]);
    word
}
