"""The values of one graph, body or function while it is walked: what each has of a random draw, and which numbers are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto

from assay.numerics.draw import NOTHING, Draw
from assay.ports import Tensor

MOST_ELEMENTS = 1024
"""Of a stored tensor whose numbers may say whether an operator draws."""
_MOST_EVALUATED = 2**12
"""Elements that a node may read, and those that it may give, for its numbers to be computed."""
Samples = tuple[Tensor, ...]
"""The numbers of a value in each sample, or once for all of them."""


@dataclass(eq=False)
class Scope:
    """`outer` is the graph around a body, `bound` are the formal inputs of a function with the scope and the name that a call binds
    them to, `attributes` those of the call. Of `formal` inputs of a body nothing is known."""

    opsets: Mapping[str, int]
    outer: Scope | None = None
    drawn: dict[str, Draw] = field(default_factory=dict)
    producers: dict[str, NodeProto] = field(default_factory=dict)
    stored: dict[str, onnx.TensorProto] = field(default_factory=dict)
    bound: Mapping[str, tuple[Scope, str]] = field(default_factory=dict)
    attributes: Mapping[str, AttributeProto] = field(default_factory=dict)
    formal: frozenset[str] = frozenset()
    known: dict[str, Samples | None] = field(default_factory=dict)

    def add_nodes(self, nodes: Sequence[NodeProto]) -> None:
        self.producers.update((name, node) for node in nodes for name in node.output if name)

    def draw(self, name: str) -> Draw:
        if name in self.drawn:
            return self.drawn[name]
        return self.outer.draw(name) if self.outer is not None and name not in self.formal else NOTHING

    def is_given(self, name: str) -> bool:
        """Whether an optional input is there: a call may leave out what its function reads."""
        if name in self.bound:
            scope, outside = self.bound[name]
            return scope.is_given(outside)
        return bool(name)

    def attribute(self, node: NodeProto, name: str) -> Any:
        """None where the node does not state it; of a function's body, what the call states."""
        stated = next((attribute for attribute in node.attribute if attribute.name == name), None)
        if stated is not None and stated.ref_attr_name:
            stated = self.attributes.get(stated.ref_attr_name)
        return None if stated is None else onnx.helper.get_attribute_value(stated)

    def _as_called(self, node: NodeProto) -> NodeProto:
        """With the attributes that a call states in place of the references to them."""
        if not any(attribute.ref_attr_name for attribute in node.attribute):
            return node
        called = NodeProto()
        called.CopyFrom(node)
        del called.attribute[:]
        for attribute in node.attribute:
            stated = self.attributes.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
            if stated is not None:
                called.attribute.add().CopyFrom(stated)
                called.attribute[-1].name = attribute.name
        return called

    def numbers(self, name: str) -> Samples | None:
        """Those of a value that follow from stored numbers and from the samples alone; None where nobody knows them."""
        pending: list[tuple[Scope, str]] = [(self, name)]
        entered = set()
        while pending:  # not by recursion: a graph may be thousands of nodes deep
            scope, value_name = pending[-1]
            open_ = [(other, need) for other, need in scope._needs(value_name) if need not in other.known]
            if value_name in scope.known or not open_ or (id(scope), value_name) in entered:
                pending.pop()
                if value_name not in scope.known:  # where something is open still, the value depends on itself
                    scope.known[value_name] = None if open_ else scope._numbers(value_name)
            else:
                entered.add((id(scope), value_name))
                pending.extend(open_)
        return self.known[name]

    def _needs(self, name: str) -> list[tuple[Scope, str]]:
        """From which other values the numbers of this one follow."""
        if name in self.stored:
            return []
        if name in self.bound:
            return [self.bound[name]]
        if name in self.producers:
            node = self.producers[name]
            return (
                []
                if self.draw(name) or _has_body(node)
                else [(self, read_name) for read_name in node.input if read_name]
            )
        return [(self.outer, name)] if self.outer is not None and name not in self.formal else []

    def _numbers(self, name: str) -> Samples | None:
        if name in self.stored:
            return _small(self.stored[name])
        if name in self.producers and name not in self.bound:
            node = self.producers[name]
            return None if self.draw(name) or _has_body(node) else self._evaluated(node, name)
        return next((other.known[need] for other, need in self._needs(name)), None)

    def _evaluated(self, node: NodeProto, name: str) -> Samples | None:
        given = {read_name: self.known[read_name] for read_name in node.input if read_name}
        known = {read_name: values for read_name, values in given.items() if values is not None}
        if len(known) < len(given):
            return None
        count = max((len(values) for values in known.values()), default=1)
        fed = [{read_name: values[at % len(values)] for read_name, values in known.items()} for at in range(count)]
        try:
            return tuple(_answers(self._as_called(node), name, self.opsets, fed))
        except Exception:  # noqa: BLE001  onnx.reference has no class for it, or refuses the numbers: then they are not known
            return None


