//! The slow and obvious counterpart of the rating solver.

use surakarta_arena::{Clusters, RatedGame};

const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// How the log-odds of a game depend on the ratings, and at the end the advantage.
fn design(players: usize, game: &RatedGame, advantage: bool) -> Vec<f64> {
    let mut row = vec![0.0; players + usize::from(advantage)];
    row[game.first] = 1.0;
    row[game.second] = -1.0;
    if advantage {
        row[players] = 1.0;
    }
    row
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn expected(row: &[f64], values: &[f64]) -> f64 {
    1.0 / (1.0 + (-dot(row, values)).exp())
}

/// Ratings and advantage in Elo, and their covariance.
pub(crate) struct Twin {
    pub(crate) elo: Vec<f64>,
    covariance: Vec<Vec<f64>>,
}

impl Twin {
    /// Half the 95 % interval of a combination of ratings.
    pub(crate) fn error(&self, combination: &[(usize, f64)]) -> f64 {
        let mut variance = 0.0;
        for &(a, x) in combination {
            for &(b, y) in combination {
                variance += x * y * self.covariance[a][b];
            }
        }
        1.959_963_984_540_054 * ELO * variance.max(0.0).sqrt()
    }
}

/// Each rating in turn is set by bisection so that its player's expected score is the one obtained,
/// until all are; second derivatives are taken by finite differences, with the last player held.
pub(crate) fn rate(
    players: usize,
    games: &[RatedGame],
    advantage: bool,
    clusters: Clusters,
) -> Twin {
    let rows: Vec<Vec<f64>> = games.iter().map(|g| design(players, g, advantage)).collect();
    let size = players + usize::from(advantage);
    let free: Vec<usize> = (0..size).filter(|&k| k != players - 1).collect();
    let gradient = |values: &[f64], k: usize| -> f64 {
        let concerned = games.iter().zip(&rows).filter(|(_, row)| row[k] != 0.0);
        concerned.map(|(g, row)| row[k] * (g.score - expected(row, values))).sum()
    };
    let mut values = vec![0.0; size];
    for _ in 0..10_000 {
        let before = values.clone();
        for &k in &free {
            let (mut low, mut high) = (values[k] - 1.0, values[k] + 1.0);
            for _ in 0..36 {
                values[k] = (low + high) / 2.0;
                if gradient(&values, k) > 0.0 { low = values[k] } else { high = values[k] }
            }
        }
        if values.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-10) {
            break;
        }
    }
    let step = 1e-5;
    let hessian: Vec<Vec<f64>> = free
        .iter()
        .map(|&a| {
            let slope = |&b: &usize| {
                let at = |sign: f64| {
                    let mut moved = values.clone();
                    moved[b] += sign * step;
                    gradient(&moved, a)
                };
                (at(-1.0) - at(1.0)) / (2.0 * step)
            };
            free.iter().map(slope).collect()
        })
        .collect();
    let inverse = invert(hessian);
    // The score of each cluster, by comparing every game with every other.
    let mut squares = vec![vec![0.0; free.len()]; free.len()];
    for (i, (g, row)) in games.iter().zip(&rows).enumerate() {
        for (j, (h, other)) in games.iter().zip(&rows).enumerate() {
            let together = i == j || clusters == Clusters::Pairs && g.pair == h.pair;
            if !together {
                continue;
            }
            let surprise =
                (g.score - expected(row, &values)) * (h.score - expected(other, &values));
            for (a, &p) in free.iter().enumerate() {
                for (b, &q) in free.iter().enumerate() {
                    squares[a][b] += row[p] * other[q] * surprise;
                }
            }
        }
    }
    let held = multiply(&multiply(&inverse, &squares), &inverse);
    // From the last player at zero to the mean at zero.
    let centre: Vec<Vec<f64>> = (0..size)
        .map(|k| {
            let of = |&f: &usize| match (k < players, f < players) {
                (true, true) => f64::from(k == f) - 1.0 / players as f64,
                _ => f64::from(k == f),
            };
            free.iter().map(of).collect()
        })
        .collect();
    let covariance = multiply(&multiply(&centre, &held), &transpose(&centre));
    let kept: Vec<f64> = free.iter().map(|&k| values[k]).collect();
    Twin { elo: centre.iter().map(|row| ELO * dot(row, &kept)).collect(), covariance }
}

