"""A simulated SSD in Python: fio jobs, sweeps, calibration, and devices to submit commands to. All figures are simulated."""

from ._device import Completion, Device, Namespace
from ._library import MeldsimError
from ._policies import Candidate, PlacementPolicy, VictimPolicy, register
from ._program import experiment, what_if
from ._result import Direction, Job, Latency, Result, Sweep
from ._run import calibrate, run

__all__ = [
    "Candidate", "Completion", "Device", "Direction", "Job", "Latency", "MeldsimError", "Namespace", "PlacementPolicy", "Result", "Sweep",
    "VictimPolicy", "calibrate", "experiment", "register", "run", "what_if",
]  # fmt: skip
