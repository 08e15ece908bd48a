//! What the arena takes beside its players, and how long ratings take.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;
use rand::RngExt;
use serde::Serialize;
use surakarta_arena::{
    Allowance, Clusters, Conduct, RatedGame, RatingOptions, Session, Tournament, quantity, rate,
};
use surakarta_game::{OLYMPIAD, Variant};
use surakarta_search::{AlphaBetaConfig, AlphaBetaPlayer, Limits, Player, stream};

use crate::selfplay::thread_pool;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct ArenaBench {
    /// Milliseconds that each player may think about a move.
    pub ms: u64,
    /// Pairs of games.
    pub pairs: u32,
    /// Players that are rated.
    pub players: u32,
    /// Games of these.
    pub games: u32,
}

/// What was found, on one core.
#[derive(Clone, Debug, Serialize)]
pub struct ArenaRates {
    /// Milliseconds a move.
    pub ms: u64,
    /// Games played.
    pub games: usize,
    /// Their moves.
    pub moves: usize,
    /// Time from the first game to the last, in seconds.
    pub seconds: f64,
    /// The share of it in which no player was thinking.
    pub overhead: f64,
    /// Microseconds by which moves went beyond the time allowed: the median and the 99th percentile.
    pub late_us: [f64; 2],
    /// Games rated.
    pub rated_games: u32,
    /// Players of these.
    pub rated_players: u32,
    /// Seconds for ratings with errors by pair, the median of five.
    pub rating_seconds: f64,
    /// What else one needs for a difference: the same time for a mere count of every pairing's
    /// results, the least that any rating does.
    pub counting_seconds: f64,
}

impl ArenaBench {
    /// Measures.
    ///
    /// # Errors
    /// If no journal can be written to the system's folder for temporary files.
    pub fn run(&self) -> Result<ArenaRates> {
        let names = ["one", "other"].map(str::to_owned);
        let pairs = self.pairs as usize;
        let tournament = Tournament::round_robin(&names, pairs, 6, Variant::Standard, OLYMPIAD, 1)?;
        let allowed = Duration::from_millis(self.ms);
        let limits = Limits { time: Some(allowed), ..Limits::default() };
        let margin = Duration::from_secs(3600);
        let allowance = Allowance { limits, margin, clock: None };
        let conduct = Conduct { allowances: vec![allowance; 2], ..Conduct::default() };
        let tournament = tournament.conducted(conduct)?;
        let factory = |_| {
            let config = AlphaBetaConfig { table_mib: 1, ..AlphaBetaConfig::default() };
            Ok(Box::new(AlphaBetaPlayer::new(config)) as Box<dyn Player>)
        };
        let pool = thread_pool(1)?;
        let journal =
            std::env::temp_dir().join(format!("surakarta-bench-{}.jsonl", std::process::id()));
        let session = Session { journal: Some(&journal), ..Session::new(&pool) };
        let began = Instant::now();
        let played = tournament.play(&factory, &session);
        let seconds = began.elapsed().as_secs_f64();
        let _ = std::fs::remove_file(&journal);
        let games = played?.games;
        let mut times: Vec<f64> =
            games.iter().flat_map(|game| &game.plies).map(|ply| ply.us as f64).collect();
        times.sort_by(f64::total_cmp);
        let thinking = times.iter().sum::<f64>() / 1e6;
        let late = |share: f64| {
            let at = ((times.len() - 1) as f64 * share) as usize;
            (times[at] - allowed.as_micros() as f64).max(0.0)
        };
        let results = self.results();
        let options = RatingOptions {
            first_advantage: true,
            clusters: Clusters::Pairs,
            ..RatingOptions::default()
        };
        let players = self.players as usize;
        let rating_seconds = median_of_five(|| {
            let ratings = rate(players, &results, &options);
            std::hint::black_box(ratings.rating(0).is_ok());
        });
        let counting_seconds = median_of_five(|| {
            let mut table = vec![[0u32; 3]; players * players];
            for game in &results {
                table[game.first * players + game.second][(2.0 * game.score) as usize] += 1;
            }
            std::hint::black_box(table);
        });
        Ok(ArenaRates {
            ms: self.ms,
            games: games.len(),
            moves: times.len(),
            seconds,
            overhead: 1.0 - thinking / seconds,
            late_us: [late(0.5), late(0.99)],
            rated_games: self.games,
            rated_players: self.players,
            rating_seconds,
            counting_seconds,
        })
    }

    /// Random results of players whose strength rises with their numbers.
    fn results(&self) -> Vec<RatedGame> {
        let mut rng = stream(1, [0, 0, 0]);
        let n = self.players;
        (0..u64::from(self.games))
            .map(|game| {
                let first = rng.random_range(0..n);
                let second = (first + rng.random_range(1..n)) % n;
                let odds = (f64::from(second) - f64::from(first)) * 3.0 / f64::from(n);
                let x: f64 = rng.random_range(0.0..1.0);
                let win = 0.8 / (1.0 + odds.exp());
                let score = if x < win {
                    1.0
                } else if x < win + 0.2 {
                    0.5
                } else {
                    0.0
                };
                RatedGame { first: first as usize, second: second as usize, score, pair: game / 2 }
            })
            .collect()
    }
}

fn median_of_five(mut work: impl FnMut()) -> f64 {
    let mut times = [0.0; 5].map(|_: f64| {
        let began = Instant::now();
        work();
        began.elapsed().as_secs_f64()
    });
    times.sort_by(f64::total_cmp);
    times[2]
}

impl fmt::Display for ArenaRates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, late] = self.late_us;
        writeln!(
            f,
            "{} of {} at {} ms a move, with a journal: {:.1} s, overhead {:.2} %",
            quantity(self.games, "game"),
            quantity(self.moves, "move"),
            self.ms,
            self.seconds,
            100.0 * self.overhead
        )?;
        writeln!(f, "moves beyond their time: median {median:.0} us, 99 % within {late:.0} us")?;
        writeln!(
            f,
            "{} games of {} players rated with errors in {:.3} s ({:.1} times a mere count of them)",
            self.rated_games,
            self.rated_players,
            self.rating_seconds,
            self.rating_seconds / self.counting_seconds
        )
    }
}
