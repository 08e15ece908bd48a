//! The boards as drawings: grid, circuits and loops of each variant, from what the rules say of them.

use maud::{Markup, html};
use serde::Serialize;
use surakarta_game::{Color, Point, Position, Variant, points};

use super::route::is_loop;

/// Between neighbouring points.
const STEP: i32 = 10;
/// Around the points: room for the loops and for the names of files and ranks.
const MARGIN: i32 = 29;
/// How far from the outermost points the names stand: beyond the loops.
const NAMES: i32 = 25;

/// Where a point is drawn; ranks grow upwards.
fn place(variant: Variant, point: Point) -> (i32, i32) {
    (STEP * point.file() as i32, STEP * (variant.size() - 1 - point.rank()) as i32)
}

/// Length of the board's outermost lines.
fn side(variant: Variant) -> i32 {
    STEP * (variant.size() as i32 - 1)
}

/// The `viewBox` that shows the board with so much around it.
fn view_box(variant: Variant, margin: i32) -> String {
    let length = side(variant) + 2 * margin;
    format!("{} {} {length} {length}", -margin, -margin)
}

/// The name of a variant's drawing in the page.
pub(super) fn id(variant: Variant) -> String {
    format!("board-{}", variant as u8)
}

/// What the page's program needs to know of a board.
#[derive(Serialize)]
pub(super) struct Drawing {
    variant: &'static str,
    size: usize,
    step: i32,
    view: String,
    /// Its drawing in the page.
    id: String,
    circuits: [Circuit; 2],
}

/// A circuit, stop by stop in walking order.
#[derive(Serialize)]
struct Circuit {
    stops: Vec<(i32, i32)>,
    /// From each stop to the next, as a path of SVG.
    forward: Vec<String>,
    /// From each stop to the one before.
    backward: Vec<String>,
}

/// The drawing of a variant's board, for the page's program.
pub(super) fn drawing(variant: Variant) -> Drawing {
    Drawing {
        variant: variant.name(),
        size: variant.size(),
        step: STEP,
        view: view_box(variant, MARGIN),
        id: id(variant),
        circuits: [0, 1].map(|circuit| {
            let stops: Vec<Point> = variant.circuit(circuit).collect();
            let n = stops.len();
            Circuit {
                stops: stops.iter().map(|&point| place(variant, point)).collect(),
                forward: (0..n).map(|at| leg(variant, &stops, at, (at + 1) % n)).collect(),
                backward: (0..n).map(|at| leg(variant, &stops, at, (at + n - 1) % n)).collect(),
            }
        }),
    }
}

/// The path between two neighbouring stops: a line, or a loop, three quarters of a circle round the
/// corner of the board.
fn leg(variant: Variant, stops: &[Point], from: usize, to: usize) -> String {
    let ((x1, y1), (x2, y2)) = (place(variant, stops[from]), place(variant, stops[to]));
    if !is_loop(variant, from, to) {
        return format!("L{x2} {y2}");
    }
    let edge = |n: i32| n == 0 || n == side(variant);
    let (x, y) = if edge(x1) && edge(y2) { (x1, y2) } else { (x2, y1) };
    let radius = (x1 - x).abs().max((y1 - y).abs());
    // Three quarters of a turn clockwise are a quarter against it: y grows downwards.
    let clockwise = (x1 - x) * (y2 - y) - (y1 - y) * (x2 - x) < 0;
    format!("A{radius} {radius} 0 1 {} {x2} {y2}", u8::from(clockwise))
}

/// A whole circuit.
fn circuit_path(variant: Variant, circuit: usize) -> String {
    let stops: Vec<Point> = variant.circuit(circuit).collect();
    let (x, y) = place(variant, stops[0]);
    let legs = (0..stops.len()).map(|at| leg(variant, &stops, at, (at + 1) % stops.len()));
    format!("M{x} {y}{}", legs.collect::<String>())
}

/// The boards of these variants, to be used by [`id`]. Nothing is seen of them by themselves.
pub(super) fn definitions(variants: &[Variant]) -> Markup {
    html! {
        svg.definitions width="0" height="0" aria-hidden="true" {
            defs {
                @for &variant in variants {
                    g id=(id(variant)) {
                        path.grid d=(grid(variant)) {}
                        path.inner d=(circuit_path(variant, 0)) {}
                        path.outer d=(circuit_path(variant, 1)) {}
                        @for point in points(variant.board()) {
                            @let (x, y) = place(variant, point);
                            circle.point cx=(x) cy=(y) r="0.9" {}
                        }
                    }
                    g.names id=(format!("{}-names", id(variant))) {
                        @for n in 0..variant.size() {
                            @let along = STEP * n as i32;
                            text x=(along) y=(side(variant) + NAMES + 1) { (char::from(b'a' + n as u8)) }
                            text x=(-NAMES) y=(side(variant) - along + 1) { (n + 1) }
                        }
                    }
                }
            }
        }
    }
}

fn grid(variant: Variant) -> String {
    let length = side(variant);
    (0..variant.size() as i32)
        .map(|n| STEP * n)
        .map(|at| format!("M0 {at}H{length}M{at} 0V{length}"))
        .collect()
}

/// A small picture of a position.
pub(super) fn thumbnail(position: &Position) -> Markup {
    let variant = position.variant();
    html! {
        svg.thumbnail viewBox=(view_box(variant, 2 * STEP + 2)) role="img"
            aria-label=(format!("position {position}")) {
            use href=(format!("#{}", id(variant))) {}
            @for point in points(position.occupied()) {
                @let (x, y) = place(variant, point);
                @let color = position.color_at(point).map_or("", Color::name);
                circle class=(format!("piece {color}")) cx=(x) cy=(y) r="3.9" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends of a path's legs, and the radii of its loops.
    fn ends(path: &str) -> (Vec<(i32, i32)>, Vec<i32>) {
        let mut radii = Vec::new();
        let mut places = Vec::new();
        for leg in path.split(['M', 'L', 'A']).skip(1) {
            let numbers: Vec<i32> = leg.split(' ').map(|n| n.parse().unwrap()).collect();
            let n = numbers.len();
            places.push((numbers[n - 2], numbers[n - 1]));
            if n > 2 {
                radii.push(numbers[0]);
            }
        }
        (places, radii)
    }

    #[test]
    fn a_circuit_closes_over_four_loops_round_the_corners() {
        for variant in Variant::ALL {
            for circuit in 0..2 {
                let (places, radii) = ends(&circuit_path(variant, circuit));
                assert_eq!(places.len(), 4 * variant.size() + 1);
                assert_eq!(places.first(), places.last());
                assert_eq!(radii, [STEP * (circuit as i32 + 1); 4]);
            }
        }
    }

    #[test]
    fn loops_lie_outside_the_board() {
        // f2 to e1 round f1: over the right of the corner and below it, clockwise.
        let stops: Vec<Point> = Variant::Standard.circuit(0).collect();
        assert_eq!(leg(Variant::Standard, &stops, 5, 6), "A10 10 0 1 1 40 50");
        assert_eq!(leg(Variant::Standard, &stops, 6, 5), "A10 10 0 1 0 50 40");
        assert_eq!(leg(Variant::Standard, &stops, 0, 1), "L10 40");
    }
}
