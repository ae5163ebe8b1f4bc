"""What a program is worth after each step of Inductor, by the switch that its own bisector throws (torch 2.13): passes over the graph, then
the lowering of each operator, which torch's own kernel does where it is off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from assay.ports import Tensor

SWITCH = "disable_subsystem"
SWITCHED = ("pre_grad_passes", "joint_graph_passes", "post_grad_passes", "lowerings")
Outputs = Mapping[str, Tensor]
NONE = "no pass and no lowering of Inductor"


@contextmanager
def first_steps(most: int | None, names: list[str]) -> Iterator[None]:
    """While this holds, what is compiled goes through its first `most` steps alone (None: all), whose names are added to `names`."""
    import torch
    from torch._functorch import config as functorch
    from torch._inductor import config as inductor
    from torch._inductor.compiler_bisector import CompilerBisector

    def disable(backend: str, subsystem: str, describe_pass: Callable[[], str] | None = None) -> bool:
        if backend != "inductor" or subsystem not in SWITCHED:
            return False
        name = describe_pass() if describe_pass is not None else ""
        names.append(f"{subsystem.rstrip('s').replace('_', ' ')} {name}".strip())
        return most is not None and len(names) > most

    before = vars(CompilerBisector)[SWITCH]
    setattr(CompilerBisector, SWITCH, staticmethod(disable))
    torch._dynamo.reset()
    try:
        with inductor.patch(fx_graph_cache=False), functorch.patch(enable_autograd_cache=False):
            yield
    finally:
        setattr(CompilerBisector, SWITCH, before)
        torch._dynamo.reset()


def by_bisection(
    eager: Outputs, compiled: Callable[[int | None, list[str]], Outputs]
) -> list[tuple[str, Outputs | None]]:
    """What was evaluated, in the order of the steps: beside eager, no step and all steps, those by which the first step is found after
    which the answers are like the last ones and not like eager's."""
    names: list[str] = []
    last = compiled(None, names)
    answers_by_pass = {0: compiled(0, []), len(names): last}
    low, high = 0, len(names)
    while high - low > 1 and not _is_like(answers_by_pass[low], last, eager):
        middle = (low + high) // 2
        answers_by_pass[middle] = compiled(middle, [])
        low, high = (low, middle) if _is_like(answers_by_pass[middle], last, eager) else (middle, high)
    return [("", eager), *((names[at - 1] if at else NONE, answers_by_pass[at]) for at in sorted(answers_by_pass))]


def _is_like(outputs: Outputs, last: Outputs, eager: Outputs) -> bool:
    return _apart(outputs, last) < _apart(outputs, eager)


def _apart(outputs: Outputs, other: Outputs) -> float:
    """Largest difference; infinite where one side alone has no number."""
    far = [0.0]
    for name in outputs:
        mine, theirs = (np.asarray(each[name]).astype(np.float64) for each in (outputs, other))
        if mine.shape != theirs.shape or not np.array_equal(np.isfinite(mine), np.isfinite(theirs)):
            return float("inf")
        difference = np.abs(mine - theirs)[np.isfinite(mine)]
        far.append(float(difference.max(initial=0.0)))
    return max(far)
