"""Subgraphs that compilers look for, built again with one or two things changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.dtype import is_floating, numpy_dtype
from assay.generators.build import LARGEST, Build, Operand
from assay.generators.compose import finished
from assay.generators.draws import Draws
from assay.generators.equalities import disguise
from assay.generators.mined import MinedNode, MinedPattern, MinedValue, decode, own_patterns
from assay.generators.operators import forms
from assay.generators.schemas import NotMade
from assay.generators.values import draw_values
from assay.ports.generator import GeneratedCase

INNER = 15
AS_THEY_ARE = 15
"""Percent of the cases in which nothing is changed."""
KIN = (
    ("Add", "Sub", "Mul"),
    ("Max", "Min"),
    ("Relu", "Tanh", "Sigmoid", "Softplus", "Exp", "Abs", "Neg", "Erf", "LeakyRelu", "Elu", "HardSigmoid", "Identity"),
    ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2"),
    ("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"),
    ("Softmax", "LogSoftmax", "Hardmax"),
    ("MaxPool", "AveragePool"),
    ("Unsqueeze", "Squeeze"),
)
"""Operators of which one may stand for another: they read alike."""
BROADCAST = frozenset((
    *("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean", "Where", "Equal", "Less", "Greater", "And", "Or", "PRelu"),
    *("LessOrEqual", "GreaterOrEqual"),
))  # fmt: skip
"""Operators whose operands may have any rank."""
FACTORS = (0.5, 2.0, -1.0, 1.5, 0.75)


class Patterns:
    """`patterns` are those of ONNX's functions, or those of a folder of models (`assay fuzz --near`)."""

    name = "patterns"
    version = 8
    about = "subgraphs of function bodies or of your models, with operands, attributes, constants, operators or types changed"

    def __init__(self, patterns: Sequence[MinedPattern] | None = None) -> None:
        self._patterns = own_patterns() if patterns is None else tuple(patterns)

    def near(self, patterns: Path) -> Patterns:
        """See `ports.NearModels`."""
        mined = decode(patterns.read_bytes())
        return Patterns([pattern for pattern in mined if not pattern.whole] or mined)

    def make(self, seed: int, index: int) -> GeneratedCase | None:
        """See `ports.Generator`."""
        draws = Draws(self.name, self.version, seed, index)
        pattern = self._patterns[index % len(self._patterns)]
        build = Build(draws, max(7, min(24, pattern.opset)), reuse=0)
        changes = 0 if draws.chance(AS_THEY_ARE) else draws.between(1, 2)
        try:
            made = _built(build, pattern, {draws.below(len(pattern.nodes)) for _ in range(changes)})
            return finished(build, made, INNER)
        except NotMade:
            return None


def _built(build: Build, pattern: MinedPattern, changed: set[int]) -> list[Operand]:
    known = [_value(build, value) for value in pattern.values]
    made: list[Operand] = []
    for place, node in enumerate(pattern.nodes):
        reads = [known[at] if at >= 0 else None for at in node.reads]
        outputs = _changed(build, node, reads) if place in changed else _node(build, node.operator, reads, node)
        known += outputs
        made += outputs
    if build.draws.chance(30):
        made += _follower(build)
    return made


def _follower(build: Build) -> list[Operand]:
    """One more node that reads the end."""
    build.reuse = 100
    operator = build.draws.one_of(tuple(forms()))
    return forms()[operator](build, operator)


def _value(build: Build, mined_value: MinedValue) -> Operand:
    if mined_value.numbers is not None:
        return build.constant(
            np.asarray(mined_value.numbers).astype(numpy_dtype(mined_value.dtype)).reshape(mined_value.shape)
        )
    if np.prod(mined_value.shape, dtype=np.int64) > LARGEST:
        raise NotMade
    low, high = (-2.0, 2.0) if is_floating(mined_value.dtype) else (0.0, 3.0)
    return build.input(draw_values(build.draws, mined_value.dtype, mined_value.shape, low, high), low, high)


