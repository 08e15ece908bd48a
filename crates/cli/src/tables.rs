//! How tables of results are printed.

use std::io;

use anyhow::{Context, Result};
use serde_json::{Map, Value};
use surakarta_arena::{Standings, TableStyle};

use crate::output;

/// Which form, of those that a command offers.
#[derive(clap::Args)]
pub(crate) struct Form {
    /// Print one JSON object: all numbers, with null and a reason where there is none.
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    json: bool,
    /// Print one row a player as CSV.
    #[arg(long, conflicts_with = "markdown")]
    csv: bool,
    /// Print the tables in Markdown.
    #[arg(long)]
    markdown: bool,
}

impl Form {
    /// Prints standings: to people as `text`, to programs with what else there is to say.
    pub(crate) fn print(
        &self,
        standings: &Standings,
        text: impl FnOnce() -> String,
        more: Map<String, Value>,
    ) -> Result<()> {
        if self.json {
            let mut value = serde_json::to_value(standings)?;
            value.as_object_mut().context("standings are an object")?.extend(more);
            output::json(&value)
        } else if self.csv {
            standings.write_csv(io::stdout().lock()).context("standard output takes no more")
        } else if self.markdown {
            output::print(standings.tables(TableStyle::Markdown))
        } else {
            output::print(text())
        }
    }
}
