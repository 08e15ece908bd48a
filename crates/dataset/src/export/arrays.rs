//! Positions to learn from as arrays for numpy.
//!
//! A file is a zip archive of arrays in numpy's own format, version 1.0, as `numpy.load` opens it.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use surakarta_game::Variant;
use surakarta_net::{MAX_INPUTS, active, inputs, policy_index};
use surakarta_record::GameRecord;
use zip::write::{FileOptions, ZipWriter};

use super::file::{Exported, OutFile, unwritten};
use super::rows::Named;
use crate::error::DatasetError;
use crate::part::Part;

/// Positions in one file at most: 32 MB of arrays in memory for each part.
const MOST: usize = 8192;

/// The arrays of a file, with what they hold. The letters behind a name are its axes: `n` positions, `c`
/// inputs, `a` moves.
pub(crate) const ARRAYS: [(&str, &str, &str); 9] = [
    ("inputs_nc", "uint8", "what a network sees of the position: 0 or 1 for each input"),
    ("legal_na", "bool", "the legal moves, by move index"),
    ("policy_na", "float32", "the search's share of each move, by move index; they sum to 1"),
    ("value_n", "float32", "the search's value in [−1, 1]; NaN without one"),
    ("outcome_n", "int8", "the game's result: 1 won, 0 drawn, −1 lost"),
    (
        "margin_n",
        "float32",
        "pieces at the end, own − enemy, as a part of all that a side starts with",
    ),
    ("game_id_n", "uint64", "the game's number in this export"),
    ("ply_n", "uint32", "plies of the game before the position"),
    ("move_n", "uint16", "the move that was played, by move index"),
];

/// What one position puts into the arrays.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Example {
    inputs: Vec<u16>,
    legal: Vec<u16>,
    policy: Vec<(u16, f32)>,
    value: Option<f32>,
    outcome: i8,
    margin: f32,
    game_id: u64,
    ply: u32,
    mv: u16,
}

impl Example {
    /// The examples of a game: one for each ply that is a sample.
    pub(crate) fn of(named: Named<'_>, game: &GameRecord) -> Vec<Example> {
        let plies = (0u32..).zip(&game.plies).filter(|(_, ply)| ply.is_sample());
        let example = |((ply, record), sample): ((u32, _), surakarta_record::Sample)| {
            let record: &surakarta_record::PlyRecord = record;
            let (position, mover) = (sample.position, sample.position.side_to_move());
            let index = |mv| policy_index(position.variant(), mv, mover).unwrap_or_default() as u16;
            Example {
                inputs: active(&position, &mut [0; MAX_INPUTS]).to_vec(),
                legal: position.moves().into_iter().map(index).collect(),
                policy: sample.policy.iter().map(|&(mv, share)| (index(mv), share)).collect(),
                value: sample.value,
                outcome: sample.outcome,
                margin: sample.margin,
                game_id: named.game_id,
                ply,
                mv: index(record.mv),
            }
        };
        plies.zip(game.samples()).map(example).collect()
    }
}

/// Arrays of all parts, in files such as `train-0000.npz`.
pub(crate) struct ArrayFiles {
    folder: PathBuf,
    variant: Option<Variant>,
    waiting: [Vec<Example>; 3],
    files: [usize; 3],
    written: Vec<Exported>,
}

impl ArrayFiles {
    pub(crate) fn create(folder: &Path) -> ArrayFiles {
        ArrayFiles {
            folder: folder.to_owned(),
            variant: None,
            waiting: Default::default(),
            files: [0; 3],
            written: Vec::new(),
        }
    }

