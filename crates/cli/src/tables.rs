//! How tables of results are printed.

use std::io;

use anyhow::Context;
use surakarta_arena::Standings;

use crate::output;

/// Which form, of those that a command offers.
#[derive(clap::Args)]
pub(crate) struct Form {
    /// Print one JSON object.
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    json: bool,
    /// Print the table as CSV.
    #[arg(long, conflicts_with = "markdown")]
    csv: bool,
    /// Print the table as Markdown.
    #[arg(long)]
    markdown: bool,
}

impl Form {
    /// Prints standings; `more` is what else there is to say to people, and `json` to programs.
    pub(crate) fn print(
        &self,
        standings: &Standings,
        more: &str,
        extra: serde_json::Map<String, serde_json::Value>,
    ) -> anyhow::Result<()> {
        if self.json {
            let mut value = serde_json::to_value(standings)?;
            let object = value.as_object_mut().context("standings are an object")?;
            object.extend(extra);
            output::json(&value)
        } else if self.csv {
            Ok(standings.write_csv(io::stdout().lock())?)
        } else if self.markdown {
            output::print(standings.markdown())
        } else {
            output::print(format_args!("{}{more}", standings.table()))
        }
    }
}
