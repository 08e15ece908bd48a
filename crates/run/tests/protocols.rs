//! Our players behind the protocols, on scripted input.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use surakarta_arena::engine::{contest_move, contest_text};
use surakarta_game::{CONTEST, Color, Game, Move, OLYMPIAD, Position, Variant};
use surakarta_run::contest_protocol;
use surakarta_run::ugi::{self, Settings};
use surakarta_search::{
    AlphaBetaConfig, AlphaBetaPlayer, Limits, Player, RandomConfig, RandomPlayer,
};

/// Takes what is written from any thread.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the UGI engine says, line by line.
fn ugi(player: &str, input: &[u8]) -> Vec<String> {
    let settings = Settings {
        player: player.parse().unwrap(),
        variant: Variant::Standard,
        rules: OLYMPIAD,
        seed: 1,
        networks: Default::default(),
    };
    let paper = Paper::default();
    ugi::serve(settings, &mut &*input, paper.clone()).unwrap();
    let bytes = paper.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

/// What the contest engine says.
fn contest(player: &mut dyn Player, input: &[u8]) -> Vec<String> {
    let mut output = Vec::new();
    contest_protocol::serve(player, CONTEST, 1, &mut &*input, &mut output).unwrap();
    String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
}

fn random() -> RandomPlayer {
    RandomPlayer::new(RandomConfig::default())
}

fn alphabeta() -> AlphaBetaPlayer {
    let limits = Limits { nodes: Some(300), ..Limits::default() };
    AlphaBetaPlayer::new(AlphaBetaConfig { limits, table_mib: 1, ..Default::default() })
}

#[test]
fn ugi_introduces_itself_and_is_ready() {
    let said = ugi("greedy", b"ugi\nisready\nquit\nisready\n");
    assert!(said[0].starts_with("id name Surakarta Zero") && said[0].ends_with("greedy"));
    assert!(said[1].starts_with("id author "));
    for option in ["Player type string", "Variant type", "Rules type", "Seed type spin"] {
        assert!(said.iter().any(|line| line.starts_with(&format!("option name {option}"))));
    }
    assert_eq!(said[said.len() - 2..], ["ugiok", "readyok"], "quit ends it");
}

#[test]
fn ugi_searches_the_position_it_was_told() {
    let input = "position fen 6/6/6/2w3/6/2b3 b 0 1 moves c1c2\ngo depth 1\n";
    let said = ugi("alphabeta", input.as_bytes());
    let game = Game::from_position(OLYMPIAD, "6/6/6/2w3/2b3/6 w 1 1".parse().unwrap());
    let mv: Move = said[1].strip_prefix("bestmove ").unwrap().parse().unwrap();
    assert!(game.legal_moves().contains(&mv), "{said:?}");
    let words: Vec<&str> = said[0].split(' ').collect();
    assert_eq!(words[..3], ["info", "depth", "1"]);
    let at = words.iter().position(|word| *word == "pv").unwrap();
    assert_eq!(words[at + 1], mv.to_string());
    // What belongs to the search's cost and value is there, too.
    for word in ["nodes", "time", "nps", "score", "cp"] {
        assert!(words.contains(&word), "{words:?}");
    }
}

#[test]
fn ugi_obeys_the_limits_of_go() {
    let nodes = |go: &str| {
        let said = ugi("alphabeta:nodes=50", format!("position startpos\n{go}\n").as_bytes());
        let words: Vec<&str> = said[0].split(' ').collect();
        words[4].parse::<u64>().unwrap()
    };
    assert_eq!(nodes("go"), 50);
    assert_eq!(nodes("go infinite"), 50);
    assert_eq!(nodes("go nodes 700"), 700);
    assert_eq!(nodes("go nodes many"), 50, "no number, no limit");
    assert!(nodes("go movetime 60") > 700);
    assert!(nodes("go p1time 2000 p2time 1 p1inc 0 p2inc 0") > 700);
    let said = ugi("rollout:sims=5", b"go nodes 30\ngo\n");
    assert!(said[0].contains(" nodes 30 ") && said[2].contains(" nodes 5 "), "{said:?}");
}

#[test]
fn ugi_answers_queries() {
    let ask = |position: &str| {
        let input = format!("{position}\nquery p1turn\nquery gameover\nquery result\nquery x\n");
        ugi("random", input.as_bytes()).join(" ").replace("response ", "")
    };
    assert_eq!(ask(""), "true false none");
    assert_eq!(ask("position startpos moves a2a3"), "false false none");
    assert_eq!(ask("position fen 6/6/6/6/6/b5 w 0 1"), "false true p1win");
    assert_eq!(ask("position fen 6/6/6/6/6/w5 w 0 1"), "false true p2win");
    let shuffle = "position startpos moves a2a3 a5a4 a3a2 a4a5";
    assert_eq!(ask(shuffle), "true true draw");
    let said = ugi("greedy", format!("{shuffle}\ngo\n").as_bytes());
    assert_eq!(said[1], "bestmove 0000");
}

#[test]
fn ugi_keeps_the_position_when_a_line_is_wrong() {
    for wrong in [
        "position startpos moves a2a3 a1a2x",
        "position startpos moves a2a9",
        "position startpos moves a2a4",
        "position startpos a2a3",
        "position fen 6/6/6/6/6 b 0 1",
        "position fen",
        "position",
        "position fen wwwwwww/wwwwwww/7/7/7/bbbbbbb/bbbbbbb b 0 1 sepur moves a1a1",
        "position fen wwwwwww/wwwwwww/7/7/7/bbbbbbb/bbbbbbb b 0 1 cubic",
        "setoption name Player value minimax",
        "setoption name Variant value cubic",
        "setoption name Rules value none",
        "setoption name Seed value -1",
        "setoption name Hash value 8",
        "setoption Player greedy",
    ] {
        let said = ugi(
            "random",
            format!("position startpos moves a2a3\n{wrong}\nquery p1turn\n").as_bytes(),
        );
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("info string "), "{said:?}");
        assert_eq!(said[1], "response false", "{wrong}");
    }
}

