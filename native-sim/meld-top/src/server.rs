//! What the devices do, over HTTP: a page, and the JSON that it asks for.

use std::io::Write;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use tiny_http::{Header, Method, Request, Response, Server};

use crate::watch::{Looks, Watch};

/// Answers at the same time. One may wait for the first looks.
const THREADS: usize = 4;
const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
/// The page is whole: it takes nothing from anywhere but its JSON, and stands in no page of others.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Serves until the process is ended.
pub(crate) fn run(address: &str, looks: Looks, interval: Duration) -> Result<()> {
    let listener = TcpListener::bind(address).with_context(|| {
        format!(
            "cannot listen at {address}; give --listen an address of this machine and a port that is free, \
             such as 127.0.0.1:9880"
        )
    })?;
    let server = Server::from_listener(listener, None).map_err(|error| anyhow!(error))?;
    // Whoever started it with port 0 learns here which one it is.
    writeln!(std::io::stdout(), "http://{}/", server.server_addr())?;
    let (watch, page) = (Watch::start(looks, interval), page());
    let own = host_of(address);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for request in server.incoming_requests() {
                    serve(request, own, &watch, &page);
                }
            });
        }
    });
    Ok(())
}

/// One file, of parts that are files of their own. The first style sheets are those of all pages.
fn page() -> Arc<str> {
    let style = [
        include_str!("../../study/meldsim-report/src/chart.css"),
        include_str!("../../study/meldsim-report/src/page.css"),
        include_str!("../page/top.css"),
    ];
    let script = [
        include_str!("../page/columns.js"),
        include_str!("../page/strips.js"),
        include_str!("../page/detail.js"),
        include_str!("../page/top.js"),
    ];
    let page = include_str!("../page/top.html");
    let page = page.replace("/* style */", &style.concat());
    page.replace("/* script */", &script.concat()).into()
}

/// The host of `HOST:PORT`, of which the port may be missing.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Whether a browser asked for this server by a name of its own. A page of elsewhere can let its name point at this
/// machine and read what is served here; it cannot let an address or "localhost" do so.
fn is_asked_by_its_name(request: &Request, own: &str) -> bool {
    let mut hosts = request
        .headers()
        .iter()
        .filter(|header| header.field.equiv("Host"));
    hosts.all(|header| {
        let host = host_of(header.value.as_str());
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || host.eq_ignore_ascii_case(own)
            || address.parse::<IpAddr>().is_ok()
    })
}

fn serve(request: Request, own: &str, watch: &Watch, page: &str) {
    let path = request.url().split('?').next().unwrap_or_default();
    let is_read = matches!(request.method(), Method::Get | Method::Head);
    let (status, kind, body): (u16, &str, Arc<str>) = match path {
        _ if !is_asked_by_its_name(&request, own) => (
            421,
            TEXT,
            "ask for localhost, an address of this machine, or the name that --listen has\n".into(),
        ),
        _ if !is_read => (405, TEXT, "only GET and HEAD\n".into()),
        "/" => (200, HTML, page.into()),
        "/devices.json" => match watch.latest() {
            Some(json) => (200, JSON, json),
            None => (503, TEXT, "no look at the DataNodes yet\n".into()),
        },
        _ => (404, TEXT, "there are / and /devices.json\n".into()),
    };
    let mut response = Response::from_data(body.as_bytes())
        .with_status_code(status)
        // Always with its length.
        .with_chunked_threshold(usize::MAX);
    let headers = [
        ("Content-Type", kind),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Allow", "GET, HEAD"),
    ];
    for (name, value) in headers {
        if name != "Allow" || status == 405 {
            response.add_header(header(name, value));
        }
    }
    // Whoever asked may be gone.
    let _ = request.respond(response);
}

#[allow(clippy::expect_used, reason = "all of them are constants")]
fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("a header is ASCII")
}
