"""The files that hold weights which lie outside the model file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, Fact, ModelFinding
from assay.core.model_finding_note import model_finding_note
from assay.core.model_part import ModelPart, PartKind
from assay.core.note import Note, NoteCode, noted
from assay.errors import BadModel
from assay.models.examination.external_place import external_place
from assay.models.examination.quoting import format_shape

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto


def external_files(model: ModelProto, path: Path) -> dict[str, Path]:
    """By location, in the order of their names. Raises `BadModel` for the first that lies where it may not."""
    files: dict[str, Path] = {}
    for location, file, problem in _external(model, path):
        if problem:
            raise BadModel(_note(path, problem))
        files[location] = file
    return dict(sorted(files.items()))


def external_problems(model: ModelProto, path: Path) -> dict[str, ModelFinding]:
    """What `external_files` would raise, for every location that is wrong: a finding each, by the locations in their order."""
    problems: dict[str, ModelFinding] = {}
    for location, _, problem in _external(model, path):
        if problem:
            problems.setdefault(location, problem)
    return dict(sorted(problems.items()))


def _external(model: ModelProto, path: Path) -> Iterator[tuple[str, Path, ModelFinding | None]]:
    """Location, file, and what is wrong with it, of each tensor whose data lie elsewhere."""
    from onnx import TensorProto

    for tensor in stored_tensors(model):
        if tensor.data_location == TensorProto.EXTERNAL:
            if min(tensor.dims, default=0) < 0:
                raise BadModel(_note(path, _finding(tensor, "negative-dimension", (format_shape(tensor.dims),))))
            place = external_place(tensor, path)
            yield place.location, place.file, _finding(tensor, place.code, place.values) if place.code else None


def _finding(tensor: TensorProto, code: str, values: tuple[Fact, ...]) -> ModelFinding:
    return ModelFinding(Area.MODEL, code, ModelPart(PartKind.TENSOR, tensor.name), values)


def _note(path: Path, finding: ModelFinding) -> Note:
    return noted(NoteCode.INVALID_GRAPH, file=str(path), finding=model_finding_note(finding))


def stored_tensors(model: ModelProto) -> Iterator[TensorProto]:
    """Every tensor that a model holds, wherever: initializers, constants of nodes, subgraphs, functions, halves of sparse ones."""
    yield from _graph_tensors(model.graph)
    for function in model.functions:
        yield from _node_tensors(function.node)
    for training in model.training_info:
        yield from _graph_tensors(training.initialization)
        yield from _graph_tensors(training.algorithm)


def _graph_tensors(graph: GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _node_tensors(graph.node)


def _node_tensors(nodes: Iterable[NodeProto]) -> Iterator[TensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            yield from _attribute_tensors(attribute)


def _attribute_tensors(attribute: AttributeProto) -> Iterator[TensorProto]:
    if attribute.HasField("t"):
        yield attribute.t
    yield from attribute.tensors
    for sparse in (
        *([attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []),
        *attribute.sparse_tensors,
    ):
        yield from (sparse.values, sparse.indices)
    if attribute.HasField("g"):
        yield from _graph_tensors(attribute.g)
    for graph in attribute.graphs:
        yield from _graph_tensors(graph)
