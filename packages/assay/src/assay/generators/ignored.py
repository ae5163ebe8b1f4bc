"""What an engine does not read of a case: its wrong answer is the right one of the case without that attribute or optional input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import onnx

from assay.core.screening import IGNORED, INPUT, NO_ZERO, Screened
from assay.errors import Lowering
from assay.generators.ablations import ablate, without_optional
from assay.generators.case_values import CaseValues
from assay.generators.comparison import compare
from assay.generators.narrowing import Run, Trial, without_attribute
from assay.generators.written_with_exp import written_with_exp
from assay.ports.generator import GeneratedCase


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
            if tried[IGNORED + name] and name.partition(".")[2] in _zeros(nodes[0]):
                tried[NO_ZERO] = True
    return tried


def _zeros(node: Any) -> set[str]:
    """Attributes of one number, which is 0."""
    values = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    return {name for name, value in values.items() if isinstance(value, int | float) and not value}


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
