"""Where values lie: reshaping, joining, slicing, padding, indexing."""

from __future__ import annotations

from collections.abc import Mapping

from assay.suites.operators.declare import FLOATS, NUMBERS, Operator
from assay.suites.torch_case import Attribute

_TYPES = (*NUMBERS, "bool")


def _pads(*modes: str) -> tuple[Mapping[str, Attribute], ...]:
    return tuple({"pads": pads, "mode": mode} for mode in modes for pads in ((1, 2), (2, 1, 1, 0)))


TABLE = (
    Operator(
        "reshape",
        "torch.reshape(x, shape)",
        "4x6 | 2x3x4",
        "0x6 | 1",
        _TYPES,
        attributes=({"shape": (-1,)}, {"shape": (3, 8)}, {"shape": (2, -1, 4)}, {"shape": (1, 24, 1)}),
    ),
    Operator("view", "x.view(shape)", "4x6 | 2x3x4", "0x6", _TYPES, attributes=({"shape": (-1, 2)}, {"shape": (6, 4)})),
    Operator(
        "flatten",
        "torch.flatten(x, first, last)",
        "2x3x4x5",
        "scalar | 1",
        _TYPES,
        attributes=({"first": 0, "last": -1}, {"first": 1, "last": -1}, {"first": 1, "last": 2}),
    ),
    Operator(
        "permute",
        "torch.permute(x, order)",
        "3x4x5",
        "1x1x1 | 3x0x5",
        _TYPES,
        attributes=({"order": (2, 0, 1)}, {"order": (0, 2, 1)}, {"order": (2, 1, 0)}),
    ),
    Operator(
        "transpose",
        "torch.transpose(x, a, b)",
        "3x4x5 | 2x3x4x5",
        "3x0x5 | 2x3x5x7x2",
        _TYPES,
        attributes=({"a": 0, "b": 1}, {"a": -1, "b": -2}, {"a": 0, "b": 2}),
    ),
    Operator(
        "squeeze",
        "torch.squeeze(x, dim)",
        "1x4x1x5 | 1x3",
        "1 | 1x0",
        _TYPES,
        attributes=({"dim": 0}, {"dim": (0, 2)}, {"dim": -2}),
        fixed=True,
    ),
    Operator(
        "unsqueeze",
        "torch.unsqueeze(x, dim)",
        "20 | 5x10 | 3x4x5",
        "scalar | 0",
        _TYPES,
        attributes=({"dim": 0}, {"dim": -1}, {"dim": 1}),
    ),
    Operator(
        "expand",
        "x.expand(shape)",
        "1x5 | 4x1",
        "1x1",
        _TYPES,
        attributes=({"shape": (4, 5)}, {"shape": (2, 4, 5)}),
        fixed=True,
    ),
    Operator(
        "repeat",
        "x.repeat(times)",
        "3x4",
        "1x1 | 0x4",
        _TYPES,
        attributes=({"times": (2, 1)}, {"times": (2, 3)}, {"times": (2, 1, 3)}),
    ),
    Operator(
        "tile", "torch.tile(x, times)", "3x4 | 5", "1x1", _TYPES, attributes=({"times": (2, 1)}, {"times": (2, 2)})
    ),
    Operator(
        "repeat_interleave",
        "torch.repeat_interleave(x, count, dim=dim)",
        "3x4",
        "1x1",
        FLOATS,
        attributes=({"count": 2, "dim": 0}, {"count": 3, "dim": 1}),
    ),
    Operator(
        "cat",
        "torch.cat((x, y, z), dim)",
        "3x4 3x4 3x4 | 2x3x4 2x3x4 2x3x4",
        "3x4 0x4 2x4 | 1x1 1x1 1x1",
        _TYPES,
        attributes=({"dim": 0}, {"dim": 1}, {"dim": -1}),
    ),
    Operator(
        "stack",
        "torch.stack((x, y), dim)",
        "3x4 3x4 | 5 5",
        "scalar scalar | 0 0",
        _TYPES,
        attributes=({"dim": 0}, {"dim": 1}, {"dim": -1}),
    ),
    Operator(
        "split",
        "torch.split(x, size, dim)",
        "6x8",
        "6x1",
        _TYPES,
        attributes=({"size": 2, "dim": 0}, {"size": 4, "dim": 0}, {"size": 3, "dim": 0}),
        fixed=True,
    ),
    Operator(
        "chunk",
        "torch.chunk(x, count, dim)",
        "6x8",
        "7x1",
        _TYPES,
        attributes=({"count": 2, "dim": 0}, {"count": 4, "dim": 0}),
        fixed=True,
    ),
    Operator(
        "slice",
        "x[begin:end:step]",
        "20 | 10x5",
        "10x0",
        _TYPES,
        attributes=(
            {"begin": 2, "end": 9, "step": 1},
            {"begin": -5, "end": None, "step": 1},
            {"begin": 0, "end": 9, "step": 3},
            {"begin": 3, "end": 3, "step": 1},
        ),
    ),
    Operator(
        "select",
        "torch.select(x, dim, place)",
        "3x4x5",
        "1x1",
        _TYPES,
        attributes=({"dim": 0, "place": 0}, {"dim": 1, "place": -1}),
    ),
    Operator("narrow", "torch.narrow(x, dim, 1, 2)", "3x4x5", dtypes=_TYPES, attributes=({"dim": 0}, {"dim": -1})),
    Operator("flip", "torch.flip(x, dims)", "20 | 3x4x5", "1 | 0x4", _TYPES, attributes=({"dims": (0,)},)),
    Operator(
        "flip_many", "torch.flip(x, dims)", "3x4x5", dtypes=FLOATS, attributes=({"dims": (0, 2)}, {"dims": (-1,)})
    ),
    Operator(
        "roll",
        "torch.roll(x, by, dim)",
        "20 | 3x4x5",
        "1 | 0x4",
        _TYPES,
        attributes=({"by": 1, "dim": 0}, {"by": -2, "dim": -1}, {"by": 25, "dim": 0}),
    ),
    Operator(
        "tril",
        "torch.tril(x, place)",
        "5x6 | 2x4x4",
        "1x1 | 0x4",
        NUMBERS,
        attributes=({"place": 0}, {"place": 1}, {"place": -2}),
    ),
    Operator(
        "triu",
        "torch.triu(x, place)",
        "5x6 | 2x4x4",
        "1x1 | 0x4",
        NUMBERS,
        attributes=({"place": 0}, {"place": 1}, {"place": -2}),
    ),
    Operator(
        "diagonal", "torch.diagonal(x, place, 0, 1)", "5x6", "1x1", FLOATS, attributes=({"place": 0}, {"place": 1})
    ),
    Operator(
        "meshgrid",
        "torch.meshgrid(x, y, indexing=order)",
        "4 5",
        "1 1 | 0 3",
        NUMBERS,
        attributes=({"order": "ij"}, {"order": "xy"}),
    ),
    Operator(
        "pad_constant",
        "F.pad(x, pads, mode='constant', value=value)",
        "2x3x5x6",
        "1x1x1x1",
        NUMBERS,
        attributes=tuple(
            {"pads": pads, "value": value}
            for pads, value in (((1, 2), 0), ((2, 1, 1, 0), 7), ((-1, 2), 0), ((1, 1, 1, 1, 1, 1), 0))
        ),
    ),
    Operator(
        "pad_mode",
        "F.pad(x, pads, mode=mode)",
        "2x3x5x6",
        dtypes=FLOATS[:3],
        attributes=tuple(
            {"pads": pads, "mode": mode}
            for mode in ("reflect", "replicate", "circular")
            for pads in ((1, 2, 0, 0), (2, 1, 1, 0))
        ),
    ),
    Operator(
        "gather",
        "torch.gather(x, dim, y)",
        "4x5 4x3 | 4x5 2x5",
        "4x1 4x1 | 4x5 0x5",
        _TYPES,
        ("normal", "int64=below:2"),
        attributes=({"dim": 1}, {"dim": 0}),
    ),
    Operator(
        "index_select",
        "torch.index_select(x, dim, y)",
        "4x5 3 | 4x5x6 6",
        "4x5 0 | 4x5 1",
        _TYPES,
        ("normal", "int64=below:4"),
        attributes=({"dim": 0}, {"dim": 1}),
    ),
    Operator("index", "x[y]", "4x5 3 | 4x5 2x3", "4x5 0 | 4 scalar", _TYPES, ("normal", "int64=below:4")),
    Operator(
        "index_put",
        "torch.index_put(x, (y,), z, accumulate=add)",
        "8x5 4 4x5",
        "8 1 1",
        FLOATS,
        ("normal", "int64=permutation", "normal"),
        attributes=({"add": False}, {"add": True}),
    ),
    Operator(
        "scatter",
        "torch.scatter(x, 0, y, z)",
        "6x5 1x5 1x5 | 6x3 1x3 1x3",
        dtypes=NUMBERS,
        kinds=("normal", "int64=below:6", "normal"),
    ),
    Operator(
        "scatter_add",
        "torch.scatter_add(x, 0, y, z)",
        "4x5 6x5 6x5",
        "4x5 0x5 0x5",
        FLOATS,
        ("normal", "int64=below:4", "normal"),
    ),
    Operator(
        "index_add",
        "torch.index_add(x, 0, y, z)",
        "4x5 6 6x5",
        dtypes=FLOATS[:2],
        kinds=("normal", "int64=below:4", "normal"),
    ),
    Operator(
        "embedding",
        "m(x)",
        "5 | 3x4",
        "scalar | 0",
        FLOATS,
        ("int64=below:10",),
        "nn.Embedding(10, size)",
        ({"size": 8}, {"size": 1}),
    ),
    Operator(
        "embedding_bag",
        "m(x)",
        "3x4 | 5x1",
        dtypes=FLOATS[:2],
        kinds=("int64=below:10",),
        module="nn.EmbeddingBag(10, 8, mode=mode)",
        attributes=({"mode": "sum"}, {"mode": "mean"}),
    ),
    Operator("one_hot", "F.one_hot(x, 7)", "5 | 3x4", "scalar", ("int64",), ("below:7",)),
    Operator("nonzero", "torch.nonzero(x)", "20 | 4x5", "1", ("bool", "float32", "int64")),
    Operator(
        "masked_select", "torch.masked_select(x, y)", "20 20 | 4x5 4x5", dtypes=NUMBERS, kinds=("normal", "bool=normal")
    ),
    Operator(
        "unbind", "torch.unbind(x, dim)", "3x4x5", "1x1", FLOATS, attributes=({"dim": 0}, {"dim": -1}), fixed=True
    ),
)
