//! Standings for people and for other programs.

use std::fmt::Write as _;
use std::io;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::standings::{DifferenceRow, Standings};

impl Standings {
    /// The table for a terminal: ratings, how far the strongest rated player is above each other, what
    /// the games were, and warnings. It ends with a line break.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n", self.ratings());
        let _ = writeln!(
            text,
            "Elo by Bradley-Terry, {}; 95 % errors, {} taken as independent",
            self.scale, self.clusters
        );
        if let Some(advantage) = &self.first_advantage {
            let value = signed(advantage.elo);
            let reason = advantage.reason.as_ref().map_or(String::new(), |r| format!(" ({r})"));
            let error = plain(advantage.error);
            let _ = writeln!(text, "advantage of the first move: {value} ± {error}{reason}");
        }
        let _ = writeln!(
            text,
            "{} games ({} distinct), {} pairs, {} distinct openings",
            self.games, self.distinct_games, self.pairs, self.distinct_openings
        );
        let endings = self.endings.iter().map(|(name, n)| format!("{name} {n}"));
        let _ = writeln!(text, "endings: {}", endings.collect::<Vec<_>>().join(", "));
        if let Some(top) = self.players.iter().find(|player| player.rating.is_some()) {
            let rows: Vec<DifferenceRow> = self
                .players
                .iter()
                .filter(|other| other.name != top.name)
                .filter_map(|other| self.difference(&top.name, &other.name))
                .collect();
            let _ = writeln!(text, "{}", differences(&top.name, &rows));
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "warning: {warning}");
        }
        text
    }

    /// The table of ratings in Markdown, and warnings below it.
    pub fn markdown(&self) -> String {
        let mut table = self.ratings();
        table.load_style(presets::ASCII_MARKDOWN);
        let mut text = format!("{table}\n");
        for warning in &self.warnings {
            let _ = write!(text, "\nWarning: {warning}\n");
        }
        text
    }

    fn ratings(&self) -> Table {
        let header = [
            "#",
            "player",
            "Elo",
            "± 95 %",
            "games",
            "pairs",
            "score",
            "W",
            "D",
            "L",
            "as first",
            "why no value",
        ];
        let rows = self.players.iter().enumerate().map(|(n, player)| {
            [
                (n + 1).to_string(),
                player.name.clone(),
                signed(player.rating),
                plain(player.error),
                player.games.to_string(),
                player.pairs.to_string(),
                format!("{:.1} %", 100.0 * player.score),
                player.total.wins.to_string(),
                player.total.draws.to_string(),
                player.total.losses.to_string(),
                format!("{:.1} %", 100.0 * player.as_first.score()),
                player.reason.clone().unwrap_or_default(),
            ]
        });
        table(header, 1, rows.collect())
    }

    /// Writes one row a player, by rank. Numbers without a value are empty, with a reason.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_csv(&self, to: impl io::Write) -> io::Result<()> {
        let mut csv = csv::Writer::from_writer(to);
        csv.write_record([
            "rank", "player", "rating", "error", "games", "pairs", "score", "wins", "draws",
            "losses", "reason",
        ])?;
        for (n, player) in self.players.iter().enumerate() {
            let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.3}"));
            csv.write_record([
                (n + 1).to_string(),
                player.name.clone(),
                number(player.rating),
                number(player.error),
                player.games.to_string(),
                player.pairs.to_string(),
                format!("{:.5}", player.score),
                player.total.wins.to_string(),
                player.total.draws.to_string(),
                player.total.losses.to_string(),
                player.reason.clone().unwrap_or_default(),
            ])?;
        }
        csv.flush()
    }

    /// Writes everything as one JSON object, on lines for people to read.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_json(&self, mut to: impl io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut to, self)?;
        to.write_all(b"\n")?;
        to.flush()
    }
}

/// Columns of numbers, but for the one of names and the last, which gives reasons and is left out
/// where there are none.
fn table<const N: usize>(header: [&str; N], names: usize, rows: Vec<[String; N]>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Disabled);
    let columns = if rows.iter().all(|row| row[N - 1].is_empty()) { N - 1 } else { N };
    table.set_header(&header[..columns]);
    table.add_rows(rows.iter().map(|row| &row[..columns]));
    for (n, column) in table.column_iter_mut().enumerate() {
        if n != names && n != N - 1 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn differences(top: &str, rows: &[DifferenceRow]) -> Table {
    let above = format!("{top} above");
    let header = [above.as_str(), "Elo", "± 95 %", "from", "to", "superior", "why no value"];
    let rows = rows.iter().map(|row| {
        let end = |sign: f64| Some(row.difference? + sign * row.error?);
        [
            row.second.clone(),
            signed(row.difference),
            plain(row.error),
            signed(end(-1.0)),
            signed(end(1.0)),
            row.superiority.map_or("-".to_owned(), |p| format!("{:.2} %", 100.0 * p)),
            row.reason.clone().unwrap_or_default(),
        ]
    });
    table(header, 0, rows.collect())
}

fn signed(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |x| format!("{x:+.1}"))
}

fn plain(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |x| format!("{x:.1}"))
}
