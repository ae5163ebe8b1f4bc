"""Convolutions, pooling, normalisation, interpolation: what slides over an image."""

from __future__ import annotations

from collections.abc import Mapping

from assay.suites.operators.declare import FLOATS, Operator
from assay.suites.torch_case import Attribute

_THREE = FLOATS[:3]
_SPACE = {
    1: ("2x4x20 | 1x4x33", "1x4x7 | 0x4x20"),
    2: ("2x4x9x11 | 1x4x16x16", "1x4x5x5 | 0x4x9x9"),
    3: ("1x4x6x7x8", "1x4x3x3x3"),
}


def _convolution(**changes: Attribute) -> Mapping[str, Attribute]:
    return {"k": 3, "stride": 1, "pad": 0, "dilation": 1, "groups": 1, "bias": True, **changes}


_CONVOLUTIONS = (
    _convolution(),
    _convolution(k=1),
    _convolution(pad=1),
    _convolution(stride=2),
    _convolution(stride=2, pad=1),
    _convolution(dilation=2),
    _convolution(groups=4),
    _convolution(groups=2),
    _convolution(bias=False),
    _convolution(k=2, pad=1),
)
_TRANSPOSED = (
    _convolution(out=0),
    _convolution(stride=2, out=0),
    _convolution(stride=2, pad=1, out=1),
    _convolution(dilation=2, out=0),
    _convolution(groups=4, out=0),
    _convolution(bias=False, out=0),
    _convolution(k=1, out=0),
)
_POOLS: tuple[Mapping[str, Attribute], ...] = (
    {"k": 2, "stride": 2, "pad": 0, "up": False},
    {"k": 3, "stride": 1, "pad": 1, "up": False},
    {"k": 3, "stride": 2, "pad": 0, "up": True},
    {"k": 3, "stride": 2, "pad": 1, "up": False},
)
_SIZES: Mapping[int, tuple[Mapping[str, Attribute], ...]] = {
    1: ({"size": 1}, {"size": 5}, {"size": 10}),
    2: ({"size": 1}, {"size": 3}, {"size": (2, 5)}),
    3: ({"size": 1}, {"size": 2}),
}


def _of(rank: int) -> tuple[Operator, ...]:
    return (*_convolutions(rank), *_pools(rank), *_norms(rank))


def _convolutions(rank: int) -> tuple[Operator, ...]:
    shapes, edge = _SPACE[rank]
    steps = "k, stride, pad, dilation, groups, bias"
    return (
        Operator(
            f"conv{rank}d",
            "m(x)",
            shapes,
            edge,
            _THREE,
            module=f"nn.Conv{rank}d(4, 8, {steps})",
            attributes=_CONVOLUTIONS,
        ),
        Operator(
            f"conv_transpose{rank}d",
            "m(x)",
            shapes,
            edge,
            _THREE,
            attributes=_TRANSPOSED,
            module=f"nn.ConvTranspose{rank}d(4, 8, k, stride, pad, out, groups, bias, dilation)",
        ),
    )


def _pools(rank: int) -> tuple[Operator, ...]:
    shapes, edge = _SPACE[rank]
    return (
        Operator(
            f"max_pool{rank}d",
            f"F.max_pool{rank}d(x, k, stride, pad, ceil_mode=up)",
            shapes,
            edge,
            _THREE,
            attributes=_POOLS,
        ),
        Operator(
            f"avg_pool{rank}d",
            f"F.avg_pool{rank}d(x, k, stride, pad, ceil_mode=up, count_include_pad=count)",
            shapes,
            edge,
            _THREE,
            attributes=(*tuple({**pool, "count": True} for pool in _POOLS), {**_POOLS[1], "count": False}),
        ),
        Operator(
            f"adaptive_avg_pool{rank}d",
            f"F.adaptive_avg_pool{rank}d(x, size)",
            shapes,
            edge,
            _THREE,
            attributes=_SIZES[rank],
        ),
        Operator(
            f"adaptive_max_pool{rank}d",
            f"F.adaptive_max_pool{rank}d(x, size)",
            shapes,
            edge,
            FLOATS[:2],
            attributes=_SIZES[rank][:1],
        ),
    )


def _norms(rank: int) -> tuple[Operator, ...]:
    shapes, edge = _SPACE[rank]
    return (
        Operator(
            f"batch_norm{rank}d",
            "m(x)",
            shapes,
            edge,
            _THREE,
            module=f"nn.BatchNorm{rank}d(4, affine=affine)",
            attributes=({"affine": True}, {"affine": False}),
        ),
        Operator(
            f"instance_norm{rank}d",
            "m(x)",
            shapes.split("|")[0],
            dtypes=_THREE,
            module=f"nn.InstanceNorm{rank}d(4, affine=affine)",
            attributes=({"affine": True}, {"affine": False}),
        ),
    )


