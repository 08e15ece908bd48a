//! Openings: where the games of a pair begin.

use std::collections::HashSet;
use std::fmt;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use surakarta_game::{Color, Game, IllegalMove, Move, Position, RuleSet, Symmetry, Variant};
use surakarta_search::{Stream, stream};

use crate::error::ArenaError;
use crate::text;

/// Random plies of an opening where nothing else is asked for. Even, so that Black moves first in
/// the game proper too.
pub const DEFAULT_OPENING_PLIES: u32 = 6;

/// The most random plies of an opening: random games are over by then, or nearly.
pub const MOST_OPENING_PLIES: u32 = 200;

/// Keeps the stream of openings apart from all others of the same seed.
const STREAM: u64 = u64::from_be_bytes(*b"openings");

/// Tries for one more opening before giving up.
const TRIES: u32 = 4000;

/// Moves played before the players take over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The position that they begin with.
    #[serde(with = "text")]
    pub start: Position,
    /// The moves from there.
    #[serde(with = "text::list")]
    pub moves: Vec<Move>,
}

impl Opening {
    /// The game after the opening's moves, which count for repetition.
    ///
    /// # Errors
    /// If a move is illegal.
    pub fn game(&self, rules: RuleSet) -> Result<Game, IllegalMove> {
        let mut game = Game::from_position(rules, self.start);
        for &mv in &self.moves {
            game.play(mv)?;
        }
        Ok(game)
    }

    /// The position after its moves, were they legal.
    pub fn position(&self) -> Position {
        self.moves.iter().fold(self.start, |position, &mv| position.after(mv))
    }
}

impl fmt::Display for Opening {
    /// A line of a file of openings: the moves, after the position and a semicolon if they do not
    /// begin from the start position.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moves: Vec<String> = self.moves.iter().map(ToString::to_string).collect();
        if self.start == Position::start(self.start.variant()) && !moves.is_empty() {
            f.write_str(&moves.join(" "))
        } else {
            write!(f, "{}; {}", self.start, moves.join(" "))
        }
    }
}

/// The openings of a tournament: the games of pair *i* begin with opening *i*, whoever plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningSet {
    /// The variant of all of them.
    pub variant: Variant,
    /// Where they come from, in words: `random, 8 plies`.
    pub source: String,
    /// One for each pair of games.
    pub openings: Vec<Opening>,
}

impl OpeningSet {
    /// Openings of random legal moves from the start position of a variant, as [`RandomOpenings`]
    /// draws them. A smaller number from the same seed is the beginning of a larger one.
    ///
    /// # Errors
    /// If there are not that many.
    pub fn random(
        variant: Variant,
        rules: RuleSet,
        seed: u64,
        plies: u32,
        count: usize,
    ) -> Result<OpeningSet, ArenaError> {
        let mut random = RandomOpenings::new(variant, rules, seed, plies);
        let openings: Vec<Opening> = random.by_ref().take(count).collect();
        if openings.len() < count {
            let (found, over) = (openings.len(), random.are_over());
            return Err(ArenaError::TooFewOpenings { wanted: count, found, plies, over });
        }
        let source = format!("random, {plies} plies");
        Ok(OpeningSet { variant, source, openings })
    }

    /// The start position of a variant alone, for as many pairs as wanted: players that are deterministic will
    /// repeat their games.
    pub fn start_position(variant: Variant, count: usize) -> OpeningSet {
        let opening = Opening { start: Position::start(variant), moves: Vec::new() };
        OpeningSet { variant, source: "start position".to_owned(), openings: vec![opening; count] }
    }
}

/// Draws openings of random legal moves from the start position.
///
/// No game is over after them, and no two lead to the same position, nor to positions that a symmetry
/// of the board or the exchange of colours turns into each other. Both sides have equally many pieces
/// wherever such openings are left. Ends where no other opening is found.
pub struct RandomOpenings {
    rules: RuleSet,
    start: Position,
    plies: u32,
    rng: Stream,
    seen: HashSet<(u64, u64)>,
    moves: Vec<Move>,
    /// Tries for the last one in which the game was over too early.
    over: u32,
}

impl RandomOpenings {
    /// From a stream of the seed's own.
    pub fn new(variant: Variant, rules: RuleSet, seed: u64, plies: u32) -> RandomOpenings {
        RandomOpenings {
            rules,
            start: Position::start(variant),
            plies,
            rng: stream(seed, [STREAM, 0, 0]),
            seen: HashSet::new(),
            moves: Vec::new(),
            over: 0,
        }
    }

