"""Normalization."""

from __future__ import annotations

from assay.generators.build import Build, Operand
from assay.generators.operators.form import FLOATS, axis_of, form


def _weight(build: Build, dtype: str, shape: tuple[int, ...], low: float = -1.0, high: float = 1.0) -> Operand:
    return build.operand(dtype, shape, low=low, high=high, fixed=80)


@form("BatchNormalization")
def batch_normalization(build: Build, operator: str) -> list[Operand]:
    dtype = build.dtype(operator, among=FLOATS)
    x = build.operand(dtype, ranks=(2, 3, 4, 5))
    ends = ((0.5, 2.0), (-1.0, 1.0), (-1.0, 1.0), (0.25, 2.0))
    weights = [build.operand(dtype, (x.shape[1],), low=low, high=high, fixed=80, domain=low > 0) for low, high in ends]
    return build.node(operator, [x, *weights], epsilon=build.draws.one_of((None, 0.5, 2.0**-10)))


@form("InstanceNormalization")
def instance_normalization(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=FLOATS)
    x = build.operand(
        dtype, (draws.between(1, 2), draws.between(1, 4), draws.between(2, 6), draws.between(2, 6)), any_size=True
    )
    return build.node(
        operator, [x, *(_weight(build, dtype, (x.shape[1],)) for _ in range(2))], epsilon=draws.one_of((None, 0.5))
    )


@form("LayerNormalization RMSNormalization")
def layer_normalization(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=FLOATS)
    shape = (*build.shape((0, 1, 2)), draws.between(2, 9), draws.between(2, 9))
    x = build.operand(dtype, shape)
    axis = axis_of(build, x.rank)
    weights = [_weight(build, dtype, x.shape[axis:])]
    if operator == "LayerNormalization" and draws.chance(60):
        weights.append(_weight(build, dtype, x.shape[axis:]))
    outputs = draws.between(1, 3) if operator == "LayerNormalization" and draws.chance(25) else 1
    return build.node(operator, [x, *weights], outputs, axis=axis, epsilon=draws.one_of((None, 0.5)))


@form("GroupNormalization")
def group_normalization(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    groups, each = draws.between(1, 3), draws.between(1, 3)
    dtype = build.dtype(operator, among=FLOATS)
    axes = draws.one_of((0, 1, 2, 2, 3))
    x = build.operand(dtype, (draws.between(1, 2), groups * each, *(draws.between(2, 5) for _ in range(axes))))
    width = groups if build.since(operator) < 21 else groups * each
    weights = [_weight(build, dtype, (width,)) for _ in range(2)]
    # onnx infers nothing of it: a function whose body depends on the types
    return build.node(
        operator, [x, *weights], num_groups=groups, epsilon=draws.one_of((None, 0.5)), known=[(dtype, x.shape)]
    )
