"""Which versions gave a result: those of the interpreter that the worker runs in, which may be of another environment."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

from assay import plugins

_ALWAYS = ("numpy", "onnx")


@cache
def _here() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in _ALWAYS}}


@cache
def library_versions(backend: str) -> dict[str, str]:
    """Of Python, of what every worker uses, and of the backend's library under the backend's name."""
    found = plugins.availability(backend).version if backend else ""
    return {**_here(), backend: found} if found else dict(_here())
