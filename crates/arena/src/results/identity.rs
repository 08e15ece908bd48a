//! When two games, or two openings, are the same.

use surakarta_game::{Move, Position, Symmetry};
use xxhash_rust::xxh3::Xxh3;

use crate::game::ArenaGame;
use crate::opening::up_to_symmetry;

/// The same for the same game up to symmetry; `None` where a record has no moves, as they may have been
/// left out.
pub(crate) fn moves_key(game: &ArenaGame) -> Option<u128> {
    (!game.plies.is_empty()).then(|| game_key(&game.opening.start, game.moves()))
}

/// The same for games whose start position and moves a symmetry of the board turns into each other:
/// the least hash of the eight views.
pub(super) fn game_key(start: &Position, moves: impl Iterator<Item = Move>) -> u128 {
    let variant = start.variant();
    let moves: Vec<Move> = moves.collect();
    let views = Symmetry::ALL.map(|symmetry| {
        let mut hash = Xxh3::new();
        hash.update(variant.name().as_bytes());
        hash.update(start.side_to_move().name().as_bytes());
        for set in [start.own(), start.enemy()] {
            hash.update(&symmetry.set(variant, set).to_le_bytes());
        }
        for mv in &moves {
            let seen = mv.under(variant, symmetry);
            hash.update(&[seen.from().index() as u8, seen.to().index() as u8]);
        }
        hash.digest128()
    });
    views.into_iter().min().expect("eight symmetries")
}

/// The same for positions that a symmetry of the board or the exchange of colours turns into each
/// other.
pub(super) fn opening_key(position: &Position) -> u128 {
    let (own, enemy) = up_to_symmetry(position);
    u128::from(own) << 64 | u128::from(enemy)
}

/// The same for the same text.
pub(super) fn text_key(words: &[impl AsRef<str>]) -> u128 {
    let mut hash = Xxh3::new();
    for word in words {
        hash.update(word.as_ref().as_bytes());
        hash.update(&[0]);
    }
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use surakarta_game::{Game, OLYMPIAD, Variant};
    use surakarta_search::stream;

    use super::*;

    #[test]
    fn mirror_images_are_the_same_game_and_nothing_else_is() {
        let mut rng = stream(3, [0, 0, 0]);
        let start = Position::start(Variant::Standard);
        let mut keys = std::collections::HashSet::new();
        for _ in 0..200 {
            let mut game = Game::new(OLYMPIAD);
            for _ in 0..20 {
                let moves = game.legal_moves();
                if moves.is_empty() || game.result().is_some() {
                    break;
                }
                game.play_legal(moves[rng.random_range(0..moves.len() as u32) as usize]);
            }
            let key = game_key(&start, game.moves().iter().copied());
            assert!(keys.insert(key));
            let mirrored = |mv: &Move| mv.under(Variant::Standard, Symmetry::FLIP_FILES);
            assert_eq!(game_key(&start, game.moves().iter().map(mirrored)), key);
            let shorter = game_key(&start, game.moves().iter().copied().skip(1));
            assert_ne!(shorter, key);
        }
    }
}
