//! For which players do the results determine finite ratings?
//!
//! The likelihood has a finite maximum exactly where no direction of the parameters makes every
//! result at least as likely: see A. Albert and J. A. Anderson, "On the existence of maximum
//! likelihood estimates in logistic regression models", Biometrika 71 (1984).

/// Results between each two players, seen by the one who moved first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meeting {
    /// Games.
    pub(crate) games: f64,
    /// Points of the one who moved first.
    pub(crate) score: f64,
    /// Games drawn.
    pub(crate) draws: f64,
}

/// Who can be compared with whom.
pub(crate) struct Connection {
    n: usize,
    /// `reach[i * n + j]`: a chain of players leads from i to j, in which each scored against the
    /// next.
    reach: Vec<bool>,
}

impl Connection {
    /// From the results of each ordered pair of `n` players, row by row; the row moved first. Players
    /// whose ratings are given can be compared with each other whatever their results.
    pub(crate) fn new(n: usize, meetings: &[Meeting], given: &[usize]) -> Connection {
        let mut reach = vec![false; n * n];
        for (k, meeting) in meetings.iter().enumerate() {
            let (first, second) = (k / n, k % n);
            reach[first * n + second] |= meeting.score > 0.0;
            reach[second * n + first] |= meeting.score < meeting.games;
        }
        for pair in given.windows(2) {
            reach[pair[0] * n + pair[1]] = true;
            reach[pair[1] * n + pair[0]] = true;
        }
        // Warshall's transitive closure.
        for via in 0..n {
            let row = reach[via * n..][..n].to_vec();
            for from in reach.chunks_exact_mut(n).filter(|from| from[via]) {
                for (known, new) in from.iter_mut().zip(&row) {
                    *known |= new;
                }
            }
        }
        Connection { n, reach }
    }

    /// Whether a chain of points leads from one player to another.
    pub(crate) fn reaches(&self, from: usize, to: usize) -> bool {
        self.reach[from * self.n + to]
    }

    /// Whether the difference between two players is finite.
    pub(crate) fn comparable(&self, a: usize, b: usize) -> bool {
        self.reaches(a, b) && self.reaches(b, a)
    }

    /// The groups of players with finite differences, two or more in each, by their first member.
    pub(crate) fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for player in 0..self.n {
            match groups.iter_mut().find(|group| self.comparable(group[0], player)) {
                Some(group) => group.push(player),
                None => groups.push(vec![player]),
            }
        }
        groups.retain(|group| group.len() > 1);
        groups
    }
}

/// Whether the advantage of the first move has one finite value that is most likely, given that only
/// games within groups count.
///
/// It has none where ratings exist under which a larger advantage (or a smaller one) makes no result
/// less likely. With the advantage at 1, a win of i over j asks for r_j ≤ r_i + 1, a loss for
/// r_i ≤ r_j − 1, a draw for both: such a system has a solution unless a cycle of its bounds is
/// negative, which Bellman's and Ford's algorithm finds. Ratings that are given do not move with the
/// advantage, and games of the `neutral` player have none.
pub(crate) fn bounds_advantage(
    n: usize,
    meetings: &[Meeting],
    given: &[usize],
    neutral: Option<usize>,
) -> bool {
    [1, -1].into_iter().all(|advantage| {
        // (from, to, length): r_to ≤ r_from + length.
        let mut bounds: Vec<(usize, usize, i64)> = Vec::new();
        for (k, meeting) in meetings.iter().enumerate() {
            let (first, second) = (k / n, k % n);
            let is_neutral = neutral.is_some_and(|player| [first, second].contains(&player));
            let advantage = if is_neutral { 0 } else { advantage };
            if meeting.score > 0.0 {
                bounds.push((first, second, advantage));
            }
            if meeting.score < meeting.games {
                bounds.push((second, first, -advantage));
            }
        }
        for pair in given.windows(2) {
            bounds.extend([(pair[0], pair[1], 0), (pair[1], pair[0], 0)]);
        }
        let mut distance = vec![0; n];
        let mut relax = || {
            let mut changed = false;
            for &(from, to, length) in &bounds {
                let through = distance[from] + length;
                changed |= through < distance[to];
                distance[to] = through.min(distance[to]);
            }
            changed
        };
        // Without a negative cycle nothing changes after n rounds.
        (0..=n).all(|_| relax())
    })
}
