"""Windows, spectra, and parts of images that overlap."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from assay.generators.build import Build, Operand
from assay.generators.operators.form import FLOATS, flag, form

_REAL = ("float32", "float64")


@form("DFT")
def dft(build: Build, operator: str) -> list[Operand]:
    """Real or complex numbers, whole or half of the frequencies, shorter or longer than the axis."""
    draws = build.draws
    sizes = [draws.between(1, 3), *(draws.between(2, 9) for _ in range(draws.between(1, 2)))]
    parts = draws.between(1, 2)
    x = build.operand(build.dtype(operator, among=_REAL), (*sizes, parts))
    inverse, half = flag(build), flag(build)
    if parts == 2 and half and not inverse:
        half = 0
    if parts == 1 and inverse:
        inverse = 0
    length = build.steering(draws.between(2, 10)) if draws.chance(40) and not (half and inverse) else None
    axis = draws.between(1, len(sizes) - 1)
    written_axis = axis - len(sizes) - 1 if draws.chance(40) else axis
    if build.opset < 20:
        return build.node(
            operator, [x] if length is None else [x, length], axis=written_axis, inverse=inverse, onesided=half
        )
    return build.node(operator, [x, length, build.steering(written_axis)], inverse=inverse, onesided=half)


@form("STFT")
def stft(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=_REAL)
    frame = draws.between(2, 8)
    length = frame + draws.between(0, 8)
    x = build.operand(dtype, (draws.between(1, 2), length, draws.between(1, 2)))
    window = build.operand(dtype, (frame,), low=0, high=1, fixed=80) if draws.chance(60) else None
    size = build.steering(frame) if window is None or draws.chance(50) else None
    reads = [x, build.steering(draws.between(1, 4)), window, size]
    return build.node(operator, reads[:3] if size is None else reads, onesided=flag(build) if x.shape[-1] == 1 else 0)


@form("BlackmanWindow HammingWindow HannWindow")
def window(build: Build, operator: str) -> list[Operand]:
    """The size is a constant in most models; here a cast of it is an input as well, so that something is fed."""
    draws = build.draws
    to = draws.one_of((None, TensorProto.FLOAT, TensorProto.DOUBLE))
    size = draws.between(2, 17)
    dtype = "float64" if to == TensorProto.DOUBLE else "float32"
    (made,) = build.node(
        operator, [build.steering(size)], output_datatype=to, periodic=flag(build), known=[(dtype, (size,))]
    )
    return build.node("Mul", [made, build.operand(dtype, (size,))])


@form("MelWeightMatrix")
def mel(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    bins, length, rate = draws.between(2, 6), draws.one_of((8, 16, 32)), draws.one_of((4000, 8000))
    low, high = draws.one_of((0.0, 20.0, 125.0)), draws.one_of((rate / 2, rate / 4))
    reads = [build.steering(count) for count in (bins, length, rate)]
    reads += [build.steering(frequency, "float32") for frequency in (low, high)]
    (made,) = build.node(operator, reads, known=[("float32", (length // 2 + 1, bins))])
    return build.node("Mul", [made, build.operand("float32", made.shape)])


@form("Col2Im")
def col2im(build: Build, operator: str) -> list[Operand]:
    """Blocks that overlap are summed."""
    draws = build.draws
    axes = draws.one_of((1, 2, 2, 3))
    image = [draws.between(3, 6) for _ in range(axes)]
    block = [draws.between(1, 3) for _ in range(axes)]
    dilations, strides = ([draws.between(1, 2) for _ in range(axes)] for _ in range(2))
    pads = [draws.between(0, 1) for _ in range(2 * axes)]
    count = 1
    for place, size in enumerate(image):
        reach = (block[place] - 1) * dilations[place] + 1
        count *= max(0, (size + pads[place] + pads[place + axes] - reach) // strides[place] + 1)
    shape = (draws.between(1, 2), draws.between(1, 3) * int(np.prod(block)), count)
    x = build.operand(build.dtype(operator, among=FLOATS), shape, low=-2, high=2)
    reads = [x, build.steering(image), build.steering(block)]
    return build.node(
        operator, reads, dilations=dilations if draws.chance(60) or max(dilations) > 1 else None,
        strides=strides if draws.chance(60) or max(strides) > 1 else None, pads=pads if draws.chance(60) or max(pads) else None,
    )  # fmt: skip
