//! The table of a tournament while it is played, on stderr.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::game::ArenaGame;
use crate::progress::{Progress, ProgressLine};
use crate::standings::{Standings, StandingsOptions};

/// Players shown, the strongest first.
const ROWS: usize = 12;

/// Shows how far a tournament is, and its table so far: below the bar on a terminal, else as lines
/// now and then.
pub struct LiveTable<'a> {
    names: &'a [String],
    options: &'a StandingsOptions,
    line: ProgressLine,
    state: Mutex<State>,
}

struct State {
    games: Vec<ArenaGame>,
    shown: Instant,
    table: String,
}

impl<'a> LiveTable<'a> {
    /// Of the named players.
    pub fn new(names: &'a [String], options: &'a StandingsOptions) -> LiveTable<'a> {
        let state = State { games: Vec::new(), shown: Instant::now(), table: String::new() };
        LiveTable { names, options, line: ProgressLine::new(), state: Mutex::new(state) }
    }

    /// Takes a finished game, and shows the table if it is time again.
    pub fn show(&self, game: Option<&ArenaGame>, progress: &Progress) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(game) = game {
            // What the table needs; the plies of a long tournament would fill the memory twice.
            state.games.push(ArenaGame { plies: Vec::new(), ..game.clone() });
        }
        let every = Duration::from_secs(if self.line.is_bar() { 2 } else { 60 });
        if state.shown.elapsed() >= every {
            state.shown = Instant::now();
            state.table = self.table(&state.games);
            self.line.show_below(&state.table);
        }
        self.line.show(progress);
    }

    /// `1. greedy +35.2 ± 20.1 (W 10 D 2 L 4)`, a line each.
    fn table(&self, games: &[ArenaGame]) -> String {
        let mut text = String::new();
        let Ok(standings) = Standings::of(self.names, games, self.options) else { return text };
        let rows = standings.players.iter().filter(|player| player.games > 0);
        for (n, player) in rows.take(ROWS).enumerate() {
            let rating = match (player.rating, player.error) {
                (Some(elo), Some(error)) => format!("{elo:+.1} ± {error:.1}"),
                (Some(elo), None) => format!("{elo:+.1}"),
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
