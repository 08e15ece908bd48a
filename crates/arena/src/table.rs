//! Standings for people and for other programs.

use std::fmt::Write as _;
use std::io;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::number::{self, quantity};
use crate::standings::{DifferenceRow, Standings};

/// How tables are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableStyle {
    /// For a terminal.
    #[default]
    Terminal,
    /// Markdown.
    Markdown,
}

impl Standings {
    /// The table for a terminal: ratings, how far the strongest rated player is above each other, what
    /// the games were, two players' head to head, and warnings. It ends with a line break.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n{}", self.ratings(TableStyle::Terminal), self.about());
        if let Some(top) = self.players.iter().find(|player| player.rating.is_some()) {
            // By rank of the others: those above the top have no rating.
            let rows = self.differences.iter();
            let rows = rows.filter(|row| [&row.first, &row.second].contains(&&top.name));
            let rows: Vec<DifferenceRow> = rows.map(|row| row.seen_by(&top.name)).collect();
            let _ = writeln!(text, "{}", differences(&top.name, &rows));
        }
        if let Some(head_to_head) = &self.head_to_head {
            text.push_str(&head_to_head.text());
        }
        text.push_str(&self.warned(TableStyle::Terminal));
        text
    }

    /// All that is known, as tables: ratings, results two by two, differences with their likelihood of
    /// superiority, surprises, a head to head, and warnings. It ends with a line break.
    pub fn tables(&self, style: TableStyle) -> String {
        let about = match style {
            TableStyle::Terminal => self.about(),
            // Lines of one paragraph would be joined.
            TableStyle::Markdown => self.about().replace('\n', "  \n"),
        };
        let mut parts = vec![format!("{}\n", self.ratings(style)), about];
        if self.players.len() > 1 {
            parts.push(self.two_by_two(style));
        }
        if let Some(head_to_head) = &self.head_to_head {
            parts.push(match style {
                TableStyle::Terminal => head_to_head.text(),
                TableStyle::Markdown => head_to_head.text().replace('\n', "  \n"),
            });
        }
        let warned = self.warned(style);
        if !warned.is_empty() {
            parts.push(warned);
        }
        parts.join("\n")
    }

    fn warned(&self, style: TableStyle) -> String {
        let line = |warning: &String| match style {
            TableStyle::Terminal => format!("warning: {warning}\n"),
            TableStyle::Markdown => format!("- Warning: {warning}\n"),
        };
        self.warnings.iter().map(line).collect()
    }

    /// What the ratings are, and what the games were.
    fn about(&self) -> String {
        let mut text = String::new();
        let prior = self.prior.map_or(String::new(), |prior| {
            format!(", with a prior of {prior} virtual draws a player")
        });
        let _ = writeln!(
            text,
            "Elo by Bradley-Terry, {}{prior}; 95 % errors, {} taken as independent",
            self.scale, self.clusters
        );
        if let Some(advantage) = &self.first_advantage {
            let value = signed(advantage.elo);
            let reason = advantage.reason.as_ref().map_or(String::new(), |r| format!(" ({r})"));
            let error = plain(advantage.error);
            let _ = writeln!(text, "advantage of the first move: {value} ± {error}{reason}");
        }
        if let Some(rate) = self.draw_rate_at_equality {
            let _ = writeln!(text, "draws between equals: {:.1} %", 100.0 * rate);
        }
        let mut facts = vec![quantity(self.games, "game")];
        if let Some(distinct) = self.distinct_games {
            facts[0].push_str(&format!(" ({distinct} distinct)"));
        }
        if self.counted < self.games {
            facts.push(format!("{} counted", self.counted));
        }
        facts.push(quantity(self.pairs, "pair"));
        if let Some(openings) = self.distinct_openings {
            facts.push(quantity(openings, "distinct opening"));
        }
        let _ = writeln!(text, "{}", facts.join(", "));
        if !self.endings.is_empty() {
            let endings = self.endings.iter().map(|(name, n)| format!("{name} {n}"));
            let _ = writeln!(text, "endings: {}", endings.collect::<Vec<_>>().join(", "));
        }
        text
    }

    fn ratings(&self, style: TableStyle) -> Table {
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
        table(style, &header, 1, rows.map(Vec::from).collect())
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
            let value = |x: Option<f64>| x.map_or(String::new(), |x| number::fixed(x, 3));
            csv.write_record([
                (n + 1).to_string(),
                player.name.clone(),
                value(player.rating),
                value(player.error),
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
pub(crate) fn table(
    style: TableStyle,
    header: &[&str],
    names: usize,
    rows: Vec<Vec<String>>,
) -> Table {
    let last = header.len() - 1;
    let columns = if rows.iter().all(|row| row[last].is_empty()) { last } else { last + 1 };
    let mut table = Table::new();
    table.load_style(match style {
        TableStyle::Terminal => presets::UTF8_FULL_CONDENSED,
        TableStyle::Markdown => presets::ASCII_MARKDOWN,
    });
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(&header[..columns]);
    table.add_rows(rows.iter().map(|row| {
        row[..columns].iter().map(|cell| match style {
            TableStyle::Terminal => cell.clone(),
            // What would end the cell.
            TableStyle::Markdown => cell.replace('|', "\\|"),
        })
    }));
    for (n, column) in table.column_iter_mut().enumerate() {
        if n != names && n != last {
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
        vec![
            row.second.clone(),
            signed(row.difference),
            plain(row.error),
            signed(end(-1.0)),
            signed(end(1.0)),
            row.superiority.map_or("-".to_owned(), |p| format!("{:.2} %", 100.0 * p)),
            row.reason.clone().unwrap_or_default(),
        ]
    });
    table(TableStyle::Terminal, &header, 0, rows.collect())
}

pub(crate) fn signed(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |x| number::signed(x, 1))
}

pub(crate) fn plain(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |x| number::fixed(x, 1))
}
