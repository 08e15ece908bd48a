use anyhow::Result;

use crate::output;

/// Say what this machine has and lacks for the toolkit.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  surakarta doctor
  surakarta doctor --json")]
pub(crate) struct Arguments {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: Arguments) -> Result<()> {
    let checks = surakarta_run::doctor::examine();
    if arguments.json {
        return output::json(&checks);
    }
    for check in checks {
        let mark = if check.good { "ok     " } else { "lacking" };
        output::line(format_args!("{mark} {:12} {}", check.name, check.finding))?;
    }
    Ok(())
}
