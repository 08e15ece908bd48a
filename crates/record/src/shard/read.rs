use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::index::{Block, Index, word};
use super::{
    CHECKSUM_BYTES, END_MAGIC, FOOTER_BYTES, FORMAT_VERSION, MAGIC, MOST_HEADER_BYTES,
    PREFIX_BYTES, Place, ShardError, ShardHeader, State, checksum,
};
use crate::codec::{Bytes, Reason, decode_game, decode_state};
use crate::game::GameRecord;

/// A whole shard in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Shard {
    /// What made it.
    pub header: ShardHeader,
    /// Its games.
    pub games: Vec<GameRecord>,
    /// States outside games.
    pub states: Vec<State>,
}

impl Shard {
    /// Reads a shard whole.
    ///
    /// # Errors
    /// If any part of it is damaged.
    pub fn read(path: &Path) -> Result<Shard, ShardError> {
        let mut reader = ShardReader::open(path)?;
        let games = reader.games().collect::<Result<_, _>>()?;
        let states = reader.states()?;
        Ok(Shard { header: reader.header, games, states })
    }
}

/// Reads every byte of a shard and plays its games again under its rules.
///
/// # Errors
/// The first damage, or the first game that breaks the rules.
pub fn verify(path: &Path) -> Result<ShardHeader, ShardError> {
    let mut reader = ShardReader::open(path)?;
    let rules = reader.header.rules;
    for game in reader.games() {
        let game = game?;
        game.replay(rules).map_err(|error| ShardError::AgainstTheRules {
            path: path.to_owned(),
            game: game.number,
            reason: error.to_string(),
        })?;
    }
    reader.states()?;
    Ok(reader.header)
}

/// An open shard: header and index are checked and in memory, games are read as they are asked for.
#[derive(Debug)]
pub struct ShardReader {
    path: PathBuf,
    file: File,
    bytes: u64,
    header: ShardHeader,
    index: Index,
    root: u64,
}

