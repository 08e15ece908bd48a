//! The samples of one shard, packed.

use std::path::PathBuf;

use surakarta_game::{Move, Outcome, Position, Variant};

use crate::codec::{Bytes, decode_policy, encode_policy, ordered_moves};
use crate::game::{GameRecord, Policy, dequantise, quantise};
use crate::sample::{Sample, future, margin, pieces_ahead};
use crate::shard::{ShardError, ShardReader};

/// The samples of one shard. What several samples of a game share is kept once.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) root: u64,
    /// Those that batches draw from.
    pub(super) samples: Vec<Packed>,
    /// Those of the games that are held out.
    pub(super) held_out: Vec<Packed>,
    /// One after another: kind, then as in shards.
    policies: Vec<u8>,
    /// All plies of all games, one after another.
    plies: Vec<Ply>,
    games: Vec<Ended>,
}

#[derive(Debug)]
pub(super) struct Packed {
    position: Position,
    /// Place of its policy.
    policy: u32,
    /// Number of its ply.
    ply: u32,
}

#[derive(Debug)]
struct Ply {
    mv: Move,
    /// In 1/32767, or [`NO_VALUE`].
    value: i16,
}

const NO_VALUE: i16 = i16::MIN;

/// How a game ended.
#[derive(Debug)]
struct Ended {
    /// Number of the first ply after it.
    end: u32,
    outcome: Outcome,
    last: Position,
}

impl Part {
    /// The samples of a shard; a share of its games is held out.
    pub(super) fn read(reader: &mut ShardReader, held_out: f64) -> Result<Part, ShardError> {
        let mut part = Part {
            path: reader.path().to_owned(),
            root: reader.root(),
            samples: Vec::new(),
            held_out: Vec::new(),
            policies: Vec::new(),
            plies: Vec::new(),
            games: Vec::new(),
        };
        for game in reader.games() {
            let game = game?;
            let out = is_held_out(&game, held_out);
            part.push(&game, out);
        }
        part.samples.shrink_to_fit();
        part.held_out.shrink_to_fit();
        part.policies.shrink_to_fit();
        part.plies.shrink_to_fit();
        part.games.shrink_to_fit();
        Ok(part)
    }

    fn push(&mut self, game: &GameRecord, held_out: bool) {
        let place = |place: usize| u32::try_from(place).expect("a shard below 4 GiB");
        let mut moves = Vec::with_capacity(64);
        for (position, ply) in game.positions().zip(&game.plies) {
            if ply.is_sample() {
                ordered_moves(&position, &mut moves);
                let kind = self.policies.len();
                self.policies.push(0);
                self.policies[kind] = encode_policy(&ply.policy, &moves, &mut self.policies)
                    .expect("a policy that came from a shard");
                let samples = if held_out { &mut self.held_out } else { &mut self.samples };
                samples.push(Packed {
                    position,
                    policy: place(kind),
                    ply: place(self.plies.len()),
                });
            }
            self.plies.push(Ply { mv: ply.mv, value: ply.value.map_or(NO_VALUE, quantise) });
        }
        self.games.push(Ended {
            end: place(self.plies.len()),
            outcome: game.result.outcome,
            last: game.last_position(),
        });
    }

    /// A sample of a list of this part's.
    pub(super) fn sample(&self, list: &[Packed], index: usize) -> Sample {
        let packed = &list[index];
        let ply = packed.ply as usize;
        let game = &self.games[self.games.partition_point(|game| game.end as usize <= ply)];
        let plies = &self.plies[ply..game.end as usize];
        let next = list.get(index + 1).filter(|next| next.ply == packed.ply + 1);
        let reply = match (plies.get(1), next) {
            (None, _) => Vec::new(),
            (Some(_), Some(next)) => self.policy(next).shares(),
            (Some(next), None) => vec![(next.mv, 1.0)],
        };
        let (variant, mover) = (packed.position.variant(), packed.position.side_to_move());
        let outcome = game.outcome.value_for(mover);
        Sample {
            position: packed.position,
            policy: self.policy(packed).shares(),
            outcome,
            margin: margin(variant, pieces_ahead(&game.last, mover)),
            value: plies[0].value(),
            reply,
            future: future(plies.iter().map(Ply::value), outcome),
            last: game.last,
        }
    }

    fn policy(&self, packed: &Packed) -> Policy {
        let mut moves = Vec::with_capacity(64);
        ordered_moves(&packed.position, &mut moves);
        let kind = packed.policy as usize;
        let mut bytes = Bytes(&self.policies[kind + 1..]);
        decode_policy(self.policies[kind], &mut bytes, &moves).expect("a policy that was packed")
    }

    pub(super) fn variant(&self) -> Option<Variant> {
        self.games.first().map(|game| game.last.variant())
    }

    pub(super) fn bytes(&self) -> usize {
        (self.samples.capacity() + self.held_out.capacity()) * size_of::<Packed>()
            + self.policies.capacity()
            + self.plies.capacity() * size_of::<Ply>()
            + self.games.capacity() * size_of::<Ended>()
    }
}

impl Ply {
    fn value(&self) -> Option<f32> {
        (self.value != NO_VALUE).then(|| dequantise(self.value))
    }
}

/// Whether a game is among the share that is held out.
fn is_held_out(game: &GameRecord, share: f64) -> bool {
    // The highest 53 bits, as a number below 1.
    let place = (game.course() >> 11) as f64 / (1u64 << 53) as f64;
    place < share
}
