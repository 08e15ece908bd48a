//! What standings look like, on made-up results.

use rand::RngExt;
use surakarta_arena::{
    ArenaGame, ArenaPly, Clusters, GameKey, OpeningSet, Repeats, Standings, StandingsOptions,
    TableStyle,
};
use surakarta_game::{Color, Ending, OLYMPIAD, Outcome, Variant};
use surakarta_search::stream;

/// The three players' pairs, each from its own opening: the results of its two games as seen by the
/// first of the pairing: w, d, l.
fn games(names: &[String], results: &[(usize, usize, &str)]) -> Vec<ArenaGame> {
    let openings = OpeningSet::random(Variant::Standard, OLYMPIAD, 1, 8, 20).unwrap().openings;
    let mut games = Vec::new();
    for (pairing, &(a, b, pairs)) in results.iter().enumerate() {
        for (pair, result) in pairs.split(' ').enumerate() {
            for (swapped, symbol) in [false, true].into_iter().zip(result.chars()) {
                let (black, white) = if swapped { (b, a) } else { (a, b) };
                let first = if swapped { Color::White } else { Color::Black };
                let (ending, outcome) = match symbol {
                    'w' => (Ending::CapturedAll, Outcome::Win(first)),
                    'l' => (Ending::CapturedAll, Outcome::Win(first.other())),
                    _ => (Ending::Repetition, Outcome::Draw),
                };
                let opening = openings[pair].clone();
                let mv = opening.game(OLYMPIAD).unwrap().legal_moves()[0];
                let ply =
                    ArenaPly { mv, value: None, us: 1, simulations: 0, nodes: 9, evaluations: 0 };
                games.push(ArenaGame {
                    key: GameKey { pair: pair as u32, pairing: pairing as u32, swapped },
                    black: names[black].clone(),
                    white: names[white].clone(),
                    opening,
                    plies: vec![ply],
                    ending,
                    outcome,
                    fault: None,
                });
            }
        }
    }
    games
}

