use std::fmt::Write as _;
use std::path::Path;

use super::column::{Row, Value};
use super::file::{Exported, OutFile, unwritten};
use crate::error::DatasetError;

/// A table in comma-separated values, its columns named in the first line.
pub(crate) struct CsvTable {
    out: csv::Writer<OutFile>,
    rows: u64,
    field: String,
}

impl CsvTable {
    pub(crate) fn create<R: Row>(folder: &Path, name: &str) -> Result<CsvTable, DatasetError> {
        let file = OutFile::create(folder, name)?;
        let path = file.path().to_owned();
        let mut out = csv::WriterBuilder::new().buffer_capacity(1 << 18).from_writer(file);
        out.write_record(R::COLUMNS.iter().map(|column| column.name))
            .map_err(|error| unwritten(&path, error))?;
        Ok(CsvTable { out, rows: 0, field: String::new() })
    }

    pub(crate) fn push<R: Row>(&mut self, row: &R) -> Result<(), DatasetError> {
        let CsvTable { out, field, .. } = self;
        let mut written = Ok(());
        row.values(&mut |value| {
            field.clear();
            let spelled = match value {
                Value::Text(text) => {
                    field.push_str(text);
                    Ok(())
                }
                Value::Count64(n) => write!(field, "{n}"),
                Value::Count(n) => write!(field, "{n}"),
                Value::Sign(n) => write!(field, "{n}"),
                Value::Real(x) => write!(field, "{x}"),
                Value::MaybeReal(x) => x.map_or(Ok(()), |x| write!(field, "{x}")),
                Value::Policy(shares) => shares.iter().try_for_each(|(mv, _, share)| {
                    let blank = if field.is_empty() { "" } else { " " };
                    write!(field, "{blank}{mv}:{share}")
                }),
            };
            spelled.expect("strings grow");
            if written.is_ok() {
                written = out.write_field(&field);
            }
        });
        let written = written.and_then(|()| out.write_record(None::<&[u8]>));
        written.map_err(|error| unwritten(out.get_ref().path(), error))?;
        self.rows += 1;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Exported, DatasetError> {
        let path = self.out.get_ref().path().to_owned();
        let file = self.out.into_inner().map_err(|error| unwritten(&path, error.error()))?;
        file.finish(self.rows)
    }
}
