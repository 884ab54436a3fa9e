//! Whole workloads, and what jobs recorded, as a C caller asks for them.

use std::ffi::CString;

use crate::*;

const JOB: &str = r#""workload": {"job": {"name": "x.fio", "text": "[one]\nsize=64k\n"}}"#;

fn request(rest: &str) -> String {
    format!(r#"{{"command": "me", "profile": "melded-tlc-8x8", {rest}}}"#)
}

fn run(request: &str) -> i64 {
    let request = CString::new(request).unwrap();
    // SAFETY: a NUL-terminated string.
    unsafe { meldsim_run(MELDSIM_ABI_VERSION, request.as_ptr()) }
}

fn result() -> String {
    // SAFETY: asks for the size only.
    let bytes = unsafe { meldsim_run_result(std::ptr::null_mut(), 0) };
    let mut buffer = vec![1u8; bytes as usize];
    // SAFETY: as many writable bytes as it asked for.
    let again = unsafe { meldsim_run_result(buffer.as_mut_ptr().cast(), bytes as u64) };
    assert_eq!(again, bytes);
    assert_eq!(buffer.pop(), Some(0));
    String::from_utf8(buffer).unwrap()
}

fn last_error() -> String {
    let mut buffer = vec![0u8; 1024];
    // SAFETY: 1024 writable bytes.
    let bytes = unsafe { meldsim_last_error(buffer.as_mut_ptr().cast(), 1024) };
    buffer.truncate(bytes as usize - 1);
    String::from_utf8(buffer).unwrap()
}

#[test]
fn a_run_gives_its_result_to_its_thread() {
    let bytes = run(&request(JOB));
    assert!(bytes > 1, "{}", last_error());
    let text = result();
    assert_eq!(text.len() as i64 + 1, bytes);
    assert!(text.starts_with("{\n  \"command\": \"me\","), "{text}");
    assert!(text.contains("\"jobname\": \"one\""), "{text}");
    assert_eq!(result(), text, "it stays");
    std::thread::scope(|scope| {
        let elsewhere = scope.spawn(result);
        assert_eq!(elsewhere.join().unwrap(), "");
    });
    let mut short = [1u8; 6];
    // SAFETY: six writable bytes.
    let all = unsafe { meldsim_run_result(short.as_mut_ptr().cast(), 6) };
    assert_eq!((all, &short), (bytes, b"{\n  \"\0"));
}

#[test]
fn a_job_has_the_includes_and_variables_of_its_request() {
    let job = r#""workload": {"job": {"name": "x.fio", "text": "[one]\ninclude more.fio\nbs=${BS}\n", INCLUDES}}"#;
    let with = |rest: &str| request(&job.replace("INCLUDES", rest));
    let bytes = run(&with(
        r#""includes": {"more.fio": "size=64k"}, "variables": {"BS": "16k"}"#,
    ));
    assert!(bytes > 1, "{}", last_error());
    assert!(result().contains("\"total_ios\": 4,"), "{}", result());
    assert_eq!(
        run(&with(r#""variables": {"BS": "16k"}"#)),
        i64::from(MELDSIM_ERR_ARGUMENT)
    );
    assert!(
        last_error().contains("x.fio:2: include: of \"more.fio\" fails"),
        "{}",
        last_error()
    );
    assert_eq!(
        run(&with(r#""includes": {"more.fio": "size=64k"}"#)),
        i64::from(MELDSIM_ERR_ARGUMENT)
    );
    assert!(last_error().contains("BS"), "{}", last_error());
}

#[test]
fn what_is_refused_has_a_status_and_a_text_and_leaves_no_result() {
    let no_room = JOB.replace("64k", "64t");
    let trace = r#""workload": {"trace": {"name": "mine", "path": "/nowhere/t"}}"#;
    for (rest, status, said) in [
        ("".to_owned(), MELDSIM_ERR_ARGUMENT, "request: "),
        (
            format!(r#""set": ["ftl.x=1"], {JOB}"#),
            MELDSIM_ERR_PROFILE,
            "ftl.x",
        ),
        (
            format!(r#""set": ["sets.count=3"], {JOB}"#),
            MELDSIM_ERR_PROFILE,
            "sets.count",
        ),
        (
            JOB.replace("size", "sighs"),
            MELDSIM_ERR_ARGUMENT,
            "x.fio:2: sighs",
        ),
        (
            JOB.replace("64k", "64k\\nnvm_set=9"),
            MELDSIM_ERR_ARGUMENT,
            "job one",
        ),
        (no_room, MELDSIM_ERR_CAPACITY, "job one"),
        (
            trace.to_owned(),
            MELDSIM_ERR_ARGUMENT,
            "mine: cannot be read",
        ),
    ] {
        assert!(run(&request(JOB)) > 1);
        assert_eq!(
            run(&request(&rest)),
            i64::from(status),
            "{rest}: {}",
            last_error()
        );
        assert!(last_error().contains(said), "{rest}: {}", last_error());
        assert_eq!(result(), "", "{rest}");
    }
    // SAFETY: null and another version are the errors under test.
    unsafe {
        let null = meldsim_run(MELDSIM_ABI_VERSION, std::ptr::null());
        assert_eq!(null, i64::from(MELDSIM_ERR_ARGUMENT));
        let other = meldsim_run(MELDSIM_ABI_VERSION + 1, std::ptr::null());
        assert_eq!(other, i64::from(MELDSIM_ERR_ABI));
    }
}

#[test]
fn threads_run_side_by_side_with_the_same_results() {
    let seeded = |seed: usize| {
        let job = format!(
            r#""workload": {{"job": {{"name": "x", "text": "[one]\nrw=randread\nsize=1m\n", "seed": {seed}}}}}"#
        );
        assert!(run(&request(&job)) > 1, "{}", last_error());
        result()
    };
    let alone: Vec<String> = (0..4).map(seeded).collect();
    let together: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|seed| scope.spawn(move || seeded(seed)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(together, alone);
    assert_ne!(alone[0], alone[1], "the seed counts");
}

#[test]
fn an_empty_folder_cannot_be_joined() {
    let folder = tempfile::tempdir().unwrap();
    let text = CString::new(folder.path().to_str().unwrap()).unwrap();
    let output = CString::new(folder.path().join("out").to_str().unwrap()).unwrap();
    assert!(run(&request(JOB)) > 1);
    // SAFETY: NUL-terminated strings.
    let bytes = unsafe { meldsim_timeline_join(text.as_ptr(), output.as_ptr(), 0) };
    assert_eq!(bytes, i64::from(MELDSIM_ERR_ARGUMENT));
    assert_eq!(result(), "");
    assert!(
        last_error().contains("fetch brings them"),
        "{}",
        last_error()
    );
}

/// Victim policies as C would have them: the one with fewest valid pages, and some that go wrong. Which is the context.
mod victims {
    use std::ffi::{c_char, c_void};

    use super::*;

    pub(super) const GREEDY: usize = 1;
    pub(super) const FOREIGN: usize = 2;
    pub(super) const TWICE: usize = 3;
    pub(super) const MANY: usize = 4;
    pub(super) const FAILS: usize = 5;
    pub(super) const NOTHING: usize = 6;
    pub(super) const REFUSES: usize = 7;

    unsafe extern "C" fn make(
        context: *mut c_void,
        _: *const c_char,
        _: u32,
        _: u32,
    ) -> *mut c_void {
        match context as usize {
            REFUSES => {
                // SAFETY: a NUL-terminated text.
                unsafe { meldsim_policy_error(c"has no such option".as_ptr()) };
                std::ptr::null_mut()
            }
            _ => context,
        }
    }

    unsafe extern "C" fn drop(_: *mut c_void) {}

    unsafe extern "C" fn rank(
        policy: *mut c_void,
        _: u64,
        candidates: *const meldsim_candidate,
        n: u32,
        most: u32,
        ranked: *mut u32,
    ) -> i32 {
        // SAFETY: as long as the library says.
        let (given, ranked) = unsafe {
            (
                std::slice::from_raw_parts(candidates, n as usize),
                std::slice::from_raw_parts_mut(ranked, most as usize),
            )
        };
        let mut given: Vec<_> = given.iter().collect();
        given.sort_unstable_by_key(|of| (of.valid, of.closed_at, of.number));
        for (to, from) in ranked.iter_mut().zip(&given) {
            *to = from.number;
        }
        match policy as usize {
            FOREIGN if most > 0 => ranked[0] = 1 << 30,
            TWICE if most > 1 => ranked[1] = ranked[0],
            MANY => return i32::MAX,
            FAILS => return -7,
            NOTHING => return 0,
            _ => {}
        }
        most as i32
    }

    /// Registers a policy and lets a small device that is full be written over with it.
    pub(super) fn run_with(context: usize) -> i64 {
        let table = meldsim_victims {
            size: size_of::<meldsim_victims>() as u32,
            flags: 0,
            context: context as *mut c_void,
            make: Some(make),
            drop: Some(drop),
            rank: Some(rank),
            closed: None,
            invalidated: None,
            erased: None,
        };
        let name = CString::new(format!("of-c-{context}")).unwrap();
        for about in [c"once", c"and again"] {
            // SAFETY: NUL-terminated texts, and a whole table.
            let status = unsafe {
                meldsim_register_victims(MELDSIM_ABI_VERSION, name.as_ptr(), about.as_ptr(), &table)
            };
            assert_eq!(status, 0, "{}", last_error());
        }
        overwrite(&format!("of-c-{context}"))
    }

    pub(super) fn overwrite(victim: &str) -> i64 {
        let job =
            "[a]\\nrw=randwrite\\nbs=4k\\niodepth=32\\nsize=100%\\nio_size=256m\\nnorandommap=1\\n";
        let set = format!(
            r#"["geometry.blocks_per_plane=20", "geometry.wordlines_per_block=16", "gc.victim={victim}"]"#
        );
        run(&request(&format!(
            r#""precondition": "fill=100,random=100", "set": {set}, "workload": {{"job": {{"name": "x", "text": "{job}"}}}}"#
        )))
    }
}

#[test]
fn a_victim_policy_in_c_does_what_one_in_rust_does() {
    assert!(victims::overwrite("greedy") > 1, "{}", last_error());
    let native = result();
    assert!(victims::run_with(victims::GREEDY) > 1, "{}", last_error());
    let device = |text: &str| {
        let result: serde_json::Value = serde_json::from_str(text).unwrap();
        result["device"].clone()
    };
    assert!(device(&native)["gc_pages_moved"].as_u64() > Some(1000));
    assert_eq!(device(&result()), device(&native));
}

#[test]
fn a_fault_of_a_policy_in_c_ends_the_run_and_names_it() {
    for (context, said) in [
        (
            victims::FOREIGN,
            "rank names superblock 1073741824, which was not given",
        ),
        (victims::TWICE, "is named twice"),
        (victims::MANY, "rank names 2147483647 superblocks"),
        (victims::FAILS, "rank returned -7"),
        (victims::NOTHING, "names no superblock"),
        (victims::REFUSES, "make has no such option"),
    ] {
        assert_eq!(
            victims::run_with(context),
            i64::from(MELDSIM_ERR_POLICY),
            "{said}"
        );
        let error = last_error();
        assert!(error.contains(said), "{error}");
        assert!(
            error.contains(&format!("gc.victim: policy \"of-c-{context}\"")),
            "{error}"
        );
        assert_eq!(result(), "");
    }
    // SAFETY: NUL-terminated texts; null and a name of the library's own are the errors under test.
    let null = unsafe {
        meldsim_register_victims(
            MELDSIM_ABI_VERSION,
            c"greedy".as_ptr(),
            c"".as_ptr(),
            std::ptr::null(),
        )
    };
    assert_eq!(null, MELDSIM_ERR_ARGUMENT);
}
