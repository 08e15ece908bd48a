//! Our players behind the Universal Game Interface: the engine's side.
//!
//! Positions and moves are written as everywhere in this project. Beside the commands of the protocol
//! there are four options: `Player`, a string that names any player, `Variant`, `Rules` and `Seed`,
//! from which the games' random numbers are drawn.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use surakarta_arena::engine::centipieces;
use surakarta_game::{Color, Game, InvalidPosition, Outcome, Position, RuleSet, Variant};
use surakarta_search::mcts::MOST_SIMULATIONS;
use surakarta_search::{Choice, Clock, Limits, Player, PlayerSpec};

use crate::lines::next_line;
use crate::players::{NetworkPlace, Networks};

/// Bytes of a line: a game of a hundred thousand plies.
const LONGEST: usize = 1 << 20;

/// Who plays, and what.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The player.
    pub player: PlayerSpec,
    /// The variant.
    pub variant: Variant,
    /// The rules.
    pub rules: RuleSet,
    /// The seed of the first game; each later one takes the next.
    pub seed: u64,
    /// Where networks come from, and what computes them.
    pub networks: NetworkPlace,
}

/// What the thread that searches is told, one after another.
enum Job {
    Player(Box<dyn Player>),
    NewGame(u64),
    Go(Game, Limits),
}

/// Answers commands until `quit`, or until the input ends and the last search is done.
///
/// Searches have a thread of their own, so that `isready` is answered meanwhile. None of our players
/// can be interrupted: after `stop`, the answer comes when the search is done, and `go infinite`
/// searches within the player's own limits. `quit` does not wait.
///
/// # Errors
/// If the player cannot be made, or input or output fail.
pub fn serve<W: Write + Send + 'static>(
    settings: Settings,
    input: &mut dyn BufRead,
    output: W,
) -> Result<()> {
    let output = Output(Arc::new(Mutex::new(output)));
    let networks = networks_of(&settings);
    let player = networks.player(&settings.player)?;
    let (jobs, inbox) = channel();
    let worker = std::thread::spawn({
        let output = output.clone();
        let seed = settings.seed;
        move || work(player, seed, &inbox, &output)
    });
    let game = start(&settings);
    let mut server = Server { settings, networks, games: 0, game, jobs, output };
    while let Some(line) = next_line(input, LONGEST)? {
        if line.trim() == "quit" {
            return Ok(());
        }
        server.obey(&line)?;
    }
    drop(server);
    if worker.join().is_err() {
        bail!("the search has failed");
    }
    Ok(())
}

fn networks_of(settings: &Settings) -> Networks<'static> {
    Networks::of(&settings.networks, settings.variant).under(settings.rules)
}

fn start(settings: &Settings) -> Game {
    Game::from_position(settings.rules, Position::start(settings.variant))
}

/// Whole lines from both threads.
struct Output<W>(Arc<Mutex<W>>);

impl<W> Clone for Output<W> {
    fn clone(&self) -> Self {
        Output(self.0.clone())
    }
}

impl<W: Write> Output<W> {
    fn say(&self, text: &str) -> io::Result<()> {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(output, "{text}")?;
        output.flush()
    }
}

/// Searches until there are no more jobs, or nobody reads.
fn work<W: Write>(
    mut player: Box<dyn Player>,
    seed: u64,
    jobs: &Receiver<Job>,
    output: &Output<W>,
) {
    player.new_game(seed);
    for job in jobs {
        match job {
            Job::Player(other) => player = other,
            Job::NewGame(seed) => player.new_game(seed),
            Job::Go(game, limits) => {
                let began = Instant::now();
                let said = match player.choose(&game, &limits) {
                    Ok(choice) => {
                        format!("{}\nbestmove {}", info(&choice, began.elapsed()), choice.mv)
                    }
                    Err(error) => format!("info string {error}\nbestmove 0000"),
                };
                if output.say(&said).is_err() {
                    return;
                }
            }
        }
    }
}

/// The line about a search that is done. Simulations are its nodes if it makes no others.
fn info(choice: &Choice, time: Duration) -> String {
    let work = choice.work;
    let nodes = if work.nodes > 0 { work.nodes } else { work.simulations };
    let rate = (nodes as f64 / time.as_secs_f64().max(1e-6)) as u64;
    let (depth, time) = (work.depth, time.as_millis());
    let mut line = format!("info depth {depth} nodes {nodes} time {time} nps {rate}");
    if let Some(value) = choice.value.filter(|value| value.is_finite()) {
        line += &format!(" score cp {}", centipieces(value));
    }
    if !choice.line.is_empty() {
        line += " pv";
    }
    choice.line.iter().for_each(|mv| line += &format!(" {mv}"));
    line
}

struct Server<W> {
    settings: Settings,
    networks: Networks<'static>,
    /// Games begun since the seed was set.
    games: u64,
    game: Game,
    jobs: Sender<Job>,
    output: Output<W>,
}

