//! What a player makes of a position: value, lines, and every move that it has looked at.

mod alphabeta;
mod found;
mod source;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use surakarta_game::Game;
use surakarta_net::Batch;
use surakarta_search::{
    AlphaBetaPlayer, Limits, MctsPlayer, MctsSpec, PlayerError, PlayerSpec, RolloutPlayer,
};

use crate::players::{NetworkPlace, Networks};
pub use found::{Analysis, MoveAnalysis, Outlook, TableEntry};
pub use source::game_of_file;

/// What is to be analysed, and by whom.
#[derive(Clone, Debug)]
pub struct Question {
    /// The game as it stands.
    pub game: Game,
    /// Who thinks: `mcts`, `rollout` or `alphabeta`.
    pub player: PlayerSpec,
    /// How long; without any limit, the player's own.
    pub limits: Limits,
    /// Moves for which there is a line, the best ones. Alpha-beta looks at all moves as closely as at
    /// the best if this is more than 1.
    pub multipv: usize,
    /// Where its network comes from.
    pub networks: NetworkPlace,
    /// The folder of endgame tables whose word is shown beside the player's.
    pub tables: Option<PathBuf>,
}

/// Time between two reports at least, where there is more to report than that.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long a search that was told to stop may take to say its last word.
const PATIENCE: Duration = Duration::from_millis(300);

/// What a thinking player sends: what it knows, and whether that is its last word.
type Report = Result<(Analysis, bool)>;

/// Thinks until a limit is reached or `stop` turns true, whichever comes first, and returns what is known
/// then. `live` gets what is known on the way, every [`INTERVAL`] or, of alpha-beta, after every depth.
///
/// # Errors
/// If the game is over, the player cannot be analysed or takes no notice of a limit, its network cannot be
/// loaded or fails, or a stop comes before anything is known.
pub fn analyse(
    question: &Question,
    stop: &'static AtomicBool,
    mut live: impl FnMut(&Analysis),
) -> Result<Analysis> {
    let Question { game, player, limits, .. } = question;
    if let Some(result) = game.result() {
        bail!("{} has nothing to analyse: the game is over by {}", game.position(), result.ending);
    }
    ensure!(question.multipv > 0, "there is no line to show; give a number of lines above 0");
    let unheeded = player.unheeded(limits).join(", ");
    ensure!(unheeded.is_empty(), "`{player}` takes no notice of {unheeded}; leave it out");
    let tables = match question.tables.as_deref() {
        Some(folder) => {
            let variant = game.position().variant();
            let networks = Networks::of(&question.networks, variant).under(*game.rules());
            Some(networks.tables(folder)?)
        }
        None => None,
    };
    let look_up = |mut analysis: Analysis| {
        if let Some(tables) = &tables {
            analysis.look_up(game, tables);
        }
        analysis
    };
    let reports = think(question.clone(), stop)?;
    let (mut known, mut asked): (Option<Analysis>, Option<Instant>) = (None, None);
    loop {
        match reports.recv_timeout(INTERVAL / 4) {
            Ok(report) => {
                let (analysis, last) = report?;
                let analysis = look_up(analysis);
                if last {
                    return Ok(analysis);
                }
                live(&analysis);
                known = Some(analysis);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return known.context("the player has ended without an answer");
            }
        }
        // A search that does not look at the flag is left behind.
        if stop.load(Relaxed) && asked.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return known.ok_or_else(|| anyhow!("stopped before anything was known"));
        }
    }
}

/// Has a thread of its own think. The last report is complete, or an error.
fn think(question: Question, stop: &'static AtomicBool) -> Result<Receiver<Report>> {
    let (sender, reports) = channel();
    let game = question.game.clone();
    let networks = Networks::of(&question.networks, game.position().variant()).under(*game.rules());
    let tables = question.player.tables().map(|folder| networks.tables(folder)).transpose()?;
    match question.player.clone() {
        PlayerSpec::Mcts(spec) => {
            let mut evaluator = networks.load(&spec.net)?.evaluator(1)?;
            let mut batch = Batch::default();
            batch.push(*game.position(), &game.legal_moves());
            evaluator.evaluate(&mut batch)?;
            let outlook = Outlook::from(batch.outlook(0).wdl);
            let mut player = MctsPlayer::new(spec.config.clone(), evaluator);
            if let Some(tables) = tables {
                player = player.with_tables(tables);
            }
            std::thread::spawn(move || mcts(&question, &spec, player, outlook, stop, &sender));
        }
        PlayerSpec::Rollout(config) => {
            let player = RolloutPlayer::new(config);
            std::thread::spawn(move || rollout(&question, &player, stop, &sender));
        }
        PlayerSpec::AlphaBeta(config) => {
            let mut player = AlphaBetaPlayer::new(config);
            if let Some(tables) = tables {
                player = player.with_tables(tables);
            }
            std::thread::spawn(move || alphabeta::think(&question, player, stop, &sender));
        }
        other => bail!(
            "`{other}` keeps nothing that could be shown; analyse with an mcts, rollout or alphabeta player"
        ),
    }
    Ok(reports)
}

/// Sends what is known from time to time.
struct Reporter<'a> {
    began: Instant,
    last: Instant,
    calls: u32,
    sender: &'a Sender<Report>,
    stop: &'a AtomicBool,
}

impl<'a> Reporter<'a> {
    fn new(sender: &'a Sender<Report>, stop: &'a AtomicBool) -> Reporter<'a> {
        let began = Instant::now();
        Reporter { began, last: began, calls: 0, sender, stop }
    }

    /// Sends what `look` finds if it is time to; breaks if a stop is asked for or nobody listens.
    fn watch(&mut self, look: impl FnOnce() -> Analysis) -> ControlFlow<()> {
        self.calls = self.calls.wrapping_add(1);
        if !self.calls.is_multiple_of(SELDOM) {
            return ControlFlow::Continue(());
        }
        if self.stop.load(Relaxed) {
            return ControlFlow::Break(());
        }
        if self.last.elapsed() < INTERVAL {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        self.send(look(), false)
    }

    fn send(&self, analysis: Analysis, last: bool) -> ControlFlow<()> {
        let seconds = self.began.elapsed().as_secs_f64();
        let complete = last && !self.stop.load(Relaxed);
        match self.sender.send(Ok((Analysis { seconds, complete, ..analysis }, last))) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Sends the last word.
    fn finish(&self, found: Result<Analysis, PlayerError>) {
        match found {
            Ok(analysis) => _ = self.send(analysis, true),
            // Nobody listens any more if this fails.
            Err(error) => _ = self.sender.send(Err(error.into())),
        }
    }
}

/// Calls between two looks at the clock.
const SELDOM: u32 = 16;

fn mcts(
    question: &Question,
    spec: &MctsSpec,
    mut player: MctsPlayer,
    outlook: Outlook,
    stop: &AtomicBool,
    sender: &Sender<Report>,
) {
    let mut reporter = Reporter::new(sender, stop);
    let done = player.analyse(&question.game, &question.limits, &mut |search| {
        reporter.watch(|| found::of_search(question, spec, search, outlook))
    });
    reporter.finish(done.map(|()| found::of_search(question, spec, player.search(), outlook)));
}

fn rollout(
    question: &Question,
    player: &RolloutPlayer,
    stop: &AtomicBool,
    sender: &Sender<Report>,
) {
    let mut reporter = Reporter::new(sender, stop);
    let done = player.analyse(&question.game, &question.limits, &mut |tree| {
        reporter.watch(|| found::of_rollouts(question, tree))
    });
    reporter.finish(done.map(|tree| found::of_rollouts(question, &tree)));
}
