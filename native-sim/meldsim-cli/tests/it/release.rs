//! What has to agree in the files around the crates, so that a release is of one version.

use std::path::Path;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What stands between two texts, where they first follow each other.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

#[test]
fn maven_cargo_citation_and_changelog_have_one_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        !version.contains('-'),
        "a version of a release, not {version}"
    );
    assert_eq!(
        between(&read("pom.xml"), "<revision>", "</revision>"),
        version,
        "pom.xml"
    );
    assert_eq!(
        between(&read("CITATION.cff"), "\nversion: ", "\n"),
        version,
        "CITATION.cff"
    );
    assert_eq!(
        between(
            &read("native-sim/python/pyproject.toml"),
            "\nversion = \"",
            "\"\n"
        ),
        version,
        "pyproject.toml"
    );
    let changelog = read("CHANGELOG.md");
    let (_, released) = changelog.split_once("## [Unreleased]\n").unwrap();
    assert_eq!(between(released, "\n## [", "]"), version, "CHANGELOG.md");
}

#[test]
fn crates_name_each_other_by_the_version_they_have() {
    let version = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
    let manifest = read("native-sim/Cargo.toml");
    let own: Vec<&str> = manifest
        .lines()
        .filter(|line| line.starts_with("meldsim") && line.contains("path = "))
        .collect();
    assert!(own.len() >= 3, "{own:?}");
    for line in own {
        assert!(line.contains(&version), "{line}");
    }
}

#[test]
fn every_module_takes_its_version_from_the_parent() {
    let modules = [
        "native-sim",
        "hdfs-meld-plugin",
        "spark-jobs",
        "demo",
        "tests",
        "docker/lib/hadoop",
    ];
    for module in modules {
        let pom = read(&format!("{module}/pom.xml"));
        assert_eq!(
            between(
                between(&pom, "<parent>", "</parent>"),
                "<version>",
                "</version>"
            ),
            "${revision}",
            "{module}"
        );
    }
}
