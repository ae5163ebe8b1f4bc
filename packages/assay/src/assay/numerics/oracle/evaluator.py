"""onnx.reference with its failures named, its memory bounded, its slow operators replaced, and a variant that computes in
one floating type throughout: double, the oracle."""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpFunction, OpRun, RefAttrName

from assay.core.constraint import Constraint, unmet_note
from assay.core.dtype import dtype_name
from assay.core.note import NoteCode, noted
from assay.errors import Lowering, Unsupported
from assay.numerics.attributes import NotComputed
from assay.numerics.operators.index import in_domain, names_where
from assay.numerics.operators.record import MICROSOFT
from assay.numerics.oracle.contrib.decompose_contrib import decomposed
from assay.numerics.oracle.counting import with_bounds_types
from assay.numerics.oracle.decompose import expanded
from assay.numerics.oracle.domains import normalize
from assay.numerics.oracle.hooks import SILENT, Call, Kernel, Values, current
from assay.numerics.oracle.reference_classes import reference_classes
from assay.numerics.oracle.to_float64 import to_float64
from assay.numerics.oracle.trees import LOOKUPS
from assay.numerics.shapes.constraints import Conflict
from assay.ports import Tensors

_REAL = ("float64", "float32", "float16", "bfloat16")
_NARROW_INSIDE = names_where(lambda record: record.single_inside)
KERNELS: dict[str, Kernel] = in_domain("", lambda record: record.kernel)
"""Operators in numpy, by name. Each is compared with onnx.reference on every node case of the standard."""
_ANY_TYPE = names_where(lambda record: record.takes_halves)
_KERNELS = {"": KERNELS, "ai.onnx": KERNELS, MICROSOFT: in_domain(MICROSOFT, lambda record: record.kernel)}
_PYTHON = (ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, RuntimeError)


