"""Interpolation done another way."""

from __future__ import annotations

from collections.abc import Iterable

from onnx import NodeProto

from assay.mutation.graph import Graph
from assay.mutation.mutation_operator import MutationOperator

_SMOOTH = ("linear", "bilinear", "cubic", "bicubic")


def _mode(graph: Graph, node: NodeProto) -> str:
    return str(graph.attribute(node, "mode").decode())


def _smooth(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("nearest-for-linear") if _mode(graph, node) in _SMOOTH]


def _nearest(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.set(node, "mode", "nearest")
    graph.set(node, "antialias", None)


def _is_by_flag(graph: Graph, node: NodeProto) -> bool:
    """Whether a flag of its own says how corners lie, not the transformation of coordinates."""
    return graph.attribute(node, "align_corners") is not None


def _aligned(graph: Graph) -> Iterable[NodeProto]:
    nodes = graph.open_to("flip-align-corners")
    return [node for node in nodes if _is_by_flag(graph, node) or _is_transformed(graph, node)]


def _is_transformed(graph: Graph, node: NodeProto) -> bool:
    return graph.opset >= 11 and _transformation(graph, node) != "tf_crop_and_resize"


def _transformation(graph: Graph, node: NodeProto) -> str:
    return str(graph.get(node, "coordinate_transformation_mode", b"half_pixel").decode())


def _flip_alignment(graph: Graph, node: NodeProto, distance: float) -> None:
    if _is_by_flag(graph, node):
        graph.set(node, "align_corners", 1 - graph.get(node, "align_corners", 0))
        return
    aligned = _transformation(graph, node) == "align_corners"
    graph.set(node, "coordinate_transformation_mode", "half_pixel" if aligned else "align_corners")


def _resizes(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("asymmetric-coordinates") if _is_transformed(graph, node)]


def _asymmetric(graph: Graph, node: NodeProto, distance: float) -> None:
    other = "half_pixel" if _transformation(graph, node) == "asymmetric" else "asymmetric"
    graph.set(node, "coordinate_transformation_mode", other)


def _choosing(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in _resizes(graph) if _mode(graph, node) == "nearest"]


def _other_nearest(graph: Graph, node: NodeProto, distance: float) -> None:
    rounded = graph.get(node, "nearest_mode", b"round_prefer_floor")
    graph.set(node, "nearest_mode", "floor" if rounded in (b"ceil", b"round_prefer_ceil") else "ceil")


def _cubic(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("cubic-coefficient") if _mode(graph, node) == "cubic"]


def _other_cubic(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.set(node, "cubic_coeff_a", float(graph.get(node, "cubic_coeff_a", -0.75)) + distance)


def _grids(graph: Graph) -> Iterable[NodeProto]:
    return graph.open_to("grid-border")


def _other_border(graph: Graph, node: NodeProto, distance: float) -> None:
    zeros = graph.get(node, "padding_mode", b"zeros") == b"zeros"
    graph.set(node, "padding_mode", "border" if zeros else "zeros")


OPERATORS = (
    MutationOperator("nearest-for-linear", "nearest neighbour taken for interpolation", _smooth, _nearest),
    MutationOperator("flip-align-corners", "align_corners ignored or assumed", _aligned,
             _flip_alignment),
    MutationOperator("asymmetric-coordinates", "half-pixel coordinates dropped", _resizes, _asymmetric),
    MutationOperator("nearest-rounding", "the neighbour on the other side", _choosing, _other_nearest),
    MutationOperator("cubic-coefficient", "another cubic kernel", _cubic, _other_cubic, 0.25,
             "added to the coefficient"),
    MutationOperator("grid-border", "border taken for zeros outside of a grid", _grids, _other_border),
)  # fmt: skip
