"""All operators that replace those of onnx.reference: the classes that records name."""

# onnx.reference is untyped.
# mypy: disable-error-code="misc"

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from onnx.reference.op_run import OpRun

from assay.numerics.operators.index import onnx_operators
from assay.numerics.operators.record import OnnxOperator


@cache
def reference_classes(*, one_type: bool) -> tuple[type[OpRun], ...]:
    """`one_type`: for a model that was widened, whose operators give the type of what they take."""
    classes = (_class_of(operator, one_type=one_type) for operator in onnx_operators().values() if operator.reference)
    return tuple(operator_class for operator_class in classes if operator_class is not None)


def _class_of(operator: OnnxOperator, *, one_type: bool) -> type[OpRun] | None:
    """A class with an attribute `one_type` gives a declared type where that is False; `only_one_type`: else onnx.reference's own does."""
    reference: Any = getattr(import_module(f"{__package__}.{operator.reference}"), operator.name)
    if not one_type and getattr(reference, "only_one_type", False):
        return None
    if not one_type or not hasattr(reference, "one_type"):
        return reference  # type: ignore[no-any-return]
    return type(operator.name, (reference,), {"one_type": True})  # an operator is known by the name of its class