class Evaluator(ReferenceEvaluator):
    """Evaluates a graph node by node, dropping each value after its last use. Slow operators are our own.

    Every operator goes past the current probe (`probe.observed_by`), those of subgraphs and function bodies too.
    """

    computes_in = ""
    """The one floating type of every value: "float64", "float32", or "" for the model's own types."""

    def __init__(self, proto: Any, *, new_ops: list[type[OpRun]] | None = None, **arguments: Any) -> None:
        if isinstance(proto, onnx.ModelProto):
            normalize(proto)
            proto = decomposed(proto)
        own = [*reference_classes(one_type=bool(self.computes_in)), *(new_ops or ())]  # the last of a name counts
        super().__init__(proto, new_ops=[*{(of.op_domain, of.__name__): of for of in own}.values()], **arguments)
        self._labels: dict[int, str] = {}
        self._freed: dict[frozenset[str], dict[int, list[str]]] = {}
        self._fixed: dict[int, tuple[dict[str, Any], frozenset[str], tuple[str, ...], tuple[str, ...]]] = {}

    def evaluate(self, tensors: Tensors, taps: Sequence[str] = (), known: Tensors | None = None) -> list[Any]:
        """Outputs in the model's order, then the values called `taps`. Raises Unsupported or Lowering that names the node;
        MemoryError as it comes. A tensor called like an initializer takes its place. What is `known` already is not
        computed again: operators all of whose outputs are, and those that only they need, must not be missing there."""
        values: dict[str, Any] = {"": None, **self.rt_inits_, **tensors, **(known or {})}
        names = [*self.output_names, *taps]
        last_use = self._last_uses(frozenset(names))
        skipped = self.skippable(frozenset(known), names) if known else frozenset()
        for position, node in enumerate(self.rt_nodes_):
            if position in skipped:
                continue
            for name, value in zip(node.output, self._step(node, values, None), strict=False):
                values[name] = value
            for name in last_use.get(position, ()):
                values.pop(name, None)
        return [values[name] for name in names]

    def plan(self, outputs: frozenset[str]) -> Iterator[tuple[OpRun, Sequence[str]]]:
        """Every operator in its turn, and the values that nobody needs after it."""
        last_use = self._last_uses(outputs)
        return ((node, last_use.get(position, ())) for position, node in enumerate(self.rt_nodes_))

    def step(self, node: OpRun, values: dict[str, Any]) -> Values:
        """One operator of the graph on the values called as its inputs."""
        return self._step(node, values, None)

    def call(self, node: OpRun, inputs: Values) -> Call:
        """What a probe is told of an operator of the graph."""
        return self._call(node, inputs, {}, self._labels.get(id(node)) or self._label(node))

    def skippable(self, known: frozenset[str], outputs: Sequence[str]) -> frozenset[int]:
        """Positions of operators that nobody needs who has these values."""
        needed = {name for name in outputs if name not in known}
        skipped = []
        for position in range(len(self.rt_nodes_) - 1, -1, -1):
            node = self.rt_nodes_[position]
            if needed.isdisjoint(node.output):
                skipped.append(position)
            else:
                needed.update(name for name in _names_read(node.onnx_node) if name not in known)
        return frozenset(skipped)

    def boundary(
        self, touched: set[str], touches: Callable[[tuple[str, ...]], bool], outputs: Sequence[str]
    ) -> list[str]:
        """Values computed from none of `touched` and by no operator that `touches` what it gives, where they meet the
        others or are `outputs`: with these known, nothing before them need be computed again. None where functions hide
        what happens inside of them."""
        if self.functions_:
            return []
        reached, met = set(touched), set()
        for node in self.rt_nodes_:
            read = [name for name in _names_read(node.onnx_node) if name]
            if not reached.isdisjoint(read) or touches(tuple(node.output)):
                reached.update(node.output)
                met.update(read)
        made = {name for node in self.rt_nodes_ for name in node.output if name}
        return sorted((met | set(outputs)) & made - reached)

    def follow(self, values: Tensors, names: Sequence[str], value_name: str) -> Any:
        """`value_name`, evaluated from `values` through the operators that give `names`, in that order."""
        known: dict[str, Any] = {"": None, **self.rt_inits_, **values}
        for name in names:
            node = next(node_run for node_run in self.rt_nodes_ if name in node_run.output)
            for output, value in zip(node.output, self._step(node, known, None), strict=False):
                known.setdefault(output, value)
        return known[value_name]

    def run(  # type: ignore[override]
        self, output_names: Any, feed_inputs: Any, attributes: Any = None, **others: Any
    ) -> Any:
        """How onnx.reference enters subgraphs and function bodies."""
        if others.get("intermediate"):
            return super().run(output_names, feed_inputs, attributes=attributes, **others)
        values: dict[str, Any] = {"": None, **self.rt_inits_, **feed_inputs}
        for node in self.rt_nodes_:
            for name, value in zip(node.output, self._step(node, values, attributes), strict=False):
                values[name] = value
        return [values[name] for name in (output_names or self.output_names)]

    def _step(self, node: OpRun, values: dict[str, Any], attributes: Any) -> Values:
        label = self._labels.get(id(node)) or self._label(node)
        try:
            results = self._evaluate(node, values, attributes, label)
        except NotComputed as error:
            raise Unsupported(
                noted(NoteCode.FORM_NOT_COMPUTED, operator=node.op_type, stated=error.stated), node=label
            ) from error
        except Conflict as conflict:
            demand = Constraint(conflict.code, conflict.facts, node.op_type, label)
            raise Lowering(unmet_note(demand), node=label) from conflict
        except NotImplementedError as error:
            raise Unsupported(
                noted(NoteCode.EVALUATOR_REFUSES, operator=node.op_type, error=str(error)), node=label
            ) from error
        except (*_PYTHON, TypeError, ValueError) as error:
            # onnx.reference wraps a TypeError in a list of attributes; the cause says what happened.
            reason = str(error.__cause__ or error)
            raise Lowering(noted(NoteCode.EVALUATOR_FAILED, operator=node.op_type, error=reason), node=label) from error
        if self.computes_in and any(self._is_of_another_type(result) for result in results):
            if node.domain == "ai.onnx.ml" and node.op_type in LOOKUPS:
                return tuple(
                    result.astype(self.computes_in) if self._is_of_another_type(result) else result
                    for result in results
                )
            raise Unsupported(
                noted(NoteCode.EVALUATOR_LACKS, operator=node.op_type, type=str(self.computes_in)), node=label
            )
        return results

    def _label(self, node: OpRun) -> str:
        label: str = node.onnx_node.name or f"{node.op_type} -> {', '.join(node.output)}"
        self._labels[id(node)] = label
        return label

    def _is_of_another_type(self, value: Any) -> bool:
        if not isinstance(value, np.ndarray) or value.dtype.kind in "biu" or value.dtype == self.computes_in:
            return False
        kind = dtype_name(value.dtype)
        return kind in _REAL and kind != self.computes_in

    def _evaluate(self, node: OpRun, values: dict[str, Any], attributes: Any, label: str) -> Values:
        inputs = tuple(values[name] for name in node.input)
        linked = {"linked_attributes": attributes} if node.has_linked_attribute and attributes else {}
        if node.need_context() or isinstance(node, OpFunction):
            context = {"context": values} if node.need_context() else {}
            outer: Values = node.run(*inputs, **context, **linked)
            return outer  # its inner operators went past the probe
        probe = current()
        kernel = getattr(node, "other_kernel", None) or kernel_of(node.domain, node.op_type)  # of another reading
        kernel = kernel if node.op_type in _ANY_TYPE or _is_plain(inputs) else None
        if kernel is None and probe is SILENT:
            plain: Values = node.run(*inputs, **linked)
            return plain
        call = self._call(node, inputs, attributes or {}, label)
        call.probe = probe
        results_of_kernel = kernel(call) if kernel is not None else None
        results: Values = node.run(*inputs, **linked) if results_of_kernel is None else results_of_kernel
        if probe is SILENT:
            return results
        if call.marked:
            return probe.answer(call, results)

        def again(*others: Any) -> Values:
            outputs = kernel(call.silent(others)) if kernel is not None else None
            return node.run(*others, **linked) if outputs is None else outputs

        return probe.answer(call, probe.node(call, results, again))

    def _call(self, node: OpRun, inputs: Values, linked: Any, label: str) -> Call:
        key = id(node)
        fixed = self._fixed.get(key) or self._facts(node, linked)
        if not node.has_linked_attribute:
            self._fixed[key] = fixed
        attributes, explicit, outputs, reads = fixed
        version = self.opsets.get(node.domain, 1)
        return Call(
            node.op_type, version, inputs, attributes, explicit, outputs, label, domain=node.domain, reads=reads
        )

    def _facts(
        self, node: OpRun, linked: Any
    ) -> tuple[dict[str, Any], frozenset[str], tuple[str, ...], tuple[str, ...]]:
        """Attributes, those that the node names itself, what it gives and what it takes."""
        attributes = {name: getattr(node, name) for name in node.attributes_names_}
        for name, value in attributes.items():
            if isinstance(value, RefAttrName):
                attributes[name] = linked.get(value.name)
        explicit = frozenset(attribute.name for attribute in node.onnx_node.attribute)
        return attributes, explicit, tuple(node.output), tuple(node.input)

    def _last_uses(self, kept: frozenset[str]) -> dict[int, list[str]]:
        if kept not in self._freed:
            self._freed[kept] = self._find_last_uses(kept)
        return self._freed[kept]

    def _find_last_uses(self, kept: frozenset[str]) -> dict[int, list[str]]:
        last: dict[str, int] = {}
        for position, node in enumerate(self.rt_nodes_):
            for name in (*node.output, *_names_read(node.onnx_node)):
                last[name] = position
        freed: dict[int, list[str]] = {}
        for name, position in last.items():
            if name and name not in kept:
                freed.setdefault(position, []).append(name)
        return freed


