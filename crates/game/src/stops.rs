//! Stops of the circuits as bit words: the geometry of captures.

use crate::board::{GRID, MAX_SIZE, WIDTH};
use crate::layout::LINES;
use crate::machine::LOOPS;

/// A set of stops, each circuit in either direction: forward as it is walked, and backward, where the
/// last stop is the first. Words are of the inner circuit and the outer; each byte is a line, its
/// lowest bits are the line's stops. So a circuit turns by a whole line when its word turns by a byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(16))]
pub(crate) struct Stops {
    pub(crate) forward: [u32; 2],
    pub(crate) backward: [u32; 2],
}

impl Stops {
    pub(crate) const NONE: Stops = Stops { forward: [0; 2], backward: [0; 2] };

    #[inline(always)]
    fn with(self, other: Stops, f: impl Fn(u32, u32) -> u32) -> Stops {
        let (a, b) = (self, other);
        Stops {
            forward: [f(a.forward[0], b.forward[0]), f(a.forward[1], b.forward[1])],
            backward: [f(a.backward[0], b.backward[0]), f(a.backward[1], b.backward[1])],
        }
    }

    #[inline(always)]
    pub(crate) fn or(self, other: Stops) -> Stops {
        self.with(other, |a, b| a | b)
    }

    #[inline(always)]
    pub(crate) fn xor(self, other: Stops) -> Stops {
        self.with(other, |a, b| a ^ b)
    }

    #[inline(always)]
    pub(crate) fn without(self, other: Stops) -> Stops {
        self.with(other, |a, b| a & !b)
    }

    /// [`xor`](Self::xor) at compile time.
    pub(crate) const fn const_xor(&self, other: &Stops) -> Stops {
        let (a, b) = (self, other);
        Stops {
            forward: [a.forward[0] ^ b.forward[0], a.forward[1] ^ b.forward[1]],
            backward: [a.backward[0] ^ b.backward[0], a.backward[1] ^ b.backward[1]],
        }
    }

    const fn or_in(&mut self, other: &Stops) {
        let mut c = 0;
        while c < 2 {
            self.forward[c] |= other.forward[c];
            self.backward[c] |= other.backward[c];
            c += 1;
        }
    }
}

/// Stops of a circuit on the largest board.
pub(crate) const MAX_STOPS: usize = LINES * MAX_SIZE;

/// The bit of a stop, counted from the first, in a word of [`Stops`].
const fn bit(stop: usize, size: usize) -> usize {
    8 * (stop / size) + stop % size
}

/// Where the stops lie.
pub(crate) struct StopTables {
    /// By the index of a point: the stops that it is.
    pub(crate) of_point: [Stops; GRID],
    /// `[rank][its points]`: the stops that they are.
    pub(crate) of_rank: [[Stops; 1 << MAX_SIZE]; MAX_SIZE],
    /// `[circuit][bit of a forward word]`: the index of its point.
    pub(crate) forward_points: [[u8; 32]; 2],
    /// `[circuit][bit of a backward word]`: the index of its point.
    pub(crate) backward_points: [[u8; 32]; 2],
    /// `[circuit][line][its stops]`: the points that they are.
    pub(crate) points_of_line: [[[u64; 1 << MAX_SIZE]; LINES]; 2],
    /// For each loop: bits of the forward lane whose point's other stop has the same bit in the backward
    /// lane; the same crossing point is nearest on both sides of the loop, then.
    pub(crate) facing: [u32; LOOPS],
    /// Likewise, where the bit in the backward lane lies half a circuit away.
    pub(crate) facing_half_round: [u32; LOOPS],
}

impl StopTables {
    /// The tables of two circuits, given by the indices of their points in walking order, on a board of
    /// `size` files and ranks.
    pub(crate) const fn new(size: usize, circuits: &[[u8; MAX_STOPS]; 2]) -> StopTables {
        let stops = LINES * size;
        let mut tables = StopTables {
            of_point: [Stops::NONE; GRID],
            of_rank: [[Stops::NONE; 1 << MAX_SIZE]; MAX_SIZE],
            forward_points: [[0; 32]; 2],
            backward_points: [[0; 32]; 2],
            points_of_line: [[[0; 1 << MAX_SIZE]; LINES]; 2],
            facing: [0; LOOPS],
            facing_half_round: [0; LOOPS],
        };
        let mut c = 0;
        while c < 2 {
            let mut stop = 0;
            while stop < stops {
                let point = circuits[c][stop] as usize;
                let (forward, backward) = (bit(stop, size), bit(stops - 1 - stop, size));
                tables.of_point[point].forward[c] |= 1 << forward;
                tables.of_point[point].backward[c] |= 1 << backward;
                tables.forward_points[c][forward] = point as u8;
                tables.backward_points[c][backward] = point as u8;
                let mut line = 0;
                while line < 1 << MAX_SIZE {
                    if line >> (stop % size) & 1 != 0 {
                        tables.points_of_line[c][stop / size][line] |= 1 << point;
                    }
                    line += 1;
                }

                let mut other = 0;
                while other < stops {
                    if other != stop && circuits[c][other] as usize == point {
                        // Turning by a line moves a circuit's crossings onto each other, so that
                        // each loop sees the same.
                        let facing = bit(stops - 1 - other, size);
                        let mut line = 0;
                        while line < LINES {
                            let lane = LINES * c + line;
                            if facing == forward {
                                tables.facing[lane] |= 1 << forward;
                            } else {
                                assert!(facing == (forward + 16) % 32);
                                tables.facing_half_round[lane] |= 1 << forward;
                            }
                            line += 1;
                        }
                    }
                    other += 1;
                }
                stop += 1;
            }
            c += 1;
        }

        let mut rank = 0;
        while rank < size {
            let mut row = 0;
            while row < 1 << MAX_SIZE {
                let mut file = 0;
                while file < size {
                    if row >> file & 1 != 0 {
                        let of_point = tables.of_point[WIDTH * rank + file];
                        tables.of_rank[rank][row].or_in(&of_point);
                    }
                    file += 1;
                }
                row += 1;
            }
            rank += 1;
        }
        tables
    }

    /// The stops of a set of points.
    #[inline(always)]
    pub(crate) fn of_set(&self, size: usize, set: u64) -> Stops {
        (0..size).fold(Stops::NONE, |stops, rank| {
            let row = (set >> (WIDTH * rank)) as usize % (1 << MAX_SIZE);
            stops.or(self.of_rank[rank][row])
        })
    }
}
