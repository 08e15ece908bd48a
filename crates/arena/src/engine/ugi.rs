//! The client's side of the Universal Game Interface, which is chess's UCI for any game.
//!
//! Moves are written as everywhere here, `a2a3`; a position is `startpos` or `fen` and a position of
//! ours, whose variant is named in its fifth field. The first player, p1, is Black.

use std::time::{Duration, Instant};

use surakarta_game::{Game, Move, Position, RuleSet, Variant};
use surakarta_search::{Choice, EngineSpec, Limits, Work};

use super::process::Process;
use super::{EngineError, Fault, LONGEST_WAIT, Patience};

/// Bytes of a line; expected lines of play are the longest.
const LONGEST: usize = 16 << 10;

/// Complaints that are kept.
const COMPLAINTS: usize = 10;

/// The expected result in [−1, 1] that a score in hundredths of a piece means, by the curve that Elo
/// ratings use: 2 / (1 + 10^(−score / 400)) − 1. Four pieces are 0.82.
pub fn value_of_centipieces(score: f64) -> f32 {
    (2.0 / (1.0 + 10f64.powf(-score / 400.0)) - 1.0) as f32
}

/// The inverse of [`value_of_centipieces`], from −3200 to 3200.
pub fn centipieces(value: f32) -> i32 {
    let value = f64::from(value).clamp(-1.0, 1.0);
    // At ±1 the logarithm is infinite.
    (400.0 * ((1.0 + value) / (1.0 - value)).log10()).clamp(-3200.0, 3200.0).round() as i32
}

/// A running engine.
pub(super) struct Ugi {
    process: Process,
    name: String,
    /// How long it may take to be ready.
    start: Duration,
    /// Lowest and highest value of its option `Seed`, if it has one that is ours to set.
    seed: Option<(u64, u64)>,
    /// Its first `info string` lines since the start, or since it was told the last position.
    complaints: Vec<String>,
}

/// An option's name, and what follows `type`.
type Setting = (String, String);

