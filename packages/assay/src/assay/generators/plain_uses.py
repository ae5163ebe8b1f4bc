"""What is wrong in one use of an engine alone: whether the operator matters, or any engine is wrong when it is used so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from assay.core.dtype import dtype_name
from assay.core.screening import ANY_OPERATOR, Screened, Use
from assay.generators.narrowing import Run, Trial, fails_alike
from assay.generators.output_types import ir_of
from assay.generators.schemas import LATEST, allowed
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase

TRIES = 4
"""Of one plain model: it may be a race."""
FLOATS = frozenset((TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE))
WHOLE = frozenset(
    (
        *(TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64),
        *(TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64),
    )
)
ONE_OPERAND = frozenset(("Relu", "Neg", "Not"))


def in_plain_model(trial: Trial, run: Run) -> tuple[Trial | None, dict[str, bool]]:
    """A plain model of another operator that fails in the same use, where there is one; and whether it is right, where that could be
    tried. `run` says of a case that it is wrong if it was wrong once."""
    if trial.far.kind not in {*Use}:
        return None, {}
    for case in plain_cases(trial.case):
        tried = run(case)
        for _ in range(TRIES - 1):
            if tried.became is not Screened.RIGHT:
                break
            tried = run(case)
        if fails_alike(tried, trial):
            return tried, {ANY_OPERATOR: False}
        if tried.became is Screened.RIGHT:
            return None, {ANY_OPERATOR: True}
    return None, {}


def plain_cases(case: GeneratedCase) -> Iterator[GeneratedCase]:
    """One node of an operator that the case has not, on one of its inputs, in its type and sizes: floats first."""
    model = onnx.load_from_string(case.model)
    present = {node.op_type for node in model.graph.node}
    inputs = [value for value in model.graph.input if value.name in case.inputs]
    for input_value in sorted(inputs, key=lambda value: value.type.tensor_type.elem_type not in FLOATS):
        for operator in _operators(input_value.type.tensor_type.elem_type):
            if operator not in present:
                yield GeneratedCase(
                    _model(model, input_value, operator),
                    {input_value.name: _plain(case.inputs[input_value.name])},
                    tuple({input_value.name: _plain(other[input_value.name])} for other in case.others),
                    case.uses,
                )


def _operators(element: int) -> tuple[str, ...]:
    if element in FLOATS:
        return ("Relu", "Add", "Neg")
    if element in WHOLE:
        return ("Add", "Sub")
    return ("Not", "And") if element == TensorProto.BOOL else ()


def _model(model: Any, value: Any, operator: str) -> bytes:
    answer = onnx.ValueInfoProto()
    answer.CopyFrom(value)
    answer.name = f"{value.name}_plain"
    operands = [value.name] * (1 if operator in ONE_OPERAND else 2)
    graph = helper.make_graph([helper.make_node(operator, operands, [answer.name])], "plain", [value], [answer])
    opset = next(entry.version for entry in model.opset_import if entry.domain == "")
    element = dtype_name(np.dtype(helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)))
    if element not in allowed(operator, opset, 0):  # the newest takes more types
        opset = LATEST
    ir = max(model.ir_version, ir_of(opset))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)
    return bytes(made.SerializeToString(deterministic=True))


def _plain(array: Tensor) -> Tensor:
    """Small numbers of both signs, or from 1 to 5, or truth values in turn."""
    numbers = np.arange(array.size).reshape(array.shape)
    if array.dtype.kind == "b":
        return np.asarray(numbers % 2 == 0)
    return np.asarray((numbers % 5 + 1 if array.dtype.kind in "iu" else numbers % 7 - 2.5).astype(array.dtype))
