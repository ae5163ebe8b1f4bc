"""Products of matrices, and convolutions."""

from __future__ import annotations

from typing import Any

from assay.generators.build import EQUAL_SIZES, Build, Operand
from assay.generators.operators.form import FLOATS, flag, form
from assay.generators.schemas import NotMade

_REAL = (*FLOATS, "int32", "int64")
SQUARE = 20
"""Percent of the products with as many columns as rows."""


@form("MatMul")
def matmul(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=_REAL)
    x = build.operand(dtype, ranks=(1, 2, 3, 4), low=-2, high=2)
    inner, rows = x.shape[-1], x.shape[-2] if x.rank > 1 else 1
    columns = rows if draws.chance(SQUARE) else build.size((1, 2, 3, 5, 8, 16))
    if draws.chance(15):
        y = build.operand(dtype, (inner,), low=-2, high=2, fixed=50)
    else:
        lead = x.shape[draws.between(0, len(x.shape) - 2) : -2] if x.rank > 2 and draws.chance(50) else ()
        y = build.operand(dtype, (*lead, inner, columns), low=-2, high=2, fixed=60)
    return build.node(operator, [x, y])


@form("Gemm")
def gemm(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=_REAL)
    x = build.operand(dtype, ranks=(2,), low=-2, high=2)
    turned, other = flag(build), flag(build)
    rows, inner = (x.shape[1], x.shape[0]) if turned else x.shape
    columns = rows if draws.chance(SQUARE) else build.size((1, 2, 3, 5, 8, 16))
    y = build.operand(dtype, (columns, inner) if other else (inner, columns), low=-2, high=2, fixed=70)
    shape = draws.one_of(((rows, columns), (columns,), (1, columns), (rows, 1), (1,), ()))
    third = [] if draws.chance(30) and build.opset >= 11 else [build.operand(dtype, shape, fixed=60)]
    alpha, beta = (draws.one_of((None, None, 0.5, 2.0, 1.0)) for _ in range(2))
    if not dtype.startswith("float") and (alpha, beta) != (None, None):
        raise NotMade
    return build.node(operator, [x, y, *third], alpha=alpha, beta=beta, transA=turned, transB=other)


def spatial(build: Build, sizes: tuple[int, ...], most: int = 4) -> dict[str, Any]:
    """Kernel, strides, dilations and pads that leave at least one window."""
    draws = build.draws
    kernel, strides, dilations, pads = [], [], [], []
    for size in sizes:
        width = draws.between(1, min(most, max(1, size)))
        dilation = draws.one_of((1, 1, 1, 2, 3))
        while (width - 1) * dilation + 1 > size:
            dilation, width = (dilation - 1, width) if dilation > 1 else (1, width - 1)
        kernel.append(width)
        dilations.append(dilation)
        strides.append(draws.one_of((1, 1, 2, 3)))
        reach = (width - 1) * dilation
        pads.append((draws.between(0, min(reach, width - 1)), draws.between(0, min(reach, width - 1))))
    attributes: dict[str, Any] = {"kernel_shape": kernel}
    if draws.chance(60):
        attributes["strides"] = strides
    if draws.chance(40):
        attributes["dilations"] = dilations
    way = draws.below(10)
    if way < 6:
        attributes["pads"] = [pad for pad, _ in pads] + [pad for _, pad in pads]
    elif way < 8:
        attributes["auto_pad"] = draws.one_of(("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"))
        if attributes["auto_pad"].startswith("SAME") and not _padded(sizes, attributes):
            del attributes["strides"]  # to pad less than nothing is not spoken of
    return attributes


