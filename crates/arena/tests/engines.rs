//! Programs as players, above all such as do not behave.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use surakarta_arena::engine::{Engine, EngineError};
use surakarta_arena::{
    Adjudication, Allowance, ArenaGame, GameKey, Opening, Seat, Session, Tournament, play_game,
};
use surakarta_game::{Color, Ending, Game, OLYMPIAD, Outcome, Position, Variant};
use surakarta_search::{
    EngineSpec, Limits, Player, PlayerError, PlayerSpec, RandomConfig, RandomPlayer,
};
use tempfile::TempDir;

fn spec(text: &str) -> EngineSpec {
    match text.parse().unwrap_or_else(|error| panic!("{text}: {error}")) {
        PlayerSpec::External(spec) => spec,
        other => panic!("{other}"),
    }
}

fn standard(spec: EngineSpec) -> Engine {
    Engine::new(spec, Variant::Standard, OLYMPIAD)
}

fn probe(spec: &EngineSpec) -> Result<String, EngineError> {
    Engine::probe(spec, Variant::Standard, OLYMPIAD, &AtomicBool::new(false))
}

/// The command line of the engine for tests.
fn misbehaver(protocol: &str, mode: &str, more: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/misbehaver.py");
    format!("python3 '{}' {protocol} {mode} {more}", script.display())
}

/// Numbers of the processes with this word on their command line.
fn marked(marker: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has = |number: &u32| {
        let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).any(|word| word == marker.as_bytes())
    };
    numbers.filter(has).collect()
}

/// The children of this process that have ended and that nobody has waited for.
fn zombies() -> usize {
    let own = std::process::id().to_string();
    let state = |number: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or(String::new(), |(_, rest)| rest.to_owned());
        let mut fields = fields.split_whitespace().map(str::to_owned);
        (fields.next(), fields.next())
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .map(state)
        .filter(|(state, parent)| state.as_deref() == Some("Z") && *parent == Some(own.clone()))
        .count()
}

/// Whether no process with this word is left; what has been killed may need a moment.
fn gone(marker: &str) -> bool {
    (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        marked(marker).is_empty()
    })
}

/// Whether every child that has ended is waited for; those of other tests may need a moment.
fn no_zombies() -> bool {
    (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        zombies() == 0
    })
}

