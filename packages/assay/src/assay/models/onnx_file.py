"""Opening an ONNX file: refused with one sentence, or described. Parses the whole file: for worker processes only."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.core.model import Model, TensorSpec
from assay.core.model_finding import ModelFinding, Severity
from assay.core.model_finding_note import model_finding_note
from assay.core.model_part import ModelPart, PartKind
from assay.core.note import Note, NoteCode, noted
from assay.errors import BadModel
from assay.models.examination.parse import read_model
from assay.models.external_data import external_files
from assay.models.files import file_digest, unreadable_note

if TYPE_CHECKING:
    from onnx import ModelProto, TypeProto, ValueInfoProto

    from assay.models.examination.steps import Examination

_MOST_CONTRADICTIONS = 5


def open_model(path: Path) -> Model:
    """The model's digest, versions and signature, and what it declares that its nodes do not give.

    Raises `InvalidGraph` for a model that no backend could be asked about, with what the examination found. An IR or opset that
    only a backend lacks is that backend's outcome, and operators of foreign domains are taken as they are.
    """
    from assay.models.examination.steps import examine

    look = examine(path)
    if wrong := look.of(Severity.INVALID):
        raise InvalidGraph(_refusal(path, wrong), wrong)
    assert look.model is not None
    model_findings = look.of(Severity.CONTRADICTION)
    model = _described(look.model, path, external_files(look.model, path))
    return msgspec.structs.replace(
        model, outputs=_as_given(look, model_findings), contradictions=tuple(model_findings[:_MOST_CONTRADICTIONS])
    )


def _as_given(look: Examination, contradictions: Sequence[ModelFinding]) -> tuple[TensorSpec, ...]:
    """The outputs as their nodes give them, where that is not what is declared, or nothing is."""
    assert look.model is not None
    about = {finding.about for finding in contradictions}
    inferred = {value.name: value for value in look.inferred.graph.output} if look.inferred is not None else {}
    return tuple(
        _spec(
            inferred.get(value.name, value)
            if ModelPart(PartKind.OUTPUT, value.name) in about or value.type.WhichOneof("value") is None
            else value
        )
        for value in look.model.graph.output
    )


def _refusal(path: Path, findings: Sequence[ModelFinding]) -> Note:
    """With the first of them, and how many there are beside it."""
    first, more = findings[0], len(findings) - 1
    if first.about.kind is PartKind.FILE:
        return unreadable_note(path, first)
    finding = model_finding_note(first)
    if more > 1:
        return noted(NoteCode.INVALID_GRAPH_AND_MORE, file=str(path), finding=finding, more=more)
    return noted(NoteCode.INVALID_GRAPH_AND_ONE if more else NoteCode.INVALID_GRAPH, file=str(path), finding=finding)


class InvalidGraph(BadModel):
    """`findings` are what the sentence is made of."""

    def __init__(self, text: str | Note, findings: Sequence[ModelFinding] = ()) -> None:
        super().__init__(text)
        self.findings = tuple(findings)


def describe(path: Path) -> Model:
    """What the file says of itself, its validity not looked at. Raises `BadModel` for what is not ONNX at all."""
    proto = read_model(path)
    return _described(proto, path, external_files(proto, path))


def _described(proto: ModelProto, path: Path, files: dict[str, Path]) -> Model:
    constants = {tensor.name for tensor in proto.graph.initializer}
    constants |= {sparse.values.name for sparse in proto.graph.sparse_initializer}
    digests = _digests(path, files)
    return Model(
        name=path.stem,
        source=str(path),
        digest=_joined(digests, files),
        inputs=tuple(_spec(value) for value in proto.graph.input if value.name not in constants),
        outputs=tuple(_spec(value) for value in proto.graph.output),
        size_bytes=sum(file.stat().st_size for file in (path, *files.values())),
        ir_version=proto.ir_version,
        opsets={entry.domain: entry.version for entry in proto.opset_import},
        nodes=len(proto.graph.node),
        files={str(file): digest for file, digest in digests.items()} if files else {},
    )


def model_digest(path: Path) -> str:
    """The sha256 of the model file; with external data, of the list of the digests of the model and of each external
    file with its location, in the order of locations. Raises `BadModel` like `open_model` for the file and its data."""
    files = external_files(read_model(path), path)
    return _joined(_digests(path, files), files)


def _digests(path: Path, files: dict[str, Path]) -> dict[Path, str]:
    """The model's own file comes first."""
    return {file: file_digest(file) for file in (path, *files.values())}


def _joined(digests: dict[Path, str], files: dict[str, Path]) -> str:
    own = next(iter(digests.values()))
    if not files:
        return own
    lines = [own, *(f"{digests[file]} {location}" for location, file in files.items())]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _spec(value: ValueInfoProto) -> TensorSpec:
    kind = value.type.WhichOneof("value") or "undefined"
    if kind != "tensor_type":
        return TensorSpec(value.name, kind.removesuffix("_type"), (), _element(value.type))
    return TensorSpec(name=value.name, dtype=_dtype(value.type.tensor_type.elem_type), shape=_shape(value.type))


def _element(kind: TypeProto) -> str:
    """Of the tensors inside, however deep; "" for maps, whose numbers are not arrays."""
    inner = kind.WhichOneof("value")
    if inner in ("sequence_type", "optional_type"):
        return _element(getattr(kind, inner).elem_type)
    return _dtype(kind.tensor_type.elem_type) if inner == "tensor_type" else ""


def _dtype(element: int) -> str:
    from onnx import TensorProto
    from onnx.helper import tensor_dtype_to_np_dtype

    if element == TensorProto.STRING:
        return "string"
    try:
        return tensor_dtype_to_np_dtype(element).name
    except KeyError:
        return "undefined"


def _shape(kind: TypeProto) -> tuple[int | str, ...]:
    """Numbers, symbols, "?" for nothing known; `("...",)` where not even the rank is known."""
    if not kind.tensor_type.HasField("shape"):
        return ("...",)
    return tuple(
        # Some exporters write -1 where they mean "any".
        dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else dim.dim_param or "?"
        for dim in kind.tensor_type.shape.dim
    )
