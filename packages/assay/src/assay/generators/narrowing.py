"""A case that is wrong, made smaller: fewer nodes, fewer attributes, and wrong in the same way."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import onnx

from assay.core.screening import Screened, Unspecified
from assay.generators.case_parts import shorter, single_nodes
from assay.generators.case_values import CaseValues, with_inferred
from assay.generators.comparison import Far
from assay.generators.grid_parts import on_the_grid_before
from assay.generators.unspecified import unspecified
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase

MOST_ATTRIBUTES = 16
"""Of a case, that are tried without."""
NOT_FAR = Far()
LITTLE = 1e-2  # relative L2


@dataclass(frozen=True)
class Trial:
    """A case that was run, and what became of it. `answers` are those that are wrong."""

    case: GeneratedCase
    values: CaseValues
    became: Screened
    far: Far = NOT_FAR
    detail: str = ""
    answers: Mapping[str, Tensor] = field(default_factory=dict)
    reading: tuple[Unspecified, ...] = ()
    """What the standard does not say, where the answers are right by the other reading of it."""

    @property
    def silent(self) -> tuple[Unspecified, ...]:
        """What the standard leaves open of it."""
        return (*unspecified(self.values.model, self.values.all()), *self.reading)

    @property
    def is_right(self) -> bool:
        """By one reading of the standard at least."""
        return self.became is Screened.RIGHT or bool(self.reading)

    @property
    def is_little_off(self) -> bool:
        """Whether a part of it that is nearer than the cheap look sees may be what is wrong."""
        return self.far.kind == "values" and self.far.rel_l2 < LITTLE


Run = Callable[[GeneratedCase], Trial]


def localized(trial: Trial, run: Run) -> Trial:
    """The first node that is wrong alone, on what float64 gives for its inputs; where there is none, the fewest nodes that are
    wrong together."""
    uses = trial.case.uses
    for part in single_nodes(trial.values):
        if fails_alike(tried := run(dataclasses.replace(part, uses=uses)), trial):
            return tried
    best, shrunk = trial, True
    while shrunk:
        output = best.far.output or next(iter(best.values.outputs))
        parts = chain(shorter(best.values, output), on_the_grid_before(best.values, output))
        tried_parts = (run(dataclasses.replace(part, uses=uses)) for part in parts)
        less = next((candidate for candidate in tried_parts if fails_alike(candidate, trial)), None)
        best, shrunk = less or best, less is not None
    return best


def fails_alike(trial: Trial, other: Trial) -> bool:
    """Wrong in the same way, and not because the standard is silent of the smaller one alone."""
    return trial.became is other.became and trial.far.kind == other.far.kind and {*trial.silent} <= {*other.silent}


def simplified(trial: Trial, run: Run) -> tuple[Trial, dict[str, bool]]:
    """Without the attributes that it fails as well without; and of those left by name ("Conv.pads") whether it is right without. One
    that it cannot be made without is not named."""
    best, ablated = _without_each(trial, run)
    while len(_stated(best)) < len(_stated(trial)) and ablated:  # tried of what had more of them
        trial = best
        best, ablated = _without_each(trial, run)
    return best, ablated


def _stated(trial: Trial) -> list[tuple[int, str]]:
    nodes = trial.values.model.graph.node
    return [(place, attribute.name) for place, node in enumerate(nodes) for attribute in node.attribute]


def _without_each(trial: Trial, run: Run) -> tuple[Trial, dict[str, bool]]:
    best, ablated = trial, dict[str, bool]()
    nodes = trial.values.model.graph.node
    for place, name in _stated(trial)[:MOST_ATTRIBUTES]:
        without = [run(without_attribute(best.case, place, name, fixed=True))]
        if not fails_alike(without[0], trial):
            without.append(run(without_attribute(best.case, place, name, fixed=False)))
        if fails_alike(without[-1], trial):
            best = without[-1]
        elif any(attempt.became in (Screened.RIGHT, Screened.SUSPECT) for attempt in without):
            ablated[f"{nodes[place].op_type}.{name}"] = any(attempt.is_right for attempt in without)
    return best, ablated


def without_attribute(case: GeneratedCase, place: int, name: str, *, fixed: bool = True) -> GeneratedCase:
    """The same case with the default of that attribute; `fixed`: with the shapes that it declares."""
    model = onnx.load_from_string(case.model)
    node = model.graph.node[place]
    kept = [attribute for attribute in node.attribute if attribute.name != name]
    del node.attribute[:]
    node.attribute.extend(kept)
    del model.graph.value_info[:]
    model = model if fixed else with_inferred_shapes(model)
    return dataclasses.replace(case, model=model.SerializeToString(deterministic=True))


def with_inferred_shapes(model: Any) -> Any:
    """Outputs have the sizes that follow from what was changed: where they cannot be inferred, the case is not valid."""
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return with_inferred(model)
