//! `surakarta report`, and its page in a browser.

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;
use support::{json, refused, stdout, write};
use surakarta_game::{Move, Position};
use tempfile::TempDir;

/// Names that would do harm in a page that took them for its own text.
const HOSTILE: [&str; 2] = [
    "</script><script>window.harmed = true</script>",
    "<img src=x onerror='window.harmed = true'><b>&amp;",
];

const MATCH: &str = "--quiet match alphabeta:nodes=200 greedy --pairs 3 --journal";

/// A folder with the journals of three small matches, one for each kind of board.
fn matches() -> TempDir {
    let folder = TempDir::new().unwrap();
    for variant in ["standard", "rural", "sepur"] {
        stdout(folder.path(), &format!("{MATCH} {variant}.jsonl --variant {variant}"));
    }
    folder
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The games of a journal.
fn games(folder: &Path, name: &str) -> Vec<Value> {
    let lines = read(folder, name);
    let values = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut games: Vec<Value> = values.filter(|value| value.get("black").is_some()).collect();
    let key = |game: &Value| {
        let number = |name: &str| game[name].as_u64().unwrap();
        (number("pair"), number("pairing"), game["swapped"].as_bool().unwrap())
    };
    games.sort_by_key(key);
    games
}

/// Every position of a game, by the rules.
fn positions(game: &Value) -> Vec<String> {
    let mut position: Position = game["opening"]["start"].as_str().unwrap().parse().unwrap();
    let opening = game["opening"]["moves"].as_array().unwrap().iter();
    let played = game["plies"].as_array().unwrap().iter().map(|ply| &ply["move"]);
    let mut found = vec![position.to_string()];
    for mv in opening.chain(played) {
        let mv: Move = mv.as_str().unwrap().parse().unwrap();
        assert!(position.is_legal(mv));
        position = position.after(mv);
        found.push(position.to_string());
    }
    found
}

/// What a page holds for its program.
fn embedded(page: &str) -> Value {
    let (_, rest) = page.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// A folder like that of a run: two checkpoints and `greedy`, rated by real games.
fn run_folder(folder: &Path, name: &str) -> PathBuf {
    let run = folder.join(name);
    std::fs::create_dir_all(run.join("ratings")).unwrap();
    write(&run, "config.toml", include_str!("../configs/quickstart.toml"));
    let players = ["alphabeta:depth=1", "alphabeta:nodes=150", "greedy"];
    write(folder, "run.toml", &format!("players = {players:?}\npairs = 4\nseed = 3\n"));
    let table = stdout(folder, "--quiet arena run.toml --json");
    let renamed = |text: String| {
        text.replace("\"alphabeta:depth=1\"", "\"iteration 10\"")
            .replace("\"alphabeta:nodes=150\"", "\"iteration 20\"")
    };
    write(&run, "elo.json", &renamed(table));
    write(&run, "ratings/iteration-0020-pairs-0004.jsonl", &renamed(read(folder, "run.jsonl")));
    std::fs::remove_file(folder.join("run.jsonl")).unwrap();
    let columns = "iteration,steps,samples,learning_rate,loss,policy_loss,wdl_loss,margin_loss,policy_entropy,wdl_entropy,policy_accuracy,value_accuracy,gradient_norm,seconds,samples_per_second,batch_share,optimiser_share";
    let mut metrics = format!("{columns}\n");
    for n in 1..=20 {
        let loss = 1.0 + 3.0 / f64::from(n);
        metrics += &format!(
            "{n},{n}0,{n}000,0.001,{loss},{},0.7,0.02,1.2,0.5,0.4,0.7,0.3,1,1000,0.1,0.1\n",
            loss - 0.7
        );
    }
    write(&run, "metrics.csv", &metrics);
    run
}

#[test]
fn a_page_fetches_nothing_and_holds_its_games() {
    let folder = matches();
    stdout(folder.path(), "--quiet report standard.jsonl rural.jsonl sepur.jsonl --out all.html");
    let page = read(folder.path(), "all.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<title>standard, rural, sepur"));
    // No reference to anything beyond the page; the name space of SVG is a name.
    let without_names = page.replace("http://www.w3.org/2000/svg", "");
    for foreign in ["http:", "https:", "\"//", "'//", " src=", "url(", "@import", "fetch("] {
        assert!(!without_names.contains(foreign), "{foreign}");
    }
    for reference in page.split(" href=\"").skip(1) {
        assert!(reference.starts_with('#') || reference.starts_with("data:,\""), "{reference:.60}");
    }
    let data = embedded(&page);
    let boards = data["boards"].as_array().unwrap();
    let sizes: Vec<_> = boards.iter().map(|board| board["size"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [6, 6, 7]);
    let names = ["standard", "rural", "sepur"];
    let played: Vec<Value> =
        names.iter().flat_map(|name| games(folder.path(), &format!("{name}.jsonl"))).collect();
    let held = data["games"].as_array().unwrap();
    assert_eq!(held.len(), played.len());
    for (held, played) in held.iter().zip(&played) {
        let name = |color: &str| &data["players"][held[color].as_u64().unwrap() as usize];
        assert_eq!((name("black"), name("white")), (&played["black"], &played["white"]));
        let moves = held["moves"].as_str().unwrap();
        assert_eq!(moves.len() / 4 + 1, positions(played).len());
        let opening = held["opening"].as_u64().unwrap() as usize;
        for (n, ply) in played["plies"].as_array().unwrap().iter().enumerate() {
            assert_eq!(ply["move"], moves[4 * (opening + n)..4 * (opening + n) + 4]);
            assert_eq!(ply["us"], held["us"][n]);
            // Openings have an even number of plies: Black, who moves first, moves at even places.
            let sign = if n % 2 == 0 { 1000.0 } else { -1000.0 };
            match ply["value"].as_f64() {
                Some(value) => {
                    let seen = held["values"][n].as_f64().unwrap();
                    assert!((sign * value - seen).abs() <= 0.51, "{value} {seen}");
                }
                None => assert!(held["values"][n].is_null()),
            }
        }
    }
    // The same games, the same bytes.
    stdout(folder.path(), "--quiet report standard.jsonl rural.jsonl sepur.jsonl --out again.html");
    assert!(page == read(folder.path(), "again.html"));
}

#[test]
fn names_are_text() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "hostile.jsonl", &hostile(folder.path()));
    stdout(folder.path(), "--quiet report hostile.jsonl");
    let page = read(folder.path(), "hostile.html");
    assert_eq!(page.matches("<script").count(), 2, "the games and the program");
    assert!(!page.contains("<img") && !page.contains("<b>&amp;amp;"));
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;window.harmed"));
    assert_eq!(embedded(&page)["players"][0], HOSTILE[0]);
}

