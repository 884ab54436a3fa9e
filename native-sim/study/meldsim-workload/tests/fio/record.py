#!/usr/bin/env python3
"""fio's aggregates of drawn jobs beside its own log of completions: writes drawn.json.gz, which src/runner/account.rs reads.

Each draw is a file of one to three sections that run at once, with times, rates, mixes, clones and groups. Its engine has no
device. The log has a line for each completion that fio counted. `record.py 100 drawn.json.gz` has made the file, with fio 3.33.

fio's clock of half seconds is late on a busy machine, and forgets jobs that run while others are still to start: a draw in which
it missed one is drawn anew.
"""

import gzip
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# Of a job's options, those from which its time follows.
ENTRIES = ["iops", "runtime", "total_ios", "io_bytes", "bw_bytes", "iops_min", "iops_max", "iops_mean", "iops_stddev", "iops_samples"]
ENTRIES += ["bw_min", "bw_max", "bw_mean", "bw_dev", "bw_agg", "bw_samples"]


def draw(rng):
    """The text of a job file."""
    sections = rng.choice([1, 1, 2, 2, 2, 3])
    lines = ["[global]", "ioengine=null", "size=64m"]
    grouped = rng.random() < 0.7
    if grouped:
        lines.append("group_reporting=1")
    for nth in range(sections):
        lines.append(f"[j{nth}]")
        kind = rng.choice(["read", "write", "randread", "randwrite", "rw", "randrw", "randrw", "randtrim"])
        lines.append(f"rw={kind}")
        lines.append(f"bs={rng.choice(['4k', '4k', '16k', '4k,16k'])}")
        if "rw" in (kind, kind[4:]):
            lines.append(f"rwmixread={rng.choice([20, 50, 70, 90])}")
        # A request more or less in half a second is less than 1 %.
        iops = rng.choice([250, 320, 400])
        both = [iops, iops if "rw" not in kind or rng.random() < 0.7 else rng.choice([220, 280])]
        lines.append(f"rate_iops={both[0]},{both[1]}" if both[0] != both[1] else f"rate_iops={iops}")
        # Not over as an interval is.
        time = rng.choice([700, 1200, 1250, 1300, 1700])
        if rng.random() < 0.7:
            lines += ["time_based=1", f"runtime={time}ms"]
            if rng.random() < 0.4:
                lines.append(f"ramp_time={rng.choice([300, 700])}ms")
        else:
            lines.append(f"number_ios={(sum(both) if 'rw' in (kind, kind[4:]) else iops) * time // 1000}")
            lines.append("runtime=4s")
        if rng.random() < 0.3:
            lines.append(f"startdelay={rng.choice([200, 600, 900])}ms")
        if rng.random() < 0.3:
            lines.append("numjobs=2")
        if nth and rng.random() < 0.25:
            lines.append(rng.choice(["new_group=1", "stonewall=1"]))
    return "\n".join(lines) + "\n"


def record(text):
    """fio's aggregates of a file, and the completions of each of its jobs: milliseconds, nanoseconds, direction, bytes."""
    with tempfile.TemporaryDirectory() as folder:
        logged = re.sub(r"^\[(j\d)\]$", r"[\1]\nwrite_lat_log=\1", text, flags=re.M)
        run = subprocess.run(
            # A busy machine would make its clock late.
            ["chrt", "-f", "50", "fio", "--output-format=json", "-"], input=logged, cwd=folder, capture_output=True, text=True, check=True, timeout=120
        )
        result = json.loads(run.stdout[run.stdout.index("{"):])
        logs = []
        thread = 0
        for section in re.split(r"^\[", text, flags=re.M)[2:]:
            clones = int((re.search(r"^numjobs=(\d+)", section, re.M) or [0, 1])[1])
            for _ in range(clones):
                thread += 1
                path = os.path.join(folder, f"{section[:2]}_lat.{thread}.log")
                with open(path) as file:
                    rows = [[int(field) for field in line.split(",")[:4]] for line in file]
                # Short: the differences of times, and three digits of latencies.
                times = [row[0] for row in rows]
                steps = [time - before for time, before in zip(times, [0] + times)]
                latencies = [int(float(f"{row[1]:.3g}")) for row in rows]
                logs.append([steps, latencies] + [[row[nth] for row in rows] for nth in (2, 3)])
    jobs = []
    for job in result["jobs"]:
        entry = {"jobname": job["jobname"], "groupid": job["groupid"], "job_runtime": job["job_runtime"]}
        for direction in ("read", "write", "trim"):
            of = job[direction]
            if of["total_ios"]:
                entry[direction] = {key: of[key] for key in ENTRIES}
                entry[direction]["lat_ns"] = {key: of["lat_ns"][key] for key in ("min", "max", "mean", "stddev", "N")}
        jobs.append(entry)
    return {"text": text, "jobs": jobs, "logs": logs}


def is_exact(draw):
    """Whether fio took the samples that there are, and no job stood still or ended late."""
    expected, ends = {}, {}
    group = thread = 0
    grouped = "group_reporting" in draw["text"]
    for nth, section in enumerate(re.split(r"^\[", draw["text"], flags=re.M)[2:]):
        group += bool(nth and re.search("^(new_group|stonewall)", section, re.M))
        timed = "time_based" in section and int(re.search(r"^runtime=(\d+)ms", section, re.M)[1])
        for _ in range(2 if "numjobs" in section else 1):
            steps, _, directions, _ = draw["logs"][thread]
            times = list(itertools.accumulate(steps))
            end = timed or times[-1]
            for direction in set(directions):
                own = {time // 500 for time, of in zip(times, directions) if of == direction}
                key = (group if grouped else thread, direction)
                ends[key] = max(end, ends.get(key, 0))
                expected[key] = expected.get(key, 0) + len([of for of in own if 500 * (of + 1) < end])
            if max(steps) > 12:
                return False
            thread += 1
    for nth, job in enumerate(draw["jobs"]):
        for direction, name in enumerate(("read", "write", "trim")):
            key = (job["groupid"] if grouped else nth, direction)
            if name in job and (job[name]["iops_samples"] != expected[key] or job[name]["runtime"] > ends[key] + 6):
                return False
    return True


def drawn(seed):
    attempts = (record(draw(random.Random(seed + 1000 * attempt))) for attempt in range(50))
    return next(filter(is_exact, attempts))


def main():
    draws, path = int(sys.argv[1]), sys.argv[2]
    # The jobs wait most of the time.
    with ThreadPoolExecutor(4) as pool:
        records = list(pool.map(drawn, range(draws)))
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
        packed.write(json.dumps(records, separators=(",", ":")).encode())


main()
