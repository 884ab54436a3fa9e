//! The server against DataNodes of the test's own. What is waited for is an answer, never a time.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::support::{Server, datanode, silent, volume};
use assert_cmd::Command;
use serde_json::Value;

fn one(look: i64) -> Vec<Value> {
    vec![volume("/data/1", look)]
}

/// Rates are of wall time, which differs from run to run; what grew in that time does not.
fn without_time(mut usage: Value) -> Value {
    let seconds = usage["seconds"].take().as_f64().unwrap();
    assert!(seconds > 0.0);
    let rates = [
        "read_iops",
        "write_iops",
        "read_mib_s",
        "write_mib_s",
        "readers_waiting",
        "writers_waiting",
    ];
    for device in usage["devices"].as_array_mut().unwrap() {
        for rate in rates {
            let grown = device[rate].as_f64().unwrap() * seconds;
            device[rate] = format!("{grown:.6}").into();
        }
    }
    usage
}

#[test]
fn json_is_that_of_once() {
    let address = datanode("200 OK", one);
    let once = Command::cargo_bin("meld-top")
        .unwrap()
        .args(["--once", "--format", "json", "--interval", "0.2", &address])
        .output()
        .unwrap();
    assert!(once.status.success(), "{once:?}");
    let once: Value = serde_json::from_slice(&once.stdout).unwrap();
    let server = Server::start(&[&address]);
    let served = server.devices_of(1);
    assert_eq!(served["schema_version"], 1);
    assert_eq!(served["devices"][0]["dies_busy"], 0.5);
    assert_eq!(without_time(served), without_time(once));
}

#[test]
fn a_datanode_that_hangs_holds_nobody_up() {
    let (hanging, asked) = silent();
    let looks = Arc::new(AtomicI64::new(0));
    let counted = Arc::clone(&looks);
    let good = datanode("200 OK", move |look| {
        counted.store(look, Ordering::SeqCst);
        one(look)
    });
    let server = Server::start(&[&hanging, &good]);
    // The other one is looked at again and again, and the hanging one is named.
    let first = server.devices_of(1);
    let later = server.devices_when(|usage| usage != &first && looks.load(Ordering::SeqCst) >= 6);
    for usage in [&first, &later] {
        assert_eq!(usage["devices"][0]["datanode"], good.as_str());
        assert_eq!(usage["devices"][0]["dies_busy"], 0.5);
        let trouble = usage["troubles"][0].as_str().unwrap();
        assert!(trouble.starts_with(&hanging), "{trouble}");
    }
    assert_eq!(later["devices"].as_array().unwrap().len(), 1);
    // If a look waited for it, it would have been asked as often.
    let (asked, looks) = (asked.load(Ordering::SeqCst), looks.load(Ordering::SeqCst));
    assert!(2 * asked <= looks, "{asked} of {looks}");
}

#[test]
fn without_any_answer_the_troubles_are_served() {
    let refused = datanode("503 Service Unavailable", one);
    let is_told = |usage: &Value| usage["troubles"][0].as_str().unwrap().contains("503");
    let usage = Server::start(&[&refused]).devices_when(is_told);
    assert_eq!(usage["devices"].as_array().unwrap().len(), 0);
    let trouble = usage["troubles"][0].as_str().unwrap();
    assert!(trouble.starts_with(&refused), "{trouble}");
}

#[test]
fn a_name_stands_for_all_that_have_it_and_for_none() {
    let address = datanode("200 OK", one);
    let port = address.rsplit_once(':').unwrap().1;
    // ".invalid" is a name that nobody has.
    let each = [
        "--each",
        &format!("127.0.0.1:{port}"),
        "--each",
        "datanode.invalid:9864",
    ];
    let usage = Server::start(&each).devices_of(1);
    assert_eq!(usage["devices"][0]["datanode"], address.as_str());
    assert_eq!(usage["troubles"].as_array().unwrap().len(), 0);
}

#[test]
fn paths_methods_and_headers() {
    let server = Server::start(&[&datanode("200 OK", one)]);
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let url = |path: &str| format!("{}{path}", server.url);
    let header = |answer: &ureq::http::Response<ureq::Body>, name: &str| {
        let value = answer.headers().get(name).unwrap();
        value.to_str().unwrap().to_owned()
    };

    let mut page = agent.get(url("")).call().unwrap();
    assert_eq!(header(&page, "content-type"), "text/html; charset=utf-8");
    assert!(header(&page, "content-security-policy").starts_with("default-src 'none'"));
    let text = page.body_mut().read_to_string().unwrap();
    assert!(text.starts_with("<!DOCTYPE html>"), "{text}");
    // All parts are in it, and it fetches nothing.
    for marker in [
        "/* style */",
        "/* script */",
        "http://",
        "https://",
        "innerHTML",
    ] {
        assert!(!text.contains(marker), "{marker}");
    }

    let json = agent.get(url("devices.json?again")).call().unwrap();
    assert_eq!(header(&json, "content-type"), "application/json");
    for answer in [&page, &json] {
        assert_eq!(answer.status(), 200);
        assert_eq!(header(answer, "cache-control"), "no-store");
        assert_eq!(header(answer, "x-content-type-options"), "nosniff");
    }

    let mut head = agent.head(url("devices.json")).call().unwrap();
    assert_eq!(head.status(), 200);
    assert_eq!(head.body_mut().read_to_string().unwrap(), "");
    assert_eq!(agent.get(url("other")).call().unwrap().status(), 404);
    let post = agent.post(url("")).send_empty().unwrap();
    assert_eq!(post.status(), 405);
    assert_eq!(header(&post, "allow"), "GET, HEAD");
}

#[test]
fn an_address_that_cannot_be_had_is_one_line_that_says_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().map(|address| (taken, address)).unwrap();
    for address in [&taken.1.to_string(), "nonsense", "127.0.0.1:99999"] {
        let output = Command::cargo_bin("meld-top")
            .unwrap()
            .args(["--listen", address, "127.0.0.1:9864"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(error.lines().count(), 1, "{error}");
        let told = format!("meld-top: cannot listen at {address}; give --listen");
        assert!(error.starts_with(&told), "{error}");
    }
}

/// A page of elsewhere whose name was made to point here, and what belongs here.
#[test]
fn only_names_of_its_own_are_answered() {
    let server = Server::start(&[&datanode("200 OK", one)]);
    let address = server.url["http://".len()..].trim_end_matches('/');
    let port = address.rsplit_once(':').unwrap().1;
    let status = |host: &str, path: &str| {
        let mut socket = TcpStream::connect(address).unwrap();
        write!(
            socket,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    for host in [
        "rebound.example",
        &format!("rebound.example:{port}"),
        "localhost.rebound.example",
        "127.0.0.1.rebound.example",
        "",
    ] {
        for path in ["/", "/devices.json"] {
            assert_eq!(status(host, path), "421", "{host} {path}");
        }
    }
    for host in [
        "localhost",
        "LOCALHOST:9880",
        "127.0.0.1",
        "[::1]",
        "10.1.2.3:80",
        address,
    ] {
        assert_eq!(status(host, "/"), "200", "{host}");
    }
}
