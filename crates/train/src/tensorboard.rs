//! Event files for TensorBoard.
//!
//! An event file is a sequence of TFRecords: length (u64), masked CRC-32C of the length, data, masked
//! CRC-32C of the data, all little-endian. The data are protocol buffers, messages `Event` of
//! TensorFlow's `event.proto`, of which these fields are written: `wall_time` (1, double, seconds since
//! 1970), `step` (2, int64), `file_version` (3, string, in the first event), `summary` (5), whose
//! `value` (1) has `tag` (1, string) and `simple_value` (2, float).

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use surakarta_record::write_atomically;

use crate::error::TrainError;
use crate::metrics::Metrics;

/// TensorBoard looks for files with this in their names.
const FILE_NAME: &str = "events.out.tfevents.0.surakarta";
/// Length and its checksum.
const HEAD_BYTES: usize = 12;

/// The event file of a training: a step is an optimiser step.
#[derive(Clone, Debug)]
pub struct EventLog {
    path: PathBuf,
}

impl EventLog {
    /// Opens the event file in a folder for a training that goes on after so many steps: events of later
    /// steps, and whatever is not whole, are cut off. Folder and file are made by the first event.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn open(folder: &Path, steps: u64) -> Result<EventLog, TrainError> {
        let path = folder.join(FILE_NAME);
        if path.exists() {
            let bytes = fs::read(&path).map_err(|error| TrainError::io("read", &path, error))?;
            let kept = bytes_until(&bytes, steps);
            if kept < bytes.len() {
                write_atomically(&path, &bytes[..kept])
                    .map_err(|error| TrainError::io("write", &path, error))?;
            }
        }
        Ok(EventLog { path })
    }

    /// Adds named numbers of a step.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&self, steps: u64, scalars: &[(String, f32)]) -> Result<(), TrainError> {
        let failed = |error| TrainError::io("write", &self.path, error);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        let file = OpenOptions::new().append(true).create(true).open(&self.path);
        let mut file = file.map_err(failed)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let mut bytes = Vec::new();
        if file.metadata().map_err(failed)?.len() == 0 {
            let mut event = event(now, 0);
            put_bytes(&mut event, 3, b"brain.Event:2");
            put_record(&mut bytes, &event);
        }
        let mut summary = Vec::new();
        for (tag, value) in scalars {
            let mut scalar = Vec::new();
            put_bytes(&mut scalar, 1, tag.as_bytes());
            put_key(&mut scalar, 2, 5);
            scalar.extend(value.to_le_bytes());
            put_bytes(&mut summary, 1, &scalar);
        }
        let mut event = event(now, steps);
        put_bytes(&mut event, 5, &summary);
        put_record(&mut bytes, &event);
        file.write_all(&bytes).map_err(failed)
    }
}

/// A row of metrics as TensorBoard shows it: `loss/policy`, `validation/policy_loss`, `speed/…`.
pub fn scalars(metrics: &Metrics) -> Vec<(String, f32)> {
    let columns = match serde_json::to_value(metrics) {
        Ok(serde_json::Value::Object(columns)) => columns,
        _ => unreachable!("a row of numbers"),
    };
    let number = |value: &serde_json::Value| value.as_f64().map(|value| value as f32);
    let named = columns.iter().filter_map(|(name, value)| Some((tag(name)?, number(value)?)));
    named.collect()
}

/// Where a column is shown; the steps are the axis itself.
fn tag(column: &str) -> Option<String> {
    Some(match column {
        "steps" => return None,
        "loss" => "loss/total".to_owned(),
        "iteration" | "samples" | "learning_rate" | "gradient_norm" => {
            format!("training/{column}")
        }
        "seconds" | "samples_per_second" | "batch_share" | "optimiser_share" | "wait_share"
        | "processor_seconds" => format!("speed/{column}"),
        "endgame_sign" => "endgame/sign".to_owned(),
        "endgame_move" => "endgame/move".to_owned(),
        "games_given_up" | "games_played_on" | "games_given_up_wrongly" => {
            format!("selfplay/{column}")
        }
        _ => match (column.strip_prefix("validation_"), column.strip_suffix("_loss")) {
            (Some(name), _) => format!("validation/{name}"),
            (None, Some(name)) => format!("loss/{name}"),
            (None, None) => format!("training/{column}"),
        },
    })
}

