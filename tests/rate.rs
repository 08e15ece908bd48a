//! `surakarta rate`.

mod support;

use serde_json::Value;
use support::{json, refused, refused_words, stdout, surakarta, write};
use tempfile::TempDir;

/// Games of the reference cases.
fn case(name: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    let path = format!("{root}/../arena/tests/data/{name}/games.csv");
    std::fs::read_to_string(path).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn close(value: &Value, wanted: f64, within: f64) {
    assert!((number(value) - wanted).abs() < within, "{value} instead of {wanted}");
}

#[test]
fn two_players_from_a_table() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "games.csv", &case("c1"));
    let found = json(folder.path(), "rate games.csv --json --clusters games");
    let alpha = &found["players"][0];
    assert_eq!(alpha["name"], "alpha");
    // As Ordo has it.
    close(&alpha["rating"], 55.0353, 0.001);
    close(&alpha["error"], 20.8460, 1.0);
    close(&found["first_advantage"]["elo"], 53.999, 0.01);
    close(&found["draw_rate_at_equality"], 0.327664, 1e-4);
    let two = &found["head_to_head"];
    assert_eq!((&two["first"], &two["second"]), (&"alpha".into(), &"beta".into()));
    assert_eq!(two["pentanomial"], serde_json::json!([6, 10, 32, 22, 30]));
    assert_eq!(number(&two["wl_pairs"]) + number(&two["dd_pairs"]), 32.0);
    // As fastchess has it.
    close(&two["elo"], 107.5381249, 1e-6);
    close(&two["elo_error"], 44.57946133, 1e-6);
    close(&two["nelo"], 124.5794855, 1e-6);
    close(&two["nelo_error"], 48.15123067, 1e-6);
    close(&two["los"], 0.9999998021, 1e-9);
    close(&two["pairs_ratio"], 3.25, 1e-12);
    let plain = json(folder.path(), "rate games.csv --json --no-first-advantage");
    assert!(plain["first_advantage"].is_null());
    close(&plain["players"][0]["rating"], 53.76906, 0.001);
    let text = stdout(folder.path(), "rate games.csv");
    assert!(text.contains("alpha against beta, seen by alpha: W 100 D 60 L 40 of 200 games"));
    assert!(text.contains("100 pairs: LL 6, LD 10, WL + DD 32, WD 22, WW 30"), "{text}");
    assert!(text.contains("Elo +107.5 ± 44.6, normalised Elo +124.6 ± 48.2"), "{text}");
}

#[test]
fn a_stream_of_pairs_stops_where_it_should_in_any_order_of_lines() {
    let folder = TempDir::new().unwrap();
    let table = case("c10");
    write(folder.path(), "games.csv", &table);
    let (header, rows) = table.split_once('\n').unwrap();
    let backwards: Vec<&str> = rows.lines().rev().collect();
    write(folder.path(), "back.csv", &format!("{header}\n{}\n", backwards.join("\n")));
    for file in ["games.csv", "back.csv"] {
        for (model, at, llr) in [("normalised", 627, 3.048623167), ("logistic", 455, 3.473118186)] {
            let words = format!("rate {file} --json --versus new base --sprt 0,10 --model {model}");
            let found = json(folder.path(), &words);
            let sprt = &found["head_to_head"]["sprt"];
            assert_eq!((&sprt["verdict"], &sprt["decided_at_pair"]), (&"H1".into(), &at.into()));
            close(&sprt["llr"], llr, 1e-6);
            close(&sprt["upper"], 2.944438979, 1e-8);
            close(&sprt["lower"], -2.944438979, 1e-8);
            assert!(number(&sprt["estimate"]["from"]) < number(&sprt["estimate"]["elo"]));
        }
    }
    let other = json(folder.path(), "rate games.csv --json --versus base new --sprt -10,0");
    assert_eq!(other["head_to_head"]["sprt"]["verdict"], "H0");
    let text = stdout(folder.path(), "rate games.csv --sprt 0,10");
    assert!(text.contains("stopped at pair 627, H1"), "{text}");
    let text = stdout(folder.path(), "rate games.csv --sprt 0,2");
    assert!(text.contains("undecided, about "), "{text}");
    // Bounds on which others print nan, or hang.
    let far = json(folder.path(), "rate games.csv --json --sprt -100000,100000");
    let sprt = &far["head_to_head"]["sprt"];
    assert!(sprt["llr"].is_null() && sprt["reason"].as_str().unwrap().contains("closer"));
}

