//! DataNodes of the tests' own, and the server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use serde_json::{Value, json};

/// What a DataNode counts in one look: it grows by that from look to look. What does not grow is below.
const GROWTH: [(&str, i64); 9] = [
    ("now_ps", 1_000_000_000_000),
    ("read_commands", 100),
    ("write_commands", 40),
    ("host_read_bytes", 100 << 20),
    ("host_written_bytes", 30 << 20),
    ("programmed_bytes", 75 << 20),
    ("read_latency_ps", 100 * 90_000_000),
    ("die_busy_ps", 32_000_000_000_000),
    ("channel_busy_ps", 2_000_000_000_000),
];
const STEADY: [(&str, i64); 16] = [
    ("dies", 64),
    ("channels", 8),
    ("outstanding_commands", 3),
    ("read_latency_p50_ps", 80_000_000),
    ("read_latency_p99_ps", 1_250_000_000),
    ("read_latency_p999_ps", 2_400_000_000),
    ("write_latency_p50_ps", 700_000_000),
    ("write_latency_p99_ps", 1_900_000_000),
    ("write_latency_p999_ps", 3_100_000_000),
    ("mapped_pages", 100),
    ("melded_mapped_pages", 25),
    ("free_blocks", 12_345),
    ("hints_explicit", 6),
    ("hints_history", 3),
    ("hints_full_block", 40),
    ("hints_none", 1),
];

/// The bean of a volume with a device of its own, at so many looks.
pub(crate) fn volume(folder: &str, look: i64) -> Value {
    let growth = GROWTH.map(|(key, value)| json!({"key": key, "value": value * look}));
    let steady = STEADY.map(|(key, value)| json!({"key": key, "value": value}));
    let counters = [growth.to_vec(), steady.to_vec()].concat();
    json!({
        "name": format!("Hadoop:service=DataNode,name=MeldVolume-{folder}"), "Volume": folder, "Device": "",
        "Profile": "melded-tlc-8x8", "Mode": "real-time", "TimeDilation": 100.0, "Healthy": true, "LastError": "",
        "Counters": counters,
    })
}

/// A DataNode whose answer to each look is what a function makes of its number, from 1 on. Its address.
pub(crate) fn datanode(
    status: &'static str,
    beans: impl Fn(i64) -> Vec<Value> + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for look in 1.. {
            let (mut stream, _) = listener.accept().unwrap();
            let Some(request) = request(&mut stream) else {
                continue;
            };
            assert!(
                request.starts_with("GET /jmx?qry=Hadoop:service=DataNode,name=Meld*"),
                "{request}"
            );
            let body = json!({ "beans": beans(look) }).to_string();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            // Whoever asked may be gone.
            drop(stream.write_all((head + &body).as_bytes()));
        }
    });
    address
}

fn request(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        request.push(byte[0]);
    }
    String::from_utf8(request).ok()
}

/// One that takes connections and never says a word. Its address, and how many it took.
pub(crate) fn silent() -> (String, Arc<AtomicI64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let taken = Arc::new(AtomicI64::new(0));
    let count = Arc::clone(&taken);
    thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            open.push(stream.unwrap());
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    (address, taken)
}

/// `meld-top --listen`, at a port of its own; it ends with this.
pub(crate) struct Server {
    process: Child,
    /// `http://HOST:PORT/`.
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_meld-top"))
            .args(["--listen", "127.0.0.1:0", "--interval", "0.2"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let output = process.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut url).unwrap();
        Server {
            process,
            url: url.trim_end().to_owned(),
        }
    }

    /// What is served as soon as it is so.
    pub(crate) fn devices_when(&self, is_so: impl Fn(&Value) -> bool) -> Value {
        loop {
            let usage = self.devices();
            if is_so(&usage) {
                return usage;
            }
        }
    }

    /// What is served of so many devices, as soon as all of them were looked at twice.
    pub(crate) fn devices_of(&self, count: usize) -> Value {
        self.devices_when(|usage| {
            let devices = usage["devices"].as_array().unwrap();
            let is_rated = |device: &Value| device["read_iops"].as_f64().unwrap() > 0.0;
            devices.len() == count && devices.iter().all(is_rated)
        })
    }

    fn devices(&self) -> Value {
        let mut answer = ureq::get(format!("{}devices.json", self.url))
            .call()
            .unwrap();
        serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
