//! The page in a browser: it shows what is served, wide and narrow, light and dark, and takes texts for texts.
//! The screenshots are in `target/pages` of the project.

#[allow(dead_code, reason = "pages of other programs use the rest")]
#[path = "../../../meldsim-cli/tests/support/browser.rs"]
mod browser;
use crate::support::{Server, datanode, silent, volume};
use browser::Browser;
use serde_json::{Value, json};

/// What a reader would stumble over.
const PROBE: &str = include_str!("../../../meldsim-cli/tests/support/probe.js");
/// A folder and an error that would be elements of the page if they were taken for HTML.
const FOLDER: &str = "/data/<b class=injected>2</b>";
const ERROR: &str = "<img src=x class=injected> the simulator failed";

/// Keeps what the page was told last, before the page shows it.
const LISTEN: &str = "const before = window.fetch;
window.fetch = async (...request) => {
  const response = await before(...request);
  const text = response.text.bind(response);
  response.text = async () => (window.told = await text());
  return response;
};";

/// Comes back when a condition is true.
fn wait(browser: &mut Browser, condition: &str) {
    let script = format!(
        "new Promise((resolve) => {{
          const look = () => (({condition}) ? resolve(true) : requestAnimationFrame(look));
          look();
        }})"
    );
    assert_eq!(browser.evaluate(&script), true);
}

fn open(browser: &mut Browser, server: &Server, width: u32, scheme: &str) {
    let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
    browser.call("Emulation.setEmulatedMedia", json!({"features": features}));
    browser.resize(width, 900);
    browser.navigate(&server.url);
    // Enough looks for a strip.
    wait(
        browser,
        "document.querySelectorAll('#devices tbody tr').length === 3 && document.querySelector('#detail-strips canvas').dataset.looks >= 3",
    );
    browser.fit(width);
}

/// What the page says and what it was told, both of the same look.
fn shown_and_told(browser: &mut Browser) -> (Value, Value) {
    let both = browser.evaluate(
        "(() => {
          const text = (id) => [...document.querySelectorAll(id)].map((one) => one.textContent);
          const rows = [...document.querySelectorAll('#devices tbody tr')].map((row) => ({
            name: row.querySelector('.device').textContent,
            is_out: row.classList.contains('out'),
            cells: Object.fromEntries([...row.querySelectorAll('td')].map((cell) => [cell.dataset.column, cell.textContent])),
          }));
          return {
            rows, told: JSON.parse(window.told), chosen: text('#detail-name'), latency: text('#detail-latency td'),
            hints: text('#detail-hints .value'), strips: text('#detail-strips .value'), health: text('#detail-health'),
            troubles: text('#troubles p'), summary: text('#summary'),
            injected: document.querySelectorAll('.injected').length,
          };
        })()",
    );
    let told = both["told"].clone();
    (both, told)
}

/// A cluster of three DataNodes: two devices, one of them out of service; one that is busier; one that says nothing.
fn cluster() -> Vec<String> {
    let two = |look| {
        let mut out = volume(FOLDER, look);
        out["Healthy"] = false.into();
        out["LastError"] = ERROR.into();
        vec![volume("/data/1", look), out]
    };
    let busier = |look| vec![volume("/data/optane", 3 * look)];
    let (hanging, _) = silent();
    vec![datanode("200 OK", two), datanode("200 OK", busier), hanging]
}

