//! What was found out, as people and programs read it.

use std::fmt;

use serde::Serialize;
use surakarta_game::{Game, Move};
use surakarta_search::{MctsSpec, MoveStats, PlayerSpec, Proof, Rollouts, Search, Work};

use surakarta_tablebase::{Entry, Tables, Value};

use super::Question;

/// What a player makes of a position, seen by the side to move.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Analysis {
    /// The position.
    pub position: String,
    /// The rules of the game.
    pub rules: String,
    /// Who thinks.
    pub player: String,
    /// Expected result in [−1, 1].
    pub value: Option<f32>,
    /// `win`, `draw` or `loss`, if that is proven.
    pub proven: Option<&'static str>,
    /// What the network says of the position without any search; `None` of players without a network.
    pub network: Option<Outlook>,
    /// What endgame tables say of the position; `None` without any that hold it.
    pub table: Option<TableEntry>,
    /// Whether what they say is proven under the rules: elsewhere the game may end before.
    pub table_proven: bool,
    /// The moves that the player has looked at, the best first. Alpha-beta with one line knows of the best
    /// move alone.
    pub moves: Vec<MoveAnalysis>,
    /// Descents from the root.
    pub simulations: u64,
    /// Moves made by alpha-beta.
    pub nodes: u64,
    /// Positions that a network evaluated.
    pub evaluations: u64,
    /// Plies searched completely, or the longest line of a tree.
    pub depth: u32,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Whether the search has come to its end; false if it was stopped before, or goes on.
    pub complete: bool,
}

/// Probabilities of the three results.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Outlook {
    /// Of a win.
    pub win: f32,
    /// Of a draw.
    pub draw: f32,
    /// Of a loss.
    pub loss: f32,
}

impl From<[f32; 3]> for Outlook {
    fn from([win, draw, loss]: [f32; 3]) -> Outlook {
        Outlook { win, draw, loss }
    }
}

/// What a player makes of one move.
#[derive(Clone, Debug, Serialize)]
pub struct MoveAnalysis {
    /// The move, as in `a2a3`.
    pub r#move: String,
    /// Its mean or minimax value in [−1, 1], seen by the side to move at the root; `None` without visits.
    pub value: Option<f32>,
    /// Simulations that began with it.
    pub visits: Option<u64>,
    /// What the network's policy, or that with noise, gives it.
    pub prior: Option<f32>,
    /// `win`, `draw` or `loss`, if that is proven.
    pub proven: Option<&'static str>,
    /// The line that is expected after it, itself first; empty beyond the lines that were asked for.
    pub line: Vec<String>,
    /// What endgame tables say of it, seen by the side that makes it; `None` without any that know.
    pub table: Option<TableEntry>,
}

/// What endgame tables say.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TableEntry {
    /// The result under best play.
    pub value: Value,
    /// Plies until the capture that forces it; `None` where it is the count of the pieces.
    pub plies: Option<u8>,
}

impl From<Entry> for TableEntry {
    fn from(Entry { value, plies }: Entry) -> TableEntry {
        TableEntry { value, plies }
    }
}

impl fmt::Display for TableEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.plies {
            Some(plies) => write!(f, "{} in {plies}", self.value),
            None => write!(f, "{} by count", self.value),
        }
    }
}

pub(super) fn texts(moves: &[Move]) -> Vec<String> {
    moves.iter().map(ToString::to_string).collect()
}

/// An analysis that knows nothing yet but what is asked.
pub(super) fn nothing(question: &Question) -> Analysis {
    Analysis {
        position: question.game.position().to_string(),
        rules: question.game.rules().to_string(),
        player: question.player.to_string(),
        ..Analysis::default()
    }
}

fn with_work(work: Work, analysis: Analysis) -> Analysis {
    let Work { simulations, nodes, evaluations, depth } = work;
    Analysis { simulations, nodes, evaluations, depth, ..analysis }
}

const fn name(proof: Proof) -> &'static str {
    match proof {
        Proof::Loss => "loss",
        Proof::Draw => "draw",
        Proof::Win => "win",
    }
}

