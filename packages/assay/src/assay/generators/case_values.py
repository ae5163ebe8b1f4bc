"""A generated case with all its values in float64."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import checker, numpy_helper

from assay.core.constraint import ConstraintCode
from assay.core.dtype import dtype_name, numpy_dtype
from assay.core.note import NoteCode, noted
from assay.errors import Lowering
from assay.generators.schemas import NotMade, schema_at
from assay.models.input_plan.evaluate_shapes import evaluate as evaluate_shapes
from assay.models.input_plan.graph import read_graph
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase
from assay.worker.regions.value_files import evaluate

NOTHING = (ConstraintCode.EMPTY_OUTPUT, ConstraintCode.EMPTY_POOL, ConstraintCode.EMPTY_REDUCTION)
"""What sizes of none come to."""
LARGE = 1e6
"""Beyond this a real value of a case shows nothing of what other values do."""
LARGE_HALF = 6e4
"""The same in half precision, which ends at 65,504."""
SMALL = {"float32": 1e-18, "float16": 1e-3, "bfloat16": 1e-18}
"""Where all numbers of a value are smaller, its type does not hold their squares, which norms and variances take."""


class CaseValues:
    """`wide` are the values that nodes give, once they are evaluated."""

    def __init__(self, case: GeneratedCase) -> None:
        self.case = case
        given = onnx.load_from_string(case.model)
        self.model: Any = as_fed(given, case.inputs)
        self._promised = given.graph.output if self.model is not given else ()
        self.wide: dict[str, Tensor] = {}
        self.outputs = {
            value.name: dtype_name(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)))
            for value in self.model.graph.output
        }
        self.declared = {
            value.name: tuple(int(axis.dim_value) for axis in value.type.tensor_type.shape.dim)
            for value in self.model.graph.output
        }
        opset = next(entry.version for entry in self.model.opset_import if entry.domain == "")
        self._opset = opset
        nodes = self.model.graph.node
        self.operators = tuple(f"{node.op_type}@{schema_at(node.op_type, opset).since_version}" for node in nodes)
        self.attributes = tuple(
            sorted(
                {
                    _class(node.op_type, attribute, schema_at(node.op_type, opset))
                    for node in nodes
                    for attribute in node.attribute
                }
            )
        )
        self.dtypes = tuple(sorted({dtype_name(array.dtype) for array in case.inputs.values()}))

    def is_valid(self) -> bool:
        """Whether onnx's checker takes it, shapes included, and every output has a known one."""
        shapes = [
            value.type.tensor_type.shape
            for value in self.model.graph.output
            if value.type.tensor_type.HasField("shape")
        ]
        if len(shapes) < len(self.outputs) or any(
            not axis.HasField("dim_value") for shape in shapes for axis in shape.dim
        ):
            return False
        try:
            checker.check_model(self.model, full_check=True)
        except Exception:  # noqa: BLE001  the checker's own errors have no common class
            return False
        return True

    def fits(self) -> bool:
        """Whether the shapes that are fed are those that each operator asks for: onnx's inference looks at few of them, and an engine may
        read what is not there. What has no elements is left to the operators."""
        whole = {name: array for name, array in self.case.inputs.items() if array.dtype.kind in "iu"}
        shapes = {name: array.shape for name, array in self.case.inputs.items()}
        unmet = evaluate_shapes(read_graph(self.model), shapes, whole).unmet
        return unmet is None or unmet.constraint.code in NOTHING

    def evaluate(self, *, otherwise: bool = False) -> None:
        """`otherwise`: by the other reading of what the standard leaves open. Raises Lowering where float64 has no code for it."""
        names = [name for node in self.model.graph.node for name in node.output if name]
        try:
            self.wide = evaluate(self.model, self.case.inputs, names, otherwise=otherwise)
        except Lowering:
            raise
        except Exception as error:  # the evaluator meets forms that nobody has tried
            raise Lowering(str(error)) from error
        if any(name not in self.wide for name in self.outputs):
            raise Lowering(noted(NoteCode.OUTPUT_NO_NUMBERS))

    def has_numbers(self, *, empty: bool = False) -> bool:
        """Whether all is finite and of a size in which differences show, and as it is declared; an output of no elements shows none
        (`empty`: its shape)."""
        if not self.is_as_declared():
            return False
        real = [array for array in self.wide.values() if array.dtype.kind == "f"]
        if not all(bool(np.isfinite(array).all()) and float(np.abs(array).max(initial=0.0)) <= LARGE for array in real):
            return False
        if not all(
            self._is_held(name, array) for name, array in self.wide.items() if array.dtype.kind == "f" and array.size
        ):
            return False
        return empty or any(self.wide[name].size for name in self.outputs)

    def _is_held(self, name: str, value: Tensor) -> bool:
        """By its type: neither too large for it, nor so small that nothing is left."""
        most = float(np.abs(value).max())
        if most == 0.0 or max(SMALL.values()) < most < LARGE_HALF:
            return True
        dtype = dtype_name(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(self.types().get(name, 1))))
        return SMALL.get(dtype, 0.0) < most < (LARGE_HALF if dtype == "float16" else LARGE)

    def is_as_declared(self) -> bool:
        """Whether the outputs of a model of free sizes have the axes that it declares. A Squeeze of (1, 3) and of (2, 3) has one axis
        and two: an engine may believe what was declared for the first."""
        shapes = [
            (value.type.tensor_type.shape.dim, self.wide[value.name].shape)
            for value in self._promised
            if value.type.tensor_type.HasField("shape")
        ]
        return all(
            len(axes) == len(sizes)
            and all(
                not axis.HasField("dim_value") or axis.dim_value == size for axis, size in zip(axes, sizes, strict=True)
            )
            for axes, sizes in shapes
        )

    def is_doubtful(self) -> bool:
        """Whether the evaluation gives another shape than onnx's inference: one of the two is wrong, and nobody can be judged by it."""
        return any(self.wide[name].shape != shape for name, shape in self.declared.items())

    def is_doubtful_inside(self) -> bool:
        """The same of any value: an evaluation that goes another way in the middle says nothing of the end."""
        inferred = with_inferred(self.model).graph.value_info
        return any(
            value.name in self.wide
            and value.type.tensor_type.HasField("shape")
            and all(axis.HasField("dim_value") for axis in value.type.tensor_type.shape.dim)
            and self.wide[value.name].shape != tuple(axis.dim_value for axis in value.type.tensor_type.shape.dim)
            for value in inferred
        )

    def expected(self, name: str) -> Tensor:
        """An output in its declared type."""
        return self.wide[name].astype(numpy_dtype(self.outputs[name]))

    def all(self) -> dict[str, Tensor]:
        """Those that are fed and stored, too."""
        stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in self.model.graph.initializer}
        return {**stored, **self.case.inputs, **self.wide}

    def types(self) -> dict[str, int]:
        """onnx's number of the element type of each value whose type can be inferred."""
        graph = onnx.shape_inference.infer_shapes(self.model).graph
        known = {
            value.name: value.type.tensor_type.elem_type for value in (*graph.input, *graph.value_info, *graph.output)
        }
        return known | {tensor.name: tensor.data_type for tensor in graph.initializer}

    def forms(self) -> Iterator[str]:
        """What is covered by it: of each node its operator, type and rank, and each attribute ("Conv@11 .auto_pad=VALID")."""
        known = self.all()
        for node, operator in zip(self.model.graph.node, self.operators, strict=True):
            first = next((known[name] for name in node.input if name in known), None)
            if first is not None:
                yield f"{operator} {dtype_name(first.dtype)} {first.ndim}"
            for attribute in node.attribute:
                attribute_class = _class(node.op_type, attribute, self._schema(node.op_type))
                yield f"{operator} {attribute_class.removeprefix(node.op_type)}"

    def _schema(self, operator: str) -> Any:
        return schema_at(operator, self._opset)


