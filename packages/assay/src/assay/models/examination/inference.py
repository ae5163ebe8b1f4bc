"""What onnx infers of a model, and where that contradicts what the model declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import ModelPart, PartKind
from assay.models.examination.defaults import tell_defaults
from assay.models.examination.node_schema import schema_of
from assay.models.examination.quoting import flat, format_shape, shown
from assay.models.examination.types import shape_of
from assay.models.examination.walk import domain_of, node_part, subgraphs
from assay.numerics.onnx_elements import bits_of, element_name

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto

_SMALL = 1 << 16
"""Bytes of a tensor that inference may want to read: shapes, axes, indices."""
_ERROR = re.compile(r"\(op_type:(?P<op>[^,)]*)(?:, node name: (?P<node>.*?))?\): (?P<text>.*?)(?=\(op_type:|\Z)", re.S)
_DECLARED = re.compile(r"[Ii]nferred (shape|elem type|type).*(existing|differ)")
_TAG = re.compile(r"\[\w+Error\]")
_LONGEST = 600
_MOST_OPERANDS = 6
_OF_C = (ValueError, IndexError, RuntimeError)
"""What C++ raises (`std::invalid_argument` and the like) comes out of onnx 1.23 as these where a node has what no node may have: a type of
that number, fewer outputs than its graph. No sound model was seen to do that."""
_PROPAGATED = re.compile(r"Invalid rank for \w+ broadcasting")
"""Where it follows values, onnx 1.23 takes a matrix [640, 1] for a vector of 640, which goes with no other length. What truly does not
broadcast has an error of its own."""


@dataclass(frozen=True)
class Inferred:
    """`model` has no local function, types wherever they can be known, and no large tensor."""

    model: ModelProto
    findings: tuple[ModelFinding, ...]


def expanded(model: ModelProto, folder: Path) -> ModelProto:
    """A copy with all calls of local functions expanded, and defaults told where onnx forgets them. Its large tensors are elsewhere,
    and its small external ones are inside: what inference needs."""
    from onnx import inliner

    small = _slim_copy(model, folder)
    whole = inliner.inline_local_functions(small) if small.functions else small
    tell_defaults(whole)
    return whole


def infer(model: ModelProto, *, propagate: bool) -> Inferred:
    """Strictly, without what the model declares of its values, and then compared with that.

    `propagate` follows the values of shapes and indices, too. Nothing bounds that (onnx 1.23): a vector that a model doubles
    forty times is doubled, so that whoever asks for it has looked at the sizes before.
    """
    from onnx import shape_inference

    bare = _without_declarations(model)
    names = _numbered(bare)
    findings: list[ModelFinding] = []
    try:
        inferred = shape_inference.infer_shapes(bare, check_type=True, strict_mode=True, data_prop=propagate)
    except (shape_inference.InferenceError, *_OF_C) as error:
        inferred = leniently(bare)
        findings += _errors(str(error), names, inferred.graph)
    for node, (name, _) in zip(_nodes(inferred.graph), names, strict=True):
        node.name = name
    findings += _contradictions(model.graph, inferred.graph)
    return Inferred(inferred, tuple(findings))


def leniently(model: ModelProto) -> ModelProto:
    """As far as inference comes; some errors end it even so."""
    from onnx import shape_inference

    try:
        return shape_inference.infer_shapes(model)
    except (shape_inference.InferenceError, *_OF_C):
        return model


def smallest(model: ModelProto) -> ModelProto:
    """The same with every free dimension of its inputs at one, inferred as far as that goes: what it needs at any size
    that it is given. A model that does not take that size has shapes here that mean nothing, and none that is too large."""
    small = _without_declarations(model)
    for value in small.graph.input:
        for dimension in value.type.tensor_type.shape.dim:
            if not dimension.HasField("dim_value"):
                dimension.dim_value = 1
    return leniently(small)


def _numbered(model: ModelProto) -> list[tuple[str, ModelPart]]:
    """Every node's name becomes its number: errors of inference name their node, and many nodes have no name. What each was called,
    and where it is."""
    names: list[tuple[str, ModelPart]] = []
    for graph, where in _graphs(model.graph):
        for index, node in enumerate(graph.node):
            names.append((node.name, node_part(node, index, where)))
            node.name = str(len(names) - 1)
    return names


def _errors(text: str, names: Sequence[tuple[str, ModelPart]], graph: GraphProto) -> Iterator[ModelFinding]:
    """The errors of one inference: of nodes, or of what the graph declares."""
    matches = list(_ERROR.finditer(text))
    for match in matches:
        sentence = flat(_TAG.sub("", match["text"]))
        if sentence in ("", "Inference error(s):") or _PROPAGATED.match(sentence):
            continue  # the node that the next one is in
        number = (match["node"] or "").strip()
        known = number.isdigit() and int(number) < len(names)
        about = names[int(number)][1] if known else ModelPart(PartKind.NODE, operator=match["op"])
        yield _error(sentence, about, _operands(graph, number) if known else ())
    if not matches:
        yield _error(flat(_TAG.sub("", text)), ModelPart(PartKind.GRAPH), ())


def _error(sentence: str, about: ModelPart, operands: Iterable[str]) -> ModelFinding:
    sentence = sentence[:_LONGEST]
    if _DECLARED.search(sentence):
        return ModelFinding(Area.GRAPH, "declared", about, (sentence,), Severity.CONTRADICTION)
    return ModelFinding(Area.NODE, "inference", about, (sentence, *operands))


def _operands(graph: GraphProto, number: str) -> Iterator[str]:
    """What the node is given, as far as it is known: 'x' float32 [2, 3]."""
    types: dict[str, TypeProto] = {}
    for inner, _ in _graphs(graph):
        types.update({value.name: value.type for value in (*inner.input, *inner.value_info, *inner.output)})
        constants = {tensor.name: tensor for tensor in inner.initializer}
        node = next((candidate for candidate in inner.node if candidate.name == number), None)
        if node is not None:
            names = [name for name in node.input if name]
            yield from (
                f"{shown(name)} {_type_text(name, types, constants)}".strip() for name in names[:_MOST_OPERANDS]
            )
            return


def _type_text(name: str, types: Mapping[str, TypeProto], constants: Mapping[str, TensorProto]) -> str:
    if name in constants:
        return f"{element_name(constants[name].data_type)} {format_shape(constants[name].dims)}"
    kind = types.get(name)
    if kind is None or kind.WhichOneof("value") != "tensor_type":
        return ""
    shape = shape_of(kind)
    return f"{element_name(kind.tensor_type.elem_type)} {'' if shape is None else format_shape(shape)}".strip()


def _without_declarations(model: ModelProto) -> ModelProto:
    """The same without the types of outputs and values, but for those that only a declaration can tell."""
    from onnx import ModelProto as Model

    bare = Model()
    bare.CopyFrom(model)
    opsets = {domain_of(entry.domain): entry.version for entry in model.opset_import}
    known = {name for node in bare.graph.node if schema_of(node, opsets) is not None for name in node.output}
    kept = [value for value in bare.graph.value_info if value.name not in known]
    del bare.graph.value_info[:]
    bare.graph.value_info.extend(kept)
    for value in bare.graph.output:
        if value.name in known:
            value.ClearField("type")
    return bare


def _contradictions(declared: GraphProto, inferred: GraphProto) -> Iterator[ModelFinding]:
    types = {value.name: value for value in (*inferred.value_info, *inferred.output, *declared.input)}
    for kind, values in ((PartKind.OUTPUT, declared.output), (PartKind.VALUE, declared.value_info)):
        for value in values:
            if value.name in types:
                yield from contradiction(ModelPart(kind, value.name), value, types[value.name])


def contradiction(about: ModelPart, declared: ValueInfoProto, inferred: ValueInfoProto) -> Iterator[ModelFinding]:
    """Two types of one value that cannot both be right."""
    kinds = declared.type.WhichOneof("value"), inferred.type.WhichOneof("value")
    if None in kinds:
        return
    if kinds[0] != kinds[1]:
        yield _declared("declared-kind", about, *(str(kind).removesuffix("_type") for kind in kinds))
    elif kinds[0] == "tensor_type":
        ours, theirs = (element_name(value_info.type.tensor_type.elem_type) for value_info in (declared, inferred))
        if ours and theirs and ours != theirs:
            yield _declared("declared-type", about, ours, theirs)
        yield from _shapes(about, declared, inferred)


def _shapes(about: ModelPart, declared: ValueInfoProto, inferred: ValueInfoProto) -> Iterator[ModelFinding]:
    declared_shape, inferred_shape = shape_of(declared.type), shape_of(inferred.type)
    if declared_shape is None or inferred_shape is None:
        return
    if len(declared_shape) != len(inferred_shape) or any(
        isinstance(size, int) and isinstance(other, int) and size != other and min(size, other) >= 0
        for size, other in zip(declared_shape, inferred_shape, strict=True)
    ):
        yield _declared("declared-shape", about, format_shape(declared_shape), format_shape(inferred_shape))


def _declared(code: str, about: ModelPart, *values: str) -> ModelFinding:
    return ModelFinding(Area.GRAPH, code, about, values, Severity.CONTRADICTION)


def _slim_copy(model: ModelProto, folder: Path) -> ModelProto:
    """Graph by graph: large tensors are never copied."""
    from onnx import ModelProto as Model

    # Before IR version 4, inference knows no initializer that is no input.
    copy = Model(ir_version=max(model.ir_version, 4), opset_import=model.opset_import, functions=model.functions)
    graph = copy.graph
    graph.name = model.graph.name
    for field in ("node", "input", "output", "value_info", "sparse_initializer"):
        getattr(graph, field).extend(getattr(model.graph, field))
    for tensor in model.graph.initializer:
        graph.initializer.append(_slim(tensor, folder))
    for inner, _ in _graphs(graph):
        if inner is not graph:
            for tensor in inner.initializer:
                tensor.CopyFrom(_slim(tensor, folder))
        for sparse in inner.sparse_initializer:  # to the nodes, a dense tensor; inference knows only sparse ones
            inner.initializer.append(_elsewhere(sparse.values, sparse.dims))
        del inner.sparse_initializer[:]
        for value in (*inner.input, *inner.output, *inner.value_info):
            for dimension in value.type.tensor_type.shape.dim:
                if dimension.dim_value < 0:
                    dimension.ClearField("dim_value")  # some exporters write -1 where they mean "any"
    return copy


def _slim(tensor: TensorProto, folder: Path) -> TensorProto:
    from onnx import TensorProto as Definition

    size = (prod(tensor.dims) * bits_of(tensor.data_type) + 7) // 8
    if tensor.data_location == Definition.EXTERNAL:
        if not 0 < size <= _SMALL:
            return tensor
        entries = {entry.key: entry.value for entry in tensor.external_data}
        with (folder / entries["location"]).open("rb") as file:
            file.seek(int(entries.get("offset", "0")))
            data = file.read(size)
        return Definition(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims, raw_data=data)
    if size <= _SMALL:
        return tensor
    return _elsewhere(tensor, tensor.dims)


def _elsewhere(tensor: TensorProto, dims: Iterable[int]) -> TensorProto:
    """Its name and type with these sizes, without data."""
    from onnx import TensorProto as Definition

    copy = Definition(name=tensor.name, data_type=tensor.data_type, dims=dims)
    copy.data_location = Definition.EXTERNAL
    copy.external_data.add(key="location", value="elsewhere")
    return copy


def _graphs(graph: GraphProto, where: ModelPart | None = None) -> Iterator[tuple[GraphProto, ModelPart | None]]:
    """The graph and all inside it, each with the part that holds it."""
    yield graph, where
    for index, node in enumerate(graph.node):
        for attribute, inner in subgraphs(node):
            yield from _graphs(inner, ModelPart(PartKind.GRAPH, attribute, inside=node_part(node, index, where)))


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for inner, _ in _graphs(graph):
        yield from inner.node
