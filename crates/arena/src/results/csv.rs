//! Tables of results.

use crate::number::quantity;

use super::{Labelled, ResultRow, Results, ResultsError, Source, labels, points};

/// What a header must have.
const COLUMNS: [&str; 3] = ["first", "second", "result"];

pub(super) fn read(source: &Source<'_>, results: &mut Results) -> Result<(), ResultsError> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(source.text.as_bytes());
    let header = reader.headers().map_err(|error| source.wrong(1, error.to_string()))?.clone();
    let column = |name: &str| header.iter().position(|found| found.eq_ignore_ascii_case(name));
    let missing: Vec<&str> = COLUMNS.into_iter().filter(|name| column(name).is_none()).collect();
    if !missing.is_empty() {
        return Err(source.wrong(
            1,
            format!(
                "the header lacks `{}`; begin the table with the line `game,pair,first,second,result`",
                missing.join("`, `")
            ),
        ));
    }
    let places = COLUMNS.map(|name| column(name).unwrap_or_default());
    let pair_column = column("pair");
    let (mut rows, mut names, mut unfinished) = (Vec::new(), Vec::new(), 0);
    let mut record = csv::StringRecord::new();
    loop {
        let line = reader.position().line() as usize;
        let more = reader.read_record(&mut record);
        let line = record.position().map_or(line, |position| position.line() as usize);
        if !more.map_err(|error| source.wrong(line, format!("{error}; mend the row")))? {
            break;
        }
        if record.len() != header.len() {
            return Err(source.wrong(
                line,
                format!(
                    "this row has {} and the header {}; mend the row, or put quotes around a name with a comma",
                    quantity(record.len(), "field"),
                    header.len()
                ),
            ));
        }
        let [first, second, result] = places.map(|place| &record[place]);
        let score = points(result).map_err(|reason| source.wrong(line, reason))?;
        let [first, second] =
            results.players_of(first, second).map_err(|reason| source.wrong(line, reason))?;
        let Some(score) = score else {
            unfinished += 1;
            continue;
        };
        let pair = pair_column.map(|place| &record[place]).filter(|pair| !pair.is_empty());
        names.push(pair.map(str::to_owned));
        rows.push(ResultRow {
            first,
            second,
            score,
            pair: None,
            opening: None,
            moves: None,
            ending: None,
        });
    }
    let labels = labels(&names);
    let games = rows.into_iter().zip(labels).map(|(row, label)| Labelled { row, label });
    results.append(games.collect(), &source.path.display().to_string());
    if unfinished > 0 {
        results.notes.push(format!(
            "{}: {} without a result left out",
            source.path.display(),
            quantity(unfinished, "game")
        ));
    }
    Ok(())
}
