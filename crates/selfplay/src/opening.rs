//! How games begin: with given moves, then random ones, then some drawn from the policy.

use rand::RngExt;
use surakarta_game::{Game, Move, Position, RuleSet, Variant};
use surakarta_record::{PlyRecord, Policy, SearchKind};
use surakarta_search::{Stream, draw, stream};

use crate::SelfplayConfig;

/// What a stream of a game is for; the third word of its key.
const PLAY: u64 = 0;
const BEGINNING: u64 = 1;
const RESIGNATION: u64 = 2;

/// Moves that a game begins with.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The position that they begin with.
    pub start: Position,
    /// The moves from there.
    pub moves: Vec<Move>,
}

/// Lines, and where they come from in words. The words stand in the headers of shards, so they name the
/// content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// As `file book.txt (04ff1d30c22a9be8)`.
    pub source: String,
    /// All of the variant of the games, and legal under their rules.
    pub lines: Vec<Line>,
}

/// What games may begin with. Without any they begin from the start position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beginnings {
    /// The openings of [`SelfplayConfig::openings`]: no game is over after one.
    pub openings: Option<Lines>,
    /// The earlier games of [`SelfplayConfig::fork_share`], each from its start to its end.
    pub forks: Option<Lines>,
}

/// A game at its beginning.
pub(crate) struct Begun {
    pub(crate) game: Game,
    pub(crate) plies: Vec<PlyRecord>,
    /// How many plies were given.
    pub(crate) given: usize,
    /// How many plies are still to be drawn from the policy.
    pub(crate) policy_plies: u32,
}

/// What games begin with, and how that is drawn.
pub(crate) struct Openings<'a> {
    pub(crate) variant: Variant,
    pub(crate) rules: RuleSet,
    pub(crate) config: &'a SelfplayConfig,
    pub(crate) beginnings: &'a Beginnings,
    pub(crate) seed: u64,
    pub(crate) iteration: u64,
}

impl Openings<'_> {
    /// The stream that a game's play is drawn from.
    pub(crate) fn stream(&self, number: u64) -> Stream {
        stream(self.seed, [self.iteration, number, PLAY])
    }

    /// The stream that what a game begins with is drawn from, the random plies apart.
    pub(crate) fn beginning(&self, number: u64) -> Stream {
        stream(self.seed, [self.iteration, number, BEGINNING])
    }

    /// Begins a game and plays the plies that need no network, the random ones from its stream. What
    /// else is drawn has a stream of its own: games that do without stay as they were.
    pub(crate) fn begin(&self, number: u64, random: &mut Stream) -> Begun {
        let mut beginning = self.beginning(number);
        let policy_plies = self.policy_plies(&mut beginning);
        let (start, moves) = self.line(&mut beginning);
        let mut begun = Begun {
            game: Game::from_position(self.rules, start),
            plies: Vec::new(),
            given: moves.len(),
            policy_plies,
        };
        moves.iter().for_each(|&mv| begun.play(mv));
        let [least, most] = self.config.opening_plies;
        let mut moves = Vec::new();
        for _ in 0..random.random_range(least..=most) {
            begun.game.legal_moves_into(&mut moves);
            if moves.is_empty() {
                break;
            }
            begun.play(moves[random.random_range(0..moves.len())]);
        }
        begun
    }

    /// Whether a game goes on as if nobody had given it up.
    pub(crate) fn is_played_on(&self, number: u64) -> bool {
        let mut random = stream(self.seed, [self.iteration, number, RESIGNATION]);
        self.config.resign.as_ref().is_some_and(|rule| random.random_bool(rule.played_on))
    }

    /// How many plies are drawn from the policy: the first draw of the stream of beginnings.
    pub(crate) fn policy_plies(&self, random: &mut Stream) -> u32 {
        let [least, most] = self.config.policy_plies;
        if most == 0 { 0 } else { random.random_range(least..=most) }
    }

    /// Start and moves that are given.
    fn line(&self, random: &mut Stream) -> (Position, &[Move]) {
        let Beginnings { openings, forks } = self.beginnings;
        if let Some(forks) = some(forks)
            && random.random_bool(self.config.fork_share)
        {
            let Line { start, moves } = pick(forks, random);
            // After its last move the game is over.
            let plies = random.random_range(0..moves.len().max(1) as u64);
            return (*start, &moves[..plies as usize]);
        }
        match some(openings) {
            Some(openings) => {
                let Line { start, moves } = pick(openings, random);
                (*start, moves)
            }
            None => (Position::start(self.variant), &[]),
        }
    }
}

/// The lines, if there are any.
fn some(lines: &Option<Lines>) -> Option<&[Line]> {
    lines.as_ref().map(|lines| &lines.lines[..]).filter(|lines| !lines.is_empty())
}

fn pick<'a>(lines: &'a [Line], random: &mut Stream) -> &'a Line {
    &lines[random.random_range(0..lines.len() as u64) as usize]
}

impl Begun {
    fn play(&mut self, mv: Move) {
        self.game.play_legal(mv);
        self.plies.push(opening_ply(mv));
    }
}

/// The record of a ply that no search has chosen.
pub(crate) fn opening_ply(mv: Move) -> PlyRecord {
    PlyRecord { mv, search: SearchKind::Opening, simulations: 0, value: None, policy: Policy::None }
}

/// A move drawn from the network's policy.
pub(crate) fn draw_from_policy(
    moves: &[Move],
    policy: &[f32],
    temperature: f64,
    random: &mut Stream,
) -> Move {
    let weights: Vec<f64> = policy.iter().map(|&p| f64::from(p)).collect();
    // All may have been rounded to nothing.
    moves[draw(&weights, temperature as f32, random).unwrap_or(0)]
}
