"""Outputs that jump: what decides them, and between which answers a correct flow may choose.

A different answer is accepted only where the oracle's deciding margin is under 8 standard deviations of the noise of
what decides: the two scores of an index, the distance to the next step of a rounding, the sides of a comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.dtype import is_floating
from assay.core.screening import Unspecified
from assay.numerics.operators.index import record_of
from assay.ports import Tensor

if TYPE_CHECKING:  # every worker judges, few of them derive: the oracle is imported by those
    from onnx import NodeProto

    from assay.numerics.oracle.evaluator import Evaluator
    from assay.numerics.tolerance.simulate.graph_study import Graph

MARGIN = 8.0
"""Standard deviations: twice the limit of one element, for the two sides of a decision."""

_TIE = 2.0**-10
"""Of a value on a tie, whose size is half a step at least: far enough to leave it, in either direction."""


@dataclass(frozen=True)
class Decision:
    """How one output is decided: by the operator `node`, then `path` (names of values) in the same order of elements."""

    output: str
    kind: str
    node: NodeProto
    path: tuple[str, ...]

    @property
    def taps(self) -> tuple[str, ...]:
        """The values whose noise decides."""
        count = 2 if record_of(self.node.op_type).decides == "comparison" else 1
        return tuple(self.node.input[:count])


def decision_of(output: str, graph: Graph) -> Decision | None:
    """None where nothing simple decides: the range over noisy evaluations has to do."""
    path = [output]
    name = output
    ordered = True
    through = {"kept"} if is_floating(graph.types.get(output, "float32")) else {"kept", "moved"}
    while True:
        node = graph.producers.get(name)
        if node is None:
            return None
        floating = is_floating(graph.types.get(node.input[0], "float32")) if node.input else False
        known = record_of(node.op_type)
        ranked = ordered and known.decides == "rank" and (node.op_type != "TopK" or node.output[1:2] == [name])
        if ranked and (floating or _is_any_extreme(node, graph)):
            return Decision(output, "ranking", node, tuple(reversed(path)))
        if known.decides == "comparison" and floating:
            return Decision(output, "interval", node, tuple(reversed(path)))
        steps = known.decides in ("whole", "step") and floating
        stepped = steps and _is_stepped(node.input[0], graph)
        if steps and _jumps(node, graph) and not stepped:
            return Decision(output, "interval", node, tuple(reversed(path)))
        if not (stepped or known.order in through) or _is_bounded_by(node, graph):
            return None
        ordered = ordered and known.order == "kept"
        name = node.input[0]
        path.append(name)


def _is_any_extreme(node: NodeProto, graph: Graph) -> bool:
    """Of whole numbers that no real one decides: whether the place of any of equal extremes is right."""
    if Unspecified.EQUAL_EXTREMES not in graph.left_open.get(node.op_type, ()):
        return False
    names, seen = [node.input[0]], set[str]()
    while names:
        seen.add(name := names.pop())
        maker = graph.producers.get(name)
        if is_floating(graph.types.get(name, "float32")):
            return False
        if maker is not None:
            if any(attribute.HasField("g") for attribute in maker.attribute):
                return False
            names += {name for name in maker.input if name} - seen
    return True


def chosen_by(output: str, graph: Graph) -> str:
    """The operator that chooses which whole numbers stand in an output, in no simple order; "" where none does."""
    names, seen = [output], {output}
    while names:
        node = graph.producers.get(names.pop())
        if node is None:
            continue
        if record_of(node.op_type).decides in ("rank", "set"):
            return node.op_type
        whole = {name for name in node.input if name and not is_floating(graph.types.get(name, "float32"))} - seen
        names += sorted(whole)
        seen |= whole
    return ""


def _is_bounded_by(node: NodeProto, graph: Graph) -> bool:
    """Whether the bounds of a Clip are computed: then they may move, too."""
    return node.op_type == "Clip" and not {"", *graph.weights, *graph.others}.issuperset(node.input[1:])


def _is_stepped(name: str, graph: Graph) -> bool:
    """Whether a value holds whole numbers because it was rounded before: what was rounded then decides, and a truncation of
    31 is no 30 because of a noise of nothing."""
    while (node := graph.producers.get(name)) is not None:
        known = record_of(node.op_type)
        if known.decides == "whole":
            return True
        if not known.order:
            return False
        name = node.input[0]
    return False


def _jumps(node: NodeProto, graph: Graph) -> bool:
    return node.op_type != "Cast" or not is_floating(graph.types.get(node.output[0], "float32"))


def ranking(decision: Decision, scores: Tensor, deviation: Tensor, graph: Graph) -> dict[str, Tensor]:
    """What judging an index needs: the scores with the ranked axis last, and their noise; "last" says whether the last of equal scores is
    due, or the first, where nothing is left to rounding and the standard says it."""
    attributes = {attribute.name: attribute.i for attribute in decision.node.attribute}
    default = -1 if decision.node.op_type == "TopK" else 0
    axis = attributes.get("axis", default)
    lowest = decision.node.op_type == "ArgMin" or attributes.get("largest", 1) == 0
    sign = -1.0 if lowest else 1.0
    margins: dict[str, Tensor] = {
        "scores": np.moveaxis(scores, axis, -1) * sign,
        "scores_deviation": np.moveaxis(deviation, axis, -1).astype(np.float32),
        "axis": np.array(axis),
    }
    open_ = Unspecified.EQUAL_EXTREMES in graph.left_open.get(decision.node.op_type, ())
    if attributes.get("sorted", 1) and not open_ and not deviation.any() and not np.isnan(scores).any():
        margins["last"] = np.array(bool(attributes.get("select_last_index")))
    return margins


def interval(
    decision: Decision,
    evaluator: Evaluator,
    values: list[Tensor],
    deviations: list[Tensor],
    ties: Tensor | None = None,
) -> dict[str, Tensor]:
    """The answers at the two ends of what noise may make of the deciding value, and of what lies on `ties`."""
    reach = MARGIN * np.sqrt(sum(np.square(deviation.astype(np.float64)) for deviation in deviations))
    if ties is not None:
        reach = np.maximum(reach, np.where(ties, _TIE * np.abs(values[0]), 0.0))
    taps = decision.taps
    ends: list[Any] = []
    for sign in (-1.0, 1.0):
        moved = {taps[0]: values[0] + sign * reach, **dict(zip(taps[1:], values[1:], strict=True))}
        ends.append(np.asarray(evaluator.follow(moved, decision.path, decision.output)))
    if decision.node.op_type == "Equal":
        close = np.abs(values[0] - values[1]) <= reach
        ends = [ends[0], ends[1] | close]
    wide = np.stack([end.astype(np.float64) for end in ends])
    return {"low": wide.min(axis=0), "high": wide.max(axis=0)}


def undecided_rank(margins: dict[str, Tensor], expected: Tensor, actual: Tensor) -> Tensor:
    """For each index that differs, whether the scores of the two lie within the noise. Same shape as the indices."""
    scores, deviation = margins["scores"], margins["scores_deviation"].astype(np.float64)
    axis = int(margins["axis"])
    flat = _last(expected, scores, axis), _last(actual, scores, axis)
    length = scores.shape[-1]
    if "last" in margins:
        return _back(
            flat[1] == _first_of_equals(scores, flat[1].shape[-1], bool(margins["last"])), expected, scores, axis
        )
    inside = (flat[1] >= -length) & (flat[1] < length)
    right, got = flat[0] % length, np.where(inside, flat[1], 0) % length
    gap = np.abs(np.take_along_axis(scores, right, -1) - np.take_along_axis(scores, got, -1))
    noise = np.hypot(np.take_along_axis(deviation, right, -1), np.take_along_axis(deviation, got, -1))
    with np.errstate(invalid="ignore"):
        near = inside & ((gap <= MARGIN * noise) | (flat[0] == flat[1]))
    return _back(near, expected, scores, axis)


def _first_of_equals(scores: Tensor, count: int, last: bool) -> Tensor:
    """The places of the largest scores, the largest first; of equal ones the lower place first, or the higher where the `last` is due."""
    upwards = scores[..., ::-1] if last else scores
    places: Tensor = np.argsort(-upwards, axis=-1, kind="stable")[..., :count]
    return np.asarray(scores.shape[-1] - 1 - places) if last else places


def _last(indices: Tensor, scores: Tensor, axis: int) -> Tensor:
    """Indices with the ranked axis last, one row for each row of scores."""
    whole = np.asarray(indices, np.int64)
    rows = scores.shape[:-1]
    if whole.ndim == scores.ndim and tuple(np.moveaxis(whole, axis, -1).shape[:-1]) == rows:
        return np.moveaxis(whole, axis, -1)
    return whole.reshape(*rows, -1)


def _back(near: Tensor, indices: Tensor, scores: Tensor, axis: int) -> Tensor:
    whole = np.asarray(indices)
    if whole.ndim == scores.ndim and tuple(np.moveaxis(whole, axis, -1).shape[:-1]) == scores.shape[:-1]:
        return np.moveaxis(near, -1, axis)
    return near.reshape(whole.shape)
