"""An exported program as the graph that ranges of values are carried through: each aten operator as the ONNX operator that asks the same
of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.models.input_plan.graph import Graph
from assay.models.input_plan.shape_engine import Evaluation
from assay.numerics.shapes.values import LARGEST_CONSTANT, UNKNOWN, Node, Value, of_data

if TYPE_CHECKING:
    from assay.models.program import Program

# fmt: off
_PLAIN = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "neg": "Neg", "abs": "Abs", "relu": "Relu", "sqrt": "Sqrt",
    "rsqrt": "Log", "reciprocal": "Reciprocal", "log": "Log", "log2": "Log", "log10": "Log", "acos": "Acos", "asin": "Asin",
    "atanh": "Atanh", "acosh": "Acosh", "pow": "Pow", "minimum": "Min", "maximum": "Max", "where": "Where", "sign": "Sign",
    "floor_divide": "Div", "remainder": "Mod", "fmod": "Mod", "eq": "Equal", "ne": "Equal", "lt": "Less", "le": "LessOrEqual",
    "gt": "Greater", "ge": "GreaterOrEqual", "logical_not": "Not", "logical_and": "And", "logical_or": "Or", "amax": "ReduceMax",
    "amin": "ReduceMin", "argmax": "ArgMax", "argmin": "ArgMin", "mean": "ReduceMean", "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor", "bitwise_not": "BitwiseNot",
}
_OF_ONE = ("amax", "amin", "argmax", "argmin", "mean")
"""Those whose other arguments say how."""
_FIRST = (
    "view", "_unsafe_view", "reshape", "squeeze", "unsqueeze", "permute", "transpose", "t", "expand", "expand_as", "repeat", "clone",
    "contiguous", "flatten", "alias", "detach", "detach_", "slice", "select", "narrow", "split", "chunk", "unbind", "roll", "flip",
    "lift_fresh_copy", "floor", "ceil", "round", "repeat_interleave", "numpy_T", "movedim", "unflatten", "view_as", "getitem",
)
_CASTS = ("to", "_to_copy", "type_as", "float", "long", "int", "bool", "half")
# fmt: on
"""Operators that take their values from the first argument."""
_ELEMENTS = {
    **{
        "float32": 1,
        "uint8": 2,
        "int8": 3,
        "uint16": 4,
        "int16": 5,
        "int32": 6,
        "int64": 7,
        "bool": 9,
        "float16": 10,
        "float64": 11,
    },
    **{"uint32": 12, "uint64": 13, "bfloat16": 16},
}
_REAL = (1, 10, 11, 16)
TORCH = "torch"
"""The domain of operators that have no ONNX operator here."""
ITEMS = ("item", "_local_scalar_dense")
"""Those of them that make a size or a place of one number."""
Operands = Sequence[str]


@dataclass
class _Reader:
    """What is known so far: operators, values by name, and what nodes of the program are called here."""

    nodes: list[Node] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    names: dict[Any, str] = field(default_factory=dict)
    parts: dict[Any, list[str]] = field(default_factory=dict)
    """What an operator of higher order gives, which others take by number."""
    scope: str = ""
    """Before the names of a graph inside of another."""

    def name(self, value: Any) -> str:
        """Of an argument: a node, or a number, which becomes a constant."""
        if value in self.names if _is_node(value) else False:
            return self.names[value]
        if isinstance(value, bool | int | float):
            made = f"{self.scope}#{len(self.values)}"
            self.values[made] = of_data(np.asarray(value))
            return made
        return ""

    def add(self, op: str, inputs: Operands, output: str, **attributes: Any) -> None:
        self.nodes.append(Node(op, "", output, tuple(inputs), (output,), attributes))


def read_program(program: Program, size: Callable[[Any], int | None]) -> tuple[Graph, Evaluation]:
    """`size` gives the number that a symbolic size has."""
    exported, reader = program.exported, _Reader()
    signature = exported.graph_signature
    input_values = dict(zip((str(input_name) for input_name in signature.user_inputs), program.inputs, strict=True))
    stored = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    tensors = {**exported.state_dict, **exported.constants}
    walked = Evaluation(values=reader.values)
    for node in exported.graph.nodes:
        name = input_values[node.name].name if node.name in input_values else node.name
        reader.names[node] = name
        reader.values[name] = _value(node, tensors.get(stored.get(node.name, "")), size)
        _add(reader, node, exported.graph_module, walked, size)
    inputs = tuple(spec.name for spec in program.inputs)
    graph = Graph(tuple(reader.nodes), inputs, (), {}, {spec.name: spec.shape for spec in program.inputs}, {})
    return graph, walked


def _add(reader: _Reader, node: Any, module: Any, walked: Evaluation, size: Callable[[Any], int | None]) -> None:
    """What is known of one node. Operators of higher order (cond, while_loop, map, a region without gradients) are read as an If
    whose branches are all graphs that they take."""
    if node.op != "call_function":
        return
    bodies = [getattr(module, arg.target) for arg in node.args if _is_node(arg) and arg.op == "get_attr"]
    bodies = [graph_module for graph_module in bodies if hasattr(graph_module, "graph")]
    if not bodies:
        _read(reader, node, _operator(node.target))
        return
    operands = [leaf for leaf in _leaves(node.args) if _is_node(leaf) or isinstance(leaf, bool | int | float)]
    operands = [leaf for leaf in operands if not (_is_node(leaf) and leaf.op == "get_attr")]
    graphs = {}
    for number, body in enumerate(bodies):
        # The first graph of a loop says whether it goes on: what it gives is no value of the loop.
        decides = _operator(node.target) == "while_loop" and number == 0
        scope = f"{reader.names[node]}/{number}/"
        graphs[f"body_{number}"] = _body(reader, body, operands, scope, walked, size, gives=not decides)
    count = max(len(graph.outputs) for graph in graphs.values())
    reader.parts[node] = [f"{reader.names[node]}#{number}" for number in range(count)]
    for name in reader.parts[node]:
        reader.values[name] = UNKNOWN
    reader.nodes.append(Node("If", "", node.name, (), tuple(reader.parts[node]), graphs))


def _body(
    outer: _Reader,
    module: Any,
    arguments: Sequence[Any],
    scope: str,
    walked: Evaluation,
    size: Callable[[Any], int | None],
    *,
    gives: bool,
) -> Graph:
    """A graph inside of another; what it is given last are its own inputs, by the names that they have outside."""
    reader = _Reader(values=dict(outer.values), scope=scope)
    taken = [node for node in module.graph.nodes if node.op == "placeholder"]
    operands = dict(zip(reversed(taken), reversed(arguments), strict=False))
    outputs: tuple[str, ...] = ()
    for node in module.graph.nodes:
        if node in operands and (name := outer.name(operands[node])):
            reader.names[node] = name
            reader.values.setdefault(name, outer.values.get(name, UNKNOWN))
        elif node.op == "output":
            outputs = tuple(reader.name(leaf) for leaf in _leaves(node.args)) if gives else ()
        else:
            reader.names[node] = scope + node.name
            reader.values[scope + node.name] = _value(node, None, size)
            _add(reader, node, module, walked, size)
    graph = Graph(tuple(reader.nodes), (), outputs, {}, {}, {})
    walked.inner[id(graph)] = reader.values
    return graph


def _leaves(value: Any) -> Iterator[Any]:
    """Arguments that lie in tuples and lists, one after the other."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _is_node(value: Any) -> bool:
    return hasattr(value, "op") and hasattr(value, "target")


