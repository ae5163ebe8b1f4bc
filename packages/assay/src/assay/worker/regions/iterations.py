"""From which iteration on a loop or a recurrent layer is wrong: of its outputs that have one row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assay.ports import Tensor

if TYPE_CHECKING:
    from onnx import NodeProto

_RECURRENT = ("LSTM", "GRU", "RNN")
VISIBLE = 1e-3
"""Of the largest number of the output: an iteration whose row is off by more is wrong."""


class Iterations(NamedTuple):
    """The first wrong one, counted from 1 in the order in which they are computed, of so many. (0, 0): the output has no row for each."""

    first: int = 0
    total: int = 0


def first_wrong(node: NodeProto, output: str, answer: Tensor, exact: Tensor) -> Iterations:
    """Of an output of the node."""
    if answer.shape != exact.shape or not exact.size or exact.dtype.kind not in "fiub":
        return Iterations()
    iterations = [
        _first(
            np.moveaxis(np.asarray(answer).astype(np.float64), axis, 0), np.moveaxis(exact, axis, 0), backwards, part
        )
        for axis, backwards, part in _rows(node, output)
        if axis < exact.ndim
    ]
    wrong = [iteration for iteration in iterations if iteration.first]
    return min(wrong, default=Iterations())


def _first(answer: Tensor, exact: Tensor, backwards: bool, part: int | None) -> Iterations:
    if part is not None:  # a direction: it is the axis behind the steps, or behind the batch
        axis = 1 if answer.ndim == 4 else 0
        answer, exact = np.take(answer, part, axis), np.take(exact, part, axis)
    wide = np.asarray(exact, np.float64)
    largest = float(np.abs(wide[np.isfinite(wide)]).max(initial=0.0)) or 1.0
    with np.errstate(all="ignore"):
        off = ~(np.abs(answer - wide) <= VISIBLE * largest) & ~((answer == wide) | (np.isnan(answer) & np.isnan(wide)))
    rows = off.reshape(len(off), -1).any(axis=1)
    rows = rows[::-1] if backwards else rows
    return Iterations(int(rows.argmax()) + 1, len(rows)) if rows.any() else Iterations()


def _rows(node: NodeProto, output: str) -> list[tuple[int, bool, int | None]]:
    """Axis of the iterations, whether they run backwards, and the direction that is looked at (None: all there is)."""
    place = list(node.output).index(output) if output in node.output else -1
    attributes = {attribute.name: attribute for attribute in node.attribute}
    if node.op_type in _RECURRENT and place == 0:
        axis = 1 if "layout" in attributes and attributes["layout"].i else 0
        direction = attributes["direction"].s.decode() if "direction" in attributes else "forward"
        if direction == "bidirectional":
            return [(axis, False, 0), (axis, True, 1)]
        return [(axis, direction == "reverse", None)]
    if node.op_type == "Loop" and place >= len(node.input) - 2:
        return [(0, False, None)]
    if node.op_type == "Scan":
        carried = len(node.input) - attributes["num_scan_inputs"].i
        number = place - carried
        if number >= 0:
            axes, backwards = (
                list(attributes[name].ints) if name in attributes else []
                for name in ("scan_output_axes", "scan_output_directions")
            )
            return [(axes[number] if axes else 0, bool(backwards[number]) if backwards else False, None)]
    return []
