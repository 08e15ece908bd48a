//! The board with its loops, drawn with characters.

use surakarta_game::{Color, Move, Position, points};

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
    let board = position.variant().board();
    let last_line = position.variant().size() - 1;
    let column = |file: usize| MARGIN.0 + STEP.0 * file;
    let row = |rank: usize| MARGIN.1 + STEP.1 * (last_line - rank);
    let (left, right, top, bottom) = (column(0), column(last_line), row(last_line), row(0));
    let cells = vec![vec![' '; right + MARGIN.0 + 1]; bottom + MARGIN.1 + 1];
    let mut canvas = Canvas { cells, left, right, top, bottom };
    canvas.grid();
    // The loop of the n-th line from the edge stands out by n steps of the margin.
    for n in 1..=2 {
        let (near, far) = (n, last_line - n);
        let (out_x, out_y) = (2 * n, n);
        canvas.corner(column(near), row(far), left - out_x, top - out_y);
        canvas.corner(column(far), row(far), right + out_x, top - out_y);
        canvas.corner(column(near), row(near), left - out_x, bottom + out_y);
        canvas.corner(column(far), row(near), right + out_x, bottom + out_y);
    }
    let seen = |n: usize| if flipped { last_line - n } else { n };
    for point in points(board) {
        let moved = last.is_some_and(|mv| mv.to() == point);
        let cell = &mut canvas.cells[row(seen(point.rank()))][column(seen(point.file()))];
        *cell = match position.color_at(point) {
            Some(color) if moved => sign(color).to_ascii_uppercase(),
            Some(color) => sign(color),
            None if last.is_some_and(|mv| mv.from() == point) => '•',
            None => '·',
        };
    }
    let mut text = String::new();
    for (y, cells) in canvas.cells.iter().enumerate() {
        let rank = (0..=last_line).find(|&rank| row(seen(rank)) == y);
        let name = rank.map_or(" ".to_owned(), |rank| (rank + 1).to_string());
        let line: String = cells.iter().collect();
        text += format!("{name} {line}").trim_end();
        text.push('\n');
    }
    let mut line = vec![' '; 2 + right + 1];
    for (file, name) in (0..=last_line).zip('a'..) {
        line[2 + column(seen(file))] = name;
    }
    text + line.into_iter().collect::<String>().trim_end() + "\n"
}

struct Canvas {
    cells: Vec<Vec<char>>,
    /// Where the outermost lines of the board run.
    left: usize,
    right: usize,
    top: usize,
    bottom: usize,
}

impl Canvas {
    /// The lines of the board.
    fn grid(&mut self) {
        for y in (self.top..=self.bottom).step_by(STEP.1) {
            self.horizontal(y, self.left, self.right);
        }
        for x in (self.left..=self.right).step_by(STEP.0) {
            self.vertical(x, self.top, self.bottom);
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
        let edge_x = if left { self.left } else { self.right };
        let edge_y = if above { self.top } else { self.bottom };
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
