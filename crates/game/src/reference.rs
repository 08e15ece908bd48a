//! The rules once more, slow and obvious.
//!
//! Everything else in this crate is written for speed; this module is written to be compared with
//! the text of the rules, sentence by sentence. Pieces stand on an array, runs walk the circuits
//! stop by stop, repetition counts every position since the start. It shares no table with the fast
//! code, which tests and benches measure against it: what both say is right, and where they differ
//! this one is to be believed.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::board::{GRID, Point};
use crate::moves::Move;
use crate::position::{Color, Position};
use crate::rules::{Ending, GameResult, Outcome, Repetition, RuleSet};
use crate::variant::Variant;

/// What stands on each point, by its index.
type Board = [Option<Color>; GRID];

/// The two circuits of a 6×6 board, walked once round; `~` is a loop.
const WALKS_OF_6: [&str; 2] = [
    "a2 b2 c2 d2 e2 f2 ~ e1 e2 e3 e4 e5 e6 ~ f5 e5 d5 c5 b5 a5 ~ b6 b5 b4 b3 b2 b1 ~",
    "a3 b3 c3 d3 e3 f3 ~ d1 d2 d3 d4 d5 d6 ~ f4 e4 d4 c4 b4 a4 ~ c6 c5 c4 c3 c2 c1 ~",
];

/// Those of a 7×7 board.
const WALKS_OF_7: [&str; 2] = [
    "a2 b2 c2 d2 e2 f2 g2 ~ f1 f2 f3 f4 f5 f6 f7 ~ g6 f6 e6 d6 c6 b6 a6 ~ b7 b6 b5 b4 b3 b2 b1 ~",
    "a3 b3 c3 d3 e3 f3 g3 ~ e1 e2 e3 e4 e5 e6 e7 ~ g5 f5 e5 d5 c5 b5 a5 ~ c7 c6 c5 c4 c3 c2 c1 ~",
];

#[derive(Clone, Copy, PartialEq)]
enum Stop {
    At(Point),
    Loop,
}

/// A circuit in one direction: a closed walk.
struct Walk {
    stops: Vec<Stop>,
    outer: bool,
}

fn directed_walks(texts: [&str; 2]) -> Vec<Walk> {
    let mut walks = Vec::new();
    for (text, outer) in texts.into_iter().zip([false, true]) {
        let stop = |name: &str| name.parse().map_or(Stop::Loop, Stop::At);
        let forward: Vec<Stop> = text.split(' ').map(stop).collect();
        let backward = forward.iter().copied().rev().collect();
        walks.extend([forward, backward].map(|stops| Walk { stops, outer }));
    }
    walks
}

static DIRECTED_WALKS_OF_6: LazyLock<Vec<Walk>> = LazyLock::new(|| directed_walks(WALKS_OF_6));
static DIRECTED_WALKS_OF_7: LazyLock<Vec<Walk>> = LazyLock::new(|| directed_walks(WALKS_OF_7));

fn all_points(size: usize) -> Vec<Point> {
    (0..size * size).filter_map(|n| Point::at(n % size, n / size)).collect()
}

static POINTS_OF_6: LazyLock<Vec<Point>> = LazyLock::new(|| all_points(6));
static POINTS_OF_7: LazyLock<Vec<Point>> = LazyLock::new(|| all_points(7));

/// What the variants differ in.
struct Rules {
    pieces: usize,
    points: &'static [Point],
    walks: &'static [Walk],
    diagonal_steps: bool,
    slides: bool,
}

fn rules_of(variant: Variant) -> Rules {
    let standard = Rules {
        pieces: 12,
        points: &POINTS_OF_6,
        walks: &DIRECTED_WALKS_OF_6,
        diagonal_steps: true,
        slides: false,
    };
    let sepur = Rules { pieces: 14, points: &POINTS_OF_7, walks: &DIRECTED_WALKS_OF_7, ..standard };
    match variant {
        Variant::Standard => standard,
        Variant::Rural => Rules { diagonal_steps: false, slides: true, ..standard },
        Variant::Sepur => sepur,
        Variant::SepurOrthogonal => Rules { diagonal_steps: false, ..sepur },
    }
}

fn board(position: &Position) -> Board {
    let mut board = [None; GRID];
    for &point in rules_of(position.variant()).points {
        board[point.index()] = position.color_at(point);
    }
    board
}

fn count(board: &Board, color: Color) -> usize {
    board.iter().filter(|&&piece| piece == Some(color)).count()
}