def _node(
    build: Build,
    operator: str,
    reads: Sequence[Operand | None],
    node: MinedNode,
    attributes: dict[str, Any] | None = None,
) -> list[Operand]:
    return build.node(operator, reads, node.outputs, **(dict(node.attributes) if attributes is None else attributes))


def _changed(build: Build, node: MinedNode, reads: list[Operand | None]) -> list[Operand]:
    """The node with one thing beside it. Raises NotMade where that leads to no valid node."""
    draws = build.draws
    way = draws.below(7)
    if way == 0 and len(reads) > 1:
        return _node(build, node.operator, draws.shuffled(reads), node)
    if way == 1 and node.attributes:
        return _node(build, node.operator, reads, node, _other_attribute(build, node, reads))
    if way == 2 and (kin := next((family for family in KIN if node.operator in family), None)):
        return _node(build, draws.one_of(kin), reads, node)
    if way == 3 and (stored := [at for at, read in enumerate(reads) if read is not None and read.constant is not None]):
        at = draws.one_of(stored)
        return _node(
            build,
            node.operator,
            [*reads[:at], _other_constant(build, reads[at], node.operator), *reads[at + 1 :]],
            node,
        )
    if way == 4:
        return _node(build, node.operator, [read if read is None else disguise(build, read) for read in reads], node)
    if way == 5 and (fed := [at for at, read in enumerate(reads) if read is not None and read.constant is None]):
        place = draws.one_of(fed)
        return _node(build, node.operator, [*reads[:place], _stranger(build, reads[place]), *reads[place + 1 :]], node)
    return [disguise(build, operand) for operand in _node(build, node.operator, reads, node)]


def _stranger(build: Build, operand: Operand | None) -> Operand:
    """Another value of its type and shape, where the pattern reads one value twice, or two that belong together."""
    assert operand is not None
    alike = [
        other
        for other in build.values
        if (other.dtype, other.shape) == (operand.dtype, operand.shape) and other is not operand
    ]
    if alike and build.draws.chance(50):
        return build.draws.one_of(alike)
    low, high = max(operand.low, -2.0), min(operand.high, 2.0)
    if low > high or (operand.constant is None and not is_floating(operand.dtype)):
        raise NotMade
    return build.input(draw_values(build.draws, operand.dtype, operand.shape, low, high), low, high)


def _other_attribute(build: Build, node: MinedNode, reads: Sequence[Operand | None]) -> dict[str, Any]:
    draws = build.draws
    attributes = dict(node.attributes)
    name = draws.one_of(sorted(attributes))
    value = attributes[name]
    rank = max((read.rank for read in reads if read is not None), default=0)
    if draws.chance(20):
        del attributes[name]
    elif isinstance(value, bool | int):
        flag = value in (0, 1) and "axis" not in name
        attributes[name] = (
            1 - value
            if flag
            else draws.between(-rank, max(rank - 1, 0))
            if name == "axis"
            else max(1, value + draws.one_of((-1, 1)))
        )
    elif isinstance(value, float):
        attributes[name] = value * draws.one_of(FACTORS)
    elif isinstance(value, list) and value:
        attributes[name] = draws.shuffled(value) if name != "axes" else [draws.between(-rank, max(rank - 1, 0))]
    return attributes


def _other_constant(build: Build, operand: Operand | None, operator: str) -> Operand:
    """Other numbers, another rank where operands are broadcast, or an input of the graph in its place. Whole numbers steer: they are
    left as they are or shuffled."""
    assert operand is not None
    draws, array = build.draws, np.asarray(operand.constant)
    way = draws.below(4)
    if array.dtype.kind in "iu":
        return build.constant(np.asarray(draws.shuffled(array.reshape(-1).tolist()), array.dtype).reshape(array.shape))
    if way == 0 and array.dtype.kind != "b":
        return build.constant((array * draws.one_of(FACTORS)).astype(array.dtype))
    if way == 1 and operator in BROADCAST:
        return build.constant(array.reshape((1,) * draws.between(0, 2) + array.shape))
    if way == 2 and array.size == 1 and operator in BROADCAST:
        return build.constant(array.reshape(()))
    return build.input(array)
