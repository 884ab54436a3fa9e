//! Profiles: presets, and what is wrong with a bad one.

use meldsim::profile::{ByteSize, HostPath, Journaling, ProgramOrder};
use meldsim::{Device, Duration, Profile, ProfileError};

fn preset() -> Profile {
    Profile::builtin("melded-tlc-8x8").unwrap()
}

fn preset_text_with(from: &str, to: &str) -> String {
    let text = preset().to_toml();
    assert!(text.contains(from), "{from} is not in {text}");
    text.replace(from, to)
}

fn errors(text: &str) -> Vec<ProfileError> {
    Profile::from_toml(text).expect_err("refused").0
}

/// Keys that are refused, in order.
fn keys(text: &str) -> Vec<String> {
    errors(text).into_iter().map(|error| error.key).collect()
}

fn only_error(text: &str) -> ProfileError {
    let errors = errors(text);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].clone()
}

/// Its firmware is of a crate that nobody registers here.
pub(crate) const NEEDS_FIRMWARE: &str = "deepflash";

#[test]
fn presets_are_possible_and_survive_a_round_trip() {
    let names: Vec<&str> = Profile::builtin_names().collect();
    assert_eq!(
        names,
        [
            "melded-tlc-8x8",
            "melded-tlc-16x4",
            "melded-qlc-8x8",
            "palloc-mlc-8x8x2",
            "nvmset-2tb",
            "enterprise-8tb",
            "optane-900p",
            "flash-970pro",
            "deepflash",
            "7450-pro",
            "7450-max",
            "p5520",
            "pe8110",
            "pm9a3",
            "cm7-r",
            "wd-960",
            "980-pro",
            "zn540",
            "pm9d3a",
            "fadu",
            "dramless"
        ]
    );
    for name in names {
        if name == NEEDS_FIRMWARE {
            let error = Profile::builtin(name).unwrap_err().to_string();
            assert_eq!(
                error,
                "firmware.design: is \"pipeline\", which is not registered; \
                 the program has to call meldsim_firmware::register() first"
            );
            continue;
        }
        let profile = Profile::builtin(name).unwrap();
        assert_eq!(profile.name, name);
        profile.validate().unwrap();
        assert_eq!(Profile::from_toml(&profile.to_toml()).unwrap(), profile);
    }
}

#[test]
fn an_unknown_preset_names_the_known_ones() {
    let error = Profile::builtin("melded-tlc-9x9").unwrap_err().to_string();
    assert!(
        error.contains("melded-tlc-9x9") && error.contains("melded-tlc-16x4"),
        "{error}"
    );
    let error = Profile::builtin("melded-tlc-8x9").unwrap_err().to_string();
    assert!(error.contains("did you mean melded-tlc-8x8?"), "{error}");
}

#[test]
fn a_misspelt_section_is_named_and_not_the_one_that_is_then_missing() {
    let error = only_error(&preset_text_with("[geometry]", "[geometri]"));
    assert_eq!(error.key, "geometri");
    assert_eq!(error.remedy, "did you mean geometry?");
    assert_eq!(
        keys("name = \"x\"\nchanels = 8\n"),
        ["chanels", "geometry", "bus", "timing"]
    );
}

#[test]
fn an_unknown_key_is_named_with_its_section() {
    let error = only_error(&preset_text_with("channels = 8", "chanels = 8"));
    assert_eq!(error.key, "geometry.chanels");
    assert_eq!(error.remedy, "did you mean geometry.channels?");
    let error = only_error(&format!("colour = 1\n{}", preset().to_toml()));
    assert_eq!(error.key, "colour");
}

#[test]
fn a_wrong_unit_names_key_value_and_remedy() {
    let error = only_error(&preset_text_with("\"2274us\"", "\"58 parsecs\""));
    assert_eq!(error.key, "timing.erase");
    assert!(error.message.contains("58 parsecs"), "{error}");
    assert!(error.remedy.contains("such as \"58us\""), "{error}");
    let error = only_error(&preset_text_with("\"78us\"", "\"78\""));
    assert_eq!(error.key, "timing.read[1]");
    let error = only_error(&preset_text_with("\"800MT/s\"", "800"));
    assert_eq!(error.key, "bus.rate");
    assert!(error.message.contains("800"), "{error}");
}

