"""Whether TensorRT can run here, asked in a process of its own: without a device `Runtime()` of 8.6 dies by a signal."""

from __future__ import annotations

import functools
import importlib.util
import json
import signal
import subprocess
import sys

import msgspec

_SECONDS = 60

_DRIVER = """
import ctypes

def driver():
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "the driver library libcuda.so.1 is not here"
    library.cuGetErrorString.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    words, count = ctypes.c_char_p(), ctypes.c_int()
    code = library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count))
    if code:
        library.cuGetErrorString(code, ctypes.byref(words))
        return (words.value or b"unknown error").decode() + " (" + str(code) + ")"
    return "" if count.value else "the driver counts no device"
"""

_CHILD = (
    _DRIVER
    + """
import json

def say(step, text=""):
    print(json.dumps([step, text]), flush=True)

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


class Availability(msgspec.Struct, frozen=True):
    """`version` is "" where tensorrt could not be imported."""

    available: bool
    version: str = ""
    reason: str = ""


@functools.cache
def availability() -> Availability:
    """Asked once in a process; costs a fresh interpreter and the import of tensorrt."""
    if importlib.util.find_spec("tensorrt") is None:
        return Availability(available=False, reason="tensorrt is not installed.")
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _CHILD], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Availability(available=False, reason=f"tensorrt did not answer within {_SECONDS} s of being asked.")
    return read_availability(done.stdout, done.stderr, done.returncode)


@functools.cache
def device_missing() -> str:
    """Why the driver shows no device, "" where it shows one: asked in a process, so that CUDA never begins in this one."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _DRIVER + "print(driver())"],
            capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"the driver did not answer within {_SECONDS} s"
    return done.stdout.strip() if done.returncode == 0 else f"asking the driver ended by {_death(done.returncode)}"


def read_availability(output: str, errors: str, code: int) -> Availability:
    """What the crumbs of the child say, however it ended. A driver without a device weighs more than how tensorrt takes it."""
    steps: dict[str, str] = {}
    for line in output.splitlines():
        if line.startswith("["):
            step, text = json.loads(line)
            steps[step] = text
    version = steps.get("version", "")
    last = next(reversed(steps), "start")
    said = " ".join(errors.split())[-300:]
    if not version:
        return Availability(available=False, reason=f"tensorrt cannot be imported: {said or _death(code)}")
    if steps.get("driver"):
        how = "" if code == 0 else f"; tensorrt's {last} then ended by {_death(code)}"
        return Availability(available=False, version=version, reason=f"no CUDA device: {steps['driver']}{how}.")
    if code != 0 or steps.get("done") != "":
        reason = f"no CUDA device that tensorrt {version} can use: its {last} ended by {_death(code)}. {said}".strip()
        return Availability(available=False, version=version, reason=reason)
    return Availability(available=True, version=version)


def _death(code: int) -> str:
    if code < 0:
        return signal.Signals(-code).name
    return "null" if code == 0 else f"exit code {code}"
