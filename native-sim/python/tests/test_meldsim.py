"""Tests of the package, with the library that MELDSIM_LIBRARY names; with the command line of MELDSIM_TESTED where it is given."""

import importlib.util
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
from pathlib import Path

import meldsim
from meldsim import _library, _program, _run

HERE = Path(__file__).resolve().parents[1]
SMALL = {"rw": "randread", "bs": "4k", "size": "1m"}


class Runs(unittest.TestCase):
    def test_a_sweep_is_what_the_command_line_prints(self):
        program = os.environ.get("MELDSIM_TESTED")
        if not program:
            self.skipTest("MELDSIM_TESTED names no meldsim")
        with tempfile.TemporaryDirectory() as folder:
            job = Path(folder, "a job.fio")
            job.write_text("[mixed]\nrw=randrw\nbs=16k\nsize=4m\niodepth=4\n")
            sweep = meldsim.run(
                "melded-tlc-8x8", job, settings={"geometry.channels": [4, 8], "job.iodepth": [1, 4]}, precondition="fill=50,random=0",
                seed=[None, 7],
            )  # fmt: skip
            self.assertEqual(len(sweep), 8)
            for result in sweep:
                command = shlex.split(result.data["command"])
                self.assertEqual(command[0], "meldsim")
                printed = subprocess.run([program, *command[1:]], **QUIET).stdout
                self.assertEqual(printed, result.json)
        result = meldsim.run("melded-tlc-8x8", iodepth=4, **SMALL)
        job = "[job]\niodepth=4\nrw=randread\nbs=4k\nsize=1m\n"
        arguments = ["run", "--profile", "melded-tlc-8x8", "--job", "-", "--format", "json"]
        self.assertEqual(subprocess.run([program, *arguments], input=job, **QUIET).stdout, result.json)

    def test_threads_change_nothing_and_cells_come_in_order(self):
        sweeps = [meldsim.run(["melded-tlc-8x8", "7450-pro"], iodepth=[1, 8], threads=threads, **SMALL) for threads in (1, 4)]
        self.assertEqual(*([result.json for result in sweep] for sweep in sweeps))
        cells = [(result.cell["profile"], result.cell["iodepth"]) for result in sweeps[1]]
        self.assertEqual(cells, [("melded-tlc-8x8", 1), ("melded-tlc-8x8", 8), ("7450-pro", 1), ("7450-pro", 8)])

    def test_data_classes_hold_what_the_json_has(self):
        result = meldsim.run("melded-tlc-8x8", **SMALL)
        (job,) = result.jobs
        part = result.data["jobs"][0]["read"]
        self.assertEqual((job.read.ios, job.read.bytes, job.write.ios), (256, 1 << 20, 0))
        self.assertEqual(job.read.latency.percentiles[99.9], part["clat_ns"]["percentile"]["99.900000"] / 1e3)
        self.assertLessEqual(job.read.latency.min_us, job.read.latency.mean_us)
        self.assertEqual(result.counters["read_commands"], 256)
        (row,) = result.rows()
        self.assertEqual((row["direction"], row["iops"]), ("read", part["iops"]))

    def test_errors_have_the_librarys_text(self):
        with self.assertRaisesRegex(meldsim.MeldsimError, "no-such-device") as caught:
            meldsim.run("no-such-device", **SMALL)
        self.assertEqual(caught.exception.status, -2)
        with self.assertRaisesRegex(meldsim.MeldsimError, "sideways"):
            meldsim.run(rw="sideways", size="1m")
        with self.assertRaises(TypeError):
            meldsim.run("melded-tlc-8x8")
        sweep = meldsim.run("melded-tlc-8x8", settings={"geometry.channels": [0, 8]}, **SMALL)
        self.assertEqual(len(sweep), 1)
        ((cell, error),) = sweep.errors
        self.assertEqual(cell, {"geometry.channels": 0})
        self.assertRegex(str(error), "channels")
        with self.assertRaisesRegex(meldsim.MeldsimError, "channels"):
            meldsim.run("melded-tlc-8x8", settings={"geometry.channels": [0, -1]}, **SMALL)
        with self.assertRaisesRegex(meldsim.MeldsimError, "no measured cells"):
            meldsim.calibrate("drive", 10**12)

    def test_a_job_includes_and_names_variables(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "more.fio").write_text("include ./less.fio\niodepth=4\n")
            Path(folder, "less.fio").write_text("bs=${MELDSIM_TEST_BS}\n")
            job = Path(folder, "a.fio")
            job.write_text("[global]\n include more.fio \r\n[a]\nrw=randread\nsize=1m\n")
            os.environ["MELDSIM_TEST_BS"] = "16k"
            self.assertEqual(meldsim.run("melded-tlc-8x8", job).jobs[0].read.ios, 64)
            self.assertEqual(meldsim.run("melded-tlc-8x8", **{**SMALL, "bs": "${MELDSIM_TEST_BS}"}).jobs[0].read.ios, 64)
            del os.environ["MELDSIM_TEST_BS"]
            with self.assertRaisesRegex(meldsim.MeldsimError, "MELDSIM_TEST_BS"):
                meldsim.run("melded-tlc-8x8", job)
            Path(folder, "less.fio").unlink()
            with self.assertRaisesRegex(meldsim.MeldsimError, "less.fio"):
                meldsim.run("melded-tlc-8x8", job)

    def test_values_of_a_sweep(self):
        class Array(list):  # what numpy and pandas have in common
            def tolist(self):
                return list(self)

        for values in (range(1, 3), (1, 2), Array([1.0, 2.0]), iter([1, 2]), map(int, "12")):
            self.assertEqual([result.cell["iodepth"] for result in meldsim.run("melded-tlc-8x8", iodepth=values, **SMALL)], [1, 2])
        self.assertEqual(len(meldsim.run("melded-tlc-8x8", iodepth=None, **SMALL).jobs), 1)
        for values in ({1, 2}, {"a": 1}, b"4k", object, [[1], [2]]):
            with self.assertRaisesRegex(TypeError, "^iodepth: .*give "):
                meldsim.run("melded-tlc-8x8", iodepth=values, **SMALL)
        with self.assertRaisesRegex(ValueError, "^iodepth: has no values"):
            meldsim.run("melded-tlc-8x8", iodepth=[], **SMALL)

    def test_flushes_have_rows(self):
        result = meldsim.run("melded-tlc-8x8", rw="write", bs="4k", size="64k", fsync=4)
        row = {row["direction"]: row for row in result.rows()}["sync"]
        self.assertEqual((row["ios"], row["bytes_per_second"]), (3, 0))
        self.assertGreater(row["iops"], 0)
        self.assertGreaterEqual(row["max_us"], row["mean_us"] - 0.001)

    def test_overhead_of_a_run(self):
        axes = {("profile", "profile"): "melded-tlc-8x8", ("job", "job"): None, ("precondition", "precondition"): None, ("seed", "seed"): None}
        request = _run._request({**axes, **{("fio", key): value for key, value in SMALL.items()}})
        whole, alone = [], []
        for _ in range(15):
            begun = time.perf_counter()
            meldsim.run("melded-tlc-8x8", **SMALL)
            between = time.perf_counter()
            _library.LIBRARY.meldsim_run(_library.ABI_VERSION, request.encode())
            whole.append(between - begun)
            alone.append(time.perf_counter() - between)
        overhead_ms = (statistics.median(whole) - statistics.median(alone)) * 1e3
        print(f"overhead of a run: {overhead_ms:.2f} ms (measured)")
        self.assertLess(overhead_ms, 10, "2 ms on a machine that has nothing else to do")


