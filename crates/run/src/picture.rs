//! The board with its loops, drawn with characters.

use surakarta_game::{Color, Move, Point, Position, board::SIDE};

/// Columns between neighbouring points, and rows.
const STEP: (usize, usize) = (4, 2);
/// Columns and rows left of and above the grid, where the loops run.
const MARGIN: (usize, usize) = (5, 2);

/// How a colour's pieces are drawn.
pub fn sign(color: Color) -> char {
    match color {
        Color::Black => 'x',
        Color::White => 'o',
    }
}

/// Draws a position: Black as `x`, White as `o`, empty points as `·`. Black sits at the bottom, or at
/// the top if `flipped`. The points of the last move are marked: its start with `•`, and its target's
/// piece as a capital letter.
pub fn board(position: &Position, last: Option<Move>, flipped: bool) -> String {
    let width = 2 * MARGIN.0 + (SIDE - 1) * STEP.0 + 1;
    let height = 2 * MARGIN.1 + (SIDE - 1) * STEP.1 + 1;
    let mut canvas = Canvas { cells: vec![vec![' '; width]; height] };
    let column = |file: usize| MARGIN.0 + STEP.0 * file;
    let row = |rank: usize| MARGIN.1 + STEP.1 * (SIDE - 1 - rank);
    canvas.grid(column(0), row(SIDE - 1), column(SIDE - 1), row(0));
    // The loop of the n-th line from the edge stands out by n steps of the margin.
    for n in 1..=2 {
        let (out_x, out_y) = (2 * n, n);
        canvas.corner(column(n), row(SIDE - 1 - n), column(0) - out_x, row(SIDE - 1) - out_y);
        canvas.corner(
            column(SIDE - 1 - n),
            row(SIDE - 1 - n),
            column(SIDE - 1) + out_x,
            row(SIDE - 1) - out_y,
        );
        canvas.corner(column(n), row(n), column(0) - out_x, row(0) + out_y);
        canvas.corner(column(SIDE - 1 - n), row(n), column(SIDE - 1) + out_x, row(0) + out_y);
    }
    for point in Point::all() {
        let (file, rank) = match flipped {
            false => (point.file(), point.rank()),
            true => (SIDE - 1 - point.file(), SIDE - 1 - point.rank()),
        };
        let moved = last.is_some_and(|mv| mv.to() == point);
        canvas.cells[row(rank)][column(file)] = match position.color_at(point) {
            Some(color) if moved => sign(color).to_ascii_uppercase(),
            Some(color) => sign(color),
            None if last.is_some_and(|mv| mv.from() == point) => '•',
            None => '·',
        };
    }
    let mut text = String::new();
    for (y, cells) in canvas.cells.iter().enumerate() {
        let rank = (0..SIDE).find(|&rank| row(rank) == y);
        let name = rank.map(|rank| if flipped { SIDE - rank } else { rank + 1 });
        let name = name.map_or(" ".to_owned(), |n| n.to_string());
        let line: String = cells.iter().collect();
        text += format!("{name} {line}").trim_end();
        text.push('\n');
    }
    let names = "abcdef";
    let mut line = vec![' '; width + 2];
    for (file, name) in names.chars().enumerate() {
        line[2 + column(if flipped { SIDE - 1 - file } else { file })] = name;
    }
    text + line.into_iter().collect::<String>().trim_end() + "\n"
}

struct Canvas {
    cells: Vec<Vec<char>>,
}

impl Canvas {
    /// The lines of the board.
    fn grid(&mut self, left: usize, top: usize, right: usize, bottom: usize) {
        for y in (top..=bottom).step_by(STEP.1) {
            self.horizontal(y, left, right);
        }
        for x in (left..=right).step_by(STEP.0) {
            self.vertical(x, top, bottom);
        }
    }

    fn horizontal(&mut self, y: usize, from: usize, to: usize) {
        for x in from.min(to)..=from.max(to) {
            self.cells[y][x] = '─';
        }
    }

    fn vertical(&mut self, x: usize, from: usize, to: usize) {
        for y in from.min(to)..=from.max(to) {
            self.cells[y][x] = '│';
        }
    }

    /// A loop: from the end of the line on column `x` over the outer corner (`out_x`, `out_y`) to the
    /// end of the line on row `y`. The board's own lines meet it from inside.
    fn corner(&mut self, x: usize, y: usize, out_x: usize, out_y: usize) {
        let (left, above) = (out_x < x, out_y < y);
        let edge_x = if left { MARGIN.0 } else { MARGIN.0 + (SIDE - 1) * STEP.0 };
        let edge_y = if above { MARGIN.1 } else { MARGIN.1 + (SIDE - 1) * STEP.1 };
        let inward = |edge: usize, out: usize| if out < edge { edge - 1 } else { edge + 1 };
        self.vertical(x, inward(edge_y, out_y), out_y);
        self.horizontal(y, inward(edge_x, out_x), out_x);
        self.horizontal(out_y, x, out_x);
        self.vertical(out_x, out_y, y);
        let (right, down) = (!left, !above);
        // The three bends: at the line's end, at the outer corner, at the other line's end.
        self.cells[out_y][x] = bend(left, !down);
        self.cells[out_y][out_x] = bend(right, !down);
        self.cells[y][out_x] = bend(right, down);
    }
}

/// The bend of a loop that is open to the left or right, and downwards or upwards.
fn bend(to_the_left: bool, downwards: bool) -> char {
    match (to_the_left, downwards) {
        (true, true) => '╮',
        (false, true) => '╭',
        (true, false) => '╯',
        (false, false) => '╰',
    }
}
