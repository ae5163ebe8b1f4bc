"""The examination that every model has, and what this zoo asks beyond it, on one page. Runs in the child alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from assay.core.model_finding import ModelFinding
from assay.models.examination.functions import functions_of
from assay.models.examination.inference import smallest
from assay.models.examination.known_values import Known, known_in
from assay.models.examination.steps import STEPS, Examination, Step
from assay.models.examination.walk import scopes
from assay_zoo.compliance.allocation import check_allocation, check_declared_sizes
from assay_zoo.compliance.loops import check_loops, nested
from assay_zoo.compliance.non_finite import check_values
from assay_zoo.compliance.policy_rules import check_claims, check_domains, check_hidden, check_versions
from assay_zoo.compliance.request import RUNAWAY, Request

if TYPE_CHECKING:
    from onnx import ModelProto


def steps_of(request: Request) -> Mapping[str, Step]:
    """In their order: shapes first, and what they cost; everything after may depend on their being small."""
    steps = dict(STEPS)
    values = steps.pop("values")
    return {
        **steps,
        "policy": partial(policy, request=request),
        "bounds": partial(bounds, request=request),
        "values": partial(_where_bounded, step=values),
    }


def policy(look: Examination, request: Request) -> Iterator[ModelFinding]:
    if look.model is None:
        return
    yield from check_versions(look.model, request)
    yield from check_domains(look.everything, functions_of(look.model), request.domains)
    yield from check_claims(look.model, request)
    if look.sound():
        yield from check_hidden(look.model)
        yield from check_values(look.everything, look.path.parent)


def bounds(look: Examination, request: Request) -> Iterator[ModelFinding]:
    if look.inferred is None or look.expanded is None:
        return
    pairs = zip(_all_known(scopes_known(look.inferred)), _all_known(scopes_known(smallest(look.expanded))), strict=True)
    for known, least in pairs:
        yield from check_loops(known, request)
        declared = list(check_declared_sizes(known, look.everything[0], request)) if known.scope.outer is None else []
        yield from declared
        if not declared and not any(finding.code == "declared-size" for finding in look.findings):
            yield from check_allocation(known, least, request)


def _where_bounded(look: Examination, step: Step) -> Iterator[ModelFinding]:
    if not any(finding.code in RUNAWAY for finding in look.findings):
        yield from step(look)


def scopes_known(model: ModelProto) -> Known:
    """What is known of the main graph."""
    return known_in(scopes(model)[0])


def _all_known(main: Known) -> list[Known]:
    """It and every subgraph, the trips of the loops around each multiplied."""
    every = [main]
    for known in every:
        every += nested(known)
    return every
