use std::fmt;
use std::str::FromStr;

/// A board and its way of moving. Records, shards and weights files name the variant they belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Variant {
    /// 6×6 points, twelve pieces a side: the game as the Computer Olympiad plays it.
    #[default]
    Standard = 0,
}

impl Variant {
    /// Every variant, in the order of their numbers.
    pub const ALL: [Variant; 1] = [Variant::Standard];

    /// The name used in configurations, records and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Standard => "standard",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a variant; the variants are: standard")]
pub struct UnknownVariant(String);

impl FromStr for Variant {
    type Err = UnknownVariant;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Variant::ALL
            .into_iter()
            .find(|v| v.name() == text)
            .ok_or_else(|| UnknownVariant(text.to_owned()))
    }
}
