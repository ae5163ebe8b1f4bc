"""What onnx infers of a model, and where that contradicts what the model declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay_zoo.compliance.checker import inference_findings
from assay_zoo.compliance.defaults import tell_defaults
from assay_zoo.compliance.element import bits_of, element_name
from assay_zoo.compliance.finding import Area, Finding, shown
from assay_zoo.compliance.nodes import schema_of
from assay_zoo.compliance.types import format_shape, shape_of
from assay_zoo.compliance.walk import domain_of, subgraphs

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto

_SMALL = 1 << 16
"""Bytes of a tensor that inference may want to read: shapes, axes, indices."""


@dataclass(frozen=True)
class Inferred:
    """`model` has no local function, types wherever they can be known, and no large tensor."""

    model: ModelProto
    findings: tuple[Finding, ...]


def slim(model: ModelProto, folder: Path) -> ModelProto:
    """A copy whose large tensors are elsewhere, and whose small external ones are inside: what inference needs."""
    from onnx import ModelProto as Model

    copy = Model()
    copy.CopyFrom(model)
    for graph in _graphs(copy.graph):
        for tensor in graph.initializer:
            _slim(tensor, folder)
    return copy


def expanded(model: ModelProto, folder: Path) -> ModelProto:
    """A `slim` copy with all calls of local functions expanded, and defaults told where onnx forgets them."""
    from onnx import inliner

    small = slim(model, folder)
    whole = inliner.inline_local_functions(small) if small.functions else small
    tell_defaults(whole)
    return whole


def infer(model: ModelProto, *, propagate: bool) -> Inferred:
    """Strictly, without what the model declares of its values, and then compared with that.

    `propagate` follows the values of shapes and indices, too. On a model that doubles a vector forty times that never
    ends (onnx 1.23), so that bounds are looked at before.
    """
    from onnx import shape_inference

    bare = _without_declarations(model)
    findings: list[Finding] = []
    try:
        inferred = shape_inference.infer_shapes(bare, check_type=True, strict_mode=True, data_prop=propagate)
    except shape_inference.InferenceError as error:
        findings += inference_findings(str(error))
        inferred = _leniently(bare)
    findings += _contradictions(model.graph, inferred.graph)
    if propagate and not findings:
        try:
            shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        except shape_inference.InferenceError as error:
            findings += inference_findings(str(error))
    return Inferred(inferred, tuple(findings))


def least(model: ModelProto) -> ModelProto:
    """The same with every free dimension of its inputs at one, inferred as far as that goes: what it needs at any size
    that it is given. A model that does not take that size has shapes here that mean nothing, and none that is too large."""
    small = _without_declarations(model)
    for value in small.graph.input:
        for dimension in value.type.tensor_type.shape.dim:
            if not dimension.HasField("dim_value"):
                dimension.dim_value = 1
    return _leniently(small)


def _leniently(model: ModelProto) -> ModelProto:
    """As far as inference comes; some errors end it even so."""
    from onnx import shape_inference

    try:
        return shape_inference.infer_shapes(model)
    except shape_inference.InferenceError:
        return model


def _without_declarations(model: ModelProto) -> ModelProto:
    """The same without the types of outputs and values, but for those that only a declaration can tell."""
    from onnx import ModelProto as Model

    bare = Model()
    bare.CopyFrom(model)
    opsets = {domain_of(one.domain): one.version for one in model.opset_import}
    known = {name for node in bare.graph.node if schema_of(node, opsets) is not None for name in node.output}
    kept = [value for value in bare.graph.value_info if value.name not in known]
    del bare.graph.value_info[:]
    bare.graph.value_info.extend(kept)
    for value in bare.graph.output:
        if value.name in known:
            value.ClearField("type")
    return bare


def _contradictions(declared: GraphProto, inferred: GraphProto) -> Iterator[Finding]:
    types = {value.name: value for value in (*inferred.value_info, *inferred.output, *declared.input)}
    for role, values in (("output", declared.output), ("value", declared.value_info)):
        for value in values:
            if value.name in types:
                yield from contradiction(f"{role} {shown(value.name)}", value, types[value.name])


def contradiction(what: str, declared: ValueInfoProto, inferred: ValueInfoProto) -> Iterator[Finding]:
    """Two types of one value that cannot both be right."""
    kinds = declared.type.WhichOneof("value"), inferred.type.WhichOneof("value")
    if None in kinds:
        return
    if kinds[0] != kinds[1]:
        said, found = (str(kind).removesuffix("_type") for kind in kinds)
        yield _declared(f"{what} is declared to be a {said}, and is a {found}; correct the declaration")
    elif kinds[0] == "tensor_type":
        ours, theirs = (element_name(one.type.tensor_type.elem_type) for one in (declared, inferred))
        if ours and theirs and ours != theirs:
            yield _declared(f"{what} is declared {ours}, and is computed as {theirs}; correct the declaration")
        yield from _shapes(what, declared, inferred)


def _shapes(what: str, declared: ValueInfoProto, inferred: ValueInfoProto) -> Iterator[Finding]:
    said, found = shape_of(declared.type), shape_of(inferred.type)
    if said is None or found is None:
        return
    clash = len(said) != len(found) or any(
        isinstance(one, int) and isinstance(other, int) and one != other for one, other in zip(said, found, strict=True)
    )
    if clash:
        yield _declared(
            f"{what} is declared with shape {format_shape(said)}, and has {format_shape(found)}; correct the declaration"
        )


def _declared(sentence: str) -> Finding:
    return Finding(Area.GRAPH, "declared", sentence)


def _slim(tensor: TensorProto, folder: Path) -> None:
    from onnx import TensorProto as Definition
    from onnx.external_data_helper import load_external_data_for_tensor

    size = bits_of(tensor.data_type) // 8
    for count in tensor.dims:
        size *= count
    if tensor.data_location == Definition.EXTERNAL:
        if 0 < size <= _SMALL:
            load_external_data_for_tensor(tensor, str(folder))
            tensor.data_location = Definition.DEFAULT
            del tensor.external_data[:]
    elif size > _SMALL:
        for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data"):
            tensor.ClearField(field)
        tensor.data_location = Definition.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "elsewhere"


def _graphs(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for _, inner in subgraphs(node):
            yield from _graphs(inner)
