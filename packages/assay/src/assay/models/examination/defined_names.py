"""Values and nodes by name: each defined once, and before it is used.

onnx.checker finds the first of these, too, and does not tell an unsorted graph from a cyclic one, or from a name that nobody defines:
what to do is another thing each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import MODEL, ModelPart, PartKind
from assay.models.examination.value_order import order_problems
from assay.models.examination.walk import Scope, given_in


def check_names(everything: Sequence[Scope]) -> Iterator[ModelFinding]:
    """Of all graphs; those of functions are told as findings of functions."""
    for scope in everything:
        area = Area.GRAPH if scope.function is None else Area.FUNCTION
        if scope.root:  # and all that is inside it
            seen = frozenset(_defined(scope.outer)) if scope.outer is not None else frozenset[str]()
            about = MODEL if scope.function is None else ModelPart(PartKind.FUNCTION, scope.function.name)
            for code, values in order_problems(scope.graph, seen):
                yield ModelFinding(area, code, about, values)
        yield from _node_names(scope)


def _node_names(scope: Scope) -> Iterator[ModelFinding]:
    for name, count in Counter(node.name for node in scope.graph.node if node.name).items():
        if count > 1:
            area = Area.NODE if scope.function is None else Area.FUNCTION
            about = ModelPart(PartKind.NODE, name, inside=scope.where)
            yield ModelFinding(area, "duplicate-node", about, (count,), Severity.RESTRICTED)


def _defined(scope: Scope) -> set[str]:
    return given_in(scope.graph) | {name for node in scope.graph.node for name in node.output if name}