impl Ugi {
    pub(super) fn start(
        spec: &EngineSpec,
        variant: Variant,
        rules: RuleSet,
    ) -> Result<Ugi, EngineError> {
        let mut ugi = Ugi {
            process: Process::start(spec, LONGEST)?,
            name: String::new(),
            start: spec.start,
            seed: None,
            complaints: Vec::new(),
        };
        let options = ugi.introduce().map_err(|fault| fault.at_start(spec))?;
        let form = |name: &str| {
            let mut options = options.iter();
            options.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, form)| form.as_str())
        };
        let given = |name: &str| spec.options.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        // The arena's seed, variant and rules would undo what is given.
        if !given("Seed") {
            ugi.seed = form("Seed").and_then(range);
        }
        for (name, value, is_usual) in [
            ("Variant", variant.to_string(), variant == Variant::Standard),
            ("Rules", rules.to_string(), rules == RuleSet::default()),
        ] {
            let Some(form) = form(name).filter(|_| !given(name)) else { continue };
            if takes(form, &value) {
                ugi.set(name, &value);
            } else if !is_usual {
                ugi.complaints.push(format!("its option {name} does not take {value}"));
            }
        }
        for (name, value) in &spec.options {
            if form(name).is_none() {
                let names: Vec<&str> = options.iter().map(|(name, _)| name.as_str()).collect();
                return Err(EngineError::Option {
                    cmd: spec.cmd.clone(),
                    option: name.clone(),
                    options: if names.is_empty() { "none".to_owned() } else { names.join(", ") },
                });
            }
            ugi.set(name, value);
        }
        ugi.ready().map_err(|fault| fault.at_start(spec))?;
        Ok(ugi)
    }

    fn set(&mut self, name: &str, value: &str) {
        self.process.say(&format!("setoption name {name} value {value}"));
    }

    /// Takes down its name and returns its options.
    fn introduce(&mut self) -> Result<Vec<Setting>, Fault> {
        let until = Instant::now() + self.start;
        self.process.say("ugi");
        let mut options = Vec::new();
        loop {
            let Some(line) = self.process.hear(until)? else {
                return Err(Fault::silence("ugi", self.start));
            };
            let line = line.trim();
            if line == "ugiok" {
                return Ok(options);
            }
            self.note(line);
            if let Some(name) = line.strip_prefix("id name ") {
                name.trim().clone_into(&mut self.name);
            }
            if let Some(option) = line.strip_prefix("option name ") {
                let (name, form) = option.split_once(" type ").unwrap_or((option, ""));
                options.push((name.trim().to_owned(), form.trim().to_owned()));
            }
        }
    }

    /// Keeps a line that is free text: engines object in no other way.
    fn note(&mut self, line: &str) {
        if let Some(text) = line.trim().strip_prefix("info string ")
            && self.complaints.len() < COMPLAINTS
        {
            self.complaints.push(text.trim().to_owned());
        }
    }

    /// Waits until it has done what it was told.
    fn ready(&mut self) -> Result<(), Fault> {
        let until = Instant::now() + self.start;
        self.process.say("isready");
        while let Some(line) = self.process.hear(until)? {
            if line.trim() == "readyok" {
                return Ok(());
            }
            self.note(&line);
        }
        Err(Fault::silence("isready", self.start))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn complaints(&self) -> &[String] {
        &self.complaints
    }

    pub(super) fn new_game(&mut self, seed: u64) -> Result<(), Fault> {
        if let Some((least, most)) = self.seed {
            let values = u128::from(most - least) + 1;
            let seed = least + (u128::from(seed) % values) as u64;
            self.set("Seed", &seed.to_string());
        }
        self.process.say("uginewgame");
        self.ready()
    }

    pub(super) fn choose(&mut self, game: &Game, patience: &Patience) -> Result<Choice, Fault> {
        self.complaints.clear();
        self.process.say(&position(game));
        // Also leaves behind what it has still to say about the last move.
        self.ready()?;
        let until = Instant::now() + patience.wait;
        let go = go(&patience.limits);
        self.process.say(&go);
        let mut found = Found::default();
        loop {
            let Some(line) = self.process.hear(until)? else {
                return Err(Fault::silence(&go, patience.wait));
            };
            self.note(&line);
            let mut words = line.split_whitespace();
            match words.next() {
                Some("info") => found.note(&mut words),
                Some("bestmove") => {
                    let mv = words.next().and_then(|word| word.parse().ok());
                    let mv = mv.filter(|&mv| game.clone().play(mv).is_ok());
                    return Ok(found.choice(mv.ok_or_else(|| self.no_move(&line))?, game));
                }
                _ => {}
            }
        }
    }

    /// What it has said about the position or its search may tell why.
    fn no_move(&self, line: &str) -> Fault {
        let mut fault = Fault::no_move(line);
        if let Some(said) = self.complaints.last() {
            fault.reason += &format!("; it also said: {said}");
        }
        fault
    }

    pub(super) fn quit(self) {
        self.process.quit();
    }
}

/// Whether an option of this form takes a value.
fn takes(form: &str, value: &str) -> bool {
    match form.split_whitespace().next() {
        Some("string") => true,
        Some("combo") => form.split(" var ").skip(1).any(|one| one.trim() == value),
        _ => false,
    }
}

/// Lowest and highest value of an option, given what follows `type`.
fn range(form: &str) -> Option<(u64, u64)> {
    let words: Vec<&str> = form.split_whitespace().collect();
    let after = |word| words.iter().position(|w| *w == word).and_then(|at| words.get(at + 1));
    let (least, most) = (after("min")?.parse().ok()?, after("max")?.parse().ok()?);
    Some((least, most)).filter(|_| words.first() == Some(&"spin") && least <= most)
}

