"""Operators by the other reading of their texts, where these leave one open: the classes that `OnnxOperator.readings` name."""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="no-untyped-call,misc,override"

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx.reference.op_run import OpRun

from assay.core.screening import Unspecified
from assay.numerics.attributes import stated
from assay.numerics.operators.index import onnx_operators
from assay.numerics.oracle import resizing
from assay.ports import Tensor

if TYPE_CHECKING:
    from onnx import ModelProto


SETTLED = ("tf_crop_and_resize", "half_pixel_symmetric")
"""Ways to find places whose formulas speak of the whole length, or of the fraction, by name."""


OPSETS = {
    Unspecified.EQUAL_EXTREMES: range(12),
    Unspecified.UPSAMPLED_PLACE: range(11),
    Unspecified.FRACTIONAL_LENGTH: range(11, sys.maxsize),
}
"""In which a text leaves it open, where it is not every one."""


UPSAMPLED = ("half_pixel", "round_prefer_floor")
"""Where Resize reads since opset 11 without a word, and how it rounds there."""


class Resize(resizing.Resize):
    """Resize-11 to -19 also say `scale = length_resized / length_original`: of the whole length of the answer, whatever scale was stated,
    or follows from a policy that keeps the aspect ratio. Resize-10 has no formula at all: of whole lengths it is read as Resize-11 without
    a word, and of others by the whole length."""

    op_domain = ""

    def _run(self, x: Tensor, *others: Any, **attributes: Any) -> tuple[Tensor, ...]:
        first = super()._run(x, *others, **attributes)
        if attributes.get("coordinate_transformation_mode") in SETTLED or not first[0].size:
            return first
        if self.run_params["opsets"][self.onnx_node.domain] < 11:
            scales = resizing.single(others[0], x.shape)
            if np.array_equal(scales * x.shape, first[0].shape):
                mode = stated(attributes, "mode", "nearest")
                return (resizing.scaled(self, x, scales, mode, *UPSAMPLED),)
            return super()._run(x, _scales(first[0], x), **attributes)
        axes = [axis % x.ndim for axis in stated(attributes, "axes", range(x.ndim))]
        sizes = np.asarray([first[0].shape[axis] for axis in axes], np.int64)
        stretched = {**attributes, "keep_aspect_ratio_policy": "stretch"}
        return super()._run(x, others[0] if others else None, None, sizes, **stretched)


class Upsample(resizing.Upsample):
    """Upsample says how long the result is, and not where it reads: as Resize does without a word of it since opset 11."""

    op_domain = ""
    way, rounding = UPSAMPLED


class ArgMax(OpRun):
    """Before opset 12, which brought `select_last_index`, the text names no place among equal extremes: the last one here."""

    op_domain = ""
    extreme: Any = staticmethod(np.argmax)

    def _run(self, x: Tensor, axis: Any = None, keepdims: Any = None, select_last_index: Any = None) -> tuple[Tensor]:
        is_last = select_last_index or self.run_params["opsets"][self.onnx_node.domain] < 12
        places = self.extreme(np.flip(x, axis) if is_last else x, axis=axis, keepdims=bool(keepdims))
        return (np.asarray(x.shape[axis] - 1 - places if is_last else places, np.int64),)


class ArgMin(ArgMax):
    """The same of the least."""

    op_domain = ""
    extreme: Any = staticmethod(np.argmin)


def _scales(resized: Tensor, x: Tensor) -> Tensor:
    """Quotients of the lengths, by which float32 comes to these lengths again."""
    quotients: Tensor = np.asarray(resized.shape, np.float64) / np.asarray(x.shape, np.float64) * (1 + 2.0**-22)
    return quotients


def other_classes(operators: Iterable[str]) -> list[type[OpRun]]:
    """Of those of these operators of the standard that can be read in another way."""
    records = [onnx_operators()["", name] for name in operators if ("", name) in onnx_operators()]
    return [
        getattr(import_module(f"{__package__}.{module}"), record.name)
        for record in records
        for _, module in record.readings
    ]


def readings_of(model: ModelProto) -> dict[str, tuple[Unspecified, ...]]:
    """By operator what its text does not say. Empty where each operator of the model can be read in one way alone."""
    records = onnx_operators()
    opset = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 0)
    left_open: dict[str, dict[Unspecified, None]] = {}
    for nodes in (model.graph.node, *(function.node for function in model.functions)):
        for node in _nodes(nodes):
            for reading, _ in records["", node.op_type].readings if ("", node.op_type) in records else ():
                if opset in OPSETS.get(reading, (opset,)) and (reading not in FORMS or FORMS[reading](node)):
                    left_open.setdefault(node.op_type, {})[reading] = None
    return {name: tuple(reasons) for name, reasons in left_open.items()}


def _nodes(nodes: Any) -> Iterator[Any]:
    """Those of the standard, those inside of others, too."""
    for node in nodes:
        if node.domain in ("", "ai.onnx"):
            yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _nodes(graph.node)


def _has_lengths(node: Any) -> bool:
    return bool([*node.input, *[""] * 5][4])


def _leaves_a_length(node: Any) -> bool:
    """Of Resize: a way that names the length, and lengths that are stated, leave nothing open. (Scales may be there, and empty.)"""
    words = {attribute.name: attribute.s.decode() for attribute in node.attribute if attribute.s}
    keeps = words.get("keep_aspect_ratio_policy", "stretch") != "stretch"
    return words.get("coordinate_transformation_mode") not in SETTLED and (keeps or bool([*node.input, *[""] * 3][2]))


FORMS: dict[Unspecified, Callable[[Any], bool]] = {
    Unspecified.BEYOND_THE_END: _has_lengths,
    Unspecified.FRACTIONAL_LENGTH: _leaves_a_length,
}
"""Of a node: whether it is of a form in which a text leaves it open, where not every form is."""
