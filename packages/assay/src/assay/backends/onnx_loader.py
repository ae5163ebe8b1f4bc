"""An ONNX file checked before a compiler reads it, and what it declares: for backends whose importer checks little."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from assay.backends.errors import checker_failure
from assay.core.dtype import dtype_name
from assay.core.model import TensorSpec
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Unsupported
from assay.numerics.load_onnx import load_onnx

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

STANDARD = ("", "ai.onnx")


class Signature(msgspec.Struct, frozen=True):
    """What is fed and what comes back, in the file's own names and order. `graph` is the name of the graph."""

    graph: str
    opset: int
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]


def load_checked(path: Path) -> ModelProto:
    """The file with its external data. Raises InvalidModel or Unsupported, in the words of onnx.checker."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        proto = _checked(path, load_onnx(path))
        _open_negative(proto)
    except onnx.checker.ValidationError as error:
        raise checker_failure(str(error)) from error
    except DecodeError as error:
        raise InvalidModel(noted(BackendCode.NO_ONNX, file=path.name, error=str(error))) from error
    newest = onnx.defs.onnx_opset_version()
    if opset_of(proto) > newest:
        note = noted(
            BackendCode.OPSET_BEYOND_ONNX,
            file=path.name,
            opset=opset_of(proto),
            version=onnx.__version__,
            newest=newest,
        )
        raise Unsupported(note, cause="opset_too_new")
    return proto


def _open_negative(proto: ModelProto) -> None:
    """A size of -1 is how some exporters write "any": TVM 0.27 would take it for a size."""
    for value in (*proto.graph.input, *proto.graph.output, *proto.graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value < 0:
                dim.ClearField("dim_value")


def opset_of(proto: ModelProto) -> int:
    """The version of the standard's own operators; 1 where the file does not say."""
    return next((entry.version for entry in proto.opset_import if entry.domain in STANDARD), 1)


def signature_of(proto: ModelProto) -> Signature:
    """Initializers are no inputs. Raises Unsupported for an input or output that is no tensor."""
    constants = {tensor.name for tensor in proto.graph.initializer}
    constants |= {sparse.values.name for sparse in proto.graph.sparse_initializer}
    inputs = tuple(_spec("Input", info) for info in proto.graph.input if info.name not in constants)
    outputs = tuple(_spec("Output", info) for info in proto.graph.output)
    return Signature(proto.graph.name, opset_of(proto), inputs, outputs)


def refuse_types(signature: Signature, known: frozenset[str], backend: str) -> None:
    """Raises Unsupported for the first input or output whose element type is not among `known`."""
    for spec in (*signature.inputs, *signature.outputs):
        if spec.dtype not in known:
            raise Unsupported(noted(BackendCode.TYPE_NOT_PASSED, tensor=spec.name, dtype=spec.dtype, library=backend))


def inlined(proto: ModelProto) -> ModelProto:
    """With the bodies of the model's own functions in place of their calls: by the standard that is what a call means."""
    import onnx.inliner

    return onnx.inliner.inline_local_functions(proto) if proto.functions else proto


def refuse_foreign(proto: ModelProto, importer: str) -> None:
    """For importers that go by an operator's name and not by its domain (tvm 0.27: apache/tvm#10950; iree 3.13): a Relu of
    another domain would become ONNX's. Raises Unsupported; operators of com.microsoft that ONNX lacks are passed on."""
    import onnx.defs

    for node in every_node(proto.graph):
        contrib = node.domain == "com.microsoft" and not onnx.defs.has(node.op_type)
        if node.domain not in STANDARD and not contrib:
            name = f"{node.domain}.{node.op_type}"
            raise Unsupported(noted(BackendCode.NO_OPERATOR, library=importer, names=name), node=node.name or name)


def every_node(graph: GraphProto) -> Iterator[NodeProto]:
    """The nodes of the graph and of all graphs inside it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from every_node(inner)


def _checked(path: Path, proto: ModelProto) -> ModelProto:
    """By onnx.checker, but for what it alone demands: the model as the standard wants it written. The default domain is spelled as
    the checker and importers know it."""
    import onnx

    from assay.models.examination.completion import completed
    from assay.models.examination.walk import scopes
    from assay.numerics.oracle.domains import normalize

    respelled = normalize(proto)
    with completed(proto, scopes(proto)) as whole:
        onnx.checker.check_model(whole.model if respelled or whole.changed else str(path))
        return whole.standard() if whole.findings else proto


def _spec(role: str, info: Any) -> TensorSpec:
    import onnx

    kind = info.type.tensor_type.elem_type
    if kind == onnx.TensorProto.UNDEFINED:
        raise Unsupported(noted(BackendCode.NO_TENSOR, role=role, name=info.name))
    dtype = "string" if kind == onnx.TensorProto.STRING else dtype_name(onnx.helper.tensor_dtype_to_np_dtype(kind))
    dims = info.type.tensor_type.shape.dim
    # A negative size is how some exporters write "any".
    sizes = tuple(d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else d.dim_param or "?" for d in dims)
    return TensorSpec(info.name, dtype, sizes)