    /// Whether it is their length that has left none: most random games were over by then.
    pub fn are_over(&self) -> bool {
        self.over > TRIES / 2
    }

    fn attempt(&mut self, attempt: u32) -> Option<Opening> {
        let mut game = Game::from_position(self.rules, self.start);
        for _ in 0..self.plies {
            game.legal_moves_into(&mut self.moves);
            if self.moves.is_empty() {
                self.over += 1;
                return None;
            }
            game.play_legal(self.moves[self.rng.random_range(0..self.moves.len() as u32) as usize]);
        }
        self.over += u32::from(game.result().is_some());
        let position = game.position();
        let even = position.count(Color::Black) == position.count(Color::White);
        let wanted = game.result().is_none() && (even || attempt >= TRIES / 2);
        (wanted && self.seen.insert(up_to_symmetry(position)))
            .then(|| Opening { start: *game.start(), moves: game.moves().to_vec() })
    }
}

impl Iterator for RandomOpenings {
    type Item = Opening;

    fn next(&mut self) -> Option<Opening> {
        self.over = 0;
        (0..TRIES).find_map(|attempt| self.attempt(attempt))
    }
}

/// The same for positions that a symmetry of the board or the exchange of colours turns into each
/// other: the least of the eight views of (own pieces, enemy pieces).
pub(crate) fn up_to_symmetry(position: &Position) -> (u64, u64) {
    let variant = position.variant();
    let views =
        Symmetry::ALL.map(|s| (s.set(variant, position.own()), s.set(variant, position.enemy())));
    views.into_iter().min().expect("eight symmetries")
}

#[cfg(test)]
mod tests {
    use surakarta_game::{NO_REPEAT, OLYMPIAD};

    use super::*;

    #[test]
    fn openings_are_legal_distinct_even_and_go_on() {
        let cases = [(1, 1), (2, 6), (3, 8), (4, 21)];
        for ((seed, plies), variant) in
            cases.into_iter().flat_map(|case| Variant::ALL.map(|variant| (case, variant)))
        {
            let count = if plies == 1 { 4 } else { 300 };
            let set = OpeningSet::random(variant, NO_REPEAT, seed, plies, count).unwrap();
            let mut views = HashSet::new();
            for opening in &set.openings {
                let game = opening.game(NO_REPEAT).unwrap();
                assert_eq!(
                    (game.start(), opening.position().variant()),
                    (&Position::start(variant), variant)
                );
                assert_eq!(game.moves().len() as u32, plies);
                assert!(game.result().is_none());
                assert_eq!(
                    game.position().count(Color::Black),
                    game.position().count(Color::White)
                );
                assert_eq!(*game.position(), opening.position());
                // The slow twin of the key: none of the eight images has been seen.
                let position = game.position();
                let images = Symmetry::ALL.map(|s| {
                    let seen = position.under(s);
                    (seen.own(), seen.enemy())
                });
                assert!(images.iter().all(|image| !views.contains(image)));
                views.extend(images);
            }
        }
    }

    #[test]
    fn a_seed_gives_its_openings_and_fewer_are_the_first_of_more() {
        let ten = OpeningSet::random(Variant::Standard, OLYMPIAD, 5, 8, 10).unwrap();
        let hundred = OpeningSet::random(Variant::Standard, OLYMPIAD, 5, 8, 100).unwrap();
        assert_eq!(ten.openings[..], hundred.openings[..10]);
        assert_ne!(ten, OpeningSet::random(Variant::Standard, OLYMPIAD, 6, 8, 10).unwrap());
    }

    #[test]
    fn too_many_are_refused_with_the_mend() {
        // Sixteen first moves, of which mirror images count once.
        let error =
            OpeningSet::random(Variant::Standard, OLYMPIAD, 1, 1, 9).unwrap_err().to_string();
        assert!(error.starts_with("only 8 distinct openings of 1 random ply "), "{error}");
        assert!(error.ends_with("ask for fewer pairs or longer openings"), "{error}");
        assert!(OpeningSet::random(Variant::Standard, OLYMPIAD, 1, 0, 1).is_ok());
        assert!(OpeningSet::random(Variant::Standard, OLYMPIAD, 1, 0, 2).is_err());
        let error =
            OpeningSet::random(Variant::Standard, OLYMPIAD, 1, 1000, 2).unwrap_err().to_string();
        assert!(error.starts_with("only 0 distinct openings of 1000 random plies"), "{error}");
        assert!(error.ends_with("games are over before; ask for shorter openings"), "{error}");
    }
}
