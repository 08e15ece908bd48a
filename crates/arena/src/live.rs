//! The table of a tournament while it is played, on stderr.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::game::ArenaGame;
use crate::number::{fixed, signed};
use crate::progress::{Progress, ProgressLine};
use crate::results::{ResultRow, Results};
use crate::standings::{Standings, StandingsOptions};

/// Players shown, the strongest first.
const ROWS: usize = 12;

/// Shows how far a tournament is, and its table so far: below the bar on a terminal, else as lines
/// now and then.
pub struct LiveTable {
    options: StandingsOptions,
    line: ProgressLine,
    state: Mutex<State>,
}

struct State {
    results: Results,
    shown: Instant,
    /// How long the last table took.
    cost: Duration,
}

impl LiveTable {
    /// Of the named players. A test is left to the end: it would have to be followed from the
    /// beginning each time.
    pub fn new(names: &[String], options: &StandingsOptions) -> LiveTable {
        let (shown, cost) = (Instant::now(), Duration::ZERO);
        LiveTable {
            options: StandingsOptions { sprt: None, ..options.clone() },
            line: ProgressLine::new(),
            state: Mutex::new(State { results: Results::of_players(names), shown, cost }),
        }
    }

    /// Takes finished games, and shows the table if it is time again. A table takes at most a
    /// twentieth of the time.
    pub fn show(&self, games: &[ArenaGame], progress: &Progress) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for game in games {
            let pair = u64::from(game.key.pairing) << 32 | u64::from(game.key.pair);
            if let Ok(row) = state.results.row(game) {
                state.results.games.push(ResultRow { pair: Some(pair), ..row });
            }
        }
        let usual = Duration::from_secs(if self.line.is_bar() { 2 } else { 60 });
        if state.shown.elapsed() >= usual.max(20 * state.cost) {
            let began = Instant::now();
            self.line.show_below(&self.table(&state.results));
            (state.shown, state.cost) = (Instant::now(), began.elapsed());
        }
        self.line.show(progress);
    }

    /// `1. greedy +35.2 ± 20.1 (W 10 D 2 L 4)`, a line each.
    fn table(&self, results: &Results) -> String {
        let mut text = String::new();
        let Ok(standings) = Standings::of_results(results, &self.options) else { return text };
        let rows = standings.players.iter().filter(|player| player.games > 0);
        for (n, player) in rows.take(ROWS).enumerate() {
            let rating = match (player.rating, player.error) {
                (Some(elo), Some(error)) => format!("{} ± {}", signed(elo, 1), fixed(error, 1)),
                (Some(elo), None) => signed(elo, 1),
                (None, _) => player.reason.clone().unwrap_or_default(),
            };
            let total = player.total;
            let _ = write!(
                text,
                "\n{:>3}. {}  {rating}  (W {} D {} L {})",
                n + 1,
                player.name,
                total.wins,
                total.draws,
                total.losses
            );
        }
        if standings.players.len() > ROWS {
            text.push_str("\n     …");
        }
        text
    }

    /// Leaves what stands, to print below it.
    pub fn finish(&self) {
        self.line.finish();
    }
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;
    use surakarta_game::{OLYMPIAD, Variant};
    use surakarta_search::{GreedyPlayer, Player, RandomPlayer};

    use super::*;
    use crate::session::Session;
    use crate::tournament::Tournament;

    #[test]
    fn the_table_so_far_counts_the_games_of_the_journal_too() {
        let names = ["greedy", "random"].map(str::to_owned);
        let tournament =
            Tournament::round_robin(&names, 3, 6, Variant::Standard, OLYMPIAD, 1).unwrap();
        let factory = |n| -> Result<Box<dyn Player>, _> {
            Ok(match n {
                0 => Box::new(GreedyPlayer::new(Default::default())),
                _ => Box::new(RandomPlayer::new(Default::default())),
            })
        };
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let session = Session { journal: Some(&path), ..Session::new(&pool) };
        tournament.play(&factory, &session).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let kept: Vec<&str> = text.lines().take(5).collect();
        std::fs::write(&path, kept.join("\n") + "\n").unwrap();
        let live = LiveTable::new(&names, &StandingsOptions::default());
        let show = |games: &[ArenaGame], progress: &Progress| live.show(games, progress);
        tournament.play(&factory, &Session { on_progress: Some(&show), ..session }).unwrap();
        let state = live.state.lock().unwrap();
        assert_eq!(state.results.games.len(), 6);
        let table = live.table(&state.results);
        assert!(table.starts_with("\n  1. greedy  won all 6 games  (W 6 D 0 L 0)"), "{table}");
    }
}
