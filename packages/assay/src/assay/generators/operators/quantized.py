"""Grids of whole numbers."""

from __future__ import annotations

import numpy as np

from assay.generators.build import Build, Operand
from assay.generators.operators.form import form, version_has
from assay.generators.operators.linear import spatial
from assay.generators.schemas import NotMade

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
    if x.rank and version_has(build, operator, "block_size") and draws.chance(25):
        return _blocked(build, operator, x, dtype if quantizes else x_dtype)
    axis = None
    shape: tuple[int, ...] = ()
    if x.rank and version_has(build, operator, "axis") and draws.chance(40):
        axis = draws.between(-x.rank, x.rank - 1)
        shape = (x.shape[axis],)
    grid = _grid(build, dtype if quantizes else x_dtype, shape)
    return build.node(operator, [x, *(grid[:1] if draws.chance(20) and (not quantizes) else grid)], axis=axis)


def _blocked(build: Build, operator: str, x: Operand, dtype: str) -> list[Operand]:
    """One scale for so many elements along an axis; the last block may be shorter."""
    draws = build.draws
    axis = draws.below(x.rank)
    size = draws.between(1, max(1, x.shape[axis]))
    shape = (*x.shape[:axis], -(-x.shape[axis] // size), *x.shape[axis + 1 :])
    if 0 in shape or -(-x.shape[axis] // shape[axis]) != size:
        raise NotMade
    written_axis = axis - x.rank if draws.chance(40) else axis
    return build.node(operator, [x, *_grid(build, dtype, shape)], axis=written_axis, block_size=size)


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
    attributes = spatial(build, x.shape[2:])
    kernel = attributes["kernel_shape"]
    assert isinstance(kernel, list)
    groups = x.shape[1] if draws.chance(30) else 1
    y = build.operand(
        kinds[1], (groups * draws.between(1, 3), x.shape[1] // groups, *kernel), low=-120, high=120, fixed=80
    )
    attributes["group"] = groups if groups > 1 else None
    zeros = [build.constant(np.asarray(draws.between(0, 20)).astype(kind)) for kind in kinds]
    return build.node(operator, [x, y, *zeros[: draws.below(3)]], **attributes)


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
    attributes = spatial(build, x.shape[2:])
    kernel = attributes["kernel_shape"]
    assert isinstance(kernel, list)
    groups = x.shape[1] if draws.chance(30) else 1
    out = groups * draws.between(1, 3)
    y = build.operand(kinds[1], (out, x.shape[1] // groups, *kernel), low=-120, high=120, fixed=90)
    attributes["group"] = groups if groups > 1 else None
    each = _grid(build, kinds[1], (out,) if draws.chance(30) else ())
    if each[1].constant is not None and each[1].rank:  # one zero point for all channels, as engines ask for
        each[1] = build.constant(np.full((out,), each[1].constant[0]))
    bias = [build.constant(draws.wholes((out,), -500, 500).astype("int32"))] if draws.chance(40) else []
    return build.node(operator, [x, *_grid(build, kinds[0]), y, *each, *_grid(build, kinds[2]), *bias], **attributes)