class Fewest(meldsim.VictimPolicy):
    """The one with fewest valid pages."""

    def rank(self, candidates, most, now):
        return [found.number for found in sorted(candidates, key=lambda found: (found.valid, found.closed_at, found.number))[:most]]


class Answers(meldsim.VictimPolicy):
    """What a test says."""

    def __init__(self, answer):
        self.answer = answer

    def rank(self, candidates, most, now):
        return self.answer(candidates)


class InStreams(meldsim.PlacementPolicy):
    def of_write(self, space, page, stream):
        return stream


class Policies(unittest.TestCase):
    SETTINGS = {"geometry.blocks_per_plane": 20, "geometry.wordlines_per_block": 32}
    JOB = {"rw": "randwrite", "bs": "4k", "iodepth": 32, "size": "100%", "io_size": "1g", "norandommap": 1}

    def run_with(self, *policies, **settings):
        settings = {**self.SETTINGS, **settings}
        begun = time.process_time()
        result = meldsim.run("melded-tlc-8x8", precondition="fill=100,random=100", settings=settings, policies=policies, **self.JOB)
        return result, time.process_time() - begun

    def test_a_policy_does_what_the_native_one_does(self):
        native, native_s = self.run_with()
        victims, victims_s = self.run_with(Fewest())
        placement, placement_s = self.run_with(InStreams())
        self.assertGreater(native.counters["gc_pages_moved"], 1000)
        for result in (victims, placement):
            self.assertEqual(result.counters, native.counters)
        self.assertIn("gc.victim=fewest", victims.data["command"])
        print(f"rate with a victim policy: {native_s / victims_s:.2f}, with a placement policy: {native_s / placement_s:.2f} (measured)")

    def test_what_a_policy_raises_comes_out(self):
        def answer(candidates):
            raise LookupError("of the policy")

        try:
            self.run_with(Answers(answer))
            self.fail("nothing was raised")
        except LookupError as error:
            self.assertEqual(traceback.extract_tb(error.__traceback__)[-1].name, "answer")
        for answer, said in [
            (lambda candidates: [1 << 20], "rank names superblock 1048576, which was not given"),
            (lambda candidates: [], "names no superblock"),
        ]:
            with self.assertRaisesRegex(meldsim.MeldsimError, f'gc.victim: policy "answers".*{said}') as caught:
                self.run_with(Answers(answer))
            self.assertEqual(caught.exception.status, -16)
        for answer in (lambda candidates: ["first"], lambda candidates: None):
            with self.assertRaises(TypeError):
                self.run_with(Answers(answer))

    def test_a_sweep_has_policies_and_options(self):
        class Named(Fewest):
            ages = []

            def begin(self, superblocks, pages_per_superblock, options):
                self.ages.append(options["age"])

        sweep = meldsim.run(
            "melded-tlc-8x8", settings={**self.SETTINGS, "policy.named.age": [3, 4]}, policies=[Named()], threads=2, **{**self.JOB, "io_size": "8m"}
        )
        self.assertEqual((len(sweep), sorted(set(Named.ages))), (2, [3, 4]))


