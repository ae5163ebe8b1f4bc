"""The backend of `fuzz_planted_session.py`: ONNX Runtime without optimization, behind the optimiser of `planted_rewrites` and
`planted_layers`, all forty faults in it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from assay.backends.flow_options import resolve_options
from assay.backends.onnxruntime.backend import OnnxRuntime
from assay.backends.onnxruntime.engine import OnnxRuntimeEngine
from assay.core.flow import Flow
from assay.ports import Availability, OptionSpec

PLAIN = Flow(name="onnxruntime-disable", backend="onnxruntime", options={"optimization": "disable"})


class Planted:
    """A compiler of somebody else, of which nothing is known."""

    name = "planted"
    accepts = "onnx"
    dynamic = True
    options = (OptionSpec("faults", "", help="names of faults, with a semicolon between two; empty: all"),)
    flows = (Flow(name="planted", backend="planted"),)

    def availability(self) -> Availability:
        """That of ONNX Runtime."""
        return OnnxRuntime().availability()

    def prepare(self) -> None:
        """Import onnxruntime."""
        OnnxRuntime().prepare()

    def lower(self, model: Path, flow: Flow) -> OnnxRuntimeEngine:
        """What the optimiser leaves."""
        import onnx

        names = str(resolve_options(self.options, flow)["faults"]).split(";")
        proto = rewritten(onnx.load(str(model)), [name for name in names if name])
        path = Path(tempfile.mkdtemp(prefix="planted-")) / "rewritten.onnx"
        onnx.save(proto, str(path))
        return OnnxRuntime().lower(path, PLAIN)

    def load(self, folder: Path, flow: Flow) -> OnnxRuntimeEngine:  # noqa: ARG002  the port's
        """What `save` left."""
        return OnnxRuntime().load(folder, PLAIN)


def rewritten(model: Any, names: list[str]) -> Any:
    """By each fault that finds its pattern, one after the other."""
    for name in names or [*faults()]:
        model = by_fault(model, name) or model
    return model


def by_fault(model: Any, name: str) -> Any:
    """Another model; None where that fault does not find its pattern."""
    import onnx
    from planted_graph import Graph, shapes_of

    rewrite, needs = faults()[name]
    if not {node.op_type for node in model.graph.node}.issuperset(needs):
        return None
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph = Graph(copy, shapes_of(model))
    rewrite(graph)
    return copy if graph.changed else None


def faults() -> dict[str, Any]:
    """All forty, by name: the rewrite, and the operators without which it does nothing."""
    import planted_layers  # noqa: F401  they add themselves
    import planted_rewrites  # noqa: F401
    from planted_graph import FAULTS

    return FAULTS