def as_fed(model: Any, inputs: Mapping[str, Tensor]) -> Any:
    """The same model without symbolic dimensions: in the sizes of these inputs, and with the shapes of outputs that follow."""
    if all(axis.HasField("dim_value") for value in model.graph.input for axis in value.type.tensor_type.shape.dim):
        return model
    fed = onnx.ModelProto()
    fed.CopyFrom(model)
    for value in fed.graph.input:
        del value.type.tensor_type.shape.dim[:]
        value.type.tensor_type.shape.dim.extend(
            onnx.TensorShapeProto.Dimension(dim_value=size) for size in inputs[value.name].shape
        )
    for value in fed.graph.output:
        value.type.tensor_type.ClearField("shape")
    del fed.graph.value_info[:]
    return with_inferred(fed)


def with_inferred(model: Any) -> Any:
    """The same model with what onnx infers of its shapes; as it is where onnx raises, which it does of a form that another opset takes."""
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return model


def attributes_of(model: Path) -> tuple[str, ...]:
    """Of a file, as a suspect has them; without those of an operator that the standard does not know."""
    proto = onnx.load(model)
    opset = next((entry.version for entry in proto.opset_import if entry.domain == ""), 0)
    classes = set[str]()
    for node in proto.graph.node:
        try:
            schema = schema_at(node.op_type, opset)
        except NotMade:
            continue
        classes |= {_class(node.op_type, attribute, schema) for attribute in node.attribute}
    return tuple(sorted(classes))


def _class(operator: str, attribute: Any, schema: Any) -> str:
    """Its name; with its value, where that is a word or a flag."""
    name = f"{operator}.{attribute.name}"
    if attribute.type == onnx.AttributeProto.STRING:
        return f"{name}={attribute.s.decode(errors='replace')}"
    known = schema.attributes.get(attribute.name)
    default = known.default_value if known is not None else None
    is_flag = default is not None and default.type == onnx.AttributeProto.INT and default.i in (0, 1)
    if is_flag and attribute.i in (0, 1) and "axis" not in attribute.name:
        return f"{name}={attribute.i}"
    return name