impl<W: Write> Server<W> {
    /// What is no command is ignored; what cannot be done is said, and nothing changes.
    fn obey(&mut self, line: &str) -> Result<()> {
        let (command, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line, ""));
        let done = match command.trim() {
            "ugi" => return self.introduce(),
            "isready" => return Ok(self.output.say("readyok")?),
            "uginewgame" => {
                self.new_game();
                Ok(())
            }
            "setoption" => self.set_option(rest),
            "position" => self.set_position(rest),
            "go" => {
                let limits = limits(rest);
                self.give(Job::Go(self.game.clone(), limits));
                Ok(())
            }
            "query" => return self.answer(rest.trim()),
            _ => Ok(()),
        };
        if let Err(error) = done {
            // What the protocol quotes stays one line.
            let said = format!("{error:#}").replace(char::is_control, " ");
            self.output.say(&format!("info string {said}"))?;
        }
        Ok(())
    }

    fn introduce(&self) -> Result<()> {
        let Settings { player, variant, rules, seed, .. } = &self.settings;
        let version = env!("CARGO_PKG_VERSION");
        self.output.say(&format!(
            "id name Surakarta Zero {version} {player}\n\
             id author the authors of Surakarta Zero\n\
             option name Player type string default {player}\n\
             option name Variant type string default {variant}\n\
             option name Rules type string default {rules}\n\
             option name Seed type spin default {seed} min 0 max {}\n\
             ugiok",
            u64::MAX
        ))?;
        Ok(())
    }

    fn give(&self, job: Job) {
        // The worker ends before us only if nobody reads its answers.
        let _ = self.jobs.send(job);
    }

    fn new_game(&mut self) {
        self.give(Job::NewGame(self.settings.seed.wrapping_add(self.games)));
        self.games += 1;
    }

    /// `name NAME value VALUE`.
    fn set_option(&mut self, text: &str) -> Result<()> {
        let parts = text.trim().strip_prefix("name ").and_then(|rest| rest.split_once(" value "));
        let Some((name, value)) = parts else {
            bail!("`setoption {text}` is not setoption name NAME value VALUE");
        };
        let mut settings = self.settings.clone();
        let value = value.trim();
        match name.trim().to_lowercase().as_str() {
            "player" => settings.player = value.parse()?,
            "variant" => settings.variant = value.parse()?,
            "rules" => settings.rules = value.parse()?,
            "seed" => {
                let Ok(seed) = value.parse() else {
                    bail!("`{value}` is not a seed; write a whole number");
                };
                (self.settings.seed, self.games) = (seed, 0);
                self.give(Job::NewGame(seed));
                return Ok(());
            }
            _ => bail!("there is no option `{name}`; the options are Player, Variant, Rules, Seed"),
        }
        let seed = settings.seed;
        self.change(settings, seed)?;
        (self.game, self.games) = (start(&self.settings), 0);
        Ok(())
    }

    /// Goes on with another player, whose game has this seed.
    fn change(&mut self, settings: Settings, seed: u64) -> Result<()> {
        let networks = networks_of(&settings);
        self.give(Job::Player(networks.player(&settings.player)?));
        self.give(Job::NewGame(seed));
        (self.settings, self.networks) = (settings, networks);
        Ok(())
    }

    /// `startpos` or `fen POSITION`, and `moves` with the moves from there. A position that names
    /// another variant changes it.
    fn set_position(&mut self, text: &str) -> Result<()> {
        let mut words = text.split_whitespace();
        let start = match words.next() {
            Some("startpos") => {
                if words.next().is_some_and(|word| word != "moves") {
                    bail!("`position {text}` has no `moves` after startpos");
                }
                Position::start(self.settings.variant)
            }
            Some("fen") => {
                let fields: Vec<&str> =
                    words.by_ref().take_while(|word| *word != "moves").collect();
                let text = fields.join(" ");
                match Position::parse(&text, self.settings.variant) {
                    Err(InvalidPosition::OtherVariant(named, _)) => Position::parse(&text, named)?,
                    read => read?,
                }
            }
            _ => bail!("`position {text}` names neither startpos nor fen"),
        };
        let mut game = Game::from_position(self.settings.rules, start);
        for word in words {
            game.play(word.parse()?)?;
        }
        let variant = game.start().variant();
        if variant != self.settings.variant {
            let settings = Settings { variant, ..self.settings.clone() };
            let seed = settings.seed.wrapping_add(self.games.saturating_sub(1));
            self.change(settings, seed)?;
        }
        self.game = game;
        Ok(())
    }

    fn answer(&self, question: &str) -> Result<()> {
        let result = self.game.result();
        let answer = match (question, result) {
            ("p1turn", _) => (self.game.side_to_move() == Color::Black).to_string(),
            ("gameover", _) => result.is_some().to_string(),
            ("result", None) => "none".to_owned(),
            ("result", Some(result)) => match result.outcome {
                Outcome::Win(Color::Black) => "p1win".to_owned(),
                Outcome::Win(Color::White) => "p2win".to_owned(),
                Outcome::Draw => "draw".to_owned(),
            },
            _ => return Ok(()),
        };
        self.output.say(&format!("response {answer}"))?;
        Ok(())
    }
}

/// The limits that follow `go`; a number that is none is as if it did not stand there.
fn limits(text: &str) -> Limits {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |name: &str| -> Option<u64> {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse().ok()
    };
    let clocks = ["p1time", "p2time"].map(number);
    let clock = clocks.iter().any(Option::is_some).then(|| Clock {
        remaining: clocks.map(|ms| Duration::from_millis(ms.unwrap_or(0))),
        increment: ["p1inc", "p2inc"].map(|name| Duration::from_millis(number(name).unwrap_or(0))),
    });
    let nodes = number("nodes").map(|nodes| nodes.max(1));
    Limits {
        // What searches by simulations counts them as nodes.
        simulations: nodes.map(|nodes| nodes.min(MOST_SIMULATIONS.into()) as u32),
        nodes,
        depth: number("depth").map(|depth| depth.clamp(1, u32::MAX.into()) as u32),
        time: number("movetime").map(|ms| Duration::from_millis(ms.max(1))),
        clock,
    }
}
