//! The data card, and the table of move indices.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use surakarta_game::{Color, Variant};
use surakarta_net::mover_move;
use surakarta_record::write_atomically;

use super::Format;
use super::arrays::ARRAYS;
use super::column::{Kind, Row};
use super::file::{Exported, OutFile, unwritten};
use super::manifest::Manifest;
use super::rows::{GameRow, PositionRow};
use crate::error::DatasetError;

const NAME: &str = "README.md";

/// What holds for all formats.
const CONVENTIONS: &str = "\
## Conventions

**Board.** Files a to f and ranks 1 to 6 (a to g and 1 to 7 on the larger board); a1 is at the lower left of Black, the first
player. A position on one line has the ranks from the highest down, `/` between, digits for runs of empty points, `b` and `w` for
pieces, then the side to move, the plies since the last capture and the number of the move: `wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b 0 1`.

**Perspective.** Values, outcomes and margins of positions are seen by the side to move. Positions and moves in text are those of the
board.

**Move index.** Start and target together have an index, seen by the side to move: for White the ranks are mirrored (a1 and a6, or a7,
change places), so that the mover always plays up. `moves.csv` lists for each variant what every index is for Black and for White.

**Split.** By game: the start and the moves decide, so that a game stays in its part when data is added, and games that went the same
way are in the same part.
";

pub(crate) fn write(
    folder: &Path,
    formats: &[Format],
    manifest: &Manifest,
) -> Result<(), DatasetError> {
    let path = folder.join(NAME);
    let text = text(formats, manifest);
    write_atomically(&path, text.as_bytes()).map_err(|error| unwritten(&path, error))
}

fn text(formats: &[Format], manifest: &Manifest) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(front(formats));
    line("# Games of Surakarta\n".into());
    line(format!(
        "{} games with {} positions, {} of them to learn from (a full search left a policy). Made by {}; `manifest.json` names the \
         files with their checksums and the shards that they come from.\n",
        manifest.games, manifest.positions, manifest.samples, manifest.program
    ));
    line("Licence: TODO. State under which licence these games may be used, here and in the first lines.\n".into());
    line("| file | rows | bytes |\n|---|---|---|".into());
    // Files of arrays, of which there may be hundreds, stand together by their part.
    for files in manifest.files.chunk_by(|a, b| part(a).is_some() && part(a) == part(b)) {
        let name = part(&files[0]).map_or(files[0].file.clone(), |part| format!("{part}-*.npz"));
        let sum = |count: fn(&Exported) -> u64| files.iter().map(count).sum::<u64>();
        line(format!("| `{name}` | {} | {} |", sum(|file| file.rows), sum(|file| file.bytes)));
    }
    let share = |part: &str| format!("{part} {}", manifest.split[part]);
    line(format!(
        "\nShares of the split: {} (key {}).\n",
        ["train", "validation", "test"].map(share).join(", "),
        manifest.split_key
    ));
    line(CONVENTIONS.into());
    if formats.iter().any(|format| *format != Format::Npz) {
        line(columns::<GameRow>("games: one row a game"));
        line(columns::<PositionRow>("positions: one row a ply"));
        line(
            "In CSV, `policy` is one text, `move:share` with blanks between. In Parquet it is two lists of the same length, \
             `policy_index` (uint16, move indices) and `policy_share` (float32).\n"
                .into(),
        );
    }
    if formats.contains(&Format::Npz) {
        line(
            "## Arrays\n\nEach `.npz` file holds up to 8,192 positions to learn from of one part of the split, in the order of the \
             games. The letters behind a name are its axes: n positions, c inputs, a moves. Everything is seen by the side to move; \
             inputs are those of the program's networks (input version "
                .to_owned()
                + &surakarta_net::INPUT_VERSION.to_string()
                + ").\n\n| array | type | holds |\n|---|---|---|",
        );
        for (name, kind, meaning) in ARRAYS {
            line(format!("| `{name}` | {kind} | {meaning} |"));
        }
        line(String::new());
    }
    line(examples(formats));
    out
}

/// The part of the split that a file of arrays belongs to.
fn part(file: &Exported) -> Option<&str> {
    let (part, _) = file.file.strip_suffix(".npz")?.split_once('-')?;
    Some(part)
}

/// What catalogues of data sets read.
fn front(formats: &[Format]) -> String {
    let mut front = "---\nlicense: other\npretty_name: Games of Surakarta\n".to_owned();
    if formats.contains(&Format::Parquet) {
        front += "configs:\n";
        for (name, default) in [("positions", "true"), ("games", "false")] {
            let _ = write!(
                front,
                "- config_name: {name}\n  data_files: {name}.parquet\n  default: {default}\n"
            );
        }
    }
    front + "---\n"
}

fn columns<R: Row>(title: &str) -> String {
    let mut out = format!("## {title}\n\n| column | type | holds |\n|---|---|---|\n");
    for column in R::COLUMNS {
        let kind = match column.kind {
            Kind::Policy => "text, or two lists",
            kind => kind.name(),
        };
        let _ = writeln!(out, "| `{}` | {kind} | {} |", column.name, column.meaning);
    }
    out
}

fn examples(formats: &[Format]) -> String {
    let mut out = "## Reading it\n\n```python\n".to_owned();
    if formats.contains(&Format::Parquet) {
        out += "import pandas as pd\npositions = pd.read_parquet(\"positions.parquet\")\n\
                # polars: pl.read_parquet(\"positions.parquet\")\n\
                # datasets: load_dataset(\"parquet\", data_files=\"positions.parquet\")\n";
    }
    if formats.contains(&Format::Csv) {
        out += "import pandas as pd\ngames = pd.read_csv(\"games.csv\")\n";
    }
    if formats.contains(&Format::Npz) {
        out += "import numpy as np\nwith np.load(\"train-0000.npz\") as arrays:\n    inputs, policy = arrays[\"inputs_nc\"], arrays[\"policy_na\"]\n";
    }
    out + "```"
}

/// Writes the table of move indices of these variants.
pub(crate) fn write_moves(folder: &Path, variants: &[Variant]) -> Result<Exported, DatasetError> {
    let variants: BTreeMap<&str, Variant> =
        variants.iter().map(|&variant| (variant.name(), variant)).collect();
    let mut file = OutFile::create(folder, "moves.csv")?;
    let mut text = "variant,move_index,black,white\n".to_owned();
    let mut rows = 0;
    for (name, variant) in variants {
        // A name may hold a comma.
        let name = if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() };
        for index in 0..variant.moves() {
            let black = variant.move_at(index).expect("an index below the number of moves");
            let white = mover_move(variant, black, Color::White);
            let _ = writeln!(text, "{name},{index},{black},{white}");
            rows += 1;
        }
    }
    file.write_all(text.as_bytes()).map_err(|error| unwritten(file.path(), error))?;
    file.finish(rows)
}
