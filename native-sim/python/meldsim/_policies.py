"""Policies of one's own: classes whose methods the simulator calls. meldsim.h has what each is asked."""

from __future__ import annotations

import copy
import ctypes
import itertools
import json
import re
import struct
import threading
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int32, c_uint32, c_uint64, c_void_p
from typing import Any, Iterable, Iterator, NamedTuple

from ._library import ABI_VERSION, LIBRARY, RAISED, checked


class Candidate(NamedTuple):
    """A superblock that can be collected: its number in the log; when it was closed, in pages that the log had been given; its
    valid pages; how often it was erased; the frontier that filled it, from 256 on of garbage collection's."""

    number: int
    closed_at: int
    valid: int
    erases: int
    written_at: int


class Policy:
    """What policies of all kinds have. Each log of a device gets a deep copy of the object that was given, and `begin` is called
    on that. An exception in any method ends the run, and comes out of it as it was raised."""

    #: The key of the profile that names policies of this kind.
    key = ""

    @property
    def name(self) -> str:
        """What profiles call it; by default the name of the class: RandomPick is random-pick."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", type(self).__name__).lower().replace("_", "-").strip("-")

    def begin(self, superblocks: int, pages_per_superblock: int, options: dict[str, Any]) -> None:
        """A log has so many superblocks of so many pages; `options` is the profile's [policy.NAME]."""


class VictimPolicy(Policy):
    """Which superblock is collected next."""

    key = "gc.victim"
    #: Whether `rank` is also asked while there is a superblock without valid pages.
    ranks_empty = False

    def rank(self, candidates: list[Candidate], most: int, now: int) -> Iterable[int]:
        """The numbers of at most `most` candidates, the first to be collected first. `now`: pages that the log has been given."""
        raise NotImplementedError

    def closed(self, superblock: Candidate) -> None:
        """Nothing more will be written to it before it is erased."""

    def erased(self, number: int) -> None:
        """A superblock has been erased."""


class PlacementPolicy(Policy):
    """With which data a page goes. It is asked for every page."""

    key = "ftl.placement"
    #: Frontiers of garbage collection's, 1 to 8.
    moved = 1

    def of_write(self, space: int, page: int, stream: int) -> int:
        """The host's frontier, 0 to 16, of a page that is written in a stream, 0 for none. `space`: its namespace, from 0."""
        raise NotImplementedError

    def of_move(self, space: int, page: int, written_at: int) -> int:
        """Garbage collection's frontier, below `moved`, of a page that was written at a frontier."""
        return 0

    def opened(self, superblock: int, at: int) -> None:
        """A superblock has been opened at a frontier."""

    def collected(self, superblock: int, written_at: int) -> None:
        """A superblock is collected from now on."""


_CANDIDATE = struct.Struct("=4xIQIII4x")
_numbers = itertools.count(1)
#: Policies that were registered, and their copies in logs, by what the library calls them.
_known: dict[int, Any] = {}
#: The threads that had the copies made.
_makers: dict[int, int] = {}
_own = threading.local()


def register(policy: Policy) -> None:
    """Lets profiles name this policy, also those of `Device`. Another of that name takes its place for devices to come."""
    number = next(_numbers)
    _known[number] = policy
    function, fill = _KINDS[policy.key]
    table = fill(policy, number)
    checked(function(ABI_VERSION, policy.name.encode(), (policy.__doc__ or policy.name).split("\n")[0].encode(), ctypes.byref(table)))


class used:
    """Those that the calling thread's devices take, whatever others register meanwhile."""

    def __init__(self, policies: Iterable[Policy]):
        self.policies = {policy.name: policy for policy in policies}

    def __enter__(self) -> None:
        _own.policies = self.policies

    def __exit__(self, *_: Any) -> None:
        _own.policies = {}


