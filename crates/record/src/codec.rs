//! How a game and a state become bytes: see [`shard`](crate::shard) for the layout.

use surakarta_game::{Color, Ending, GRID, GameResult, Move, Outcome, Position, Variant, points};

use crate::game::{GameRecord, PlyRecord, Policy, SearchKind, dequantise, quantise};
use crate::shard::State;

/// Why bytes are no record, or a record cannot be kept.
pub(crate) type Reason = String;

/// Legal moves in the order of shards: by start, then target, points as [`Move`] orders them. It
/// owes nothing to the move generator, so that old shards outlive it.
pub(crate) fn ordered_moves(position: &Position, moves: &mut Vec<Move>) {
    let mut targets = [0; GRID];
    position.for_each_move(|mv| targets[mv.from().index()] |= mv.to().bit());
    moves.clear();
    for from in points(position.own()) {
        moves.extend(points(targets[from.index()]).map(|to| Move::new(from, to)));
    }
}

/// Bytes that are read from the front.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], Reason> {
        let (front, rest) = self.0.split_at_checked(n).ok_or("it ends too early")?;
        self.0 = rest;
        Ok(front)
    }

    fn byte(&mut self) -> Result<u8, Reason> {
        Ok(self.take(1)?[0])
    }

    /// Seven bits a byte, the lowest first; the high bit says that more follow.
    pub(crate) fn varint(&mut self) -> Result<u64, Reason> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = (byte & 0x7f) as u64;
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte == 0 && shift > 0 {
                return Err("a number has a second spelling".into());
            }
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number is too large".into())
    }

    fn varint_u32(&mut self) -> Result<u32, Reason> {
        self.varint()?.try_into().map_err(|_| "a number is too large".into())
    }

    /// Bytes after their number.
    pub(crate) fn chunk(&mut self) -> Result<&'a [u8], Reason> {
        let length = self.varint()?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn end(&self) -> Result<(), Reason> {
        if self.0.is_empty() { Ok(()) } else { Err("bytes are left over".into()) }
    }
}

pub(crate) fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn push_chunk(chunk: &[u8], out: &mut Vec<u8>) {
    push_varint(chunk.len() as u64, out);
    out.extend_from_slice(chunk);
}

const SEARCH_BITS: u8 = 0b11;
const POLICY_SHIFT: u8 = 2;
const VALUE_BIT: u8 = 0b1_0000;

/// What a policy's place in a ply's first byte says.
const NO_POLICY: u8 = 0;
const VISITS: u8 = 1;
const IMPROVED: u8 = 2;

pub(crate) fn encode_game(game: &GameRecord, out: &mut Vec<u8>) -> Result<(), Reason> {
    if game.start == Position::start(game.start.variant()) {
        out.push(0);
    } else {
        push_chunk(game.start.to_string().as_bytes(), out);
    }
    out.push(game.result.ending as u8);
    out.push(match game.result.outcome {
        Outcome::Draw => 0,
        Outcome::Win(Color::Black) => 1,
        Outcome::Win(Color::White) => 2,
    });
    push_varint(game.plies.len() as u64, out);
    let mut moves = Vec::with_capacity(64);
    for (ply, position) in game.plies.iter().zip(game.positions()) {
        ordered_moves(&position, &mut moves);
        encode_ply(ply, &moves, out)?;
    }
    Ok(())
}

pub(crate) fn decode_game(
    bytes: &[u8],
    variant: Variant,
    number: u64,
) -> Result<GameRecord, Reason> {
    let mut bytes = Bytes(bytes);
    let start = match bytes.chunk()? {
        [] => Position::start(variant),
        text => decode_position(text, variant)?,
    };
    let ending = bytes.byte()? as usize;
    let ending = *Ending::ALL.get(ending).ok_or("it names an unknown ending")?;
    let outcome = match bytes.byte()? {
        0 => Outcome::Draw,
        1 => Outcome::Win(Color::Black),
        2 => Outcome::Win(Color::White),
        _ => return Err("it names an unknown outcome".into()),
    };
    let count = bytes.varint()?;
    // A ply takes three bytes at least: a false number reserves no memory.
    let mut plies = Vec::with_capacity(count.min(bytes.0.len() as u64 / 3) as usize);
    let mut position = start;
    let mut moves = Vec::with_capacity(64);
    for _ in 0..count {
        ordered_moves(&position, &mut moves);
        let ply = decode_ply(&mut bytes, &moves)?;
        position = position.after(ply.mv);
        plies.push(ply);
    }
    bytes.end()?;
    Ok(GameRecord { number, start, plies, result: GameResult { ending, outcome } })
}

