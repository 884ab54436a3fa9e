//! Quantiles of a few values.

/// The value that such a share of the values does not exceed, the nearest there is; of two in the middle the upper one.
pub(super) fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    values.get((share * last as f64).round() as usize).copied()
}