fn position(game: &Game) -> String {
    let start = game.start();
    let mut line = if *start == Position::start(Variant::Standard) {
        "position startpos".to_owned()
    } else {
        format!("position fen {start}")
    };
    for (n, mv) in game.moves().iter().enumerate() {
        line += if n == 0 { " moves " } else { " " };
        line += &mv.to_string();
    }
    line
}

/// The search that the limits ask for. UGI has no word for simulations: engines that search by them
/// count them as nodes. Without any limit, the engine's own hold.
fn go(limits: &Limits) -> String {
    let mut words = vec!["go".to_owned()];
    let mut add = |word: &str, value: String| words.extend([word.to_owned(), value]);
    if let Some(clock) = limits.clock {
        // A player without a clock has a year.
        let left = |time: Duration| time.min(LONGEST_WAIT).as_millis().max(1).to_string();
        let [p1, p2] = clock.remaining.map(left);
        let [p1_increment, p2_increment] = clock.increment.map(|time| time.as_millis().to_string());
        add("p1time", p1);
        add("p2time", p2);
        add("p1inc", p1_increment);
        add("p2inc", p2_increment);
    }
    if let Some(time) = limits.time {
        add("movetime", time.as_millis().max(1).to_string());
    }
    if let Some(depth) = limits.depth {
        add("depth", depth.to_string());
    }
    if let Some(nodes) = limits.nodes.or(limits.simulations.map(u64::from)) {
        add("nodes", nodes.to_string());
    }
    words.join(" ")
}

/// What the `info` lines of a search have said last.
#[derive(Debug, Default, PartialEq)]
struct Found {
    value: Option<f32>,
    line: Vec<Move>,
    nodes: u64,
    depth: u32,
}

impl Found {
    fn note<'a>(&mut self, words: &mut impl Iterator<Item = &'a str>) {
        let words: Vec<&str> = words.collect();
        let after = |word: &str| words.iter().position(|w| *w == word).map(|at| &words[at + 1..]);
        let number = |word: &str| after(word)?.first()?.parse::<u64>().ok();
        if words.first() == Some(&"string") || number("multipv").is_some_and(|rank| rank != 1) {
            return;
        }
        self.nodes = number("nodes").unwrap_or(self.nodes);
        let depth = number("depth").map(|depth| depth.min(u64::from(u32::MAX)) as u32);
        self.depth = depth.unwrap_or(self.depth);
        let bound = words.iter().any(|word| matches!(*word, "lowerbound" | "upperbound"));
        if let Some(score) = after("score").filter(|_| !bound) {
            self.value = value(score).or(self.value);
        }
        if let Some(line) = after("pv") {
            self.line = line.iter().map_while(|word| word.parse().ok()).collect();
        }
    }

    /// The choice of a move with what goes with it.
    fn choice(self, mv: Move, game: &Game) -> Choice {
        let mut line = vec![mv];
        if self.line.first() == Some(&mv) {
            let mut game = game.clone();
            line = self.line.into_iter().take_while(|&mv| game.play(mv).is_ok()).collect();
        }
        let work = Work { nodes: self.nodes, depth: self.depth, ..Work::default() };
        Choice { mv, value: self.value, line, work }
    }
}

