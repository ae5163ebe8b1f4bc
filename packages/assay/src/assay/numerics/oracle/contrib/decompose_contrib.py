"""A model whose operators of com.microsoft are taken apart into those of the standard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, defs, helper

from assay.numerics.operators.index import in_domain, onnx_operators
from assay.numerics.operators.record import MICROSOFT
from assay.numerics.oracle.contrib.body import Body, Decomposition, Known, Unknown
from assay.numerics.oracle.split_weights import lightened

_STANDARD = ("", "ai.onnx")
_LATEST = 21
"""The opset of the steps in a model that names none of the standard."""
_PASSES = 64
"""Each knows the shapes that the one before has made known: as many as normalisations follow each other in a deep model."""


def decomposed(proto: ModelProto) -> ModelProto:
    """The model itself where there is nothing to take apart; else a copy. A node whose steps depend on what is not known stays."""
    states = _states()
    if not any(_steps(node, proto) or node.op_type in states for node in _nodes(proto.graph)):
        return proto
    model = ModelProto()
    model.CopyFrom(proto)
    if not any(entry.domain in _STANDARD for entry in model.opset_import):
        model.opset_import.append(helper.make_opsetid("", _LATEST))
    for _ in range(_PASSES):
        _declare(model.graph, states)
        done, left = _Taking(model, _known(model)).graph(model.graph)
        if not done or not left:
            break
    return model


@cache
def _states() -> Mapping[str, tuple[int | None, ...]]:
    """Of the operators of com.microsoft with known ranks of results. It is asked for every model that is evaluated."""
    return in_domain(MICROSOFT, lambda record: record.result_ranks)


def _version(model: ModelProto) -> int:
    return next((entry.version for entry in model.opset_import if entry.domain in _STANDARD), _LATEST)


def _steps(node: NodeProto, model: ModelProto) -> Decomposition | None:
    """None for what is no operator of com.microsoft, or what the model defines itself."""
    if any(function.domain == node.domain and function.name == node.op_type for function in model.functions):
        return None
    ours = onnx_operators().get(("" if node.domain in _STANDARD else node.domain, node.op_type))
    if ours is None or ours.decomposition is None:
        return None
    known = node.domain in _STANDARD and defs.has(node.op_type, _version(model))
    return None if known else ours.decomposition


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for node in graph.node:
        yield node
        for inner in _graphs(node):
            yield from _nodes(inner)


def _graphs(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


class _Taking:
    """One pass through a model."""

    def __init__(self, model: ModelProto, known: Known) -> None:
        self._model = model
        self._known = known

    def graph(self, graph: GraphProto) -> tuple[int, int]:
        """How many nodes were taken apart, and how many could not be yet."""
        known = self._known
        known.stored.update({tensor.name: tensor for tensor in graph.initializer})
        known.types.update({tensor.name: tensor.data_type for tensor in graph.initializer})
        known.stored.update(_constants(graph))
        done = left = 0
        nodes: list[NodeProto] = []
        for node in graph.node:
            for inner in _graphs(node):
                inside, remaining = self.graph(inner)
                done, left = done + inside, left + remaining
            steps = _steps(node, self._model)
            body = Body(node, known)
            try:
                if steps is not None:
                    steps(body)
            except Unknown:
                steps, left = None, left + 1
            if steps is None:
                nodes.append(node)
                continue
            done += 1
            nodes += body.finished()
            graph.initializer.extend(body.initializers)
        if done:
            kept = [NodeProto.FromString(new_node.SerializeToString()) for new_node in nodes]
            del graph.node[:]
            graph.node.extend(kept)
        return done, left


def _constants(graph: GraphProto) -> dict[str, TensorProto]:
    return {
        node.output[0]: attribute.t
        for node in graph.node
        if node.op_type == "Constant" and node.domain in _STANDARD
        for attribute in node.attribute
        if attribute.name == "value"
    }


def _declare(graph: GraphProto, states: Mapping[str, tuple[int | None, ...]]) -> None:
    """Types and ranks of what kernels give, where the model does not say: the inference does not know the operators."""
    declared = {value.name for value in (*graph.value_info, *graph.output, *graph.input)}
    for node in graph.node:
        if node.domain == MICROSOFT and node.op_type in states:
            for name, rank in zip(node.output, states[node.op_type], strict=False):
                if name and name not in declared:
                    info = helper.make_tensor_value_info(
                        name, TensorProto.FLOAT, None if rank is None else [None] * rank
                    )
                    graph.value_info.append(info)


def _known(model: ModelProto) -> Known:
    """By the inference of onnx, without the numbers."""
    known = Known(_version(model))
    light = lightened(model)
    with suppress(onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        light = onnx.shape_inference.infer_shapes(light)
    for info in (*light.graph.input, *light.graph.value_info, *light.graph.output):
        kind: TypeProto.Tensor = info.type.tensor_type
        if kind.elem_type:
            known.types[info.name] = kind.elem_type
        if kind.HasField("shape"):
            known.shapes[info.name] = tuple(
                dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim
            )
    return known
