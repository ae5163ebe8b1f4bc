"""The site is built without a backend: the reference comes from code that imports none."""

from __future__ import annotations

import sys
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

BACKENDS = (
    "onnxruntime",
    "openvino",
    "torch",
    "tvm",
    "iree",
    "executorch",
    "MNN",
    "ncnn",
    "ai_edge_litert",
    "tensorrt",
)


def check(_app: Sphinx, error: Exception | None) -> None:
    """Raises ExtensionError where the build imported the library of a backend."""
    imported = [name for name in BACKENDS if name in sys.modules]
    if error is None and imported:
        raise ExtensionError(
            f"building the site imported {', '.join(imported)}: a public module imports a backend at load time"
        )


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
