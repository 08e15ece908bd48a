//! Speed, measured beside something slow in the same process.

use std::fmt;
use std::time::{Duration, Instant};

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};
use serde::Serialize;
use surakarta_game::{
    Game, LANES, Position, RuleSet, Variant, instructions, perft, play_out, play_out_many,
    reference,
};

/// What is measured of the rules, and for how long.
#[derive(Clone, Debug)]
pub struct RulesBench {
    /// The variant that is played.
    pub variant: Variant,
    /// Depth of the perft.
    pub depth: u32,
    /// Time for each rate at least, in all rounds together.
    pub time: Duration,
}

/// Rates on one core. Each is the median of [`ROUNDS`] rounds, in which all take turns; a ratio is
/// that to the rate of the slow twin ([`reference`]): perft to depth 3 at most, or random games.
#[derive(Clone, Debug, Serialize)]
pub struct RulesRates {
    /// The variant that was played.
    pub variant: String,
    /// The rule set of the games.
    pub rules: String,
    /// The instructions that were used: see [`instructions`].
    pub instructions: &'static str,
    /// Depth of the perft from the start.
    pub perft_depth: u32,
    /// Leaves of the perft, the last ply counted without being played.
    pub perft_leaves_per_s: f64,
    /// Its ratio.
    pub perft_ratio: f64,
    /// Plies of random games, drawn without a list of moves.
    pub random_plies_per_s: f64,
    /// Its ratio.
    pub random_ratio: f64,
    /// Such games that were played at a time, in lanes.
    pub lanes: usize,
    /// Plies of random games in lanes.
    pub random_plies_per_s_lanes: f64,
    /// Its ratio.
    pub random_lanes_ratio: f64,
    /// Plies of random games, drawn from a list and played in a [`Game`].
    pub listed_plies_per_s: f64,
    /// Its ratio.
    pub listed_ratio: f64,
}

/// Rounds of which a rate is the median.
pub const ROUNDS: usize = 9;

/// Random games that a measurement plays before it looks at the clock.
const GAMES: u64 = 500;

impl RulesBench {
    /// Measures. Calls `begin` before each round, with its number.
    pub fn run(&self, begin: impl Fn(usize)) -> RulesRates {
        let start = Position::start(self.variant);
        let game = Game::from_position(RuleSet::default(), start);
        let mut slow_games = 0..;
        let mut works: [Box<dyn FnMut() -> u64>; 6] = [
            Box::new(|| perft(&start, self.depth)),
            Box::new(|| slow_perft(&start, self.depth.min(3))),
            Box::new(|| {
                (0..GAMES).map(|n| play_out(&game, u32::MAX, numbers(n)).plies as u64).sum()
            }),
            Box::new(|| {
                let mut plies = 0;
                play_out_many(&game, u32::MAX, GAMES, numbers, |_, one| plies += one.plies as u64);
                plies
            }),
            Box::new(|| (0..GAMES).map(|n| listed_game(&game, n)).sum()),
            Box::new(|| slow_games.next().map_or(0, |number| slow_game(&game, number))),
        ];
        let mut rates = [[0.0; ROUNDS]; 6];
        for round in 0..ROUNDS {
            begin(round);
            for (work, rates) in works.iter_mut().zip(&mut rates) {
                rates[round] = rate(work, self.time / ROUNDS as u32);
            }
        }
        let [perft, slow_perft, random, lanes, listed, slow] = rates.map(|mut rates| {
            rates.sort_by(f64::total_cmp);
            rates[ROUNDS / 2]
        });
        RulesRates {
            variant: self.variant.to_string(),
            rules: game.rules().to_string(),
            instructions: instructions(),
            perft_depth: self.depth,
            perft_leaves_per_s: perft,
            perft_ratio: perft / slow_perft,
            random_plies_per_s: random,
            random_ratio: random / slow,
            lanes: LANES,
            random_plies_per_s_lanes: lanes,
            random_lanes_ratio: lanes / slow,
            listed_plies_per_s: listed,
            listed_ratio: listed / slow,
        }
    }
}

/// How much of its work, done over and over for about this time, `work` does in a second.
fn rate(work: &mut dyn FnMut() -> u64, time: Duration) -> f64 {
    let (began, mut done) = (Instant::now(), 0);
    loop {
        done += work();
        let spent = began.elapsed();
        if spent >= time {
            return done as f64 / spent.as_secs_f64();
        }
    }
}

fn slow_perft(position: &Position, depth: u32) -> u64 {
    let moves = reference::moves(position);
    match depth {
        0 => 1,
        1 => moves.len() as u64,
        _ => moves.into_iter().map(|mv| slow_perft(&position.after(mv), depth - 1)).sum(),
    }
}

fn numbers(game: u64) -> impl FnMut() -> u64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(game);
    move || rng.next_u64()
}

fn listed_game(game: &Game, number: u64) -> u64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(number);
    let (mut game, mut moves) = (game.clone(), Vec::new());
    while game.result().is_none() {
        game.legal_moves_into(&mut moves);
        game.play_legal(moves[rng.random_range(0..moves.len())]);
    }
    game.moves().len() as u64
}

fn slow_game(game: &Game, number: u64) -> u64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(number);
    let mut positions = game.positions().to_vec();
    while reference::result(game.rules(), &positions).is_none() {
        let moves = reference::legal_moves(game.rules(), &positions);
        let mv = moves[rng.random_range(0..moves.len())];
        positions.push(positions[positions.len() - 1].after(mv));
    }
    positions.len() as u64 - 1
}

impl fmt::Display for RulesRates {
    /// A table with a line for each rate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variant, rules, instructions, perft_depth: depth, lanes, .. } = self;
        writeln!(f, "{variant} under {rules}, one core, {instructions} instructions")?;
        let mut line = |what: String, rate: f64, ratio: f64| {
            writeln!(f, "{what:<58} {:>8.1} M/s {ratio:>8.0} × slow twin", rate / 1e6)
        };
        line(
            format!("perft {depth}, leaves (last ply counted, not played)"),
            self.perft_leaves_per_s,
            self.perft_ratio,
        )?;
        line("random games, plies".to_owned(), self.random_plies_per_s, self.random_ratio)?;
        line(
            format!("random games, {lanes} at a time, plies"),
            self.random_plies_per_s_lanes,
            self.random_lanes_ratio,
        )?;
        line(
            "random games, moves listed, plies".to_owned(),
            self.listed_plies_per_s,
            self.listed_ratio,
        )
    }
}
