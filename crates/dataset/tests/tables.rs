//! Counts and exports, against the records that they come from.

mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use run::run_of;
use surakarta_dataset::export::{Format, export};
use surakarta_dataset::survey::{OPENING_PLIES, survey, survey_with_bound};
use surakarta_dataset::{DatasetError, Shares};
use surakarta_game::{Color, Move, Outcome, Position, Variant};
use surakarta_net::policy_index;
use surakarta_record::{GameRecord, PlyRecord, SearchKind, margin_of};

fn outcome_name(game: &GameRecord) -> &'static str {
    match game.result.outcome {
        Outcome::Win(color) => color.name(),
        Outcome::Draw => "draw",
    }
}

/// A table of text, by column.
fn read_csv(path: PathBuf) -> BTreeMap<String, Vec<String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let mut table: BTreeMap<_, Vec<String>> =
        names.iter().map(|name| (name.clone(), Vec::new())).collect();
    for row in reader.records() {
        for (name, field) in names.iter().zip(row.unwrap().iter()) {
            table.get_mut(name).unwrap().push(field.to_owned());
        }
    }
    table
}

#[test]
fn tables_hold_what_the_records_hold() {
    Variant::ALL.into_iter().for_each(compare_tables);
}

fn compare_tables(variant: Variant) {
    let run = run_of(variant);
    let out = run.dir.path().join("tables");
    let shares: Shares = "0.5,0.3,0.2".parse().unwrap();
    let (manifest, left_out) = export(&run.paths, &out, &[Format::Csv], &shares).unwrap();
    assert!(left_out.is_empty());
    let games = read_csv(out.join("games.csv"));
    assert_eq!(games["game_id"].len(), 90);
    for (n, game) in run.games.iter().enumerate() {
        let text = |column: &str| games[column][n].as_str();
        assert_eq!((text("game_id"), text("game")), (&*n.to_string(), &*n.to_string()));
        assert_eq!((text("seed"), text("iteration")), (&*u64::MAX.to_string(), "4"));
        assert_eq!((text("variant").parse(), text("start").parse()), (Ok(variant), Ok(game.start)));
        let moves = text("moves").split_whitespace().map(|mv| mv.parse::<Move>().unwrap());
        assert!(moves.eq(game.plies.iter().map(|ply| ply.mv)));
        assert_eq!(
            (text("ending"), text("outcome")),
            (game.result.ending.name(), outcome_name(game))
        );
        assert_eq!(text("plies"), game.plies.len().to_string());
        let last = game.last_position();
        assert_eq!(text("black_pieces"), last.count(Color::Black).to_string());
        assert_eq!(text("player"), "mcts:net=\"a,b\",sims=9");
        assert_eq!(text("split"), shares.part(game).name());
    }
    let splits: BTreeSet<_> = games["split"].iter().collect();
    assert_eq!(splits.len(), 3);

    let rows = read_csv(out.join("positions.csv"));
    let plies: Vec<(&GameRecord, usize, Position, &PlyRecord)> = (run.games.iter())
        .flat_map(|game| {
            let plies = game.positions().zip(&game.plies).enumerate();
            plies.map(move |(number, (position, ply))| (game, number, position, ply))
        })
        .collect();
    assert_eq!(rows["ply"].len(), plies.len());
    let mut captures = 0;
    for (n, &(game, number, position, ply)) in plies.iter().enumerate() {
        let text = |column: &str| rows[column][n].as_str();
        let side = position.side_to_move();
        assert_eq!(text("position").parse(), Ok(position));
        assert_eq!(
            (text("game_id"), text("ply")),
            (&*game.number.to_string(), &*number.to_string())
        );
        assert_eq!((text("move").parse(), text("side")), (Ok(ply.mv), side.name()));
        let index = policy_index(variant, ply.mv, side).unwrap();
        assert_eq!(text("move_index"), index.to_string());
        assert_eq!(
            (text("kind"), text("sims")),
            (ply.search.name(), &*ply.simulations.to_string())
        );
        assert_eq!(text("value").parse().ok(), ply.value);
        assert_eq!(text("outcome"), game.result.outcome.value_for(side).to_string());
        assert_eq!(text("margin").parse(), Ok(margin_of(&game.last_position(), side)));
        let policy = text("policy").split_whitespace().map(|pair| {
            let (mv, share) = pair.split_once(':').unwrap();
            (mv.parse().unwrap(), share.parse().unwrap())
        });
        assert_eq!(policy.collect::<Vec<(Move, f32)>>(), ply.policy.shares());
        assert_eq!(text("circuit") != "none", position.is_capture(ply.mv));
        captures += position.is_capture(ply.mv) as u32;
    }
    assert!(captures > 100, "{captures}");
    assert_eq!((manifest.games, manifest.positions), (90, plies.len() as u64));

    let moves = read_csv(out.join("moves.csv"));
    for (n, index) in moves["move_index"].iter().enumerate() {
        for color in [Color::Black, Color::White] {
            let mv = moves[color.name()][n].parse().unwrap();
            assert_eq!(policy_index(variant, mv, color), index.parse().ok());
        }
    }
    assert_eq!(moves["move_index"].len(), variant.moves());
}