/// The value of a score, seen by the side to move as UCI's are.
fn value(score: &[&str]) -> Option<f32> {
    match *score {
        ["win", ..] => Some(1.0),
        ["draw", ..] => Some(0.0),
        ["loss", ..] => Some(-1.0),
        ["cp", score, ..] => {
            let score: f64 = score.parse().ok().filter(|score: &f64| score.is_finite())?;
            Some(value_of_centipieces(score))
        }
        // `mate 0` is said by the side that has lost.
        ["mate", plies, ..] => {
            plies.parse().ok().map(|plies: i64| if plies > 0 { 1.0 } else { -1.0 })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use surakarta_game::OLYMPIAD;
    use surakarta_search::Clock;

    use super::*;

    #[test]
    fn scores_and_values_are_two_spellings_of_one_thing() {
        assert_eq!(value_of_centipieces(0.0), 0.0);
        assert!((value_of_centipieces(400.0) - 9.0 / 11.0).abs() < 1e-6);
        for score in [-3200, -401, -1, 0, 7, 250, 3200] {
            assert_eq!(centipieces(value_of_centipieces(score.into())), score);
        }
        assert_eq!([1.0, -1.0, 2.0].map(centipieces), [3200, -3200, 3200]);
    }

    #[test]
    fn limits_become_words() {
        let ms = Duration::from_millis;
        let clock = Clock { remaining: [ms(1000), ms(900)], increment: [ms(10); 2] };
        for (limits, said) in [
            (Limits::default(), "go"),
            (Limits { time: Some(ms(5)), ..Limits::default() }, "go movetime 5"),
            (Limits { simulations: Some(5), ..Limits::default() }, "go nodes 5"),
            (
                Limits {
                    nodes: Some(9),
                    simulations: Some(5),
                    depth: Some(3),
                    ..Limits::default()
                },
                "go depth 3 nodes 9",
            ),
            (
                Limits { clock: Some(clock), ..Limits::default() },
                "go p1time 1000 p2time 900 p1inc 10 p2inc 10",
            ),
        ] {
            assert_eq!(go(&limits), said);
        }
    }

    #[test]
    fn positions_are_told_from_the_start() {
        let mut game = Game::new(OLYMPIAD);
        assert_eq!(position(&game), "position startpos");
        game.play("a2a3".parse().unwrap()).unwrap();
        game.play("a5a4".parse().unwrap()).unwrap();
        assert_eq!(position(&game), "position startpos moves a2a3 a5a4");
        let sepur = Game::from_position(OLYMPIAD, Position::start(Variant::Sepur));
        assert!(position(&sepur).ends_with(" b 0 1 sepur"), "{}", position(&sepur));
    }

    #[test]
    fn searches_report_themselves() {
        let mut found = Found::default();
        for line in [
            "depth 3 seldepth 9 score cp 400 nodes 77 nps 5 pv a2a3 a5a4 rubbish",
            "depth 4 multipv 2 score cp -50 pv b2b3",
            "depth 5 score cp 900 lowerbound nodes 80",
            "string depth 99 score win",
            "currmove a2a3",
            "score cp many depth",
        ] {
            found.note(&mut line.split(' '));
        }
        let line: Vec<Move> = ["a2a3", "a5a4"].map(|mv| mv.parse().unwrap()).to_vec();
        let value = Some(value_of_centipieces(400.0));
        assert_eq!(found, Found { value, line: line.clone(), nodes: 80, depth: 5 });
        let game = Game::new(OLYMPIAD);
        let other: Move = "b2b3".parse().unwrap();
        let choice = Found { line: line.clone(), ..Found::default() }.choice(other, &game);
        assert_eq!(choice.line, [other]);
        assert_eq!(found.choice(line[0], &game).line, line);
        let scores = ["mate 3", "mate -3", "mate 0", "win", "loss", "draw", "cp inf", "mate", ""];
        let values = [Some(1.0), Some(-1.0), Some(-1.0), Some(1.0), Some(-1.0), Some(0.0)];
        for (n, score) in scores.iter().enumerate() {
            let words: Vec<&str> = score.split_whitespace().collect();
            assert_eq!(super::value(&words), values.get(n).copied().flatten(), "{score}");
        }
    }

    #[test]
    fn forms_of_options_are_read() {
        assert!(takes("string default standard", "sepur"));
        assert!(takes("combo default standard var standard var sepur", "sepur"));
        assert!(!takes("combo default standard var standard var sepur,diagonals=no", "sepur"));
        assert!(!takes("check default true", "sepur"));
        assert_eq!(range("spin default 1 min 0 max 9"), Some((0, 9)));
        assert_eq!(range("spin default 1 min 9 max 0"), None);
        assert_eq!(range("string default x min 0 max 9"), None);
        assert_eq!(range("spin default 1 min 0 max"), None);
    }
}
