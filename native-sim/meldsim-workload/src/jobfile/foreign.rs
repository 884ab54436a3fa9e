//! Options of fio that a simulated device gives no meaning, and those that are refused, each with the reason.
//!
//! An option of the first kind changes nothing in what the device is asked: it is about files, memory, processes, logs or
//! the content of buffers. One of the second kind does change that, in a way that jobs here do not.

/// Options that are passed over, by the reason.
const WITHOUT_MEANING: [(&str, &str); 6] = [
    (
        "description, directory, filename_format, unique_filename, lockfile, opendir, create_serialize, create_fsync, \
         create_on_open, allow_file_create, allow_mounted_write, fallocate, fadvise_hint, unlink, unlink_each_loop, \
         overwrite, openfiles, file_service_type, direct, buffered, atomic, uncached, invalidate, pre_read, mem, iomem, iomem_align, mem_align, \
         hugepage-size, lockmem, zero_buffers, refill_buffers, scramble_buffers, buffer_pattern, \
         buffer_compress_percentage, buffer_compress_chunk, dedupe_percentage, dedupe_mode, dedupe_global, \
         dedupe_working_set_percentage, thread, threads, nice, comm, cpumask, cpus_allowed, cpus_allowed_policy, \
         numa_cpu_nodes, numa_mem_policy, cgroup, cgroup_weight, cgroup_nodelete, uid, gid, softrandommap",
        "a simulated device has no files, caches, processes or content",
    ),
    (
        "ioengine, clocksource, gtod_reduce, gtod_cpu, job_start_clock_id, iodepth_batch, iodepth_batch_submit, \
         iodepth_batch_complete_max, io_submit_mode, hipri, hipri_percentage, fixedbufs, nonvectored, force_async, \
         spdk_conf, spdk_json_conf, spdk_mem, spdk_single_seg, \
         spdk_rpc_listen_addr, spdk_tracing, env_context, log_flags, mem_size_mb, shm_id, enable_sgl, sge_size, \
         disable_pcie_sgl_merge, enable_vmd, hostnqn, digest_enable, print_qid_mappings, initial_zone_reset, zone_append, \
         registerfiles, sqthread_poll, sqthread_poll_cpu, userspace_reap, libaio_vectored, nowait, cmd_type, xnvme_async, \
         xnvme_sync, xnvme_admin, xnvme_dev_nsid, xnvme_mem, xnvme_iovec, thinktime_spin",
        "host.path of the profile says how long the host's own work takes",
    ),
    (
        "enable_wrr, arbitration_burst, low_weight, medium_weight, high_weight, wrr_priority, ioscheduler, prio, prioclass, priohint, cmdprio, cmdprio_class, cmdprio_hint, cmdprio_percentage, \
         cmdprio_bssplit",
        "NVMe commands carry no priority; queue_priority is that of a queue",
    ),
    (
        "per_job_logs, stats, write_bw_log, write_lat_log, write_iops_log, write_hist_log, write_iolog, log_entries, \
         log_avg_msec, log_hist_msec, log_hist_coarseness, log_window_value, log_max_value, log_offset, log_prio, \
         log_issue_time, log_compression, log_compression_cpus, log_store_compressed, log_unix_epoch, \
         log_alternate_epoch, log_alternate_epoch_clock_id, block_error_percentiles, bwavgtime, iopsavgtime, disk_util, \
         disable_lat, disable_clat, disable_slat, disable_bw, disable_bw_measurement, \
         significant_figures, unified_rw_reporting, unit_base, error_dump",
        "results have forms of their own: --format, --time-series and --requests",
    ),
    (
        "trim_verify_zero, verify_dump, verify_fatal, verify_async, verify_async_cpus, verify_state_save, \
         verify_state_load",
        "nothing is verified",
    ),
    (
        "ignore_zone_limits, continue_on_error, ignore_error, exitall_on_error",
        "a request that fails is counted, and the job goes on",
    ),
];