#[test]
fn the_page_shows_what_is_served() {
    let Some(mut browser) = browser::start() else {
        return;
    };
    let datanodes = cluster();
    let server = Server::start(&datanodes.iter().map(String::as_str).collect::<Vec<_>>());
    browser.call(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({"source": LISTEN}),
    );
    open(&mut browser, &server, 1280, "light");

    let (shown, told) = shown_and_told(&mut browser);
    assert_eq!(shown["injected"], 0, "{shown}");
    let devices = told["devices"].as_array().unwrap();
    assert_eq!(shown["rows"].as_array().unwrap().len(), 3);
    assert_eq!(devices.len(), 3);
    for (row, device) in shown["rows"].as_array().unwrap().iter().zip(devices) {
        let is_out = device["healthy"] == false;
        assert_eq!(row["is_out"], is_out);
        let name = device["device"].as_str().unwrap();
        let expected = match is_out {
            true => format!("{name}: out of service"),
            false => name.to_owned(),
        };
        assert_eq!(row["name"], expected.as_str());
        let of = |key: &str| device[key].as_f64().unwrap();
        let expected = [
            ("read", of("read_mib_s"), 0.5),
            ("write", of("write_mib_s"), 0.5),
            ("iops", of("read_iops") + of("write_iops"), 0.5),
            ("waiting", of("readers_waiting"), 0.05),
            ("mean", 90.0, 0.0),
            ("p99", 1250.0, 0.0),
            ("dies", 50.0, 0.0),
            ("channels", 25.0, 0.0),
            ("melded", 25.0, 0.0),
            ("amplification", 2.5, 0.0),
        ];
        for (column, value, rounding) in expected {
            let cell = row["cells"][column].as_str().unwrap();
            let number: f64 = cell.replace(',', "").parse().unwrap();
            assert!(
                (number - value).abs() <= rounding + 1e-9,
                "{name} {column}: {cell}, and {value} was served"
            );
        }
    }
    let hanging = shown["troubles"][0].as_str().unwrap();
    assert_eq!(shown["troubles"], told["troubles"]);
    assert!(hanging.starts_with(&datanodes[2]), "{hanging}");
    let summary = shown["summary"][0].as_str().unwrap();
    assert!(
        summary.starts_with("3 devices: ") && summary.ends_with("; 1 out of service"),
        "{summary}"
    );
    assert_eq!(
        shown["latency"],
        json!(["90", "80", "1,250", "2,400", "–", "700", "1,900", "3,100"])
    );
    assert_eq!(shown["hints"], json!(["6", "3", "40", "1"]));
    assert_eq!(
        shown["strips"],
        json!(["now 25 %, mean 25 %", "now 50 %, mean 50 %"])
    );

    keys_and_clicks(&mut browser);
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

fn keys_and_clicks(browser: &mut Browser) {
    let press = |key: &str| {
        format!(
            "document.body.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))"
        )
    };
    let chosen = |shown: &Value| shown["chosen"][0].as_str().unwrap().to_owned();
    // The order of addresses is not that of the test: what is read off it is.
    let names = |shown: &Value| -> Vec<String> {
        let rows = shown["rows"].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let (shown, _) = shown_and_told(browser);
    let by_name = names(&shown);
    assert!(chosen(&shown).starts_with(&by_name[0]), "{shown}");
    browser.evaluate(&press("ArrowDown"));
    let (shown, _) = shown_and_told(browser);
    let second = by_name[1].trim_end_matches(": out of service");
    assert!(chosen(&shown).starts_with(second), "{shown}");
    browser.evaluate(&press("s"));
    let (shown, _) = shown_and_told(browser);
    assert_eq!(names(&shown)[0], "/data/optane", "most read first");
    assert!(chosen(&shown).starts_with(second), "the choice stays");
    browser.evaluate("document.querySelector('thead [data-column=iops] button').click()");
    browser.evaluate("document.querySelector('thead [data-column=iops] button').click()");
    let (shown, _) = shown_and_told(browser);
    assert_eq!(names(&shown)[2], "/data/optane", "fewest first");
    browser.evaluate("document.querySelector('#devices .out').click()");
    let (shown, _) = shown_and_told(browser);
    assert_eq!(
        shown["health"][0],
        format!("OUT OF SERVICE, the volumes are stock HDFS: {ERROR}").as_str()
    );
    assert_eq!(shown["injected"], 0, "{shown}");
}

#[test]
fn the_page_is_readable() {
    let Some(mut browser) = browser::start() else {
        return;
    };
    let datanodes = cluster();
    let server = Server::start(&datanodes.iter().map(String::as_str).collect::<Vec<_>>());
    let screenshots = browser::screenshots();
    let mut found = Vec::new();
    for width in [1280, 390] {
        for scheme in ["light", "dark"] {
            open(&mut browser, &server, width, scheme);
            browser.screenshot(&screenshots.join(format!("top-{width}-{scheme}.png")));
            let probed = browser.evaluate(PROBE);
            assert_eq!(probed["width"], width);
            let problems = probed["problems"].as_array().unwrap().iter();
            let problems = problems.map(|problem| problem.as_str().unwrap().to_owned());
            // It is no report: no command made it.
            let problems = problems.filter(|problem| {
                !problem.starts_with("the page does not say .command")
                    && !problem.starts_with("the page does not say .origin")
                    && !problem.starts_with("the page lacks profile")
            });
            let all = problems.chain(browser.errors.clone());
            found.extend(all.map(|problem| format!("{width} {scheme}: {problem}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
