//! Move generation on bit sets.
//!
//! Steps are shifts of the own pieces onto empty points. Captures need only a look at the eight
//! loops: a run over a loop starts at the nearest piece on one side of it along the circuit and ends
//! at the nearest on the other. An own piece on a crossing point may be nearest on both sides; its
//! own stops count as empty then, and the second nearest piece is the one it meets.

use crate::board::{CIRCUITS, POINTS, Point, SIDE, STOPS, STOPS_PER_LINE, points};
use crate::moves::Move;
use crate::position::{Color, Position};

const fn file_set(file: usize) -> u64 {
    let mut set = 0;
    let mut rank = 0;
    while rank < SIDE {
        set |= 1 << (rank * SIDE + file);
        rank += 1;
    }
    set
}

const NOT_A: u64 = !file_set(0);
const NOT_F: u64 = !file_set(SIDE - 1);
const BOARD: u64 = (1 << POINTS) - 1;

/// The eight directions: how far the index moves, and which points may go that way.
const DIRECTIONS: [(i32, u64); 8] = [
    (1, NOT_F),
    (-1, NOT_A),
    (6, BOARD),
    (-6, BOARD),
    (7, NOT_F),
    (5, NOT_A),
    (-5, NOT_F),
    (-7, NOT_A),
];

const fn shift(set: u64, by: i32) -> u64 {
    if by > 0 { set << by } else { set >> -by }
}

/// `[rank][its six points]`: the stops of both circuits that they are, the inner circuit's in the
/// low half of the word and the outer's in the high half.
static STOPS_OF: [[u64; 1 << SIDE]; SIDE] = {
    let mut table = [[0; 1 << SIDE]; SIDE];
    let mut circuit = 0;
    while circuit < 2 {
        let mut stop = 0;
        while stop < STOPS {
            let point = CIRCUITS[circuit][stop] as usize;
            let mut row = 0;
            while row < 1 << SIDE {
                if row >> (point % SIDE) & 1 != 0 {
                    table[point / SIDE][row] |= 1 << (32 * circuit + stop);
                }
                row += 1;
            }
            stop += 1;
        }
        circuit += 1;
    }
    table
};

/// The occupied stops of the two circuits, 24 bits each.
fn stops(set: u64) -> [u32; 2] {
    let mut words = 0;
    for (rank, table) in STOPS_OF.iter().enumerate() {
        words |= table[(set >> (SIDE * rank)) as usize & ((1 << SIDE) - 1)];
    }
    [words as u32, (words >> 32) as u32]
}

/// `[circuit][line][its six stops]`: the points that they are.
static POINTS_OF: [[[u64; 1 << STOPS_PER_LINE]; STOPS / STOPS_PER_LINE]; 2] = {
    let mut table = [[[0; 1 << STOPS_PER_LINE]; STOPS / STOPS_PER_LINE]; 2];
    let mut circuit = 0;
    while circuit < 2 {
        let mut stop = 0;
        while stop < STOPS {
            let mut six = 0;
            while six < 1 << STOPS_PER_LINE {
                if six >> (stop % STOPS_PER_LINE) & 1 != 0 {
                    table[circuit][stop / STOPS_PER_LINE][six] |= 1 << CIRCUITS[circuit][stop];
                }
                six += 1;
            }
            stop += 1;
        }
        circuit += 1;
    }
    table
};

/// Turns the 24 stops of a circuit by `by` (0 to 24), so that stop `by` becomes stop 0.
const fn turn_right(stops: u32, by: usize) -> u32 {
    (stops >> by | stops << (STOPS - by)) & ((1 << STOPS) - 1)
}

/// The stops 0 to `stop`.
const fn up_to(stop: u32) -> u32 {
    (2 << stop) - 1
}

/// The stops from `stop` to 23.
const fn from(stop: u32) -> u32 {
    (1 << STOPS) - (1 << stop)
}

/// At most two captures for each of the eight loops.
const MAX_CAPTURES: usize = 16;

/// The distinct captures of a position.
#[derive(Clone, Copy)]
struct Captures {
    moves: [Move; MAX_CAPTURES],
    len: usize,
}

impl Captures {
    #[inline]
    fn push(&mut self, from: u8, to: u8) {
        let mv = Move::new(Point::of(from), Point::of(to));
        if !self.as_slice().contains(&mv) {
            self.moves[self.len] = mv;
            self.len += 1;
        }
    }

    #[inline]
    fn as_slice(&self) -> &[Move] {
        &self.moves[..self.len]
    }