#[test]
fn ugi_options_take_effect() {
    let input = "setoption name player value alphabeta:depth=2\n\
                 setoption name Variant value sepur\nsetoption name Rules value no-repeat\n\
                 uginewgame\ngo\nugi\n";
    let said = ugi("random", input.as_bytes());
    let text = said.join("\n");
    assert!(text.contains("info depth 2 "), "{text}");
    for line in ["option name Variant type string default sepur", "default no-repeat"] {
        assert!(text.contains(line), "{text}");
    }
    // The seed decides, and each game has its own.
    let moves = |seed: u64| {
        let game = "uginewgame\nposition startpos\ngo\n";
        let script = format!("setoption name Seed value {seed}\n{}", game.repeat(8));
        let said = ugi("random", script.as_bytes());
        said.into_iter().filter(|line| line.starts_with("bestmove")).collect::<Vec<_>>()
    };
    let one = moves(7);
    assert_eq!(one, moves(7));
    assert_eq!(one[1..], moves(8)[..7], "the next game has the next seed");
    assert!(one.iter().any(|mv| *mv != one[0]));
}

#[test]
fn ugi_follows_the_variant_of_a_position() {
    let sepur = Position::start(Variant::Sepur);
    let script = format!("setoption name Seed value 7\nuginewgame\nposition fen {sepur}\ngo\n");
    let said = ugi("random", format!("{script}position startpos\ngo\nugi\n").as_bytes());
    let moves: Vec<&str> = said.iter().filter_map(|line| line.strip_prefix("bestmove ")).collect();
    for mv in &moves {
        let mut game = Game::from_position(OLYMPIAD, sepur);
        assert!(game.play(mv.parse().unwrap()).is_ok(), "{said:?}");
    }
    assert_eq!(moves.len(), 2);
    assert!(said.contains(&"option name Variant type string default sepur".to_owned()));
    // The game's seed is still that of the game.
    let set = script.replace("uginewgame", "setoption name Variant value sepur\nuginewgame");
    let again = ugi("random", set.as_bytes());
    assert_eq!(again.last().unwrap(), &format!("bestmove {}", moves[0]));
}

/// The engine against itself through the platform's eyes, from the start to the end.
#[test]
fn contest_plays_games_to_their_end() {
    for side in [Color::Black, Color::White] {
        let mut game = Game::new(CONTEST);
        let mut script = format!("name?\nnew {side}\n");
        let mut moves = 0;
        // Without a move of its own to answer, each replay of the script ends with the engine's turn.
        while game.result().is_none() {
            if game.side_to_move() == side {
                let said = contest(&mut alphabeta(), script.as_bytes());
                assert_eq!(said.len(), 2 + moves, "{script}");
                let mv = said.last().unwrap().strip_prefix("move ").unwrap();
                game.play(contest_move(mv).unwrap()).unwrap();
                moves += 1;
            } else {
                let choice = random().choose(&game, &Limits::default()).unwrap();
                game.play(choice.mv).unwrap();
                script += &format!("move {}\n", contest_text(choice.mv));
            }
        }
        assert!(moves > 3);
    }
}

