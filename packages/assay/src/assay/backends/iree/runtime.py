"""Devices and buffers of IREE's runtime: arrays in, arrays out, without the path that fails on Vulkan."""

from __future__ import annotations

import functools
import re
from typing import Any

import ml_dtypes
import numpy as np

from assay.backends.iree.errors import no_device
from assay.core.dtype import dtype_name, numpy_dtype
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import NotRunnable
from assay.ports import Tensor

# The storage that numpy's buffer protocol knows, for types that it does not.
_STORAGE = {"bfloat16": np.uint16, "float8_e4m3fn": np.uint8, "float8_e5m2": np.uint8, "bool": np.uint8}
_ELEMENTS = {
    "bool": "BOOL_8",
    "bfloat16": "BFLOAT_16",
    "float8_e4m3fn": "FLOAT_8_E4M3_FN",
    "float8_e5m2": "FLOAT_8_E5M2",
    **{f"float{bits}": f"FLOAT_{bits}" for bits in (16, 32, 64)},
    **{f"int{bits}": f"SINT_{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"UINT_{bits}" for bits in (8, 16, 32, 64)},
}
TYPES = frozenset(_ELEMENTS)


@functools.cache
def open_device(driver: str, threads: int) -> Any:
    """One device of the process for each number of threads: the runtime's own cache would keep the threads of the first.

    It lives as long as the process: giving back a device with threads of its own was seen to hang and to segfault (3.13).
    Raises NotRunnable.
    """
    from iree.runtime import HalDriver, _binding
    from iree.runtime.flags import parse_flags

    if driver not in HalDriver.query():
        raise NotRunnable(noted(BackendCode.NO_DRIVER, driver=driver, drivers=tuple(HalDriver.query())))
    if driver == "local-task":
        parse_flags(f"--task_topology_group_count={threads}")
    try:
        return _binding.create_hal_driver(driver).create_default_device()
    except (RuntimeError, ValueError) as error:
        raise no_device(driver, str(error)) from error


def features_of(module: bytes) -> frozenset[str]:
    """What the code of a module for the CPU needs of a processor, as LLVM names it. The module says so (3.13) in the words with
    which it would refuse a missing device; empty where it does not."""
    feature_lists = re.findall(rb'cpu_features = "([^"]*)"', module)
    return frozenset(part[1:].decode() for line in feature_lists for part in line.split(b",") if part.startswith(b"+"))


def to_device(device: Any, array: Tensor) -> Any:
    """A buffer view holding a copy."""
    from iree.runtime import BufferUsage, HalElementType, MemoryType

    name = dtype_name(array.dtype)
    raw = np.asarray(array, order="C")
    if name in _STORAGE:
        raw = raw.view(_STORAGE[name])
    return device.allocator.allocate_buffer_copy(
        memory_type=MemoryType.DEVICE_LOCAL,
        allowed_usage=BufferUsage.DEFAULT,
        device=device,
        buffer=raw,
        element_type=getattr(HalElementType, _ELEMENTS[name]),
    )


def to_host(device: Any, view: Any) -> Tensor:
    """A copy, through a staging buffer.

    DeviceArray.to_host() (3.13) imports the array's own memory where the driver says that it can, and Vulkan then refuses
    a pointer that is not aligned to a page (iree-org/iree#23792 brought the import).
    """
    from iree.runtime import BufferUsage, HalFence, MemoryType

    dtype = _dtype(view.element_type)
    shape = tuple(view.shape)
    source = view.get_buffer()
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if size == 0:
        return np.empty(shape, dtype)
    staging = device.allocator.allocate_buffer(
        memory_type=int(MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE),
        allowed_usage=int(BufferUsage.TRANSFER_TARGET | BufferUsage.MAPPING_SCOPED),
        allocation_size=source.byte_length(),
    )
    semaphore = device.create_semaphore(0)
    done = HalFence.create_at(semaphore, 1)
    device.queue_copy(source, staging, wait_semaphores=HalFence.create_at(semaphore, 0), signal_semaphores=done)
    done.wait()
    storage = np.dtype(f"u{dtype.itemsize}")
    mapped: Tensor = staging.map().asarray(shape, storage)
    return np.array(mapped).view(dtype)


def _dtype(element: int) -> np.dtype[Any]:
    from iree.runtime import HalElementType

    names = {int(getattr(HalElementType, kind)): name for name, kind in _ELEMENTS.items()}
    signless = {int(getattr(HalElementType, f"INT_{bits}")): f"int{bits}" for bits in (8, 16, 32, 64)}
    return numpy_dtype((names | signless)[int(element)])


assert ml_dtypes  # registers its dtypes with numpy
