//! Evaluators without a network, and the games that the tests search.

use rand::RngExt;
use surakarta_game::{Color, Game, Move, Position, RuleSet, Variant, points};
use surakarta_net::{Batch, Evaluator, EvaluatorError, Outlook};
use surakarta_search::descent::Method;
use surakarta_search::{DescentConfig, DescentPlayer, Limits, Stream};

/// What a network says of a position.
pub(crate) type Script = fn(&Position) -> Outlook;

/// A script as a player's evaluator.
pub(crate) struct Scripted(pub(crate) Script);

impl Evaluator for Scripted {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        for at in 0..batch.len() {
            let (position, moves, _, outlook) = batch.item_mut(at);
            assert!(position.is_legal(moves[0]));
            *outlook = (self.0)(position);
        }
        Ok(())
    }
}

pub(crate) fn player(config: DescentConfig, script: Script) -> DescentPlayer {
    DescentPlayer::new(config, Box::new(Scripted(script)))
}

pub(crate) fn by(method: Method) -> DescentConfig {
    DescentConfig { method, ..DescentConfig::default() }
}

pub(crate) fn simulations(n: u32) -> Limits {
    Limits { simulations: Some(n), ..Limits::default() }
}

/// An outlook without draws.
pub(crate) fn outlook(value: f32) -> Outlook {
    Outlook { wdl: [(1.0 + value) / 2.0, 0.0, (1.0 - value) / 2.0], margin: 0.0 }
}

pub(crate) fn even(_: &Position) -> Outlook {
    outlook(0.0)
}

/// Reproducible noise in steps of 2⁻¹⁹.
pub(crate) fn noise(position: &Position) -> Outlook {
    scattered(position, 1 << 19)
}

/// Few distinct numbers, so that equals are frequent, wins, losses and zero among them.
pub(crate) fn coarse(position: &Position) -> Outlook {
    scattered(position, 2)
}

/// Multiples of 1 / `steps`: single precision holds them, and half of their sums.
fn scattered(position: &Position, steps: u64) -> Outlook {
    let [a, b] = position.key();
    let mut x = 7u64;
    for word in [a, b, position.quiet_plies() as u64] {
        x = (x ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^= x >> 31;
    }
    let mut number = |span: u64| {
        x = x.wrapping_mul(0x94d0_49bb_1331_11eb).rotate_left(29);
        (x >> 20) % span
    };
    let whole = steps as f32;
    let win = number(steps + 1);
    let draw = number(steps - win + 1);
    let margin = number(2 * steps + 1) as f32 / whole - 1.0;
    let loss = steps - win - draw;
    Outlook { wdl: [win, draw, loss].map(|n| n as f32 / whole), margin }
}

pub(crate) fn game(rules: RuleSet, start: &str, moves: &str) -> Game {
    let mut game = Game::from_position(rules, start.parse().unwrap());
    for mv in moves.split_whitespace() {
        game.play(mv.parse().unwrap()).unwrap();
    }
    game
}

/// A few pieces on random points of any variant's board, the rules' limits near, and some plies of
/// play that like to go back, so that repetitions are near, too.
pub(crate) fn endgame(pieces: u32, limit: u16, rng: &mut Stream) -> Game {
    loop {
        let mut rules = RuleSet::ALL[rng.random_range(0..RuleSet::ALL.len())];
        match rules.no_capture {
            Some(_) => rules.no_capture = Some(limit),
            None => rules.ply_cap = Some(limit),
        }
        let variant = Variant::ALL[rng.random_range(0..Variant::ALL.len())];
        let mut sets = [0u64; 2];
        for set in 0..2 {
            for _ in 0..rng.random_range(1..=pieces) {
                let point = points(variant.board()).nth(rng.random_range(0..variant.points()));
                sets[set] |= point.expect("on the board").bit() & !sets[1 - set];
            }
        }
        let side = if rng.random() { Color::Black } else { Color::White };
        let start = Position::new(variant, sets[0], sets[1], side, 0);
        let mut game = Game::from_position(rules, start.expect("disjoint sets"));
        for _ in 0..rng.random_range(0..limit) {
            random_ply(&mut game, rng);
        }
        if game.result().is_none() {
            return game;
        }
    }
}

/// Plays a move at random, mostly the own last one backwards.
pub(crate) fn random_ply(game: &mut Game, rng: &mut Stream) {
    let moves = game.legal_moves();
    if moves.is_empty() {
        return;
    }
    let back = game.moves().iter().rev().nth(1).map(|last| Move::new(last.to(), last.from()));
    let mv = match back {
        Some(mv) if moves.contains(&mv) && rng.random_bool(0.7) => mv,
        _ => moves[rng.random_range(0..moves.len())],
    };
    game.play(mv).expect("a legal move");
}
