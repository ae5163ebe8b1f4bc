"""Operators that the standard defines by a function body, each beside that body: one is the oracle of the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from assay.core.case import Case, Contract, Inputs, Tolerance
from assay.core.dtype import UNIT_ROUNDOFF
from assay.suites.onnx_node import OnnxNode

BODY = re.compile(r"(?P<operator>.+)_expanded(_ver\d+)?")
"""How onnx names the case that holds the body."""


class OnnxFunctions:
    """Conformance: `assay.testing.check_suite`. The seed shuffles the published inputs for a second sample."""

    name = "onnx-functions"
    about = (
        "operators of onnx and the function bodies that define them, on the same inputs: each the oracle of the other"
    )

    def cases(self, *, seed: int) -> Iterator[Case]:
        """Named by the case of onnx that holds the body: `onnx-functions/test_softmax_axis_0_expanded`."""
        yield from paired(OnnxNode().cases(seed=seed), seed)

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:  # noqa: ARG002
        """Everything is there already."""
        for case in cases:
            yield case, ""


def paired(cases: Iterable[Case], seed: int) -> Iterator[Case]:
    """A case for each body whose operator is among them, and that computes its answer."""
    known = {case.name: case for case in cases}
    for case in known.values():
        named = BODY.fullmatch(case.name)
        operator = known.get(named["operator"]) if named else None
        if operator is not None and not (_is_drawn(operator) or _is_drawn(case)):
            yield _paired(operator, case, seed)


def _is_drawn(case: Case) -> bool:
    """Whether every answer is another each time, by the standard: nothing to compare it with."""
    from onnx import load

    from assay.numerics.drawn_outputs import drawn_outputs

    model = load(case.model.source)
    return len(drawn_outputs(model)) == len(model.graph.output)


def _paired(operator: Case, body: Case, seed: int) -> Case:
    return Case(
        name=f"onnx-functions/{body.model.name}",
        model=operator.model,
        inputs=Inputs(golden=operator.inputs.golden, seed=seed, samples=operator.inputs.samples),
        contract=Contract(tolerances=_allowed(operator), published=True),
        body=body.model,
    )


def _allowed(operator: Case) -> dict[str, Tolerance]:
    """Each of the two may be off by as much as the standard allows, and by two units of the output's own type: the standard's
    1e-3 is less than one of bfloat16."""
    tolerance = operator.contract.tolerances["*"]
    every = Tolerance(2 * (tolerance.rtol or 0.0), 2 * (tolerance.atol or 0.0))
    units = {spec.name: 4 * UNIT_ROUNDOFF[spec.dtype] for spec in operator.model.outputs if spec.dtype == "bfloat16"}
    coarse = {name: Tolerance(unit, every.atol) for name, unit in units.items()}
    return {"*": every, **coarse}