#[test]
fn a_missing_key_a_wrong_type_and_a_wrong_name_are_named() {
    let error = only_error(&preset_text_with("channels = 8\n", ""));
    assert_eq!(error.key, "geometry.channels");
    let error = only_error(&preset_text_with("channels = 8", "channels = \"8\""));
    assert_eq!(error.key, "geometry.channels");
    let error = only_error(&preset_text_with("channels = 8", "channels = -8"));
    assert_eq!(error.key, "geometry.channels");
    let error = only_error(&preset_text_with("\"greedy\"", "\"lazy\""));
    assert_eq!(error.key, "gc.victim");
    assert!(
        error.message.contains("lazy") && error.remedy.contains("greedy"),
        "{error}"
    );
    let error = only_error("name = \"x\"\n[geometry");
    assert_eq!(error.key, "(file)");
    assert!(!error.to_string().contains('\n'), "{error}");
    assert_eq!(keys("name = \"x\""), ["geometry", "bus", "timing"]);
    let text = preset_text_with("name = \"melded-tlc-8x8\"\n", "");
    assert_eq!(only_error(&text).key, "name");
}

#[test]
fn a_wrong_value_is_refused_in_words() {
    for (from, to, said) in [
        (
            "channels = 8",
            "channels = \"abc\"",
            "geometry.channels: is \"abc\"; write a whole number, such as 8",
        ),
        (
            "channels = 8",
            "channels = -8",
            "geometry.channels: is -8; write a whole number, such as 8",
        ),
        (
            "bytes_per_4kib = 4625",
            "bytes_per_4kib = 4625.5",
            "bus.bytes_per_4kib: is 4625.5; write a whole number, such as 4625",
        ),
        (
            "write_cache = true",
            "write_cache = \"yes\"",
            "controller.write_cache: is \"yes\"; write true or false, such as true",
        ),
        (
            "\"greedy\"",
            "\"gredy\"",
            "gc.victim: is \"gredy\", which is unknown; did you mean \"greedy\"?",
        ),
        (
            "\"greedy\"",
            "\"lazy\"",
            "gc.victim: is \"lazy\", which is unknown; use one of greedy, cost-benefit, windowed-greedy",
        ),
        (
            "\"greedy\"",
            "3",
            "gc.victim: is \"3\", which is unknown; use one of greedy, cost-benefit, windowed-greedy",
        ),
        (
            "erase = \"2274us\"",
            "erase = true",
            "timing.erase: is true; write text in quotes, such as \"2274us\"",
        ),
        (
            "read = [",
            "read = \"58us\" # [",
            "timing.read: is \"58us\"; write a list, such as",
        ),
        (
            "read = [",
            "read = [true, ",
            "timing.read[0]: is true; write text in quotes, such as \"58us\"",
        ),
        (
            "page_size = \"4KiB\"",
            "page_size = 4096",
            "geometry.page_size: is 4096; write text in quotes, such as \"4KiB\"",
        ),
        (
            "rate = \"800MT/s\"",
            "rate = 800",
            "bus.rate: is \"800\", which is not a transfer rate; write a number and one of MT/s, GT/s, such as \"800MT/s\"",
        ),
        ("[gc]\n", "[[gc]]\n", "gc: is [{"),
    ] {
        let error = only_error(&preset_text_with(from, to)).to_string();
        assert!(error.starts_with(said), "{error}");
        for of_serde in ["invalid", "u32", "expected", "struct"] {
            assert!(!error.contains(of_serde), "{error}");
        }
    }
    // A list of what its first keys could have is no section.
    let text = "base = \"melded-tlc-8x8\"\ngc = [\"greedy\"]\n";
    let said = "gc: is [\"greedy\"]; make it a section: [gc]";
    assert_eq!(only_error(text).to_string(), said);
    let long = format!("name = [{}]", "1, ".repeat(10_000));
    let error = errors(&long)[0].to_string();
    assert!(error.len() < 200, "{error}");
}

