"""How models that are wrong in one way are made, and the table that they enter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

HEAD = '<ir_version: 9, opset_import: ["" : 17]>\n'
Build = Callable[[Path], onnx.ModelProto | bytes]


@dataclass(frozen=True)
class BrokenModel:
    """`area` and `code` are those of the finding; `zoo` where a valid model breaks a rule of a collection. `build` is given the folder,
    for external data."""

    area: str
    code: str
    build: Build
    zoo: bool = False


CASES: dict[str, BrokenModel] = {}


def case(area: str, code: str, *, zoo: bool = False) -> Callable[[Build], Build]:
    """Enters a builder into the table, under its own name."""

    def keep(build: Build) -> Build:
        CASES[build.__name__] = BrokenModel(area, code, build, zoo)
        return build

    return keep


def text(body: str, head: str = HEAD) -> onnx.ModelProto:
    model: onnx.ModelProto = parser.parse_model(head + body)
    return model


def relu(shape: str = "2,3") -> onnx.ModelProto:
    return text(f"g (float[{shape}] x) => (float[{shape}] y) {{ [a] y = Relu(x) }}")


def built(name: str, folder: Path) -> Path:
    """The model of that case, written into an existing folder."""
    made = CASES[name].build(folder)
    path = folder / "model.onnx"
    path.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    return path


def with_weight(array: np.ndarray[Any, Any], operator: str = "Add") -> onnx.ModelProto:
    model = text(f"g (float[2,3] x) => (float[2,3] y) {{ [a] y = {operator}(x, w) }}")
    model.graph.initializer.append(numpy_helper.from_array(array, "w"))
    return model


def external(folder: Path, location: str, *, write: bool = True, **entries: str) -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    if write:
        target = folder / location
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(np.ones(6, np.float32).tobytes())
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return model


def loop(constants: str, operands: str, cond: str = "[c] more = Identity(go)") -> onnx.ModelProto:
    return text(
        f"g (float[2] x) => (float[2] y) <{constants}> {{ [loop] y = Loop<body = b (int64 i, bool go, float[2] v) => "
        f"(bool more, float[2] w) {{ {cond} [n] w = Relu(v) }}>({operands}, x) }}"
    )


def sparse(indices: np.ndarray[Any, Any], dims: list[int]) -> onnx.ModelProto:
    model = text("g (float[2,3] x) => (float[2,3] y) { [a] y = Mul(x, w) }")
    values = numpy_helper.from_array(np.ones(2, np.float32), "w")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, numpy_helper.from_array(indices), dims))
    return model