/// Which combinations of ratings the results determine, found with two weak priors: what has a
/// finite answer hardly depends on them, what has none grows as they vanish.
pub(crate) struct Finite {
    strong: Vec<f64>,
    weak: Vec<f64>,
    /// Games whose results are not certain under the weak prior.
    rows: Vec<Vec<f64>>,
}

impl Finite {
    pub(crate) fn new(players: usize, games: &[RatedGame], advantage: bool) -> Finite {
        let rows: Vec<Vec<f64>> = games.iter().map(|g| design(players, g, advantage)).collect();
        let size = players + usize::from(advantage);
        let fit = |prior: f64| {
            let mut values = vec![0.0; size];
            for _ in 0..400 {
                let mut gradient: Vec<f64> = values.iter().map(|x| -prior * x).collect();
                let mut hessian = vec![vec![0.0; size]; size];
                for (k, line) in hessian.iter_mut().enumerate() {
                    line[k] = prior;
                }
                for (game, row) in games.iter().zip(&rows) {
                    let p = expected(row, &values);
                    for a in 0..size {
                        gradient[a] += row[a] * (game.score - p);
                        for b in 0..size {
                            hessian[a][b] += row[a] * row[b] * p * (1.0 - p);
                        }
                    }
                }
                let inverse = invert(hessian);
                let step: Vec<f64> = inverse.iter().map(|line| dot(line, &gradient)).collect();
                let longest = step.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                for (value, step) in values.iter_mut().zip(&step) {
                    *value += step / longest.max(1.0);
                }
                if longest < 1e-9 {
                    break;
                }
            }
            values
        };
        let (strong, weak) = (fit(1e-5), fit(1e-9));
        let uncertain = |row: &Vec<f64>| {
            let p = expected(row, &weak);
            p * (1.0 - p) > 1e-4
        };
        let rows = rows.into_iter().filter(uncertain).collect();
        Finite { strong, weak, rows }
    }

    pub(crate) fn is_finite(&self, combination: &[(usize, f64)]) -> bool {
        let mut row = vec![0.0; self.weak.len()];
        for &(k, x) in combination {
            row[k] = x;
        }
        let grows = (dot(&row, &self.weak) - dot(&row, &self.strong)).abs() > 0.5;
        let mut more = self.rows.clone();
        more.push(row);
        !grows && rank(more) == rank(self.rows.clone())
    }
}

fn transpose(m: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..m[0].len()).map(|k| m.iter().map(|row| row[k]).collect()).collect()
}

fn multiply(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let columns = transpose(b);
    a.iter().map(|row| columns.iter().map(|column| dot(row, column)).collect()).collect()
}

/// Gauss's and Jordan's elimination with the largest pivot; what it leaves, and its rank.
fn eliminate(mut m: Vec<Vec<f64>>, columns: usize) -> (Vec<Vec<f64>>, usize) {
    let mut rank = 0;
    for column in 0..columns {
        let Some(pivot) = (rank..m.len())
            .max_by(|&a, &b| m[a][column].abs().total_cmp(&m[b][column].abs()))
            .filter(|&row| m[row][column].abs() > 1e-12)
        else {
            continue;
        };
        m.swap(rank, pivot);
        let scale = m[rank][column];
        m[rank].iter_mut().for_each(|x| *x /= scale);
        let line = m[rank].clone();
        for (_, row) in m.iter_mut().enumerate().filter(|(k, _)| *k != rank) {
            let factor = row[column];
            row.iter_mut().zip(&line).for_each(|(x, y)| *x -= factor * y);
        }
        rank += 1;
    }
    (m, rank)
}

fn rank(m: Vec<Vec<f64>>) -> usize {
    let columns = m.first().map_or(0, Vec::len);
    eliminate(m, columns).1
}

fn invert(m: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = m.len();
    let beside = m.into_iter().enumerate().map(|(k, mut row)| {
        row.extend((0..n).map(|j| f64::from(j == k)));
        row
    });
    let (solved, rank) = eliminate(beside.collect(), n);
    assert_eq!(rank, n, "a singular matrix");
    solved.into_iter().map(|row| row[n..].to_vec()).collect()
}