impl ShardReader {
    /// Opens a shard, and checks everything in it but the blocks, which are checked as they are read.
    ///
    /// # Errors
    /// If the file cannot be read, is no shard or one of another version, is cut short or damaged.
    pub fn open(path: &Path) -> Result<ShardReader, ShardError> {
        let io =
            |source| ShardError::Io { path: path.to_owned(), action: "open the shard", source };
        let file = File::open(path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        let mut reader = ShardReader {
            path: path.to_owned(),
            file,
            bytes,
            header: ShardHeader::default(),
            index: Index::default(),
            root: 0,
        };
        let (first, header_sum) = reader.read_header()?;
        reader.read_index(first, header_sum)?;
        Ok(reader)
    }

    /// Where the blocks begin, and the header's checksum.
    fn read_header(&mut self) -> Result<(u64, [u8; CHECKSUM_BYTES]), ShardError> {
        let mut start = self.read_at(0, (PREFIX_BYTES as u64).min(self.bytes))?;
        let magic = &start[..start.len().min(MAGIC.len())];
        if !MAGIC.starts_with(magic) {
            return Err(ShardError::NotAShard { path: self.path.clone() });
        }
        if start.len() < PREFIX_BYTES {
            return Err(self.truncated());
        }
        let version = u32::from_le_bytes(word(&start, 8));
        if version != FORMAT_VERSION {
            return Err(ShardError::Version { path: self.path.clone(), version });
        }
        let length = u32::from_le_bytes(word(&start, 12)) as usize;
        let damaged = || self.damaged(Place::Header);
        if length > MOST_HEADER_BYTES {
            return Err(damaged());
        }
        let first = (PREFIX_BYTES + length + CHECKSUM_BYTES) as u64;
        if first + FOOTER_BYTES as u64 > self.bytes {
            return Err(self.truncated());
        }
        start.extend(self.read_at(PREFIX_BYTES as u64, first - PREFIX_BYTES as u64)?);
        let sum = start.split_off(PREFIX_BYTES + length);
        let sum = word(&sum, 0);
        if checksum(&start) != u64::from_le_bytes(sum) {
            return Err(self.damaged(Place::Header));
        }
        self.header = serde_json::from_slice(&start[PREFIX_BYTES..])
            .map_err(|error| self.malformed(Place::Header, error.to_string()))?;
        Ok((first, sum))
    }

    fn read_index(&mut self, first: u64, header_sum: [u8; 8]) -> Result<(), ShardError> {
        let end = self.bytes - FOOTER_BYTES as u64;
        let footer = self.read_at(end, FOOTER_BYTES as u64)?;
        if footer[16..] != END_MAGIC {
            return Err(self.truncated());
        }
        let place: [u8; 8] = word(&footer, 0);
        let at = u64::from_le_bytes(place);
        if at < first || at > end {
            return Err(self.damaged(Place::Index));
        }
        let bytes = self.read_at(at, end - at)?;
        self.root = checksum(&[&header_sum, &bytes[..], &place].concat());
        if self.root != u64::from_le_bytes(word(&footer, 8)) {
            return Err(self.damaged(Place::Index));
        }
        self.index = Index::decode(&bytes, first, at)
            .map_err(|reason| self.malformed(Place::Index, reason.to_owned()))?;
        if sum(&self.index.games, |block| block.items) != self.header.games
            || self.header.first_game.checked_add(self.header.games).is_none()
        {
            let reason = format!("the header counts {} games otherwise", self.header.games);
            return Err(self.malformed(Place::Index, reason));
        }
        Ok(())
    }

    /// What made the shard.
    pub fn header(&self) -> &ShardHeader {
        &self.header
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A checksum of everything in the shard: shards with the same one have the same content.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// Plies of all games.
    pub fn plies(&self) -> u64 {
        sum(&self.index.games, |block| block.plies)
    }

    /// Plies that are [samples](crate::PlyRecord::is_sample).
    pub fn samples(&self) -> u64 {
        sum(&self.index.games, |block| block.samples)
    }

    /// The game at a place, 0 the first; only its block is read.
    ///
    /// # Errors
    /// If there is no such game or its block is damaged.
    pub fn game(&mut self, place: u64) -> Result<GameRecord, ShardError> {
        let mut first = 0;
        for number in 0..self.index.games.len() {
            let items = self.index.games[number].items as u64;
            if place < first + items {
                let bytes = self.unpack(Place::Games(number))?;
                let (variant, game) = (self.header.variant, self.header.first_game + place);
                let mut chunks = Bytes(&bytes);
                let mut decode = || {
                    for _ in first..place {
                        chunks.chunk()?;
                    }
                    decode_game(chunks.chunk()?, variant, game)
                };
                return decode().map_err(|reason| self.malformed(Place::Games(number), reason));
            }
            first += items;
        }
        let games = self.header.games;
        Err(ShardError::NoSuchGame { path: self.path.clone(), place, games })
    }

    /// The games in order, a block of them in memory at a time. Ends after the first error.
    pub fn games(&mut self) -> Games<'_> {
        let next = self.header.first_game;
        Games { reader: self, block: 0, next, games: Vec::new().into_iter() }
    }

    /// How many blocks of games there are.
    pub fn blocks(&self) -> usize {
        self.index.games.len()
    }

    /// The place of the first game of a block, 0 the first; without such a block the number of games.
    pub fn first_of_block(&self, block: usize) -> u64 {
        sum(&self.index.games[..block.min(self.blocks())], |block| block.items)
    }

    /// The games of a block, which are as many as fit into memory at ease.
    ///
    /// # Errors
    /// If it is damaged.
    ///
    /// # Panics
    /// If there is no such [block](Self::blocks).
    pub fn games_of_block(&mut self, block: usize) -> Result<Vec<GameRecord>, ShardError> {
        self.games_of(block, self.header.first_game + self.first_of_block(block))
    }

    /// The states outside games.
    ///
    /// # Errors
    /// If one of their blocks is damaged.
    pub fn states(&mut self) -> Result<Vec<State>, ShardError> {
        let variant = self.header.variant;
        let mut states = Vec::new();
        for number in 0..self.index.states.len() {
            let place = Place::States(number);
            states.extend(self.decode_block(place, |bytes, _| decode_state(bytes, variant))?);
        }
        Ok(states)
    }

    /// The games of a block, the first of which has this number.
    fn games_of(&mut self, number: usize, first: u64) -> Result<Vec<GameRecord>, ShardError> {
        let (place, variant) = (Place::Games(number), self.header.variant);
        let games =
            self.decode_block(place, |bytes, item| decode_game(bytes, variant, first + item))?;
        let block = self.index.games[number];
        let plies = || games.iter().flat_map(|game| &game.plies);
        if plies().count() != block.plies as usize
            || plies().filter(|ply| ply.is_sample()).count() != block.samples as usize
        {
            return Err(self.malformed(place, "the index counts its plies otherwise".into()));
        }
        Ok(games)
    }

    fn decode_block<T>(
        &mut self,
        place: Place,
        mut decode: impl FnMut(&[u8], u64) -> Result<T, Reason>,
    ) -> Result<Vec<T>, ShardError> {
        let bytes = self.unpack(place)?;
        let items = self.block(place).items as u64;
        let mut chunks = Bytes(&bytes);
        let mut decoded = Vec::new();
        for item in 0..items {
            let one = chunks.chunk().and_then(|chunk| decode(chunk, item));
            decoded.push(one.map_err(|reason| self.malformed(place, reason))?);
        }
        if !chunks.0.is_empty() {
            return Err(self.malformed(place, "bytes are left over".into()));
        }
        Ok(decoded)
    }

    fn unpack(&mut self, place: Place) -> Result<Vec<u8>, ShardError> {
        let block = self.block(place);
        let packed = self.read_at(block.offset, block.stored as u64)?;
        if checksum(&packed) != block.checksum {
            return Err(self.damaged(place));
        }
        let bytes = zstd::bulk::decompress(&packed, block.unpacked as usize)
            .map_err(|error| self.malformed(place, error.to_string()))?;
        if bytes.len() != block.unpacked as usize {
            return Err(self.malformed(place, "its unpacked length is another".into()));
        }
        Ok(bytes)
    }

    fn block(&self, place: Place) -> Block {
        match place {
            Place::Games(number) => self.index.games[number],
            Place::States(number) => self.index.states[number],
            Place::Header | Place::Index => unreachable!("not a block"),
        }
    }

    fn read_at(&mut self, at: u64, length: u64) -> Result<Vec<u8>, ShardError> {
        let mut bytes = vec![0; length as usize];
        let read = self.file.seek(SeekFrom::Start(at));
        match read.and_then(|_| self.file.read_exact(&mut bytes)) {
            Ok(()) => Ok(bytes),
            // The file was longer when it was opened.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(self.truncated()),
            Err(source) => {
                Err(ShardError::Io { path: self.path.clone(), action: "read the shard", source })
            }
        }
    }

    fn truncated(&self) -> ShardError {
        ShardError::Truncated { path: self.path.clone() }
    }

    fn damaged(&self, place: Place) -> ShardError {
        ShardError::Damaged { path: self.path.clone(), place }
    }

    fn malformed(&self, place: Place, reason: String) -> ShardError {
        ShardError::Malformed { path: self.path.clone(), place, reason }
    }
}

fn sum(blocks: &[Block], count: impl Fn(&Block) -> u32) -> u64 {
    blocks.iter().map(|block| count(block) as u64).sum()
}

/// The games of a shard in order: see [`ShardReader::games`].
#[derive(Debug)]
pub struct Games<'a> {
    reader: &'a mut ShardReader,
    block: usize,
    /// Number of the first game of that block.
    next: u64,
    games: std::vec::IntoIter<GameRecord>,
}

impl Iterator for Games<'_> {
    type Item = Result<GameRecord, ShardError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(game) = self.games.next() {
                return Some(Ok(game));
            }
            if self.block >= self.reader.index.games.len() {
                return None;
            }
            match self.reader.games_of(self.block, self.next) {
                Ok(games) => {
                    self.block += 1;
                    self.next += games.len() as u64;
                    self.games = games.into_iter();
                }
                Err(error) => {
                    self.block = usize::MAX;
                    return Some(Err(error));
                }
            }
        }
    }
}
