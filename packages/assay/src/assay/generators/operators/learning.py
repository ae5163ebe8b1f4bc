"""Losses."""

from __future__ import annotations

from assay.generators.build import Build, Operand
from assay.generators.operators.form import form


@form("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss")
def loss(build: Build, operator: str) -> list[Operand]:
    """With labels that are left out, weights of classes, and axes behind the classes."""
    draws = build.draws
    dtype = build.dtype(operator, among=("float32", "float64"))
    samples, classes = draws.between(1, 4), draws.between(2, 5)
    rest = tuple(draws.between(1, 4) for _ in range(draws.between(0, 2)))
    x = build.operand(dtype, (samples, classes, *rest))
    labels = draws.wholes((samples, *rest), 0, classes - 1).astype(draws.one_of(("int64", "int32")))
    ignored = draws.one_of((None, None, -1, 1))
    if ignored is not None:
        flat = labels.reshape(-1)
        flat[1::2] = ignored
        if (flat == ignored).all():
            flat[0] = 0
    reads = [x, build.input(labels)]
    if draws.chance(50):
        reads.append(build.operand(dtype, (classes,), low=0.25, high=2.0, fixed=70))
    way = draws.one_of((None, "none", "sum", "mean"))
    shape = labels.shape if way == "none" else ()
    known = [(dtype, shape), (dtype, x.shape)]
    outputs = 2 if operator == "SoftmaxCrossEntropyLoss" and draws.chance(50) else 1
    return build.node(operator, reads, outputs, ignore_index=ignored, reduction=way, known=known[:outputs])
