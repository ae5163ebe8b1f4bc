"""What the noise must know of a graph: declared types, what is shape arithmetic, what is a weight, where values step."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import onnx
from onnx import GraphProto, ModelProto, NodeProto

from assay.core.dtype import dtype_name, is_floating
from assay.core.result import UntakenBranch
from assay.core.screening import Unspecified
from assay.numerics.draw import Draw
from assay.numerics.drawn_outputs import drawn_outputs
from assay.numerics.operators.index import by_name, names_where
from assay.numerics.oracle.branches import branches_of
from assay.numerics.oracle.other_readings import readings_of
from assay.numerics.oracle.split_weights import lightened
from assay.numerics.tolerance.simulate.quantized_biases import Bias, between_grids
from assay.numerics.tolerance.simulate.quantized_regions import quantized_regions
from assay.ports import Tensors

CONTROL: dict[str, tuple[int, ...]] = by_name(lambda record: record.steers)
"""Inputs that steer an operator: shapes, scales, bounds. What only reaches these is exact in every backend."""

WEIGHTS: dict[str, tuple[int, ...]] = by_name(lambda record: record.weights)
"""Operands that a backend may fold, pack or repack."""

STEPPING = names_where(lambda record: record.jumps)
"""Operators that jump: noise must not be amplified before them. Casts to whole numbers too."""

ROUNDING = names_where(lambda record: record.rounds)
"""Those that round to a grid, as casts to whole numbers do: rare jumps of whole steps."""


@dataclass(frozen=True)
class Graph:
    """`types` maps a value to its declared element type; `data` are values whose rounding can reach an output;
    `weights` and `held` are initializers to be rounded, and those that never are; `jumps`: a value steps on its way to
    a floating output; `rounds`: it is rounded to a grid there; `subgraphs`: there is control flow; `biases`
    are added to products of quantized operands; `quantized_regions` are values that go nowhere but onto a grid of eight bits; `given` are
    the graph's inputs and stored numbers; `drawn` are outputs that are drawn at random; `left_open` is by
    operator what its text does not say."""

    types: dict[str, str]
    data: frozenset[str]
    weights: tuple[str, ...]
    others: tuple[str, ...]
    jumps: bool
    rounds: bool
    subgraphs: bool
    producers: dict[str, NodeProto]
    outputs: tuple[str, ...] = ()
    biases: tuple[Bias, ...] = ()
    gridded: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    drawn: Mapping[str, Draw] = field(default_factory=dict)
    left_open: Mapping[str, tuple[Unspecified, ...]] = field(default_factory=dict)

    def names(self, value: str) -> bool:
        """Whether a value of the graph itself has that name; not of a body of its operators."""
        return value in self.producers or value in self.given

    @property
    def is_double(self) -> bool:
        """Whether every real number on the way to an output is declared in double."""
        kinds = {self.types[name] for name in self.data if is_floating(self.types.get(name, ""))}
        return kinds == {"float64"}

    @property
    def is_mixed(self) -> bool:
        """Whether some of the outputs are declared in double, and other real numbers on the way to an output are not."""
        double = any(self.types.get(name) == "float64" for name in self.outputs)
        return double and not self.is_double


def study(proto: ModelProto, inputs: Sequence[Tensors] = ()) -> Graph:
    """Of the model as it is written, before it is widened. `inputs` are the samples, where what is fed decides what is drawn at random."""
    graph = proto.graph
    types = _types(proto)
    producers = {name: node for node in graph.node for name in node.output if name}
    data = _reach(producers, (value.name for value in graph.output), types)
    floats = [tensor.name for tensor in graph.initializer if is_floating(types.get(tensor.name, ""))]
    weighty = {node.input[at] for node in graph.node for at in WEIGHTS.get(node.op_type, ()) if at < len(node.input)}
    smooth_outputs = [value.name for value in graph.output if is_floating(types.get(value.name, "float32"))]
    toward = _reach(producers, smooth_outputs, types)
    stepping = [node for node in graph.node if _steps(node, types) and any(name in toward for name in node.output)]
    return Graph(
        types=types,
        data=frozenset(data),
        weights=tuple(name for name in floats if name in weighty),
        others=tuple(name for name in floats if name not in weighty and name in data),
        jumps=bool(stepping),
        rounds=any(node.op_type in ROUNDING or node.op_type == "Cast" for node in stepping),
        subgraphs=any(attribute.HasField("g") for node in graph.node for attribute in node.attribute),
        producers=producers,
        outputs=tuple(value.name for value in graph.output),
        biases=between_grids(graph, types, producers),
        gridded=quantized_regions(graph, types, CONTROL) if stepping else frozenset(),
        given=frozenset(value.name for value in (*graph.input, *graph.initializer)),
        drawn=drawn_outputs(proto, inputs),
        left_open=readings_of(proto),
    )


def _steps(node: NodeProto, types: dict[str, str]) -> bool:
    """Whether its answer jumps with a floating input. Comparing and counting whole numbers does not."""
    inputs = [types.get(name, "float32") for name in node.input if name]
    if node.op_type == "Cast":
        return is_floating(inputs[0]) and not is_floating(types.get(node.output[0], "float32"))
    return node.op_type in STEPPING and (not inputs or any(is_floating(name) for name in inputs))


def _steering(node: NodeProto, types: Mapping[str, str]) -> tuple[int, ...]:
    """As CONTROL has it; a range of real numbers is computed from its start and its step, and only counted by its limit."""
    if node.op_type == "Range" and is_floating(types.get(node.output[0], "")):
        return (1,)
    return CONTROL.get(node.op_type, ())


def _reach(producers: dict[str, NodeProto], names: Iterable[str], types: Mapping[str, str]) -> set[str]:
    """Every value that reaches one of `names` as data, not as a shape, a scale or a bound."""
    seen: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        node = producers.get(name)
        if node is None:
            continue
        seen.update(output_name for output_name in node.output if output_name)
        todo += [
            input_name for at, input_name in enumerate(node.input) if input_name and at not in _steering(node, types)
        ]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                todo += list(_captured(attribute.g))
    return seen


def ancestors(name: str, producers: Mapping[str, NodeProto]) -> list[NodeProto]:
    """Every operator that a value depends on, through subgraphs too; whatever it reads them for."""
    seen: set[str] = set()
    nodes: list[NodeProto] = []
    todo = [name]
    while todo:
        tensor_name = todo.pop()
        node = producers.get(tensor_name)
        if tensor_name in seen or node is None:
            continue
        seen.update(node.output)
        nodes.append(node)
        todo += node.input
        for attribute in node.attribute:
            if attribute.HasField("g"):
                todo += _captured(attribute.g)
                nodes += attribute.g.node
    return nodes


def untaken_branches(graph: GraphProto, met: Container[str]) -> tuple[UntakenBranch, ...]:
    """Branches of If of which nothing was met in any evaluation, inner ones of other subgraphs too."""
    return tuple(
        UntakenBranch(branch.node, branch.kind, by_sizes=not branch.inputs)
        for branch in branches_of(graph)
        if not any(name in met for name in branch.values)
    )


def _captured(graph: GraphProto) -> Iterator[str]:
    for node in graph.node:
        yield from node.input
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _captured(attribute.g)


def _types(proto: ModelProto) -> dict[str, str]:
    from onnx.shape_inference import InferenceError

    graph = proto.graph
    inferred = graph
    if not _declares_all(graph):  # inference leaves what is declared as it is
        with suppress(InferenceError, RuntimeError, ValueError):
            inferred = onnx.shape_inference.infer_shapes(lightened(proto)).graph
    types = {
        info.name: info.type.tensor_type.elem_type
        for source in (graph, inferred)
        for info in (*source.value_info, *source.input, *source.output)
        if info.type.HasField("tensor_type")
    }
    types |= {tensor.name: tensor.data_type for tensor in graph.initializer}
    return {name: _dtype(kind) for name, kind in types.items() if kind}


def _declares_all(graph: GraphProto) -> bool:
    """Whether every value of the graph comes with its type."""
    declared = {info.name for info in (*graph.value_info, *graph.output) if info.type.tensor_type.elem_type}
    return all(name in declared for node in graph.node for name in node.output if name)


def _dtype(kind: int) -> str:
    if kind == onnx.TensorProto.STRING:
        return "string"
    try:
        return dtype_name(onnx.helper.tensor_dtype_to_np_dtype(kind))
    except KeyError:
        return ""
