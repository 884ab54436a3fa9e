//! Within a crate dependencies point one way, counted from the `use` lines: among its modules, and among the files of each
//! module. Tests and the module files themselves (`mod.rs`, `lib.rs`, `main.rs`) are not counted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The paths of all `use` lines outside unit tests, braces expanded.
fn uses(source: &str) -> Vec<Vec<String>> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = source.lines().map(|line| line.split("//").next().unwrap());
    let source = lines.collect::<Vec<_>>().join("\n");
    let mut paths = Vec::new();
    for (at, _) in source.match_indices("use ") {
        let is_test = source[..at].trim_end().ends_with("#[cfg(test)]");
        let starts = at == 0 || source[..at].ends_with(['\n', ' ']);
        let end = source[at..].find(';');
        if let (false, true, Some(end)) = (is_test, starts, end) {
            let path: String = source[at + 4..at + end].split_whitespace().collect();
            expand("", &path, &mut paths);
        }
    }
    paths
}

/// `a::{b, c::d}` as `a::b` and `a::c::d`.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<Vec<String>>) {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[start..]);
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        match part.split_once('{') {
            Some((before, rest)) => {
                let rest = rest.strip_suffix('}').unwrap_or(rest);
                expand(&format!("{prefix}{before}"), rest, paths);
            }
            None => {
                let path = format!("{prefix}{part}");
                paths.push(path.split("::").map(str::to_owned).collect());
            }
        }
    }
}

fn is_source(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.ends_with(".rs") && name != "tests.rs"
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !path.ends_with("tests"));
    paths.sort();
    paths
}

/// The files of a module, those of each submodule together, and which uses which.
fn graph(folder: &Path, within: &[String]) -> Graph {
    let mut parts: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in entries(folder) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let files = entries(&path).into_iter().filter(|file| is_source(file));
            parts.insert(name, files.collect());
        } else if is_source(&path) && !["mod", "lib", "main"].contains(&name.as_str()) {
            parts.insert(name, vec![path]);
        }
    }
    let mut graph = Graph::new();
    for (name, files) in &parts {
        let mut used = BTreeSet::new();
        for file in files {
            // Where `super` leads to, and `crate`.
            let mut module = within.to_vec();
            if file.parent() != Some(folder) {
                module.push(name.clone());
            }
            if !file.ends_with("mod.rs") {
                module.push(file.file_stem().unwrap().to_str().unwrap().to_owned());
            }
            for path in uses(&std::fs::read_to_string(file).unwrap()) {
                let supers = path.iter().take_while(|part| *part == "super").count();
                let absolute = match path[0].as_str() {
                    "crate" => path[1..].to_vec(),
                    "super" if supers <= module.len() => {
                        [&module[..module.len() - supers], &path[supers..]].concat()
                    }
                    _ => continue,
                };
                let target = absolute.strip_prefix(within).and_then(|rest| rest.first());
                used.extend(
                    target
                        .filter(|target| *target != name && parts.contains_key(*target))
                        .cloned(),
                );
            }
        }
        graph.insert(name.clone(), used);
    }
    graph
}

/// What is left when all parts that use nothing that is left are taken away, again and again: circles.
fn circles(mut graph: Graph) -> Graph {
    loop {
        let left: BTreeSet<String> = graph.keys().cloned().collect();
        let before = graph.len();
        graph.retain(|_, used| used.iter().any(|part| left.contains(part)));
        if graph.len() == before {
            return graph;
        }
    }
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut checked = 0;
    let floors = ["model", "study", ".", ".."].map(|floor| entries(&root.join(floor)));
    for package in floors.concat() {
        let name = package.file_name().unwrap().to_str().unwrap();
        let source = package.join("src");
        if !name.starts_with("meld") || !source.is_dir() {
            continue;
        }
        let mut folders = vec![(source, Vec::new())];
        while let Some((folder, within)) = folders.pop() {
            let graph = graph(&folder, &within);
            assert!(!graph.is_empty(), "{}", folder.display());
            checked += graph.len();
            let circles = circles(graph);
            assert!(circles.is_empty(), "{name} {within:?}: {circles:#?}");
            for path in entries(&folder).into_iter().filter(|path| path.is_dir()) {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                folders.push((path, [within.clone(), vec![name]].concat()));
            }
        }
    }
    assert!(checked > 100, "only {checked} parts were found");
}

