"""IREE's own profile of calls on the CPU: its runner writes it, its tool exports it, and what ran when becomes Chrome's trace."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.backends.onnx_loader import Signature
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Lowering, Unsupported
from assay.ports import Tensors

PROFILE, TIMELINE = "iree.ireeprof", "iree.json"
_MODES = "queue-events,host-execution"
_TIMEOUT_S = 300
# What numpy writes in a way that the runner's reader of .npy files takes (3.13).
_FED = frozenset(
    ("bool", "float16", "float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
)


def trace(module: Path, function: str, tensors: Tensors, signature: Signature, threads: int, folder: Path) -> None:
    """One call in a process of its own, as `iree.ireeprof` for `iree-profile`, and as `iree.json`. Raises Unsupported for inputs that the
    runner cannot be given, and RuntimeError with the runner's words where it fails."""
    arguments = []
    for place, spec in enumerate(signature.inputs):
        if spec.dtype not in _FED:
            raise Unsupported(
                noted(BackendCode.TYPE_NOT_PASSED, tensor=spec.name, dtype=spec.dtype, library="iree-run-module")
            )
        file = folder / f"input-{place}.npy"
        np.save(file, np.asarray(tensors[spec.name], order="C"))
        arguments.append(file)
    device = (
        ["--device=local-sync"] if threads == 1 else ["--device=local-task", f"--task_topology_group_count={threads}"]
    )
    try:
        _run(
            "iree-run-module",
            f"--module={module}",
            f"--function={function}",
            *device,
            *(f"--input=@{file}" for file in arguments),
            *["--output=-"] * len(signature.outputs),
            f"--device_profiling_mode={_MODES}",
            f"--device_profiling_output={folder / PROFILE}",
        )
    finally:
        for file in arguments:
            file.unlink()
    rows = _run("iree-profile", "export", "--format=ireeperf-jsonl", "--output=-", str(folder / PROFILE)).splitlines()
    (folder / TIMELINE).write_bytes(msgspec.json.encode(timeline(map(json.loads, rows))))


def timeline(rows: Iterable[Mapping[str, Any]]) -> dict[str, object]:
    """Chrome's trace of an export (`ireeperf-jsonl`, schema 15): each piece of work that the host ran, on a track for its queue."""
    ran = [row for row in rows if row.get("record_type") == "host_execution_event" and row.get("valid")]
    begin = min((int(row["start_host_time_ns"]) for row in ran), default=0)
    return {"traceEvents": list(_events(ran, begin)), "displayTimeUnit": "ns"}


def _events(ran: Iterable[Mapping[str, Any]], begin: int) -> Iterator[dict[str, object]]:
    for row in ran:
        yield {
            "name": str(row.get("key") or row["op"]),
            "cat": str(row["op"]),
            "ph": "X",
            "pid": 1 + int(row["physical_device_ordinal"]),
            "tid": 1 + int(row["queue_ordinal"]),
            "ts": (int(row["start_host_time_ns"]) - begin) / 1e3,
            "dur": int(row["duration_ns"]) / 1e3,
            "args": {
                "workgroups": "x".join(map(str, row.get("workgroup_count", ()))),
                "bytes": str(row.get("payload_length", 0)),
                "tiles": str(row.get("tile_count", 0)),
            },
        }


def _run(tool: str, *arguments: str) -> str:
    import iree.runtime

    command = Path(sysconfig.get_path("scripts")) / tool
    if not command.is_file():
        raise Unsupported(
            noted(BackendCode.NO_PROFILER, library="iree", version=iree.runtime.version.VERSION, lacking=tool)
        )
    done = subprocess.run([str(command), *arguments], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    if done.returncode:
        raise Lowering(noted(BackendCode.TOOL_SAYS, tool=tool, error=" ".join(done.stderr.split())[-400:]))
    return done.stdout
