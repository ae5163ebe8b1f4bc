"""Opening an ONNX file: refused with one sentence, or described. Parses the whole file: for worker processes only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.core.model import Model, TensorSpec
from assay.errors import BadModel
from assay.models.external_data import external_files
from assay.models.files import check_model_file, file_digest
from assay.models.onnx_graph import graph_problems
from assay.models.onnx_shapes import contradictions, shape_problems

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TypeProto, ValueInfoProto

_LARGEST_PROTOBUF = 2**31 - 1


def open_model(path: Path) -> Model:
    """The model's digest, versions and signature.

    Raises `BadModel` with one sentence (what, where, what to do) for a file that no backend could be asked about: not
    ONNX, newer than the installed `onnx` package knows, broken or escaping external data, values undefined, defined
    twice or out of order, refused by `onnx.checker`, or outputs of other shapes than it declares. An IR or opset that
    only a backend lacks is that backend's outcome, and operators of foreign domains are taken as they are.
    """
    proto = _parse(path)
    try:
        return _checked(proto, path)
    except UnicodeDecodeError as error:
        raise BadModel(
            f"{path} holds a name that is not UTF-8 ({error.reason}); export or copy the model again"
        ) from None


def _checked(proto: ModelProto, path: Path) -> Model:
    _check_versions(proto, path)
    files = external_files(proto, path)
    if not proto.graph.output:
        raise BadModel(f"{path} has no output: there is nothing to compare; export the model with its outputs")
    for problem in graph_problems(proto.graph):
        raise BadModel(f"{path} {problem}")
    _check_with_onnx(proto, path)
    for problem in shape_problems(proto):
        raise BadModel(f"{path} {problem}")
    return msgspec.structs.replace(_described(proto, path, files), contradictions=tuple(contradictions(proto)))


def describe(path: Path) -> Model:
    """What the file says of itself, its validity not looked at. Raises `BadModel` for what is not ONNX at all."""
    proto = _parse(path)
    return _described(proto, path, external_files(proto, path))


def _described(proto: ModelProto, path: Path, files: dict[str, Path]) -> Model:
    given = {tensor.name for tensor in proto.graph.initializer}
    given |= {sparse.values.name for sparse in proto.graph.sparse_initializer}
    return Model(
        name=path.stem,
        source=str(path),
        digest=_digest(path, files),
        inputs=tuple(_spec(value) for value in proto.graph.input if value.name not in given),
        outputs=tuple(_spec(value) for value in proto.graph.output),
        size_bytes=sum(file.stat().st_size for file in (path, *files.values())),
        ir_version=proto.ir_version,
        opsets={entry.domain: entry.version for entry in proto.opset_import},
        nodes=len(proto.graph.node),
    )


def model_digest(path: Path) -> str:
    """The sha256 of the model file; with external data, of the list of the digests of the model and of each external
    file with its location, in the order of locations. Raises `BadModel` like `open_model` for the file and its data."""
    return _digest(path, external_files(_parse(path), path))


def _digest(path: Path, files: dict[str, Path]) -> str:
    digest = file_digest(path)
    if not files:
        return digest
    lines = [digest, *(f"{file_digest(file)} {location}" for location, file in files.items())]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _parse(path: Path) -> ModelProto:
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import ModelProto

    check_model_file(path)
    size = path.stat().st_size
    if size > _LARGEST_PROTOBUF:
        raise BadModel(
            f"{path} has {size} bytes, more than the 2 GiB of an ONNX file; save its weights as external data"
        )
    try:
        proto: ModelProto = ModelProto.FromString(path.read_bytes())
    except DecodeError as error:
        raise BadModel(f"{path} {why_unparsed(error)} ({size} bytes); export or copy the model again") from None
    if not proto.HasField("graph"):
        raise BadModel(f"{path} has no graph ({size} bytes); export or copy the model again")
    return proto


def why_unparsed(error: Exception) -> str:
    """What is wrong with a file that protobuf does not decode. Raises MemoryError where it had no room to."""
    told = str(error).lower()
    if "alloc" in told or "memory" in told:
        raise MemoryError from None
    return "nests graphs deeper than protobuf reads (100 messages)" if "depth" in told else "is truncated or not ONNX"


def _check_versions(proto: ModelProto, path: Path) -> None:
    import onnx
    from onnx.helper import VERSION_TABLE

    upgrade = "upgrade onnx or export the model for an older version"
    if proto.ir_version > onnx.IR_VERSION:
        raise BadModel(
            f"{path} has IR version {proto.ir_version}, newer than {onnx.IR_VERSION}, "
            f"the newest that onnx {onnx.__version__} knows; {upgrade}"
        )
    newest = dict(zip(("", "ai.onnx", "ai.onnx.ml"), (VERSION_TABLE[-1][i] for i in (2, 2, 3)), strict=True))
    for entry in proto.opset_import:
        limit = newest.get(entry.domain)
        if limit is not None and entry.version > limit:
            raise BadModel(
                f"{path} has opset {entry.version} of {entry.domain or 'ai.onnx'}, newer than {limit}, "
                f"the newest that onnx {onnx.__version__} knows; {upgrade}"
            )


def _check_with_onnx(proto: ModelProto, path: Path) -> None:
    """`onnx.checker` by path: by value it would copy the model and miss external data."""
    from onnx import checker

    from assay.numerics.oracle.domains import normalize

    try:
        if not normalize(proto) and _all_shaped((*proto.graph.input, *proto.graph.output)):
            checker.check_model(str(path))
        else:
            _check_nodes(proto, proto.graph.node)
    except checker.ValidationError as error:
        text, _, context = str(error).partition("\n\n==> Context: ")
        said = " ".join(text.split()).rstrip(".")
        where = f" ({' '.join(context.split())})" if context else ""
        raise BadModel(f"{path} is refused by onnx.checker: {said}{where}; repair or export the model again") from None


def _all_shaped(values: Iterable[ValueInfoProto]) -> bool:
    return all(not v.type.HasField("tensor_type") or v.type.tensor_type.HasField("shape") for v in values)


def _check_nodes(proto: ModelProto, nodes: Iterable[NodeProto]) -> None:
    """Node by node, for graphs with an input or output of unknown rank: check_model (onnx 1.23) refuses those, though
    every backend takes them and exporters write them."""
    from onnx import checker

    context = checker.C.CheckerContext()
    context.ir_version = proto.ir_version
    context.opset_imports = {entry.domain: entry.version for entry in proto.opset_import}
    known = {one.name for one in (*proto.graph.input, *proto.graph.initializer)}
    for node in nodes:
        if any(attribute.HasField("g") for attribute in node.attribute):
            checker.check_graph(_alone(node, known), context)
        else:
            checker.check_node(node, context)
        known.update(node.output)
    for tensor in proto.graph.initializer:
        if not tensor.external_data:
            checker.check_tensor(tensor, context)


def _alone(node: NodeProto, known: Iterable[str]) -> GraphProto:
    """A graph of nothing but a node with subgraphs, which may read whatever is `known` before it: alone, check_node would refuse that.
    The checker asks no type or shape of them."""
    from onnx import TensorProto, helper

    def scalars(names: Iterable[str]) -> list[ValueInfoProto]:
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, []) for name in names if name]

    return helper.make_graph([node], "g", scalars(sorted({*known, *node.input})), scalars(node.output))


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
