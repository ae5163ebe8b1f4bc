"""The site is built without a backend: the reference comes from code that imports none."""

from __future__ import annotations

import sys
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

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


def check(app: Sphinx, _doctree: nodes.document) -> None:
    """A warning, which fails the strict build. Asked after each page, since pages are read in several processes."""
    imported = [name for name in BACKENDS if name in sys.modules]
    if imported:
        text = "building this page imported %s: a module of the reference imports a backend at load time"
        logger.warning(text, ", ".join(imported), location=app.env.docname, type="assay", subtype="backend", once=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
