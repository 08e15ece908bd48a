//! Parquet and arrays, read by other code than wrote them, against the CSV tables and the records.

mod run;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use run::run_of;
use surakarta_dataset::export::{Format, export};
use surakarta_dataset::{Part, Shares};
use surakarta_game::{Move, Variant};
use surakarta_net::{MAX_INPUTS, active, inputs, policy_index};

/// A value as the CSV table spells it.
fn text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Byte(n) => n.to_string(),
        Field::UInt(n) => n.to_string(),
        Field::ULong(n) => n.to_string(),
        Field::Float(x) => x.to_string(),
        Field::Str(text) => text.clone(),
        Field::ListInternal(list) => list.elements().iter().map(text).collect::<Vec<_>>().join(" "),
        Field::UShort(n) => n.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The rows of a table by the names of their columns.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let row = |row: parquet::record::Row| {
        row.get_column_iter().map(|(name, field)| (name.clone(), text(field))).collect()
    };
    reader.get_row_iter(None).unwrap().map(|found| row(found.unwrap())).collect()
}

#[test]
fn parquet_holds_what_csv_holds() {
    for variant in [Variant::Standard, Variant::Sepur] {
        let run = run_of(variant);
        let out = run.dir.path().join("out");
        let shares: Shares = "0.5,0.3,0.2".parse().unwrap();
        export(&run.paths, &out, &[Format::Csv, Format::Parquet], &shares).unwrap();
        for table in ["games", "positions"] {
            let mut csv = csv::Reader::from_path(out.join(format!("{table}.csv"))).unwrap();
            let names: Vec<String> = csv.headers().unwrap().iter().map(str::to_owned).collect();
            let found = rows(&out.join(format!("{table}.parquet")));
            let mut policies = 0;
            let mut count = 0;
            for (row, found) in csv.records().zip(&found) {
                count += 1;
                let row = row.unwrap();
                for (name, expected) in names.iter().zip(row.iter()) {
                    if name != "policy" {
                        assert_eq!(found[name], expected, "{table} {name}");
                        continue;
                    }
                    let side = match &*found["side"] {
                        "black" => surakarta_game::Color::Black,
                        _ => surakarta_game::Color::White,
                    };
                    let (mut indices, mut shares) = (Vec::new(), Vec::new());
                    for pair in expected.split_whitespace() {
                        let (mv, share) = pair.split_once(':').unwrap();
                        let mv: Move = mv.parse().unwrap();
                        indices.push(policy_index(variant, mv, side).unwrap().to_string());
                        shares.push(share);
                    }
                    assert_eq!(found["policy_index"], indices.join(" "));
                    assert_eq!(found["policy_share"], shares.join(" "));
                    policies += usize::from(!shares.is_empty());
                }
            }
            assert_eq!(found.len(), count);
            assert!(table == "games" || policies > 500);
        }
    }
}

/// The bytes of an array behind its header, and the header's text.
fn array(archive: &mut zip::ZipArchive<File>, name: &str) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    archive.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
    let length = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let values = bytes.split_off(length);
    (String::from_utf8_lossy(&bytes[10..]).trim().to_owned(), values)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

#[test]
fn arrays_hold_what_a_network_learns_from() {
    for variant in Variant::ALL {
        let run = run_of(variant);
        let out = run.dir.path().join("out");
        let shares: Shares = "0.5,0.3,0.2".parse().unwrap();
        export(&run.paths, &out, &[Format::Npz], &shares).unwrap();
        let (c, a) = (inputs(variant), variant.moves());
        let mut all = 0;
        for part in Part::ALL {
            let games = run.games.iter().filter(|game| shares.part(game) == part);
            let samples: Vec<_> = games.flat_map(|game| game.samples()).collect();
            let path = out.join(format!("{}-0000.npz", part.name()));
            let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
            let mut read = |name: &str, kind: &str, columns: Option<usize>| {
                let (header, values) = array(&mut archive, name);
                let rows = samples.len();
                let shape = columns.map_or(format!("({rows},)"), |n| format!("({rows}, {n})"));
                let expected =
                    format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
                assert_eq!(header, expected, "{name}");
                values
            };
            let seen = read("inputs_nc", "|u1", Some(c));
            let legal = read("legal_na", "|b1", Some(a));
            let policy = floats(&read("policy_na", "<f4", Some(a)));
            let values = floats(&read("value_n", "<f4", None));
            let margins = floats(&read("margin_n", "<f4", None));
            let outcomes = read("outcome_n", "|i1", None);
            for (n, sample) in samples.iter().enumerate() {
                let (position, side) = (&sample.position, sample.position.side_to_move());
                let index = |mv: Move| policy_index(variant, mv, side).unwrap();
                let mut expected = vec![0; c];
                active(position, &mut [0; MAX_INPUTS])
                    .iter()
                    .for_each(|&i| expected[i as usize] = 1);
                assert_eq!(seen[n * c..][..c], expected);
                let mut expected = vec![0; a];
                position.moves().into_iter().for_each(|mv| expected[index(mv)] = 1);
                assert_eq!(legal[n * a..][..a], expected);
                let mut expected = vec![0.0; a];
                sample.policy.iter().for_each(|&(mv, share)| expected[index(mv)] = share);
                assert_eq!(policy[n * a..][..a], expected);
                assert_eq!(Some(values[n]).filter(|value| !value.is_nan()), sample.value);
                assert_eq!((margins[n], outcomes[n] as i8), (sample.margin, sample.outcome));
            }
            all += samples.len();
        }
        assert!(all > 500, "{all}");
    }
}
