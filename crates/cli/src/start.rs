use anyhow::{Context, Result};
use surakarta_game::{Position, Variant};

/// The position that a command begins with.
#[derive(clap::Args)]
pub(crate) struct Start {
    /// The variant: standard, rural, sepur or sepur,diagonals=no. That of the position if not given.
    #[arg(long)]
    variant: Option<Variant>,
    /// The position, as in "wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1"; the start if not given. The name
    /// of its variant may follow.
    #[arg(long)]
    position: Option<String>,
}

impl Start {
    /// The position of `--position`, or the start of `--variant`.
    pub(crate) fn position(&self) -> Result<Position> {
        match &self.position {
            Some(text) => self.read(text).context("--position"),
            None => Ok(Position::start(self.variant.unwrap_or_default())),
        }
    }

    /// The variant: that of `--variant`, or the standard one.
    pub(crate) fn variant(&self) -> Variant {
        self.variant.unwrap_or_default()
    }

    /// Reads a position, of `--variant` if that is given.
    pub(crate) fn read(&self, text: &str) -> Result<Position> {
        Ok(match self.variant {
            Some(variant) => Position::parse(text, variant)?,
            None => text.parse()?,
        })
    }
}
