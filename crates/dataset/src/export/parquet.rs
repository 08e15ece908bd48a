use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::column::{Kind, Row, Value};
use super::file::{Exported, OutFile, unwritten};
use crate::error::DatasetError;

/// Rows that are gathered in memory and written together: some 50 MB of positions.
const GROUP: usize = 1 << 16;

/// A table in Parquet, compressed with zstd.
pub(crate) struct ParquetTable {
    out: SerializedFileWriter<OutFile>,
    columns: Vec<Gathered>,
    gathered: usize,
    rows: u64,
}

/// The values of a column in the group that is being gathered.
enum Gathered {
    Long(Vec<i64>),
    Int(Vec<i32>),
    Text(Texts),
    Real(Vec<f32>),
    MaybeReal(Vec<f32>, Vec<i16>),
    Policy(Policies),
}

/// Texts one after another, and where each ends: one piece of memory for all.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(self.bytes.len());
    }

    fn take(&mut self) -> Vec<ByteArray> {
        let Texts { bytes, ends } = std::mem::take(self);
        let bytes = ByteArray::from(bytes);
        let starts = std::iter::once(&0).chain(&ends);
        starts.zip(&ends).map(|(&start, &end)| bytes.slice(start, end - start)).collect()
    }
}

/// Lists one after another. In the words of the format, an item has the definition level 1 and an empty
/// list 0; the first of a list has the repetition level 0 and the others 1.
#[derive(Default)]
struct Policies {
    indices: Vec<i32>,
    shares: Vec<f32>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl ParquetTable {
    pub(crate) fn create<R: Row>(folder: &Path, name: &str) -> Result<ParquetTable, DatasetError> {
        let file = OutFile::create(folder, name)?;
        let path = file.path().to_owned();
        let schema = parse_message_type(&schema::<R>()).expect("our own schema");
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("surakarta ", env!("CARGO_PKG_VERSION")).into())
            .set_compression(Compression::ZSTD(ZstdLevel::default()));
        // Hardly two values of these are the same.
        for name in ["position", "moves", "game_id"] {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(name), false);
        }
        let out = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties.build()))
            .map_err(|error| unwritten(&path, error))?;
        let columns = R::COLUMNS.iter().map(|column| Gathered::of(column.kind)).collect();
        Ok(ParquetTable { out, columns, gathered: 0, rows: 0 })
    }

    pub(crate) fn push<R: Row>(&mut self, row: &R) -> Result<(), DatasetError> {
        let mut columns = self.columns.iter_mut();
        row.values(&mut |value| columns.next().expect("a column a value").push(value));
        self.gathered += 1;
        if self.gathered == GROUP { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<(), DatasetError> {
        let mut write = || -> Result<(), ParquetError> {
            let mut group = self.out.next_row_group()?;
            for column in &mut self.columns {
                column.write(&mut group)?;
            }
            group.close()?;
            Ok(())
        };
        let written = write();
        written.map_err(|error| unwritten(self.out.inner().path(), error))?;
        self.rows += std::mem::take(&mut self.gathered) as u64;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Exported, DatasetError> {
        if self.gathered > 0 {
            self.write_group()?;
        }
        let path = self.out.inner().path().to_owned();
        let file = self.out.into_inner().map_err(|error| unwritten(&path, error))?;
        file.finish(self.rows)
    }
}

/// In the format's own language.
fn schema<R: Row>() -> String {
    let list = |name: &str, element: &str| {
        format!("required group {name} (LIST) {{ repeated group list {{ required {element}; }} }}")
    };
    let field = |column: &super::column::Column| {
        let name = column.name;
        match column.kind {
            Kind::Count64 => format!("required int64 {name} (INTEGER(64,false));"),
            Kind::Count => format!("required int32 {name} (INTEGER(32,false));"),
            Kind::Sign => format!("required int32 {name} (INTEGER(8,true));"),
            Kind::Text => format!("required binary {name} (STRING);"),
            Kind::Real => format!("required float {name};"),
            Kind::MaybeReal => format!("optional float {name};"),
            Kind::Policy => {
                list(&format!("{name}_index"), "int32 element (INTEGER(16,false))")
                    + &list(&format!("{name}_share"), "float element")
            }
        }
    };
    format!("message row {{ {} }}", R::COLUMNS.iter().map(field).collect::<String>())
}

type Group<'a> = SerializedRowGroupWriter<'a, OutFile>;

fn next<'a>(group: &'a mut Group<'_>) -> Result<SerializedColumnWriter<'a>, ParquetError> {
    Ok(group.next_column()?.expect("as many columns as in the schema"))
}

impl Gathered {
    fn of(kind: Kind) -> Gathered {
        match kind {
            Kind::Count64 => Gathered::Long(Vec::new()),
            Kind::Count | Kind::Sign => Gathered::Int(Vec::new()),
            Kind::Text => Gathered::Text(Texts::default()),
            Kind::Real => Gathered::Real(Vec::new()),
            Kind::MaybeReal => Gathered::MaybeReal(Vec::new(), Vec::new()),
            Kind::Policy => Gathered::Policy(Policies::default()),
        }
    }

    fn push(&mut self, value: Value<'_>) {
        match (self, value) {
            // Unsigned numbers keep their bits.
            (Gathered::Long(column), Value::Count64(n)) => column.push(n as i64),
            (Gathered::Int(column), Value::Count(n)) => column.push(n as i32),
            (Gathered::Int(column), Value::Sign(n)) => column.push(n.into()),
            (Gathered::Text(column), Value::Text(text)) => column.push(text),
            (Gathered::Real(column), Value::Real(x)) => column.push(x),
            (Gathered::MaybeReal(column, definition), Value::MaybeReal(x)) => {
                column.extend(x);
                definition.push(x.is_some().into());
            }
            (Gathered::Policy(policies), Value::Policy(shares)) => {
                policies.indices.extend(shares.iter().map(|&(_, index, _)| i32::from(index)));
                policies.shares.extend(shares.iter().map(|&(_, _, share)| share));
                policies.repetition.push(0);
                policies.repetition.extend(shares.iter().skip(1).map(|_| 1));
                let defined = i16::from(!shares.is_empty());
                policies.definition.extend((0..shares.len().max(1)).map(|_| defined));
            }
            _ => unreachable!("values are of their column's kind"),
        }
    }

    /// Writes the values into the next column, or the next two, and forgets them.
    fn write(&mut self, group: &mut Group<'_>) -> Result<(), ParquetError> {
        let mut column = next(group)?;
        match self {
            Gathered::Long(values) => {
                column.typed::<Int64Type>().write_batch(values, None, None)?;
                values.clear();
            }
            Gathered::Int(values) => {
                column.typed::<Int32Type>().write_batch(values, None, None)?;
                values.clear();
            }
            Gathered::Text(texts) => {
                column.typed::<ByteArrayType>().write_batch(&texts.take(), None, None)?;
            }
            Gathered::Real(values) => {
                column.typed::<FloatType>().write_batch(values, None, None)?;
                values.clear();
            }
            Gathered::MaybeReal(values, definition) => {
                column.typed::<FloatType>().write_batch(values, Some(definition), None)?;
                values.clear();
                definition.clear();
            }
            Gathered::Policy(policies) => {
                let Policies { indices, shares, definition, repetition } = &*policies;
                let levels = (Some(&definition[..]), Some(&repetition[..]));
                column.typed::<Int32Type>().write_batch(indices, levels.0, levels.1)?;
                column.close()?;
                column = next(group)?;
                column.typed::<FloatType>().write_batch(shares, levels.0, levels.1)?;
                *policies = Policies::default();
            }
        }
        column.close()
    }
}