/// The journal of a match between players with hostile names.
fn hostile(folder: &Path) -> String {
    stdout(folder, &format!("{MATCH} plain.jsonl"));
    let name = |name: &str| serde_json::to_string(name).unwrap();
    read(folder, "plain.jsonl")
        .replace("\"alphabeta:nodes=200\"", &name(HOSTILE[0]))
        .replace("\"greedy\"", &name(HOSTILE[1]))
}

#[test]
fn a_run_is_shown_with_its_curves_and_several_are_compared() {
    let folder = TempDir::new().unwrap();
    let run = run_folder(folder.path(), "one");
    stdout(folder.path(), "--quiet report one");
    let page = read(&run, "report.html");
    for part in ["Ratings", "Games", "Results", "Openings", "Learning", "95 % intervals"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("n = 2 checkpoints with 16 games each"));
    assert!(page.contains("n = 20 iterations") && !page.contains("is missing"));
    assert_eq!(embedded(&page)["games"].as_array().unwrap().len(), 24);
    run_folder(folder.path(), "two");
    stdout(folder.path(), "--quiet report one two");
    let both = read(folder.path(), "report.html");
    assert!(both.contains("n = 4 checkpoints with 16 games each") && both.contains("n = 48 games"));
    assert_eq!(embedded(&both)["sources"], serde_json::json!(["one", "two"]));
}

#[test]
fn what_a_run_lacks_is_said() {
    let folder = TempDir::new().unwrap();
    let run = folder.path().join("new");
    std::fs::create_dir(&run).unwrap();
    write(&run, "config.toml", include_str!("../configs/quickstart.toml"));
    stdout(folder.path(), "--quiet report new");
    let page = read(&run, "report.html");
    for missing in
        ["metrics.csv is missing", "elo.json is missing", "no rating games", "no game to"]
    {
        assert!(page.contains(missing), "{missing}");
    }
    // Without ratings, the games that there are.
    let rated = run_folder(folder.path(), "unrated");
    std::fs::remove_file(rated.join("elo.json")).unwrap();
    stdout(folder.path(), "--quiet report unrated");
    let page = read(&rated, "report.html");
    assert!(page.contains("elo.json is missing") && page.contains("Cross table"));
    // A tournament that has just begun, and one that was stopped amid a line.
    let text = hostile(folder.path());
    write(folder.path(), "begun.jsonl", text.split_inclusive('\n').next().unwrap());
    stdout(folder.path(), "--quiet report begun.jsonl");
    assert!(read(folder.path(), "begun.html").contains("no finished game yet"));
    write(folder.path(), "cut.jsonl", &text[..text.len() - 9]);
    stdout(folder.path(), "--quiet report cut.jsonl");
    let page = read(folder.path(), "cut.html");
    assert!(page.contains("was not written to its end"));
    assert_eq!(embedded(&page)["games"].as_array().unwrap().len(), 5);
}