/// How many bytes the whole records of the first so many steps take.
fn bytes_until(bytes: &[u8], steps: u64) -> usize {
    let mut at = 0;
    while let Some(head) = bytes.get(at..at + HEAD_BYTES) {
        let (length, sum) = head.split_at(8);
        let data = usize::try_from(u64::from_le_bytes(length.try_into().expect("8 bytes")))
            .ok()
            .filter(|_| sum == masked_checksum(length))
            .and_then(|length| at.checked_add(HEAD_BYTES + 4)?.checked_add(length))
            .and_then(|end| bytes.get(at + HEAD_BYTES..end));
        let Some((data, sum)) = data.and_then(|data| data.split_last_chunk::<4>()) else {
            break;
        };
        if *sum != masked_checksum(data) || step_of(data).is_none_or(|step| step > steps) {
            break;
        }
        at += HEAD_BYTES + data.len() + 4;
    }
    at
}

/// The start of an event; the step comes second, so that it is found again.
fn event(time: f64, step: u64) -> Vec<u8> {
    let mut event = Vec::new();
    put_key(&mut event, 1, 1);
    event.extend(time.to_le_bytes());
    put_key(&mut event, 2, 0);
    put_varint(&mut event, step);
    event
}

/// The step of an event that [`event`] began.
fn step_of(event: &[u8]) -> Option<u64> {
    let mut step = 0;
    for (place, byte) in event.get(10..)?.iter().take(10).enumerate() {
        step |= u64::from(byte & 0x7f) << (7 * place).min(63);
        if byte & 0x80 == 0 {
            return Some(step);
        }
    }
    None
}

fn put_record(out: &mut Vec<u8>, data: &[u8]) {
    let length = (data.len() as u64).to_le_bytes();
    out.extend(length);
    out.extend(masked_checksum(&length));
    out.extend(data);
    out.extend(masked_checksum(data));
}

