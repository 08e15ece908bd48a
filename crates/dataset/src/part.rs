//! Training, validation and test, game by game.

use surakarta_record::GameRecord;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What games are there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// To learn from.
    Train,
    /// To choose settings by.
    Validation,
    /// To be looked at once, at the end.
    Test,
}

impl Part {
    /// All three, in this order.
    pub const ALL: [Part; 3] = [Part::Train, Part::Validation, Part::Test];

    /// `train`, `validation` or `test`.
    pub const fn name(self) -> &'static str {
        match self {
            Part::Train => "train",
            Part::Validation => "validation",
            Part::Test => "test",
        }
    }
}

/// Which share of the games each part gets, and the key of the draw.
///
/// Start and moves of a game and the key alone decide, by xxh3-64 of
/// [`GameRecord::course`] (little-endian) with the key as its seed: a game stays in its part when others are
/// added, and games that went the same way are in the same part wherever they lie.
///
/// ```
/// use surakarta_dataset::Shares;
///
/// let shares: Shares = "0.8,0.1,0.1".parse()?;
/// assert!("0.8,0.3,0.1".parse::<Shares>().is_err());
/// # Ok::<(), surakarta_dataset::InvalidShares>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    shares: [f64; 3],
    key: u64,
}

/// Nine games of ten to learn from, one of twenty for each of the others.
impl Default for Shares {
    fn default() -> Self {
        Shares { shares: [0.9, 0.05, 0.05], key: 0 }
    }
}

impl Shares {
    /// The share of each part; they sum to 1.
    pub fn shares(&self) -> [f64; 3] {
        self.shares
    }

    /// The same shares drawn anew by another key; the default is 0.
    #[must_use]
    pub fn with_key(self, key: u64) -> Shares {
        Shares { key, ..self }
    }

    /// The key of the draw.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Where a game belongs.
    pub fn part(&self, game: &GameRecord) -> Part {
        self.part_of(game.course())
    }

    /// The same by the hash of its start and moves.
    pub(crate) fn part_of(&self, course: u64) -> Part {
        let drawn = xxh3_64_with_seed(&course.to_le_bytes(), self.key);
        // Uniform in [0, 1).
        let drawn = (drawn >> 11) as f64 / (1u64 << 53) as f64;
        let [train, validation, _] = self.shares;
        match drawn {
            _ if drawn < train => Part::Train,
            // A share of nothing gets nothing, however the sum is rounded.
            _ if drawn < train + validation || self.shares[2] == 0.0 => match validation > 0.0 {
                true => Part::Validation,
                false => Part::Train,
            },
            _ => Part::Test,
        }
    }
}

/// The text is no three shares.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no division; write the shares of train, validation and test, which sum to 1, as in 0.8,0.1,0.1"
)]
pub struct InvalidShares(String);

impl std::str::FromStr for Shares {
    type Err = InvalidShares;

    fn from_str(text: &str) -> Result<Shares, InvalidShares> {
        let error = || InvalidShares(text.to_owned());
        let shares = text.split(',').map(|share| share.trim().parse::<f64>());
        let shares = shares.collect::<Result<Vec<f64>, _>>().map_err(|_| error())?;
        let shares: [f64; 3] = shares.try_into().map_err(|_| error())?;
        let sum: f64 = shares.iter().sum();
        if shares.iter().any(|share| !(0.0..=1.0).contains(share)) || (sum - 1.0).abs() > 1e-9 {
            return Err(error());
        }
        Ok(Shares { shares, ..Shares::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_get_their_shares_and_keys_draw_anew() {
        let counts = |shares: Shares| {
            let mut counts = [0; 3];
            (0..100_000u64).for_each(|course| counts[shares.part_of(course) as usize] += 1);
            counts
        };
        let of = |text: &str, key| Shares { key, ..text.parse().unwrap() };
        for key in 0..4 {
            // Standard deviations are below 160.
            let [train, validation, test] = counts(of("0.7,0.2,0.1", key));
            assert!((69_200..70_800).contains(&train), "{train}");
            assert!((19_300..20_700).contains(&validation), "{validation}");
            assert!((9_400..10_600).contains(&test), "{test}");
        }
        assert_eq!(counts(of("1,0,0", 3)), [100_000, 0, 0]);
        assert_eq!(counts(of("0,1,0", 3)), [0, 100_000, 0]);
        assert_eq!(counts(of("0,0,1", 3)), [0, 0, 100_000]);
        let part = |key, course| of("0.5,0.5,0", key).part_of(course);
        let same = (0..10_000).filter(|&course| part(1, course) == part(2, course)).count();
        assert!((4_700..5_300).contains(&same), "{same}");
    }

    #[test]
    fn shares_sum_to_one() {
        for wrong in ["", "1", "0.5,0.5", "0.5,0.4,0.2", "1.5,-0.5,0", "a,b,c", "NaN,0,1"] {
            assert!(wrong.parse::<Shares>().is_err(), "{wrong}");
        }
        assert_eq!("0.8, 0.1,0.1".parse::<Shares>().unwrap().shares(), [0.8, 0.1, 0.1]);
    }
}