#[test]
fn what_has_no_finite_value_is_null_with_a_reason() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "games.csv", &case("c4"));
    let found = json(folder.path(), "rate games.csv --json");
    for player in found["players"].as_array().unwrap() {
        assert!(player["rating"].is_null() && player["error"].is_null());
        assert!(player["reason"].as_str().unwrap().contains("all 20 games"));
    }
    let two = &found["head_to_head"];
    for key in ["elo", "elo_error", "nelo", "nelo_error", "los"] {
        assert!(two[key].is_null(), "{key}");
    }
    assert!(two["reason"].as_str().unwrap().contains("every game was won"));
    let prior = json(folder.path(), "rate games.csv --json --prior 2");
    assert!(number(&prior["players"][0]["rating"]) > 200.0);
    assert_eq!(prior["prior"], 2.0);
    write(folder.path(), "groups.csv", &case("c7"));
    let found = json(folder.path(), "rate groups.csv --json");
    assert_eq!(found["groups"].as_array().unwrap().len(), 2);
    let without: Vec<&Value> = found["differences"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["difference"].is_null())
        .collect();
    assert_eq!(without.len(), 4);
    assert!(without.iter().all(|row| row["reason"] == "no chain of games connects them"));
    assert!(found["warnings"].to_string().contains("no common scale"));
}

#[test]
fn several_given_ratings_place_the_others() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "games.csv", &case("c5"));
    let found = json(folder.path(), "rate games.csv --json --anchor random=-300 --anchor az=350");
    let players = found["players"].as_array().unwrap();
    let player = |name: &str| players.iter().find(|player| player["name"] == name).unwrap();
    assert_eq!(
        (number(&player("random")["rating"]), number(&player("az")["rating"])),
        (-300.0, 350.0)
    );
    assert_eq!(number(&player("az")["error"]), 0.0);
    assert!(number(&player("greedy")["error"]) > 1.0);
    assert_eq!(found["scale"], "az = 350, random = -300");
    refused(
        folder.path(),
        "rate games.csv --anchor nobody=0",
        "`nobody` is not one of the players",
    );
    refused(folder.path(), "rate games.csv --anchor az=1 --anchor az=2", "names `az` twice");
    refused(folder.path(), "rate games.csv --versus az az", "names `az` twice");
    refused(folder.path(), "rate games.csv --sprt 0,10", "name them with --versus A B");
    refused(folder.path(), "rate games.csv --versus az greedy --sprt 10,0", "elo0 must be");
    let words = "rate games.csv --versus az greedy --sprt 0,10 --alpha 0";
    refused(folder.path(), words, "alpha is 0");
}

#[test]
fn the_tables_have_four_forms() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "games.csv", &case("c5"));
    let text = stdout(folder.path(), "rate games.csv");
    for part in ["W-D-L and score", "likelihood of superiority", "surprises"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let markdown = stdout(folder.path(), "rate games.csv --markdown");
    assert!(markdown.contains("| az") && !markdown.contains('│'), "{markdown}");
    let csv = stdout(folder.path(), "rate games.csv --csv");
    assert_eq!(csv.lines().count(), 6);
    assert!(csv.starts_with("rank,player,rating,error,"));
    let found = json(folder.path(), "rate games.csv --json");
    assert_eq!(found["cross_table"].as_array().unwrap().len(), 10);
    assert_eq!(found["surprises"].as_array().unwrap().len(), 10);
    assert!(found.get("head_to_head").is_none());
    assert_eq!(json(folder.path(), "rate games.csv --json"), found);
}

const PGN: &str = r#"[Event "?"]
[White "one"]
[Black "two"]
[Result "1-0"]
[Round "1"]

1. a2a3 {a comment [with] 0-1} a5a4 (1... b5b4 2. c2c3) 2. b1xb5 $3 1-0

[White "two"]
[Black "one"]
[Result "1/2-1/2"]
[Round "1"]
[Termination "time forfeit"]

1. a2a3 b5b4 1/2-1/2

[White "one"]
[Black "two"]
[Result "*"]

*
"#;