#[test]
fn games_without_a_move_are_reported() {
    // As where a player fails at its first one.
    let folder = TempDir::new().unwrap();
    stdout(folder.path(), &format!("{MATCH} games.jsonl"));
    let text = read(folder.path(), "games.jsonl");
    let lines = text.lines().map(|line| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        if value.get("black").is_some() {
            value["plies"] = serde_json::json!([]);
        }
        format!("{value}\n")
    });
    write(folder.path(), "none.jsonl", &lines.collect::<String>());
    stdout(folder.path(), "--quiet report none.jsonl");
    let page = read(folder.path(), "none.html");
    assert!(page.contains("6 games, 3 pairs, 3 distinct openings") && !page.contains("distinct)"));
}

#[test]
fn repeated_games_count_once_in_every_table() {
    let folder = TempDir::new().unwrap();
    stdout(folder.path(), &format!("{MATCH} games.jsonl"));
    let mut text = read(folder.path(), "games.jsonl");
    let again: Vec<String> = games(folder.path(), "games.jsonl")
        .into_iter()
        .map(|mut game| {
            game["pair"] = (game["pair"].as_u64().unwrap() + 100).into();
            format!("{game}\n")
        })
        .collect();
    text += &again.concat();
    write(folder.path(), "twice.jsonl", &text);
    let row = &json(folder.path(), "rate twice.jsonl --json")["cross_table"][0];
    assert_eq!(row["games"], 6);
    stdout(folder.path(), "--quiet report twice.jsonl");
    let page = read(folder.path(), "twice.html");
    assert!(page.contains("n = 6 games, repeated ones counted once"));
    assert!(page.contains(&format!("{}–{}–{}", row["wins"], row["draws"], row["losses"])));
    assert!(page.contains("6 of 12 games repeat an earlier one"));
}

#[test]
fn pages_are_bounded() {
    let folder = TempDir::new().unwrap();
    stdout(folder.path(), &format!("{MATCH} games.jsonl"));
    stdout(folder.path(), "--quiet report games.jsonl --games 2");
    let page = read(folder.path(), "games.html");
    let numbers: Vec<_> =
        embedded(&page)["games"].as_array().unwrap().iter().map(|g| g["number"].clone()).collect();
    assert_eq!(numbers, [1, 4]);
    assert!(page.contains("2 of 6 games are in this page"));
    // Tables and charts are still about all games.
    assert!(page.contains("n = 6 games"));
    stdout(folder.path(), "--quiet report games.jsonl --games 0");
    assert!(read(folder.path(), "games.html").contains("There is no game to replay"));
}

#[test]
fn mistakes_are_said_and_nothing_is_written() {
    let folder = TempDir::new().unwrap();
    let run = run_folder(folder.path(), "run");
    stdout(folder.path(), &format!("{MATCH} games.jsonl"));
    let text = read(folder.path(), "games.jsonl");
    let lines: Vec<&str> = text.lines().collect();
    let illegal = lines[2].replacen(
        "\"plies\":[{\"move\":\"",
        "\"plies\":[{\"move\":\"a1f6\"},{\"move\":\"",
        1,
    );
    write(folder.path(), "torn.jsonl", &[lines[0], lines[1], "{\"black\":1}", ""].join("\n"));
    write(
        folder.path(),
        "bad.jsonl",
        &[lines[0], lines[1], &illegal.replace("\"a1f6\"", "\"a1f6\",\"us\":1"), ""].join("\n"),
    );
    write(folder.path(), "text.txt", "no journal\n");
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let cases = [
        ("report", "RUN|JOURNAL"),
        ("report gone.jsonl", "cannot read gone.jsonl"),
        ("report folder", "folder is not the folder of a run: it has no config.toml"),
        ("report text.txt", "text.txt, line 1: this is not the journal of a tournament"),
        ("report torn.jsonl", "torn.jsonl, line 3:"),
        ("report bad.jsonl", "bad.jsonl, line 3: a1f6 is not a legal move in"),
        ("report run ./run", "./run is given twice"),
        ("report games.jsonl --out games.jsonl", "games.jsonl is what the report is about"),
        ("report games.jsonl --out folder", "folder is a folder"),
        ("report games.jsonl --out gone/x.html", "cannot write gone/x.html"),
    ];
    for (words, reason) in cases {
        refused(folder.path(), words, reason);
    }
    let good = read(&run, "metrics.csv");
    write(&run, "metrics.csv", &good.replacen("0.001", "fast", 1));
    refused(folder.path(), "report run", "metrics.csv");
    write(&run, "metrics.csv", &good);
    write(&run, "elo.json", "{\"players\": 7}");
    refused(folder.path(), "report run", "elo.json: invalid type");
    write(&run, "config.toml", "[run]\n");
    refused(folder.path(), "report run", "config.toml");
    assert!(!run.join("report.html").exists());
    assert_eq!(read(folder.path(), "games.jsonl"), text);
}

