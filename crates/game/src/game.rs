use crate::moves::Move;
use crate::position::{Color, Position};
use crate::rules::{Ending, GameResult, Outcome, Repetition, RuleSet};

/// A game in progress: every position since its start, under a rule set. Moves can be taken back, so
/// that a search walks one `Game` up and down.
#[derive(Clone, Debug)]
pub struct Game {
    rules: RuleSet,
    positions: Vec<Position>,
    moves: Vec<Move>,
    result: Option<GameResult>,
}

/// The move may not be played here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalMove {
    /// The game is over.
    #[error("{0} cannot be played: the game is over ({1})")]
    GameOver(Move, Ending),
    /// The geometry or the pieces forbid it.
    #[error("{0} is not a legal move in {1}")]
    Illegal(Move, Position),
    /// The rule set forbids repeating a position.
    #[error("{0} repeats an earlier position, which these rules forbid")]
    Repeats(Move),
}

impl Game {
    /// A game of the standard variant from its start.
    pub fn new(rules: RuleSet) -> Game {
        Game::from_position(rules, Position::default())
    }

    /// A game from any position, which may be over at once.
    pub fn from_position(rules: RuleSet, start: Position) -> Game {
        let mut game = Game { rules, positions: vec![start], moves: Vec::new(), result: None };
        game.result = game.find_result();
        game
    }

    /// The rules of this game.
    pub fn rules(&self) -> &RuleSet {
        &self.rules
    }

    /// The position now.
    #[inline]
    pub fn position(&self) -> &Position {
        // There is always one: the start is never taken back.
        &self.positions[self.positions.len() - 1]
    }

    /// The position that the game began with.
    pub fn start(&self) -> &Position {
        &self.positions[0]
    }

    /// All positions, from the start to now.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// The moves from the start to now.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Ending and outcome, once the game is over.
    #[inline]
    pub fn result(&self) -> Option<GameResult> {
        self.result
    }

    /// Whose turn it is.
    pub fn side_to_move(&self) -> Color {
        self.position().side_to_move()
    }

    /// The legal moves under the rule set, in a list that is cleared first; none once the game is
    /// over.
    pub fn legal_moves_into(&self, moves: &mut Vec<Move>) {
        moves.clear();
        if self.result.is_some() {
            return;
        }
        self.position().moves_into(moves);
        if self.rules.repetition == Repetition::Illegal {
            moves.retain(|&mv| !self.repeats(&self.position().after(mv)));
        }
    }

    /// The legal moves under the rule set; none once the game is over.
    pub fn legal_moves(&self) -> Vec<Move> {
        let mut moves = Vec::with_capacity(32);
        self.legal_moves_into(&mut moves);
        moves
    }

    /// Plays a move.
    ///
    /// # Errors
    /// If the game is over or the move is illegal; the game is then unchanged.
    pub fn play(&mut self, mv: Move) -> Result<(), IllegalMove> {
        if let Some(result) = self.result {
            return Err(IllegalMove::GameOver(mv, result.ending));
        }
        if !self.position().is_legal(mv) {
            return Err(IllegalMove::Illegal(mv, *self.position()));
        }
        if self.rules.repetition == Repetition::Illegal && self.repeats(&self.position().after(mv))
        {
            return Err(IllegalMove::Repeats(mv));
        }
        self.play_legal(mv);
        Ok(())
    }

    /// Plays a move that is known to be legal: searches and replays of checked records use it. An
    /// illegal move leaves a game without meaning, never a panic.
    #[inline]
    pub fn play_legal(&mut self, mv: Move) {
        self.play_unjudged(mv);
        self.result = self.find_result();
    }

    /// Plays a move without looking whether that ends the game: it has no result then. For searches that
    /// have played the move here before and take it back again. An illegal move leaves a game without
    /// meaning, never a panic.
    #[inline]
    pub fn play_unjudged(&mut self, mv: Move) {
        let next = self.position().after(mv);
        self.positions.push(next);
        self.moves.push(mv);
        self.result = None;
    }

    /// Takes the last move back, and with it any result: a game that was played on past its end must
    /// not be taken back to there. `None` at the start.
    pub fn undo(&mut self) -> Option<Move> {
        let mv = self.moves.pop()?;
        self.positions.pop();
        self.result = None;
        Some(mv)
    }

    /// Ends the game for a reason beyond the board: `loser` loses by resignation, time, an illegal
    /// move or a crash. Does nothing once the game is over.
    pub fn forfeit(&mut self, loser: Color, ending: Ending) {
        self.end(ending, Outcome::Win(loser.other()));
    }

    /// Ends the game with a given result, as an arbiter does. Does nothing once the game is over.
    pub fn end(&mut self, ending: Ending, outcome: Outcome) {
        self.result.get_or_insert(GameResult { ending, outcome });
    }

    /// How often the present position has occurred, this time included.
    pub fn occurrences(&self) -> u32 {
        1 + self.twins(self.position(), self.positions.len() - 1).count() as u32
    }

    /// Whether a position that a move from here leads to has occurred.
    pub fn repeats(&self, next: &Position) -> bool {
        self.twins(next, self.positions.len()).next().is_some()
    }

    /// The positions equal to `position`, which stands or would stand at the index `at`, before it.
    fn twins(&self, position: &Position, at: usize) -> impl Iterator<Item = &Position> + use<'_> {
        let key = position.key();
        // None lies before a capture, and it takes each side two moves to come back. A start
        // position may have been quiet for longer than its game, and the counter has an end.
        let quiet = position.quiet_plies() as usize;
        let reach = if quiet == u16::MAX as usize { at } else { quiet.min(at) };
        (4..=reach)
            .step_by(2)
            .map(move |back| &self.positions[at - back])
            .filter(move |earlier| earlier.key() == key)
    }

    fn find_result(&self) -> Option<GameResult> {
        let position = self.position();
        let ending = if position.own() == 0 || position.enemy() == 0 {
            Ending::CapturedAll
        } else if self.rules.ends_without_captures
            && position.occupied().count_ones() < 2 * position.variant().pieces()
            && !position.has_capture()
            && !position.with_other_side_to_move().has_capture()
        {
            Ending::NoCaptureLeft
        } else if let Repetition::Ends(times) = self.rules.repetition
            && position.quiet_plies() >= 4
            && self.occurrences() >= times as u32
        {
            Ending::Repetition
        } else if self.rules.no_capture.is_some_and(|limit| position.quiet_plies() >= limit as u32)
        {
            Ending::NoProgress
        } else if !self.has_legal_move() {
            Ending::NoMoves
        } else if self.rules.ply_cap.is_some_and(|cap| position.ply() >= cap as u32) {
            Ending::PlyCap
        } else {
            return None;
        };
        Some(GameResult { ending, outcome: Outcome::by_count(position) })
    }

    fn has_legal_move(&self) -> bool {
        let position = self.position();
        if self.rules.repetition != Repetition::Illegal {
            return position.has_move();
        }
        let mut found = false;
        position.for_each_move(|mv| found = found || !self.repeats(&position.after(mv)));
        found
    }
}