/// TensorFlow rotates a checksum and adds a constant, as checksums of checksums are weak.
fn masked_checksum(data: &[u8]) -> [u8; 4] {
    let sum = crc32c::crc32c(data);
    sum.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

/// A field's number and the kind of what follows: 0 varint, 1 eight bytes, 2 bytes, 5 four bytes.
fn put_key(out: &mut Vec<u8>, field: u64, kind: u64) {
    put_varint(out, field << 3 | kind);
}

fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_key(out, field, 2);
    put_varint(out, bytes.len() as u64);
    out.extend(bytes);
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// CRC-32C a bit at a time (Castagnoli's polynomial, reversed), then masked.
    fn slow_checksum(data: &[u8]) -> u32 {
        let mut sum = !0u32;
        for byte in data {
            sum ^= u32::from(*byte);
            for _ in 0..8 {
                sum = if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
            }
        }
        let sum = !sum;
        sum.rotate_right(15).wrapping_add(0xa282_ead8)
    }

    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (&byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }

    /// The fields of a message, in any order: number, and the bytes of the value.
    fn fields(mut message: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut fields = Vec::new();
        while !message.is_empty() {
            let key = varint(&mut message);
            let length = match key & 7 {
                0 => {
                    let value = varint(&mut message);
                    fields.push((key >> 3, value.to_le_bytes().to_vec()));
                    continue;
                }
                1 => 8,
                2 => varint(&mut message) as usize,
                5 => 4,
                kind => panic!("kind {kind}"),
            };
            let (value, rest) = message.split_at(length);
            fields.push((key >> 3, value.to_vec()));
            message = rest;
        }
        fields
    }

    /// Step and scalars of every event but the first, which must say the version.
    fn parsed(mut file: &[u8]) -> Vec<(u64, BTreeMap<String, f32>)> {
        let mut events = Vec::new();
        while !file.is_empty() {
            let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
            let sum = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
            assert_eq!(sum(8), slow_checksum(&file[..8]));
            let data = &file[12..12 + length];
            assert_eq!(sum(12 + length), slow_checksum(data));
            let fields_of: BTreeMap<_, _> = fields(data).into_iter().collect();
            let time = f64::from_le_bytes(fields_of[&1][..].try_into().unwrap());
            assert!(time > 1.6e9 && time < 1e11, "{time}");
            let step = u64::from_le_bytes(fields_of[&2][..].try_into().unwrap());
            if file.as_ptr() == data.as_ptr().wrapping_sub(12) && fields_of.contains_key(&3) {
                assert!(events.is_empty());
                assert_eq!(fields_of[&3], b"brain.Event:2");
            } else {
                let scalar = |(field, value): (u64, Vec<u8>)| {
                    assert_eq!(field, 1);
                    let value: BTreeMap<_, _> = fields(&value).into_iter().collect();
                    let number = f32::from_le_bytes(value[&2][..].try_into().unwrap());
                    (String::from_utf8(value[&1].clone()).unwrap(), number)
                };
                events.push((step, fields(&fields_of[&5]).into_iter().map(scalar).collect()));
            }
            file = &file[16 + length..];
        }
        events
    }

    #[test]
    fn an_independent_reader_finds_every_number() {
        assert_eq!(
            slow_checksum(b"123456789").wrapping_sub(0xa282_ead8).rotate_left(15),
            0xe306_9283
        );
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("tensorboard");
        let log = EventLog::open(&folder, 0).unwrap();
        assert!(!folder.exists());
        let row = |steps: u64| Metrics {
            steps,
            policy_loss: 0.5 + steps as f32,
            validation_wdl_loss: Some(0.25),
            wait_share: Some(0.125),
            ..Metrics::default()
        };
        let steps = [3, 200, 70_000];
        for steps in steps {
            log.append(steps, &scalars(&row(steps))).unwrap();
        }
        let path = folder.join(FILE_NAME);
        let file = fs::read(&path).unwrap();
        let events = parsed(&file);
        assert_eq!(events.iter().map(|(step, _)| *step).collect::<Vec<_>>(), steps);
        for (step, scalars) in &events {
            assert_eq!(scalars["loss/policy"], 0.5 + *step as f32);
            assert_eq!(scalars["validation/wdl_loss"], 0.25);
            assert_eq!(scalars["speed/wait_share"], 0.125);
            assert!(scalars.contains_key("training/learning_rate"));
            // What has no value is not shown.
            assert!(!scalars.contains_key("loss/reply") && !scalars.contains_key("training/steps"));
        }

        // A training that goes on cuts off what it will write again, and what is not whole.
        EventLog::open(&folder, 70_000).unwrap();
        assert_eq!(fs::read(&path).unwrap(), file);
        fs::write(&path, &file[..file.len() - 3]).unwrap();
        EventLog::open(&folder, 70_000).unwrap();
        assert_eq!(parsed(&fs::read(&path).unwrap()), events[..2]);
        let log = EventLog::open(&folder, 3).unwrap();
        assert_eq!(parsed(&fs::read(&path).unwrap()), events[..1]);
        log.append(200, &scalars(&row(200))).unwrap();
        assert_eq!(parsed(&fs::read(&path).unwrap()), events[..2]);
        // Noise is cut off too.
        fs::write(&path, [7; 100]).unwrap();
        EventLog::open(&folder, 3).unwrap();
        assert!(fs::read(&path).unwrap().is_empty());
    }
}
