//! Which circuit a capture ran along.

use surakarta_game::{Move, Point, Position};

/// `inner`, `outer` or, where either leads there, `both`; `none` for a move that captures nothing.
pub(crate) fn circuit_of(position: &Position, mv: Move) -> &'static str {
    if !position.is_capture(mv) {
        return "none";
    }
    match [0, 1].map(|circuit| runs_along(position, mv, circuit)) {
        [true, true] => "both",
        [true, false] => "inner",
        [false, true] => "outer",
        [false, false] => "none",
    }
}

/// Whether a piece that has left its point meets the target first, after one loop at least.
fn runs_along(position: &Position, mv: Move, circuit: usize) -> bool {
    let (variant, occupied) = (position.variant(), position.occupied() & !mv.from().bit());
    let stops: Vec<Point> = variant.circuit(circuit).collect();
    let run = |start: usize, step: usize| {
        let (mut at, mut looped) = (start, false);
        for _ in 0..stops.len() {
            let next = (at + step) % stops.len();
            // A loop lies before every stop whose place is a multiple of the size.
            let later = if step == 1 { next } else { at };
            looped |= later % variant.size() == 0;
            at = next;
            if occupied & stops[at].bit() != 0 {
                return looped && stops[at] == mv.to();
            }
        }
        false
    };
    let starts = (0..stops.len()).filter(|&stop| stops[stop] == mv.from());
    starts.flat_map(|start| [(start, 1), (start, stops.len() - 1)]).any(|(at, step)| run(at, step))
}

#[cfg(test)]
mod tests {
    use rand::seq::IndexedRandom;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use surakarta_game::{Variant, points};

    use super::*;

    #[test]
    fn every_capture_runs_along_a_circuit_and_nothing_else_does() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut counts = [0; 3];
        for variant in Variant::ALL {
            for _ in 0..30 {
                let mut position = Position::start(variant);
                for _ in 0..60 {
                    let Some(&mv) = position.moves().choose(&mut random) else { break };
                    let captures = surakarta_game::reference::captures(&position);
                    for (from, to) in points(position.own())
                        .flat_map(|from| points(position.enemy()).map(move |to| (from, to)))
                    {
                        let mv = Move::new(from, to);
                        let along = [0, 1].map(|circuit| runs_along(&position, mv, circuit));
                        assert_eq!(captures.contains(&mv), along != [false; 2], "{position} {mv}");
                        if let Some(n) = [[true, false], [false, true], [true, true]]
                            .iter()
                            .position(|case| *case == along)
                        {
                            counts[n] += 1;
                        }
                    }
                    position = position.after(mv);
                }
            }
        }
        assert!(counts[0] > 500 && counts[1] > 500 && counts[2] > 2, "{counts:?}");
    }

    #[test]
    fn known_captures() {
        let position: Position = "6/6/6/6/b5/w4w b 0 1".parse().unwrap();
        for mv in position.captures() {
            assert_eq!(circuit_of(&position, mv), "inner");
        }
        assert_eq!(circuit_of(&Position::default(), "a2a3".parse().unwrap()), "none");
    }
}