    pub(crate) fn push(
        &mut self,
        variant: Variant,
        part: Part,
        examples: Vec<Example>,
    ) -> Result<(), DatasetError> {
        self.variant = Some(variant);
        for example in examples {
            self.waiting[part as usize].push(example);
            if self.waiting[part as usize].len() == MOST {
                self.write(part)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, part: Part) -> Result<(), DatasetError> {
        let examples = std::mem::take(&mut self.waiting[part as usize]);
        let Some(variant) = self.variant.filter(|_| !examples.is_empty()) else { return Ok(()) };
        let name = format!("{}-{:04}.npz", part.name(), self.files[part as usize]);
        let mut file = OutFile::create(&self.folder, &name)?;
        let packed = archive(variant, &examples).map_err(|error| unwritten(file.path(), error))?;
        file.write_all(&packed).map_err(|error| unwritten(file.path(), error))?;
        self.files[part as usize] += 1;
        self.written.push(file.finish(examples.len() as u64)?);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Vec<Exported>, DatasetError> {
        for part in Part::ALL {
            self.write(part)?;
        }
        self.written.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(self.written)
    }
}

/// The bytes of a file.
fn archive(variant: Variant, examples: &[Example]) -> Result<Vec<u8>, zip::result::ZipError> {
    let (n, c, a) = (examples.len(), inputs(variant), variant.moves());
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, kind: &str, columns: Option<usize>, bytes: &[u8]| {
        // The time of files in the archive is fixed: the same positions make the same bytes.
        zip.start_file(format!("{name}.npy"), FileOptions::default())?;
        zip.write_all(&header(kind, n, columns))?;
        zip.write_all(bytes)?;
        Ok::<(), zip::result::ZipError>(())
    };
    let mut dense = vec![0; n * c];
    for (row, example) in dense.chunks_exact_mut(c).zip(examples) {
        example.inputs.iter().for_each(|&input| row[input as usize] = 1);
    }
    add("inputs_nc", "|u1", Some(c), &dense)?;
    dense = vec![0; n * a];
    for (row, example) in dense.chunks_exact_mut(a).zip(examples) {
        example.legal.iter().for_each(|&mv| row[mv as usize] = 1);
    }
    add("legal_na", "|b1", Some(a), &dense)?;
    dense = vec![0; 4 * n * a];
    for (row, example) in dense.chunks_exact_mut(4 * a).zip(examples) {
        for &(mv, share) in &example.policy {
            row[4 * mv as usize..][..4].copy_from_slice(&share.to_le_bytes());
        }
    }
    add("policy_na", "<f4", Some(a), &dense)?;
    let mut column = |name, kind, bytes: &dyn Fn(&Example, &mut Vec<u8>)| {
        let mut out = Vec::new();
        examples.iter().for_each(|example| bytes(example, &mut out));
        add(name, kind, None, &out)
    };
    column("value_n", "<f4", &|e, out| out.extend(e.value.unwrap_or(f32::NAN).to_le_bytes()))?;
    column("outcome_n", "|i1", &|e, out| out.extend(e.outcome.to_le_bytes()))?;
    column("margin_n", "<f4", &|e, out| out.extend(e.margin.to_le_bytes()))?;
    column("game_id_n", "<u8", &|e, out| out.extend(e.game_id.to_le_bytes()))?;
    column("ply_n", "<u4", &|e, out| out.extend(e.ply.to_le_bytes()))?;
    column("move_n", "<u2", &|e, out| out.extend(e.mv.to_le_bytes()))?;
    Ok(zip.finish()?.into_inner())
}

/// What stands before an array in numpy's format.
fn header(kind: &str, rows: usize, columns: Option<usize>) -> Vec<u8> {
    let shape = columns.map_or(format!("({rows},)"), |columns| format!("({rows}, {columns})"));
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length take ten bytes; all is padded to a multiple of 64 and ends a line.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{text:width$}\n", width = length - 1).bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_numpy() {
        let bytes = header("<f4", 3, Some(768));
        assert_eq!(bytes.len() % 64, 0);
        assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let text = std::str::from_utf8(&bytes[10..]).unwrap();
        assert!(text.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 768), }"));
        assert!(text.ends_with(" \n"));
        assert!(header("|i1", 5, None).windows(5).any(|part| part == b"(5,),"));
    }
}