fn encode_ply(ply: &PlyRecord, moves: &[Move], out: &mut Vec<u8>) -> Result<(), Reason> {
    let flags = out.len();
    out.push(0);
    push_varint(ordinal(ply.mv, moves)? as u64, out);
    let mut value_bit = 0;
    if let Some(value) = ply.value {
        if value.is_nan() {
            return Err(format!("the value of {} is not a number", ply.mv));
        }
        out.extend_from_slice(&quantise(value).to_le_bytes());
        value_bit = VALUE_BIT;
    }
    match ply.policy {
        Policy::Visits(_) => {
            let beyond = ply.simulations as i64 - visits_kept(&ply.policy)?;
            push_varint((beyond << 1 ^ beyond >> 63) as u64, out);
        }
        _ => push_varint(ply.simulations as u64, out),
    }
    let policy = encode_policy(&ply.policy, moves, out)?;
    out[flags] = ply.search as u8 | policy << POLICY_SHIFT | value_bit;
    Ok(())
}

fn decode_ply(bytes: &mut Bytes<'_>, moves: &[Move]) -> Result<PlyRecord, Reason> {
    let flags = bytes.byte()?;
    if flags & !(SEARCH_BITS | VALUE_BIT | 0b11 << POLICY_SHIFT) != 0 {
        return Err("a ply has unknown flags".into());
    }
    let search = match flags & SEARCH_BITS {
        0 => SearchKind::Opening,
        1 => SearchKind::Fast,
        2 => SearchKind::Full,
        _ => return Err("it names an unknown kind of search".into()),
    };
    let ordinal = bytes.varint()?;
    let mv = usize::try_from(ordinal).ok().and_then(|ordinal| moves.get(ordinal));
    let mv = *mv.ok_or("a ply is not a legal move")?;
    let value = if flags & VALUE_BIT != 0 { Some(decode_value(bytes)?) } else { None };
    let simulations = bytes.varint()?;
    let policy = decode_policy(flags >> POLICY_SHIFT & 0b11, bytes, moves)?;
    let simulations = match policy {
        Policy::Visits(_) => {
            let beyond = (simulations >> 1) as i64 ^ -((simulations & 1) as i64);
            visits_kept(&policy)?.checked_add(beyond).and_then(|n| u32::try_from(n).ok())
        }
        _ => u32::try_from(simulations).ok(),
    };
    let simulations = simulations.ok_or("a number of simulations is out of range")?;
    Ok(PlyRecord { mv, search, simulations, value, policy })
}

fn decode_value(bytes: &mut Bytes<'_>) -> Result<f32, Reason> {
    let units = bytes.take(2)?;
    match i16::from_le_bytes([units[0], units[1]]) {
        i16::MIN => Err("a value is below -1".into()),
        units => Ok(dequantise(units)),
    }
}

fn visits_kept(policy: &Policy) -> Result<i64, Reason> {
    i64::try_from(policy.total()).map_err(|_| "a policy has too many visits".into())
}

/// One number for each legal move, in order. Returns the kind of policy.
pub(crate) fn encode_policy(
    policy: &Policy,
    moves: &[Move],
    out: &mut Vec<u8>,
) -> Result<u8, Reason> {
    match policy {
        Policy::None => Ok(NO_POLICY),
        Policy::Visits(visits) => {
            for n in spread(visits, moves)? {
                push_varint(n as u64, out);
            }
            Ok(VISITS)
        }
        Policy::Improved(units) => {
            out.extend(spread(units, moves)?);
            Ok(IMPROVED)
        }
    }
}

pub(crate) fn decode_policy(
    kind: u8,
    bytes: &mut Bytes<'_>,
    moves: &[Move],
) -> Result<Policy, Reason> {
    match kind {
        NO_POLICY => Ok(Policy::None),
        VISITS => {
            let mut visits = Vec::with_capacity(moves.len());
            for &mv in moves {
                match bytes.varint_u32()? {
                    0 => {}
                    n => visits.push((mv, n)),
                }
            }
            Ok(Policy::Visits(visits))
        }
        IMPROVED => {
            let units = bytes.take(moves.len())?;
            let pairs = moves.iter().copied().zip(units.iter().copied());
            Ok(Policy::Improved(pairs.filter(|&(_, n)| n > 0).collect()))
        }
        _ => Err("it names an unknown kind of policy".into()),
    }
}

