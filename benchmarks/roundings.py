"""How far the answers of a model move where its numbers are rounded to a type of fewer bits, evaluated by ONNX Runtime in float32: what a
right engine of that type does."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from independent import Array, Feed, apart, by_onnxruntime

SIGNIFICANT_BITS = {"float16": 11, "bfloat16": 8}
GRIDS = (1.0, 1.1, 1.3, 1.7)
"""A value is rounded as so many times itself, and divided again: as coarsely, and elsewhere."""


LEVELS = (127, 121, 113, 101)
"""Steps of a grid of eight bits to each side of zero: as many as there are, and fewer, so that numbers are rounded elsewhere."""
SIZED = ("Resize", "Upsample")
"""Operators whose other inputs say how large the result is: no engine rounds these."""
CHANNELS = {"Conv": 0, "ConvTranspose": 1, "MatMul": -1, "Gemm": 1}
"""The axis of output channels of the second operand."""


def moved(path: Path, feeds: Sequence[Feed], flow: dict[str, Any]) -> tuple[float | None, float | None]:
    """What rounding weights, and whatever else the flow rounds, does to the answers of the model; of the quantized model, where a
    transform quantizes, nobody asks that."""
    precision = flow.get("precision") or "float32"
    if precision == "int8" and flow.get("transforms"):
        return None, None
    weights, more = rounded(path, feeds, precision)
    only_weights = precision == "int8" and "int8-operands" not in flow.get("allowances", ())
    return weights, weights if only_weights else more


def rounded(path: Path, feeds: Sequence[Feed], precision: str) -> tuple[float | None, float | None]:
    """In float16 and bfloat16 where every weight is rounded and nothing else is, and where every value that a node gives may be rounded
    as well; in int8 where weights of products lie on a grid for each output channel, and where what they are multiplied by is rounded
    while it runs as well. The most of it over four grids, since one rounding is one of many. A weight is an initializer or the value of
    a Constant node, in the graph and in its branches and bodies."""
    if precision not in ("int8", *SIGNIFICANT_BITS):
        return None, None
    exact = by_onnxruntime(path, feeds)
    with tempfile.TemporaryDirectory() as folder:
        forms = [path, *_folded(path, Path(folder))]
        moves = [_most(form, feeds, precision, exact) for form in forms]
    weights, more = ([move[at] for move in moves if move[at] is not None] for at in (0, 1))
    return min(weights, default=None), min(more, default=None)


def _most(
    path: Path, feeds: Sequence[Feed], precision: str, exact: Sequence[Feed]
) -> tuple[float | None, float | None]:
    """Of one form of the model, over all grids."""
    moves_by_case = []
    for grid, levels in zip(GRIDS, LEVELS, strict=True):
        steps = _in_eight_bits(path, levels) if precision == "int8" else _in_few_bits(path, precision, grid)
        moves_by_case.append([_moved(model, feeds, exact) for model in steps])
    weights, both = (
        [moves[at] for moves in moves_by_case if len(moves) > at and moves[at] is not None] for at in (0, 1)
    )
    return max(weights, default=None), max([*weights, *both], default=None) if both else None


def _folded(path: Path, folder: Path) -> list[Path]:
    """The model with constants folded and normalizations taken into the convolutions before them, as most engines have it before they
    round: a variance that float16 cannot hold is gone there. Of the two forms the one that moves less says what a right engine may do."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(folder / "folded.onnx")
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception:  # noqa: BLE001 - whatever a runtime raises: then there is one form
        return []
    return [folder / "folded.onnx"]


def _in_few_bits(path: Path, precision: str, grid: float) -> Iterator[Any]:
    import onnx

    model = onnx.load(str(path))
    sizes = {
        name
        for graph in _graphs(model.graph)
        for node in graph.node
        if node.op_type in SIZED
        for name in node.input[1:]
    }
    for tensor in _constants(model.graph, sizes):
        _round_weight(tensor, precision, grid)
    yield model
    try:
        model = onnx.shape_inference.infer_shapes(model)
    except Exception:  # noqa: BLE001 - whatever the inference raises: values without a known type are not rounded
        return
    _round_values(model.graph, precision, grid)
    yield model