#[test]
fn all_that_is_wrong_is_told_in_one_go() {
    let mut text = preset().to_toml();
    for (from, to) in [
        ("name = \"melded-tlc-8x8\"", "name = \"mine\"\ncolour = 1"),
        ("channels = 8", "chanels = \"x\""),
        ("wordlines_per_block = ", "# "),
        ("page_size = \"4KiB\"", "page_size = \"3000B\""),
        ("\"78us\"", "\"78\""),
        ("\"2274us\"", "\"11s\""),
        ("width_bits = 8", "width_bits = 9"),
        ("window = 64", "window = 0"),
        ("open_runs = 64", "open_runs = 0"),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        text = text.replacen(from, to, 1);
    }
    text += "\n[xpoint]\n";
    assert_eq!(
        keys(&text),
        [
            "colour",
            "geometry.chanels",
            "geometry.channels",
            "timing.read[1]",
            "xpoint",
            "geometry.wordlines_per_block",
            "geometry.page_size",
            "bus.width_bits",
            "timing.erase",
            "ftl.open_runs",
            "gc.window",
        ]
    );
}

/// What cannot be read is not compared with other keys; what can be read is.
#[test]
fn a_wrong_key_is_no_reason_to_refuse_others_or_to_spare_them() {
    // Four sets do not divide no channels, and an unread number is not 0.
    let sets = preset_text_with("layout = \"baseline\"", "layout = \"vertical\"")
        .replace("count = 1", "count = 4")
        .replace("channels = 8", "channels = \"x\"");
    assert_eq!(keys(&sets), ["geometry.channels"]);
    let buffer = preset_text_with("\"32MiB\"", "\"1MiB\"");
    let colour = format!("colour = 1\n{buffer}").replace("[bus]", "[bus]\nlength = 1");
    assert_eq!(
        keys(&colour),
        ["colour", "bus.length", "controller.write_buffer"]
    );
    // The same of a profile made in Rust.
    let mut profile = preset();
    profile.bus.width_bits = 9;
    profile.controller.write_buffer.0 = 1 << 20;
    let errors = profile.validate().unwrap_err().0;
    assert_eq!(errors.len(), 2, "{errors:?}");
}

#[test]
fn defaults_apply_to_what_is_left_out() {
    let text = preset().to_toml();
    let minimal = text.split("[controller]").next().unwrap();
    let profile = Profile::from_toml(minimal).unwrap();
    assert_eq!(profile, preset(), "the presets use the defaults");
}

#[test]
fn an_impossible_profile_is_refused_with_all_errors() {
    let mut profile = preset();
    profile.geometry.channels = 0;
    profile.geometry.dies_per_channel = 65;
    profile.geometry.page_size = ByteSize(3000);
    profile.bus.width_bits = 9;
    profile.timing.read.clear();
    profile.timing.erase = Duration::ZERO;
    profile.controller.lba_size = ByteSize(100);
    profile.ftl.over_provisioning_percent = 0;
    let errors = Device::new(&profile).unwrap_err().0;
    let keys: Vec<&str> = errors.iter().map(|error| error.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "controller.lba_size",
            "geometry.channels",
            "geometry.dies_per_channel",
            "geometry.page_size",
            "bus.width_bits",
            "timing.read",
            "timing.erase",
            "ftl.over_provisioning_percent",
        ]
    );
    assert_eq!(
        errors[1].to_string(),
        "geometry.channels: is 0; must be at least 1"
    );
}

/// The one key that a profile is refused for.
fn refused_key(change: impl FnOnce(&mut Profile)) -> String {
    let mut profile = preset();
    change(&mut profile);
    let errors = profile.validate().expect_err("refused").0;
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(!errors[0].remedy.is_empty());
    errors[0].key.clone()
}

