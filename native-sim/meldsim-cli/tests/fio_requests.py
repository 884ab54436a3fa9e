#!/usr/bin/env python3
"""Random job files, run by fio and by `meldsim run --requests`: both must make the same requests.

    fio_requests.py MELDSIM [JOBS [SEED]]

Same means: the same directions, offsets and sizes in the same order, job by job. fio has engine `null`, or `psync` and a file where
sizes are parts of it, and writes what it does to an iolog. Options whose effect depends on a clock (rates, thinktime, runtime) are in
jobs of one direction, where they change no order. What differs is printed with its job, and the exit code is 1. So it is where more
than one job in a hundred cannot be compared.
"""

import csv
import io
import itertools
import os
import random
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# Jobs of one file, which fio runs at once.
TOGETHER = 10
# A real file, of which sizes are parts.
FILE_BYTES = 1 << 20
# fio 3.33 tries for ever where no size fits, and where a normal number is the region's end. A job's process may compute so long, which
# no job needs by far; time on a clock would depend on what else the machine does.
MOST_CPU_SECONDS = 5
# Clones append to one log, each through a buffer of so many bytes. What fits it is written at once; lines are torn where it ends.
LOG_BUFFER_BYTES = 8192
# A line of the log is no longer than this one, and what comes before and after the requests no longer than that.
LONGEST_LINE = "99999 j9.2.0 write 9999999 99999\n"
LOG_HEAD_BYTES = 128


def spelled(rng, value):
    """A number in one of the ways that fio reads."""
    if type(value) is not int or value % 1024 or not 0 < value < 1 << 30 or rng.random() < 0.6:
        return value
    return rng.choice([f"{value // 1024}k", hex(value)])