    #[inline]
    fn of(own: u64, enemy: u64) -> Captures {
        let a1 = Point::of(0);
        let mut captures = Captures { moves: [Move::new(a1, a1); MAX_CAPTURES], len: 0 };
        for (circuit, occupied) in CIRCUITS.iter().zip(stops(own | enemy)) {
            if occupied == 0 {
                continue;
            }
            for line in 0..STOPS / STOPS_PER_LINE {
                let turn = STOPS_PER_LINE * line;
                // Turned so that the loop lies between stop 23 and stop 0.
                let turned = turn_right(occupied, turn);
                let point = |stop: u32| {
                    let stop = stop as usize + turn;
                    circuit[if stop >= STOPS { stop - STOPS } else { stop }]
                };
                let right = point(turned.trailing_zeros());
                let left = point(31 - turned.leading_zeros());
                let is_own = |p: u8| own >> p & 1 != 0;
                let is_enemy = |p: u8| enemy >> p & 1 != 0;
                if left != right {
                    if is_own(left) && is_enemy(right) {
                        captures.push(left, right);
                    } else if is_enemy(left) && is_own(right) {
                        captures.push(right, left);
                    }
                } else if is_own(left) {
                    let beyond_right = turned & (turned - 1);
                    let beyond_left = turned ^ 1 << (31 - turned.leading_zeros());
                    if beyond_right != 0 {
                        let target = point(beyond_right.trailing_zeros());
                        if is_enemy(target) {
                            captures.push(left, target);
                        }
                        let target = point(31 - beyond_left.leading_zeros());
                        if is_enemy(target) {
                            captures.push(left, target);
                        }
                    }
                }
            }
        }
        captures
    }
}

impl Position {
    /// Calls `visit` with every legal move, no ending rule applied: steps, then captures, each once
    /// and always in the same order.
    #[inline]
    pub fn for_each_move(&self, mut visit: impl FnMut(Move)) {
        let (own, empty) = (self.own(), self.empty());
        for (by, may) in DIRECTIONS {
            for to in points(shift(own & may, by) & empty) {
                visit(Move::new(Point::of((to.index() as i32 - by) as u8), to));
            }
        }
        self.for_each_capture(visit);
    }

    /// Calls `visit` with every capture, each once.
    #[inline]
    pub fn for_each_capture(&self, visit: impl FnMut(Move)) {
        Captures::of(self.own(), self.enemy()).as_slice().iter().copied().for_each(visit);
    }

    /// The legal moves, no ending rule applied, in a list that is cleared first.
    pub fn moves_into(&self, moves: &mut Vec<Move>) {
        moves.clear();
        self.for_each_move(|mv| moves.push(mv));
    }

    /// The legal moves, no ending rule applied.
    pub fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::with_capacity(32);
        self.moves_into(&mut moves);
        moves
    }

    /// The captures among the legal moves.
    pub fn captures(&self) -> Vec<Move> {
        Captures::of(self.own(), self.enemy()).as_slice().to_vec()
    }

    /// How many legal moves there are, without listing them.
    pub fn count_moves(&self) -> u64 {
        let (own, empty) = (self.own(), self.empty());
        let steps: u32 =
            DIRECTIONS.iter().map(|&(by, may)| (shift(own & may, by) & empty).count_ones()).sum();
        steps as u64 + Captures::of(own, self.enemy()).len as u64
    }

    /// Whether the side to move has a capture.
    pub fn has_capture(&self) -> bool {
        Captures::of(self.own(), self.enemy()).len > 0
    }

    /// Whether the side to move has any legal move.
    pub fn has_move(&self) -> bool {
        let (own, empty) = (self.own(), self.empty());
        DIRECTIONS.iter().any(|&(by, may)| shift(own & may, by) & empty != 0) || self.has_capture()
    }

    /// Whether the move is legal, no ending rule applied.
    pub fn is_legal(&self, mv: Move) -> bool {
        let mut found = false;
        self.for_each_move(|other| found |= other == mv);
        found
    }

    /// The points that each colour attacks, black's first: those that a run of one of its pieces
    /// reaches over at least one loop and otherwise empty points, whatever stands there. An empty
    /// point counts as attacked, and an own piece (a defended one), but never the running piece.
    pub fn attacks(&self) -> [u64; 2] {
        let [black, white] = [Color::Black, Color::White].map(|color| self.pieces(color));
        let mut attacked = [0; 2];
        for (c, occupied) in stops(black | white).into_iter().enumerate() {
            if occupied == 0 {
                continue;
            }
            let mut stops_attacked = [0u32; 2];
            for line in 0..STOPS / STOPS_PER_LINE {
                let turn = STOPS_PER_LINE * line;
                let turned = turn_right(occupied, turn);
                let point = |stop: u32| CIRCUITS[c][(stop as usize + turn) % STOPS];
                let color = |p: u8| (white >> p & 1) as usize;
                let (first, last) = (turned.trailing_zeros(), 31 - turned.leading_zeros());
                let (left, right) = (point(last), point(first));
                if left != right {
                    stops_attacked[color(left)] |= turn_right(up_to(first), STOPS - turn);
                    stops_attacked[color(right)] |= turn_right(from(last), STOPS - turn);
                } else {
                    let others = turned & !(1 << first) & !(1 << last);
                    let reach = if others == 0 {
                        (1 << STOPS) - 1
                    } else {
                        up_to(others.trailing_zeros()) | from(31 - others.leading_zeros())
                    };
                    let own_stops = 1 << first | 1 << last;
                    stops_attacked[color(left)] |= turn_right(reach & !own_stops, STOPS - turn);
                }
            }
            for (set, stops) in attacked.iter_mut().zip(stops_attacked) {
                for (line, table) in POINTS_OF[c].iter().enumerate() {
                    *set |= table[(stops >> (STOPS_PER_LINE * line)) as usize % table.len()];
                }
            }
        }
        attacked
    }
}
