//! Job files as users write them: what they say, and what is refused.

use super::super::job::ReadWrite;
use super::*;
use meldsim::engine::Duration;
use meldsim::nvme::Pattern;

fn parse(text: &str) -> Result<Vec<Job>, String> {
    let list = parse_job_file("a.fio", text, &Job::new(""));
    list.map(|list| list.jobs)
        .map_err(|error| error.to_string())
}

/// A device of 1 GiB, one variable and one file to include.
struct Around;

impl Surroundings for Around {
    fn variable(&self, name: &str) -> Option<String> {
        (name == "BS").then(|| "64k".to_owned())
    }

    fn read(&self, path: &str) -> io::Result<String> {
        match path {
            "more.fio" => Ok("iodepth=7\nthread\n".to_owned()),
            "bad.fio" => Ok("\n[section]\niodpeth=7\n".to_owned()),
            "round.fio" => Ok("include round.fio\n".to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn capacity_bytes(&self) -> Option<u64> {
        Some(1 << 30)
    }

    fn zone_bytes(&self) -> Option<u64> {
        Some(3 << 20)
    }
}

fn parse_around(text: &str, sections: &[&str]) -> Result<JobList, String> {
    let sections: Vec<String> = sections.iter().map(|name| (*name).to_owned()).collect();
    let file = JobFile {
        name: "a.fio",
        text,
        defaults: &Job::new(""),
        before: "",
        sections: &sections,
        options: &[],
        runtime: None,
        surroundings: &Around,
    };
    file.parse().map_err(|errors| errors.to_string())
}

#[test]
fn unknown_options_are_those_of_an_engine_of_ones_own() {
    let text = "[a]\nsize=1m\nioengine=./mine.so\nmy_mounts=--mounts=6\n";
    let list = parse_job_file("a.fio", text, &Job::new("")).unwrap();
    assert_eq!(list.jobs[0].iodepth, 1);
    let told = reasons(&list.passed_over);
    assert!(
        told.contains(&(
            "its library is not here",
            vec!["my_mounts of an engine of your own"]
        )),
        "{told:?}"
    );
    // A slip of the pen is still one, and other engines have no such options.
    for (from, to, said) in [
        ("my_mounts", "iodeph", "did you mean iodepth?"),
        ("my_mounts", "verify_only", "asks for data to be compared"),
        ("./mine.so", "libaio", "my_mounts: is not a known option"),
    ] {
        let error = parse(&text.replace(from, to)).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn options_laid_over_are_as_if_each_section_ended_with_them() {
    let text = "[global]\nsize=1m\n[one]\niodepth=2\nioengine=psync\n[two]\nbs=64k\n";
    let laid = |text: &str, options: &[(&str, &str)]| {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let options: Vec<_> = options.iter().map(own).collect();
        let file = JobFile {
            name: "a.fio",
            text,
            defaults: &Job::new(""),
            before: "",
            sections: &[],
            options: &options,
            runtime: None,
            surroundings: &NoSurroundings,
        };
        file.parse().map_err(|errors| errors.to_string())
    };
    let over = [("iodepth", "8"), ("bs", "16k"), ("ioengine", "libaio")];
    let files = laid("[a]\nsize=1m\nfilename=x\n", &[("filename", "y")]).unwrap();
    assert_eq!(files.jobs[0].file.as_deref(), Some("y"));
    let lines = "iodepth=8\nbs=16k\nioengine=libaio\n";
    let written = format!("{}{lines}", text.replace("[two]", &format!("{lines}[two]")));
    assert_eq!(laid(text, &over), laid(&written, &[]));
    // A mistake that a line makes is told of the file; one of an option that is laid over, once for all sections.
    let error = laid(text, &[("iodepth", "deep"), ("bz", "4k")]).unwrap_err();
    assert_eq!(error.lines().count(), 2, "{error}");
    assert!(
        error.contains("a.fio:3: job.iodepth: is \"deep\""),
        "{error}"
    );
    assert!(
        error.contains("job.bz: is not a known option; did you mean bs?"),
        "{error}"
    );
}

#[test]
fn sections_inherit_from_global_as_it_stands() {
    let jobs = parse(
        "; a comment\n[global]\nbs=64k\nsize=1g\nrandseed=7\n\n[one]\nrw=randread\niodepth=32\n\
         # another\n[two]\nrw=write\nread_pattern=sequential\nruntime=250ms\nstonewall\n",
    )
    .unwrap();
    assert_eq!(jobs.len(), 2);
    assert_eq!(jobs[0].name, "one");
    assert_eq!(
        (jobs[0].rw, jobs[0].iodepth, jobs[0].seed),
        (ReadWrite::RandRead, 32, 7)
    );
    assert_eq!((jobs[1].block_bytes, jobs[1].iodepth), (65_536, 1));
    assert_eq!(jobs[1].runtime, Some(Duration::from_ms(250)));
    assert!(jobs[1].stonewall && !jobs[0].stonewall);
    assert_eq!(jobs[1].read_pattern, Pattern::Sequential);
}

#[test]
fn every_option_sets_what_it_says() {
    let base = parse("[j]\nsize=1m\nrw=randrw").unwrap();
    for (line, changed) in [
        (
            "bssplit=4k/10:64k/50:32k/40",
            "BlockShare { bytes: 65536, percent: 50 }",
        ),
        ("io_size=2m", "io_bytes"),
        ("offset=64k", "offset_bytes"),
        ("filename=shared", "file"),
        ("ramp_time=1ms", "ramp_time"),
        ("startdelay=2ms", "start_delay"),
        ("numjobs=4", "numjobs"),
        ("group_reporting", "group_reporting"),
        ("rwmixwrite=10", "rwmixread: 90"),
        ("random_distribution=zipf:0.9", "Zipf"),
        ("norandommap", "Uniform"),
        ("rate=1m,500k", "rate_read: Some(Bytes(1048576))"),
        ("rate=,500k", "rate_write: Some(Bytes(512000))"),
        ("rate_iops=20k", "rate_write: Some(Requests(20480))"),
        ("rate=1m\nrate_process=poisson", "poisson: true"),
        ("thinktime=50", "think_time: Duration(50000000)"),
        ("thinktime_blocks=8", "think_blocks: 8"),
        ("nvm_set=2", "nvm_set: Some(2)"),
        (
            "dataplacement=streams\nplids=1,3-4",
            "data_placement: Streams, placement_ids: [1, 3, 4]",
        ),
        (
            "dataplacement=fdp",
            "data_placement: Fdp, placement_ids: []",
        ),
        (
            "fdp=1\nfdp_pli=0,2-3",
            "data_placement: Fdp, placement_ids: [0, 2, 3]",
        ),
        ("queue_priority=high", "queue_priority: High"),
        ("ioengine=./own.so", "queues: true"),
        (
            "bssplit=4k/29:8k/5.",
            "split: [BlockShare { bytes: 4096, percent: 29 }, BlockShare { bytes: 8192, percent: 5 }]",
        ),
        ("bs=8k,32k", "BlockSizes { least: 32768, most: 32768"),
        ("bssplit=8k/100,", "BlockSizes { least: 4096, most: 4096"),
        ("bsrange=4k-12k", "BlockSizes { least: 4096, most: 12288"),
        ("blockalign=64k", "align_bytes: Some([65536, 65536, 65536])"),
        ("percentage_random=50,,9", "random_percent: [50, 100, 9]"),
        ("random_generator=lfsr", "generator: Lfsr"),
        ("randrepeat=0", "random_repeat: false"),
        (
            "randseed=7",
            "seed: 7, random_repeat: true, new_order: true",
        ),
        (
            "fsync=4\nend_fsync=1",
            "fsync: 4, fdatasync: 0, end_fsync: true",
        ),
        ("sync=1", "sync_writes: true"),
        ("iodepth=8\niodepth_low=2", "iodepth_low: Some(2)"),
        (
            "write_hint=long",
            "data_placement: Streams, placement_ids: [3]",
        ),
        ("io_size=50%", "pass_percent: Some(50)"),
        (
            "percentile_list=99.9:25",
            "percentiles: [25000000, 99900000]",
        ),
        ("number_ios=9", "most_requests: Some(9)"),
        ("loops=(2*3)", "loops: 6"),
        ("offset_increment=1m", "offset_increment_bytes: 1048576"),
        (
            "rw=randrw:8\nrw_sequencer=identical",
            "Some(Repeat { requests: 8, identical: true })",
        ),
        ("rw=rw:-8k", "step_bytes: -8192"),
        ("timeout=60", "runtime: Some("),
        ("wait_for_previous", "stonewall: true"),
        ("exitall", "exit: Group"),
        ("exitall\nexit_what=all", "exit: All"),
        ("new_group", "new_group: true"),
        ("name=other", "name: \"other\""),
        (
            "zonemode=strided\nzonesize=8k\nzoneskip=4k",
            "range_bytes: 8192, size_bytes: 8192, skip_bytes: 4096",
        ),
        ("rate_min=1k", "min_rate_write: Some(Bytes(1024))"),
        ("rate_iops_min=5,", "min_rate_read: Some(Requests(5))"),
        ("rate_cycle=500", "rate_cycle: Duration(500000000000)"),
        (
            "flow=8\nflow_id=1\nflow_sleep=10",
            "id: 1, weight: 8, sleep: Duration(10000000)",
        ),
        (
            "latency_target=100\nlatency_window=1s\nlatency_percentile=99.9",
            "percentile: 99900000",
        ),
        (
            "ss=iops_slope:0.5%\nss_dur=10",
            "is_slope: true, limit: 500000, is_percent: true",
        ),
        ("iodepth=9\nioengine=libaio", "iodepth: 9"),
        ("filesize=2m", "pass_bytes: Some(1048576)"),
    ] {
        let jobs = parse(&format!("[j]\nsize=1m\nrw=randrw\n{line}\n")).unwrap();
        assert_ne!(jobs, base, "{line}");
        let text = format!("{:?}", jobs[0]);
        assert!(text.contains(changed), "{line}: {text}");
    }
}

/// What the tables declare is what is taken, passed over or refused.
#[test]
fn the_tables_declare_what_becomes_of_each_option() {
    use crate::declared::{Meaning, first_name, job_options, meaning, named_option};
    let set = |key: &str| Draft::new(Job::new("a"), None).set(key, "x");
    let mut counts = [0; 3];
    for key in job_options() {
        let said = set(key).err().unwrap_or_default();
        let which = match meaning(key).unwrap() {
            Meaning::Own => {
                assert!(meaning(first_name(key)) == Some(Meaning::Own), "{key}");
                assert!(!said.starts_with("is not a known option"), "{key}");
                0
            }
            Meaning::PassedOver(reason) => {
                assert!(!reason.is_empty() && foreign::reason(key) == Some(reason));
                1
            }
            Meaning::Refused([asks, instead]) => {
                assert!(!asks.is_empty() && !instead.is_empty(), "{key}");
                // Of the two that are read, the value counts.
                assert!(key == "do_verify" || said == format!("{asks}; {instead}"));
                2
            }
            Meaning::Engine(_) => unreachable!("{key} is an engine"),
        };
        counts[which] += 1;
    }
    assert!(counts.iter().all(|count| *count > 60), "{counts:?}");
    assert!(set("no_such").unwrap_err().starts_with("is not a known"));
    assert_eq!(first_name("readwrite"), "rw");
    assert_eq!(named_option("norandom"), Some("norandommap"));
}

#[test]
fn percentages_left_out_share_the_rest() {
    let jobs = parse("[j]\nsize=1m\nbssplit=4k/50:8k/:32k/\n").unwrap();
    let percents: Vec<u32> = jobs[0].block_sizes.as_ref().unwrap()[0]
        .split
        .iter()
        .map(|b| b.percent)
        .collect();
    assert_eq!(percents, [50, 25, 25]);
    assert_eq!(
        (jobs[0].unit_bytes(), jobs[0].largest_block_bytes()),
        (4096, 32_768)
    );
}

#[test]
fn an_error_names_file_line_key_and_remedy() {
    for (text, expected) in [
        (
            "[j]\nsize=1m\niodpeth=4\n",
            "a.fio:3: iodpeth: is not a known option; did you mean iodepth?",
        ),
        (
            "[j]\nsize=1m\nioengine=http\n",
            "a.fio:3: ioengine: is \"http\", which moves data over a network; use libaio or io_uring, or remove the line",
        ),
        (
            "bs=4k\n",
            "a.fio:1: bs: stands before any section; put [global] or [name] above it, or give a trace with --trace",
        ),
        (
            "0,usr,1,Read,0,4096\n1,usr,1,Read,0,4096\n[j]\nsize=1m\n",
            "a.fio:1: 0,usr,1,Read,0,4096: stands before any section; put [global] or [name] above it, or give a trace with --trace",
        ),
        (
            "[j]\nsize=1m\nfilename=a\nfilename=b\n[k]\nsize=1m\nfilename=b\n",
            "a.fio:5: [k] filename: is in part that of [j], which has other files beside it; give both the same files, or a job to each file",
        ),
        (
            "[j]\nsize=1m\nrw=radnread\n",
            "a.fio:3: rw: is \"radnread\", which is unknown; did you mean randread?",
        ),
        (
            "[j]\nsize=1m\nfdp_pli_select=random\n",
            "a.fio:3: fdp_pli_select: draws placement identifiers at random, and jobs here take them in turn, as roundrobin; remove it",
        ),
        (
            "[j]\nsize=1m\nnumjobs=3000\n[k]\nsize=1m\nnumjobs=2000\n",
            "a.fio:4: [k] numjobs: brings the jobs of the file to 5000; use 4096 at most, as fio",
        ),
        (
            "[j]\nsize=1m\npercentile_list=1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21\n",
            "a.fio:3: percentile_list: has 21 percentiles; use 20 at most",
        ),
        (
            "[j]\nsize=4z\n",
            "a.fio:2: size: is \"4z\", zones, and the device has none; write bytes, or take a profile with zones",
        ),
        (
            "[j]\nsize=1m\ndirect=1\nstonewall=yes\n",
            "a.fio:4: stonewall: is \"yes\"; use 1 or 0",
        ),
        (
            "[j]\nsize=1m\niodepth=0\n",
            "a.fio:1: [j] iodepth: is 0; use 1 to 65536",
        ),
        (
            "[j]\n",
            "a.fio:1: [j] size: is missing or 0; give one, such as size=1g",
        ),
        ("[j\n", "a.fio:1: [j: is not a section; write it as [name]"),
        (
            "\n",
            "a.fio:1: (file): has no job; add a section such as [job1]",
        ),
        (
            "[j]\nsize=1m\nrate=fast\n",
            "a.fio:3: rate: is \"fast\", which is not a size; write a number and B, KiB, MiB, GiB or TiB, such as 4KiB or 4k",
        ),
        (
            "[j]\nsize=1m\nbssplit=4k/60:8k/60\n",
            "a.fio:3: bssplit: has percentages that add up to 120; let them add up to 100",
        ),
        (
            "[j]\nsize=1m\nread_pattern=seq\n",
            "a.fio:3: read_pattern: is \"seq\", which is unknown; use sequential, random or none",
        ),
        (
            "[j]\nsize=1m\ndataplacement=fast\n",
            "a.fio:3: dataplacement: is \"fast\", which is unknown; use none, streams or fdp",
        ),
        (
            "[j]\nsize=1m\ndataplacement=streams\n",
            "a.fio:1: [j] plids: is missing; give both, such as dataplacement=streams and plids=1",
        ),
        (
            "[j]\nsize=1m\nverify=crc32c\n",
            "a.fio:3: verify: asks for data to be compared, and the simulated device keeps none; remove it, and read in a job with stonewall",
        ),
        (
            "[j]\nsize=1m\nzonemode=zbd\nzone_reset_threshold=2\n",
            "a.fio:4: zone_reset_threshold: is \"2\"; use a number from 0 to 1, such as 0.1",
        ),
        (
            "[j]\nsize=4*$mb_memory\n[k]\nsize=1m\n",
            "a.fio:2: size: has $mb_memory, which is of this machine; write the number",
        ),
        (
            "[j]\nsize=1m\nfilename=/dev/a:/dev/b\noffset=4k\n",
            "a.fio:1: [j] offset: is of each of several files, which are parts of one namespace here; remove it, or write a job for each file",
        ),
        (
            "[j]\nsize=1m\nwait_for=k\n[k]\nsize=1m\n",
            "a.fio:1: [j] wait_for: is \"k\", and not the one job of that name above; name such a job",
        ),
        (
            "[j]\nfilename=x\n",
            "a.fio:1: [j] size: is a part of the device, whose size is not known here; give it in bytes",
        ),
        (
            "[j]\nsize=1m\nlatency_target=10\nss=iops:1\nzonemode=strided\n",
            "a.fio:1: [j] zonesize: of 0 B holds no block of 4096 B; use at least one block\n\
             a.fio:1: [j] latency_window: is missing or 0; give one, such as latency_window=5s\n\
             a.fio:1: [j] ss_dur: is missing, or not 2 to 4096 times ss_interval, which is 1 us at least; give one, such as ss_dur=10s",
        ),
        (
            "[j]\nsize=1m\nzonesize=4k\n",
            "a.fio:1: [j] zonesize: has no zones to be of; add zonemode=strided, or zonemode=zbd",
        ),
        (
            "[j]\nsize=1m\nplids=1\n",
            "a.fio:1: [j] dataplacement: is missing; give both, such as dataplacement=streams and plids=1",
        ),
        (
            "[j]\nsize=1m\nplids=17\n",
            "a.fio:3: plids: is \"17\"; write streams from 1 to 16, or handles from 0, such as 1,3-5",
        ),
        (
            "[j]\nsize=1m\ndataplacement=streams\nplids=0\n",
            "a.fio:1: [j] plids: has stream 0; use 1 to 16",
        ),
        (
            "[j]\nsize=1m\ndataplacement=fdp\nplids=16\n",
            "a.fio:1: [j] plids: has handle 16; use 0 to 15",
        ),
        (
            "[j]\nsize=1m\ndataplacement=streams\nfdp=1\n",
            "a.fio:1: [j] fdp: is 1 with dataplacement=streams; remove one of them",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err(), expected);
    }
    let unknown = parse("[j]\nsize=1m\nfrobnicate=4k\nzzz\n").unwrap_err();
    assert!(
        unknown.contains("a.fio:4: zzz: is not a known option; remove it (") && unknown.len() < 300,
        "{unknown}"
    );
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_the_lines() {
    let errors =
        parse("[j]\nsize=1q\niodpeth=4\nioengine=rdma\n[k]\nsize=1m\niodepth=0\nverify=md5\n");
    let errors = errors.unwrap_err();
    let starts: Vec<&str> = errors
        .lines()
        .map(|line| line.split(": ").nth(1).unwrap())
        .collect();
    let expected = ["size", "iodpeth", "ioengine", "[k] iodepth", "verify"];
    assert_eq!(starts, expected, "{errors}");
}

#[test]
fn what_has_no_meaning_is_passed_over_and_named_once() {
    let text = "[global]\nsize=1m\ndirect=1\nioengine=psync\niodepth=8\nverify=0\n[j]\ndirect=0\nthread ; fine\n";
    let list = parse_job_file("a.fio", text, &Job::new("")).unwrap();
    let sequential = "[j]\nsize=1m\nrandom_distribution=zipf\n[k]\nsize=1m\nnorandommap\n";
    let sequential = parse_job_file("a.fio", sequential, &Job::new("")).unwrap();
    assert_eq!(
        sequential.passed_over,
        ["random_distribution of a sequential job"]
    );
    let expected = [
        "direct",
        "ioengine",
        "verify",
        "thread",
        "iodepth of a synchronous engine",
    ];
    assert_eq!(list.passed_over, expected);
    assert_eq!(list.jobs[0].iodepth, 1);
    assert_eq!(
        parse("[j]\nsize=1m\nioengine=io_uring\niodepth=8\n").unwrap()[0].iodepth,
        8
    );
}

#[test]
fn variables_stand_for_their_values_or_nothing() {
    let list = parse_around("[j]\nsize=1m\nbs=${BS}\nname=a${NONE}b\n", &[]).unwrap();
    assert_eq!(
        (list.jobs[0].block_bytes, list.jobs[0].name.as_str()),
        (65_536, "ab")
    );
    let error = parse_around("[j]\nsize=1m\nrw=${FIO_RW}\n", &[]).unwrap_err();
    let expected = "a.fio:3: rw: has ${FIO_RW}, which is not set; set FIO_RW in the environment";
    assert_eq!(error, expected);
}

#[test]
fn files_are_included_and_named_in_their_errors() {
    let list = parse_around("[global]\nsize=1m\ninclude more.fio\n[j]\n", &[]).unwrap();
    assert_eq!(
        (list.jobs[0].iodepth, list.passed_over),
        (7, vec!["thread".to_owned()])
    );
    for (file, expected) in [
        ("none.fio", "a.fio:3: include: of \"none.fio\" fails"),
        (
            "bad.fio",
            "bad.fio:2: [section]: stands in an included file",
        ),
        (
            "bad.fio",
            "bad.fio:3: iodpeth: is not a known option; did you mean iodepth?",
        ),
        (
            "round.fio",
            "round.fio:1: include: is one file too many, or too deep",
        ),
    ] {
        let error = parse_around(&format!("[j]\nsize=1m\ninclude {file}\n"), &[]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    // What would be in a file that is not there is not missed.
    for text in [
        "[j]\ninclude none.fio\n",
        "[global]\ninclude none.fio\n[j]\n[k]\n",
    ] {
        assert_eq!(parse_around(text, &[]).unwrap_err().lines().count(), 1);
    }
}

#[test]
fn what_fio_takes_for_none_or_for_on_is_that() {
    let plain = parse("[j]\nsize=1m\nfilename=a\n").unwrap();
    for lines in [
        "runtime=0",
        "rate=0",
        "rate_iops=0,0",
        "file_service_type=random",
        "stonewall=0",
        "filename=a",
        "loops=(1k/1024)",
    ] {
        let text = format!("[j]\nsize=1m\nfilename=a\n{lines}\n");
        assert_eq!(parse(&text).unwrap(), plain, "{lines}");
    }
    assert!(parse("[j]\nsize=1m\nstonewall=10\n").unwrap()[0].stonewall);
}

#[test]
fn only_the_sections_that_are_asked_for_count() {
    let text = "[global]\nsize=1m\n[a]\n[b]\niodpeth=1\n[c]\n";
    let names = |list: JobList| {
        list.jobs
            .into_iter()
            .map(|job| job.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        parse_around(text, &["c", "a"]).map(names),
        Ok(vec!["a".to_owned(), "c".to_owned()])
    );
    let error = parse_around(text, &["d"]).unwrap_err();
    assert_eq!(
        error,
        "a.fio:1: (file): has no section [d]; name one that it has"
    );
}

#[test]
fn sizes_may_be_parts_of_the_device_or_of_the_file() {
    let region = |lines: &str| {
        let list = parse_around(&format!("[j]\n{lines}\n"), &[]).unwrap();
        (list.jobs[0].offset_bytes, list.jobs[0].size_bytes)
    };
    assert_eq!(region("filename=/dev/sda"), (0, 1 << 30));
    assert_eq!(
        region("filename=/dev/sda\noffset=1m"),
        (1 << 20, (1 << 30) - (1 << 20))
    );
    assert_eq!(region("size=25%\noffset=50%"), (1 << 29, 1 << 28));
    assert_eq!(region("filesize=4m"), (0, 4 << 20));
    assert_eq!(region("filesize=4m\noffset=25%"), (1 << 20, 3 << 20));
    assert_eq!(region("size=2z\noffset=1z"), (3 << 20, 6 << 20));
    let error = parse_around("[j]\nbs=4k\n", &[]).unwrap_err();
    assert_eq!(
        error,
        "a.fio:1: [j] size: is missing or 0; give one, such as size=1g"
    );
}

#[test]
fn what_is_not_verified_is_written_and_several_files_are_one_namespace() {
    for text in [
        "[j]\nrw=write\nsize=1m\nverify=crc32c\nverify_interval=512\ndo_verify=0\n",
        "[global]\ndo_verify=0\n[j]\nrw=write\nsize=1m\nverify=crc32c\n",
        "[j]\nsize=1m\nioengine=spdk_bdev\nspdk_json_conf=./bdev.json\nfilename=Nvme0n1\n",
        "[j]\nsize=1m\nioengine=external:/x/spdk_nvme\nmem_size_mb=256\nfilename=trtype=PCIe traddr=0000.04.00.0 ns=1\n",
    ] {
        assert!(parse(text).is_ok(), "{text}: {:?}", parse(text));
    }
    let of = |text: &str| parse(&format!("[j]\n{text}\n")).unwrap().remove(0);
    let files = of("filesize=1m\nfilename=/dev/a:/dev/b\nfilename=/dev/a\nfilename=c\\:d");
    assert_eq!(files.file.as_deref(), Some("/dev/a:/dev/b:c:d"));
    assert_eq!(files.size_bytes, 3 << 20);
    assert_eq!(of("filesize=1m\nnrfiles=4").size_bytes, 4 << 20);
    assert_eq!(of("size=1m\nnrfiles=4").size_bytes, 1 << 20);
    // A page cache rounds only what goes through it.
    for (text, widens) in [
        ("bs=2300\nioengine=sync\nfdatasync=1\ndirectory=x", true),
        ("bs=2300", true),
        ("bs=2300\ndirect=1", false),
        ("bs=2300\nioengine=libaio", false),
    ] {
        assert_eq!(of(&format!("size=22m\n{text}")).widens, widens, "{text}");
    }
}

#[test]
fn what_a_file_asks_for_is_bounded() {
    /// Each file includes itself four times.
    struct Fan;
    impl Surroundings for Fan {
        fn read(&self, _: &str) -> io::Result<String> {
            Ok("include x\n".repeat(4))
        }
    }
    let read = |text: &str| {
        let file = JobFile {
            name: "a.fio",
            text,
            defaults: &Job::new(""),
            before: "",
            sections: &[],
            options: &[],
            runtime: None,
            surroundings: &Fan,
        };
        file.parse().unwrap_err().0
    };
    let errors = read("[a]\nsize=1m\ninclude x\n");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].message.contains("is one file too many"),
        "{errors:?}"
    );
    assert!(read(&"[a]\n".repeat(10_000)).len() <= 1 + JOBS_MAX as usize);
    assert!(read(&format!("[a]\n{}", "x\n".repeat(1_000_000))).len() <= MISTAKES_MAX + 1);
    let large = read(&"#\n".repeat(TEXT_MAX));
    assert!(large[0].message.contains("brings the text to"), "{large:?}");
}

#[test]
fn options_beside_a_file_are_what_its_jobs_have_unless_it_says_otherwise() {
    let defaults = Job::new("");
    let file = |before| JobFile {
        name: "a.fio",
        text: "[global]\nsize=64k\n[a]\n[b]\nbs=8k\n",
        defaults: &defaults,
        before,
        sections: &[],
        options: &[],
        runtime: None,
        surroundings: &NoSurroundings,
    };
    let jobs = file("[global]\nsize=1m\nbs=16k\nfilename=/dev/y\n")
        .parse()
        .unwrap()
        .jobs;
    let said: Vec<_> = jobs
        .iter()
        .map(|job| (job.size_bytes, job.block_bytes))
        .collect();
    assert_eq!(said, [(65_536, 16_384), (65_536, 8_192)]);
    assert!(jobs.iter().all(|job| job.file.as_deref() == Some("/dev/y")));
    // As in fio, a job of the command line is the first.
    let jobs = file("[global]\nbs=32k\n[c]\nsize=1m\n")
        .parse()
        .unwrap()
        .jobs;
    let names: Vec<_> = jobs
        .iter()
        .map(|job| (&*job.name, job.block_bytes))
        .collect();
    assert_eq!(names, [("c", 32_768), ("a", 32_768), ("b", 8_192)]);
}
