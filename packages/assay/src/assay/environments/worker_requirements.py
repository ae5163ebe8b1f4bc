"""What a worker needs beside its backend, taken from assay's own metadata."""

from __future__ import annotations

import re
from importlib import metadata

WORKER_NEEDS = ("ml-dtypes", "msgspec", "numpy", "onnx", "safetensors")
"""All that `assay.worker` and what it loads import from others. Small on purpose: it must fit beside any backend."""

OLDER = {"ml-dtypes": "ml-dtypes>=0.5", "numpy": "numpy>=1.26", "onnx": "onnx>=1.21"}
"""What a worker does with although the driver wants newer ones: libraries of flows hold them back (tosa-tools 2026.8 pins ml-dtypes
0.5.3, and newer releases of onnx ask for more of it; releases until the summer of 2024 run with numpy 1 alone)."""

OLDEST_PYTHON = (3, 11)


def worker_requirements() -> tuple[str, ...]:
    """The requirements of assay that are the worker's, with their bounds or older ones."""
    declared = {}
    for line in metadata.requires("assay") or []:
        match = re.match(r"[A-Za-z0-9._-]+", line)
        if match and ";" not in line:
            declared[normal(match[0])] = line
    return tuple((declared | OLDER).get(name, name) for name in WORKER_NEEDS)


def normal(name: str) -> str:
    """The name of a distribution as package indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