#[test]
fn contest_never_repeats_a_refused_move() {
    let errors = "error\n".repeat(20);
    let said = contest(&mut alphabeta(), format!("new black\n{errors}").as_bytes());
    // From the start there are 16 moves, and then none.
    assert_eq!(said.len(), 16);
    let mut moves: Vec<Move> = said.iter().map(|line| contest_move(&line[5..]).unwrap()).collect();
    let game = Game::new(CONTEST);
    assert!(moves.iter().all(|mv| game.legal_moves().contains(mv)));
    moves.sort();
    moves.dedup();
    assert_eq!(moves.len(), 16, "each once");
    // The refusal holds in that position only.
    let again = contest(&mut alphabeta(), b"new black\nerror\nnew black\n");
    assert_eq!(again[0], again[2]);
    assert_ne!(again[0], again[1]);
}

/// The platform lets pieces in the corners capture. Ours follows that and never does it.
#[test]
fn contest_follows_what_our_rules_forbid() {
    // a1 "takes" f6 from the start: Black has a piece there, and White's is gone.
    let said = contest(&mut alphabeta(), b"reset white\nforce AAFF\ngo\n");
    let position = Position::start(Variant::Standard).after(contest_move("AAFF").unwrap());
    let mv = contest_move(&said[0][5..]).unwrap();
    assert!(position.moves().contains(&mv));
    let said = contest(&mut alphabeta(), b"new white\nmove AAFF\nmove ABAC\n");
    assert_eq!(said.len(), 2, "and the game goes on");
    // What moves nothing of the opponent's is ignored.
    assert_eq!(contest(&mut random(), b"new white\nmove CCDD\nmove AEAD\nmove AA\n"), [""; 0]);
}

#[test]
fn contest_goes_on_after_the_end_by_our_rules() {
    // Forty plies without a capture, from pieces that go forth and back.
    let shuffle = "force ABAC\nforce AEAD\nforce ACAB\nforce ADAE\n".repeat(11);
    let said = contest(&mut alphabeta(), format!("reset black\n{shuffle}go\n").as_bytes());
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("move "), "{said:?}");
}

#[test]
fn contest_ignores_what_it_does_not_know() {
    let long = format!("new black{}\n", " ".repeat(300));
    let input =
        format!("hello\n\nnew green\nNEW black\nmove\nend\nend black\n{long}\u{0}\nname?\n");
    assert_eq!(contest(&mut random(), input.as_bytes()), ["name SurakartaZero"]);
}

/// Words of both protocols, and some of none.
fn script() -> impl Strategy<Value = String> {
    let place = "[A-G]{4}|[A-F]{4}|[a-f][1-6][a-f][1-6]|A[BC]A[CD]";
    let line = prop_oneof![
        "(move|force) (A[BC][AB][CD]|[A-F]{4})",
        Just("new black".to_owned()),
        Just("new white".to_owned()),
        "reset (black|white)",
        "error|go|end|name\\?|isready|uginewgame|ugi|stop",
        "go (nodes|depth|movetime|p1time|p2time|p1inc) -?[0-9]{0,2}",
        "query (p1turn|gameover|result)",
        "position (startpos|fen [bw1-6/]{0,20} [bw] 0 1)( moves( [a-f][1-6][a-f][1-6]){0,4})?",
        "setoption name (Seed|Rules|Variant|Player) value (5|contest|sepur|random|greedy)",
        place,
        "\\PC{0,12}",
    ];
    prop::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_commands_panic(script in script()) {
        let said = ugi("random", script.as_bytes());
        let asked = script.lines().filter(|line| line.trim() == "isready").count();
        prop_assert_eq!(said.iter().filter(|line| *line == "readyok").count(), asked);
        for line in contest(&mut random(), script.as_bytes()) {
            prop_assert!(line == "name SurakartaZero" || contest_move(&line[5..]).is_some());
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        ugi("random", &bytes);
        contest(&mut random(), &bytes);
    }
}
