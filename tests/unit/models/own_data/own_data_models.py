"""Signatures that data are read for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from assay.core.model import Model, TensorSpec

MODEL = Model(
    "net",
    "net.onnx",
    "a" * 64,
    inputs=(TensorSpec("x", "float32", ("N", 4)), TensorSpec("n", "int64", ())),
    outputs=(TensorSpec("y", "float32", ("N", 2)),),
)


ONE = Model("one", "one.onnx", "b" * 64, inputs=MODEL.inputs[:1], outputs=MODEL.outputs)


CELL = Model(
    "cell",
    "cell.onnx",
    "d" * 64,
    inputs=(TensorSpec("x", "float32", ("N", 4)), TensorSpec("state", "float32", (2, "N", 3))),
    outputs=(TensorSpec("y", "float32", ("N", 2)), TensorSpec("stateN", "float32", (2, "N", 3))),
)


X = np.arange(8, dtype=np.float32).reshape(2, 4)


STACK = np.stack([X, X + 1, X + 2])


def function(text: str) -> Callable[[Path], None]:
    return lambda path: path.write_text("import numpy as np\nX = np.ones((2, 4), np.float32)\n" + text) and None