/// Engines whose requests wait in a queue, `iodepth` deep.
const QUEUED: &str =
    "libaio, linuxaio, io_uring, io_uring_cmd, posixaio, solarisaio, windowsaio, xnvme, libblkio";
/// Engines that have one request outstanding, whatever `iodepth` says.
const SYNCHRONOUS: &str = "sync, psync, vsync, pvsync, pvsync2, mmap, splice";
/// Engines that ask nothing of a device: here it is asked.
const NULL: &str = "null, cpp_null";

/// How many requests an engine keeps outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// `iodepth`.
    Queued,
    /// One.
    Synchronous,
    /// `iodepth`, without a queue where that is 1.
    Null,
}

/// Engines that do something else, by what it is.
const OTHER_ENGINES: [(&str, &str); 5] = [
    (
        "http, rdma, net, netsplice, nbd, nfs, libiscsi, rbd, rados, gfapi, gfapi_async, libhdfs, dfs, ime_psync, \
         ime_psyncv, ime_aio, librpma_apm_client, librpma_apm_server, librpma_gpspm_client, librpma_gpspm_server",
        "moves data over a network",
    ),
    (
        "filecreate, filestat, filedelete, fileoperations, dircreate, dirstat, dirdelete, falloc, ftruncate, e4defrag",
        "works on files and not on their data",
    ),
    ("cpuio, exec", "does no I/O"),
    (
        "mtd, libzbc, sg",
        "commands raw flash, zones or SCSI devices, which the simulated NVMe device is not",
    ),
    (
        "dev-dax, libpmem, pmemblk, libcufile, guasi",
        "reaches memory or storage past the queues of a block device",
    ),
];

/// Options that are refused, by the reason.
const REFUSED: [(&str, &str); 14] = [
    (
        "verify, do_verify, verify_only, verify_policy, verify_offset, verify_interval, verify_pattern, \
         verify_pattern_interval, verify_backlog, verify_backlog_batch, verify_write_sequence, verify_header_seed, \
         experimental_verify, verifysort, verifysort_nr",
        "asks for data to be compared, and the simulated device keeps none; remove it, and read in a job with stonewall",
    ),
    (
        "recover_zbd_write_error, write_zone_remainder, write_zone_remainders",
        "is of zoned devices in a way that jobs here do not; remove it",
    ),
    (
        "trim_percentage, trim_backlog, trim_backlog_batch",
        "trims what is verified, and nothing is; remove it, or use rw=trimwrite",
    ),
    (
        "write_barrier, sync_file_range, end_syncfs",
        "writes back caches of files, which are not here; use fsync or fdatasync",
    ),
    (
        "read_iolog, read_iolog_chunked, merge_blktrace_file, merge_blktrace_scalars, \
         merge_blktrace_iters, replay_no_stall, replay_redirect, replay_scale, replay_align, replay_time_scale, \
         replay_skip",
        "is of recorded requests; give those with --trace",
    ),
    (
        "exec_prerun, exec_postrun, profile, create_only",
        "starts something else than a job; remove it",
    ),
    (
        "filetype, file_append",
        "is of files, which are parts of a namespace here; remove it",
    ),
    (
        "sprandom, spr_num_regions, spr_op, spr_cs",
        "brings a device into steady state; use --precondition fill=100,random=100",
    ),
    (
        "plid_select, fdp_pli_select",
        "draws placement identifiers at random, and jobs here take them in turn, as roundrobin; remove it",
    ),
    (
        "dp_scheme, md_per_io_size, pi_act, pi_chk, apptag, apptag_mask",
        "is of NVMe features that jobs do not use; remove it",
    ),
    (
        "max_latency",
        "ends a job at its first slow request; remove it, or use latency_target",
    ),
    (
        "thinktime_blocks_type, thinktime_iotime, thinkcycles, rate_ignore_thinktime, ramp_size, rwmixcycle, bs_unaligned, \
         blocksize_unaligned, percentage_sequential, random_sequence_stride, flow_watermark, num_range, fill_fs",
        "changes the order or the times of requests in a way that jobs here do not; remove it",
    ),
    (
        "hostname, port, protocol, proto, listen, pingpong, interface, ttl, nodelay, window_size, mss, bindname, verb, \
         namenode, serverip, direct_write_to_pmem, busy_wait_polling, nfs_url, uri, volume, brick, clustername, rbdname, \
         clientname, pool, conf, cont, svc, busy_poll, touch_objects, chunk_size, object_class, hdfsdirectory, http_host, \
         http_user, http_pass, https, http_mode, http_verbose, http_object_mode, http_s3_region, http_s3_key, \
         http_s3_keyid, http_s3_security_token, http_s3_sse_customer_key, http_s3_sse_customer_algorithm, \
         http_s3_storage_class, http_swift_auth_token, gpu_dev_id, gpu_dev_ids, cuda_io, rocm_io, donorname, inplace, \
         stat_type, program, arguments, grace_time, std_redirect, cpuload, cpuchunks, cpumode, exit_on_io_done, skip_bad, \
         sg_write_mode, stream_id, readfua, writefua, write_mode, read_mode, verify_mode, single_instance",
        "is of an engine that is refused; remove it with the engine",
    ),
    (
        "kb_base",
        "changes what units mean; write sizes with the units of 1024",
    ),
];

