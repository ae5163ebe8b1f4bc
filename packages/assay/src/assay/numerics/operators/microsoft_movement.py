"""Operators that the standard has got since, under the same or another name (ONNX Runtime, ContribOperators.md)."""

from __future__ import annotations

from assay.numerics.operators.microsoft_quantized import channels_first, channels_last
from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.oracle.contrib.body import Body, Decomposition

_POOL = ("auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides")


def _standard(kind: str, version: int, *attributes: str) -> Decomposition:
    """The operator of that name, which came with opset `version`."""

    def steps(body: Body) -> None:
        body.needs(version)
        results = body.several(kind, body.node.input, len(body.node.output), **body.attributes(*attributes))
        for position, value in enumerate(results):
            body.give(value, position)

    return steps


def _expand(body: Body) -> None:
    body.give(body.unsqueeze(body.input(0), int(body.stored(body.input(1)).reshape(()))))


def _range(body: Body) -> None:
    body.needs(11)
    step = body.input(2) or body.number(1, body.input(0))
    body.give(body.step("Range", body.input(0), body.input(1), step))


def _unique(body: Body) -> None:
    """Distinct numbers in the order of their first appearance, where each is found among them, and how often."""
    body.needs(11)
    y, _, inverse, counts = body.several("Unique", [body.input(0)], 4, sorted=0)
    for position, value in enumerate((y, inverse, counts)):
        body.give(value, position)


def _pool(body: Body) -> None:
    body.needs(12)
    rank = len(body.attribute("kernel_shape")) + 2
    pooled = body.step("MaxPool", channels_first(body, body.input(0), rank), **body.attributes(*_POOL))
    body.give(channels_last(body, pooled, rank))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("Trilu", domain=MICROSOFT, decomposition=_standard("Trilu", 14, "upper")),
    *alike("Pad", domain=MICROSOFT, decomposition=_standard("Pad", 11, "mode")),
    *alike("GatherND", domain=MICROSOFT, decomposition=_standard("GatherND", 11)),
    *alike("ExpandDims", domain=MICROSOFT, decomposition=_expand),
    *alike("Range", domain=MICROSOFT, decomposition=_range),
    *alike("Unique", domain=MICROSOFT, decomposition=_unique),
    *alike("NhwcMaxPool", domain=MICROSOFT, decomposition=_pool),
)