def job(rng, name, folder):
    """The options of a job, as lines of its section."""
    k = 1024
    options = {}
    kinds = ["read", "write", "randread", "randwrite", "rw", "randrw", "trim", "randtrim", "trimwrite", "randtrimwrite"]
    kind = rng.choice(kinds)
    is_random, is_mixed = kind.startswith("rand"), kind in ("rw", "randrw")
    pair = kind.endswith("trimwrite")
    on_file = "trim" not in kind and rng.random() < 0.15
    chance = lambda share: rng.random() < share

    def by_direction(value):
        """One value for all, or one for each direction."""
        return value() if chance(0.6) else ",".join(str(value()) for _ in range(rng.choice([2, 3])))

    bs = rng.choice([512, 1 * k, 4 * k, 4 * k, 8 * k, 3 * k])
    if chance(0.45):
        options["bs"] = bs if pair or chance(0.6) else by_direction(lambda: bs << rng.randrange(3))
        most = bs << 2
    elif chance(0.5):
        options["bsrange"] = f"{bs}-{bs * rng.choice([1, 2, 4, 7])}"
        most = bs * 7
        if is_random and not pair and chance(0.3):
            options["bsrange"] += f",{bs}-{bs * 2}"
    else:
        shares = [f"{bs << nth}/{share}" for nth, share in enumerate(rng.choice([[100], [60, 40], [10, 50, 40], ["", ""], [25, "", ""]]))]
        options["bssplit"] = ":".join(shares)
        most = bs << 2
        if is_mixed and chance(0.4):
            options["bssplit"] += f",{bs}/30:{bs << 1}/70"
    if "bs" not in options and chance(0.1) and not pair:
        options["bs_is_seq_rand"] = 1
    size = max(most, bs * rng.randrange(4, 150) + rng.choice([0, 0, 0, 512]))
    modifier = ""
    if chance(0.2):
        if is_random:
            modifier = f":{rng.randrange(1, 9)}"
            options["rw_sequencer"] = rng.choice(["sequential", "identical"])
        elif not pair:
            modifier = f":{rng.choice([1, 1, -1]) * rng.choice([bs, 2 * bs, 8 * bs])}"
    options["rw"] = kind + modifier
    if on_file:
        options["ioengine"] = "psync"
        options["filename"] = os.path.join(folder, rng.choice(["one", "two"]))
        options["filesize"] = FILE_BYTES
        size = rng.choice([f"{rng.randrange(5, 60)}%", "100%", size])
        if chance(0.4):
            options["offset"] = rng.choice([f"{rng.randrange(0, 40)}%", bs * rng.randrange(8)])
            if chance(0.3):
                options["offset_align"] = bs * 2
        if chance(0.3):
            options["io_size"] = f"{rng.randrange(30, 101)}%"
    else:
        options["ioengine"] = "null"
        if chance(0.3):
            options["offset"] = bs * rng.randrange(20)
        if chance(0.25):
            options["io_size"] = max(most, bs * rng.randrange(4, 250))
        elif chance(0.1):
            options["io_size"] = f"{rng.randrange(30, 101)}%"
        if chance(0.1):
            options["filesize"] = size + bs * rng.randrange(30) + options.get("offset", 0)
    options["size"] = size
    # Not of sizes that do not divide it: fio's map is smaller than its region then, and fails.
    if is_random and not on_file:
        if chance(0.35):
            options["random_distribution"] = rng.choice(
                [
                    f"zipf:{rng.choice(['0.6', '0.9', '1.2', '2.1'])}",
                    "zipf:1.1:0.25",
                    f"pareto:{rng.choice(['0.1', '0.2', '0.45'])}",
                    "pareto:0.2:0.5",
                    f"normal:{rng.choice([5, 12.5, 40])}",
                    "normal:20:0.3",
                    "zoned:60/10:30/20:10/70",
                    "zoned:90/5:10/",
                    f"zoned_abs:70/{bs * 2}:30/{bs * 2}",
                    "random",
                ]
            )
            if options["random_distribution"].startswith("zoned_abs"):
                options["size"] = size = max(size, bs * 64)
                options.pop("filesize", None)
        elif chance(0.2):
            options["norandommap"] = 1
        if chance(0.15):
            options["random_generator"] = rng.choice(["lfsr", "tausworthe64"])
        if chance(0.15) and not pair:
            options["blockalign"] = by_direction(lambda: rng.choice([bs, bs // 2, bs * 2]))
    if is_random and chance(0.3):
        options["percentage_random"] = by_direction(lambda: rng.choice([0, 10, 50, 90, 100]))
    if is_mixed:
        options[rng.choice(["rwmixread", "rwmixwrite"])] = rng.choice([0, 10, 33, 50, 70, 95, 100])
    if chance(0.25):
        options["loops"] = rng.randrange(2, 4)
    if chance(0.15):
        options["number_ios"] = rng.randrange(1, 120)
    if chance(0.3):
        options["randseed"] = rng.randrange(1 << rng.choice([8, 31, 63]))
    elif chance(0.2):
        options["allrandrepeat"] = 1
        options["randrepeat"] = rng.randrange(2)
    elif chance(0.1):
        options["randrepeat"] = 1
    if not on_file and "zoned_abs" not in str(options.get("random_distribution")) and chance(0.12):
        zone = most * rng.randrange(1, 5)
        options["zonemode"] = "strided"
        options["zonesize"] = zone * rng.choice([1, 1, 2])
        if options["zonesize"] > zone or chance(0.5):
            options["zonerange"] = zone
        options["zoneskip"] = bs * rng.randrange(0, 12)
        options["size"] = size = max(size, zone * 3)
    if chance(0.25) and not on_file and "write" in kind + ("write" if is_mixed else ""):
        options[rng.choice(["fsync", "fdatasync"])] = rng.randrange(1, 20)
    if chance(0.15) and not on_file:
        options["end_fsync"] = 1
    syncs = {"fsync", "fdatasync", "end_fsync"} & set(options)
    # Flushes in a deeper queue depend on when they complete.
    if not on_file and not syncs and chance(0.25):
        depth = rng.choice([2, 4, 16])
        # All that is submitted completes at once, so that nothing is written to the log twice.
        options["iodepth"], options["iodepth_batch"] = depth, depth
        if chance(0.2):
            options[rng.choice(["iodepth_batch", "iodepth_batch_submit"])] = rng.randrange(1, depth + 1)
        if chance(0.2):
            options["iodepth_batch_complete_max"] = rng.randrange(1, depth + 1)
        if chance(0.4):
            options["iodepth_low"] = rng.randrange(1, depth + 1)
            options["iodepth_batch_complete_min"] = rng.randrange(1, depth + 1)
    if not is_mixed and not syncs and chance(0.1):
        options[rng.choice(["rate_iops", "rate"])] = rng.choice(["500m", "500m,400m", "500m,400m,300m"])
        if chance(0.3):
            options["rate_process"] = rng.choice(["linear", "poisson"])
    if chance(0.05) and "iodepth" not in options:
        options["thinktime"], options["thinktime_blocks"] = 1, 7
    # What has no part in which requests there are.
    for key, values in (
        ("sync", [0, 1, "none", "sync", "dsync"]),
        ("group_reporting", [1]),
        ("unified_rw_reporting", ["none", "mixed", "both", 0, 1]),
        ("write_hint", ["none", "short", "medium", "long", "extreme"]),
        ("new_group", [1]),
        ("stonewall", [1]),
        ("startdelay", ["1ms"]),
        ("runtime", ["1h"]),
        ("percentile_list", ["50:99.9"]),
        ("softrandommap", [1]),
        ("invalidate", [0]),
    ):
        if chance(0.04) and not (on_file and key == "write_hint"):
            options[key] = rng.choice(values)
    if chance(0.1 if on_file else 0.2):
        options["numjobs"] = rng.randrange(2, 4)
        if chance(0.5):
            options["offset_increment"] = f"{rng.randrange(20)}%" if on_file else bs * rng.randrange(10)
        if on_file:
            options["size"] = f"{rng.randrange(1, 4)}%"
        else:
            options["size"] = min(options["size"], bs * 60) if "zonesize" not in options else options["size"]
            if "zoned_abs" in str(options.get("random_distribution")):
                options["size"] = bs * 64
            options["size"] = max(options["size"], most)
        # A clone's log fits its buffer. Each request may be followed by a flush, or be there twice because the engine was busy. Of a
        # job that trims and writes, only one half may count.
        least = max(most, zone * 3 if "zonesize" in options else 0, bs * 64 if "zoned_abs" in str(options) else 0)
        fits = (LOG_BUFFER_BYTES - LOG_HEAD_BYTES) // len(LONGEST_LINE) // (2 if syncs or "iodepth" in options else 1) // (2 if pair else 1)
        if options.get("loops", 1) * least > fits * bs:
            options.pop("loops", None)
        for key in (key for key in ("size", "io_size") if "%" not in str(options.get(key, "%"))):
            options[key] = max(least, min(options[key], fits // options.get("loops", 1) * bs))
    options["write_iolog"] = os.path.join(folder, f"{name}.log")
    return [f"{key}={spelled(rng, value)}" for key, value in options.items()]


def of_fio(folder, text, names):
    """What fio's log of each job says, by the file that the job has."""
    path = os.path.join(folder, "fio.job")
    with open(path, "w") as file:
        file.write(text)
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_SECONDS, MOST_CPU_SECONDS))
    run = subprocess.run(["fio", path], cwd=folder, capture_output=True, text=True, preexec_fn=limit, timeout=600)
    requests = {}
    torn = set()
    for name in names:
        log = os.path.join(folder, f"{name}.log")
        if not os.path.exists(log):
            continue
        log_bytes = {}
        clones = 0
        with open(log) as lines:
            for line in lines:
                fields = line.split()
                if len(fields) == 3 and fields[2] == "add":
                    clones += 1
                if len(fields) == 5 and fields[2] in ("read", "write", "trim", "sync", "datasync"):
                    # Clones that share a file are told apart by their logs, one after the other.
                    own = fields[1].startswith(f"{name}.")
                    clone = f"{name}.{fields[1].split('.')[1] if own and fields[1].count('.') == 2 else clones - 1 if not own else 0}"
                    log_bytes[clone] = log_bytes.get(clone, LOG_HEAD_BYTES) + len(line)
                    direction = "sync" if "sync" in fields[2] else fields[2]
                    place = ("0", "0") if direction == "sync" else tuple(fields[3:])
                    requests.setdefault(clone, []).append((direction, *place))
        if len(log_bytes) > 1 and max(log_bytes.values()) > LOG_BUFFER_BYTES:
            torn.add(name)
        os.remove(log)
    return requests, torn, run


def of_meldsim(meldsim, folder, text):
    run = subprocess.run(
        [meldsim, "run", "--quiet", "--requests", "--set", "controller.lba_size=512B", "--job", "-"],
        input=text,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    requests = {}
    for row in csv.DictReader(io.StringIO(run.stdout)):
        clone = row["job"] if "." in row["job"] else row["job"] + ".0"
        requests.setdefault(clone, []).append((row["direction"], row["offset"], row["bytes"]))
    return requests, run


def difference(one, other):
    for nth in range(max(len(one), len(other))):
        pair = [run[nth] if nth < len(run) else None for run in (one, other)]
        if pair[0] != pair[1]:
            return f"request {nth} of {len(one)} and {len(other)}: fio {pair[0]}, meldsim {pair[1]}"
    return None


def compare_jobs(meldsim, folder, jobs):
    """The differences of jobs that run at once, how many requests were compared, and the jobs that cannot be compared."""
    text = "".join(f"[{name}]\n" + "\n".join(lines) + "\n" for name, lines in jobs.items())
    fio, torn, fio_run = of_fio(folder, text, jobs)
    if fio_run.returncode and len(jobs) > 1:
        # One of them cannot be, or does not end.
        apart = [compare_jobs(meldsim, folder, {name: lines}) for name, lines in jobs.items()]
        wrong, requests, left_out = zip(*apart)
        return sum(wrong, []), sum(requests), sum(left_out, [])
    if "got signal" in fio_run.stderr + fio_run.stdout:
        return [], 0, [f"fio computes for more than {MOST_CPU_SECONDS} s: {text}"]
    meld, meld_run = of_meldsim(meldsim, folder, text)
    if fio_run.returncode and meld_run.returncode:
        return [], 0, [f"both refuse it: {meld_run.stderr}{text}"]
    if fio_run.returncode or meld_run.returncode:
        said = f"fio {fio_run.returncode}: {fio_run.stderr[-600:]}{fio_run.stdout[-300:]}\nmeldsim {meld_run.returncode}: {meld_run.stderr}"
        return [f"{said}\n{text}"], 0, []
    for name in (name for name, lines in jobs.items() if "ioengine=psync" in lines):
        # Their logs come in the order in which they end.
        clones = sorted(clone for clone in fio.keys() | meld.keys() if clone.startswith(f"{name}."))
        for requests in (fio, meld):
            requests.update(zip(clones, sorted(requests.get(clone, []) for clone in clones)))
    wrong = []
    for clone in sorted(fio.keys() | meld.keys()):
        pair = fio.get(clone, []), meld.get(clone, [])
        name = clone.split(".")[0]
        if name in torn:
            continue
        if any(line.startswith("iodepth=") for line in jobs[name]):
            # What an engine is too busy for is in fio's log twice.
            pair = [[request for request, _ in itertools.groupby(run)] for run in pair]
        found = difference(*pair)
        if found:
            wrong.append(f"{clone}: {found}\n[{name}]\n" + "\n".join(jobs[name]))
    left_out = ["the logs of clones are longer than their buffers: " + "\n".join(jobs[name]) for name in sorted(torn)]
    return wrong, sum(map(len, fio.values())), left_out


def compare(meldsim, seed, count):
    """The same of one file of random jobs."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("one", "two"):
            with open(os.path.join(folder, name), "wb") as file:
                file.truncate(FILE_BYTES)
        jobs = {f"j{nth}": job(rng, f"j{nth}", folder) for nth in range(count)}
        wrong, requests, left_out = compare_jobs(meldsim, folder, jobs)
        return [f"seed {seed}: {text}" for text in wrong], requests, [f"seed {seed}: {text}" for text in left_out]


def main():
    meldsim = os.path.abspath(sys.argv[1])
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    seeds = range(first, first + -(-jobs // TOGETHER))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(lambda seed: compare(meldsim, seed, TOGETHER), seeds))
    jobs = len(seeds) * TOGETHER
    wrong = [text for texts, _, _ in outcomes for text in texts]
    left_out = [text for _, _, texts in outcomes for text in texts]
    requests = sum(count for _, count, _ in outcomes)
    for text in wrong:
        print(text, end="\n\n")
    for text in left_out:
        print(f"not compared: {text}\n")
    print(f"{jobs} jobs, {requests} requests: {len(wrong)} differences; {len(left_out)} jobs not compared")
    return 1 if wrong or not requests or len(left_out) > jobs / 100 else 0


sys.exit(main())
