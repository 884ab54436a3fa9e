"""What the command line does and the C library does not: traces on several devices, published experiments."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Sequence

from ._library import MeldsimError


def what_if(
    trace: Any, profiles: Sequence[Any] = (), *, closed: bool = False, iodepth: int | None = None, speedup: float = 1, threads: int | None = None,
    columns: str | None = None,
) -> dict[str, Any]:
    """Replays a trace on several devices and layouts, and compares them, as `meldsim what-if` does.

    profiles: built-in names or paths of TOML files; default: those of the command line
    columns:  of a table of one's own, such as "time:us,op,offset:512B,length"
    closed:   requests arrive when one before them has completed, iodepth at a time, not when they were recorded

    Returns what `meldsim what-if --format json` prints; `outcomes` has a dict for each device and layout. Raises MeldsimError.
    """
    flags: dict[str, Any] = {"closed": closed, "iodepth": iodepth, "speedup": None if speedup == 1 else speedup, "jobs": threads}
    flags["trace_columns"] = columns
    return _run("what-if", str(trace), profile=list(profiles), **flags)


def experiment(name: str, *, profile: Any = None, threads: int | None = None, **flags: Any) -> dict[str, Any]:
    """Repeats a published experiment, as `meldsim experiment NAME` does; `flags` are its own: quick=True, page_size="8KiB".

    Returns what `meldsim experiment NAME --format json` prints; `sheets` has lists of dicts, `claims` says what holds. Raises MeldsimError.
    """
    return _run("experiment", name, profile=profile, jobs=threads, **flags)


def _program() -> str:
    """The command line: the one that is named, that of the wheel, or that of the path."""
    beside = Path(sys.executable).with_name("meldsim")
    program = os.environ.get("MELDSIM_PROGRAM") or (str(beside) if beside.exists() else shutil.which("meldsim"))
    if not program:
        raise MeldsimError(-1, "no program meldsim: install the wheel of this machine, or name the program in MELDSIM_PROGRAM")
    return program


def _run(*words: str, **flags: Any) -> dict[str, Any]:
    command = [_program(), "--quiet", *words]
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            command.append(flag)
        elif value is not None and value is not False:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                command += [flag, str(one)]
    done = subprocess.run([*command, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    if done.returncode:
        text = done.stderr.strip()
        raise MeldsimError(-done.returncode, text[len("error: ") :] if text.startswith("error: ") else text)
    return json.loads(done.stdout)
