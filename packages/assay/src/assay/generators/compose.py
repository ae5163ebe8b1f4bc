"""Several nodes that read one another."""

from __future__ import annotations

from collections.abc import Callable

from assay.generators.build import Build, Operand
from assay.generators.operators import forms
from assay.generators.schemas import NotMade
from assay.ports.generator import GeneratedCase

TRIES = 4
"""Of a place, before the graph stays as long as it is."""

Choose = Callable[[Build, str], str]
"""The next operator, from the one before ("" at the start)."""
After = Callable[[Build, Operand], Operand]
"""What becomes of a value before anything reads it."""


def grow(build: Build, length: int, choose: Choose, after: After = lambda build, value: value) -> list[Operand]:
    """The outputs of so many nodes, in their order. Raises NotMade where there is not one."""
    made: list[Operand] = []
    before = ""
    for _ in range(length):
        for _ in range(TRIES):
            operator = choose(build, before)
            mark = build.mark()
            try:
                outputs = forms()[operator](build, operator)
            except NotMade:
                build.undo(mark)
                continue
            before = operator
            made += [after(build, output) for output in outputs]
            break
    if not made:
        raise NotMade
    return made


def finished(build: Build, made: list[Operand], inner: int) -> GeneratedCase:
    """With what nothing reads as outputs, and in `inner` percent a value that something reads, too: a fusion must keep it."""
    read = {name for node in build.nodes for name in node.input}
    ends = [operand for operand in made if operand.name not in read] or made[-1:]
    middle = [operand for operand in made if operand.name in read]
    if middle and build.draws.chance(inner):
        ends.append(build.draws.one_of(middle))
    return build.case(ends)