#[test]
fn pgn_journals_and_tables_together() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "games.pgn", PGN);
    let found = json(folder.path(), "rate games.pgn --json");
    assert_eq!((&found["games"], &found["pairs"]), (&2.into(), &1.into()));
    assert_eq!(found["head_to_head"]["pentanomial"], serde_json::json!([0, 0, 0, 1, 0]));
    assert!(found["warnings"].to_string().contains("1 game without a result left out"));
    let table = "first,second,result,note\none,three,1-0,x\nthree,one,0-1,\"a, b\"\n";
    write(folder.path(), "table.csv", table);
    write(folder.path(), "paired.csv", "pair,first,second,result\n1,one,two,1-0\n1,two,one,0-1\n");
    let found = json(folder.path(), "rate games.pgn table.csv paired.csv --json");
    assert_eq!((&found["games"], &found["pairs"]), (&6.into(), &2.into()));
    assert_eq!(found["players"].as_array().unwrap().len(), 3);
    // Pairs of the same number in two files are two.
    std::fs::copy(folder.path().join("paired.csv"), folder.path().join("again.csv")).unwrap();
    let found = json(folder.path(), "rate paired.csv again.csv --json");
    assert_eq!((&found["games"], &found["pairs"]), (&4.into(), &2.into()));
    refused(folder.path(), "rate table.csv table.csv", "is named twice");
}

#[test]
fn our_own_journals_and_their_repeated_games() {
    let folder = TempDir::new().unwrap();
    let words = "--quiet match random greedy --pairs 6 --journal games.jsonl --json";
    let played = json(folder.path(), words);
    let rated = json(folder.path(), "rate games.jsonl --json");
    for key in ["players", "pairs", "games", "endings", "distinct_openings"] {
        assert_eq!(played[key], rated[key], "{key}");
    }
    let path = folder.path().join("games.jsonl");
    let journal = std::fs::read_to_string(&path).unwrap();
    write(folder.path(), "copy.jsonl", &journal);
    let twice = json(folder.path(), "rate games.jsonl copy.jsonl --json");
    assert_eq!((&twice["games"], &twice["counted"]), (&24.into(), &12.into()));
    assert_eq!(twice["guards"]["repeated_games"], 12);
    assert_eq!(twice["players"], rated["players"]);
    let all = json(folder.path(), "rate games.jsonl copy.jsonl --json --repeats all");
    assert_eq!(all["counted"], 24);
    // A changed player under the same name.
    let lines: Vec<&str> = journal.lines().collect();
    let session = |what: &str| format!("{{\"session\":\"1\",\"identities\":[\"{what}\",\"y\"]}}");
    let header =
        "{\"journal\":\"surakarta-arena\",\"version\":1,\"players\":[\"random\",\"greedy\"]}";
    let games: Vec<&str> =
        lines.iter().copied().filter(|line| line.contains("\"black\"")).collect();
    let text = [header, &session("old"), games[0], &session("new"), games[1]].join("\n");
    write(folder.path(), "changed.jsonl", &format!("{text}\n"));
    let found = json(folder.path(), "rate changed.jsonl --json");
    assert_eq!(found["guards"]["changed"][0]["name"], "random");
    assert!(found["warnings"].to_string().contains("not the same program"));
    // A line that was cut while it was written.
    write(folder.path(), "cut.jsonl", &journal[..journal.len() - 30]);
    let found = json(folder.path(), "rate cut.jsonl --json");
    assert_eq!(found["games"], 11);
    assert!(found["warnings"].to_string().contains("was not written to its end"));
    write(folder.path(), "bad.jsonl", &[lines[0], "{\"torn", games[0], ""].join("\n"));
    refused(folder.path(), "rate bad.jsonl", "bad.jsonl, line 2: not a line of a journal");
}

/// They may be any games, so none of them repeats another.
#[test]
fn games_without_moves_are_distinct() {
    let folder = TempDir::new().unwrap();
    let tags = "[White \"a\"]\n[Black \"b\"]\n[Result \"1-0\"]\n\n";
    for moves in ["", "1-0\n\n", "{ by telephone } 1-0\n\n", "1. -- 1-0\n\n"] {
        write(folder.path(), "games.pgn", &format!("{tags}{moves}").repeat(3));
        let found = json(folder.path(), "rate games.pgn --json");
        assert_eq!((&found["games"], &found["counted"]), (&3.into(), &3.into()), "{moves}");
    }
}

