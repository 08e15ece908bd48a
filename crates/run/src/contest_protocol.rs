//! Our players behind the protocol of the Chinese contest platform for Surakarta: the engine's side.
//!
//! [`engine`](surakarta_arena::engine) describes the protocol, our extension of it, and how its board
//! lies on ours. The platform is the referee: what it says is followed even against our rules (it lets
//! pieces in the corners capture), and the game goes on until it says `end`. Lines that are no commands
//! are ignored.

use std::io::{BufRead, Write};

use anyhow::Result;
use surakarta_arena::engine::{contest_move, contest_text};
use surakarta_game::{AGREEMENT, Color, Game, Move, RuleSet};
use surakarta_search::alphabeta::final_score;
use surakarta_search::{AlphaBetaConfig, AlphaBetaPlayer, Limits, Player};

use crate::lines::next_line;

/// Bytes of a line.
const LONGEST: usize = 256;

/// Nodes for each move that could stand in for a refused one.
const SUBSTITUTE_NODES: u64 = 2_000;

/// Answers commands until `quit` or the end of the input. The seed is that of the first game; each
/// later one takes the next.
///
/// # Errors
/// If input or output fail.
pub fn serve(
    player: &mut dyn Player,
    rules: RuleSet,
    seed: u64,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<()> {
    player.new_game(seed);
    let game = Game::new(rules);
    let mut desk =
        Desk { player, rules, seed, side: Color::White, game, last: None, refused: Vec::new() };
    while let Some(line) = next_line(input, LONGEST)? {
        let mut words = line.split_whitespace();
        let command = (words.next(), words.next());
        if command.0 == Some("quit") {
            break;
        }
        if let Some(answer) = desk.obey(command) {
            writeln!(output, "{answer}")?;
            output.flush()?;
        }
    }
    Ok(())
}

/// The game as the engine sees it.
struct Desk<'a> {
    player: &'a mut dyn Player,
    rules: RuleSet,
    seed: u64,
    side: Color,
    game: Game,
    /// Our last move and the game before it, until the opponent has moved.
    last: Option<(Game, Move)>,
    /// What the platform has refused in this position.
    refused: Vec<Move>,
}

impl Desk<'_> {
    fn obey(&mut self, command: (Option<&str>, Option<&str>)) -> Option<String> {
        let side = match command.1 {
            Some("black") => Some(Color::Black),
            Some("white") => Some(Color::White),
            _ => None,
        };
        match (command.0?, command.1) {
            ("name?", _) => Some("name SurakartaZero".to_owned()),
            ("new", _) => {
                self.begin(side?);
                self.think()
            }
            ("reset", _) => {
                self.begin(side?);
                None
            }
            ("move", Some(text)) => {
                let mv = contest_move(text)?;
                if self.follow(self.side.other(), mv) { self.think() } else { None }
            }
            ("force", Some(text)) => {
                self.follow(self.game.side_to_move(), contest_move(text)?);
                None
            }
            ("go", _) => {
                self.side = self.game.side_to_move();
                self.think()
            }
            ("error", _) => {
                let (before, mv) = self.last.take()?;
                tracing::warn!("the platform refuses {mv} in {}", before.position());
                self.game = before;
                self.refused.push(mv);
                self.think()
            }
            ("end", _) => None,
            (word, _) => {
                tracing::debug!("`{word}` is no command, or not a whole one; it is ignored");
                None
            }
        }
    }

    fn begin(&mut self, side: Color) {
        self.side = side;
        self.game = Game::new(self.rules);
        (self.last, self.refused) = (None, Vec::new());
        self.player.new_game(self.seed);
        self.seed = self.seed.wrapping_add(1);
    }

    /// Plays a move of this side, by our rules or not; false if it has no such piece to move.
    fn follow(&mut self, side: Color, mv: Move) -> bool {
        let mut position = *self.game.position();
        if position.side_to_move() != side {
            position = position.with_other_side_to_move();
        } else if self.game.play(mv).is_ok() {
            (self.last, self.refused) = (None, Vec::new());
            return true;
        }
        let from = position.color_at(mv.from());
        if from != Some(side) || position.color_at(mv.to()) == Some(side) {
            tracing::warn!("{mv} moves nothing of {side} in {position}; it is ignored");
            return false;
        }
        tracing::debug!("{mv} is followed in {position}, against our rules");
        self.game = Game::from_position(self.rules, position.after(mv));
        (self.last, self.refused) = (None, Vec::new());
        true
    }

    /// Plays our move and says it, if it is our turn and there is one.
    fn think(&mut self) -> Option<String> {
        if self.game.side_to_move() != self.side {
            return None;
        }
        if self.game.result().is_some() {
            // The platform has not ended it.
            self.game = Game::from_position(endless(), *self.game.position());
        }
        let chosen = match self.player.choose(&self.game, &Limits::default()) {
            Ok(choice) => Some(choice.mv),
            Err(error) => {
                tracing::warn!("{error}");
                None
            }
        };
        let allowed = |mv: &Move| !self.refused.contains(mv);
        let mv = chosen.filter(allowed).or_else(|| self.substitute())?;
        let before = self.game.clone();
        if let Err(error) = self.game.play(mv) {
            tracing::warn!("{error}");
            return None;
        }
        self.last = Some((before, mv));
        Some(format!("move {}", contest_text(mv)))
    }

    /// The best of the moves that have not been refused, by short searches.
    fn substitute(&self) -> Option<Move> {
        let mut search = AlphaBetaPlayer::new(AlphaBetaConfig::default());
        let limits = Limits { nodes: Some(SUBSTITUTE_NODES), ..Limits::default() };
        let mut moves = self.game.legal_moves();
        moves.retain(|mv| !self.refused.contains(mv));
        moves.into_iter().min_by_key(|&mv| {
            let mut next = self.game.clone();
            next.play_legal(mv);
            let reply = search.analyse(&next, &limits);
            reply.map_or_else(|_| final_score(&next, 0), |found| found.score)
        })
    }
}

/// Rules by which a game ends only where there is nothing left to play.
fn endless() -> RuleSet {
    let mut rules = AGREEMENT;
    rules.ply_cap = None;
    rules
}
