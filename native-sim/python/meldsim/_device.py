"""A device that is driven command by command. Simulated time stands still but in `wait` and `step`, so results repeat to the digit."""

from __future__ import annotations

import ctypes
import operator
from ctypes import c_int64, c_uint32, c_uint64
from typing import NamedTuple

from ._library import ABI_VERSION, LIBRARY, MeldsimError, checked

OPCODES = {"flush": 0, "write": 1, "read": 2, "deallocate": 9}
HINTS = {None: 0, "sequential": 0x000F0001, "random": 0x000F0002}
_POSTED = 4
_FOREVER = 2**64 - 1


class Completion(NamedTuple):
    """A command that is done: its ticket, and its latency in simulated microseconds."""

    ticket: int
    latency_us: float


class Namespace(NamedTuple):
    """An address space of a device: its number, bytes of a logical block, and size in such blocks."""

    id: int
    block_bytes: int
    blocks: int


class _NamespaceInfo(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("set", c_uint32)] + [
        (name, c_uint64) for name in ("lba_bytes", "size_lbas", "page_bytes", "wordline_bytes", "capacity_bytes", "allocated_lbas")
    ]


class Device:
    """A simulated SSD of a built-in profile or a TOML file. Close it, or use it in a `with`. Errors are MeldsimError."""

    def __init__(self, profile: str = "7450-pro"):
        handle = c_int64()
        checked(LIBRARY.meldsim_open(ABI_VERSION, str(profile).encode(), ctypes.byref(handle)))
        self._handle = handle.value
        self._done: list[Completion | MeldsimError] = []

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the device. Commands on it are abandoned; later calls raise."""
        checked(LIBRARY.meldsim_close(self._handle))

    def namespace(self, size_bytes: int) -> Namespace:
        """Makes a thin namespace of so many bytes, a multiple of the logical block."""
        number = c_uint32()
        checked(LIBRARY.meldsim_namespace_create(self._handle, operator.index(size_bytes), ctypes.byref(number)))
        info = _NamespaceInfo(size=ctypes.sizeof(_NamespaceInfo))
        checked(LIBRARY.meldsim_namespace_info(self._handle, number.value, ctypes.byref(info)))
        return Namespace(number.value, info.lba_bytes, info.size_lbas)

    def precondition(self, fill_percent: int = 100, random_percent: int = 100, skew: str = "random") -> None:
        """Fills every namespace, and overwrites part of it at random until collection is steady; in no simulated time.

        skew: which pages more often, such as "zipf:0.9"; it takes real time, for each page is overwritten.
        """
        past = f"fill={fill_percent},random={random_percent},skew={skew}"
        checked(LIBRARY.meldsim_precondition_by(self._handle, past.encode()))

    def preload(self, namespace: Namespace, block: int, blocks: int, hint: str | None = None) -> None:
        """Places data as if it had been there for long; in no simulated time."""
        checked(LIBRARY.meldsim_preload(self._handle, namespace.id, operator.index(block), operator.index(blocks), HINTS[hint]))

    def submit(
        self, opcode: str, namespace: Namespace, block: int = 0, blocks: int = 0, hint: str | None = None, posted: bool = False
    ) -> int:
        """Submits a command at the present simulated time, and returns its ticket.

        opcode: "read", "write", "deallocate" or "flush"; hint, of a write: how it will be read, "sequential" or "random".
        A posted command comes back from `step`, any other from `wait`.
        """
        flags = _POSTED if posted else 0
        block, blocks = operator.index(block), operator.index(blocks)
        return checked(LIBRARY.meldsim_submit(self._handle, OPCODES[opcode], namespace.id, block, blocks, HINTS[hint], flags))

    def wait(self, ticket: int) -> float:
        """Lets time move until a command is done; its latency in simulated microseconds."""
        return checked(LIBRARY.meldsim_wait(self._handle, operator.index(ticket), _FOREVER)) / 1e6

    def step(self, duration_us: float) -> list[Completion]:
        """Lets so many simulated microseconds pass. Returns the posted commands that are done, in the order of their ends.

        One that failed raises, with its `ticket`; `step(0)` has the others then.
        """
        checked(LIBRARY.meldsim_advance(self._handle, round(duration_us * 1e6)))
        # One at a time, so that the library has the text of each that failed.
        out, due = (c_int64 * 2)(), c_uint64()
        while checked(LIBRARY.meldsim_reap(self._handle, out, 1, ctypes.byref(due))):
            try:
                self._done.append(Completion(out[0], checked(out[1]) / 1e6))
            except MeldsimError as error:
                error.ticket = out[0]
                self._done.append(error)
        failed = next((at for at, done in enumerate(self._done) if isinstance(done, MeldsimError)), None)
        if failed is not None:
            raise self._done.pop(failed)
        done, self._done = self._done, []
        return done

    def counters(self) -> dict[str, int]:
        """All counters since the device was opened; docs/reference/counters.md describes each."""
        values = (c_uint64 * checked(LIBRARY.meldsim_stats(self._handle, None, 0)))()
        checked(LIBRARY.meldsim_stats(self._handle, values, len(values)))
        return {LIBRARY.meldsim_stats_name(i).decode(): value for i, value in enumerate(values)}

    def latency(self, opcode: str, quantile: float) -> float:
        """The latency in simulated microseconds that this share (0 to 1) of all reads or writes did not exceed."""
        return checked(LIBRARY.meldsim_latency(self._handle, OPCODES[opcode], quantile)) / 1e6