def _operator(target: Any) -> str:
    """`embedding` of `aten.embedding.default`."""
    text = str(getattr(target, "_opname", "") or getattr(target, "__name__", target))
    return text.partition(".")[0]


def _value(node: Any, stored: Any, size: Callable[[Any], int | None]) -> Value:
    import torch

    if stored is not None and stored.numel() <= LARGEST_CONSTANT and stored.dtype in _numbers():
        return of_data(stored.detach().cpu().numpy())
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return Value(()) if isinstance(value, int | float | torch.SymInt) else UNKNOWN
    return Value(tuple(dim if isinstance(dim, int) else size(dim) for dim in value.shape))


def _numbers() -> set[Any]:
    import torch

    return {torch.float32, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool}


def _read(reader: _Reader, node: Any, operator: str) -> None:
    """One operator, in place ones as the others. What it takes and that is not known stays an operator of torch: nothing is asked of it."""
    if operator == "_assert_tensor_metadata":
        return
    first = len(reader.nodes)
    _read_known(reader, node, operator)
    read = {name for added in reader.nodes[first:] for name in added.inputs}
    rest = [name for operand in node.all_input_nodes if (name := reader.name(operand)) and name not in read]
    if rest and not any(arg in reader.parts for arg in node.args if _is_node(arg)):
        reader.nodes.append(Node(operator, TORCH, reader.names[node], tuple(rest), (reader.names[node],), {}))


