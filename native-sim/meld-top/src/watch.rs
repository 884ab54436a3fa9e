//! Looks at DataNodes again and again, while somebody wants to know. No look waits long for a DataNode: what is late is
//! part of a later one.

use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::datanode::{Answer, DataNode};
use crate::json;
use crate::usage::Usage;

/// For how long after a question there are looks.
const WANTED: Duration = Duration::from_secs(60);
/// From the first look to the second at most: somebody waits for it.
const SECOND: Duration = Duration::from_secs(1);
/// How long a look waits for answers at most.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long a question waits for the first two looks at most; they take less.
const ANSWER: Duration = Duration::from_secs(10);
/// How often names are looked up.
const LOOK_UP: Duration = Duration::from_secs(10);

// ---- what the answers to HTTP wait for ---------------------------------------------------------

/// The latest look, for all who ask.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    /// Somebody asks, or there is a look.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// When somebody asked last.
    asked: Option<Instant>,
    /// As JSON; nothing until there are two looks.
    latest: Option<Arc<str>>,
}

impl State {
    fn is_wanted(&self, now: Instant) -> bool {
        self.asked.is_some_and(|asked| now - asked < WANTED)
    }
}

impl Watch {
    /// Starts the thread that looks.
    pub(crate) fn start(looks: Looks, interval: Duration) -> Arc<Watch> {
        let watch = Arc::new(Watch::default());
        let looking = Arc::clone(&watch);
        thread::spawn(move || looking.run(looks, interval));
        watch
    }

    /// The latest look as JSON. The first who asks for a while waits for two looks.
    pub(crate) fn latest(&self) -> Option<Arc<str>> {
        let mut state = self.state.lock();
        state.asked = Some(Instant::now());
        self.changed.notify_all();
        let is_missing = |state: &mut State| state.latest.is_none();
        self.changed.wait_while_for(&mut state, is_missing, ANSWER);
        state.latest.clone()
    }

    fn run(&self, mut looks: Looks, interval: Duration) {
        let mut count = 0;
        loop {
            if self.rest() {
                // What grew in the meantime is no rate of now.
                looks.forget();
                count = 0;
            }
            let started = Instant::now();
            let usage = looks.look(PATIENCE.min(interval));
            count += 1;
            let mut pause = interval;
            match json::of(&usage) {
                Ok(json) if count > 1 => self.publish(format!("{json}\n").into()),
                _ => pause = pause.min(SECOND),
            }
            thread::sleep(pause.saturating_sub(started.elapsed()));
        }
    }

    fn publish(&self, json: Arc<str>) {
        self.state.lock().latest = Some(json);
        self.changed.notify_all();
    }

    /// Waits until somebody wants to know. Returns whether nobody did.
    fn rest(&self) -> bool {
        let mut state = self.state.lock();
        if state.is_wanted(Instant::now()) {
            return false;
        }
        state.latest = None;
        let is_idle = |state: &mut State| !state.is_wanted(Instant::now());
        self.changed.wait_while(&mut state, is_idle);
        true
    }
}

// ---- the looks ---------------------------------------------------------------------------------

/// DataNodes, what they said last, and whom an answer is awaited of.
#[derive(Debug)]
pub(crate) struct Looks {
    targets: Vec<Target>,
    names: Vec<Name>,
    sender: Sender<News>,
    receiver: Receiver<News>,
}

#[derive(Debug)]
struct Target {
    datanode: DataNode,
    /// The name that it was found by, by its place among the names.
    name: Option<usize>,
    is_awaited: bool,
    before: Option<Answer>,
    after: Option<Answer>,
}

/// A name that stands for any number of DataNodes.
#[derive(Debug)]
struct Name {
    /// `NAME:PORT`.
    name: String,
    is_awaited: bool,
    looked_up: Option<Instant>,
}

#[derive(Debug)]
enum News {
    Answer(Answer),
    /// The addresses of a name.
    Addresses(usize, Vec<String>),
}

impl Looks {
    pub(crate) fn new(datanodes: Vec<DataNode>, names: &[String]) -> Looks {
        let (sender, receiver) = mpsc::channel();
        let name = |name: &String| Name {
            name: name.clone(),
            is_awaited: false,
            looked_up: None,
        };
        let mut looks = Looks {
            targets: Vec::new(),
            names: names.iter().map(name).collect(),
            sender,
            receiver,
        };
        for datanode in datanodes {
            looks.add(datanode, None);
        }
        looks
    }

    /// One that is named twice is one.
    fn add(&mut self, datanode: DataNode, name: Option<usize>) {
        if self.place(datanode.address()).is_none() {
            self.targets.push(Target {
                datanode,
                name,
                is_awaited: false,
                before: None,
                after: None,
            });
        }
    }