/// The model uses no other crate of ours, the study none of HDFS and no door; HDFS uses no door.
#[test]
fn crates_use_what_stands_below_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let floors = ["model", "study", "..", "."].map(|floor| entries(&root.join(floor)));
    let mut rank = BTreeMap::new();
    let mut used = Vec::new();
    for (floor, package) in floors
        .iter()
        .enumerate()
        .flat_map(|(n, all)| all.iter().map(move |of| (n, of)))
    {
        let name = package.file_name().unwrap().to_str().unwrap().to_owned();
        let Ok(manifest) = std::fs::read_to_string(package.join("Cargo.toml")) else {
            continue;
        };
        let dependencies = manifest
            .split("\n[dependencies]\n")
            .nth(1)
            .unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap();
        let names = dependencies
            .lines()
            .filter_map(|line| line.split_once(['.', ' ']));
        used.extend(names.map(|(other, _)| (name.clone(), other.to_owned())));
        rank.insert(name, floor);
    }
    assert!(rank.len() >= 17, "{rank:?}");
    let upward: Vec<_> = used
        .iter()
        .filter(|(one, other)| rank.get(other).is_some_and(|other| *other > rank[one]))
        .collect();
    assert!(upward.is_empty(), "{upward:?}");
    assert!(
        used.iter()
            .all(|(one, other)| one != "meldsim" || !rank.contains_key(other))
    );
    // A DataNode loads devices: nothing that calibrates, draws or knows HDFS.
    let mut loaded = BTreeSet::from(["libmeldsim"]);
    for _ in 0..rank.len() {
        let next = used.iter().filter(|(one, _)| loaded.contains(&**one));
        let own = next.filter(|(_, other)| rank.contains_key(other));
        loaded = own
            .map(|(_, other)| &**other)
            .chain(loaded.clone())
            .collect();
    }
    let devices = [
        "",
        "-capi",
        "-firmware",
        "-host",
        "-stats",
        "-timeline",
        "-workload",
    ];
    let devices = devices.map(|name| format!("meldsim{name}"));
    loaded.remove("libmeldsim");
    assert!(loaded.iter().eq(&devices), "{loaded:?}");
}

#[test]
fn the_rooms_of_the_model_stand_in_one_order() {
    let order = [
        "words", "opcode", "engine", "event", "policy", "profile", "nvme", "timeline", "nand",
        "xpoint", "ftl", "device",
    ];
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/meldsim/src");
    let graph = graph(&source, &[]);
    let rank = |name: &str| order.iter().position(|room| *room == name);
    for (room, used) in graph.iter() {
        assert!(rank(room).is_some(), "{room} has no place in the order");
        let upward: Vec<&String> = used
            .iter()
            .filter(|other| rank(other) >= rank(room))
            .collect();
        assert!(
            upward.is_empty(),
            "{room} uses {upward:?}, which stand above it"
        );
    }
    assert_eq!(graph.len(), order.len());
    assert!(
        graph["device"].len() >= 6 && graph["engine"].is_empty(),
        "{graph:?}"
    );
}

#[test]
fn uses_and_circles_are_found() {
    let found = uses(
        "use crate::a::{b, c::{d, e}};\n#[cfg(test)]\nuse super::f;\n// use g::h;\nuse super::i;\n",
    );
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    assert_eq!(
        found,
        [
            "crate::a::b",
            "crate::a::c::d",
            "crate::a::c::e",
            "super::i"
        ]
    );
    let graph = |pairs: &[(&str, &str)]| -> Graph {
        let mut graph = Graph::new();
        for (from, to) in pairs {
            graph
                .entry((*from).to_owned())
                .or_default()
                .insert((*to).to_owned());
            graph.entry((*to).to_owned()).or_default();
        }
        graph
    };
    assert!(circles(graph(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    assert_eq!(
        circles(graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])).len(),
        3
    );
}
