"""Weights that poison every answer, and weights that cost and do nothing."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.models.examination.tensors import tensors_of
from assay.models.examination.text import shown
from assay.models.examination.walk import NAN_IS_A_WORD, Scope, called, domain_of, inside
from assay_zoo.compliance.values import value_problem


def check_values(everything: Sequence[Scope], folder: Path) -> Iterator[ModelFinding]:
    """NaN and infinity, in external data as well, which must have been found sound before."""
    for held in tensors_of(everything):
        problem = value_problem(held.tensor, folder) if held.domain not in NAN_IS_A_WORD else ""
        if problem:
            yield ModelFinding(held.area, "not-finite", held.what, (problem,), Severity.RESTRICTED)
    for scope in everything:
        for index, node in enumerate(scope.graph.node):
            for attribute in node.attribute if domain_of(node.domain) not in NAN_IS_A_WORD else ():
                if any(map(math.isnan, (attribute.f, *attribute.floats))):
                    about = f"attribute {shown(attribute.name)} of {called(node, index)}{scope.where}"
                    yield ModelFinding(Area.ATTRIBUTE, "nan-attribute", about, (), Severity.RESTRICTED)


def check_use(everything: Sequence[Scope]) -> Iterator[ModelFinding]:
    """Weights that nobody reads, or that are stored twice: remarks."""
    for scope in everything:
        below = _below(scope)
        used = {name for inner in below for node in inner.graph.node for name in node.input}
        used |= {value.name for inner in below for value in inner.graph.output}
        for tensor in scope.graph.initializer:
            if tensor.name not in used:
                yield _remark("unused-initializer", tensor.name, scope)
        same: dict[tuple[int, tuple[int, ...], bytes], list[str]] = defaultdict(list)
        for tensor in scope.graph.initializer:
            if len(tensor.raw_data) > 64:
                same[tensor.data_type, tuple(tensor.dims), tensor.raw_data].append(tensor.name)
        twice = Counter({names[0]: len(names) for names in same.values() if len(names) > 1})
        for name, count in twice.items():
            yield _remark("duplicate-initializer", name, scope, count)


def _below(scope: Scope) -> list[Scope]:
    found = [scope]
    for one in found:
        found += inside(one)
    return found


def _remark(code: str, name: str, scope: Scope, *values: int) -> ModelFinding:
    return ModelFinding(Area.GRAPH, code, f"initializer {shown(name)}{scope.where}", values, Severity.REMARK)
