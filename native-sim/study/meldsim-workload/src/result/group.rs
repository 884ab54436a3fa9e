//! What became of a part of a workload: the requests for blocks that have something in common.

/// A read belongs to the random ones when the run of reads that it is part of has fewer bytes than this.
pub const RANDOM_BELOW_BYTES: u64 = 1 << 20;

/// What became of one group's requests.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// What its blocks have in common, such as `directory 16386`, `client balancer` or `volume hm.0`.
    pub name: String,
    /// Reads.
    pub reads: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Of the reads, those of runs shorter than [`RANDOM_BELOW_BYTES`].
    pub random_reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes of the writes.
    pub written_bytes: u64,
    /// Of the reads and writes, those of blocks said to be read sequentially.
    pub sequential_hints: u64,
    /// For each interval of the trace, the latencies of the reads, added up.
    pub read_ps: Vec<u128>,
    /// The same of the writes.
    pub write_ps: Vec<u128>,
    /// Bytes of reads outstanding, each as long as it was.
    pub outstanding_byte_ps: u128,
    /// Time in which a block had reads outstanding, added up over blocks.
    pub reader_ps: u128,
}

impl Group {
    /// The bytes that a reader of one block had outstanding, in the mean over the time it had any.
    pub fn window_bytes(&self) -> f64 {
        self.outstanding_byte_ps as f64 / (self.reader_ps as f64).max(1.0)
    }

    /// Share of the reads that are random.
    pub fn random_percent(&self) -> f64 {
        100.0 * self.random_reads as f64 / (self.reads as f64).max(1.0)
    }
}