def _windows(sizes: tuple[int, ...], attributes: dict[str, Any]) -> list[int]:
    """How many windows lie along each axis: the sizes of what a layer gives."""
    ones = [1] * len(sizes)
    strides, dilations = attributes.get("strides", ones), attributes.get("dilations", ones)
    pads = attributes.get("pads", [0] * 2 * len(sizes))
    if attributes.get("auto_pad", "").startswith("SAME"):
        return [-(-size // stride) for size, stride in zip(sizes, strides, strict=True)]
    reaches = [
        (width - 1) * dilation + 1 for width, dilation in zip(attributes["kernel_shape"], dilations, strict=True)
    ]
    return [
        (size + pads[place] + pads[place + len(sizes)] - reaches[place]) // strides[place] + 1
        for place, size in enumerate(sizes)
    ]


def _padded(sizes: tuple[int, ...], attributes: dict[str, Any]) -> bool:
    """Whether SAME adds something, or nothing, to each axis: strides wider than windows would take elements off."""
    ones = [1] * len(sizes)
    strides, dilations = attributes.get("strides", ones), attributes.get("dilations", ones)
    reaches = [
        (width - 1) * dilation + 1 for width, dilation in zip(attributes["kernel_shape"], dilations, strict=True)
    ]
    return all(
        (-(-size // stride) - 1) * stride + reach >= size
        for size, stride, reach in zip(sizes, strides, reaches, strict=True)
    )


@form("Conv ConvTranspose")
def convolution(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=FLOATS)
    axes = draws.one_of((1, 2, 2, 2, 3))
    groups = draws.one_of((1, 1, 1, 2, 3))
    channels, out = (groups * build.size((1, 2, 3, 4)) for _ in range(2))
    if draws.chance(20):
        groups = out = channels
    x = build.operand(
        dtype,
        (draws.between(1, 2), channels, *(build.size((3, 4, 5, 6, 7, 8, 9)) for _ in range(axes))),
        low=-2,
        high=2,
        any_size=True,
    )
    if x.shape[1] != channels:
        channels = x.shape[1]
        groups = groups if channels % groups == 0 and out % groups == 0 else 1
    attributes = spatial(build, x.shape[2:])
    if groups == 1 and draws.chance(EQUAL_SIZES):
        out = draws.one_of((*x.shape[2:], *_windows(x.shape[2:], attributes)))
    kernel = attributes["kernel_shape"]
    assert isinstance(kernel, list)
    weight = (out, channels // groups, *kernel) if operator == "Conv" else (channels, out // groups, *kernel)
    reads = [x, build.operand(dtype, weight, low=-1, high=1, fixed=85)]
    if draws.chance(60):
        reads.append(build.operand(dtype, (out,), low=-1, high=1, fixed=85))
    if operator == "ConvTranspose":
        _output_of_transposed(build, attributes, x.shape[2:])
    if draws.chance(20):
        del attributes["kernel_shape"]
    return build.node(operator, reads, group=groups if groups > 1 or draws.chance(50) else None, **attributes)


def _output_of_transposed(build: Build, attributes: dict[str, Any], sizes: tuple[int, ...]) -> None:
    """Sometimes a padding of the output, or its shape, from which the pads follow."""
    draws = build.draws
    ones = [1] * len(sizes)
    strides, dilations, kernel = (
        attributes.get("strides", ones),
        attributes.get("dilations", ones),
        attributes["kernel_shape"],
    )
    if "auto_pad" not in attributes and draws.chance(20):
        attributes["output_padding"] = [draws.below(stride) for stride in strides]
    elif attributes.get("auto_pad") != "VALID" and draws.chance(20):
        attributes.pop("pads", None)
        whole = [(size - 1) * strides[n] + (kernel[n] - 1) * dilations[n] + 1 for n, size in enumerate(sizes)]
        attributes["output_shape"] = [draws.between(max(1, total - 2), total) for total in whole]


_EQUATIONS: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = (
    ("ij,jk->ik", ((3, 4), (4, 5))),
    ("bij,bjk->bik", ((2, 3, 4), (2, 4, 5))),
    ("ij->ji", ((3, 4),)),
    ("ii->i", ((4, 4),)),
    ("ij->", ((3, 4),)),
    ("bhid,bhjd->bhij", ((1, 2, 3, 4), (1, 2, 5, 4))),
    ("i,j->ij", ((3,), (4,))),
    ("ij,ij->i", ((3, 4), (3, 4))),
    ("...ij,...jk->...ik", ((2, 3, 4), (2, 4, 5))),
    ("ij,kj->ik", ((3, 4), (5, 4))),
    ("ji,jk->ik", ((4, 3), (4, 5))),
    ("abc->cba", ((2, 3, 4),)),
    ("bij,jk->bik", ((2, 3, 4), (4, 5))),
    ("ij,jk", ((3, 4), (4, 5))),
    ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 5))),
    ("bij,bij->bi", ((2, 3, 4), (2, 3, 4))),
    ("ijk,jil->kl", ((2, 3, 4), (3, 2, 5))),
)


def _equation(build: Build) -> tuple[str, tuple[tuple[int, ...], ...]]:
    """Any letters on one to three operands, some of them twice, some behind an ellipsis."""
    draws = build.draws
    sizes = {letter: draws.one_of((1, 2, 2, 3, 4)) for letter in "abcde"}
    terms = []
    for _ in range(draws.one_of((1, 2, 2, 2, 3))):
        letters = draws.shuffled("abcde")[: draws.between(1, 3)]
        if draws.chance(15):
            letters.insert(draws.below(len(letters) + 1), draws.one_of(letters))
        terms.append(letters)
    lead = (draws.between(1, 3),) if draws.chance(20) else ()
    dots = "..." if lead else ""
    used = sorted({letter for term in terms for letter in term})
    out = draws.shuffled(used)[: draws.between(0, len(used))]
    left = ",".join(dots + "".join(term) for term in terms)
    if draws.chance(30):
        return left, tuple((*lead, *(sizes[letter] for letter in term)) for term in terms)
    return f"{left}->{dots}{''.join(out)}", tuple((*lead, *(sizes[letter] for letter in term)) for term in terms)


@form("Einsum")
def einsum(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=FLOATS)
    equation, shapes = draws.one_of(_EQUATIONS) if draws.chance(40) else _equation(build)
    return build.node(
        operator, [build.operand(dtype, shape, low=-2, high=2, fixed=20) for shape in shapes], equation=equation
    )