/// What fio does with an option or an engine.
pub(super) enum Foreign {
    /// It changes nothing here.
    PassedOver,
    /// It cannot be done. What was found and, after a semicolon, the remedy.
    Refused(String),
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(", ").any(|other| other == word)
}

/// An option that is not of this program, if fio knows it.
pub(super) fn option(key: &str, value: &str) -> Option<Foreign> {
    if reason(key).is_some() {
        return Some(Foreign::PassedOver);
    }
    let (_, reason) = REFUSED.iter().find(|(keys, _)| is_in(keys, key))?;
    // What is off is off here, too.
    Some(match value {
        "0" | "none" => Foreign::PassedOver,
        "complete" if key == "thinktime_blocks_type" => Foreign::PassedOver,
        "1024" if key == "kb_base" => Foreign::PassedOver,
        // What jobs do.
        "roundrobin" if key.ends_with("_select") => Foreign::PassedOver,
        _ => Foreign::Refused((*reason).to_owned()),
    })
}

/// All options of fio, for slips of the pen.
pub(super) fn options() -> impl Iterator<Item = &'static str> {
    let refused = REFUSED.iter().flat_map(|(keys, _)| keys.split(", "));
    let passed_over = WITHOUT_MEANING
        .iter()
        .flat_map(|(keys, _)| keys.split(", "));
    passed_over.chain(refused)
}

/// Why an option is passed over, if it is.
pub(super) fn reason(key: &str) -> Option<&'static str> {
    let found = WITHOUT_MEANING.iter().find(|(keys, _)| is_in(keys, key));
    found.map(|(_, reason)| *reason)
}

/// Whether an engine is in a library of the user's own, or of SPDK.
pub fn is_own_engine(name: &str) -> bool {
    name.ends_with(".so") || name.starts_with("external:") || name.starts_with("spdk")
}

/// Whether an option is of what is compared; nothing is with `do_verify=0`.
pub(super) fn is_of_verify(key: &str) -> bool {
    is_in(REFUSED[0].0, key)
}

/// What the engine does.
///
/// # Errors
///
/// That it does something else than a device can be asked for.
pub(super) fn engine(name: &str) -> Result<Engine, String> {
    for (names, engine) in [
        (QUEUED, Engine::Queued),
        (SYNCHRONOUS, Engine::Synchronous),
        (NULL, Engine::Null),
    ] {
        if is_in(names, name) {
            return Ok(engine);
        }
    }
    // It is asked for requests as libaio is.
    if is_own_engine(name) {
        return Ok(Engine::Queued);
    }
    let remedy = "use libaio or io_uring, or remove the line";
    let reason = OTHER_ENGINES.iter().find(|(names, _)| is_in(names, name));
    let reason = reason.map_or("is unknown", |(_, reason)| reason);
    Err(format!("is \"{name}\", which {reason}; {remedy}"))
}
