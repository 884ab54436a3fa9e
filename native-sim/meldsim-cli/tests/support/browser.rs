//! A headless Chromium with one page, driven by its DevTools protocol over a pipe.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use base64::Engine;
use serde_json::{Value, json};

const TIMEOUT: Duration = Duration::from_secs(120);
const OPTIONS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    "about:blank",
];

/// Chromium, or a word that the test does nothing: a developer's machine may have none.
pub(crate) fn start() -> Option<Browser> {
    match find() {
        Some(program) => Some(Browser::start(&program)),
        None => {
            assert!(std::env::var_os("CI").is_none(), "no Chromium on the path");
            eprintln!("skipped: no Chromium on the path; on Debian: apt-get install chromium");
            None
        }
    }
}

/// Where pictures of pages are kept.
pub(crate) fn screenshots() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/pages");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub(crate) struct Browser {
    process: Child,
    requests: ChildStdin,
    answers: Receiver<Value>,
    session: Option<String>,
    last: u64,
    /// Errors on the console of the page that is open.
    pub(crate) errors: Vec<String>,
    _profile: tempfile::TempDir,
}

/// Chromium on the path, if there is one.
fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| {
            ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name))
        })
        .find(|program| program.is_file())
}

impl Browser {
    fn start(program: &Path) -> Browser {
        let profile = tempfile::tempdir().unwrap();
        // It reads requests from descriptor 3 and writes answers to 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 >/dev/null", "sh"])
            .arg(program)
            .args(OPTIONS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = process.stdout.take().unwrap();
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(output).split(0) {
                let Ok(message) = message else { return };
                if sender
                    .send(serde_json::from_slice(&message).unwrap())
                    .is_err()
                {
                    return;
                }
            }
        });
        let mut browser = Browser {
            requests: process.stdin.take().unwrap(),
            process,
            answers,
            session: None,
            last: 0,
            errors: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Opens a file in a window as wide as that and as high as the page.
    pub(crate) fn open(&mut self, page: &Path, width: u32, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
        self.resize(width, 900);
        self.navigate(&format!("file://{}", page.display()));
        self.fit(width);
    }

    /// Goes to an address, and comes back when it is loaded.
    pub(crate) fn navigate(&mut self, url: &str) {
        self.errors.clear();
        self.call("Page.navigate", json!({"url": url}));
        while self.next()["method"] != "Page.loadEventFired" {}
    }

    /// Makes the window as high as the page.
    pub(crate) fn fit(&mut self, width: u32) {
        let height = self.evaluate("document.documentElement.scrollHeight");
        self.resize(width, height.as_u64().unwrap() as u32);
    }

    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// What a script returns, by value; of a promise what it comes to.
    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        let parameters = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(answer.get("exceptionDetails").is_none(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// The page as PNG.
    pub(crate) fn screenshot(&mut self, file: &Path) {
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let data = answer["data"].as_str().unwrap();
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(data)
            .unwrap();
        std::fs::write(file, bytes).unwrap();
    }

    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.requests
            .write_all(format!("{message}\0").as_bytes())
            .unwrap();
        self.requests.flush().unwrap();
        loop {
            let answer = self.next();
            if answer["id"] == self.last {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// The next answer or event; errors of the page are kept.
    fn next(&mut self) -> Value {
        let message = self.answers.recv_timeout(TIMEOUT).unwrap();
        let parameters = &message["params"];
        let error = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => Some(parameters["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") if parameters["type"] == "error" => {
                Some(parameters["args"].to_string())
            }
            Some("Log.entryAdded") if parameters["entry"]["level"] == "error" => {
                Some(parameters["entry"]["text"].to_string())
            }
            _ => None,
        };
        self.errors.extend(error);
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
