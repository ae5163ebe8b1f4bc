"""Device memory, streams and events through libcudart itself: a dozen calls do not need another package.

Everything that touches a CUDA device outside tensorrt is in this file.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import NotRunnable, OutOfMemory
from assay.ports import Tensor

_TO_DEVICE, _TO_HOST = 1, 2
_NO_MEMORY = 2
_NAMES = ("libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0")


class Cuda:
    """One runtime library. Errors are MemoryError or NotRunnable, in the driver's words."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)
        self._library.cudaGetErrorString.restype = ctypes.c_char_p

    def allocate(self, size: int) -> int:
        """The address of at least `size` bytes, aligned to 256."""
        pointer = ctypes.c_void_p()
        self._call("cudaMalloc", ctypes.byref(pointer), ctypes.c_size_t(max(size, 1)))
        return int(pointer.value or 0)

    def release(self, pointer: int) -> None:
        """Given back; 0 is nothing."""
        if pointer:
            self._call("cudaFree", ctypes.c_void_p(pointer))

    def upload(self, pointer: int, array: Tensor) -> None:
        """The bytes of a contiguous array to the device."""
        self._copy(pointer, array.ctypes.data, array.nbytes, _TO_DEVICE)

    def download(self, pointer: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Tensor:
        """A new array with the bytes of the device."""
        array: Tensor = np.empty(shape, dtype)
        self._copy(array.ctypes.data, pointer, array.nbytes, _TO_HOST)
        return array

    def stream(self) -> int:
        """The handle of a new stream."""
        handle = ctypes.c_void_p()
        self._call("cudaStreamCreate", ctypes.byref(handle))
        return int(handle.value or 0)

    def wait(self, stream: int) -> None:
        """Until everything in the stream is done. An error of a kernel comes out here."""
        self._call("cudaStreamSynchronize", ctypes.c_void_p(stream))

    def event(self) -> int:
        """The handle of a new event that keeps the time."""
        handle = ctypes.c_void_p()
        self._call("cudaEventCreate", ctypes.byref(handle))
        return int(handle.value or 0)

    def destroy(self, *events: int) -> None:
        """What `event` made is given back."""
        for event in events:
            self._call("cudaEventDestroy", ctypes.c_void_p(event))

    def record(self, event: int, stream: int) -> None:
        """The event happens when everything in the stream before it is done."""
        self._call("cudaEventRecord", ctypes.c_void_p(event), ctypes.c_void_p(stream))

    def seconds_between(self, begin: int, end: int) -> float:
        """Waits for `end`. The clock is the device's own, half a microsecond fine."""
        self._call("cudaEventSynchronize", ctypes.c_void_p(end))
        milliseconds = ctypes.c_float()
        self._call("cudaEventElapsedTime", ctypes.byref(milliseconds), ctypes.c_void_p(begin), ctypes.c_void_p(end))
        return milliseconds.value / 1e3

    def _copy(self, target: int, source: int, size: int, direction: int) -> None:
        if size:
            self._call(
                "cudaMemcpy",
                ctypes.c_void_p(target),
                ctypes.c_void_p(source),
                ctypes.c_size_t(size),
                ctypes.c_int(direction),
            )

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, name)(*arguments)
        if code == 0:
            return
        words = self._library.cudaGetErrorString(ctypes.c_int(code)).decode(errors="replace")
        if code == _NO_MEMORY:
            raise OutOfMemory(noted(BackendCode.CUDA_MEMORY, call=name, error=words))
        raise NotRunnable(noted(BackendCode.CUDA_SAYS, call=name, error=words, code=code))


class TimedCall:
    """Seconds of one call by the device's own clock, from two events in the stream that it goes into. `kept` are the arrays
    that the device reads from the host's memory."""

    def __init__(self, device: Cuda, stream: int, call: Callable[[], object], kept: Sequence[Tensor] = ()) -> None:
        self._device, self._stream, self._enqueue, self._kept = device, stream, call, kept
        self._begin, self._end = device.event(), device.event()
        weakref.finalize(self, device.destroy, self._begin, self._end)

    def __call__(self) -> float:
        self._device.record(self._begin, self._stream)
        self._enqueue()
        self._device.record(self._end, self._stream)
        return self._device.seconds_between(self._begin, self._end)


@functools.cache
def cuda() -> Cuda:
    """The first libcudart that can be loaded. Raises NotRunnable."""
    for name in _candidates():
        try:
            return Cuda(name)
        except OSError:
            continue
    raise NotRunnable(noted(BackendCode.NO_CUDA_RUNTIME))


def _candidates() -> Iterator[str]:
    """On the loader's path, then in the packages of the vendor (`nvidia/cuda_runtime/lib`, `nvidia/cu13/lib`)."""
    yield from _NAMES
    package = importlib.util.find_spec("nvidia")
    for folder in package.submodule_search_locations or () if package else ():
        yield from (str(path) for path in sorted(Path(folder).glob("*/lib/libcudart.so*")))