    fn place(&self, address: &str) -> Option<usize> {
        let is_it = |target: &Target| target.datanode.address() == address;
        self.targets.iter().position(is_it)
    }

    /// Asks all of whom no answer is awaited, and takes what comes within this time.
    fn look(&mut self, patience: Duration) -> Usage {
        self.look_up();
        self.ask();
        let until = Instant::now() + patience;
        while self.is_waiting() {
            let left = until.saturating_duration_since(Instant::now());
            match self.receiver.recv_timeout(left) {
                Ok(news) => self.take(news),
                Err(_) => break,
            }
        }
        let before = self
            .targets
            .iter()
            .filter_map(|target| target.before.clone());
        let after = self.targets.iter().map(|target| {
            let none = || Answer::none(&target.datanode, Some("has not answered yet".to_owned()));
            target.after.clone().unwrap_or_else(none)
        });
        Usage::between(&before.collect::<Vec<_>>(), &after.collect::<Vec<_>>())
    }

    fn is_waiting(&self) -> bool {
        self.targets.iter().any(|target| target.is_awaited)
            || self.names.iter().any(|name| name.is_awaited)
    }

    fn ask(&mut self) {
        for target in self.targets.iter_mut().filter(|target| !target.is_awaited) {
            target.is_awaited = true;
            let (datanode, sender) = (target.datanode.clone(), self.sender.clone());
            // Nobody hears it when the program ends.
            thread::spawn(move || drop(sender.send(News::Answer(datanode.answer()))));
        }
    }

    fn look_up(&mut self) {
        for (place, name) in self.names.iter_mut().enumerate() {
            let is_due = name.looked_up.is_none_or(|at| at.elapsed() >= LOOK_UP);
            if name.is_awaited || !is_due {
                continue;
            }
            name.is_awaited = true;
            let (name, sender) = (name.name.clone(), self.sender.clone());
            thread::spawn(move || {
                // A name without addresses is one without DataNodes.
                let found = name.to_socket_addrs().into_iter().flatten();
                let found = found.map(|address| address.to_string()).collect();
                drop(sender.send(News::Addresses(place, found)));
            });
        }
    }

    fn take(&mut self, news: News) {
        match news {
            News::Answer(answer) => {
                // One that the name has no more is gone.
                if let Some(place) = self.place(&answer.datanode) {
                    let target = &mut self.targets[place];
                    target.is_awaited = false;
                    target.before = target.after.replace(answer);
                }
            }
            News::Addresses(place, found) => {
                self.names[place].is_awaited = false;
                self.names[place].looked_up = Some(Instant::now());
                self.targets.retain(|target| {
                    target.name != Some(place)
                        || found
                            .iter()
                            .any(|address| address == target.datanode.address())
                });
                for address in found {
                    self.add(DataNode::new(address), Some(place));
                }
                self.ask();
            }
        }
    }

    fn forget(&mut self) {
        for target in &mut self.targets {
            (target.before, target.after) = (None, None);
        }
        for name in &mut self.names {
            name.looked_up = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_wanted_for_a_minute() {
        let mut state = State::default();
        let now = Instant::now();
        assert!(!state.is_wanted(now), "nobody has asked");
        state.asked = Some(now);
        assert!(state.is_wanted(now + WANTED / 2));
        assert!(!state.is_wanted(now + WANTED));
    }

    #[test]
    fn datanodes_come_and_go_with_their_name() {
        let mut looks = Looks::new(vec![DataNode::new("one:1")], &["many:1".to_owned()]);
        let addresses = |looks: &Looks| -> Vec<String> {
            let addresses = looks.targets.iter().map(|target| target.datanode.address());
            addresses.map(str::to_owned).collect()
        };
        let found = |list: &[&str]| {
            News::Addresses(0, list.iter().map(|&address| address.to_owned()).collect())
        };
        // Port 0 is one that nobody listens at.
        looks.take(found(&["127.0.0.1:0", "127.0.0.2:0"]));
        assert_eq!(addresses(&looks), ["one:1", "127.0.0.1:0", "127.0.0.2:0"]);
        looks.take(found(&["127.0.0.2:0"]));
        assert_eq!(addresses(&looks), ["one:1", "127.0.0.2:0"]);
        let late = DataNode::new("127.0.0.1:0");
        looks.take(News::Answer(Answer::none(&late, None)));
        looks.take(found(&[]));
        assert_eq!(addresses(&looks), ["one:1"], "one that is named stays");
    }
}
