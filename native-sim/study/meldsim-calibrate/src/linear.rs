//! Small systems of linear equations: normal equations of a few parameters.

/// A symmetric matrix of `n` rows, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Symmetric {
    n: usize,
    cells: Vec<f64>,
}

impl Symmetric {
    /// `Jt W J` of rows `J` with weights `W`.
    pub(super) fn normal(rows: &[Vec<f64>], weights: &[f64], n: usize) -> Symmetric {
        let mut cells = vec![0.0; n * n];
        for (row, weight) in rows.iter().zip(weights) {
            for i in 0..n {
                for j in 0..n {
                    cells[i * n + j] += weight * row[i] * row[j];
                }
            }
        }
        Symmetric { n, cells }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.n + column]
    }

    /// With `share` of each diagonal cell on top of it, and never nothing on it.
    pub(super) fn damped(&self, share: f64) -> Symmetric {
        const LEAST: f64 = 1e-9;
        let mut damped = self.clone();
        for i in 0..self.n {
            damped.cells[i * self.n + i] += share * self.at(i, i) + LEAST;
        }
        damped
    }

    /// The inverse; `None` of a matrix that is not positive definite.
    pub(super) fn inverse(&self) -> Option<Symmetric> {
        let columns = (0..self.n).map(|column| {
            let unit: Vec<f64> = (0..self.n)
                .map(|row| f64::from(u8::from(row == column)))
                .collect();
            self.solve(&unit)
        });
        let columns: Vec<Vec<f64>> = columns.collect::<Option<_>>()?;
        // It is symmetric: columns are rows.
        Some(Symmetric {
            n: self.n,
            cells: columns.concat(),
        })
    }

    /// The solution for a right side, by Cholesky's factors; `None` of a matrix that is not positive definite.
    pub(super) fn solve(&self, right: &[f64]) -> Option<Vec<f64>> {
        let n = self.n;
        let mut factor = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
                let rest = self.at(i, j) - sum;
                factor[i * n + j] = match i == j {
                    true if rest > 0.0 => libm::sqrt(rest),
                    true => return None,
                    false => rest / factor[j * n + j],
                };
            }
        }
        let mut solution = right.to_vec();
        for i in 0..n {
            let sum: f64 = (0..i).map(|k| factor[i * n + k] * solution[k]).sum();
            solution[i] = (solution[i] - sum) / factor[i * n + i];
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|k| factor[k * n + i] * solution[k]).sum();
            solution[i] = (solution[i] - sum) / factor[i * n + i];
        }
        Some(solution)
    }
}

/// `Jt W r`.
pub(super) fn gradient(
    rows: &[Vec<f64>],
    weights: &[f64],
    residuals: &[f64],
    n: usize,
) -> Vec<f64> {
    let mut gradient = vec![0.0; n];
    for ((row, weight), residual) in rows.iter().zip(weights).zip(residuals) {
        for (sum, cell) in gradient.iter_mut().zip(row) {
            *sum += weight * cell * residual;
        }
    }
    gradient
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_is_found_and_its_inverse_is_right() {
        // y = 2 + 3 x, the last point with little weight and far off.
        let rows: Vec<Vec<f64>> = [0.0, 1.0, 2.0, 3.0].map(|x| vec![1.0, x]).to_vec();
        let (y, weights) = ([2.0, 5.0, 8.0, 100.0], [1.0, 1.0, 1.0, 0.0]);
        let normal = Symmetric::normal(&rows, &weights, 2);
        let line = normal.solve(&gradient(&rows, &weights, &y, 2)).unwrap();
        assert!((line[0] - 2.0).abs() < 1e-9 && (line[1] - 3.0).abs() < 1e-9);
        let inverse = normal.inverse().unwrap();
        let one: f64 = (0..2).map(|k| normal.at(0, k) * inverse.at(k, 0)).sum();
        assert!((one - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_has_no_one_solution_has_none_until_it_is_damped() {
        let rows = vec![vec![1.0, 1.0]; 3];
        let normal = Symmetric::normal(&rows, &[1.0; 3], 2);
        assert_eq!(normal.inverse(), None);
        assert!(normal.damped(0.01).inverse().is_some());
    }
}