#[test]
fn an_export_does_not_depend_on_threads_and_names_its_files() {
    let run = run_of(Variant::Standard);
    let [one, two] = ["one", "two"].map(|name| run.dir.path().join(name));
    export(&run.paths, &one, &Format::ALL, &Shares::default()).unwrap();
    let threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    threads.install(|| export(&run.paths, &two, &Format::ALL, &Shares::default())).unwrap();
    let names = |folder: &PathBuf| -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert_eq!(names(&one), names(&two));
    for name in names(&one) {
        assert!(fs::read(one.join(&name)).unwrap() == fs::read(two.join(&name)).unwrap(), "{name}");
    }
    let text = fs::read_to_string(one.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut named: BTreeSet<String> = ["manifest.json", "README.md"].map(str::to_owned).into();
    for file in manifest["files"].as_array().unwrap() {
        let name = file["file"].as_str().unwrap();
        let bytes = fs::read(one.join(name)).unwrap();
        assert_eq!(file["bytes"], bytes.len());
        use sha2::Digest as _;
        let sum: String =
            sha2::Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(file["sha256"], sum, "{name}");
        named.insert(name.to_owned());
    }
    assert_eq!(named, names(&one));
    // Every column is explained.
    let card = fs::read_to_string(one.join("README.md")).unwrap();
    for table in ["games", "positions"] {
        for name in read_csv(one.join(format!("{table}.csv"))).keys() {
            assert!(card.contains(&format!("\n| `{name}` |")), "{name}");
        }
    }
}

#[test]
fn arrays_are_of_one_variant() {
    let (one, other) = (run_of(Variant::Standard), run_of(Variant::Sepur));
    let paths = [&one.paths[..1], &other.paths[..1]].concat();
    let out = one.dir.path().join("out");
    let error = export(&paths, &out, &[Format::Npz], &Shares::default()).unwrap_err();
    assert!(matches!(error, DatasetError::Mixed { .. }), "{error}");
    assert!(!out.exists());
    // Tables name the variant in each row.
    export(&paths, &out, &[Format::Csv], &Shares::default()).unwrap();
}

#[test]
fn counts_are_those_of_the_records() {
    let run = run_of(Variant::Standard);
    let (summary, left_out) = survey(&run.paths).unwrap();
    assert!(left_out.is_empty());
    let games = &run.games;
    assert_eq!((summary.shards, summary.games), (3, 90));
    assert_eq!(summary.variants, [("standard".to_owned(), 90)].into());
    let won = |name| games.iter().filter(|game| outcome_name(game) == name).count() as u64;
    assert_eq!(
        [summary.black_wins, summary.draws, summary.white_wins],
        ["black", "draw", "white"].map(won)
    );
    for (ending, count) in &summary.endings {
        let found = games.iter().filter(|game| game.result.ending.name() == ending).count();
        assert_eq!(*count, found as u64);
    }
    assert_eq!(summary.endings.values().sum::<u64>(), 90);
    let mut lengths: Vec<_> = games.iter().map(|game| game.plies.len() as u64).collect();
    lengths.sort();
    let plies = lengths.iter().sum::<u64>();
    assert_eq!((summary.plies, summary.searches.values().sum::<u64>()), (plies, plies));
    assert_eq!(summary.mean_plies, Some(plies as f64 / 90.0));
    assert_eq!(summary.plies_quartiles, Some([0, 22, 44, 67, 89].map(|n| lengths[n])));
    let samples: Vec<_> = games.iter().flat_map(|game| game.samples()).collect();
    assert_eq!(summary.recorded, samples.len() as u64);
    let bytes: u64 = run.paths.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert_eq!(summary.bytes_per_recorded, Some(bytes as f64 / samples.len() as f64));
    let entropy = samples.iter().map(|sample| {
        sample.policy.iter().map(|&(_, p)| -(p as f64) * (p as f64).ln()).sum::<f64>()
    });
    let entropy = entropy.sum::<f64>() / samples.len() as f64;
    assert!((summary.mean_policy_entropy.unwrap() - entropy).abs() < 1e-9);

    let opening = |game: &GameRecord, plies: usize| {
        let moves: Vec<_> = game.plies.iter().take(plies).map(|ply| ply.mv).collect();
        format!("{} {moves:?}", game.start)
    };
    for (distinct, plies) in
        [(summary.distinct_games, usize::MAX), (summary.distinct_openings, OPENING_PLIES)]
    {
        let found: BTreeSet<_> = games.iter().map(|game| opening(game, plies)).collect();
        assert_eq!((distinct.count, distinct.standard_error), (found.len() as u64, 0.0));
    }
    let positions: BTreeSet<_> = games
        .iter()
        .flat_map(|game| game.positions().take(game.plies.len()).map(|position| position.key()))
        .collect();
    assert_eq!(summary.distinct_positions.count, positions.len() as u64);

    let mut errors = Vec::new();
    for game in games {
        for (position, ply) in game.positions().zip(&game.plies) {
            if let Some(value) = ply.value.filter(|_| ply.search != SearchKind::Opening) {
                let outcome = game.result.outcome.value_for(position.side_to_move());
                errors.push((f64::from(value) - f64::from(outcome)).powi(2));
            }
        }
    }
    let calibration = &summary.calibration;
    assert_eq!(calibration.positions, errors.len() as u64);
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!((calibration.mean_squared_error.unwrap() - mean).abs() < 1e-9);
    assert_eq!(calibration.bins.iter().map(|bin| bin.positions).sum::<u64>(), errors.len() as u64);

    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["distinct_positions"]["count"], positions.len());
    let threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(threads.install(|| survey(&run.paths)).unwrap().0, summary);
    // A small memory estimates and says so.
    let (estimated, _) = survey_with_bound(&run.paths, 100).unwrap();
    assert!(estimated.distinct_positions.standard_error > 0.0);
    assert_eq!(estimated.distinct_games, summary.distinct_games);
}

#[test]
fn damaged_shards_are_named_and_the_others_used() {
    let run = run_of(Variant::Standard);
    let mut bytes = fs::read(&run.paths[0]).unwrap();
    let at = bytes.len() * 9 / 10;
    bytes[at] ^= 1;
    fs::write(&run.paths[0], bytes).unwrap();
    let (summary, left_out) = survey(&run.paths).unwrap();
    assert_eq!((summary.games, left_out.len()), (60, 1));
    assert_eq!(left_out[0].path(), run.paths[0]);
    let out = run.dir.path().join("out");
    let (manifest, left_out) =
        export(&run.paths, &out, &[Format::Csv], &Shares::default()).unwrap();
    assert_eq!((manifest.games, left_out.len(), manifest.left_out.len()), (60, 1, 1));
    assert_eq!(read_csv(out.join("games.csv"))["game"][0], "30");
    assert!(survey(&run.paths[..1]).is_err());
    let none = run.dir.path().join("none");
    assert!(export(&run.paths[..1], &none, &[Format::Csv], &Shares::default()).is_err());
    assert!(!none.exists());
}
