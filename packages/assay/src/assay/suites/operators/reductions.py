"""Many values to few: sums, means, extremes, positions, norms, cumulative sums, softmax."""

from __future__ import annotations

from collections.abc import Mapping

from assay.suites.operators.declare import FLOATS, NUMBERS, Operator
from assay.suites.torch_case import Attribute

_DIMS: tuple[Mapping[str, Attribute], ...] = (
    {"dim": -1, "keep": False},
    {"dim": 0, "keep": False},
    {"dim": 1, "keep": True},
    {"dim": -1, "keep": True},
)
_MANY: tuple[Mapping[str, Attribute], ...] = (
    *_DIMS,
    {"dim": (0, 2), "keep": False},
    {"dim": (0, 1, 2), "keep": True},
    {"dim": (-2, -1), "keep": False},
)
_SHAPES = "3x4x5 | 5x10 | 2x3x4x5"
_EDGE = "1 | 17 | 1x1x1 | 7x13 | 4x1023 | 2x3x5x7x2 | 0x4"

TABLE = (
    Operator("sum", "torch.sum(x, dim, keepdim=keep)", _SHAPES, _EDGE, NUMBERS, attributes=_MANY),
    Operator("mean", "torch.mean(x, dim, keepdim=keep)", _SHAPES, _EDGE, attributes=_MANY),
    Operator("sum_all", "torch.sum(x)", _SHAPES, "0 | scalar | 1 | 1023 | 2x3x5x7x2", NUMBERS),
    Operator("mean_all", "torch.mean(x)", _SHAPES, "scalar | 1 | 1023 | 2x3x5x7x2"),
    Operator(
        "prod",
        "torch.prod(x, dim, keepdim=keep)",
        _SHAPES,
        "1 | 17 | 1x1x1 | 0x4",
        kinds=("positive",),
        attributes=_DIMS,
    ),
    Operator("amax", "torch.amax(x, dim, keepdim=keep)", _SHAPES, _EDGE, NUMBERS, attributes=_MANY),
    Operator("amin", "torch.amin(x, dim, keepdim=keep)", _SHAPES, _EDGE, NUMBERS, attributes=_MANY),
    Operator(
        "argmax",
        "torch.argmax(x, dim, keepdim=keep)",
        _SHAPES,
        "1 | 17 | 1x1x1 | 7x13",
        NUMBERS,
        ("distinct",),
        attributes=_DIMS,
    ),
    Operator(
        "argmin",
        "torch.argmin(x, dim, keepdim=keep)",
        _SHAPES,
        "1 | 17 | 1x1x1 | 7x13",
        NUMBERS,
        ("distinct",),
        attributes=_DIMS,
    ),
    Operator(
        "var",
        "torch.var(x, dim, correction=one, keepdim=keep)",
        _SHAPES,
        "17 | 7x13 | 4x1023",
        attributes=(*tuple({**attributes, "one": 1} for attributes in _DIMS[:3]), {"dim": -1, "keep": False, "one": 0}),
    ),
    Operator("std", "torch.std(x, dim, keepdim=keep)", _SHAPES, "17 | 7x13 | 4x1023", attributes=_DIMS[:3]),
    Operator(
        "norm1", "torch.linalg.vector_norm(x, 1, dim, keepdim=keep)", _SHAPES, "1 | 17 | 4x1023", attributes=_DIMS[:3]
    ),
    Operator(
        "norm2", "torch.linalg.vector_norm(x, 2, dim, keepdim=keep)", _SHAPES, "1 | 17 | 4x1023", attributes=_DIMS[:3]
    ),
    Operator("logsumexp", "torch.logsumexp(x, dim, keepdim=keep)", _SHAPES, "1 | 17 | 4x1023", attributes=_DIMS[:3]),
    Operator(
        "softmax",
        "torch.softmax(x, dim)",
        "5x10 | 3x4x5 | 2x3x4x5 | 4x1000",
        "1 | 17 | 3x0x5 | 0x4 | 2x3x5x7x2",
        attributes=({"dim": -1}, {"dim": 0}, {"dim": 1}),
    ),
    Operator(
        "log_softmax",
        "torch.log_softmax(x, dim)",
        "5x10 | 3x4x5 | 2x3x4x5 | 4x1000",
        "1 | 17 | 3x0x5 | 0x4",
        attributes=({"dim": -1}, {"dim": 0}, {"dim": 1}),
    ),
    Operator("softmax_wide", "torch.softmax(x, -1)", "5x10 | 3x4x5", kinds=("wide",)),
    Operator(
        "cumsum",
        "torch.cumsum(x, dim)",
        "20 | 5x10 | 3x4x5",
        "1 | 17 | 1023 | 0x4",
        NUMBERS,
        attributes=({"dim": -1}, {"dim": 0}),
    ),
    Operator("any", "torch.any(x, dim, keepdim=keep)", _SHAPES, "1 | 17 | 0x4", ("bool",), attributes=_DIMS),
    Operator("all", "torch.all(x, dim, keepdim=keep)", _SHAPES, "1 | 17 | 0x4", ("bool",), attributes=_DIMS),
    Operator(
        "max_dim",
        "tuple(torch.max(x, dim, keepdim=keep))",
        _SHAPES,
        "1 | 17 | 7x13",
        NUMBERS,
        ("distinct",),
        attributes=_DIMS,
    ),
    Operator(
        "min_dim",
        "tuple(torch.min(x, dim, keepdim=keep))",
        _SHAPES,
        "1 | 17 | 7x13",
        NUMBERS,
        ("distinct",),
        attributes=_DIMS,
    ),
    Operator(
        "topk",
        "tuple(torch.topk(x, k, dim=dim, largest=largest))",
        "20 | 5x10 | 4x5x6",
        "3 | 3x17",
        NUMBERS,
        ("distinct",),
        attributes=(
            {"k": 3, "dim": -1, "largest": True},
            {"k": 1, "dim": 0, "largest": False},
            {"k": 2, "dim": 0, "largest": True},
        ),
    ),
    Operator(
        "sort",
        "tuple(torch.sort(x, dim=dim, descending=down))",
        "20 | 5x10 | 3x4x5",
        "1 | 3x17",
        NUMBERS,
        ("distinct",),
        attributes=({"dim": -1, "down": False}, {"dim": 0, "down": True}),
    ),
    Operator(
        "argsort",
        "torch.argsort(x, dim=dim, descending=down)",
        "20 | 5x10 | 3x4x5",
        "1 | 3x17",
        FLOATS,
        ("distinct",),
        attributes=({"dim": -1, "down": False}, {"dim": 0, "down": True}),
    ),
    Operator(
        "median",
        "torch.median(x, dim)[0]",
        "5x10 | 3x4x5",
        "1 | 3x17",
        FLOATS[:2],
        ("distinct",),
        attributes=({"dim": -1}, {"dim": 0}),
    ),
)