/// A marker of its own for each call.
fn marker(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

/// The engine's game as Black against random moves, from the start.
fn game_of(engine: &mut dyn Player) -> ArenaGame {
    let mut random = RandomPlayer::new(RandomConfig::default());
    let start = Position::start(Variant::Standard);
    let seat = |name, player, seed| Seat { name, player, seed, allowance: Allowance::default() };
    let seats = [seat("engine", engine, 1), seat("random", &mut random, 2)];
    let key = GameKey { pair: 0, pairing: 0, swapped: false };
    let opening = Opening { start, moves: Vec::new() };
    let game = Game::from_position(OLYMPIAD, start);
    play_game(key, &opening, game, seats, &Adjudication::default(), &mut |_| ())
}

#[test]
fn each_misdeed_loses_in_its_way_and_leaves_nothing_behind() {
    use Ending::{Crash, IllegalMove, Time};
    for protocol in ["ugi", "contest"] {
        for (mode, ending, reason) in [
            ("crash", Crash, "exit status: 3); its last words: a segment of memory is at fault"),
            ("leave", Crash, "it has ended by itself"),
            ("hang", Time, "no answer to `"),
            ("late", Time, "within 1500 ms"),
            ("gibberish", IllegalMove, "over there` is not a legal move here"),
            ("illegal", IllegalMove, "is not a legal move here"),
            ("half", Crash, "it has ended by itself"),
            ("mute", Crash, "it closed its standard output"),
            ("flood", IllegalMove, "it wrote more than 16 MiB, not an answer"),
            ("endless", IllegalMove, "it wrote more than 16 MiB, not an answer"),
            ("grandchild", Crash, "exit status: 4"),
        ] {
            let marker = marker(&format!("{protocol}-{mode}"));
            let cmd = misbehaver(protocol, mode, &format!("2 {marker}"));
            // Other misdeeds show at once, however busy the machine is.
            let hang = if ending == Time { 1_500 } else { 60_000 };
            let text = format!("{protocol}:cmd=\"{cmd}\",hang-ms={hang}");
            let mut engine = standard(spec(&text));
            let game = game_of(&mut engine);
            let fault = game.fault.clone().unwrap_or_default();
            assert_eq!(game.ending, ending, "{protocol} {mode}: {fault}");
            assert_eq!(game.outcome, Outcome::Win(Color::White), "{protocol} {mode}");
            assert_eq!(game.plies.len(), 4, "{protocol} {mode}: at the engine's third move");
            assert!(fault.contains(reason), "{protocol} {mode}: {fault}");
            assert!(gone(&marker), "{protocol} {mode} left processes behind");
            // The next game begins with a new process.
            assert_eq!(game_of(&mut engine).plies.len(), 4, "{protocol} {mode}");
        }
    }
}

#[test]
fn oddities_are_overlooked_and_the_stubborn_are_killed() {
    for protocol in ["ugi", "contest"] {
        for mode in ["honest", "rubbish", "long_line", "stubborn"] {
            let marker = marker(&format!("{protocol}-{mode}"));
            let cmd = misbehaver(protocol, mode, &format!("1 {marker}"));
            let mut engine = standard(spec(&format!("{protocol}:cmd=\"{cmd}\"")));
            for _ in 0..2 {
                let game = game_of(&mut engine);
                assert_eq!(game.fault, None, "{protocol} {mode}");
                assert!(game.ending.is_by_rule(), "{protocol} {mode}: {}", game.ending);
            }
            assert!(!marked(&marker).is_empty(), "one process serves all games");
            drop(engine);
            assert!(gone(&marker), "{protocol} {mode} left processes behind");
        }
    }
}

#[test]
fn programs_that_cannot_play_are_named_before_any_game() {
    let failure = |text: &str| probe(&spec(text)).unwrap_err().to_string();
    let missing = failure("ugi:cmd=/no/such/engine -x");
    assert!(missing.contains("cannot start the engine `/no/such/engine -x`"), "{missing}");
    let folder = failure("ugi:cmd=true,dir=/no/such/folder");
    assert!(folder.contains("/no/such/folder, which is not a folder"), "{folder}");
    let log = failure("ugi:cmd=true,log=/no/such/folder/log");
    assert!(log.contains("cannot write the engine's log /no/such/folder/log"), "{log}");

    let marker = marker("probe");
    for protocol in ["ugi", "contest"] {
        let cmd = misbehaver(protocol, "no_start", &format!("0 {marker}"));
        let died = failure(&format!("{protocol}:cmd=\"{cmd}\""));
        let said = "(exit status: 1); its last words: no licence found";
        assert!(
            died.contains(&format!("by the {protocol} protocol")) && died.contains(said),
            "{died}"
        );
        let silent = failure(&format!("{protocol}:cmd=sleep 1000,start-ms=50"));
        assert!(silent.contains("no answer to `") && silent.contains("within 50 ms"), "{silent}");
    }
    let cmd = misbehaver("ugi", "honest", &format!("0 {marker}"));
    let option = failure(&format!("ugi:cmd=\"{cmd}\",option.Hash=8"));
    assert!(option.contains("has no option `Hash`; its options are Seed"), "{option}");
    assert!(gone(&marker));
    assert!(no_zombies());
}

/// What an engine objects to is told where it may be why it loses.
#[test]
fn objections_go_with_an_illegal_move() {
    let cmd = misbehaver("ugi", "object", "0");
    let fault = game_of(&mut standard(spec(&format!("ugi:cmd=\"{cmd}\"")))).fault.unwrap();
    assert!(fault.ends_with("not a legal move here; it also said: no such board"), "{fault}");
}

#[test]
fn a_start_is_given_up_when_asked() {
    let marker = marker("given-up");
    let cmd = misbehaver("ugi", "deaf", &format!("0 {marker}"));
    let spec = spec(&format!("ugi:cmd=\"{cmd}\",start-ms=3000"));
    let error =
        Engine::probe(&spec, Variant::Standard, OLYMPIAD, &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(error, EngineError::Stopped { .. }), "{error}");
    assert!(gone(&marker));
}

#[test]
fn an_identity_changes_with_the_program() {
    let folder = TempDir::new().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/misbehaver.py");
    let own = folder.path().join("own.py");
    std::fs::copy(script, &own).unwrap();
    let spec =
        spec(&format!("ugi:cmd=python3 own.py ugi honest 0,dir={}", folder.path().display()));
    let before = probe(&spec).unwrap();
    assert!(before.starts_with("Misbehaver, python3 ") && before.contains(", own.py "), "{before}");
    assert_eq!(probe(&spec).unwrap(), before);
    let text = std::fs::read_to_string(&own).unwrap();
    std::fs::write(&own, text + "\n").unwrap();
    assert_ne!(probe(&spec).unwrap(), before);
}

#[test]
fn the_log_tells_who_said_what_when() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("log");
    let cmd = misbehaver("ugi", "crash", "1");
    let mut engine = standard(spec(&format!("ugi:cmd=\"{cmd}\",nodes=7,log={}", log.display())));
    game_of(&mut engine);
    let log = std::fs::read_to_string(log).unwrap();
    for said in ["> ugi", "< ugiok", "> go nodes 7", "< bestmove ", "! a segment of memory"] {
        assert!(log.contains(said), "{said} in {log}");
    }
    for line in log.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        assert!(words[0].parse::<u32>().is_ok() && words[1].parse::<f64>().is_ok(), "{line}");
        assert!(["#", ">", "<", "!"].contains(&words[2]), "{line}");
    }
}