class Programs(unittest.TestCase):
    def setUp(self):
        if program := os.environ.get("MELDSIM_TESTED"):
            os.environ["MELDSIM_PROGRAM"] = program
        elif "MELDSIM_LIBRARY" in os.environ:
            self.skipTest("no wheel, and MELDSIM_TESTED names no meldsim")

    def printed(self, *words):
        command = [_program._program(), *words, "--quiet", "--format", "json"]
        return {**json.loads(subprocess.run(command, **QUIET).stdout), "command": None}

    def test_experiment_is_what_the_command_line_prints(self):
        result = meldsim.experiment("melded-latency", request_size="4KiB,2MiB", threads=1)
        self.assertEqual({**result, "command": None}, self.printed("experiment", "melded-latency", "--request-size", "4KiB,2MiB"))
        self.assertEqual([int(cell["melded_us"]) for cell in result["sheets"]["cells"]][0], 183)

    def test_what_if_is_what_the_command_line_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder, "a.trace")
            trace.write_text("".join(f"{1000 * i} 0 {i * 37 % 4096 * 8} 8 1\n" for i in range(500)))
            profiles = ["melded-tlc-8x8", "pm9a3"]
            result = meldsim.what_if(trace, profiles, closed=True, iodepth=4)
            flags = ["--profile", profiles[0], "--profile", profiles[1], "--closed", "--iodepth", "4"]
            self.assertEqual({**result, "command": None}, self.printed("what-if", str(trace), *flags))
            self.assertEqual({outcome["profile"] for outcome in result["outcomes"]}, set(profiles))

    def test_errors_have_the_programs_text(self):
        with self.assertRaisesRegex(meldsim.MeldsimError, "^TRACE: cannot read \"/none\"") as caught:
            meldsim.what_if("/none")
        self.assertEqual(caught.exception.status, -2)
        with self.assertRaisesRegex(meldsim.MeldsimError, "no-such-thing"):
            meldsim.experiment("no-such-thing")