#[test]
fn fields_that_do_not_fit_together_are_refused() {
    assert_eq!(
        refused_key(|p| p.geometry.blocks_per_plane = 7),
        "geometry.blocks_per_plane"
    );
    assert_eq!(
        refused_key(|p| p.geometry.dies_per_package = 3),
        "geometry.dies_per_package"
    );
    // Too many pages in all, in a superblock, and wordlines in a plane.
    for (blocks, wordlines, dies) in [
        (1 << 20, 1 << 14, 64),
        (8, 1 << 16, 64),
        (1 << 20, 1 << 12, 1),
    ] {
        let refused = |p: &mut Profile| {
            p.geometry.blocks_per_plane = blocks;
            p.geometry.wordlines_per_block = wordlines;
            p.geometry.planes_per_die = 16;
            p.geometry.dies_per_channel = dies;
        };
        assert_eq!(refused_key(refused), "geometry.blocks_per_plane");
    }
    assert_eq!(
        refused_key(|p| p.controller.write_buffer.0 = 1 << 20),
        "controller.write_buffer"
    );
    assert_eq!(
        refused_key(|p| p.controller.write_buffer.0 = 1 << 40),
        "controller.write_buffer"
    );
    let journal = |p: &mut Profile| p.ftl.journal = Journaling::OnDemand;
    assert_eq!(
        refused_key(|p| {
            journal(p);
            p.ftl.journal_buffer.0 = 512;
        }),
        "ftl.journal_buffer"
    );
    assert_eq!(
        refused_key(|p| {
            journal(p);
            p.ftl.program_order = ProgramOrder::Shadow;
            p.timing.program_pages = Some(p.timing.read.clone());
        }),
        "ftl.journal"
    );
    assert_eq!(
        refused_key(|p| {
            journal(p);
            p.ftl.journal_entry.0 = 2;
        }),
        "ftl.journal_entry"
    );
    assert_eq!(
        refused_key(|p| p.controller.read_segment.0 = 5000),
        "controller.read_segment"
    );
    assert_eq!(
        refused_key(|p| p.controller.halved_read_depth = 2),
        "controller.halved_read_depth"
    );
    assert_eq!(
        refused_key(|p| p.ftl.mapping_memory.0 = 127 << 20),
        "ftl.mapping_memory"
    );
    assert_eq!(
        refused_key(|p| p.timing.read.truncate(1)),
        "timing.melded_read"
    );
    assert_eq!(refused_key(|p| p.name = " ".to_owned()), "name");
}

#[test]
fn the_largest_numbers_are_refused_without_overflow() {
    let mut profile = preset();
    profile.geometry.channels = 256;
    profile.geometry.dies_per_channel = 64;
    profile.geometry.planes_per_die = 16;
    profile.geometry.blocks_per_plane = 1 << 20;
    profile.geometry.wordlines_per_block = 1 << 16;
    profile.controller.write_buffer.0 = u64::MAX;
    assert!(profile.validate().is_err());
    profile.geometry.channels = u32::MAX;
    assert!(profile.validate().is_err());
}

/// What grows with the capacity would take time at the start, and memory.
#[test]
fn a_large_device_starts_at_once_and_costs_nothing_yet() {
    let mut profile = preset();
    profile.geometry.page_size = ByteSize(16 << 10);
    let small = Device::new(&profile).unwrap();
    profile.geometry.blocks_per_plane = 11_000; // 8 TiB
    let large = Device::new(&profile).unwrap();
    assert!(large.stats().capacity_pages << 14 > 7 << 40);
    assert_eq!(large.memory(), small.memory());
}

/// The table of keys is complete and tells the defaults.
#[test]
fn every_key_is_in_the_readme() {
    let readme = include_str!("../../profiles/README.md");
    let mut profile = preset();
    // The keys without a default that the preset leaves out.
    profile.timing.program_pages = Some(profile.timing.read.clone());
    let times = HostPath::IoUring.times();
    profile.host.path_submit_time = Some(times.submit);
    profile.host.path_completion_time = Some(times.completion);
    // A section that is not shown unless it says something.
    profile.zones.max_open = 13;
    let flash = profile.to_toml();
    let xpoint = Profile::builtin("optane-900p").unwrap().to_toml();
    // Keys that only memory has come after flash's.
    let own = xpoint.split("[controller]").next().unwrap();
    let own = &own[own.find("[xpoint]").unwrap()..];
    let text = flash + own;
    let mut section = String::new();
    let mut keys = 0;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = format!("{}.", name.trim_end_matches(']'));
        } else if let Some((key, value)) = line.split_once(" = ") {
            let row = readme
                .lines()
                .find(|row| row.starts_with(&format!("| `{section}{key}` |")));
            let row = row.unwrap_or_else(|| panic!("{section}{key} is not in the README"));
            keys += 1;
            if [
                "controller.",
                "ftl.",
                "fdp.",
                "gc.",
                "host.",
                "predictable_latency.",
            ]
            .contains(&section.as_str())
            {
                assert!(row.contains(value.trim_matches('"')), "{row}");
            }
        }
    }
    // What a profile is laid over is no part of the profile.
    assert!(readme.contains("\n| `base` |"));
    assert_eq!(readme.matches("\n| `").count(), keys + 1);
}