#[test]
fn bad_files_are_refused_in_one_sentence() {
    let folder = TempDir::new().unwrap();
    let header = "game,pair,first,second,result\n";
    for (name, text, reason) in [
        ("empty.csv", "", "empty.csv is empty"),
        ("header.csv", header, "holds no finished game"),
        ("columns.csv", "a,b\n1,2\n", "line 1: the header lacks `first`, `second`, `result`"),
        (
            "result.csv",
            &format!("{header}1,1,a,b,1-0\n2,1,b,a,2-0\n"),
            "line 3: `2-0` is not a result",
        ),
        (
            "short.csv",
            &format!("{header}1,1,a,b\n"),
            "line 2: this row has 4 fields and the header 5",
        ),
        ("self.csv", &format!("{header}1,1,a,a,1-0\n"), "line 2: `a` plays against itself"),
        ("name.csv", &format!("{header}1,1,,a,1-0\n"), "line 2: a player has no name"),
        ("tag.pgn", "[White \"a\"]\n[Black b]\n", "line 2: `[Black b]` is not a tag"),
        (
            "players.pgn",
            "[White \"a\"]\n[Result \"1-0\"]\n1-0\n",
            "line 1: the game that begins here has the tag White without Black",
        ),
        (
            "open.pgn",
            "[White \"a\"]\n[Black \"b\"]\n[Result \"1-0\"]\n\n1. a2a3 {never closed\n",
            "line 5: a comment has no `}`",
        ),
        (
            "result.pgn",
            "[White \"a\"]\n[Black \"b\"]\n[Result \"1-0\"]\n\n1. a2a3 0-1\n",
            "says `1-0`, its moves end with `0-1`",
        ),
        (
            "twice.pgn",
            "[White \"a\"]\n[Black \"b\"]\n[Result \"1-0\"]\n[Result \"0-1\"]\n\n1. a2a3 0-1\n",
            "twice.pgn, line 4: the tag Result is given twice in one game",
        ),
        (
            "second.pgn",
            "[White \"a\"]\n[Black \"b\"]\n[Second \"c\"]\n[Result \"1-0\"]\n\n1-0\n",
            "second.pgn, line 1: the game that begins here has the tag Second without First",
        ),
        ("none.pgn", "[White \"a\"]\n[Black \"b\"]\n\n1. a2a3\n", "has no result"),
        (
            "not.jsonl",
            "{\"journal\":\"x\"\n{}\n",
            "line 1: this is not the journal of a tournament",
        ),
    ] {
        write(folder.path(), name, text);
        refused(folder.path(), &format!("rate {name} --json"), reason);
    }
    std::fs::write(folder.path().join("bytes.csv"), b"first,second,result\n\xff\xfe,b,1-0\n")
        .unwrap();
    refused(folder.path(), "rate bytes.csv", "line 2: this is not text in UTF-8");
    refused(folder.path(), "rate missing.csv", "cannot read missing.csv");
    refused(folder.path(), "rate .", "cannot read .");
    refused_words(folder.path(), &["rate", "result.csv", "other.csv"], "result.csv, line 3");
}

#[test]
fn one_sided_openings_and_few_games_are_said() {
    let folder = TempDir::new().unwrap();
    let mut table = "pair,first,second,result\n".to_owned();
    for pair in 0..40 {
        // Whoever moves first wins, but for a draw now and then.
        let last = if pair % 8 == 0 { "1/2-1/2" } else { "1-0" };
        table.push_str(&format!("{pair},a,b,1-0\n{pair},b,a,{last}\n"));
    }
    write(folder.path(), "games.csv", &table);
    let found = json(folder.path(), "rate games.csv --json");
    assert_eq!(found["guards"]["openings"], 40);
    assert_eq!(found["guards"]["one_sided_openings"], 35);
    assert!(found["warnings"].to_string().contains("35 of 40 openings are one-sided"));
    write(folder.path(), "few.csv", &case("c7"));
    let found = json(folder.path(), "rate few.csv --json");
    assert_eq!(found["guards"]["few_games"].as_array().unwrap().len(), 4);
}

#[test]
fn warnings_go_beside_the_table_and_nothing_else_to_it() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "few.csv", &case("c7"));
    let output = surakarta(folder.path()).args(["rate", "few.csv"]).assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(text.contains("warning: there is no common scale"), "{text}");
    assert!(!text.to_lowercase().contains("nan") && !text.contains("inf"), "{text}");
}

#[test]
fn journals_of_different_games_are_not_mixed_in_silence() {
    let folder = TempDir::new().unwrap();
    let words = "--quiet match greedy random --pairs 2 --journal";
    stdout(folder.path(), &format!("{words} one.jsonl"));
    stdout(folder.path(), &format!("{words} two.jsonl --seed 2"));
    stdout(folder.path(), &format!("{words} sepur.jsonl --variant sepur"));
    let said = "sepur.jsonl: played as sepur, olympiad, and other files are not";
    assert!(!stdout(folder.path(), "rate one.jsonl two.jsonl").contains("played as"));
    assert!(stdout(folder.path(), "rate one.jsonl two.jsonl sepur.jsonl").contains(said));
}
