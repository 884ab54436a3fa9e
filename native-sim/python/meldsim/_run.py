"""Whole workloads: a run, a sweep, a calibration."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Iterable, Mapping

from ._library import MeldsimError, answer
from ._policies import Policy, register, used
from ._result import Result, Sweep


def run(
    profile: Any = "7450-pro",
    job: Any = None,
    *,
    settings: Mapping[str, Any] | None = None,
    precondition: Any = None,
    seed: Any = None,
    threads: int | None = None,
    policies: Iterable[Policy] = (),
    **fio: Any,
) -> Result | Sweep:
    """Runs a workload on a simulated device. Several values in place of any one make it a sweep of all combinations: a list, a
    range, an array of numpy, a Series of pandas.

    profile:      name of a built-in profile, or path of a TOML file
    job:          path of a fio job file, which may include others and name ${VARIABLES} of the environment; or fio's options as
                  keywords: rw="randread", bs="4k", size="64m", iodepth=8. None leaves one out.
    settings:     keys of the profile, such as {"geometry.channels": [4, 8]}
    precondition: such as "fill=100,random=75"
    seed:         of the jobs' random numbers; default: fio's, with randrepeat
    threads:      of a sweep; default: as many as processors. Results do not depend on it.
    policies:     objects of VictimPolicy and PlacementPolicy, which the device uses in place of the profile's. What one raises
                  comes out of the run.

    Raises MeldsimError with the library's text; of a sweep only when every cell is refused, else see `Sweep.errors`.
    """
    if (job is None) == (not fio):
        raise TypeError("give a job file or fio's options, one of the two")
    policies = list(policies)
    for policy in policies:
        register(policy)
    settings = {**{policy.key: policy.name for policy in policies}, **(settings or {})}
    axes = {("profile", "profile"): profile, ("job", "job"): job, ("precondition", "precondition"): precondition, ("seed", "seed"): seed}
    axes.update({("set", key): value for key, value in settings.items()})
    axes.update({("fio", key): value for key, value in fio.items()})
    axes = {axis: _values(axis[1], value) for axis, value in axes.items()}
    swept = [axis for axis, value in axes.items() if isinstance(value, list)]
    cells = [{**axes, **dict(zip(swept, values))} for values in itertools.product(*(axes[axis] for axis in swept))]
    if not swept:
        with used(policies):
            return Result(answer(_request(axes)))

    def one(cell: dict[tuple[str, str], Any]) -> Result | tuple[dict[str, Any], MeldsimError]:
        place = {axis[1]: cell[axis] for axis in swept}
        try:
            with used(policies):
                return Result(answer(_request(cell)), place)
        except MeldsimError as error:
            return place, error

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        outcomes = list(pool.map(one, cells))
    errors = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
    if errors and len(errors) == len(outcomes):
        raise errors[0][1]
    return Sweep([outcome for outcome in outcomes if isinstance(outcome, Result)], errors, outcomes)


def calibrate(
    drive: str,
    capacity_bytes: int,
    *,
    tables: list[Any] | None = None,
    fio: list[Any] | None = None,
    given: Mapping[str, Any] | None = None,
    overhead: float = 1.0,
    seed: int = 1,
    full: bool = False,
    threads: int | None = None,
) -> dict[str, Any]:
    """Fits a profile to a measured drive, as `meldsim calibrate` does, to the same digit; minutes to hours.

    tables: paths of CSV files with measured cells; fio: paths of fio's JSON results. `given` has keys that are known.
    Returns what `meldsim calibrate --format json` prints; its `profile_toml` is the profile's text.
    """
    request = {
        "drive": drive, "tables": _texts(tables), "fio": _texts(fio), "capacity_bytes": capacity_bytes, "overhead": overhead,
        "given": [f"{key}={_text(value)}" for key, value in (given or {}).items()], "seed": seed, "full": full,
    }  # fmt: skip

    def ask(**step: Any) -> Any:
        return json.loads(answer(json.dumps({"calibrate": {"request": request, **step}})))

    workers = threads or os.cpu_count() or 1
    known: list[Any] = []
    with ThreadPoolExecutor(workers) as pool:
        while True:
            step = ask(known=known)
            if "done" in step:
                return step["done"]
            units = step["simulate"]
            # The measured cells are read once for all units of a batch.
            size = max(1, -(-len(units) // (8 * workers)))
            for evaluations in pool.map(lambda at: ask(units=units[at : at + size]), range(0, len(units), size)):
                known += evaluations


def _request(cell: Mapping[tuple[str, str], Any]) -> str:
    profile, precondition, job = (cell[(name, name)] for name in ("profile", "precondition", "job"))
    seed = cell[("seed", "seed")]
    settings = [f"{key}={_text(value)}" for (kind, key), value in cell.items() if kind == "set"]
    if job is None:
        options = ((key, value) for (kind, key), value in cell.items() if kind == "fio" and value is not None)
        text = "[job]\n" + "".join(f"{key}={_text(value)}\n" for key, value in options)
        job = "-"
    else:
        text = Path(job).read_text(encoding="utf-8")
    includes = _includes(text, Path(job).parent, {})
    names = re.findall(r"\$\{([^}]*)\}", "".join([text, *includes.values(), *settings]))
    around = {"includes": includes, "variables": {name: os.environ[name] for name in names if name in os.environ}}
    command = ["meldsim", "run", "--profile", str(profile)]
    for setting in settings:
        command += ["--set", setting]
    if precondition is not None:
        command += ["--precondition", str(precondition)]
    command += ["--job", str(job)]
    if seed is not None:
        command += ["--seed", str(seed)]
    request: dict[str, Any] = {
        "command": shlex.join([*command, "--format", "json"]),
        "profile": Path(profile).read_text(encoding="utf-8") if str(profile).endswith(".toml") else profile,
        "set": settings,
        "workload": {"job": {"name": str(job), "text": text, **around, **({} if seed is None else {"seed": seed})}},
    }
    if precondition is not None:
        request["precondition"] = precondition
    return json.dumps(request)


def _values(name: str, value: Any) -> Any:
    """One value, or a list of several."""
    if hasattr(value, "tolist"):  # an array of numpy, a Series of pandas, and one number of either
        value = value.tolist()
    if isinstance(value, (tuple, range)) or (hasattr(value, "__next__") and hasattr(value, "__iter__")):
        value = list(value)
    if isinstance(value, list):
        if not value:
            raise ValueError(f"{name}: has no values; give one at least")
        values = [_values(name, one) for one in value]
        if any(isinstance(one, list) for one in values):
            raise TypeError(f"{name}: a list of lists; give one list of values")
        return values
    if value is None or isinstance(value, (str, int, float, os.PathLike)):
        return int(value) if isinstance(value, float) and value.is_integer() else value
    raise TypeError(f"{name}: is {value!r}, of type {type(value).__name__}; give a number, a text, or a list of such")


def _includes(text: str, folder: Path, known: dict[str, str]) -> dict[str, str]:
    """The texts of what a job file includes, by path: beside it, as `meldsim run` looks, or from where the program runs."""
    for path in re.findall(r"^[ \t]*include[ \t]+(.*?)[ \t\r]*$", text, re.MULTILINE):
        beside = folder / path
        file = beside if beside.exists() else Path(path)
        if path not in known and file.is_file():
            known[path] = file.read_text(encoding="utf-8")
            _includes(known[path], folder, known)
    return known


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _texts(paths: list[Any] | None) -> list[tuple[str, str]]:
    return [(str(path), Path(path).read_text(encoding="utf-8")) for path in paths or []]
