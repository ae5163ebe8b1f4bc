"""A tolerance is tried before it is trusted: gross defects, built into the same model, must be seen by it.

A noise rule that is wrong by orders of magnitude blinds a gate in silence. Three defects that no contract allows: inputs
and weights rounded twelve bits coarser than the flow's type, the last slice of an operator's answer lost, the last term of
its sums lost. They are evaluated on the first sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import Lowering
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.oracle.probe import Call, Probe, Values, observed_by
from assay.numerics.tolerance.graph import WEIGHTS, Graph
from assay.numerics.tolerance.judge import judge
from assay.numerics.tolerance.profile import Profile, Tried
from assay.ports import Tensor, Tensors

if TYPE_CHECKING:
    from onnx import NodeProto

    from assay.numerics.tolerance.derive import Deriving

COARSER = 2.0**12
BEYOND = 1e30
"""What is told of a budget without end: JSON has no infinity."""


class _LastSliceLost(Probe):
    """The answer of one operator, zero at the end of its channels (of its last axis where there are none)."""

    def __init__(self, output: str) -> None:
        self._output = output

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        del again
        return (_lost(results[0]), *results[1:]) if call.outputs[:1] == (self._output,) else results


def _lost(value: Tensor) -> Tensor:
    changed = value.copy()
    axis = 1 if value.ndim > 2 else value.ndim - 1
    if value.ndim == 0:
        changed[...] = 0
    else:
        changed[(slice(None),) * axis + (-1,)] = 0
    return changed


def selftest(deriving: Deriving, profile: Profile, inputs: Sequence[Tensors]) -> tuple[Tried, ...]:
    """Every defect that the model has a place for; none where it has none."""
    if not inputs or all(one.kind == "none" for one in profile.header.outputs):
        return ()
    from assay.numerics.tolerance.derive import as_type, named  # which asks for this

    feeds = as_type(inputs[0], np.float64)
    first = Profile(profile.header, profile.oracle[:1], profile.deviation[:1], profile.margins[:1])
    tried = []
    for name, changed, probe in _defects(deriving, feeds):
        before = {} if feeds.keys() & changed.keys() else deriving.before
        try:
            with observed_by(probe), np.errstate(all="ignore"):
                outputs = named(deriving.outputs, deriving.wide.evaluate({**feeds, **changed}, known=before))
        except Lowering:
            continue
        if any(outputs[one].shape != profile.oracle[0][one].shape for one in outputs):
            tried.append(Tried(name, BEYOND, True))
            continue
        if all(
            np.array_equal(outputs[one], profile.oracle[0][one], equal_nan=outputs[one].dtype.kind == "f")
            for one in outputs
        ):
            continue  # an equivalent mutant: the place never mattered
        judged = judge([outputs], None, first)
        budget = max((one.metrics.get("budget_used", 0.0) for one in judged.values()), default=0.0)
        tried.append(Tried(name, min(budget, BEYOND), budget > 1.0))
    return tuple(tried)


def _defects(deriving: Deriving, feeds: Tensors) -> list[tuple[str, dict[str, Tensor], Probe]]:
    unit = COARSER * max(deriving.arithmetic.storage, deriving.arithmetic.multiply)
    rounded = {name: _coarsened(value, unit) for name, value in feeds.items() if value.dtype == np.float64}
    rounded |= {name: _coarsened(deriving.wide.rt_inits_[name], unit) for name in deriving.graph.weights}
    found: list[tuple[str, dict[str, Tensor], Probe]] = []
    if unit < 0.25:
        found.append((f"inputs and weights rounded to a unit of {unit:.1e}", rounded, Probe()))
    if deriving.middle is not None:
        node, weight = deriving.middle
        found.append((f"last channel lost at {node.name or node.output[0]}", {}, _LastSliceLost(node.output[0])))
        if weight:
            found.append(
                (
                    f"last term lost at {node.name or node.output[0]}",
                    {weight: _term_lost(deriving, node, weight)},
                    Probe(),
                )
            )
    return found


def _coarsened(value: Tensor, unit: float) -> Tensor:
    """Rounded to nearest at a unit roundoff that is a power of two."""
    mantissa, exponent = np.frexp(value)
    grid = 0.5 / unit
    result: Tensor = np.ldexp(np.round(mantissa * grid * 2) / (grid * 2), exponent)
    return np.where(np.isfinite(value), result, value)


def middle_of(evaluator: Evaluator, graph: Graph) -> tuple[NodeProto, str] | None:
    """The operator in the middle of those with weights, one that sums where there is any, and the weight of its sum."""
    nodes = [node.onnx_node for node in evaluator.rt_nodes_ if node.op_type in WEIGHTS and node.output[0] in graph.data]
    if not nodes:
        return None
    summing = [(node, weight) for node in nodes if (weight := _summed(node, graph))]
    return summing[len(summing) // 2] if summing else (nodes[len(nodes) // 2], "")


def _summed(node: NodeProto, graph: Graph) -> str:
    if node.op_type not in ("Conv", "Gemm", "MatMul", "ConvTranspose"):
        return ""
    places = [at for at in WEIGHTS[node.op_type] if at < len(node.input)]
    return next((str(node.input[at]) for at in places if node.input[at] in graph.weights), "")


def _term_lost(deriving: Deriving, node: Any, weight: str) -> Tensor:
    value: Tensor = deriving.wide.rt_inits_[weight].copy()
    attributes = {one.name: one.i for one in node.attribute}
    if node.op_type == "Conv":
        value.reshape(value.shape[0], -1)[:, -1] = 0
    elif node.op_type == "ConvTranspose":
        value[-1] = 0
    else:
        first = weight == node.input[0]
        along_last = first ^ bool(attributes.get("transA" if first else "transB"))
        value[(..., -1) if along_last or value.ndim == 1 else (..., -1, slice(None))] = 0
    return value
