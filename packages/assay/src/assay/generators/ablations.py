"""What makes a wrong case right: its numbers, its constants, its types or its opset replaced by plain ones, one at a time. Two cases that
the same replacement makes right have one cause as far as anybody can tell; that of one which leaves the other wrong tells them apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from assay.core.dtype import dtype_name
from assay.core.screening import AS_KIN, FED, FILLED, FULL, INPUT, NOT_TYPE
from assay.generators.narrowing import Run, Trial, fails_alike, with_inferred_shapes
from assay.generators.operators import forms
from assay.generators.other_operators import in_place_of, with_one_scale
from assay.generators.schemas import LATEST, NotMade, schema_at
from assay.generators.stated_defaults import with_defaults
from assay.generators.untied import untied
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase

PLAIN: dict[int, int] = {
    TensorProto.FLOAT16: TensorProto.FLOAT,
    TensorProto.BFLOAT16: TensorProto.FLOAT,
    TensorProto.DOUBLE: TensorProto.FLOAT,
    TensorProto.INT64: TensorProto.INT32,
    TensorProto.UINT64: TensorProto.INT32,
    TensorProto.UINT32: TensorProto.INT32,
    TensorProto.INT16: TensorProto.INT8,
    TensorProto.UINT16: TensorProto.UINT8,
    TensorProto.INT4: TensorProto.INT8,
    TensorProto.UINT4: TensorProto.UINT8,
    TensorProto.INT8: TensorProto.UINT8,
}
"""By an element type the one that every engine has more use of."""
WHOLE = {*PLAIN, TensorProto.UINT8, TensorProto.INT32} - {TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE}
WIDE = (TensorProto.FLOAT, TensorProto.INT32, TensorProto.BOOL)
FLOATS = "floats"
"""Where all numbers of a case are whole: float32 in their place."""
TYPED = ("to", "dtype", "output_dtype")
MOST_KIN = 10
"""Where more operators are made alike, their being alike says little."""


def ablate(trial: Trial, run: Run) -> dict[str, bool]:
    """By the name of what was replaced ("inputs", "constants", "stored", "opset", "type int16", "floats", "as ReduceSum") whether it is
    right then. What leads to no valid case, or to one that nobody can judge, is not named."""
    right_forms = _as_it_is(trial)
    for name, case in ablations(trial.case):
        if name in right_forms:  # another form of the same, for cases in which the first says nothing
            continue
        tried = run(dataclasses.replace(case, uses=trial.case.uses))
        if tried.is_right or fails_alike(tried, trial):
            right_forms[name] = tried.is_right
    return right_forms


def _as_it_is(trial: Trial) -> dict[str, bool]:
    """What it does not have, and is wrong without."""
    is_fed = not trial.values.model.graph.initializer
    is_full = all(value.size for value in trial.values.all().values())
    return dict.fromkeys([*([FED] if is_fed else []), *([FULL] if is_full else [])], False)


def ablations(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """Those that change something."""
    fed = case.inputs
    places = _places(fed.values())
    inputs = {name: _distinct(array, place, len(fed)) for place, (name, array) in zip(places, fed.items(), strict=True)}
    if any(array is not fed[name] for name, array in inputs.items()):
        yield "inputs", dataclasses.replace(case, inputs=inputs)
    model = onnx.load_from_string(case.model)
    floats = [tensor for tensor in model.graph.initializer if tensor.data_type == TensorProto.FLOAT]
    if floats:
        for place, tensor in enumerate(floats):
            plain = _distinct(numpy_helper.to_array(tensor), place, len(floats))
            tensor.CopyFrom(numpy_helper.from_array(plain, tensor.name))
        yield "constants", dataclasses.replace(case, model=_bytes(model))
    if model.graph.initializer:
        yield "stored", _fed(case)
    yield from filled(case)
    yield from untied(case)
    yield from without_optional(case)
    yield from with_defaults(case)
    yield from as_kin(case)
    yield from on_a_grid(case)
    yield from in_plain_types(case)
    if {*_elements(model)} <= WHOLE:
        real = case
        for element in {*_elements(model)}:
            real = of_type(real, element, TensorProto.FLOAT)
        yield FLOATS, real
    model = onnx.load_from_string(case.model)
    for entry in model.opset_import:
        if entry.domain == "" and entry.version < LATEST:
            entry.version = LATEST
            yield "opset", dataclasses.replace(case, model=_bytes(model))


def _places(arrays: Iterable[Tensor]) -> list[int]:
    """How many of the same type are before each."""
    types = [array.dtype for array in arrays]
    return [types[:at].count(dtype) for at, dtype in enumerate(types)]


def _distinct(array: Tensor, place: int = 0, of: int = 1) -> Tensor:
    """From 0.5 to 1.5 and no two alike, or from 1 on where their type holds so many whole numbers; else as they are, as truth values. The
    one at that `place` of so many has other numbers than those before: what takes one for another is wrong still."""
    if array.dtype.kind == "f":
        order = (np.arange(array.size) * 7 % max(array.size, 1)).reshape(array.shape)
        return (0.5 + (order + place / of) / max(array.size, 1)).astype(array.dtype)
    if array.dtype.kind in "iu" and 1 < array.size <= np.iinfo(array.dtype).max - place:
        return np.asarray(np.arange(1 + place, array.size + 1 + place).reshape(array.shape).astype(array.dtype))
    return array


def _fed(case: GeneratedCase) -> GeneratedCase:
    """Constants as inputs."""
    model = onnx.load_from_string(case.model)
    fed = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    model.graph.input.extend(
        helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
        for tensor in model.graph.initializer
    )
    del model.graph.initializer[:]
    inputs, *others = ({**given, **fed} for given in (case.inputs, *case.others))
    return dataclasses.replace(case, model=_bytes(model), inputs=inputs, others=tuple(others))


def filled(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """Inputs of no elements with one along each axis that has none."""
    inputs = {
        name: np.ones([max(size, 1) for size in array.shape], array.dtype) if not array.size else array
        for name, array in case.inputs.items()
    }
    if all(array.size for array in case.inputs.values()):
        return
    model = onnx.load_from_string(case.model)
    for value in model.graph.input:
        for axis in value.type.tensor_type.shape.dim:
            if axis.HasField("dim_value"):
                axis.dim_value = max(axis.dim_value, 1)
    del model.graph.value_info[:]
    yield FILLED, dataclasses.replace(case, model=_bytes(with_inferred_shapes(model)), inputs=inputs)


def without_optional(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """Each optional input of a node left out ("LSTM input P"); with the sizes that the case declares, then with those that follow."""
    model = onnx.load_from_string(case.model)
    opset = next(entry.version for entry in model.opset_import if entry.domain == "")
    for number, node in enumerate(model.graph.node):
        known = schema_at(node.op_type, opset).inputs
        for place, name in enumerate(node.input):
            if name and place < len(known) and known[place].option is onnx.defs.OpSchema.FormalParameterOption.Optional:
                without = onnx.load_from_string(case.model)
                kept = ["" if at == place else input_name for at, input_name in enumerate(node.input)]
                while kept and not kept[-1]:
                    kept.pop()
                del without.graph.node[number].input[:]
                without.graph.node[number].input.extend(kept)
                del without.graph.value_info[:]
                name = f"{node.op_type}{INPUT}{known[place].name}"
                yield name, dataclasses.replace(case, model=_bytes(without))
                yield name, dataclasses.replace(case, model=_bytes(with_inferred_shapes(without)))


def as_kin(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """A node that stands alone as another operator that is made alike ("as ReduceSum"): where that is wrong too, the operator does not
    matter."""
    model = onnx.load_from_string(case.model)
    if len(model.graph.node) != 1:
        return
    opset = next(entry.version for entry in model.opset_import if entry.domain == "")
    operator = model.graph.node[0].op_type
    kin = [name for name, form in forms().items() if form is forms().get(operator) and name != operator]
    for name in kin if len(kin) <= MOST_KIN else ():
        try:
            schema_at(name, opset)
        except NotMade:
            continue
        other = onnx.load_from_string(case.model)
        other.graph.node[0].op_type = name
        yield f"{AS_KIN}{name}", dataclasses.replace(case, model=_bytes(other))


def on_a_grid(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """Where quantizers have a scale for each row or channel: one for all, and other operators behind them."""
    scaled = [*with_one_scale(case)]
    yield from scaled
    if scaled:
        yield from in_place_of(case)


def in_plain_types(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """Each odd type alone replaced by a plain one ("type int16")."""
    for element in sorted({*_elements(onnx.load_from_string(case.model))} & PLAIN.keys()):
        yield f"type {_name(element)}", of_type(case, element, PLAIN[element])


def of_wide_type(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """A node alone whose operands have one type: int32 or float32 in its place ("not 2 operands of uint8"). The number of operands is part
    of the name: an engine has code of its own for two."""
    model = onnx.load_from_string(case.model)
    types = {*_elements(model)}
    if len(model.graph.node) != 1 or len(types) != 1 or (element := types.pop()) in WIDE:
        return
    whole = element in WHOLE
    name = f"{NOT_TYPE}{len(model.graph.node[0].input)} operands of {_name(element)}"
    yield name, of_type(case, element, TensorProto.INT32 if whole else TensorProto.FLOAT)


def of_type(case: GeneratedCase, element: int, plain: int) -> GeneratedCase:
    """Values of that type in a plain one."""
    model = onnx.load_from_string(case.model)
    dtype = helper.tensor_dtype_to_np_dtype(plain)
    for value in (*model.graph.input, *model.graph.output):
        if value.type.tensor_type.elem_type == element:
            value.type.tensor_type.elem_type = plain
    del model.graph.value_info[:]
    for tensor in model.graph.initializer:
        if tensor.data_type == element:
            tensor.CopyFrom(numpy_helper.from_array(_within(numpy_helper.to_array(tensor), dtype), tensor.name))
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name in TYPED and attribute.i == element:
                attribute.i = plain
    name = _name(element)
    inputs = {
        at: _within(array, dtype) if dtype_name(array.dtype) == name else array for at, array in case.inputs.items()
    }
    return dataclasses.replace(case, model=_bytes(model), inputs=inputs)


def _within(array: Tensor, dtype: Any) -> Tensor:
    """In that type, at its ends where it is beyond them."""
    if np.dtype(dtype).kind in "iu" and array.dtype.kind != "f":
        ends = np.iinfo(dtype)
        return np.asarray(np.clip(array.astype(np.int64), ends.min, ends.max).astype(dtype))
    return np.asarray(array.astype(dtype))


def _elements(model: Any) -> Iterator[int]:
    for value in (*model.graph.input, *model.graph.output):
        yield value.type.tensor_type.elem_type
    for tensor in model.graph.initializer:
        yield tensor.data_type
    for node in model.graph.node:
        yield from (attribute.i for attribute in node.attribute if attribute.name in TYPED)


def _name(element: int) -> str:
    return dtype_name(np.dtype(helper.tensor_dtype_to_np_dtype(element)))


def _bytes(model: Any) -> bytes:
    return bytes(model.SerializeToString(deterministic=True))