/// The first of the usual browsers that is there.
fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let folders: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let usual = ["chromium", "chromium-browser", "google-chrome"];
    let found = usual.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    named.into_iter().chain(found).find(|path| path.is_file())
}

/// What a reader finds who works the page of a journal; it must be free of errors.
fn worked(browser: &Path, folder: &Path, journal: &str, size: &str) -> Value {
    stdout(folder, &format!("--quiet report {journal} --out page.html"));
    // The page as it is, between what watches it and what works it.
    let watch = "<head><script>window.errors = []; for (const kind of ['error', 'unhandledrejection', 'securitypolicyviolation']) window.addEventListener(kind, event => window.errors.push(kind + ': ' + (event.message ?? event.blockedURI ?? event.reason)), true);</script>";
    let work = format!("<script>{}</script></body>", include_str!("report_selftest.js"));
    let page = read(folder, "page.html").replacen("<head>", watch, 1).replace("</body>", &work);
    let page = write(folder, "worked.html", &page);
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=60000", "--dump-dom"])
        .arg(format!("--window-size={size}"))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .timeout(Duration::from_secs(180))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:?}");
    let dom = String::from_utf8_lossy(&output.stdout);
    let (_, found) = dom.rsplit_once("<pre id=\"selftest\">").expect(&said);
    let found: Value = serde_json::from_str(found.split_once("</pre>").unwrap().0).unwrap();
    assert_eq!(found["errors"], serde_json::json!([]));
    assert_eq!(found["harmed"], false);
    found
}

#[test]
fn a_reader_can_replay_every_game_in_a_browser() {
    let Some(browser) = browser() else {
        eprintln!("left out: no browser was found; install chromium or name one in CHROMIUM");
        return;
    };
    let folder = matches();
    write(folder.path(), "hostile.jsonl", &hostile(folder.path()));
    for (name, size) in [
        ("standard", "1280,900"),
        ("rural", "800,600"),
        ("sepur", "1280,900"),
        // As wide as a telephone, or as narrow as the browser can be.
        ("hostile", "390,844"),
    ] {
        let journal = format!("{name}.jsonl");
        let found = worked(&browser, folder.path(), &journal, size);
        let played = games(folder.path(), &journal);
        let replayed = found["games"].as_array().unwrap();
        assert_eq!(replayed.len(), played.len());
        for (replayed, played) in replayed.iter().zip(&played) {
            let expected = positions(played);
            assert_eq!(replayed["fens"], serde_json::json!(expected), "{name}");
            assert_eq!(replayed["end"], expected.len() - 1, "it stops at the end");
            assert_eq!(replayed["opened"], played["opening"]["moves"].as_array().unwrap().len());
            assert_eq!((&replayed["drawn"], &replayed["chosen"]), (&true.into(), &"chosen".into()));
        }
        let last = found["last"].as_u64().unwrap();
        let went = [0, 1, 2, 1, last, 0, last, last - 1, 5, 3, 7];
        assert_eq!(found["went"], serde_json::json!(went), "{name}");
        assert_eq!((&found["now"], &found["stayed"]), (&"7".into(), &true.into()));
        assert_eq!(found["visible"], true, "the list of moves follows the board");
        assert_eq!((&found["played"], &found["rests"]), (&3.into(), &true.into()));
        // Both players have played every game, and every game has one ending.
        assert_eq!(found["players"], serde_json::json!([played.len(), played.len()]));
        let endings = found["endings"].as_array().unwrap().iter();
        assert_eq!(endings.map(|n| n.as_u64().unwrap()).sum::<u64>(), played.len() as u64);
        assert_eq!(found["all"], played.len());
        assert_eq!(found["graph"], 1, "greedy gives no evaluations");
        assert_eq!(found["fits"], true, "{name}: nothing sticks out at {} pixels", found["width"]);
    }
}