def _has_body(node: NodeProto) -> bool:
    return any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute)


def domain_of(name: str) -> str:
    """The standard's own has two names."""
    return "" if name == "ai.onnx" else name


def opsets_of(proto: ModelProto | FunctionProto) -> dict[str, int]:
    return {domain_of(entry.domain): entry.version for entry in proto.opset_import}


def graph_scope(
    graph: GraphProto,
    opsets: Mapping[str, int],
    samples: Sequence[Mapping[str, Tensor]] = (),
    outer: Scope | None = None,
) -> Scope:
    """Of a whole graph, with what is fed to it, or of a body within another."""
    formal = frozenset(value.name for value in graph.input)
    scope = Scope(opsets, outer, formal=formal, attributes=outer.attributes if outer is not None else {})
    scope.stored = {tensor.name: tensor for tensor in graph.initializer}
    fed = [name for name in formal if samples and all(name in sample for sample in samples)]
    scope.known = {name: tuple(np.asarray(sample[name]) for sample in samples) for name in fed}
    scope.add_nodes(graph.node)
    return scope


def function_scope(function: FunctionProto, node: NodeProto, caller: Scope) -> Scope:
    """Of the body of a function of the model, as `node` calls it."""
    inputs = [*node.input, *[""] * (len(function.input) - len(node.input))]
    bound = {formal: (caller, outside) for formal, outside in zip(function.input, inputs, strict=False)}
    stated = {attribute.name: attribute for attribute in function.attribute_proto}
    for attribute in node.attribute:
        own = caller.attributes.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
        if own is not None:
            stated[attribute.name] = own
    scope = Scope(opsets_of(function), bound=bound, attributes=stated)
    scope.drawn = {formal: caller.draw(outside) for formal, outside in zip(function.input, inputs, strict=False)}
    scope.add_nodes(function.node)
    return scope


def _small(tensor: onnx.TensorProto) -> Samples | None:
    outside = tensor.data_location == onnx.TensorProto.EXTERNAL
    if outside or prod(tensor.dims) > MOST_ELEMENTS:
        return None
    return (onnx.numpy_helper.to_array(tensor),)


def _answers(
    node: NodeProto, name: str, opsets: Mapping[str, int], fed: Sequence[Mapping[str, Tensor]]
) -> list[Tensor]:
    """Raises ValueError where the answer would be large, or where nobody knows how large."""
    from onnx.reference import ReferenceEvaluator

    unknown = onnx.TypeProto()
    inputs = [
        onnx.helper.make_value_info(input_name, unknown) for input_name in dict.fromkeys(filter(None, node.input))
    ]
    graph = onnx.helper.make_graph([node], "one", inputs, [onnx.helper.make_value_info(name, unknown)])
    imports = [onnx.helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    model = onnx.helper.make_model(graph, opset_imports=imports)
    for sample in fed:
        _check_small(model, sample)
    evaluator = ReferenceEvaluator(model)
    return [np.asarray(next(iter(evaluator.run([name], dict(sample))))) for sample in fed]


def _check_small(model: ModelProto, sample: Mapping[str, Tensor]) -> None:
    """By the sizes that inference finds for the numbers that are fed."""
    if sum(array.size for array in sample.values()) > _MOST_EVALUATED:
        raise ValueError(_MOST_EVALUATED)
    fed = ModelProto()
    fed.CopyFrom(model)
    del fed.graph.input[:]
    fed.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in sample.items())
    fed.ir_version = max(fed.ir_version, 4)
    kind = onnx.shape_inference.infer_shapes(fed, data_prop=True).graph.output[0].type.tensor_type
    known = kind.HasField("shape") and all(dim.HasField("dim_value") for dim in kind.shape.dim)
    if not known or prod(dim.dim_value for dim in kind.shape.dim) > _MOST_EVALUATED:
        raise ValueError(_MOST_EVALUATED)