/// What a tree search with a network knows: the move that it would play first, then the others by
/// proof, visits and value.
pub(super) fn of_search(
    question: &Question,
    spec: &MctsSpec,
    search: &Search,
    outlook: Outlook,
) -> Analysis {
    let best = search.best();
    let mut stats: Vec<MoveStats> = search.moves().collect();
    let rank = |one: &MoveStats| {
        let value = one.value.unwrap_or(f32::NEG_INFINITY);
        (Some(one.mv) == best, one.proof != Some(Proof::Loss), one.visits, value, one.prior)
    };
    stats.sort_by(|a, b| rank(b).partial_cmp(&rank(a)).unwrap_or(std::cmp::Ordering::Equal));
    let moves = stats.iter().enumerate().map(|(n, one)| MoveAnalysis {
        r#move: one.mv.to_string(),
        value: one.value,
        visits: Some(one.visits.into()),
        prior: Some(one.prior),
        proven: one.proof.map(name),
        line: if n < question.multipv { texts(&search.line_of(one.mv)) } else { Vec::new() },
        table: None,
    });
    let analysis = Analysis {
        player: PlayerSpec::Mcts(spec.clone()).to_string(),
        value: search.value(),
        proven: search.proof().map(name),
        network: Some(outlook),
        moves: moves.collect(),
        ..nothing(question)
    };
    with_work(search.work(), analysis)
}

/// What a tree of random games knows.
pub(super) fn of_rollouts(question: &Question, tree: &Rollouts<'_>) -> Analysis {
    let moves = tree.moves().into_iter().enumerate().map(|(n, one)| MoveAnalysis {
        r#move: one.mv.to_string(),
        value: one.value,
        visits: Some(one.visits),
        prior: None,
        proven: None,
        line: if n < question.multipv { texts(&one.line) } else { Vec::new() },
        table: None,
    });
    let moves: Vec<MoveAnalysis> = moves.collect();
    let value = moves.first().and_then(|best| best.value);
    with_work(tree.work(), Analysis { value, moves, ..nothing(question) })
}

impl Analysis {
    /// Adds what endgame tables say of the position and its moves.
    pub(super) fn look_up(&mut self, game: &Game, tables: &Tables) {
        let position = game.position();
        self.table_proven = tables.prove(position, game.rules()).is_some();
        self.table = tables.probe(position).map(Into::into);
        for (mv, entry) in tables.moves(position) {
            let name = mv.to_string();
            for one in self.moves.iter_mut().filter(|one| one.r#move == name) {
                one.table = Some(entry.into());
            }
        }
    }

    /// What it took, in words.
    fn work(&self) -> String {
        let counts = [
            ("simulations", self.simulations),
            ("evaluations", self.evaluations),
            ("nodes", self.nodes),
        ];
        let mut text = format!("{:.2} s, depth {}", self.seconds, self.depth);
        for (what, count) in counts.into_iter().filter(|&(_, count)| count > 0) {
            text += &format!(", {count} {what}");
        }
        text
    }

    /// The lines that were asked for, a row each: the line's own figures, then its moves.
    pub fn lines(&self) -> String {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let shown = self.moves.iter().filter(|one| !one.line.is_empty());
        let rows = shown.zip(1..).map(|(one, number)| {
            let value = or_dash(one.value.map(|value| format!("{value:+.3}")));
            let visits = or_dash(one.visits.map(|visits| visits.to_string()));
            let prior = or_dash(one.prior.map(|prior| format!("{:.1} %", 100.0 * prior)));
            let proven = one.proven.map_or(String::new(), |result| format!(" (proven {result})"));
            let table = one.table.map_or(String::new(), |entry| format!(" (tables: {entry})"));
            format!(
                "{number:>3} {value:>7} {visits:>9} {prior:>7}  {}{proven}{table}\n",
                one.line.join(" ")
            )
        });
        rows.collect()
    }

    /// One line for whoever looks on: what it took, the value, and the best line.
    pub fn summary(&self) -> String {
        let best = self.moves.first().map_or(String::new(), |best| best.line.join(" "));
        let value = self.value.map_or(String::new(), |value| format!(", value {value:+.3}"));
        format!("{}{value}: {best}", self.work())
    }
}

impl fmt::Display for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, under {}, by {}", self.position, self.rules, self.player)?;
        if let Some(value) = self.value {
            write!(f, "value {value:+.3} for the side to move")?;
            match self.proven {
                Some(result) => writeln!(f, ", a proven {result}")?,
                None => writeln!(f)?,
            }
        }
        if let Some(Outlook { win, draw, loss }) = self.network {
            writeln!(f, "the network alone: win {win:.3}, draw {draw:.3}, loss {loss:.3}")?;
        }
        if let Some(entry) = self.table {
            let unless = if self.table_proven { "" } else { ", unless the game ends before" };
            writeln!(f, "endgame tables: {entry}{unless}")?;
        }
        writeln!(f, "  # {:>7} {:>9} {:>7}  line", "value", "visits", "prior")?;
        write!(f, "{}", self.lines())?;
        let stopped = if self.complete { "" } else { "; stopped" };
        writeln!(f, "{}{stopped}", self.work())
    }
}
