"""What an engine does not read of a case: its wrong answer is the right one of the case without that attribute or optional input."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import onnx

from assay.core.screening import IGNORED, INPUT, NO_ZERO, Screened
from assay.errors import Lowering
from assay.generators.ablations import ablate, without_optional
from assay.generators.case_values import CaseValues
from assay.generators.comparison import compare
from assay.generators.narrowing import Run, Trial, without_attribute
from assay.generators.written_with_exp import written_with_exp
from assay.ports.generator import GeneratedCase

ANOTHER = 0.625
"""No operator has this default."""


def ablate_fully(trial: Trial, ablated: Mapping[str, bool], run: Run) -> dict[str, bool]:
    """What was tried and is tried, and by "ignored Shape.start" whether that is so, of each attribute and input without which the case is
    right. Of one node alone, whose answers are there."""
    tried = {**ablated, **ablate(trial, run)}
    if trial.is_little_off:
        tried |= _in_other_words(trial.case, run)
    nodes = onnx.load_from_string(trial.case.model).graph.node
    if len(nodes) != 1 or not trial.answers:
        return tried
    for name, case in _without_each(trial.case, nodes[0].op_type, [name for name, right in tried.items() if right]):
        due = CaseValues(case)
        if due.is_valid() and _is_evaluated(due):
            tried[IGNORED + name] = tried.get(IGNORED + name, False) or not compare(dict(trial.answers), due).kind
            others = with_another_number(trial.case, name.partition(".")[2]) if tried[IGNORED + name] else ()
            if any(run(other).is_right for other in others):
                tried[NO_ZERO] = True
    return tried


def with_another_number(case: GeneratedCase, attribute: str) -> Iterator[GeneratedCase]:
    """Where that attribute is a real number, and 0: an engine that does not read it at all is wrong with another number, too. Whole numbers
    are axes and flags, whose 0 is one of their values."""
    model = onnx.load_from_string(case.model)
    for stated in model.graph.node[0].attribute:
        if stated.name == attribute and stated.type == onnx.AttributeProto.FLOAT and not stated.f:
            stated.f = ANOTHER
            yield dataclasses.replace(case, model=model.SerializeToString(deterministic=True))


def _in_other_words(case: GeneratedCase, run: Run) -> dict[str, bool]:
    """Whether the curve is right once it is written with Exp. Not named where that says nothing of Exp: it is refused, has no numbers, or
    is wrong in another way than a little."""
    tried = dict[str, bool]()
    for name, written in written_with_exp(case):
        trial = run(written)
        if trial.became is Screened.RIGHT or (trial.became is Screened.SUSPECT and trial.is_little_off):
            tried[name] = trial.became is Screened.RIGHT
    return tried


def _without_each(case: GeneratedCase, operator: str, names: list[str]) -> Iterator[tuple[str, GeneratedCase]]:
    for name in names:
        owner, _, attribute = name.partition(".")
        if owner == operator and attribute:
            for fixed in (True, False):
                yield name, without_attribute(case, 0, attribute, fixed=fixed)
    yield from ((name, without) for name, without in without_optional(case) if INPUT in name and name in names)


def _is_evaluated(values: CaseValues) -> bool:
    try:
        values.evaluate()
    except Lowering:
        return False
    return True
