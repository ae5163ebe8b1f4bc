"""Normalization, recurrent layers, attention."""

from __future__ import annotations

from typing import Any

from assay.generators.build import Build, Operand
from assay.generators.operators.form import FLOATS, axis_of, flag, form
from assay.generators.schemas import NotMade


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
    return build.node(operator, [x, *weights], axis=axis, epsilon=draws.one_of((None, 0.5)))


@form("GroupNormalization")
def group_normalization(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    groups, each = draws.between(1, 3), draws.between(1, 3)
    dtype = build.dtype(operator, among=FLOATS)
    x = build.operand(dtype, (draws.between(1, 2), groups * each, draws.between(2, 5), draws.between(2, 5)))
    width = groups if build.since(operator) < 21 else groups * each
    weights = [_weight(build, dtype, (width,)) for _ in range(2)]
    return build.node(operator, [x, *weights], num_groups=groups, epsilon=draws.one_of((None, 0.5)))


_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_NAMES = ("Tanh", "Sigmoid", "Relu")


@form("RNN GRU LSTM")
def recurrent(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=("float32",))
    direction = draws.one_of((None, "forward", "reverse", "bidirectional"))
    ways = 2 if direction == "bidirectional" else 1
    length, batch, width, hidden = (draws.between(1, 4) for _ in range(4))
    gates = _GATES[operator]
    x = build.operand(dtype, (length, batch, width), low=-1, high=1)
    reads: list[Operand | None] = [
        x,
        _weight(build, dtype, (ways, gates * hidden, width)),
        _weight(build, dtype, (ways, gates * hidden, hidden)),
    ]
    reads.append(_weight(build, dtype, (ways, 2 * gates * hidden)) if draws.chance(60) else None)
    reads.append(build.input(draws.wholes((batch,), 1, length).astype("int32")) if draws.chance(30) else None)
    reads.append(build.operand(dtype, (ways, batch, hidden), low=-1, high=1) if draws.chance(40) else None)
    if operator == "LSTM" and draws.chance(30):
        reads.append(build.operand(dtype, (ways, batch, hidden), low=-1, high=1))
    while reads[-1] is None:
        reads.pop()
    given: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if operator == "GRU":
        given["linear_before_reset"] = flag(build)
    if draws.chance(25):
        each = {"RNN": 1, "GRU": 2, "LSTM": 3}[operator]
        given["activations"] = [draws.one_of(_NAMES) for _ in range(each * ways)]
    if draws.chance(15):
        given["clip"] = 0.5
    return build.node(operator, reads, 3 if operator == "LSTM" else 2, **given)


@form("Attention")
def attention(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=("float32", "float16"))
    heads, groups, width = draws.between(1, 2), draws.between(1, 2), draws.one_of((2, 4, 8))
    queries, keys = draws.between(1, 4), draws.between(1, 5)
    q = build.operand(dtype, (1, heads * groups, queries, width))
    k, v = (build.operand(dtype, (1, heads, keys, width)) for _ in range(2))
    mask = [build.operand(draws.one_of((dtype, "bool")), (queries, keys))] if draws.chance(40) else []
    if mask and mask[0].dtype == "bool":
        raise NotMade  # a row that is masked whole has no answer
    return build.node(
        operator,
        [q, k, v, *mask],
        is_causal=flag(build),
        scale=draws.one_of((None, 0.5)),
        softcap=draws.one_of((None, 2.0)),
    )


@form("RotaryEmbedding")
def rotary(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=("float32", "float16"))
    half, length, batch = draws.between(1, 4), draws.between(1, 4), draws.between(1, 2)
    x = build.operand(dtype, (batch, draws.between(1, 3), length, 2 * half))
    tables = [build.operand(dtype, (8, half), low=-1, high=1, fixed=70) for _ in range(2)]
    where = build.input(draws.wholes((batch, length), 0, 7))
    return build.node(operator, [x, *tables, where], interleaved=flag(build))
