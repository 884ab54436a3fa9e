//! What the options of a job say that it did.

use super::json::Job;

impl Job {
    pub(super) fn option(&self, names: &[&str]) -> Option<&str> {
        let found = names.iter().find_map(|name| self.options.get(*name));
        found.map(|text| text.trim())
    }

    /// `randread`, `write`, ...; none when an offset or a number follows, as that is another order.
    pub(super) fn access(&self) -> &str {
        self.option(&["rw", "readwrite"]).unwrap_or("read")
    }

    /// Bytes of a request; none when there are several sizes.
    pub(super) fn block(&self) -> Option<u64> {
        let several = ["bsrange", "blocksize_range", "bssplit"];
        match self.option(&several) {
            Some(_) => None,
            None => size(self.option(&["bs", "blocksize"]).unwrap_or("4k")),
        }
    }

    /// What is outstanding; engines that wait have one.
    pub(super) fn depth(&self) -> Option<u64> {
        let waits = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];
        match waits.contains(&self.engine()) {
            true => Some(1),
            false => self.option(&["iodepth"]).map_or(Some(1), size),
        }
    }

    pub(super) fn engine(&self) -> &str {
        self.option(&["ioengine"]).unwrap_or("psync")
    }

    /// Equal jobs that this entry stands for.
    pub(super) fn threads(&self) -> u64 {
        let is_joined = self
            .option(&["group_reporting"])
            .is_some_and(|text| text != "0");
        let count = self.option(&["numjobs"]).and_then(size).unwrap_or(1);
        if is_joined {
            count.clamp(1, 1 << 20)
        } else {
            1
        }
    }

    /// Requests a second of reads and of writes that are asked for; none when the loop is closed.
    pub(super) fn rate_iops(&self) -> Option<[f64; 2]> {
        if let Some(text) = self.option(&["rate_iops"]) {
            return pair(text, 1000);
        }
        let block = self.block()? as f64;
        let rates = pair(self.option(&["rate"])?, 1024)?;
        Some(rates.map(|bytes| bytes / block))
    }

    pub(super) fn is_rated(&self) -> bool {
        self.option(&["rate", "rate_iops"]).is_some()
    }

    pub(super) fn read_percent(&self) -> f64 {
        let number = |text: &str| text.parse::<f64>().ok();
        if let Some(writes) = self.option(&["rwmixwrite"]).and_then(number) {
            return 100.0 - writes;
        }
        self.option(&["rwmixread"]).and_then(number).unwrap_or(50.0)
    }

    /// Bytes of the region.
    pub(super) fn region(&self, capacity: Option<u64>) -> Option<u64> {
        let Some(text) = self.option(&["size"]) else {
            return capacity;
        };
        match text.strip_suffix('%') {
            Some(percent) => {
                let percent = percent.parse::<f64>().ok()?;
                Some((capacity? as f64 * percent / 100.0) as u64)
            }
            None => size(text),
        }
    }

    /// Seconds of a pause.
    pub(super) fn pause_s(&self) -> Option<f64> {
        let text = self.option(&["thinktime"])?;
        let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0)];
        let unit = units.iter().find(|(name, _)| text.ends_with(name));
        let (number, unit) = unit.map_or((text, 1e-6), |(name, unit)| {
            (text.trim_end_matches(name), *unit)
        });
        number.parse::<f64>().ok().map(|number| number * unit)
    }
}

/// A size in fio's syntax, `k` being 1024.
pub(super) fn size(text: &str) -> Option<u64> {
    scaled(text, 1024).map(|number| number as u64)
}

fn scaled(text: &str, kilo: u64) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.trim_end_matches('b').trim_end_matches('i');
    let units = ["k", "m", "g", "t", "p"];
    let unit = (1..).zip(units).find(|(_, unit)| text.ends_with(unit));
    let (number, times) = match unit {
        Some((power, unit)) => (text.trim_end_matches(unit), kilo.pow(power) as f64),
        None => (text, 1.0),
    };
    let number = number.parse::<f64>().ok()?;
    (number.is_finite() && number >= 0.0 && number * times < 1e18).then_some(number * times)
}

fn pair(text: &str, kilo: u64) -> Option<[f64; 2]> {
    let mut fields = text.split(',');
    let of = |text: &str| match text {
        "" => Some(0.0),
        text => scaled(text, kilo),
    };
    let reads = of(fields.next()?)?;
    let writes = fields.next().map_or(Some(reads), of)?;
    Some([reads, writes])
}
