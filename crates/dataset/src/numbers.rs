//! What games were called when they were played.

use surakarta_record::ShardHeader;

/// The setting of a header that keeps them.
const SETTING: &str = "numbers";

/// The numbers that the games of a shard had when they were played.
///
/// A shard numbers its games one after another. Where games have been left out or come together from
/// several shards, its header's setting `numbers` keeps what they were called before, in the order of the
/// games: `0-12,14,130-141`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    first: u64,
    /// Runs of numbers one after another: the place of the first, and its number.
    runs: Vec<(u64, u64)>,
}

impl Numbers {
    /// Those of a shard.
    pub fn of(header: &ShardHeader) -> Numbers {
        let runs = header.settings.get(SETTING).and_then(|text| parse(text, header.games));
        let runs = runs.unwrap_or_else(|| vec![(0, header.first_game)]);
        Numbers { first: header.first_game, runs }
    }

    /// What the game was called that has this number in the shard.
    pub fn original(&self, number: u64) -> u64 {
        let place = number - self.first;
        let run = self.runs.partition_point(|&(first, _)| first <= place);
        let (first, original) = self.runs[run.saturating_sub(1)];
        original + (place - first)
    }
}

/// The header of games that keep their maker but not their places, the numbers apart.
pub(crate) fn making(header: &ShardHeader) -> ShardHeader {
    let mut making = ShardHeader { first_game: 0, games: 0, ..header.clone() };
    making.settings.remove(SETTING);
    making
}

/// The header for games that were called so before.
pub(crate) fn header(making: &ShardHeader, first_game: u64, originals: &[u64]) -> ShardHeader {
    let mut header = ShardHeader { first_game, games: originals.len() as u64, ..making.clone() };
    if !originals.iter().copied().eq(first_game..first_game + header.games) {
        header.settings.insert(SETTING.into(), text(originals));
    }
    header
}

fn text(numbers: &[u64]) -> String {
    let runs = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let run = |run: &[u64]| match run {
        [one] => one.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    runs.map(run).collect::<Vec<_>>().join(",")
}

/// The runs, if they are of so many games; what another program may have kept under our name is not.
fn parse(text: &str, games: u64) -> Option<Vec<(u64, u64)>> {
    let (mut runs, mut place) = (Vec::new(), 0u64);
    for run in text.split(',') {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        runs.push((place, first));
        place = place.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    (place == games).then_some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let cases: [&[u64]; 5] =
            [&[7], &[0, 1, 2, 5, 6, 9], &[9, 8, 7], &[100, 101, 3, 4, 5], &[4, 4]];
        for originals in cases {
            let header = header(&ShardHeader::default(), 1_000, originals);
            let numbers = Numbers::of(&header);
            let found: Vec<_> =
                (0..header.games).map(|place| numbers.original(1_000 + place)).collect();
            assert_eq!(found, originals);
            assert_eq!(making(&header), ShardHeader::default());
        }
        assert_eq!(text(&[0, 1, 2, 5, 6, 9]), "0-2,5-6,9");
    }

    #[test]
    fn games_that_keep_their_numbers_need_no_setting() {
        let header = header(&ShardHeader::default(), 5, &[5, 6, 7]);
        assert!(header.settings.is_empty());
        assert_eq!(Numbers::of(&header).original(6), 6);
    }

    #[test]
    fn settings_that_do_not_fit_are_not_ours() {
        for text in ["", "a", "3-1", "1,2", "0-18446744073709551615", "1-3,"] {
            let mut header = ShardHeader { first_game: 9, games: 4, ..ShardHeader::default() };
            header.settings.insert(SETTING.into(), text.into());
            assert_eq!(Numbers::of(&header).original(11), 11, "{text}");
        }
    }
}
