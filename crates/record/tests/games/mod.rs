//! Random games under every rule set, with every ending, from any start.
#![allow(dead_code, reason = "each test binary uses a part")]

use rand::{Rng, RngExt, SeedableRng, seq::IndexedRandom, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use surakarta_game::{Color, Ending, Game, Outcome, Point, Position, RuleSet, Variant};
use surakarta_record::{GameRecord, PlyRecord, Policy, SearchKind, ShardHeader};

pub(crate) type Stream = ChaCha8Rng;

pub(crate) fn stream(seed: u64) -> Stream {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A named rule set, sometimes with other limits.
pub(crate) fn random_rules(random: &mut Stream) -> RuleSet {
    let mut rules = *RuleSet::ALL.choose(random).unwrap();
    match random.random_range(0..4) {
        0 => rules.ply_cap = Some(random.random_range(20..120)),
        1 => rules.no_capture = Some(random.random_range(5..60)),
        _ => {}
    }
    rules
}

pub(crate) fn random_variant(random: &mut Stream) -> Variant {
    *Variant::ALL.choose(random).unwrap()
}

/// Mostly the start; else any pieces at any place, at times with the game over at once.
pub(crate) fn random_start(variant: Variant, random: &mut Stream) -> Position {
    match random.random_range(0..10) {
        0..6 => Position::start(variant),
        6 if variant == Variant::Standard => "6/6/6/6/ww4/bw4 b 0 1".parse().unwrap(),
        _ => {
            let mut points: Vec<_> = surakarta_game::points(variant.board()).collect();
            points.shuffle(random);
            let most = variant.pieces() as usize;
            let (black, white) = (random.random_range(0..=most), random.random_range(0..=most));
            let set = |points: &[Point]| points.iter().fold(0, |set, point| set | point.bit());
            let side = *[Color::Black, Color::White].choose(random).unwrap();
            let position = Position::new(
                variant,
                set(&points[..black]),
                set(&points[black..black + white]),
                side,
                random.random_range(0..30),
            );
            // Somewhere in the middle of its game.
            let text = position.unwrap().to_string();
            let fields: Vec<&str> = text.split(' ').collect();
            let text = format!("{} {}", fields[..3].join(" "), random.random_range(1..40));
            Position::parse(&text, variant).unwrap()
        }
    }
}

fn random_policy(game: &Game, random: &mut Stream) -> Policy {
    let mut moves = game.position().moves();
    moves.shuffle(random);
    moves.truncate(random.random_range(0..=moves.len()));
    match random.random_range(0..5) {
        0 | 1 => Policy::None,
        2 => Policy::Improved(moves.into_iter().map(|mv| (mv, random.random())).collect()),
        // Any number at all.
        3 => {
            let visits = |bits| random.next_u32() >> bits;
            let pairs = moves.iter().copied();
            Policy::Visits(pairs.zip([0, 4, 12, 20, 28].map(visits)).collect())
        }
        _ => Policy::Visits(moves.into_iter().map(|mv| (mv, random.random_range(0..40))).collect()),
    }
}

/// The record of a game of random moves with random findings.
pub(crate) fn random_game(rules: RuleSet, number: u64, random: &mut Stream) -> GameRecord {
    random_game_of(Variant::Standard, rules, number, random)
}

/// The same in any variant.
pub(crate) fn random_game_of(
    variant: Variant,
    rules: RuleSet,
    number: u64,
    random: &mut Stream,
) -> GameRecord {
    let mut game = Game::from_position(rules, random_start(variant, random));
    let mut plies = Vec::new();
    let most = if random.random_bool(0.3) { 80 } else { 2_000 };
    let stop = random.random_range(0..most);
    while game.result().is_none() {
        if plies.len() >= stop {
            let loser = *[Color::Black, Color::White].choose(random).unwrap();
            match *Ending::ALL[6..].choose(random).unwrap() {
                ending @ (Ending::Agreement | Ending::Adjudicated) => {
                    game.end(ending, Outcome::by_count(game.position()));
                }
                ending => game.forfeit(loser, ending),
            }
            break;
        }
        let mv = *game.legal_moves().choose(random).unwrap();
        let kind =
            *[SearchKind::Opening, SearchKind::Fast, SearchKind::Full].choose(random).unwrap();
        let value = random.random_bool(0.7).then(|| random.random_range(-1.0..=1.0));
        let simulations = random.next_u32() >> random.random_range(0..32);
        plies.push(PlyRecord::new(mv, kind, simulations, value, random_policy(&game, random)));
        game.play(mv).unwrap();
    }
    GameRecord::of(&game, number, plies)
}

/// Games of one variant and rule set, and their header.
pub(crate) fn random_shard(games: u64, random: &mut Stream) -> (ShardHeader, Vec<GameRecord>) {
    let (variant, rules) = (random_variant(random), random_rules(random));
    let first_game = random.random_range(0..1_000_000);
    let header = ShardHeader {
        variant,
        rules,
        player: "mcts:net=\"a,b\",sims=200".into(),
        weights: random.random_bool(0.5).then(|| "00ff".into()),
        kernel: random.random_bool(0.5).then(|| "avx512".into()),
        program: "surakarta 0.1.0".into(),
        seed: random.next_u64(),
        iteration: random.random_range(0..100),
        first_game,
        games,
        settings: [("openings".into(), "0-8".into()), ("temperature".into(), "1".into())].into(),
    };
    let numbers = first_game..first_game + games;
    let games = numbers.map(|n| random_game_of(variant, rules, n, random)).collect();
    (header, games)
}

/// A game of random moves with what PUCT at 200 and 50 simulations typically leaves: visits that fall
/// off from the best move on, one search in four full.
pub(crate) fn typical_game(number: u64, random: &mut Stream) -> GameRecord {
    let mut game = Game::new(surakarta_game::OLYMPIAD);
    let mut plies = Vec::new();
    while game.result().is_none() {
        let mut moves = game.legal_moves();
        moves.shuffle(random);
        let mv = moves[0];
        let full = random.random_bool(0.25);
        let policy = if full { typical_visits(moves, 200, random) } else { Policy::None };
        let value = Some(random.random_range(-1.0..=1.0));
        let (kind, simulations) = match full {
            _ if plies.len() < 4 => (SearchKind::Opening, 0),
            true => (SearchKind::Full, 200),
            false => (SearchKind::Fast, 50),
        };
        let policy = if kind == SearchKind::Full { policy } else { Policy::None };
        plies.push(PlyRecord::new(mv, kind, simulations, value, policy));
        game.play(mv).unwrap();
    }
    GameRecord::of(&game, number, plies)
}

/// Visits in proportion to weights that are normal in their logarithm.
fn typical_visits(moves: Vec<surakarta_game::Move>, sum: u32, random: &mut Stream) -> Policy {
    let weights: Vec<f64> = moves
        .iter()
        .map(|_| (1.2 * (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 7.2).exp())
        .collect();
    let total: f64 = weights.iter().sum();
    let mut visits = vec![0; moves.len()];
    for _ in 1..sum {
        let mut at = random.random_range(0.0..total);
        let place = weights.iter().position(|weight| {
            at -= weight;
            at < 0.0
        });
        visits[place.unwrap_or(0)] += 1;
    }
    Policy::Visits(moves.into_iter().zip(visits).collect())
}
