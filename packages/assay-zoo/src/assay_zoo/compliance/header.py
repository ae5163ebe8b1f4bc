"""What a model says of itself: versions, imports, metadata; and whether it computes anything at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay_zoo.compliance.finding import Area, Finding, shown
from assay_zoo.compliance.request import Request
from assay_zoo.compliance.walk import domain_of

if TYPE_CHECKING:
    from onnx import ModelProto


def check_header(model: ModelProto, request: Request) -> Iterator[Finding]:
    """Findings of the model itself."""
    yield from _ir(model, request)
    yield from _opsets(model, request)
    for key, count in Counter(entry.key for entry in model.metadata_props).items():
        if count > 1:
            yield _found("duplicate-metadata", f"metadata key {shown(key)} is given {count} times; keep one of them")
    if model.training_info:
        told = f"the model carries training_info ({len(model.training_info)}), which runtimes of inference ignore"
        yield Finding(Area.MODEL, "training-info", told, remark=True)
    if not model.graph.name:
        yield Finding(Area.GRAPH, "unnamed-graph", "the graph has no name, which the specification demands; name it")
    if not model.graph.node:
        yield Finding(Area.GRAPH, "empty-graph", "the graph has no node: it computes nothing; export the model again")
    if not model.graph.output:
        yield Finding(Area.GRAPH, "no-output", "the graph has no output; export the model with its outputs")


def _ir(model: ModelProto, request: Request) -> Iterator[Finding]:
    import onnx

    version = model.ir_version
    if not model.HasField("ir_version") or version < 1:
        yield _found(
            "ir-version", f"the IR version is {version}, and the first is 1; save the model with the onnx package"
        )
    elif version > min(request.ir, onnx.IR_VERSION):
        yield _found(
            "ir-version",
            f"the IR version is {version}, and this zoo's runtimes read up to {min(request.ir, onnx.IR_VERSION)}; "
            "export the model for an older version",
        )


def _opsets(model: ModelProto, request: Request) -> Iterator[Finding]:
    from onnx.helper import VERSION_TABLE

    newest = {"": min(request.opset, VERSION_TABLE[-1][2]), "ai.onnx.ml": VERSION_TABLE[-1][3]}
    imports = [(domain_of(one.domain), one.version) for one in model.opset_import]
    if not imports:
        yield _found("opset-import", "the model imports no operator set; say which opset its nodes follow")
    for domain, count in Counter(domain for domain, _ in imports).items():
        if count > 1:
            versions = ", ".join(str(version) for name, version in imports if name == domain)
            yield _found(
                "duplicate-import", f"domain {shown(domain or 'ai.onnx')} is imported {count} times (opset {versions})"
            )
    for domain, version in imports:
        name = shown(domain or "ai.onnx")
        if version < 1:
            yield _found("opset-import", f"domain {name} is imported at opset {version}, and the first is 1")
        elif version > newest.get(domain, version):
            yield _found(
                "opset-version",
                f"domain {name} is imported at opset {version}, and this zoo's runtimes read up to {newest[domain]}; "
                "export the model for an older opset",
            )
    claimed = next((version for domain, version in imports if domain == ""), 0)
    if request.claimed_opset and claimed and claimed != request.claimed_opset:
        yield _found(
            "claimed-opset",
            f"metadata.toml claims opset {request.claimed_opset}, and the model imports {claimed}; correct one of them",
        )


def _found(kind: str, sentence: str) -> Finding:
    return Finding(Area.MODEL, kind, sentence)