/// The points that the piece on `from` comes to on every run along a walk that it can make: empty
/// ones, and the first piece that it meets. Each with whether it has passed a loop before.
fn run(board: &Board, walk: &Walk, from: Point) -> Vec<(Point, bool)> {
    let mut reached = Vec::new();
    // The piece has left its starting point.
    let mut board = *board;
    board[from.index()] = None;
    let stops = &walk.stops;
    for start in (0..stops.len()).filter(|&stop| stops[stop] == Stop::At(from)) {
        let mut looped = false;
        // Twice round passes everything that an endless run would.
        for stop in stops.iter().cycle().skip(start + 1).take(2 * stops.len()) {
            let &Stop::At(point) = stop else {
                looped = true;
                continue;
            };
            if point != from {
                reached.push((point, looped));
            }
            if board[point.index()].is_some() {
                break;
            }
        }
    }
    reached
}

/// The points that the piece on `from` attacks: those that it comes to after a loop.
fn attacked(board: &Board, rules: &Rules, from: Point) -> Vec<Point> {
    let runs = rules.walks.iter().flat_map(|walk| run(board, walk, from));
    runs.filter(|&(_, looped)| looped).map(|(point, _)| point).collect()
}

/// The empty points that the piece on `from` may go to.
fn quiet_targets(board: &Board, rules: &Rules, from: Point) -> Vec<Point> {
    let is_neighbour = |to: &Point| {
        let files = from.file().abs_diff(to.file());
        let ranks = from.rank().abs_diff(to.rank());
        files + ranks == 1 || rules.diagonal_steps && files == 1 && ranks == 1
    };
    let mut targets: Vec<Point> = rules.points.iter().copied().filter(is_neighbour).collect();
    if rules.slides {
        let outer = rules.walks.iter().filter(|walk| walk.outer);
        targets.extend(outer.flat_map(|walk| run(board, walk, from)).map(|(point, _)| point));
    }
    targets.retain(|to| board[to.index()].is_none());
    targets
}

/// Sorted, each once.
fn distinct(mut moves: Vec<Move>) -> Vec<Move> {
    moves.sort_unstable();
    moves.dedup();
    moves
}

/// The legal moves, no ending rule applied, by start and target. Twin of [`Position::moves`].
pub fn moves(position: &Position) -> Vec<Move> {
    let (board, rules) = (board(position), rules_of(position.variant()));
    let mut moves = captures(position);
    for &from in rules.points {
        if board[from.index()] == Some(position.side_to_move()) {
            let targets = quiet_targets(&board, &rules, from);
            moves.extend(targets.into_iter().map(|to| Move::new(from, to)));
        }
    }
    distinct(moves)
}

/// The captures among the legal moves, by start and target. Twin of [`Position::captures`].
pub fn captures(position: &Position) -> Vec<Move> {
    let (board, rules) = (board(position), rules_of(position.variant()));
    let (own, enemy) = (position.side_to_move(), position.side_to_move().other());
    let mut captures = Vec::new();
    for &from in rules.points {
        if board[from.index()] == Some(own) {
            for to in attacked(&board, &rules, from) {
                if board[to.index()] == Some(enemy) {
                    captures.push(Move::new(from, to));
                }
            }
        }
    }
    distinct(captures)
}

/// The points that each colour attacks, black's first. Twin of [`Position::attacks`].
pub fn attacks(position: &Position) -> [u64; 2] {
    let (board, rules) = (board(position), rules_of(position.variant()));
    [Color::Black, Color::White].map(|color| {
        let pieces = rules.points.iter().filter(|p| board[p.index()] == Some(color));
        pieces
            .flat_map(|&from| attacked(&board, &rules, from))
            .fold(0, |set, point| set | point.bit())
    })
}

/// The legal moves under a rule set in the last of a game's positions, were it not over. `positions`
/// are all since the start; without any there is no move. Twin of
/// [`Game::legal_moves`](crate::Game::legal_moves).
pub fn legal_moves(rules: &RuleSet, positions: &[Position]) -> Vec<Move> {
    let Some(now) = positions.last() else { return Vec::new() };
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

/// The result of a game whose positions, from its start to now, are these; `None` while it goes on, and
/// without any position. Counters go on from those of the first position. Twin of
/// [`Game::result`](crate::Game::result).
pub fn result(rules: &RuleSet, positions: &[Position]) -> Option<GameResult> {
    let (Some(first), Some(now)) = (positions.first(), positions.last()) else { return None };
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
    } else if rules.ends_without_captures
        && black + white < 2 * rules_of(now.variant()).pieces
        && no_capture_left()
    {
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
