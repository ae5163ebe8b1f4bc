"""Whether TensorRT can run here, asked in a process of its own: without a device `Runtime()` of 8.6 dies by a signal."""

from __future__ import annotations

import functools
import importlib.util
import json
import subprocess
import sys
from typing import Any

from assay.core.note import Note, noted
from assay.core.refusals.availability_codes import AvailabilityCode
from assay.ports import Availability

_SECONDS = 60
_LIBRARY = "tensorrt"
_DRIVER_FILE = "libcuda.so.1"
_INSTALL = "pip install tensorrt"

_DRIVER = f"""
import ctypes, json

def driver():
    try:
        library = ctypes.CDLL("{_DRIVER_FILE}")
    except OSError:
        return ["{AvailabilityCode.DRIVER_LIBRARY_MISSING}"]
    library.cuGetErrorString.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    words, count = ctypes.c_char_p(), ctypes.c_int()
    code = library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count))
    if code:
        library.cuGetErrorString(code, ctypes.byref(words))
        return ["{AvailabilityCode.DRIVER_SAYS}", (words.value or b"unknown error").decode(), code]
    return [] if count.value else ["{AvailabilityCode.DRIVER_COUNTS_NONE}"]
"""

_CHILD = (
    _DRIVER
    + """
def say(step, said=""):
    print(json.dumps([step, said]), flush=True)

say("import")
import tensorrt
say("version", tensorrt.__version__)
say("driver", driver())
logger = tensorrt.Logger(tensorrt.Logger.ERROR)
say("runtime")
runtime = tensorrt.Runtime(logger)
say("builder")
builder = tensorrt.Builder(logger)
say("done", "" if runtime is not None and builder is not None else "null")
"""
)


@functools.cache
def availability() -> Availability:
    """Asked once in a process; costs a fresh interpreter and the import of tensorrt."""
    if importlib.util.find_spec(_LIBRARY) is None:
        missing = noted(AvailabilityCode.LIBRARY_NOT_INSTALLED, library=_LIBRARY)
        return Availability(available=False, reason=missing, install=_INSTALL)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _CHILD], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        silent = noted(AvailabilityCode.NOT_ANSWERED, library=_LIBRARY, seconds=_SECONDS)
        return Availability(available=False, reason=silent, install=_INSTALL)
    return read_availability(done.stdout, done.stderr, done.returncode)


@functools.cache
def device_missing() -> Note | None:
    """Why the driver shows no device, None where it shows one: asked in a process, so that CUDA never begins in this one."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _DRIVER + "print(json.dumps(driver()))"],
            capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return noted(AvailabilityCode.DRIVER_NOT_ANSWERED, seconds=_SECONDS)
    if done.returncode != 0:
        return noted(AvailabilityCode.DRIVER_PROCESS_ENDED, ended=_ended_by(done.returncode))
    lines = _said(done.stdout)
    return _driver_note(lines[-1]) if lines else noted(AvailabilityCode.DRIVER_PROCESS_ENDED, ended=_ended_by(0))


def _said(output: str) -> list[list[Any]]:
    """The lists that a child printed; a driver may print lines of its own."""
    lists = []
    for line in output.splitlines():
        try:
            listed = json.loads(line)
        except ValueError:
            continue
        if isinstance(listed, list):
            lists.append(listed)
    return lists


def read_availability(output: str, errors: str, code: int) -> Availability:
    """What the crumbs of the child say, however it ended. A driver without a device weighs more than how tensorrt takes it."""
    steps: dict[str, Any] = {str(crumb[0]): crumb[1] for crumb in _said(output) if len(crumb) == 2}
    version = steps.get("version", "")
    last = next(reversed(steps), "start")
    error, ended = " ".join(errors.split())[-300:], _ended_by(code)
    if not version:
        reason = noted(AvailabilityCode.NOT_IMPORTED, library=_LIBRARY, error=error or ended)
        return Availability(available=False, reason=reason, install=_INSTALL)
    if (driver := _driver_note(steps.get("driver", []))) is not None:
        reason = noted(AvailabilityCode.NO_CUDA_DEVICE, driver=driver)
        if code != 0:
            reason = noted(
                AvailabilityCode.NO_CUDA_DEVICE_AND_ENDED, driver=driver, library=_LIBRARY, step=last, ended=ended
            )
        return Availability(available=False, version=version, reason=reason)
    if code != 0 or steps.get("done") != "":
        reason = noted(
            AvailabilityCode.CUDA_DEVICE_NOT_USED,
            library=_LIBRARY,
            version=version,
            step=last,
            ended=ended,
            error=error,
        )
        return Availability(available=False, version=version, reason=reason)
    return Availability(available=True, version=version)


def _driver_note(lines: list[Any]) -> Note | None:
    """Of what `driver` of the child gave: the code, and the driver's own words with its number."""
    match lines:
        case []:
            return None
        case [AvailabilityCode.DRIVER_SAYS, error, code]:
            return noted(AvailabilityCode.DRIVER_SAYS, error=error, code=code)
        case [AvailabilityCode.DRIVER_COUNTS_NONE]:
            return noted(AvailabilityCode.DRIVER_COUNTS_NONE)
        case _:
            return noted(AvailabilityCode.DRIVER_LIBRARY_MISSING, file=_DRIVER_FILE)


def _ended_by(code: int) -> Note:
    return noted(AvailabilityCode.ENDED_BY, status=code)
