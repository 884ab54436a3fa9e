//! The published heat map. The only copy is in `data`, as CSV with its source in the first lines.

/// Where the numbers come from.
pub(crate) const SOURCE: &str = "Wu, Arpaci-Dusseau, Arpaci-Dusseau: \"Towards an Unwritten Contract of Intel Optane SSD\" (HotStorage'19)";

const READS: &str = include_str!("../../../data/optane_vs_flash_read_heatmap.csv");

/// A cell of the published map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PublishedCell {
    pub(super) request_bytes: u64,
    pub(super) depth: u64,
    /// By which share the slower device's mean latency is above the faster one's; negative where
    /// Optane is the slower one.
    pub(super) t: f64,
    /// Value and place are read from the source; of other cells the value or the place is inferred.
    pub(super) is_certain: bool,
}

pub(super) fn cells() -> impl Iterator<Item = PublishedCell> {
    READS.lines().filter_map(|line| {
        let mut fields = line.split(',').map(str::trim);
        let kib: u64 = fields.next()?.parse().ok()?;
        Some(PublishedCell {
            request_bytes: kib << 10,
            depth: fields.next()?.parse().ok()?,
            t: fields.next()?.parse().ok()?,
            is_certain: fields.next()? == "certain",
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_cell_is_read() {
        assert_eq!(cells().count(), 49);
        assert_eq!(cells().filter(|cell| cell.is_certain).count(), 31);
        let first = PublishedCell {
            request_bytes: 256 << 10,
            depth: 1,
            t: 1.7,
            is_certain: true,
        };
        assert_eq!(cells().next(), Some(first));
    }
}