class WideEvaluator(Evaluator):
    """The same in float64: every graph it is given, subgraphs and function bodies too, is widened first, in place."""

    computes_in = "float64"

    def __init__(self, proto: Any, *, weights: Tensors | None = None, **arguments: Any) -> None:
        """`weights` are initializers that were taken out of the model, in whatever type."""
        if isinstance(proto, onnx.ModelProto):
            normalize(proto)
            proto = expanded(proto)
            with_bounds_types(proto)
        for node in getattr(getattr(proto, "graph", proto), "node", ()):
            if node.op_type in _NARROW_INSIDE:
                named = node.name or f"{node.op_type} -> {', '.join(node.output)}"
                raise Unsupported(noted(NoteCode.EVALUATOR_LACKS, operator=node.op_type, type="float64"), node=named)
        to_float64(proto, self.computes_in)
        super().__init__(proto, **arguments)
        self.take(weights or {})

    def take(self, weights: Tensors) -> None:
        """Initializers that were taken out of the model."""
        for name, array in weights.items():
            real = dtype_name(array.dtype) in _REAL
            with np.errstate(over="ignore"):
                self.rt_inits_[name] = array.astype(self.computes_in, copy=False) if real else array


def kernel_of(domain: str, operator: str) -> Kernel | None:
    """An operator in numpy, where there is one."""
    return _KERNELS.get(domain, {}).get(operator)


def _is_plain(inputs: Values) -> bool:
    """Narrower types go to onnx.reference's own code, whose rounding they are there to show."""
    return not any(
        isinstance(array, np.ndarray)
        and array.dtype.itemsize == 2
        and dtype_name(array.dtype) in ("float16", "bfloat16")
        for array in inputs
    )


def _names_read(node: onnx.NodeProto) -> Iterator[str]:
    """Inputs of the node and of every node in its subgraphs: those may read values of the graph around them."""
    yield from node.input
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                yield from _names_read(inner)
            yield from (output.name for output in graph.output)
