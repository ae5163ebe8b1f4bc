"""Faults that are planted into a quantized model: of its rounding, its grids, its biases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from quantized_nets import Array, Fault


def faults(model: onnx.ModelProto) -> Iterator[tuple[str, onnx.ModelProto, Fault]]:
    """Kind, model and rounding of each."""
    for node in model.graph.node:
        if node.op_type == "QuantizeLinear":
            for mode in ("away", "truncated"):
                yield f"rounding {mode}", model, Fault(node.output[0], mode)
            for low, high in ((1, 0), (0, -1), (0, 1)):
                yield "saturation one off", model, Fault(node.output[0], "even", low, high)
    for at, node in enumerate(model.graph.node):
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            yield from _grids(model, at)
        elif node.op_type == "Relu":
            yield "relu lost", _with(model, at, lambda candidate: setattr(candidate, "op_type", "Identity")), Fault()
        elif node.op_type == "AveragePool" and any(
            next(attribute.ints for attribute in node.attribute if attribute.name == "pads")
        ):
            yield "padding counted or not", _with(model, at, _flip), Fault()
        elif node.op_type in ("Conv", "Gemm") and len(node.input) > 2:
            yield "bias dropped", _with(model, at, lambda candidate: candidate.input.pop()), Fault()


def _grids(model: onnx.ModelProto, at: int) -> Iterator[tuple[str, onnx.ModelProto, Fault]]:
    node = model.graph.node[at]
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    scale = held[node.input[1]]
    yield "scale off by one ulp", _stored(model, at, 1, np.nextafter(scale, np.float32(np.inf))), Fault()
    yield "scale off by 1 %", _stored(model, at, 1, (scale * np.float32(1.01)).astype(np.float32)), Fault()
    if scale.size > 1 and np.ptp(scale):
        yield "scales of channels in another order", _stored(model, at, 1, np.roll(scale, 1)), Fault()
    whole = held.get(node.input[0])
    if whole is None:
        zero = held[node.input[2]]
        yield "zero point off by one", _stored(model, at, 2, zero + zero.dtype.type(1)), Fault()
    elif whole.dtype == np.int32:
        yield "bias coarser", _stored(model, at, 0, (np.rint(whole / 16) * 16).astype(np.int32)), Fault()
    else:
        other = whole.copy()
        place = int(np.random.default_rng(at).integers(whole.size))
        other.reshape(-1)[place] += 1 if other.reshape(-1)[place] < 127 else -1
        yield "one weight off by one step", _stored(model, at, 0, other), Fault()


def _with(model: onnx.ModelProto, at: int, change: Any) -> onnx.ModelProto:
    other = onnx.ModelProto()
    other.CopyFrom(model)
    change(other.graph.node[at])
    return other


def _flip(node: Any) -> None:
    for attribute in node.attribute:
        attribute.i = 1 - attribute.i if attribute.name == "count_include_pad" else attribute.i


def _stored(model: onnx.ModelProto, at: int, place: int, array: Array) -> onnx.ModelProto:
    """This node alone reads another number."""
    other = _with(model, at, lambda node: node.input.__setitem__(place, "wrong"))
    other.graph.initializer.append(numpy_helper.from_array(np.asarray(array), "wrong"))
    return other
