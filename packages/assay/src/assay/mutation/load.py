"""From a file to a graph that can be mutated, and back."""

from __future__ import annotations

from pathlib import Path

from assay.mutation.graph import Graph
from assay.numerics.load_onnx import load_onnx

_INSIDE = 2**30
"""Bytes up to which weights are kept inside of the file; protobuf ends at 2 GiB."""


def load_graph(path: Path) -> Graph:
    """Weights and external data loaded, after the model's own checks. Raises BadModel for a file that fails them."""

    from assay.models.onnx_file import open_model

    open_model(path)
    return Graph(load_onnx(str(path)))


def save_graph(graph: Graph, path: Path) -> Path:
    """One file, or a file with external data beside it where it would be too large."""
    import onnx

    large = sum(len(tensor.raw_data) for tensor in graph.model.graph.initializer) > _INSIDE
    onnx.save(graph.model, str(path), save_as_external_data=large, location=f"{path.name}.data" if large else None)
    return path
