"""Along axes: sums and their kin, places of the largest, softmax, sorting."""

from __future__ import annotations

from onnx import TensorProto

from assay.generators.build import Build, Operand
from assay.generators.operators.form import FLOATS, axis_of, flag, form, version_has
from assay.generators.schemas import NotMade

_SUMMED = (*FLOATS, "int32", "int64")


@form(
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
)
def reduction(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    among: tuple[str, ...] = (*_SUMMED, "int8", "uint8", "bool") if operator in ("ReduceMax", "ReduceMin") else _SUMMED
    if operator in ("ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceL2"):
        among = FLOATS
    dtype = build.dtype(operator, among=among)
    low, high = (
        (0.25, 3.0) if operator == "ReduceLogSum" else (-1.25, 1.25) if operator == "ReduceProd" else (-3.0, 3.0)
    )
    x = build.operand(dtype, ranks=(1, 2, 3, 4, 5), low=low, high=high, domain=operator == "ReduceLogSum")
    places = draws.shuffled(range(x.rank))[: draws.between(1, x.rank)]
    axes: list[int] | None = [place - x.rank if draws.chance(30) else place for place in places]
    if draws.chance(20):
        axes = None
    if version_has(build, operator, "axes"):
        return build.node(operator, [x], axes=axes, keepdims=flag(build))
    noop = flag(build) if axes is None else draws.one_of((None, 0, 1))
    if axes is None and draws.chance(30):
        axes = []
    reads = [x] if axes is None else [x, build.steering(axes)]
    if operator == "ReduceLogSum" and noop and not axes:
        raise NotMade
    return build.node(operator, reads, keepdims=flag(build), noop_with_empty_axes=noop)


@form("ArgMax ArgMin")
def place_of_extreme(build: Build, operator: str) -> list[Operand]:
    among = ("float32", "float64", "float16", "int32", "int64", "int8", "uint8")
    x = build.operand(build.dtype(operator, among=among), ranks=(1, 2, 3, 4))
    last = flag(build) if version_has(build, operator, "select_last_index") else None
    return build.node(
        operator,
        [x],
        axis=axis_of(build, x.rank) if build.draws.chance(80) else None,
        keepdims=flag(build),
        select_last_index=last,
    )


@form("Softmax LogSoftmax Hardmax")
def softmax(build: Build, operator: str) -> list[Operand]:
    x = build.operand(build.dtype(operator, among=FLOATS), ranks=(1, 2, 3, 4))
    axis = axis_of(build, x.rank) if build.opset >= 11 else build.draws.below(x.rank)
    if operator == "Softmax":
        return build.node(operator, [x], axis=axis, low=0.0, high=1.0)
    return build.node(operator, [x], axis=axis if build.opset < 13 or build.draws.chance(85) else None)


@form("TopK")
def top(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    among = ("float32", "float64", "float16", "int32", "int64", "uint8", "int8")
    x = build.operand(build.dtype(operator, among=among), ranks=(1, 2, 3))
    axis = axis_of(build, x.rank) if build.opset >= 11 else draws.below(x.rank)
    count = draws.between(1, x.shape[axis])
    if version_has(build, operator, "k"):
        return build.node(operator, [x], 2, k=count, axis=axis)
    if build.opset < 11:
        return build.node(operator, [x, build.steering([count])], 2, axis=axis)
    return build.node(
        operator, [x, build.steering([count])], 2, axis=axis, largest=flag(build), sorted=draws.one_of((None, 1))
    )


@form("LpNormalization")
def lp_normalization(build: Build, operator: str) -> list[Operand]:
    x = build.operand(build.dtype(operator, among=FLOATS), ranks=(1, 2, 3))
    return build.node(operator, [x], axis=axis_of(build, x.rank), p=build.draws.one_of((None, 1, 2)))


@form("GlobalAveragePool GlobalMaxPool GlobalLpPool")
def global_pool(build: Build, operator: str) -> list[Operand]:
    x = build.operand(build.dtype(operator, among=FLOATS), ranks=(3, 4, 5))
    if operator == "GlobalLpPool":
        return build.node(operator, [x], p=build.draws.one_of((None, 1, 2, 3)))
    return build.node(operator, [x])


@form("MeanVarianceNormalization")
def mean_variance(build: Build, operator: str) -> list[Operand]:
    x = build.operand(build.dtype(operator, among=("float32",)), [2, 3, 4, 5])
    # onnx's checker refuses the function without its axes, though they have a default
    axes = build.draws.one_of(([0, 2, 3], [2, 3], [1, 2], [0, 3]))
    return build.node(operator, [x], axes=axes, known=[(x.dtype, x.shape)])


@form("Det")
def determinant(build: Build, operator: str) -> list[Operand]:
    size = build.draws.between(1, 4)
    lead = build.shape((0, 1, 2))
    return build.node(operator, [build.operand(build.dtype(operator, among=FLOATS), (*lead, size, size))])


@form("EyeLike")
def eye(build: Build, operator: str) -> list[Operand]:
    x = build.operand(build.dtype(operator, among=("float32", "float64", "int32", "int64")), ranks=(2,))
    to = build.draws.one_of((None, None, TensorProto.FLOAT, TensorProto.INT64, TensorProto.DOUBLE, TensorProto.UINT8))
    return build.node(operator, [x], k=build.draws.one_of((None, -2, -1, 0, 1, 3)), dtype=to)


@form("Trilu")
def triangle(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = build.operand(build.dtype(operator, among=(*FLOATS, "int32", "int64", "bool")), ranks=(2, 3, 4), empty=True)
    reads = [x] if draws.chance(30) else [x, build.steering(draws.between(-4, 4))]
    return build.node(operator, reads, upper=flag(build))
