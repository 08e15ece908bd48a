//! Players two by two, as tables and text.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::head_to_head::Figures;
use crate::match_up::{CrossRow, HeadToHead, SurpriseRow};
use crate::number::{self, quantity};
use crate::rating::Clusters;
use crate::sprt::Hypothesis;
use crate::sprt_course::SprtCourse;
use crate::standings::{DifferenceRow, Standings, Tally};
use crate::table::{TableStyle, plain, signed, table};

/// Players up to whom a matrix of all of them fits a screen.
const MATRIX: usize = 8;

impl Standings {
    /// Results, differences and surprises: matrices of few players, lists of many.
    pub(crate) fn two_by_two(&self, style: TableStyle) -> String {
        let names: Vec<&str> = self.players.iter().map(|player| player.name.as_str()).collect();
        let mut text = String::new();
        let small = names.len() <= MATRIX;
        text.push_str("W-D-L and score of the row against the column\n\n");
        text.push_str(&if small {
            matrix(style, &names, |a, b| self.result(a, b))
        } else {
            let rows = self.cross_table.iter();
            list(style, "result", rows.map(|row| (&row.first, &row.second, Some(result(row)))))
        });
        text.push_str("\nElo of the row above the column, ± 95 %, likelihood of superiority\n\n");
        text.push_str(&if small {
            matrix(style, &names, |a, b| distance(&self.difference(a, b)?))
        } else {
            let met: HashSet<_> =
                self.cross_table.iter().map(|row| (&row.first, &row.second)).collect();
            let rows = self.differences.iter();
            let rows = rows.filter(|row| met.contains(&(&row.first, &row.second)));
            list(style, "difference", rows.map(|row| (&row.first, &row.second, distance(row))))
        });
        if self.surprises.iter().any(|row| row.z.is_some()) {
            text.push_str(
                "\nsurprises: score less the score expected from the ratings, in % points (and in standard errors)\n\n",
            );
            text.push_str(&if small {
                matrix(style, &names, |a, b| self.surprise(a, b))
            } else {
                let rows = self.surprises.iter();
                list(style, "surprise", rows.map(|r| (&r.first, &r.second, Some(surprise(r, 1.0)))))
            });
        }
        text
    }

    fn result(&self, a: &str, b: &str) -> Option<String> {
        let row = self
            .cross_table
            .iter()
            .find(|row| [(a, b), (b, a)].contains(&(row.first.as_str(), row.second.as_str())))?;
        if row.first == a {
            return Some(result(row));
        }
        let Tally { wins, draws, losses } = row.tally;
        let tally = Tally { wins: losses, draws, losses: wins };
        Some(result(&CrossRow { tally, score: 1.0 - row.score, ..row.clone() }))
    }

    fn surprise(&self, a: &str, b: &str) -> Option<String> {
        let row = self
            .surprises
            .iter()
            .find(|row| [(a, b), (b, a)].contains(&(row.first.as_str(), row.second.as_str())))?;
        Some(surprise(row, if row.first == a { 1.0 } else { -1.0 }))
    }
}

fn result(row: &CrossRow) -> String {
    let Tally { wins, draws, losses } = row.tally;
    format!("{wins}-{draws}-{losses} {:.1} %", 100.0 * row.score)
}

fn distance(row: &DifferenceRow) -> Option<String> {
    let mut text = format!("{} ± {}", signed(Some(row.difference?)), plain(row.error));
    if let Some(superiority) = row.superiority {
        let _ = write!(text, " ({:.2} %)", 100.0 * superiority);
    }
    Some(text)
}

/// With a sign of −1 from the side of the second player.
fn surprise(row: &SurpriseRow, sign: f64) -> String {
    let points = number::signed(100.0 * sign * (row.score - row.expected), 1);
    match row.z {
        Some(z) => format!("{points} ({})", number::signed(sign * z, 1)),
        None => points,
    }
}

/// Rows as they come, which is by rank, but those without a text.
fn list<'a>(
    style: TableStyle,
    what: &str,
    rows: impl Iterator<Item = (&'a String, &'a String, Option<String>)>,
) -> String {
    let rows = rows
        .filter_map(|(a, b, text)| Some(vec![a.clone(), b.clone(), text?, String::new()]))
        .collect();
    format!("{}\n", table(style, &["player", "against", what, ""], 0, rows))
}

