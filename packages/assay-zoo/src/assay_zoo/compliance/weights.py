"""Weights that poison every answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.models.examination.tensors import tensors_of
from assay.models.examination.text import shown
from assay.models.examination.walk import NAN_IS_A_WORD, Scope, called, domain_of
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