/// The numbers of a policy laid out along the legal moves.
fn spread<N: Copy + Default>(policy: &[(Move, N)], moves: &[Move]) -> Result<Vec<N>, Reason> {
    let mut numbers = vec![None; moves.len()];
    for &(mv, n) in policy {
        if numbers[ordinal(mv, moves)?].replace(n).is_some() {
            return Err(format!("its policy names {mv} twice"));
        }
    }
    Ok(numbers.into_iter().map(Option::unwrap_or_default).collect())
}

fn ordinal(mv: Move, moves: &[Move]) -> Result<usize, Reason> {
    moves.binary_search(&mv).map_err(|_| format!("{mv} is not a legal move"))
}

pub(crate) fn encode_state(state: &State, out: &mut Vec<u8>) -> Result<(), Reason> {
    if state.value.is_nan() {
        return Err(format!("the value of {} is not a number", state.position));
    }
    out.extend_from_slice(&quantise(state.value).to_le_bytes());
    out.extend_from_slice(state.position.to_string().as_bytes());
    Ok(())
}

pub(crate) fn decode_state(bytes: &[u8], variant: Variant) -> Result<State, Reason> {
    let mut bytes = Bytes(bytes);
    let value = decode_value(&mut bytes)?;
    Ok(State { position: decode_position(bytes.0, variant)?, value })
}

fn decode_position(text: &[u8], variant: Variant) -> Result<Position, Reason> {
    let text = std::str::from_utf8(text).map_err(|_| "a position is not text")?;
    let position = Position::parse(text, variant).map_err(|error| error.to_string())?;
    if position.to_string().as_bytes() != text.as_bytes() {
        return Err(format!("`{text}` is a second spelling of a position"));
    }
    Ok(position)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};
    use surakarta_game::{Game, OLYMPIAD};

    use super::*;

    fn any_variant(random: &mut ChaCha8Rng) -> Variant {
        Variant::ALL[random.next_u32() as usize % Variant::ALL.len()]
    }

    /// A short game with every kind of policy.
    fn game(variant: Variant, random: &mut ChaCha8Rng) -> GameRecord {
        let mut game = Game::from_position(OLYMPIAD, Position::start(variant));
        let mut plies = Vec::new();
        while game.result().is_none() && plies.len() < 12 {
            let moves = game.legal_moves();
            let visits = moves.iter().map(|&mv| (mv, random.next_u32() >> 24));
            let policy = match plies.len() % 3 {
                0 => Policy::None,
                1 => Policy::Visits(visits.collect()),
                _ => Policy::Improved(visits.map(|(mv, n)| (mv, n as u8)).collect()),
            };
            let mv = moves[random.next_u32() as usize % moves.len()];
            plies.push(PlyRecord::new(mv, SearchKind::Full, 400, Some(0.25), policy));
            game.play(mv).unwrap();
        }
        game.end(Ending::Agreement, Outcome::Draw);
        GameRecord::of(&game, 5, plies)
    }

    #[test]
    fn moves_are_sorted() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let mut moves = Vec::new();
        for _ in 0..500 {
            let variant = any_variant(&mut random);
            for position in game(variant, &mut random).positions() {
                ordered_moves(&position, &mut moves);
                let mut sorted = position.moves();
                sorted.sort();
                assert_eq!(moves, sorted);
            }
        }
    }

    #[test]
    fn any_bytes_are_a_game_or_an_error() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut understood = 0;
        for _ in 0..20_000 {
            let mut bytes = Vec::new();
            let variant = any_variant(&mut random);
            encode_game(&game(variant, &mut random), &mut bytes).unwrap();
            let at = random.next_u32() as usize % bytes.len();
            match random.next_u32() % 4 {
                0 => bytes.truncate(at),
                1 => random.fill_bytes(&mut bytes[at..]),
                _ => bytes[at] = random.next_u32() as u8,
            }
            if let Ok(game) = decode_game(&bytes, variant, 5) {
                understood += 1;
                let mut again = Vec::new();
                encode_game(&game, &mut again).unwrap();
                assert_eq!(again, bytes, "one spelling for each game");
            }
        }
        assert!((2_000..18_000).contains(&understood), "{understood}");
    }

    #[test]
    fn numbers_come_back() {
        for value in (0..64).flat_map(|bits| [(1u64 << bits) - 1, 1 << bits]).chain([u64::MAX]) {
            let mut bytes = Vec::new();
            push_varint(value, &mut bytes);
            let mut bytes = Bytes(&bytes);
            assert_eq!((bytes.varint(), bytes.0.len()), (Ok(value), 0));
        }
        for wrong in [&[0x80, 0][..], &[0x80], &[0xff; 10], &[0xff; 11], &[]] {
            assert!(Bytes(wrong).varint().is_err(), "{wrong:?}");
        }
    }
}