#[test]
fn a_host_path_has_its_times_or_its_own() {
    for (name, path) in [
        ("none", HostPath::None),
        ("included", HostPath::Included),
        ("spdk", HostPath::Spdk),
        ("io_uring", HostPath::IoUring),
        ("libaio", HostPath::Libaio),
    ] {
        let text = preset_text_with("path = \"none\"", &format!("path = \"{name}\""));
        let profile = Profile::from_toml(&text).unwrap();
        assert_eq!((profile.host.path, path.name()), (path, name));
        assert_eq!(profile.host.path_times(), path.times());
        Device::new(&profile).unwrap();
    }
    let own = "path = \"spdk\"\npath_submit_time = \"300ns\"";
    let host = Profile::from_toml(&preset_text_with("path = \"none\"", own))
        .unwrap()
        .host;
    assert_eq!(host.path_times().submit, Duration::from_ns(300));
    assert_eq!(
        host.path_times().completion,
        HostPath::Spdk.times().completion
    );
}

#[test]
fn a_wrong_host_path_is_refused() {
    for (to, said) in [
        (
            "path = \"libiao\"",
            "host.path: is \"libiao\", which is unknown; did you mean \"libaio\"?",
        ),
        (
            "path = \"posix\"",
            "host.path: is \"posix\", which is unknown; use one of none, included, spdk, io_uring, libaio",
        ),
        (
            "path = \"spdk\"\npath_submit_tme = \"1us\"",
            "host.path_submit_tme: is not a key of a profile; did you mean host.path_submit_time?",
        ),
        (
            "path = \"spdk\"\npath_submit_time = 2",
            "host.path_submit_time: is \"2\", which is not a time; write a number and one of ps, ns, us, ms, s, such as \"58us\"",
        ),
    ] {
        let error = only_error(&preset_text_with("path = \"none\"", to));
        assert_eq!(error.to_string(), said);
    }
    let refused = |change: fn(&mut Profile)| {
        let mut profile = preset();
        change(&mut profile);
        let errors = profile.validate().expect_err("refused").0;
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].to_string()
    };
    let late = |p: &mut Profile| p.host.path_completion_time = Some(Duration::from_us(3));
    assert_eq!(
        refused(late),
        "host.path_completion_time: is 3us, and the host has no path; give host.path as spdk, io_uring or libaio"
    );
    let slow = |p: &mut Profile| {
        p.host.path = HostPath::Libaio;
        p.host.path_submit_time = Some(Duration::from_ms(2));
    };
    assert_eq!(
        refused(slow),
        "host.path_submit_time: is 2ms; must be at most 1ms"
    );
}

#[test]
fn what_belongs_to_another_kind_of_device_is_refused() {
    let optane = Profile::builtin("optane-900p").unwrap().to_toml();
    for section in ["geometry", "ftl", "gc", "sets", "timing"] {
        let error = only_error(&format!("{optane}\n[{section}]\n"));
        assert_eq!(error.key, section);
        assert!(error.message.contains("kind \"xpoint\""), "{error}");
    }
    let buffered = optane.replace("lba_size =", "write_buffer = \"1MiB\"\nlba_size =");
    assert_eq!(only_error(&buffered).key, "controller.write_buffer");
    let error = only_error(&format!("{}\n[xpoint]\n", preset().to_toml()));
    assert_eq!(error.key, "xpoint");
    assert!(error.remedy.contains("change kind"), "{error}");
    let error = only_error(&optane.replace("\"xpoint\"", "\"pcm\""));
    assert_eq!(error.key, "kind");
    assert!(error.remedy.contains("xpoint"), "{error}");
}

#[test]
fn an_impossible_memory_is_refused() {
    let refused = |change: fn(&mut Profile)| {
        let mut profile = Profile::builtin("optane-900p").unwrap();
        change(&mut profile);
        let errors = profile.validate().expect_err("refused").0;
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].key.clone()
    };
    assert_eq!(refused(|p| p.xpoint.dies = 0), "xpoint.dies");
    assert_eq!(
        refused(|p| p.xpoint.chunk_size.0 = 3000),
        "xpoint.chunk_size"
    );
    assert_eq!(
        refused(|p| p.xpoint.sector_buffers = 0),
        "xpoint.sector_buffers"
    );
    assert_eq!(refused(|p| p.xpoint.read_rate.0 = 0), "xpoint.read_rate");
    assert_eq!(
        refused(|p| p.xpoint.read_interval = Duration::from_ns(1)),
        "xpoint.read_interval"
    );
    assert_eq!(refused(|p| p.host.link_rate.0 = 1), "host.link_rate");
}
