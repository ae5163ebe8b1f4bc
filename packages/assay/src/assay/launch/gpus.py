"""The GPUs of this machine, by NVML where its binding is installed, else by `nvidia-smi`; none is an answer, not an error."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache

from assay.core.device import Gpu

_QUERY = "--query-gpu=name,uuid,memory.total,driver_version"
_MIB = 2**20


@cache
def gpus() -> tuple[Gpu, ...]:
    """Those that this process may use (`CUDA_VISIBLE_DEVICES` is heeded), in the driver's order. Asked once: they stay."""
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    return visible(_from_nvml() or _from_smi(), allowed)


def visible(all_gpus: Sequence[Gpu], allowed: str | None) -> tuple[Gpu, ...]:
    """Those that the variable leaves, in its order: indices or the beginnings of UUIDs; it ends at the first unknown word
    (CUDA C++ programming guide, environment variables)."""
    if allowed is None:
        return tuple(all_gpus)
    left: list[Gpu] = []
    for word in (part.strip() for part in allowed.split(",")):
        if word.isdecimal():
            one = all_gpus[int(word)] if int(word) < len(all_gpus) else None
        else:
            one = next((gpu for gpu in all_gpus if word and gpu.visible.startswith(word)), None)
        if one is None or one in left:
            break
        left.append(one)
    return tuple(left)


def parse_smi(text: str) -> tuple[Gpu, ...]:
    """From the CSV of `nvidia-smi`, without header and units: name, UUID, MiB, driver."""
    rows = ([field.strip() for field in line.split(",")] for line in text.splitlines())
    return tuple(
        Gpu(row[0], row[1], int(row[2]) * _MIB if row[2].isdecimal() else 0, row[3])
        for row in rows
        if len(row) == 4 and row[1].startswith("GPU-")
    )


def _from_smi() -> tuple[Gpu, ...]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    try:
        command = [program, _QUERY, "--format=csv,noheader,nounits"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return parse_smi(done.stdout) if done.returncode == 0 else ()


def _from_nvml() -> tuple[Gpu, ...]:
    try:
        import pynvml
    except ImportError:
        return ()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    try:
        driver = str(pynvml.nvmlSystemGetDriverVersion())
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        return tuple(
            Gpu(
                str(pynvml.nvmlDeviceGetName(handle)),
                str(pynvml.nvmlDeviceGetUUID(handle)),
                int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
                driver,
            )
            for handle in handles
        )
    except pynvml.NVMLError:
        return ()
    finally:
        pynvml.nvmlShutdown()
