"""What a module is worth by the phases of iree-compile (3.13), of which none can be left out: each is asked with the flow's flags, and what
follows it with as few rewrites as there are.

The phases before code is generated are the same for every generator, so another one says whether these or the flow's own is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from assay.backends.iree.compile import SWITCHES, Target
from assay.ports import Tensor

SHARED, GENERATED = "phase executable-sources", "phase executable-targets"
REWRITING = ("preprocessing", "global-optimization", "dispatch-creation", "executable-sources")
"""Those whose rewrites flags choose, in their order."""
OTHERS = {"vmvx": Target("llvm-cpu", "local", ("--iree-llvmcpu-target-cpu=generic",))}
"""Beside the portable generator."""
PORTABLE = Target("vmvx", "local")

Outputs = Mapping[str, Tensor] | None
Compiles = Callable[[bytes, Target, str, str], bytes | None]
"""From one phase to another (""; the first, and the last), or None where it is refused."""
Answers = Callable[[bytes, Target], Outputs]


def after_each_phase(
    module: bytes, target: Target, bare: Target, compiles: Compiles, answers: Answers
) -> list[tuple[str, Outputs]]:
    """The phases in order with what the module gives after each; `bare` is the target without the user's flags. What was read cannot be
    run alone: its place is None."""
    least, other = plain(bare), plain(OTHERS.get(target.backend, PORTABLE))

    def given(steps: Sequence[tuple[Target, str]]) -> Outputs:
        made: bytes | None = module
        begin = ""
        for how, end in steps:
            made = compiles(made, how, begin, end) if made is not None else None
            begin = end
        return answers(made, steps[-1][0]) if made is not None else None

    rows = [("", None), (SHARED, given([(other, "")])), (GENERATED, given([(least, "")]))]
    rows += [(f"phase {phase}", given([(target, phase), (least, "")])) for phase in REWRITING]
    return [*rows, (GENERATED, given([(target, "")]))]


def plain(target: Target) -> Target:
    """With everything turned off that can be."""
    return msgspec.structs.replace(target, flags=(*target.flags, *SWITCHES))