#[test]
fn limits_of_time_are_kept_with_a_margin() {
    let started = Instant::now();
    let cmd = misbehaver("contest", "late", "0");
    let mut engine =
        standard(spec(&format!("contest:cmd=\"{cmd}\",ms=100,margin-ms=200,hang-ms=100000")));
    let fault = game_of(&mut engine).fault.unwrap();
    assert!(fault.contains("`new black` within 300 ms"), "{fault}");
    assert!(started.elapsed() < Duration::from_secs(60));
    // With time enough, the same answer is not late.
    let cmd = misbehaver("ugi", "late", "0");
    let mut engine = standard(spec(&format!("ugi:cmd=\"{cmd}\",ms=1,margin-ms=100000")));
    assert_eq!(game_of(&mut engine).fault, None);
}

#[test]
fn openings_need_an_engine_that_knows_the_extensions() {
    let mut game = Game::new(OLYMPIAD);
    for mv in ["a2a3", "a5a4", "b2b3", "b5b4"] {
        game.play(mv.parse().unwrap()).unwrap();
    }
    let choose = |openings: &str| {
        let cmd = misbehaver("contest", "honest", "0");
        let mut engine = standard(spec(&format!("contest:cmd=\"{cmd}\"{openings}")));
        engine.new_game(1);
        engine.choose(&game, &Limits::default())
    };
    let choice = choose(",openings=yes").unwrap();
    assert!(game.legal_moves().contains(&choice.mv));
    let error = choose("").unwrap_err();
    assert!(error.to_string().contains("say openings=yes"), "{error}");
    assert!(matches!(error, PlayerError::Engine { ending: Ending::Crash, .. }));
}

/// A tournament of 200 games against an engine that does something else in each.
#[test]
fn a_tournament_survives_whatever_an_engine_does() {
    let folder = TempDir::new().unwrap();
    let record: PathBuf = folder.path().join("misdeeds");
    let marker = marker("tournament");
    let cmd = misbehaver("ugi", "random", &format!("3 {marker} '{}'", record.display()));
    let spec = spec(&format!("ugi:cmd=\"{cmd}\",hang-ms=3000"));
    let names = ["engine".to_owned(), "random".to_owned()];
    let tournament =
        Tournament::round_robin(&names, 100, 4, Variant::Standard, OLYMPIAD, 5).unwrap();
    let factory = |n: usize| -> Result<Box<dyn Player>, _> {
        Ok(match n {
            0 => Box::new(Engine::new(spec.clone(), Variant::Standard, OLYMPIAD)),
            _ => Box::new(RandomPlayer::new(RandomConfig::default())),
        })
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let played = tournament.play(&factory, &Session::new(&pool)).unwrap();
    assert!(played.complete);
    assert_eq!(played.games.len(), 200);
    assert!(gone(&marker), "processes were left behind");
    assert!(no_zombies());

    let expected = |misdeed: &str| match misdeed {
        "crash" | "leave" | "half" | "mute" | "grandchild" => Some(Ending::Crash),
        "hang" | "late" => Some(Ending::Time),
        "gibberish" | "illegal" | "object" | "flood" | "endless" => Some(Ending::IllegalMove),
        _ => None,
    };
    let mut misdeeds = BTreeMap::<Ending, usize>::new();
    let record = std::fs::read_to_string(record).unwrap();
    for ending in record.lines().filter_map(expected) {
        *misdeeds.entry(ending).or_default() += 1;
    }
    let mut faults = BTreeMap::<Ending, usize>::new();
    for game in played.games.iter().filter(|game| !game.ending.is_by_rule()) {
        *faults.entry(game.ending).or_default() += 1;
        let loser =
            if game.outcome == Outcome::Win(Color::Black) { &game.white } else { &game.black };
        assert_eq!(loser, "engine", "{:?}", game.fault);
    }
    assert_eq!(faults, misdeeds);
    assert_eq!(faults.len(), 3, "every kind of end has occurred: {faults:?}");
    assert!(faults.values().sum::<usize>() < 200, "some games came to their end");
}