def _read_known(reader: _Reader, node: Any, operator: str) -> None:
    operator = operator.removesuffix("_") if operator not in _FIRST else operator
    args, out = node.args, reader.names[node]
    named = [reader.name(arg) for arg in args]
    if operator == "getitem" and args[0] in reader.parts and args[1] < len(reader.parts[args[0]]):
        reader.add("Identity", (reader.parts[args[0]][args[1]],), out)
    elif operator in _PLAIN:
        known_names = named[:1] if operator in _OF_ONE else named
        reader.add(
            _PLAIN[operator], _promoted(reader, node, known_names) if _element(node) in _REAL else known_names, out
        )
    elif operator in _FIRST:
        reader.add("Identity", named[:1], out)
    elif operator in _CASTS:
        reader.add("Cast", named[:1], out, to=_element(node))
    elif operator in ("dequantize_per_tensor", "dequantize_per_channel"):
        reader.add("DequantizeLinear", named[:1], out)
    elif operator in ("cat", "stack"):
        reader.add("Concat", [reader.name(operand) for operand in args[0]], out)
    elif operator in ("clamp", "clamp_min", "clamp_max", "hardtanh"):
        _clamp(reader, node, operator, named[0], out)
    elif operator == "cumsum":
        reader.add("CumSum", named[:2], out)
    elif operator == "sum":
        reader.add("ReduceSum", named[:1], out)
    else:
        for op, inputs, attributes in _indexing(reader, operator, args, named):
            reader.add(op, inputs, out, **attributes)


def _is_truth(node: Any) -> bool:
    return _element(node) == _ELEMENTS["bool"]


def _element(node: Any) -> int:
    """The type of what it gives, as ONNX numbers them (TensorProto.DataType); float32 where nobody knows."""
    return _ELEMENTS.get(str(getattr(node.meta.get("val"), "dtype", "")).removeprefix("torch."), 1)


def _promoted(reader: _Reader, node: Any, operands: Operands) -> list[str]:
    """Whole numbers of an operator that gives real ones become real before it."""
    names = []
    for arg, name in zip(node.args, operands, strict=False):
        if name and _is_node(arg) and _element(arg) not in _REAL:
            reader.add("Cast", [name], f"{reader.names[node]}<{name}", to=_element(node))
            name = f"{reader.names[node]}<{name}"
        names.append(name)
    return names


def _clamp(reader: _Reader, node: Any, operator: str, first: str, out: str) -> None:
    ends = [bound if isinstance(bound, int | float) else None for bound in (*node.args[1:], None, None)]
    low = None if operator == "clamp_max" else node.kwargs.get("min", ends[0])
    high = node.kwargs.get("max", ends[0] if operator == "clamp_max" else ends[1])
    bounds = {name: bound for name, bound in (("min", low), ("max", high)) if isinstance(bound, int | float)}
    reader.add("Clip", [first], out, **bounds)


Asked = Iterator[tuple[str, Operands, Mapping[str, Any]]]


def _indexing(reader: _Reader, operator: str, args: Sequence[Any], named: Operands) -> Asked:
    """What reads or writes at places that an input names."""
    match operator:
        case "embedding" | "embedding_bag" | "_embedding_bag":
            yield "Gather", named[:2], {}
        case "index_select":
            yield "Gather", (named[0], named[2]), {"axis": int(args[1])}
        case "gather" | "take_along_dim":
            yield "GatherElements", (named[0], named[2]), {"axis": int(args[1])}
        case "scatter" | "scatter_add" | "scatter_reduce" | "index_add" | "index_copy" | "index_fill":
            yield "ScatterElements", (named[0], named[2]), {"axis": int(args[1])}
        case "index" | "index_put" | "_unsafe_index":
            for axis, index in enumerate(args[1]):
                if index is not None and not _is_truth(index):
                    yield "Gather", (named[0], reader.name(index)), {"axis": axis}
        case "one_hot":
            count = args[1] if len(args) > 1 and isinstance(args[1], int) else -1
            if count > 0:
                yield "OneHot", (named[0], reader.name(count)), {}
        case "nll_loss" | "nll_loss_forward" | "cross_entropy_loss" | "nll_loss_nd":
            yield "NegativeLogLikelihoodLoss", named[:2], {}
        case _:
            return
