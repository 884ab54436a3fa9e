"""Results as data classes, rows, frames and axes."""

from __future__ import annotations

import json as _json
from dataclasses import dataclass, field
from typing import Any, Iterator


@dataclass(frozen=True)
class Latency:
    """Simulated completion latency in microseconds. `percentiles` goes from per cent, such as 99.9, to microseconds."""

    min_us: float
    mean_us: float
    max_us: float
    percentiles: dict[float, float]


@dataclass(frozen=True)
class Direction:
    """Reads, writes, trims or flushes of a job: requests done, bytes, requests and bytes a simulated second, latency."""

    ios: int
    bytes: int
    iops: float
    bytes_per_second: int
    latency: Latency


@dataclass(frozen=True)
class Job:
    """A job of a run; `runtime_us` is in simulated microseconds, `directions` has what the result has of read, write, trim and sync, its flushes."""

    name: str
    runtime_us: float
    directions: dict[str, Direction]

    @property
    def read(self) -> Direction:
        """Its reads."""
        return self.directions["read"]

    @property
    def write(self) -> Direction:
        """Its writes."""
        return self.directions["write"]


@dataclass(frozen=True)
class Result:
    """A run. `json` is what `meldsim run --format json` prints, byte by byte; `cell` is its place in a sweep."""

    json: str = field(repr=False)
    cell: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", _json.loads(self.json))
        object.__setattr__(self, "jobs", [_job(job) for job in self.data["jobs"]])

    data: dict[str, Any] = field(init=False, repr=False, compare=False)
    jobs: list[Job] = field(init=False, compare=False)

    @property
    def counters(self) -> dict[str, Any]:
        """The device's counters; docs/reference/counters.md describes each."""
        return self.data["device"]

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each job and direction that did something: the cell, then figures. Times in simulated microseconds."""
        return [
            {**self.cell, "job": job.name, "direction": name, **_figures(direction)}
            for job in self.jobs
            for name, direction in job.directions.items()
            if direction.ios
        ]

    def frame(self):
        """`rows` as a pandas DataFrame; needs pandas."""
        return _frame(self.rows())


@dataclass(frozen=True)
class Sweep:
    """Runs of all cells of a product, in its order. `errors` has the cells that the library refused, with why."""

    results: list[Result]
    errors: list[tuple[dict[str, Any], Exception]]
    _outcomes: list[Any] = field(default_factory=list, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def rows(self) -> list[dict[str, Any]]:
        """The rows of all results."""
        return [row for result in self.results for row in result.rows()]

    def frame(self):
        """`rows` as a pandas DataFrame, with a row for each refused cell that says why in `error`; needs pandas."""
        rows: list[dict[str, Any]] = []
        for outcome in self._outcomes or self.results:
            rows += outcome.rows() if isinstance(outcome, Result) else [{**outcome[0], "error": str(outcome[1])}]
        return _frame(rows)

    def plot(self, x: str, y: str = "iops", by: str | None = None, direction: str = "read", ax=None):
        """Draws column `y` of `rows` over column `x`, a line for each value of `by`. Returns matplotlib axes; needs matplotlib.

        An `x` of numbers is to scale, any other is in the order of the sweep. Raises KeyError for a column that is none.
        """
        lines: dict[Any, list[tuple[Any, Any]]] = {}
        for row in self.rows():
            if row["direction"] == direction:
                lines.setdefault(row[by] if by else None, []).append((row[x], row[y]))
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.figure(figsize=(3.5, 2.5), layout="constrained").subplots()  # a column of a paper
        for name, points in lines.items():
            ax.plot(*zip(*points), marker="o", markersize=3, linewidth=1, label=None if by is None else str(name))
        ax.set(xlabel=x, ylabel=f"{y} of {direction}s (simulated)")
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
        if by:
            ax.legend(title=by, frameon=False)
        return ax


def _job(job: dict[str, Any]) -> Job:
    directions = {name: _direction(job[name]) for name in ("read", "write", "trim") if name in job}
    if flushes := job.get("sync", {}).get("total_ios"):
        seconds = job["job_runtime_us"] / 1e6
        directions["sync"] = Direction(flushes, 0, flushes / seconds if seconds else 0.0, 0, _latency(job["sync"]["lat_ns"]))
    return Job(job["jobname"], job["job_runtime_us"], directions)


def _direction(part: dict[str, Any]) -> Direction:
    return Direction(part["total_ios"], part["io_bytes"], part["iops"], part["bw_bytes"], _latency(part["clat_ns"]))


def _latency(latency: dict[str, Any]) -> Latency:
    percentiles = {float(percent): ns / 1e3 for percent, ns in latency.get("percentile", {}).items()}
    return Latency(latency["min"] / 1e3, latency["mean"] / 1e3, latency["max"] / 1e3, percentiles)


def _figures(direction: Direction) -> dict[str, float]:
    latency = direction.latency
    columns = {f"p{percent:g}_us": us for percent, us in latency.percentiles.items()}
    return {
        "ios": direction.ios, "iops": direction.iops, "bytes_per_second": direction.bytes_per_second,
        "mean_us": latency.mean_us, **columns, "max_us": latency.max_us,
    }  # fmt: skip


def _frame(rows: list[dict[str, Any]]):
    import pandas

    return pandas.DataFrame(rows)
