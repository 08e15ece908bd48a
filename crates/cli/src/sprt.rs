//! The flags of a sequential test.

use anyhow::{Result, anyhow};
use surakarta_arena::{Sprt, SprtModel};

/// A sequential test of the first player's strength above the second's.
#[derive(clap::Args)]
#[command(next_help_heading = "Sequential test")]
pub(crate) struct SprtArguments {
    /// The two hypotheses: is the first player stronger by ELO0 or by ELO1? As in 0,10.
    #[arg(long, value_name = "ELO0,ELO1", value_parser = bounds, allow_hyphen_values = true)]
    sprt: Option<[f64; 2]>,
    /// The scale of ELO0 and ELO1: normalised Elo (in standard deviations of a game) or logistic Elo.
    #[arg(long, value_name = "normalised|logistic", default_value_t, requires = "sprt")]
    model: SprtModel,
    /// The probability to find for ELO1 where ELO0 is true.
    #[arg(long, value_name = "P", default_value_t = 0.05, requires = "sprt")]
    alpha: f64,
    /// The probability to find for ELO0 where ELO1 is true.
    #[arg(long, value_name = "P", default_value_t = 0.05, requires = "sprt")]
    beta: f64,
}

impl SprtArguments {
    /// The test, if one is asked for.
    pub(crate) fn test(&self) -> Result<Option<Sprt>> {
        let Some([elo0, elo1]) = self.sprt else { return Ok(None) };
        let SprtArguments { model, alpha, beta, .. } = *self;
        let test = Sprt { elo0, elo1, alpha, beta, model };
        test.check().map_err(|said| anyhow!("--sprt: {said}"))?;
        Ok(Some(test))
    }
}

fn bounds(text: &str) -> Result<[f64; 2], String> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|number| number.trim().parse().ok()).collect();
    let two = numbers.and_then(|numbers| <[f64; 2]>::try_from(numbers).ok());
    two.ok_or_else(|| "write two numbers with a comma between them, as in 0,10".to_owned())
}
