//! The positions that searches are measured on, each with the game that led to it.

use surakarta_game::{Game, OLYMPIAD};

/// A game of alpha-beta against itself, which ends with everything captured.
const GAME: &str = "c2c3 d5d4 b1c2 d4d3 b2b1 f5e4 d1d3 e5d4 a1b2 f6e5 f2e3 b5c4 a2b3 a6b5 e1d1 \
    e6d5 f1f2 e4f4 f2f3 c4b4 e3e4 e5e4 e2e4 d5e4 d2e4 c5e4 c2e4 b5e4 f3e2 d6c5 d1c2 e4f3 d3f3 \
    c5e2 f3d4 e2d3 c2a5 f4d4 a5b6 d3c3 b1c2 c3d3 b6b5 b4c3 c1d2 d3d2 b5d2 d4d2 b3d2 c3d4 c2c3 \
    d4d2 b2d2 c6d2 c3d2";

/// A part of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Start,
    MiddleGame,
    Endgame,
}

impl Phase {
    pub(super) const ALL: [Phase; 3] = [Phase::Start, Phase::MiddleGame, Phase::Endgame];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Phase::Start => "start",
            Phase::MiddleGame => "middle game",
            Phase::Endgame => "endgame",
        }
    }

    /// The game as it stood after some of its plies.
    pub(super) fn games(self) -> Vec<Game> {
        match self {
            Phase::Start => [0, 4, 8],
            Phase::MiddleGame => [20, 24, 28],
            Phase::Endgame => [36, 39, 46],
        }
        .map(after)
        .into()
    }
}

/// The game after so many plies.
fn after(plies: usize) -> Game {
    let mut game = Game::new(OLYMPIAD);
    for text in GAME.split(' ').take(plies) {
        let mv = text.parse().expect("a move");
        game.play(mv).expect("a legal move");
    }
    game
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_go_as_phases_do() {
        let pieces = |phase: Phase| {
            let games = phase.games();
            assert!(games.iter().all(|game| game.result().is_none()));
            games.iter().map(|game| game.position().occupied().count_ones()).collect::<Vec<_>>()
        };
        assert_eq!(Phase::ALL.map(pieces), [vec![24, 24, 23], vec![23, 20, 16], vec![13, 10, 8]]);
        assert!(after(usize::MAX).result().is_some());
    }
}