def _in_eight_bits(path: Path, levels: int) -> Iterator[Any]:
    import onnx
    from onnx import helper, numpy_helper

    model = onnx.load(str(path))
    stored = {tensor.name: tensor for tensor in _constants(model.graph) if tensor.name}
    stored |= {node.output[0]: tensor for graph in _graphs(model.graph) for node, tensor in _constant_nodes(graph)}
    multiplied = []
    for graph in _graphs(model.graph):
        for node in graph.node:
            if node.op_type in CHANNELS and (tensor := stored.get(node.input[1])) and tensor.data_type == 1:
                multiplied.append((graph, node))
    for name in {node.input[1] for _, node in multiplied}:
        node = next(node for _, node in multiplied if node.input[1] == name)
        turned = any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
        weight = numpy_helper.to_array(stored[name])
        on_grid = _on_grid(weight, 0 if turned else CHANNELS[node.op_type], levels)
        stored[name].CopyFrom(numpy_helper.from_array(on_grid, stored[name].name))
    yield model
    for graph, node in multiplied:
        place, name = list(graph.node).index(node), f"{node.output[0]}.operand"
        parts = [f"{name}.{part}" for part in ("steps", "scale", "zero")]
        graph.node.insert(place, helper.make_node("DequantizeLinear", parts, [name]))
        graph.node.insert(place, helper.make_node("DynamicQuantizeLinear", [node.input[0]], parts))
        graph.node[place + 2].input[0] = name
    yield model


def _on_grid(weight: Array, axis: int, levels: int) -> Array:
    others = tuple(number for number in range(weight.ndim) if number != axis % weight.ndim)
    scale = np.abs(weight).max(axis=others, keepdims=True) / levels
    scale = np.where(scale > 0, scale, 1.0)
    return (np.rint(weight / scale) * scale).astype(np.float32)


def _moved(model: Any, feeds: Sequence[Feed], exact: Sequence[Feed]) -> float | None:
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model.SerializeToString())
        file.flush()
        try:
            return apart(by_onnxruntime(Path(file.name), feeds), exact)
        except Exception:  # noqa: BLE001 - a weight that overflows, or what a runtime raises: then it is no witness
            return None


def _round_weight(tensor: Any, precision: str, grid: float) -> None:
    import ml_dtypes
    import onnx
    from onnx import numpy_helper

    kinds: dict[str, Any] = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
    if tensor.data_type == onnx.TensorProto.FLOAT:
        weights = (numpy_helper.to_array(tensor) * np.float32(grid)).astype(kinds[precision]).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(np.asarray(weights / np.float32(grid)), tensor.name))


def _round_values(graph: Any, precision: str, grid: float) -> None:
    """After each node, what it gives in float32 is rounded to so many bits: c x - (c x - x), c = 2 ** (24 - bits) + 1 (Dekker 1971,
    Numer. Math. 18, 224, splitting of Veltkamp). Subnormals and overflow of the type are not modelled."""
    import onnx
    from onnx import helper, numpy_helper

    float32 = onnx.TensorProto.FLOAT
    typed = {value.name for value in [*graph.value_info, *graph.output] if value.type.tensor_type.elem_type == float32}
    factor, scale = f"{graph.name}.split.factor", f"{graph.name}.split.grid"
    stored = {factor: 2 ** (24 - SIGNIFICANT_BITS[precision]) + 1, scale: grid}
    nodes = [
        helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value, np.float32)))
        for name, value in stored.items()
    ]
    for node in graph.node:
        nodes.append(node)
        for attribute in node.attribute:
            for body in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
                _round_values(body, precision, grid)
        for place, name in enumerate(node.output):
            if name in typed and node.op_type != "Constant":
                given, wide, scaled, rest, near = (
                    f"{name}.{part}" for part in ("exact", "wide", "scaled", "rest", "near")
                )
                node.output[place] = given
                nodes += [
                    helper.make_node("Mul", [given, scale], [wide]),
                    helper.make_node("Mul", [wide, factor], [scaled]),
                    helper.make_node("Sub", [scaled, wide], [rest]),
                    helper.make_node("Sub", [scaled, rest], [near]),
                    helper.make_node("Div", [near, scale], [name]),
                ]
    del graph.node[:]
    graph.node.extend(nodes)


def _graphs(graph: Any) -> Iterator[Any]:
    """A graph and its subgraphs."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for body in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
                yield from _graphs(body)


def _constant_nodes(graph: Any) -> Iterator[tuple[Any, Any]]:
    """Each Constant node and its tensor."""
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                yield node, attribute.t


def _constants(graph: Any, but: Collection[str] = ()) -> Iterator[Any]:
    """Every stored tensor of the graph: initializers, values of Constant nodes, and those of its subgraphs; without those called so."""
    for inner in _graphs(graph):
        yield from (tensor for tensor in inner.initializer if tensor.name not in but)
        yield from (tensor for node, tensor in _constant_nodes(inner) if node.output[0] not in but)
