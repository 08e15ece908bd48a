//! The rules once more, slow and obvious.
//!
//! Everything else in this crate is written for speed; this module is written to be compared with
//! the text of the rules, sentence by sentence. Pieces stand on an array, runs walk the circuits
//! stop by stop, repetition counts every position since the start. It shares no table with the fast
//! code, which tests and benches measure against it: what both say is right, and where they differ
//! this one is to be believed.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::board::{Point, SIDE};
use crate::moves::Move;
use crate::position::{Color, Position};
use crate::rules::{Ending, GameResult, Outcome, Repetition, RuleSet};

/// What stands on each point.
type Board = [Option<Color>; SIDE * SIDE];

/// The two circuits, walked once round; `~` is a loop.
const WALKS: [&str; 2] = [
    "a2 b2 c2 d2 e2 f2 ~ e1 e2 e3 e4 e5 e6 ~ f5 e5 d5 c5 b5 a5 ~ b6 b5 b4 b3 b2 b1 ~",
    "a3 b3 c3 d3 e3 f3 ~ d1 d2 d3 d4 d5 d6 ~ f4 e4 d4 c4 b4 a4 ~ c6 c5 c4 c3 c2 c1 ~",
];

#[derive(Clone, Copy, PartialEq)]
enum Stop {
    At(Point),
    Loop,
}

/// Each circuit in either direction: four closed walks.
static DIRECTED_WALKS: LazyLock<Vec<Vec<Stop>>> = LazyLock::new(|| {
    let mut walks = Vec::new();
    for text in WALKS {
        let stop = |name: &str| name.parse().map_or(Stop::Loop, Stop::At);
        let forward: Vec<Stop> = text.split(' ').map(stop).collect();
        let backward = forward.iter().copied().rev().collect();
        walks.extend([forward, backward]);
    }
    walks
});

fn board(position: &Position) -> Board {
    let mut board = [None; SIDE * SIDE];
    for point in Point::all() {
        board[point.index()] = position.color_at(point);
    }
    board
}

fn count(board: &Board, color: Color) -> usize {
    board.iter().filter(|&&piece| piece == Some(color)).count()
}

/// The points that the piece on `from` comes to after its first loop, on every run that it can
/// make: empty ones, and the first piece that it meets.
fn run(board: &Board, from: Point) -> Vec<Point> {
    let mut reached = Vec::new();
    // The piece has left its starting point.
    let mut board = *board;
    board[from.index()] = None;
    for walk in DIRECTED_WALKS.iter() {
        for start in (0..walk.len()).filter(|&stop| walk[stop] == Stop::At(from)) {
            let mut looped = false;
            // Twice round passes everything that an endless run would.
            for stop in walk.iter().cycle().skip(start + 1).take(2 * walk.len()) {
                let &Stop::At(point) = stop else {
                    looped = true;
                    continue;
                };
                if looped && point != from && !reached.contains(&point) {
                    reached.push(point);
                }
                if board[point.index()].is_some() {
                    break;
                }
            }
        }
    }
    reached
}

/// The legal moves, no ending rule applied, in no particular order. Twin of [`Position::moves`].
pub fn moves(position: &Position) -> Vec<Move> {
    let board = board(position);
    let mut moves = captures(position);
    for from in Point::all().filter(|p| board[p.index()] == Some(position.side_to_move())) {
        for to in Point::all() {
            let neighbours = from != to
                && from.file().abs_diff(to.file()) <= 1
                && from.rank().abs_diff(to.rank()) <= 1;
            if neighbours && board[to.index()].is_none() {
                moves.push(Move::new(from, to));
            }
        }
    }
    moves
}

/// The captures among the legal moves, in no particular order. Twin of [`Position::captures`].
pub fn captures(position: &Position) -> Vec<Move> {
    let board = board(position);
    let (own, enemy) = (position.side_to_move(), position.side_to_move().other());
    let mut captures = Vec::new();
    for from in Point::all().filter(|p| board[p.index()] == Some(own)) {
        for to in run(&board, from) {
            if board[to.index()] == Some(enemy) {
                captures.push(Move::new(from, to));
            }
        }
    }
    captures
}

/// The points that each colour attacks, black's first. Twin of [`Position::attacks`].
pub fn attacks(position: &Position) -> [u64; 2] {
    let board = board(position);
    [Color::Black, Color::White].map(|color| {
        let pieces = Point::all().filter(|p| board[p.index()] == Some(color));
        pieces.flat_map(|from| run(&board, from)).fold(0, |set, point| set | point.bit())
    })
}

/// The legal moves under a rule set in the last of a game's positions, were it not over. `positions`
/// are all since the start, at least one. Twin of [`Game::legal_moves`](crate::Game::legal_moves).
///
/// # Panics
/// Without a position.
pub fn legal_moves(rules: &RuleSet, positions: &[Position]) -> Vec<Move> {
    let now = positions.last().expect("a game has a position");
    let mut moves = moves(now);
    if rules.repetition == Repetition::Illegal {
        let seen = occurrences(positions);
        moves.retain(|mv| {
            let mut next = board(now);
            next[mv.to().index()] = next[mv.from().index()].take();
            !seen.contains_key(&(next, now.side_to_move().other()))
        });
    }
    moves
}

/// How often each position with its side to move has occurred.
fn occurrences(positions: &[Position]) -> HashMap<(Board, Color), u32> {
    let mut seen = HashMap::new();
    for position in positions {
        *seen.entry((board(position), position.side_to_move())).or_insert(0) += 1;
    }
    seen
}

/// The result of a game whose positions, from its start to now, are these, at least one; `None`
/// while it goes on. Counters go on from those of the first position. Twin of
/// [`Game::result`](crate::Game::result).
///
/// # Panics
/// Without a position.
pub fn result(rules: &RuleSet, positions: &[Position]) -> Option<GameResult> {
    let (first, now) = (&positions[0], &positions[positions.len() - 1]);
    let board = board(now);
    let [black, white] = [count(&board, Color::Black), count(&board, Color::White)];
    let occurred = occurrences(positions)[&(board, now.side_to_move())];

    let mut without_capture = first.quiet_plies();
    for pair in positions.windows(2) {
        let [before, after] = [&pair[0], &pair[1]]
            .map(|position| position.count(Color::Black) + position.count(Color::White));
        without_capture = if after < before { 0 } else { without_capture + 1 };
    }
    let plies = first.ply() as usize + positions.len() - 1;

    let no_capture_left = || {
        [*now, now.with_other_side_to_move()].iter().all(|position| captures(position).is_empty())
    };
    let ending = if black == 0 || white == 0 {
        Ending::CapturedAll
    } else if rules.ends_without_captures && black + white < 24 && no_capture_left() {
        Ending::NoCaptureLeft
    } else if matches!(rules.repetition, Repetition::Ends(times) if occurred >= times.into()) {
        Ending::Repetition
    } else if rules.no_capture.is_some_and(|limit| without_capture >= limit.into()) {
        Ending::NoProgress
    } else if legal_moves(rules, positions).is_empty() {
        Ending::NoMoves
    } else if rules.ply_cap.is_some_and(|cap| plies >= cap.into()) {
        Ending::PlyCap
    } else {
        return None;
    };
    let outcome = match black.cmp(&white) {
        std::cmp::Ordering::Greater => Outcome::Win(Color::Black),
        std::cmp::Ordering::Less => Outcome::Win(Color::White),
        std::cmp::Ordering::Equal => Outcome::Draw,
    };
    Some(GameResult { ending, outcome })
}
