"""Values and nodes by name: each defined once, before it is used, and not in the shadow of another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from assay.models.onnx_graph import graph_problems
from assay_zoo.compliance.finding import Area, Finding, shown
from assay_zoo.compliance.walk import Scope, given_in

_KINDS = (
    (re.compile(r"two (inputs|outputs|initializers) called|defines the value .* twice"), "duplicate-value"),
    (re.compile(r"nobody defines"), "undefined-value"),
    (re.compile(r"cyclic"), "cycle"),
    (re.compile(r"unsorted"), "unsorted"),
    (re.compile(r"nobody computes"), "missing-output"),
)


def check_names(everything: Sequence[Scope]) -> Iterator[Finding]:
    """Of all graphs; those of functions are told as findings of functions."""
    for scope in everything:
        if scope.root:  # and all that is inside it
            yield from _values(scope)
        else:
            yield from _shadows(scope)
        yield from _node_names(scope)
        yield from _outputs(scope)


def _values(scope: Scope) -> Iterator[Finding]:
    seen = frozenset(_defined(scope.outer)) if scope.outer is not None else frozenset[str]()
    told = f"the model{scope.where}" if scope.function is None else f"function {shown(scope.function.name)}"
    for problem in graph_problems(scope.graph, seen):
        kind = next((name for pattern, name in _KINDS if pattern.search(problem)), "names")
        yield Finding(_area(scope), kind, f"{told} {problem}")


def _node_names(scope: Scope) -> Iterator[Finding]:
    for name, count in Counter(node.name for node in scope.graph.node if node.name).items():
        if count > 1:
            area = Area.NODE if scope.function is None else Area.FUNCTION
            told = f"{count} nodes are called {shown(name)}{scope.where}; give each its own name"
            yield Finding(area, "duplicate-node", told)


def _shadows(scope: Scope) -> Iterator[Finding]:
    """A name of a subgraph that hides one around it: the specification forbids it, and runtimes disagree about it."""
    around: set[str] = set()
    inner, outer = scope, scope.outer
    while outer is not None:
        around |= _visible(outer, inner)
        inner, outer = outer, outer.outer
    own = given_in(scope.graph) | {name for node in scope.graph.node for name in node.output if name}
    for name in sorted(own & around):
        told = f"the value {shown(name)}{scope.where} hides one of the same name around it; give it another name"
        yield Finding(_area(scope), "shadowed-value", told)


def _visible(outer: Scope, inner: Scope) -> set[str]:
    """What the graph around has defined before the node that holds `inner`."""
    before = list(outer.graph.node)[: inner.holder]
    return given_in(outer.graph) | {name for node in before for name in node.output if name}


def _outputs(scope: Scope) -> Iterator[Finding]:
    if any(not value.name for value in (*scope.graph.input, *scope.graph.output)):
        yield Finding(_area(scope), "unnamed-value", f"an input or output{scope.where} has no name; name it")


def _defined(scope: Scope | None) -> set[str]:
    if scope is None:
        return set()
    return given_in(scope.graph) | {name for node in scope.graph.node for name in node.output if name}


def _area(scope: Scope) -> Area:
    return Area.GRAPH if scope.function is None else Area.FUNCTION
