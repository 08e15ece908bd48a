//! Evaluators without a network, and the games that the tests search.

use rand::RngExt;
use surakarta_game::{Game, Move, Position, RuleSet, Variant};
use surakarta_net::{Batch, Evaluator, EvaluatorError, Outlook};
use surakarta_search::{Root, Search, Step, Stream};

/// Policy and outlook from the position and its legal moves alone.
pub(crate) trait Script {
    fn evaluate(&self, position: &Position, moves: &[Move]) -> (Vec<f32>, Outlook);
}

impl<F: Fn(&Position, &[Move]) -> (Vec<f32>, Outlook)> Script for F {
    fn evaluate(&self, position: &Position, moves: &[Move]) -> (Vec<f32>, Outlook) {
        self(position, moves)
    }
}

/// An outlook without draws.
pub(crate) fn outlook(value: f32) -> Outlook {
    Outlook { wdl: [(1.0 + value) / 2.0, 0.0, (1.0 - value) / 2.0], margin: 0.0 }
}

/// The same for every move and for both sides.
pub(crate) fn even(_: &Position, moves: &[Move]) -> (Vec<f32>, Outlook) {
    (vec![1.0 / moves.len() as f32; moves.len()], outlook(0.0))
}

/// Reproducible noise. With `coarse`, few distinct numbers, so that equals are frequent.
#[derive(Clone, Copy)]
pub(crate) struct Hashed {
    pub(crate) seed: u64,
    pub(crate) coarse: bool,
}

impl Hashed {
    fn number(&self, position: &Position, what: u64) -> f32 {
        let [a, b] = position.key();
        let mut x = self.seed ^ what.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for word in [a, b, position.quiet_plies() as u64] {
            x = (x ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x ^= x >> 31;
        }
        let steps = if self.coarse { 4 } else { 1 << 20 };
        (x.wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) as u32 as f32 % steps as f32 / steps as f32
    }
}

impl Script for Hashed {
    fn evaluate(&self, position: &Position, moves: &[Move]) -> (Vec<f32>, Outlook) {
        let index = |&mv| position.variant().move_index(mv).unwrap() as u64;
        let mut policy: Vec<f32> =
            moves.iter().map(|mv| 0.1 + self.number(position, index(mv)).powi(3)).collect();
        let sum: f32 = policy.iter().sum();
        policy.iter_mut().for_each(|p| *p /= sum);
        let win = self.number(position, 10_000);
        let draw = (1.0 - win) * self.number(position, 10_001);
        let margin = self.number(position, 10_002) - 0.5;
        (policy, Outlook { wdl: [win, draw, 1.0 - win - draw], margin })
    }
}

pub(crate) fn evaluate(script: &dyn Script, batch: &mut Batch) {
    for at in 0..batch.len() {
        let (position, moves, policy, outlook) = batch.item_mut(at);
        let (p, o) = script.evaluate(position, moves);
        policy.copy_from_slice(&p);
        *outlook = o;
    }
}

/// A script as a player's evaluator.
pub(crate) struct Scripted<S>(pub(crate) S);

impl<S: Script + Send> Evaluator for Scripted<S> {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        evaluate(&self.0, batch);
        Ok(())
    }
}

/// Goes on until the search is done.
pub(crate) fn finish(search: &mut Search, script: &dyn Script) {
    let mut batch = Batch::default();
    while let Step::Leaf(at) = search.step(&mut batch) {
        evaluate(script, &mut batch);
        search.accept(&batch, at);
        batch.clear();
    }
}

pub(crate) fn search(
    search: &mut Search,
    script: &dyn Script,
    game: &Game,
    simulations: u32,
    rng: &mut Stream,
) {
    search.begin(game, Root { simulations, noise: false }, rng);
    finish(search, script);
}

pub(crate) fn game(rules: RuleSet, start: &str, moves: &str) -> Game {
    let mut game = Game::from_position(rules, start.parse().unwrap());
    for mv in moves.split_whitespace() {
        game.play(mv.parse().unwrap()).unwrap();
    }
    game
}

/// A game of any variant after random moves, not over yet; often near its end.
pub(crate) fn random_game(rules: RuleSet, rng: &mut Stream) -> Game {
    loop {
        let variant = Variant::ALL[rng.random_range(0..Variant::ALL.len())];
        let mut game = Game::from_position(rules, Position::start(variant));
        let plies = rng.random_range(0..150);
        while game.moves().len() < plies && game.result().is_none() {
            let moves = game.legal_moves();
            game.play_legal(moves[rng.random_range(0..moves.len())]);
        }
        let back = if game.result().is_some() { rng.random_range(1..4) } else { 0 };
        (0..back).for_each(|_| _ = game.undo());
        if game.result().is_none() {
            return game;
        }
    }
}
