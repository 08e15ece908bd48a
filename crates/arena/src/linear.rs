//! Dense symmetric systems.

/// The Cholesky factor of a symmetric positive definite matrix: lower triangle, row by row.
pub(crate) struct Cholesky {
    n: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factors an `n` × `n` matrix, given row by row; `None` if it is not positive definite.
    pub(crate) fn new(n: usize, mut matrix: Vec<f64>) -> Option<Cholesky> {
        debug_assert_eq!(matrix.len(), n * n);
        for row in 0..n {
            for column in 0..=row {
                let (a, b) = (&matrix[row * n..][..column], &matrix[column * n..][..column]);
                let rest = matrix[row * n + column] - dot(a, b);
                matrix[row * n + column] = if column < row {
                    rest / matrix[column * n + column]
                } else if rest > 0.0 {
                    rest.sqrt()
                } else {
                    return None;
                };
            }
        }
        Some(Cholesky { n, lower: matrix })
    }

    /// The solution for one right-hand side, in its place.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        let (n, lower) = (self.n, &self.lower);
        for row in 0..n {
            let known = dot(&lower[row * n..][..row], &x[..row]);
            x[row] = (x[row] - known) / lower[row * n + row];
        }
        for row in (0..n).rev() {
            x[row] /= lower[row * n + row];
            let value = x[row];
            for (above, factor) in x[..row].iter_mut().zip(&lower[row * n..][..row]) {
                *above -= factor * value;
            }
        }
    }

    /// The inverse matrix, row by row.
    pub(crate) fn inverse(&self) -> Vec<f64> {
        let mut inverse = vec![0.0; self.n * self.n];
        for (k, row) in inverse.chunks_exact_mut(self.n.max(1)).enumerate() {
            row[k] = 1.0;
            self.solve(row);
        }
        inverse
    }
}

/// The product of two `n` × `n` matrices, of which the second is symmetric.
pub(crate) fn product(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut result = Vec::with_capacity(n * n);
    for row in 0..n {
        // The columns of a symmetric matrix are its rows.
        result.extend((0..n).map(|column| dot(&a[row * n..][..n], &b[column * n..][..n])));
    }
    result
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use surakarta_search::stream;

    use super::*;

    #[test]
    fn solutions_solve_and_inverses_invert() {
        let mut rng = stream(1, [0, 0, 0]);
        for n in 1..12 {
            let half: Vec<f64> = (0..n * n).map(|_| rng.random_range(-1.0..1.0)).collect();
            // A Aᵀ + 1 is symmetric and positive definite.
            let matrix: Vec<f64> = (0..n * n)
                .map(|k| dot(&half[k / n * n..][..n], &half[k % n * n..][..n]))
                .enumerate()
                .map(|(k, x)| if k / n == k % n { x + 1.0 } else { x })
                .collect();
            let cholesky = Cholesky::new(n, matrix.clone()).unwrap();
            let right: Vec<f64> = (0..n).map(|k| k as f64 - 2.0).collect();
            let mut x = right.clone();
            cholesky.solve(&mut x);
            for (row, wanted) in matrix.chunks(n).zip(&right) {
                assert!((dot(row, &x) - wanted).abs() < 1e-10);
            }
            let identity = product(n, &matrix, &cholesky.inverse());
            for (k, x) in identity.iter().enumerate() {
                assert!((x - f64::from(k / n == k % n)).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        assert!(Cholesky::new(2, vec![1.0, 2.0, 2.0, 1.0]).is_none());
    }
}
