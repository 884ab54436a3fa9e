"""The C library, and its errors as exceptions. meldsim.h has the contract of every function."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_uint32, c_uint64
from pathlib import Path

ABI_VERSION = 3

_SIGNATURES: dict[str, tuple] = {
    "meldsim_last_error": (c_int32, c_char_p, c_uint64),
    "meldsim_open": (c_int32, c_uint32, c_char_p, POINTER(c_int64)),
    "meldsim_close": (c_int32, c_int64),
    "meldsim_advance": (c_int32, c_int64, c_uint64),
    "meldsim_precondition_by": (c_int32, c_int64, c_char_p),
    "meldsim_namespace_create": (c_int32, c_int64, c_uint64, POINTER(c_uint32)),
    "meldsim_namespace_info": (c_int32, c_int64, c_uint32, ctypes.c_void_p),
    "meldsim_preload": (c_int32, c_int64, c_uint32, c_uint64, c_uint64, c_uint32),
    "meldsim_submit": (c_int64, c_int64, c_uint32, c_uint32, c_uint64, c_uint32, c_uint32, c_uint32),
    "meldsim_wait": (c_int64, c_int64, c_int64, c_uint64),
    "meldsim_reap": (c_int32, c_int64, POINTER(c_int64), c_uint32, POINTER(c_uint64)),
    "meldsim_stats": (c_int32, c_int64, POINTER(c_uint64), c_uint32),
    "meldsim_stats_name": (c_char_p, c_uint32),
    "meldsim_latency": (c_int64, c_int64, c_uint32, c_double),
    "meldsim_run": (c_int64, c_uint32, c_char_p),
    "meldsim_run_result": (c_int64, c_char_p, c_uint64),
    "meldsim_register_victims": (c_int32, c_uint32, c_char_p, c_char_p, ctypes.c_void_p),
    "meldsim_register_placement": (c_int32, c_uint32, c_char_p, c_char_p, ctypes.c_void_p),
    "meldsim_policy_error": (c_int32, c_char_p),
}

_ERR_POLICY = -16
#: What policies raised, by the thread that had them made.
RAISED: dict[int, BaseException] = {}


class MeldsimError(Exception):
    """What the library refused, with its own text. `status` is the number of meldsim.h, such as -2 for a profile; of `what_if` and
    `experiment` the exit code below 0. `ticket` is that of a posted command that failed."""

    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status = status
        self.ticket: int | None = None


def _load() -> ctypes.CDLL:
    path = os.environ.get("MELDSIM_LIBRARY") or str(Path(__file__).with_name("libmeldsim_study.so"))
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{error}. Install the wheel of this machine, or name libmeldsim_study.so in MELDSIM_LIBRARY.") from error
    for name, (result, *arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


LIBRARY = _load()


def checked(outcome: int) -> int:
    """The outcome of a call, or the exception of what is below 0."""
    if outcome < 0:
        if outcome == _ERR_POLICY and (raised := RAISED.pop(threading.get_ident(), None)):
            raise raised
        text = ctypes.create_string_buffer(LIBRARY.meldsim_last_error(None, 0))
        LIBRARY.meldsim_last_error(text, len(text))
        raise MeldsimError(outcome, text.value.decode())
    return outcome


def answer(request: str) -> str:
    """What meldsim_run gives for a request. The library keeps the result for this thread until it is fetched."""
    text = ctypes.create_string_buffer(checked(LIBRARY.meldsim_run(ABI_VERSION, request.encode())))
    LIBRARY.meldsim_run_result(text, len(text))
    return text.value.decode()
