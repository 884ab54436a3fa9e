//! The plugin's beans, as a DataNode's web server shows them at `/jmx`.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

const PREFIX: &str = "Hadoop:service=DataNode,name=";
const TIMEOUT: Duration = Duration::from_secs(5);
/// The most that is read of an answer.
const LONGEST: u64 = 16 << 20;

/// Where a DataNode is asked.
#[derive(Clone, Debug)]
pub(crate) struct DataNode {
    address: String,
    agent: ureq::Agent,
}

/// What one DataNode said.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// `HOST:PORT`.
    pub(crate) datanode: String,
    pub(crate) at: Instant,
    pub(crate) beans: Vec<Bean>,
    /// Why there are no beans.
    pub(crate) error: Option<String>,
}

/// A volume (`MeldVolume-…`) or a device that volumes share (`MeldDevice-…`).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub(crate) struct Bean {
    #[serde(rename = "name")]
    pub(crate) name: String,
    /// Of a volume, its folder.
    pub(crate) volume: String,
    /// The shared device, or nothing.
    pub(crate) device: String,
    pub(crate) profile: String,
    pub(crate) mode: String,
    /// Wall seconds that one simulated second takes in real-time mode.
    pub(crate) time_dilation: f64,
    pub(crate) healthy: bool,
    pub(crate) last_error: String,
    /// Hadoop writes a map as a list of its entries.
    counters: Vec<Entry>,
    #[serde(skip)]
    values: BTreeMap<String, i64>,
}

#[derive(Clone, Debug, Deserialize)]
struct Entry {
    key: String,
    value: i64,
}

impl Bean {
    pub(crate) fn is_volume(&self) -> bool {
        self.name.starts_with("MeldVolume-")
    }

    /// Whether the counters of a device are here; a shared one's are in a bean of their own.
    pub(crate) fn has_device(&self) -> bool {
        self.values.contains_key("now_ps")
    }

    /// A counter; zero if there is none of that name.
    pub(crate) fn get(&self, counter: &str) -> i64 {
        self.values.get(counter).copied().unwrap_or(0)
    }
}

impl DataNode {
    pub(crate) fn new(address: impl Into<String>) -> DataNode {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .build();
        DataNode {
            address: address.into(),
            agent: config.into(),
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Asks it, and waits for that.
    pub(crate) fn answer(&self) -> Answer {
        match self.ask() {
            Ok(beans) => Answer {
                beans,
                ..Answer::none(self, None)
            },
            Err(error) => Answer::none(self, Some(error)),
        }
    }

    fn ask(&self) -> Result<Vec<Bean>, String> {
        let uri = format!("http://{}/jmx?qry={PREFIX}Meld*", self.address);
        let answer = self.agent.get(&uri).call();
        let mut answer = answer.map_err(|error| error.to_string())?;
        let text = answer.body_mut().with_config().limit(LONGEST);
        let text = text.read_to_string().map_err(|error| error.to_string())?;
        beans(&text)
    }
}

/// The plugin's beans of an answer.
fn beans(text: &str) -> Result<Vec<Bean>, String> {
    #[derive(Deserialize)]
    struct Beans {
        beans: Vec<serde_json::Value>,
    }
    let no_beans = |error| format!("the answer is no list of beans ({error})");
    let answer: Beans = serde_json::from_str(text).map_err(no_beans)?;
    let mut beans = Vec::new();
    for bean in answer.beans {
        // Beans of metrics, and of the block trace, say nothing of this.
        if !bean["Counters"].is_array() {
            continue;
        }
        let mut bean: Bean = serde_json::from_value(bean).map_err(no_beans)?;
        if let Some(name) = bean.name.strip_prefix(PREFIX) {
            bean.name = name.to_owned();
            let entries = std::mem::take(&mut bean.counters);
            let values = entries.into_iter().map(|entry| (entry.key, entry.value));
            bean.values = values.collect();
            beans.push(bean);
        }
    }
    Ok(beans)
}

impl Answer {
    /// Without beans, and why.
    pub(crate) fn none(datanode: &DataNode, error: Option<String>) -> Answer {
        Answer {
            datanode: datanode.address.clone(),
            at: Instant::now(),
            beans: Vec::new(),
            error,
        }
    }

    /// Asks all DataNodes at once.
    pub(crate) fn of_all(datanodes: &[DataNode]) -> Vec<Answer> {
        thread::scope(|scope| {
            let asking: Vec<_> = datanodes
                .iter()
                .map(|datanode| scope.spawn(move || datanode.answer()))
                .collect();
            let answers = asking.into_iter().map(|thread| thread.join());
            answers.filter_map(Result::ok).collect()
        })
    }

    /// The DataNode's trouble, in a line.
    pub(crate) fn trouble(&self) -> String {
        match &self.error {
            Some(error) => format!("{}: {error}", self.datanode),
            None if self.beans.is_empty() => {
                format!(
                    "{}: answers, and has no simulated SSD; is the plugin on it? docs/how-to/plugin.md",
                    self.datanode
                )
            }
            None => String::new(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A bean as Hadoop writes it.
    pub(crate) fn bean(
        name: &str,
        attributes: &[(&str, &str)],
        counters: &[(&str, i64)],
    ) -> serde_json::Value {
        let entry = |&(key, value): &(&str, i64)| serde_json::json!({"key": key, "value": value});
        let mut bean = serde_json::json!({
            "name": format!("{PREFIX}{name}"), "Profile": "melded-tlc-8x8", "Mode": "real-time", "TimeDilation": 100.0,
            "Healthy": true, "LastError": "", "Device": "",
            "Counters": counters.iter().map(entry).collect::<Vec<_>>(),
        });
        for &(key, value) in attributes {
            bean[key] = value.into();
        }
        bean
    }

    pub(crate) fn answer(at: Instant, list: &[serde_json::Value]) -> Answer {
        let text = serde_json::json!({ "beans": list }).to_string();
        Answer {
            datanode: "host:9864".to_owned(),
            at,
            beans: beans(&text).unwrap(),
            error: None,
        }
    }

    #[test]
    fn beans_of_others_are_passed_over() {
        let trace = serde_json::json!({"name": format!("{PREFIX}MeldBlockTrace"), "Records": 3});
        let own = bean(
            "MeldVolume-DS-1",
            &[("Volume", "/data/1")],
            &[("now_ps", 7)],
        );
        let found = answer(Instant::now(), &[trace, own]).beans;
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].volume.as_str(), found[0].get("now_ps")),
            ("/data/1", 7)
        );
        assert!(found[0].is_volume() && found[0].has_device());
    }

    #[test]
    fn what_is_no_answer_is_told() {
        let error = beans("<html>").unwrap_err();
        assert!(
            error.starts_with("the answer is no list of beans"),
            "{error}"
        );
        assert!(beans(r#"{"beans": [{"Counters": [{"key": 1}]}]}"#).is_err());
    }
}
