//! Which points a layer of a tower sees from each point.

use std::collections::HashMap;

use surakarta_game::{Variant, board::points};

/// The rows that the taps of a layer read, for every point. Rows are the vectors of channels of the
/// points by [`Variant::point_index`], then one that is always 0, then sums of two points.
#[derive(Clone, Debug, Default)]
pub(super) struct Taps {
    size: usize,
    /// Row by tap, then by point.
    rows: Vec<u16>,
    /// By tap, then by rank: whether a point of this rank sees anything through this tap.
    live: Vec<bool>,
    /// Pairs of points whose sums are the rows after the one that is 0.
    sums: Vec<[u16; 2]>,
}

impl Taps {
    /// Every point sees itself: one tap.
    pub(super) fn point(variant: Variant) -> Taps {
        let mut taps = Taps { size: variant.size(), ..Taps::default() };
        taps.tap(|point| vec![point], &mut HashMap::new());
        taps
    }

    /// The 3×3 points around each, as a convolution's kernel has them: nine taps, rank by rank.
    pub(super) fn board(variant: Variant) -> Taps {
        let size = variant.size() as isize;
        let mut taps = Taps { size: variant.size(), ..Taps::default() };
        for (rank_step, file_step) in (-1..=1).flat_map(|r| (-1..=1).map(move |f| (r, f))) {
            let neighbour = |point: usize| {
                let (rank, file) =
                    (point as isize / size + rank_step, point as isize % size + file_step);
                let inside = (0..size).contains(&rank) && (0..size).contains(&file);
                inside.then_some((rank * size + file) as usize).into_iter().collect()
            };
            taps.tap(neighbour, &mut HashMap::new());
        }
        taps
    }

    /// The 3×3 points around each, then the stops up to `reach` before and behind it along the
    /// circuits.
    pub(super) fn board_and_circuits(variant: Variant, reach: usize) -> Taps {
        let mut taps = Taps::board(variant);
        let index = |point| variant.point_index(point).expect("a point of the board");
        let circuits = [0, 1].map(|c| variant.circuit(c).map(index).collect::<Vec<_>>());
        let mut sums = HashMap::new();
        for tap in 0..=2 * reach {
            let seen = |point: usize| {
                let mut seen = Vec::new();
                for stops in &circuits {
                    let n = stops.len();
                    let visits = (0..n).filter(|&stop| stops[stop] == point);
                    seen.extend(visits.map(|stop| stops[(stop + n + tap - reach) % n]));
                }
                seen
            };
            taps.tap(seen, &mut sums);
        }
        taps
    }

    /// Adds a tap through which each point sees none, one or the sum of two points.
    fn tap(&mut self, seen: impl Fn(usize) -> Vec<usize>, sums: &mut HashMap<[u16; 2], u16>) {
        let zero = (self.size * self.size) as u16;
        let row = |point: usize| match seen(point)[..] {
            [] => zero,
            [one] => one as u16,
            [a, b] => {
                let pair = [a.min(b) as u16, a.max(b) as u16];
                *sums.entry(pair).or_insert_with(|| {
                    self.sums.push(pair);
                    zero + self.sums.len() as u16
                })
            }
            _ => unreachable!("circuits pass a point twice at most"),
        };
        let rows: Vec<u16> = (0..self.size * self.size).map(row).collect();
        self.live.extend(rows.chunks(self.size).map(|rank| rank.iter().any(|&row| row != zero)));
        self.rows.extend(rows);
    }

    /// Points along an edge of the board.
    #[inline(always)]
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// How many taps there are.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.live.len() / self.size
    }

    /// The rows that so many points from `first` on see through a tap; none if no point of that rank
    /// sees anything.
    #[inline(always)]
    pub(super) fn rows<const POINTS: usize>(
        &self,
        tap: usize,
        first: usize,
    ) -> Option<&[u16; POINTS]> {
        if !self.live[tap * self.size + first / self.size] {
            return None;
        }
        let at = tap * self.size * self.size + first;
        self.rows[at..].first_chunk()
    }

    /// The pairs of points whose sums are rows: the first one is row points + 1.
    pub(super) fn sums(&self) -> &[[u16; 2]] {
        &self.sums
    }
}

/// The point index of each grid index, for moves; what lies beside the board is 0.
pub(super) fn point_of_grid(variant: Variant) -> [u8; surakarta_game::board::GRID] {
    let mut index = [0; surakarta_game::board::GRID];
    for point in points(variant.board()) {
        index[point.index()] = variant.point_index(point).unwrap_or(0) as u8;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The points that a point sees through a tap, by the table.
    fn seen(taps: &Taps, tap: usize, point: usize) -> Vec<u16> {
        let points = taps.size * taps.size;
        let row = taps.rows[tap * points + point];
        match (row as usize).checked_sub(points) {
            None => vec![row],
            Some(0) => vec![],
            Some(sum) => taps.sums[sum - 1].to_vec(),
        }
    }

    #[test]
    fn taps_see_neighbours() {
        let taps = Taps::board(Variant::Standard);
        assert_eq!(taps.len(), 9);
        // b2: index 7.
        let around: Vec<_> = (0..9).flat_map(|tap| seen(&taps, tap, 7)).collect();
        assert_eq!(around, [0, 1, 2, 6, 7, 8, 12, 13, 14]);
        // a1 sees nothing to its left and below.
        let corner: Vec<_> = (0..9).map(|tap| seen(&taps, tap, 0)).collect();
        assert_eq!(corner.iter().flatten().collect::<Vec<_>>(), [&0, &1, &6, &7]);
        assert_eq!(corner[4], [0]);
        // The lowest rank sees nothing through the taps below it.
        assert!((0..3).all(|tap| taps.rows::<6>(tap, 0).is_none()));
        assert!((0..3).all(|tap| taps.rows::<6>(tap, 6).is_some()));
    }

    #[test]
    fn taps_walk_the_circuits() {
        for variant in Variant::ALL {
            let reach = 3;
            let taps = Taps::board_and_circuits(variant, reach);
            assert_eq!(taps.len(), 9 + 7);
            // By the stops themselves, one after the other.
            let points = variant.points();
            let mut expected = vec![Vec::new(); 7 * points];
            for circuit in 0..2 {
                let stops: Vec<_> = variant.circuit(circuit).collect();
                for (at, &stop) in stops.iter().enumerate() {
                    for tap in 0..7 {
                        let other = stops[(at + stops.len() + tap - reach) % stops.len()];
                        let index = |point| variant.point_index(point).unwrap();
                        expected[tap * points + index(stop)].push(index(other) as u16);
                    }
                }
            }
            let sorted = |mut points: Vec<u16>| {
                points.sort_unstable();
                points
            };
            for (place, expected) in expected.into_iter().enumerate() {
                let found = seen(&taps, 9 + place / points, place % points);
                assert_eq!(sorted(found), sorted(expected), "{variant} {place}");
            }
        }
    }
}
