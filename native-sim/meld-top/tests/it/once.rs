//! The program against web servers of the test's own.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use assert_cmd::Command;

const COUNTERS: [(&str, i64); 6] = [
    ("now_ps", 1_000_000_000_000),
    ("read_commands", 100),
    ("host_read_bytes", 100 << 20),
    ("dies", 64),
    ("die_busy_ps", 32_000_000_000_000),
    ("reader_wait_ns", 1_000_000_000),
];

/// A DataNode that answers twice; what it counts grows by as much as it was. Its address.
fn datanode(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for look in 1..=2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            let request = String::from_utf8(request).unwrap();
            assert!(
                request.starts_with("GET /jmx?qry=Hadoop:service=DataNode,name=Meld*"),
                "{request}"
            );
            let counters = COUNTERS.map(|(key, value)| {
                let value = if key == "dies" { value } else { value * look };
                serde_json::json!({"key": key, "value": value})
            });
            let bean = serde_json::json!({
                "name": "Hadoop:service=DataNode,name=MeldVolume-DS-1", "Volume": "/data/1", "Device": "",
                "Profile": "melded-tlc-8x8", "Mode": "real-time", "TimeDilation": 100.0, "Healthy": true,
                "LastError": "", "Counters": counters,
            });
            let body = serde_json::json!({ "beans": [bean] }).to_string();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    address
}

fn top(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("meld-top").unwrap();
    command
        .args(["--once", "--interval", "0.5"])
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn json_has_what_the_datanode_counts_and_who_did_not_answer() {
    let (address, silent) = (datanode("200 OK"), datanode("503 Service Unavailable"));
    let output = top(&["--format", "json", &address, &silent]);
    assert!(output.status.success(), "{output:?}");
    let usage: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(usage["schema_version"], 1);
    let device = &usage["devices"][0];
    assert_eq!(device["datanode"], address.as_str());
    assert_eq!(device["dies_busy"], 0.5);
    assert_eq!(device["simulated_read_mib_s"], 100.0);
    // By wall time, so as exact as the clock: half a second and what the machine takes.
    let seconds = usage["seconds"].as_f64().unwrap();
    assert!(seconds >= 0.5, "{seconds}");
    let read = device["read_mib_s"].as_f64().unwrap();
    assert!((99.0 / seconds..=200.0).contains(&read), "{read}");
    let trouble = usage["troubles"][0].as_str().unwrap();
    assert!(
        trouble.starts_with(&silent) && trouble.contains("503"),
        "{trouble}"
    );
}

#[test]
fn text_has_a_line_for_each_device() {
    let output = top(&[&datanode("200 OK")]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(
        text.lines()
            .nth(1)
            .unwrap()
            .starts_with("127.0.0.1 /data/1"),
        "{text}"
    );
}

#[test]
fn no_answer_at_all_is_an_error_that_names_the_datanode() {
    // A port of which nobody else has hold.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let output = top(&[&address]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("no DataNode answers") && error.contains(&address),
        "{error}"
    );
}
