use super::*;

/// Two jobs of one group, as fio 3.33 writes them.
const READS: &str = r#"note: a line of fio
{"fio version": "fio-3.33", "global options": {"ioengine": "io_uring", "rw": "randread"},
 "jobs": [
  {"jobname": "a", "groupid": 0, "error": 0, "job options": {"bs": "4k", "iodepth": "16", "numjobs": "2"},
   "read": {"io_bytes": 8192, "iops": 10.5, "runtime": 1000, "total_ios": 2,
    "lat_ns": {"min": 1000, "max": 3000, "mean": 2000.0, "N": 2, "percentile": {"50.000000": 1000}, "bins": {"1000": 1, "3000": 1}}}},
  {"jobname": "a", "groupid": 0, "error": 0, "job options": {"bs": "4k", "iodepth": "16", "numjobs": "2"},
   "read": {"io_bytes": 8192, "iops": 10, "runtime": 1000, "total_ios": 2,
    "lat_ns": {"min": 5000, "max": 7000, "mean": 6000.0, "N": 2, "percentile": {"50.000000": 5000}, "bins": {"5000": 1, "7000": 1}}}}]}"#;

fn read(text: &str) -> Result<Measured, String> {
    tables(
        &[("x.json".to_owned(), text.to_owned())],
        "mine",
        Some(1 << 30),
    )
}

#[test]
fn equal_jobs_are_joined_by_their_bins() {
    let measured = read(READS).unwrap();
    let row = &measured.tables[0].rows[0];
    assert_eq!(measured.tables[0].file, "read_latency_by_depth.csv");
    assert_eq!(row.measured("iops"), Ok(Some(20.5)));
    assert_eq!(row.count("threads"), Ok(2));
    assert_eq!(row.measured("mean_us"), Ok(Some(4.0)));
    assert_eq!(row.measured("p50_us"), Ok(Some(3.0)));
    assert_eq!(row.measured("p99_us"), Ok(Some(7.0)));
    let error = read(&READS.replace("bins", "other")).unwrap_err();
    assert!(error.contains("x.json: job a: lat_ns: bins"), "{error}");
}

#[test]
fn no_text_panics() {
    for end in 0..READS.len() {
        let _ = read(&READS[..end]);
        for other in ["0", "\"", "-", "{", "9e99"] {
            let mut text = READS.to_owned();
            text.replace_range(end..=end, other);
            let _ = read(&text);
        }
    }
}