fn names(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn standings() -> Standings {
    let names = names("random greedy alphabeta:nodes=10000 mcts:sims=400");
    let results = [
        (0, 1, "ll ll ll ll"),
        (0, 2, "ll ll ll ll"),
        (0, 3, "ll ll ll ll"),
        (1, 2, "ll wl dd ll"),
        (1, 3, "ll ll dl lw"),
        (2, 3, "ld dl wl lw"),
    ];
    let options = StandingsOptions { first_advantage: true, ..Default::default() };
    Standings::of(&names, &games(&names, &results), &options).unwrap()
}

#[test]
fn a_table() {
    insta::assert_snapshot!(standings().table());
}

#[test]
fn comma_separated_values() {
    let mut csv = Vec::new();
    standings().write_csv(&mut csv).unwrap();
    insta::assert_snapshot!(String::from_utf8(csv).unwrap());
}

#[test]
fn json() {
    let mut json = Vec::new();
    standings().write_json(&mut json).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(value["games"], 48);
    assert_eq!(value["distinct_games"], 48);
    let player = &value["players"][3];
    assert_eq!(player["name"], "random");
    assert_eq!((player["rating"].is_null(), player["error"].is_null()), (true, true));
    assert_eq!(player["reason"], "lost all 24 games");
    assert_eq!((player["wins"].as_u64(), player["losses"].as_u64()), (Some(0), Some(24)));
    assert_eq!(value["guards"]["few_games"].as_array().unwrap().len(), 4);
    assert_eq!(value["cross_table"].as_array().unwrap().len(), 6);
    let best = &value["players"][0];
    assert!(best["rating"].as_f64().unwrap() > 0.0 && best["error"].as_f64().unwrap() > 0.0);
    assert_eq!(value["differences"].as_array().unwrap().len(), 6);
    let last = &value["differences"][5];
    assert!(last["difference"].is_null() && last["superiority"].is_null());
    assert_eq!(last["reason"], "all points between them went one way");
}

#[test]
fn the_order_of_games_does_not_matter() {
    let names = names("a b c");
    let mut games =
        games(&names, &[(0, 1, "wl dd ww lw"), (1, 2, "ww ld wl dw"), (0, 2, "ww dl ww")]);
    // Half of a pair repeats that of another pair, with another result of its own second game: which
    // of the two counts tells how many pairs of which kind there are.
    (games[2].opening, games[2].plies) = (games[0].opening.clone(), games[0].plies.clone());
    (games[2].ending, games[2].outcome) = (games[0].ending, games[0].outcome);
    let options = StandingsOptions {
        first_advantage: true,
        versus: Some(("a".to_owned(), "b".to_owned())),
        ..StandingsOptions::default()
    };
    let forward = Standings::of(&names, &games, &options).unwrap();
    assert_eq!((forward.games, forward.counted, forward.pairs), (22, 21, 10));
    assert_eq!(forward.head_to_head.as_ref().unwrap().pairs, 3);
    games.reverse();
    assert_eq!(forward, Standings::of(&names, &games, &options).unwrap());
    let mut rng = stream(4, [0, 0, 0]);
    for _ in 0..20 {
        for k in 1..games.len() {
            games.swap(k, rng.random_range(0..=k as u32) as usize);
        }
        assert_eq!(forward, Standings::of(&names, &games, &options).unwrap());
    }
}

#[test]
fn differences_are_seen_from_either_side() {
    let names = names("a b");
    let standings =
        Standings::of(&names, &games(&names, &[(0, 1, "wl dd ww lw ww")]), &Default::default())
            .unwrap();
    let (up, down) =
        (standings.difference("a", "b").unwrap(), standings.difference("b", "a").unwrap());
    assert!(up.difference.unwrap() > 0.0);
    assert_eq!(up.difference, down.difference.map(|elo| -elo));
    assert_eq!(up.error, down.error);
    assert_eq!(up.superiority.unwrap() + down.superiority.unwrap(), 1.0);
    assert_eq!(standings.difference("a", "x"), None);
}

#[test]
fn many_players_are_listed_by_rank_as_few_are_in_a_matrix() {
    let names = names("a b c d e f g h i");
    let all: Vec<(usize, usize, &str)> =
        (0..9).flat_map(|a| (0..a).map(move |b| (a, b, "wl dd wd lw"))).collect();
    // The last two have not met.
    let games = games(&names, &all[..all.len() - 1]);
    let standings = Standings::of(&names, &games, &Default::default()).unwrap();
    assert_eq!(standings.cross_table.len(), 35);
    let text = standings.tables(TableStyle::Markdown);
    for row in &standings.cross_table {
        let difference = standings.difference(&row.first, &row.second).unwrap();
        let elo = format!("{:+.1} ± ", difference.difference.unwrap());
        let result = format!("{}-{}-{} ", row.tally.wins, row.tally.draws, row.tally.losses);
        for cell in [elo, result] {
            let found = text.lines().filter(|line| {
                let cells: Vec<&str> = line.split('|').map(str::trim).collect();
                cells.len() > 3
                    && cells[1..3] == [&row.first, &row.second]
                    && cells[3].starts_with(&cell)
            });
            assert_eq!(found.count(), 1, "{row:?} {cell}: {text}");
        }
    }
    assert_eq!(text.matches("| player").count(), 4, "ratings and three lists");
}

#[test]
fn repeated_games_are_counted_and_said() {
    let names = names("a b");
    let mut games = games(&names, &[(0, 1, "wl dd ww lw")]);
    let before = Standings::of(&names, &games, &Default::default()).unwrap();
    assert!(!before.table().contains("repeat"));
    // The second pair plays the first one again.
    for k in 2..4 {
        games[k].opening = games[k - 2].opening.clone();
        games[k].plies = games[k - 2].plies.clone();
    }
    games[2].outcome = games[0].outcome;
    games[3].outcome = games[1].outcome;
    let standings = Standings::of(&names, &games, &Default::default()).unwrap();
    assert_eq!(
        (standings.games, standings.distinct_games, standings.distinct_openings),
        (8, Some(6), Some(3))
    );
    assert_eq!((standings.counted, standings.pairs, standings.guards.repeated_games), (6, 3, 2));
    assert!(standings.table().contains("warning: 2 of 8 games repeat an earlier one"));
    assert!(standings.table().contains("each is counted once"));
    let all = StandingsOptions { repeats: Repeats::All, ..Default::default() };
    let standings = Standings::of(&names, &games, &all).unwrap();
    assert_eq!((standings.counted, standings.pairs, standings.guards.repeated_games), (8, 4, 2));
    // A record without moves may be any game.
    games.iter_mut().for_each(|game| game.plies.clear());
    let standings = Standings::of(&names, &games, &Default::default()).unwrap();
    assert_eq!((standings.counted, standings.distinct_games), (8, None));
}

#[test]
fn one_game_is_no_games_and_nothing_is_minus_zero() {
    let names = names("a b");
    let standings = Standings::of(&names, &games(&names, &[(0, 1, "wl")]), &Default::default());
    let tables = standings.unwrap().tables(Default::default());
    assert!(tables.contains("2 games (2 distinct), 1 pair, 1 distinct opening\n"), "{tables}");
    assert!(tables.contains("\n1 pair: LL 0"), "{tables}");
    let standings = Standings::of(&names, &games(&names, &[(0, 1, "w")]), &Default::default());
    let tables = standings.unwrap().tables(Default::default());
    assert!(tables.contains("1 game (1 distinct), 0 pairs"), "{tables}");
    assert!(tables.contains("won its only game") && tables.contains("L 0 of 1 game,"), "{tables}");
    // Of two equals one may come out a rounding below zero.
    let equals = [(0, 1, "wl lw dd wl"), (1, 0, "wl lw")];
    let standings = Standings::of(&names, &games(&names, &equals), &Default::default()).unwrap();
    for tables in [standings.tables(Default::default()), standings.table()] {
        assert!(!tables.contains("-0.0"), "{tables}");
    }
}

#[test]
fn half_a_pair_is_no_pair() {
    let names = names("a b");
    let games = games(&names, &[(0, 1, "wl dd w")]);
    let standings = Standings::of(&names, &games, &Default::default()).unwrap();
    assert_eq!((standings.games, standings.pairs), (5, 2));
    assert!(standings.players.iter().all(|player| player.pairs == 2));
}

#[test]
fn anchors_by_name() {
    let names = names("a b c");
    let games = games(&names, &[(0, 1, "wl dd ww lw"), (1, 2, "ww ww"), (0, 2, "ww ww")]);
    let options = |name: &str| StandingsOptions {
        anchors: vec![(name.to_owned(), 1000.0)],
        clusters: Clusters::Games,
        ..Default::default()
    };
    let standings = Standings::of(&names, &games, &options("b")).unwrap();
    let b = standings.players.iter().find(|player| player.name == "b").unwrap();
    assert_eq!(
        (b.rating, b.error, standings.scale.as_str()),
        (Some(1000.0), Some(0.0), "b = 1000")
    );
    // One without a finite rating cannot hold the others.
    let standings = Standings::of(&names, &games, &options("c")).unwrap();
    assert_eq!(standings.scale, "mean 0");
    assert!(standings.warnings[0].contains("`c` cannot fix the scale"));
    let error = Standings::of(&names, &games, &options("d")).unwrap_err().to_string();
    assert_eq!(error, "`d` is not one of the players: a, b, c");
}

#[test]
fn groups_without_a_common_scale_are_named() {
    let names = names("a b c d");
    let games = games(&names, &[(0, 1, "wl dd"), (2, 3, "ww ll wd")]);
    let standings = Standings::of(&names, &games, &Default::default()).unwrap();
    assert!(standings.table().contains("(a, b | c, d)"), "{:?}", standings.warnings);
    assert_eq!(standings.groups, [["a", "b"], ["c", "d"]]);
    assert_eq!(standings.difference("a", "c").unwrap().difference, None);
}