fn matrix(
    style: TableStyle,
    names: &[&str],
    cell: impl Fn(&str, &str) -> Option<String>,
) -> String {
    let numbers: Vec<String> = (1..=names.len()).map(|n| n.to_string()).collect();
    let header: Vec<&str> =
        ["#", "player"].into_iter().chain(numbers.iter().map(String::as_str)).chain([""]).collect();
    let rows = names.iter().zip(&numbers).map(|(a, number)| {
        let cells = names.iter().map(|b| match a == b {
            true => String::new(),
            false => cell(a, b).unwrap_or_else(|| "-".to_owned()),
        });
        let names = [number.clone(), (*a).to_owned()];
        names.into_iter().chain(cells).chain([String::new()]).collect()
    });
    format!("{}\n", table(style, &header, 1, rows.collect()))
}

impl HeadToHead {
    /// A few lines for people, each saying from whose side it is. It ends with a line break.
    pub fn text(&self) -> String {
        let HeadToHead { first, second, tally, .. } = self;
        let mut text = format!(
            "{first} against {second}, seen by {first}: W {} D {} L {} of {}, score {}, draws {}\n",
            tally.wins,
            tally.draws,
            tally.losses,
            quantity(self.games, "game"),
            percent(Some(tally.score()).filter(|_| self.games > 0)),
            percent(self.draw_ratio),
        );
        if let Some(pairs) = self.pentanomial {
            let [ll, ld, even, wd, ww] = <[u64; 5]>::from(pairs);
            let _ = writeln!(
                text,
                "{}: LL {ll}, LD {ld}, WL + DD {even}, WD {wd}, WW {ww}; even {}, won for each lost {}, WL for each DD {}",
                quantity(self.pairs, "pair"),
                percent(self.pair_draw_ratio),
                ratio(self.pairs_ratio),
                ratio(self.wl_dd_ratio),
            );
        }
        let _ = writeln!(text, "by {}: {}", self.basis, figures(&self.figures));
        if self.unpaired_games > 0 && self.pentanomial.is_some() {
            let games = quantity(self.unpaired_games, "game");
            let _ = writeln!(text, "left out there: {games} outside pairs");
        }
        if let Some(sprt) = &self.sprt {
            text.push_str(&sprt.text());
        }
        text
    }
}

fn figures(figures: &Figures) -> String {
    let los = figures.los.map_or("-".to_owned(), |los| format!("{:.2} %", 100.0 * los));
    let reason = figures.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
    format!(
        "Elo {} ± {}, normalised Elo {} ± {}, likelihood of superiority {los}{reason}",
        signed(figures.elo),
        plain(figures.elo_error),
        signed(figures.nelo),
        plain(figures.nelo_error)
    )
}

impl SprtCourse {
    /// A few lines for people. It ends with a line break.
    pub fn text(&self) -> String {
        let test = &self.test;
        let mut text = format!(
            "SPRT of {:+} against {:+} {} Elo (alpha {}, beta {}): LLR {} in [{:.3}, {:.3}]",
            test.elo0,
            test.elo1,
            test.model,
            test.alpha,
            test.beta,
            self.llr.map_or("-".to_owned(), |llr| number::signed(llr, 3)),
            self.lower,
            self.upper
        );
        let unit = match self.unit {
            Clusters::Pairs => "pair",
            Clusters::Games => "game",
        };
        match (self.verdict, self.decided_at_pair) {
            (Some(verdict), Some(at)) => {
                let (accepted, other) = match verdict {
                    Hypothesis::H0 => (test.elo0, test.elo1),
                    Hypothesis::H1 => (test.elo1, test.elo0),
                };
                let found = format!("{verdict:?}: {accepted:+} Elo rather than {other:+}");
                let _ = writeln!(text, "; stopped at {unit} {at}, {found}");
            }
            _ => {
                let remaining = self.expected_remaining.map_or(String::new(), |n| {
                    let more = quantity(format_args!("{n:.0}"), &format!("more {unit}"));
                    format!(", about {more} if it goes on so")
                });
                let _ = writeln!(text, "; undecided{remaining}");
            }
        }
        if let Some(estimate) = &self.estimate {
            let _ = writeln!(
                text,
                "Elo with regard to the stopping: {}, 95 % from {} to {}",
                signed(estimate.elo),
                signed(estimate.from),
                signed(estimate.to)
            );
        }
        if let Some(reason) = &self.reason {
            let _ = writeln!(text, "no value: {reason}");
        }
        text
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

fn ratio(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.2}"))
}