def _guarded(function: Any, failure: Any = -1) -> Any:
    """The same function; an exception is kept for whoever called the library."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:
            # Who had the policy made waits for the call, also where the library has threads of its own.
            RAISED[_makers.get(arguments[0], threading.get_ident()) if arguments else threading.get_ident()] = error
            LIBRARY.meldsim_policy_error(f"raised {type(error).__name__}: {error}".encode(errors="replace"))
            return failure

    return call


@CFUNCTYPE(c_void_p, c_void_p, c_char_p, c_uint32, c_uint32)
def _make(context: int, options: bytes, superblocks: int, pages: int) -> int | None:
    def make() -> int:
        given = _known[context]
        policy = copy.deepcopy(getattr(_own, "policies", {}).get(given.name, given))
        policy.begin(superblocks, pages, json.loads(options))
        number = next(_numbers)
        _known[number], _makers[number] = policy, threading.get_ident()
        return number

    return _guarded(make, None)()


@CFUNCTYPE(None, c_void_p)
def _drop(number: int) -> None:
    _known.pop(number, None)
    _makers.pop(number, None)


def _told(method: str, *types: Any) -> Any:
    """A C function that calls a method which returns nothing."""

    def tell(number: int, *arguments: Any) -> int:
        getattr(_known[number], method)(*arguments)
        return 0

    return CFUNCTYPE(c_int32, c_void_p, *types)(_guarded(tell))


def _asked(method: str, *types: Any) -> Any:
    """A C function that calls a method which returns a number."""

    def ask(number: int, *arguments: Any) -> int:
        answer = getattr(_known[number], method)(*arguments)
        if not isinstance(answer, int) or not 0 <= answer < 1 << 31:
            raise TypeError(f"{method} returned {answer!r}; return a number from 0 on")
        return answer

    return CFUNCTYPE(c_int32, c_void_p, *types)(_guarded(ask))


def _candidates(at: int, count: int) -> Iterator[Candidate]:
    return map(Candidate._make, _CANDIDATE.iter_unpack(ctypes.string_at(at, count * _CANDIDATE.size)))


def _rank(number: int, now: int, candidates: int, count: int, most: int, ranked: Any) -> int:
    answered = list(_known[number].rank(list(_candidates(candidates, count)), most, now))
    if len(answered) > most:
        raise ValueError(f"rank returned {len(answered)} superblocks, more than the {most} that it was asked for")
    for place, superblock in enumerate(answered):
        if not isinstance(superblock, int) or not 0 <= superblock < 1 << 32:
            raise TypeError(f"rank returned {superblock!r}; return numbers of candidates")
        ranked[place] = superblock
    return len(answered)


_RANK = CFUNCTYPE(c_int32, c_void_p, c_uint64, c_void_p, c_uint32, c_uint32, POINTER(c_uint32))(_guarded(_rank))
_CLOSED = CFUNCTYPE(c_int32, c_void_p, c_void_p)(_guarded(lambda number, at: _known[number].closed(*_candidates(at, 1)) or 0))


class _Table(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("number", c_uint32), ("context", c_void_p)] + [
        (f"function{n}", c_void_p) for n in range(6)
    ]  # fmt: skip


def _filled(number: int, context: int, *functions: Any) -> _Table:
    table = _Table(ctypes.sizeof(_Table), number, context)
    for place, function in enumerate(functions):
        setattr(table, f"function{place}", ctypes.cast(function, c_void_p) if function else None)
    return table


_ERASED = _told("erased", c_uint32)
_OF_WRITE = _asked("of_write", c_uint32, c_uint64, c_uint32)
_OF_MOVE = _asked("of_move", c_uint32, c_uint64, c_uint32)
_OPENED = _told("opened", c_uint32, c_uint32)
_COLLECTED = _told("collected", c_uint32, c_uint32)


def _victims(policy: Any, context: int) -> _Table:
    return _filled(int(policy.ranks_empty), context, _make, _drop, _RANK, _CLOSED, None, _ERASED)


def _placement(policy: Any, context: int) -> _Table:
    return _filled(policy.moved, context, _make, _drop, _OF_WRITE, _OF_MOVE, _OPENED, _COLLECTED)


_KINDS = {
    VictimPolicy.key: (LIBRARY.meldsim_register_victims, _victims),
    PlacementPolicy.key: (LIBRARY.meldsim_register_placement, _placement),
}
