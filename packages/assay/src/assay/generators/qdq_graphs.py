"""Quantized forms: every value on a grid, by QuantizeLinear and DequantizeLinear, with odd scales, per axis, in four to sixteen bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from assay.core.dtype import numpy_dtype
from assay.generators.build import Build, Operand
from assay.generators.compose import finished, grow
from assay.generators.draws import Draws
from assay.generators.operators.quantized import EIGHT, SCALES
from assay.generators.schemas import NotMade
from assay.ports.generator import GeneratedCase

OPERATORS = (
    *("Conv", "Conv", "MatMul", "Gemm", "Add", "Mul", "Relu", "MaxPool", "AveragePool", "GlobalAveragePool", "Concat"),
    *("Reshape", "Transpose", "Sigmoid", "LeakyRelu", "Softmax", "Resize", "Pad", "Clip", "Split", "Gather", "Slice"),
    *("Squeeze", "Unsqueeze", "Flatten", "ReduceMean", "Sub", "Where", "ConvTranspose", "HardSwish", "ArgMax", "Tanh"),
    *("Max", "Sqrt", "Gelu", "DepthToSpace", "Expand"),
)
OPSETS = (13, 15, 17, 18, 19, 21, 22, 23)
ON_A_GRID = 80
"""Percent of the values, and of the weights."""


class QdqGraphs:
    """As a quantizer leaves a model, and with what it forgets."""

    name = "qdq-graphs"
    version = 7
    about = "short chains whose values and weights pass through QuantizeLinear and DequantizeLinear"

    def make(self, seed: int, index: int) -> GeneratedCase | None:
        """See `ports.Generator`."""
        draws = Draws(self.name, self.version, seed, index)
        build = Build(draws, draws.one_of(OPSETS), reuse=95)
        try:
            x = build.operand("float32", ranks=(2, 3, 4, 4))
            on_grid(build, x)
            made = grow(build, draws.between(1, 3), lambda build, _: draws.one_of(OPERATORS), on_grid)
            _quantize_weights(build)
            return finished(build, made, 10)
        except NotMade:
            return None


def on_grid(build: Build, value: Operand) -> Operand:
    """The value behind a quantizer and its inverse."""
    draws = build.draws
    if value.dtype != "float32" or not draws.chance(ON_A_GRID):
        return value
    dtype = draws.weighted(((8, "uint8"), (6, "int8"), *(((1, "uint16"), (1, "int16")) if build.opset >= 21 else ())))
    wide = dtype.endswith("16")
    scale = build.constant(np.asarray(draws.one_of(SCALES) / (64 if wide else 1), "float32"))
    middle = {"uint8": 128, "uint16": 2**15}.get(dtype, 0)
    zero = build.constant(np.asarray(middle + draws.one_of((0, 0, 3, -5)), dtype))
    (quantized,) = build.node("QuantizeLinear", [value, scale, zero])
    (operand,) = build.node("DequantizeLinear", [quantized, scale, zero])
    return operand


def _quantize_weights(build: Build) -> None:
    """Real weights of two axes and more become whole numbers behind a DequantizeLinear, one grid for each channel or one for all."""
    draws = build.draws
    for name in [*build.weights]:
        array = build.weights[name]
        if array.dtype != np.float32 or array.ndim < 2 or array.size < 2 or not draws.chance(ON_A_GRID):
            continue
        kinds = (*EIGHT[1:], "int8", "uint8", *(("int4", "uint4") if build.opset >= 21 else ()))
        dtype = draws.one_of(kinds)
        axis = draws.one_of((None, 0, array.ndim - 1))
        _behind_grid(build, name, dtype, axis)


def _behind_grid(build: Build, name: str, dtype: str, axis: int | None) -> None:
    draws, array = build.draws, build.weights[name]
    most = 7 if dtype.endswith("4") else 120
    middle = 0 if not dtype.startswith("u") else 8 if dtype.endswith("4") else 128
    shape = () if axis is None else (array.shape[axis],)
    scales = np.asarray([draws.one_of(SCALES) for _ in range(int(np.prod(shape, dtype=np.int64)))], "float32")
    whole = (middle + draws.wholes(array.shape, -most, most)).astype(numpy_dtype(dtype))
    grid = build.constant(whole)
    scale = build.constant(scales.reshape(shape))
    zero = build.constant(np.full(shape, middle + draws.one_of((0, 0, 1, -3))).astype(numpy_dtype(dtype)))
    del build.weights[name]
    attributes: dict[str, Any] = {} if axis is None else {"axis": axis}
    node = helper.make_node(
        "DequantizeLinear", [grid.name, scale.name, zero.name], [name], name=f"{name}/grid", **attributes
    )
    build.nodes.insert(0, node)
