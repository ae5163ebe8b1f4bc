"""What a model says of itself: versions and imports; and whether it gives anything at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import ModelPart, PartKind
from assay.models.examination.node_schema import VERSIONS
from assay.models.examination.walk import domain_of

if TYPE_CHECKING:
    from onnx import ModelProto


def check_header(model: ModelProto) -> Iterator[ModelFinding]:
    """Findings of the model itself; onnx.checker looks at its IR version. What only a backend lacks is that backend's outcome."""
    yield from _opsets(model)
    if not model.graph.output:
        yield ModelFinding(Area.GRAPH, "no-output")
    if not model.graph.node:
        yield ModelFinding(Area.GRAPH, "empty-graph", severity=Severity.RESTRICTED)


def _opsets(model: ModelProto) -> Iterator[ModelFinding]:
    import onnx
    from onnx.helper import VERSION_TABLE

    newest = {"": VERSION_TABLE[-1][2], "ai.onnx.ml": VERSION_TABLE[-1][3]}
    imports = [(domain_of(entry.domain), entry.version) for entry in model.opset_import]
    for domain, count in Counter(domain for domain, _ in imports).items():
        if count > 1:
            versions = [version for name, version in imports if name == domain]
            # Of one version, every reader takes the same.
            severity = Severity.INVALID if len(set(versions)) > 1 else Severity.RESTRICTED
            yield _found("duplicate-import", domain, count, ", ".join(map(str, versions)), severity=severity)
    for domain, version in imports:
        if version < 1:
            yield _found("opset-import", domain, version)
        elif version > newest.get(domain, VERSIONS - 1):
            yield _found("newer-opset", domain, version, newest.get(domain, VERSIONS - 1), onnx.__version__)


def _found(code: str, domain: str, *values: int | str, severity: Severity = Severity.INVALID) -> ModelFinding:
    return ModelFinding(Area.MODEL, code, ModelPart(PartKind.DOMAIN, domain or "ai.onnx"), values, severity)
