"""Tiny ONNX files for the conformance check of backends, and what the good one answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay.ports import Tensor

if TYPE_CHECKING:
    from onnx import NodeProto

INPUT = "image"
BATCH = "batch"
OUTPUTS = ("scores", "features", "best")
"""In this order, which is neither alphabetical nor that of computing."""

INTEGER_OUTPUT = "best"

_WEIGHTS = np.random.default_rng(20).normal(size=(4, 3, 3, 3)).astype(np.float32)
_DENSE = np.random.default_rng(21).normal(size=(4, 5)).astype(np.float32)


def tiny_model(path: Path, *, integers: bool = True, batch: int | None = None) -> Path:
    """conv 3x3, relu, global average pool, matmul, argmax; symbolic batch, or the one given; opset 17; one integer output, or
    none."""
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("Conv", [INPUT, "weights"], ["maps"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["maps"], ["features"], name="relu"),
        helper.make_node("GlobalAveragePool", ["features"], ["pooled"], name="pool"),
        helper.make_node("Flatten", ["pooled"], ["flat"], name="flatten"),
        helper.make_node("MatMul", ["flat", "dense"], ["scores"], name="matmul"),
        helper.make_node("ArgMax", ["scores"], ["best"], name="argmax", axis=1, keepdims=0),
    ]
    shapes: dict[str, tuple[int, list[str | int]]] = {
        "scores": (TensorProto.FLOAT, [batch or BATCH, 5]),
        "features": (TensorProto.FLOAT, [batch or BATCH, 4, 8, 8]),
        "best": (TensorProto.INT64, [batch or BATCH]),
    }
    if not integers:
        nodes = nodes[:-1]
        del shapes[INTEGER_OUTPUT]
    return _write(path, nodes, shapes, batch)


def layered_model(path: Path, *, batch: int | None = None) -> Path:
    """Two convolutions and two dense layers, each behind the other: what quantizers take, and kernels fuse, where `tiny_model` has one
    of each between outputs."""
    from onnx import TensorProto, helper

    sizes: dict[str, tuple[int, ...]] = {
        **{"w0": (8, 3, 3, 3), "b0": (8,), "w1": (8, 8, 3, 3), "b1": (8,)},
        **{"d0": (32, 8), "e0": (32,), "d1": (5, 32), "e1": (5,)},
    }
    stream = np.random.default_rng(22)
    weights = {name: stream.normal(size=shape).astype(np.float32) for name, shape in sizes.items()}
    nodes = [
        helper.make_node("Conv", [INPUT, "w0", "b0"], ["c0"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c0"], ["r0"], name="relu"),
        helper.make_node("Conv", ["r0", "w1", "b1"], ["c1"], name="conv2", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], name="relu2"),
        helper.make_node("GlobalAveragePool", ["r1"], ["pooled"], name="pool"),
        helper.make_node("Flatten", ["pooled"], ["flat"], name="flatten"),
        helper.make_node("Gemm", ["flat", "d0", "e0"], ["h"], name="dense", transB=1),
        helper.make_node("Relu", ["h"], ["hr"], name="relu3"),
        helper.make_node("Gemm", ["hr", "d1", "e1"], ["scores"], name="dense2", transB=1),
    ]
    return _write(path, nodes, {"scores": (TensorProto.FLOAT, [batch or BATCH, 5])}, batch, weights)


def tiny_expected(image: Tensor) -> dict[str, Tensor]:
    """The answers of `tiny_model`, computed by numpy in float64 and given in the declared types."""
    wide = np.pad(image.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    patches = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(2, 3))
    features = np.maximum(np.einsum("nchwij,mcij->nmhw", patches, _WEIGHTS.astype(np.float64)), 0)
    scores = features.mean(axis=(2, 3)) @ _DENSE.astype(np.float64)
    return {
        "scores": scores.astype(np.float32),
        "features": features.astype(np.float32),
        "best": scores.argmax(axis=1).astype(np.int64),
    }


def unknown_operator_model(path: Path) -> Path:
    """One node, "fancy", of the operator NoSuchOperator."""
    from onnx import TensorProto, helper

    node = helper.make_node("NoSuchOperator", [INPUT], ["scores"], name="fancy")
    return _write(path, [node], {"scores": (TensorProto.FLOAT, ["batch", 3, 8, 8])})


def broken_model(path: Path) -> Path:
    """A node that reads a tensor that nothing makes."""
    from onnx import TensorProto, helper

    node = helper.make_node("Add", [INPUT, "nowhere"], ["scores"], name="add")
    return _write(path, [node], {"scores": (TensorProto.FLOAT, ["batch", 3, 8, 8])})


def _write(
    path: Path,
    nodes: list[NodeProto],
    outputs: dict[str, tuple[int, list[str | int]]],
    batch: int | None = None,
    weights: dict[str, Tensor] | None = None,
) -> Path:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [batch or BATCH, 3, 8, 8])],
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in outputs.items()],
        [
            numpy_helper.from_array(weight, name)
            for name, weight in (weights or {"weights": _WEIGHTS, "dense": _DENSE}).items()
        ],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path
