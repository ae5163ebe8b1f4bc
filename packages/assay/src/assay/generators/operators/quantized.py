"""Grids of whole numbers."""

from __future__ import annotations

import numpy as np

from assay.generators.build import Build, Operand
from assay.generators.operators.form import form, version_has
from assay.generators.operators.linear import spatial

SCALES = (2.0**-6, 0.0234375, 0.05, 0.1, 2.0**-4)
EIGHT = ("uint8", "int8")


def _grid(build: Build, dtype: str, shape: tuple[int, ...] = ()) -> list[Operand]:
    """Scale and zero point."""
    draws = build.draws
    scales = [draws.one_of(SCALES) for _ in range(int(np.prod(shape, dtype=np.int64)))]
    scale = build.constant(np.asarray(scales, "float32").reshape(shape))
    zero = draws.wholes(shape, 100, 156) if dtype == "uint8" else draws.wholes(shape, -20, 20)
    return [scale, build.constant(zero.astype(dtype))]


@form("QuantizeLinear DequantizeLinear")
def quantize(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x_dtype, dtype = draws.one_of(EIGHT), draws.one_of(EIGHT)
    quantizes = operator == "QuantizeLinear"
    if quantizes:
        x = build.operand("float32", ranks=(0, 1, 2, 3, 4), empty=True)
    else:
        x = build.operand(x_dtype, ranks=(0, 1, 2, 3, 4), low=-100, high=100, empty=True)
    axis = None
    shape: tuple[int, ...] = ()
    if x.rank and version_has(build, operator, "axis") and draws.chance(40):
        axis = draws.between(-x.rank, x.rank - 1)
        shape = (x.shape[axis],)
    grid = _grid(build, dtype if quantizes else x_dtype, shape)
    return build.node(operator, [x, *(grid[:1] if draws.chance(20) and (not quantizes) else grid)], axis=axis)


@form("DynamicQuantizeLinear")
def dynamic(build: Build, operator: str) -> list[Operand]:
    return build.node(operator, [build.operand("float32", ranks=(1, 2, 3))], 3)


@form("MatMulInteger")
def matmul_integer(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    kinds = [draws.one_of(EIGHT) for _ in range(2)]
    x = build.operand(kinds[0], ranks=(2, 3), low=-120, high=120)
    y = build.operand(kinds[1], (x.shape[-1], draws.between(1, 8)), low=-120, high=120, fixed=60)
    zeros = [build.constant(np.asarray(draws.between(0, 20)).astype(kind)) for kind in kinds]
    return build.node(operator, [x, y, *zeros[: draws.below(3)]])


@form("ConvInteger")
def conv_integer(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    kinds = [draws.one_of(EIGHT) for _ in range(2)]
    x = build.operand(kinds[0], (1, draws.between(1, 3), draws.between(3, 7), draws.between(3, 7)), low=-120, high=120)
    given = spatial(build, x.shape[2:])
    kernel = given["kernel_shape"]
    assert isinstance(kernel, list)
    y = build.operand(kinds[1], (draws.between(1, 3), x.shape[1], *kernel), low=-120, high=120, fixed=80)
    zeros = [build.constant(np.asarray(draws.between(0, 20)).astype(kind)) for kind in kinds]
    return build.node(operator, [x, y, *zeros[: draws.below(3)]], **given)


@form("QLinearMatMul")
def qlinear_matmul(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    kinds = [draws.one_of(EIGHT) for _ in range(3)]
    x = build.operand(kinds[0], ranks=(2, 3), low=-120, high=120)
    y = build.operand(kinds[1], (x.shape[-1], draws.between(1, 8)), low=-120, high=120, fixed=60)
    return build.node(operator, [x, *_grid(build, kinds[0]), y, *_grid(build, kinds[1]), *_grid(build, kinds[2])])


@form("QLinearConv")
def qlinear_conv(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    kinds = [draws.one_of(EIGHT) for _ in range(3)]
    x = build.operand(kinds[0], (1, draws.between(1, 3), draws.between(3, 7), draws.between(3, 7)), low=-120, high=120)
    given = spatial(build, x.shape[2:])
    kernel = given["kernel_shape"]
    assert isinstance(kernel, list)
    y = build.operand(kinds[1], (draws.between(1, 3), x.shape[1], *kernel), low=-120, high=120, fixed=90)
    return build.node(
        operator, [x, *_grid(build, kinds[0]), y, *_grid(build, kinds[1]), *_grid(build, kinds[2])], **given
    )
