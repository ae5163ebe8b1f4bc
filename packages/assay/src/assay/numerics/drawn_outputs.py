"""Which outputs of a model depend on a random draw: another engine draws other numbers, and so does the next call. And which on nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

from assay.numerics.draw import NOTHING, Draw
from assay.numerics.graph_scope import Samples, Scope, domain_of, function_scope, graph_scope, opsets_of
from assay.numerics.operators.index import onnx_operators
from assay.numerics.operators.record import OnnxOperator
from assay.ports import Tensor

_RATIO = 0.5
"""Of what Dropout drops where its node does not say."""
_BY_INPUT = 12
"""The opset from which an input of Dropout says whether it is in training. Before that no engine takes it for training: neither where
the standard has no training, nor where an attribute (`is_test`) could ask for it."""
_MOST_WALKED = 100_000
"""Nodes, each as often as it is called: functions that call one another twice take 30 us of a processor for each."""
_LENGTHS_UNTIL = 9
"""The opset from which Scan has no input of lengths before the others."""


def drawn_outputs(model: ModelProto, samples: Sequence[Mapping[str, Tensor]] = ()) -> dict[str, Draw]:
    """By name, of the outputs that do. `samples` are what is fed: an input may say whether Dropout is in training. Where nothing says
    it, Dropout counts as one that draws; so does all of a graph in which a draw cannot be followed."""
    drawing = next(filter(_may_draw, _every_node(model)), None)
    if drawing is None:
        return {}
    scope = graph_scope(model.graph, opsets_of(model), samples)
    try:
        _Walk(model).through(model.graph.node, scope)
    except Exception:  # noqa: BLE001  functions that call one another too often, or trouble of our own: no fault of the model
        draw = Draw(_named(drawing), _named(drawing))
        return {value.name: draw for value in model.graph.output}
    draws = {value.name: scope.draw(value.name) for value in model.graph.output}
    return {name: draw for name, draw in draws.items() if draw}


def fixed_outputs(model: ModelProto) -> frozenset[str]:
    """Those whose numbers neither an input nor a draw decides: constants, and what is made of stated sizes. What an input decides is
    followed as a draw is; one with a free dimension decides by its sizes too."""
    scope = graph_scope(model.graph, opsets_of(model))
    stored = {tensor.name for tensor in model.graph.initializer}
    scope.drawn.update((value.name, _of_input(value)) for value in model.graph.input if value.name not in stored)
    try:
        _Walk(model).through(model.graph.node, scope)
    except Exception:  # noqa: BLE001  functions that cannot be inlined: then nothing is known
        return frozenset()
    return frozenset(value.name for value in model.graph.output if not scope.draw(value.name))


def _of_input(value: ValueInfoProto) -> Draw:
    tensor = value.type.tensor_type
    stated = tensor.HasField("shape") and all(size.HasField("dim_value") for size in tensor.shape.dim)
    return Draw(value.name, "" if stated else value.name)


class _TooLong(Exception):
    """Of a walk."""


class _Walk:
    """Through nodes in their order, which is that of their data."""

    def __init__(self, model: ModelProto) -> None:
        self._functions = {
            (domain_of(function.domain), function.name, function.overload): function for function in model.functions
        }
        self._within: list[tuple[str, str, str]] = []
        self._quiet: dict[tuple[str, str, str], bool] = {}
        self._walked = 0
        self._control: dict[str, Callable[[NodeProto, Mapping[str, GraphProto], Scope], Sequence[Draw]]] = {
            "If": self._if,
            "Loop": self._loop,
            "Scan": self._scan,
        }

    def through(self, nodes: Iterable[NodeProto], scope: Scope) -> None:
        for node in nodes:
            self._walked += 1
            if self._walked > _MOST_WALKED:
                raise _TooLong
            for name, draw in zip(node.output, self._results(node, scope), strict=False):
                if name:
                    scope.drawn[name] = draw

    def _results(self, node: NodeProto, scope: Scope) -> Sequence[Draw]:
        key = (domain_of(node.domain), node.op_type, node.overload)
        if key in self._functions and key not in self._within:
            return self._call(key, node, scope)
        bodies = {attribute.name: attribute.g for attribute in node.attribute if attribute.HasField("g")}
        if bodies and not key[0] and node.op_type in self._control:
            return self._control[node.op_type](node, bodies, scope)
        draws = [scope.draw(name) for name in node.input]
        if bodies:
            return [_any_of(draws) | draw for body in bodies.values() for draw in self._body(body, draws, scope)]
        return [_result(node, draws, scope)] * len(node.output)

    def _call(self, key: tuple[str, str, str], node: NodeProto, scope: Scope) -> list[Draw]:
        function = self._functions[key]
        if self._is_quiet(key) and not any(map(scope.draw, node.input)):
            return [NOTHING] * len(function.output)
        inner = function_scope(function, node, scope)
        self._within.append(key)
        self.through(function.node, inner)
        self._within.pop()
        return [inner.draw(name) for name in function.output]

    def _is_quiet(self, key: tuple[str, str, str]) -> bool:
        """Whether no node draws in the function and in those that it calls."""
        if key not in self._quiet:
            self._quiet[key] = True  # one that calls itself
            nodes = list(_with_bodies(self._functions[key].node))
            called = {(domain_of(node.domain), node.op_type, node.overload) for node in nodes} & self._functions.keys()
            self._quiet[key] = not any(map(_may_draw, nodes)) and all(map(self._is_quiet, called))
        return self._quiet[key]

    def _body(self, body: GraphProto, draws: Sequence[Draw], scope: Scope) -> list[Draw]:
        inner = graph_scope(body, scope.opsets, outer=scope)
        inner.drawn = {value.name: draw for value, draw in zip(body.input, draws, strict=False)}
        self.through(body.node, inner)
        return [inner.draw(value.name) for value in body.output]

    def _if(self, node: NodeProto, bodies: Mapping[str, GraphProto], scope: Scope) -> list[Draw]:
        known = scope.numbers(node.input[0])
        taken = bodies if known is None else {"then_branch" if array.all() else "else_branch" for array in known}
        branch_draws = [self._body(body, (), scope) for name, body in bodies.items() if name in taken]
        which = scope.draw(node.input[0]).throughout
        return [_any_of(branches) | which for branches in zip_longest(*branch_draws, fillvalue=NOTHING)]

    def _loop(self, node: NodeProto, bodies: Mapping[str, GraphProto], scope: Scope) -> list[Draw]:
        count, condition, *carried = [scope.draw(name) for name in node.input]
        (body,) = bodies.values()
        results = self._repeated(body, [NOTHING, condition], carried, [], scope)
        again, *outputs = results
        often = (count | condition | again).throughout
        return [output | often for output in outputs]

    def _scan(self, node: NodeProto, bodies: Mapping[str, GraphProto], scope: Scope) -> list[Draw]:
        draws = [scope.draw(name) for name in node.input]
        lengths = draws[:1] if scope.opsets.get("", _BY_INPUT) < _LENGTHS_UNTIL else []
        draws = draws[len(lengths) :]
        states = len(draws) - int(scope.attribute(node, "num_scan_inputs") or 0)
        (body,) = bodies.values()
        results = self._repeated(body, [], draws[:states], draws[states:], scope)
        return [result | _any_of(lengths).throughout for result in results]

    def _repeated(
        self, body: GraphProto, before: list[Draw], carried: list[Draw], after: list[Draw], scope: Scope
    ) -> list[Draw]:
        """The outputs of a body that is fed with what it carries, until nothing new is drawn. A loop has its condition before that."""
        first = 1 if before else 0
        while True:
            results = self._body(body, [*before, *carried, *after], scope)
            fed = [draw | other for draw, other in zip(carried, results[first:], strict=False)]
            if fed == carried:
                return [*results[:first], *carried, *results[first + len(carried) :]]
            carried = fed


def _result(node: NodeProto, draws: Sequence[Draw], scope: Scope) -> Draw:
    """Of each output of an operator without a body."""
    record = _record(node)
    if record.reads_sizes:
        return Draw(draws[0].sizes, draws[0].sizes) if draws else NOTHING
    chosen = draws if record.decides == "set" else [draws[at] for at in record.steers if at < len(draws)]
    read = _any_of(draws)
    sizes = read.sizes or _any_of(chosen).numbers
    if _draws(node, record, scope):
        return Draw(_named(node), sizes)
    return Draw(read.numbers or sizes, sizes)


def _draws(node: NodeProto, record: OnnxOperator, scope: Scope) -> bool:
    return record.draws or (bool(record.drops) and _drops(node, record.drops, scope))


def _drops(node: NodeProto, inputs: tuple[int, ...], scope: Scope) -> bool:
    """In training, and not none of the numbers; or nothing says so."""
    ratio, training = inputs
    opset = scope.opsets.get(domain_of(node.domain), _BY_INPUT)
    if not domain_of(node.domain) and opset < _BY_INPUT:
        return False
    modes, shares = _numbers(node, training, scope, 0.0), _numbers(node, ratio, scope, _RATIO)
    if modes is None or shares is None:
        return not any(known is not None and not any(known) for known in (modes, shares))
    count = max(len(modes), len(shares))
    return any(modes[at % len(modes)] and shares[at % len(shares)] for at in range(count))


def _numbers(node: NodeProto, at: int, scope: Scope, default: float) -> list[float] | None:
    """Of an optional input in each sample; None where nobody knows them."""
    name = node.input[at] if at < len(node.input) else ""
    if not scope.is_given(name):
        return [default]
    arrays: Samples | None = scope.numbers(name)
    return None if arrays is None else [float(array.max(initial=0)) for array in arrays]


def _may_draw(node: NodeProto) -> bool:
    return _record(node).draws or bool(_record(node).drops)


def _named(node: NodeProto) -> str:
    return f"{node.op_type} {node.name or next(iter(node.output), '')!r}"


def _record(node: NodeProto) -> OnnxOperator:
    return onnx_operators().get((domain_of(node.domain), node.op_type)) or OnnxOperator(node.op_type)


def _any_of(draws: Iterable[Draw]) -> Draw:
    joined = NOTHING
    for draw in draws:
        joined |= draw
    return joined


def _every_node(model: ModelProto) -> Iterator[NodeProto]:
    for nodes in (model.graph.node, *(function.node for function in model.functions)):
        yield from _with_bodies(nodes)


def _with_bodies(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _with_bodies(attribute.g.node)
