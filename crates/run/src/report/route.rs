//! The way that a capture, or a slide of the variant `rural`, takes along a circuit.

use serde::Serialize;
use serde::ser::Serializer;
use surakarta_game::{Move, Point, Position, Variant};

/// A run along a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// 0 the inner, 1 the outer.
    pub(super) circuit: usize,
    /// Where on the circuit it begins.
    pub(super) stop: usize,
    /// How many stops it passes, its last one included; negative against the walking order.
    pub(super) steps: i32,
}

impl Serialize for Route {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (self.circuit, self.stop, self.steps).serialize(to)
    }
}

/// The shortest run by which a legal move can be made; `None` of a step to a neighbour.
pub(super) fn route(position: &Position, mv: Move) -> Option<Route> {
    let capture = position.is_capture(mv);
    if !capture && is_step(mv) {
        return None;
    }
    let variant = position.variant();
    // Pieces slide along the outer circuit alone.
    let circuits = if capture { 0..2 } else { 1..2 };
    circuits
        .flat_map(|circuit| {
            let points: Vec<Point> = variant.circuit(circuit).collect();
            let starts: Vec<usize> =
                (0..points.len()).filter(|&stop| points[stop] == mv.from()).collect();
            starts.into_iter().flat_map(move |stop| {
                let length = |sign| run(position, mv, &points, stop, sign);
                [1, -1]
                    .into_iter()
                    .filter_map(|sign| Some(Route { circuit, stop, steps: sign * length(sign)? }))
                    .collect::<Vec<_>>()
            })
        })
        .min_by_key(|route| route.steps.abs())
}

fn is_step(mv: Move) -> bool {
    let (from, to) = (mv.from(), mv.to());
    from.file().abs_diff(to.file()) <= 1 && from.rank().abs_diff(to.rank()) <= 1
}

/// How many stops it takes from a stop to the move's target.
fn run(position: &Position, mv: Move, points: &[Point], stop: usize, sign: i32) -> Option<i32> {
    let stops = points.len();
    let capture = position.is_capture(mv);
    let mut looped = false;
    let mut at = stop;
    for n in 1..stops {
        let last = at;
        at = (at + if sign > 0 { 1 } else { stops - 1 }) % stops;
        looped |= is_loop(position.variant(), last, at);
        let point = points[at];
        if point == mv.to() && (looped || !capture) {
            return Some(n as i32);
        }
        // The point that the piece has left is empty.
        if point != mv.from() && position.color_at(point).is_some() {
            return None;
        }
    }
    None
}

/// Whether a loop lies between two neighbouring stops of a circuit.
pub(super) fn is_loop(variant: Variant, one: usize, other: usize) -> bool {
    one / variant.size() != other / variant.size()
}

#[cfg(test)]
mod tests {
    use surakarta_game::{Game, OLYMPIAD};

    use super::*;

    #[test]
    fn every_capture_and_slide_has_its_way_and_no_step_has() {
        let mut runs = 0;
        for variant in Variant::ALL {
            for seed in 0..20 {
                let mut game = Game::from_position(OLYMPIAD, Position::start(variant));
                while game.result().is_none() {
                    let moves = game.legal_moves();
                    let position = *game.position();
                    for &mv in &moves {
                        let found = route(&position, mv);
                        let needed = position.is_capture(mv) || !is_step(mv);
                        assert_eq!(found.is_some(), needed, "{mv} in {position}");
                        let Some(Route { circuit, stop, steps }) = found else { continue };
                        runs += 1;
                        let points: Vec<Point> = variant.circuit(circuit).collect();
                        let end = (stop as i32 + steps).rem_euclid(points.len() as i32);
                        assert_eq!((points[stop], points[end as usize]), (mv.from(), mv.to()));
                    }
                    let pick = (seed * 31 + game.moves().len() * 7) % moves.len();
                    game.play_legal(moves[pick]);
                }
            }
        }
        assert!(runs > 1000, "{runs} runs");
    }

    #[test]
    fn the_shortest_way_is_taken() {
        // From a2, the loop behind a2 leads up to b1 and on along the file b.
        let position: Position = "6/6/1w4/6/b5/6 b 0 1".parse().unwrap();
        let mv = "a2b4".parse().unwrap();
        assert!(position.is_legal(mv));
        assert_eq!(route(&position, mv), Some(Route { circuit: 0, stop: 0, steps: -4 }));
    }
}