class Devices(unittest.TestCase):
    def test_commands_time_and_counters(self):
        with meldsim.Device("melded-tlc-8x8") as device:
            space = device.namespace(1 << 30)
            self.assertEqual(space.blocks * space.block_bytes, 1 << 30)
            device.preload(space, 0, 65536)
            waited = device.wait(device.submit("read", space, 0, 16))
            posted = [device.submit("read", space, at, 16, posted=True) for at in (4096, 8192)]
            self.assertEqual(device.step(1), [])
            done = device.step(10_000)
            self.assertEqual(sorted(completion.ticket for completion in done), sorted(posted))
            self.assertGreaterEqual(min(completion.latency_us for completion in done), waited)
            self.assertEqual(device.counters()["read_commands"], 3)
            self.assertAlmostEqual(device.counters()["now_ps"] / 1e6, waited + 10_001, places=3)
            self.assertGreaterEqual(device.latency("read", 1.0), waited * 0.999)
            with self.assertRaisesRegex(meldsim.MeldsimError, "blocks"):
                device.submit("read", space, space.blocks, 1)
        with self.assertRaises(meldsim.MeldsimError) as caught:
            device.counters()
        self.assertEqual(caught.exception.status, -8)

    def test_a_failed_command_takes_no_other_with_it(self):
        profile = Path(tempfile.mkdtemp(), "small.toml")
        profile.write_text('base = "melded-tlc-8x8"\nname = "small"\n[geometry]\nblocks_per_plane = 32\n')
        with meldsim.Device(profile) as device:
            space = device.namespace(1 << 40)
            blocks = (1 << 30) // space.block_bytes
            tickets = [device.submit("write", space, at * blocks, blocks, posted=True) for at in range(8)]
            done, failed = [], []
            for _ in range(20):
                try:
                    done += device.step(1e8)
                except meldsim.MeldsimError as error:
                    self.assertRegex(str(error), "the device has no room for the write")
                    self.assertEqual(error.status, -5)
                    failed.append(error.ticket)
            self.assertEqual(sorted(failed + [completion.ticket for completion in done]), sorted(tickets))
            self.assertTrue(done and failed)

    def test_a_past_may_have_a_skew(self):
        with meldsim.Device("melded-tlc-8x8") as device:
            device.namespace(1 << 30)
            device.precondition(50, 25)
            self.assertEqual(device.counters()["mapped_pages"], (1 << 29) // 4096)
            device.precondition(50, 25, "zipf:0.9")
            self.assertEqual(device.counters()["mapped_pages"], (1 << 29) // 4096)
            with self.assertRaisesRegex(meldsim.MeldsimError, "use random, zipf:THETA"):
                device.precondition(skew="gauss")


class Examples(unittest.TestCase):
    def run_example(self, name, *arguments):
        command = [sys.executable, str(HERE / "examples" / name), *arguments]
        return subprocess.run(command, env={**os.environ, "PYTHONPATH": str(Path(meldsim.__file__).parents[1])}, **QUIET).stdout

    def test_policy_loop(self):
        fast, policy = (int(re.search(r"within +(\d+) us", line)[1]) for line in self.run_example("policy_loop.py").splitlines())
        self.assertGreater(fast, policy, "the policy makes reads faster")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "no matplotlib")
    def test_fio_to_figure(self):
        with tempfile.TemporaryDirectory() as folder:
            figure = Path(folder, "figure.svg")
            self.assertEqual(len(self.run_example("fio_to_figure.py", str(figure)).splitlines()), 8)
            self.assertIn("</svg>", figure.read_text())

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "no matplotlib")
    def test_notebooks(self):
        notebooks = sorted((HERE / "examples").glob("*.ipynb"))
        self.assertEqual([notebook.stem for notebook in notebooks], ["fio_to_figure", "hold_your_ftl"])
        for notebook in notebooks:
            cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
            # What a kernel does, cell by cell, without one.
            code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
            environment = {**os.environ, "PYTHONPATH": str(Path(meldsim.__file__).parents[1]), "MPLBACKEND": "agg"}
            with self.subTest(notebook.stem), tempfile.TemporaryDirectory() as folder:
                printed = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, **QUIET).stdout
                self.assertRegex(printed, r"\d IOPS")
                (figure,) = Path(folder).glob("*.pdf")
                self.assertTrue(figure.read_bytes().startswith(b"%PDF"))

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "no pandas")
    def test_frame(self):
        sweep = meldsim.run("melded-tlc-8x8", iodepth=[1, 8], **SMALL)
        self.assertEqual(list(sweep.frame()["iodepth"]), [1, 8])
        frame = meldsim.run("melded-tlc-8x8", settings={"geometry.channels": [0, 8]}, **SMALL).frame()
        self.assertEqual(list(frame["geometry.channels"]), [0, 8])
        self.assertRegex(frame["error"][0], "channels")


QUIET = {"check": True, "text": True, "stdout": subprocess.PIPE}

if __name__ == "__main__":
    unittest.main()