TABLE = (
    *(operator for rank in (1, 2, 3) for operator in _of(rank)),
    Operator(
        "group_norm",
        "m(x)",
        "2x4x5 | 2x4x6x7",
        "1x4x1x3 | 0x4x5",
        module="nn.GroupNorm(groups, 4)",
        attributes=({"groups": 2}, {"groups": 1}, {"groups": 4}),
    ),
    Operator(
        "layer_norm",
        "m(x)",
        "5x8 | 3x4x8 | 2x3x4x8",
        "8 | 0x8 | 1x8",
        module="nn.LayerNorm(8, eps, elementwise_affine=affine)",
        attributes=({"eps": 1e-5, "affine": True}, {"eps": 1e-2, "affine": True}, {"eps": 1e-5, "affine": False}),
    ),
    Operator(
        "rms_norm",
        "m(x)",
        "5x8 | 3x4x8",
        "8 | 0x8 | 1x8",
        module="nn.RMSNorm(8, eps)",
        attributes=({"eps": 1e-6}, {"eps": 1e-2}),
    ),
    Operator(
        "local_response_norm",
        "F.local_response_norm(x, size)",
        "2x4x5x6",
        dtypes=_THREE,
        attributes=({"size": 2}, {"size": 3}),
    ),
    Operator("normalize", "F.normalize(x, dim=dim)", "5x8 | 3x4x5", "1x7", attributes=({"dim": 1}, {"dim": 0})),
    Operator(
        "upsample_nearest",
        "F.interpolate(x, scale_factor=scale, mode='nearest')",
        "1x2x5x6 | 2x3x4x4",
        "1x1x1x1",
        _THREE,
        attributes=({"scale": 2.0}, {"scale": 1.5}, {"scale": 0.5}),
    ),
    Operator(
        "upsample_nearest_size",
        "F.interpolate(x, size=(7, 9), mode=mode)",
        "1x2x5x6",
        dtypes=_THREE,
        attributes=({"mode": "nearest"}, {"mode": "nearest-exact"}),
    ),
    Operator(
        "upsample_linear",
        "F.interpolate(x, scale_factor=2.0, mode='linear', align_corners=corners)",
        "1x2x7",
        "1x1x1",
        _THREE,
        attributes=({"corners": False}, {"corners": True}),
    ),
    Operator(
        "upsample_bilinear",
        "F.interpolate(x, size=(7, 9), mode='bilinear', align_corners=corners)",
        "1x2x5x6 | 2x3x4x4 | 1x1x14x18",
        "1x1x1x1",
        _THREE,
        attributes=({"corners": False}, {"corners": True}),
    ),
    Operator(
        "upsample_bicubic",
        "F.interpolate(x, size=(7, 9), mode='bicubic', align_corners=corners)",
        "1x2x5x6 | 1x1x14x18",
        dtypes=_THREE,
        attributes=({"corners": False}, {"corners": True}),
    ),
    Operator(
        "grid_sample",
        "F.grid_sample(x, y, mode=mode, padding_mode=outside, align_corners=corners)",
        "1x2x5x6 1x4x4x2 | 2x3x7x7 2x5x6x2",
        dtypes=FLOATS[:2],
        kinds=("normal", "unit"),
        attributes=(
            {"mode": "bilinear", "outside": "zeros", "corners": False},
            {"mode": "nearest", "outside": "border", "corners": False},
            {"mode": "bilinear", "outside": "reflection", "corners": True},
            {"mode": "bicubic", "outside": "zeros", "corners": True},
        ),
    ),
    Operator(
        "affine_grid",
        "F.affine_grid(x, (1, 2, 5, 6), align_corners=corners)",
        "1x2x3",
        dtypes=FLOATS[:2],
        attributes=({"corners": False}, {"corners": True}),
        fixed=True,
    ),
    Operator(
        "pixel_shuffle", "F.pixel_shuffle(x, factor)", "1x8x3x4 | 2x4x5x5", "1x4x1x1", attributes=({"factor": 2},)
    ),
    Operator(
        "pixel_unshuffle", "F.pixel_unshuffle(x, factor)", "1x2x4x6 | 2x1x8x8", "1x1x2x2", attributes=({"factor": 2},)
    ),
    Operator(
        "channel_shuffle",
        "F.channel_shuffle(x, groups)",
        "1x4x3x3",
        dtypes=_THREE,
        attributes=({"groups": 2}, {"groups": 4}),
    ),
    Operator(
        "unfold",
        "F.unfold(x, k, dilation, pad, stride)",
        "1x2x6x7",
        dtypes=_THREE,
        attributes=(
            {"k": 3, "dilation": 1, "pad": 0, "stride": 1},
            {"k": 2, "dilation": 1, "pad": 1, "stride": 2},
            {"k": 3, "dilation": 2, "pad": 1, "stride": 1},
        ),
    ),
    Operator(
        "fold",
        "F.fold(x, (5, 6), k, 1, 0, stride)",
        "1x18x12 | 2x9x12",
        dtypes=_THREE,
        attributes=({"k": 3, "stride": 1},),
    ),
    Operator(
        "lp_pool2d",
        "F.lp_pool2d(x, 2.0, k, stride)",
        "1x2x6x6",
        dtypes=FLOATS[:2],
        kinds=("positive",),
        attributes=({"k": 2, "stride": 2}, {"k": 3, "stride": 1}),
    ),
)
