"""ONNX graphs as torch modules, fit for torch.export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.errors import InvalidModel
from assay.numerics.load_onnx import load_onnx

if TYPE_CHECKING:
    from onnx import ModelProto

    from assay.onnx_to_torch.module import TorchGraph


def torch_graph(path: Path) -> TorchGraph:
    """The graph of an ONNX file. Raises `Unsupported`, naming node and operator, for what torch or the conversion lacks,
    `InvalidModel` for a file that is no ONNX model."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        proto = load_onnx(path)
    except DecodeError as error:
        raise InvalidModel(noted(ConversionCode.NO_ONNX_FILE, file=path.name, error=str(error))) from error
    except onnx.checker.ValidationError as error:
        raise InvalidModel(" ".join(str(error).split())) from error
    return torch_graph_of(proto, str(path.parent))


def torch_graph_of(proto: ModelProto, folder: str = "") -> TorchGraph:
    """Like `torch_graph`, of a model in memory. Functions are inlined: the model's own, and those of the standard that
    have no torch function here."""
    import onnx.inliner

    from assay.onnx_to_torch import operators
    from assay.onnx_to_torch.fold import folded
    from assay.onnx_to_torch.graph import read_graph
    from assay.onnx_to_torch.module import TorchGraph

    assert operators.__all__
    if proto.functions:
        proto = onnx.inliner.inline_local_functions(proto)
    proto = _without_functions(proto)
    opsets = {entry.domain if entry.domain != "ai.onnx" else "": entry.version for entry in proto.opset_import}
    return TorchGraph(folded(read_graph(proto.graph, opsets, folder))).eval()


def _without_functions(proto: ModelProto) -> ModelProto:
    """Operators that the standard defines by others are replaced by those, until none is left."""
    import onnx.inliner

    from assay.onnx_to_torch.graph import missing_operators

    before: set[tuple[str, str]] = set()
    while (missing := missing_operators(proto.graph)) - before:
        before |= missing
        try:
            proto = onnx.inliner.inline_selected_functions(proto, sorted(missing), inline_schema_functions=True)
        except RuntimeError:
            # onnx 1.23 cannot inline a function whose body depends on a type it did not infer; the check names the node.
            break
    return proto
