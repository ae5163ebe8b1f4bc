"""What a generator of cases must keep: `check_generator`."""

from __future__ import annotations

import onnx

from assay.ports import Generator
from assay.ports.generator import GeneratedCase


def check_generator(generator: Generator, *, cases: int = 200, seed: int = 7) -> None:
    """Raises AssertionError with the first promise that is broken. Its cases are valid models, are fed what they read, and are the same
    whichever was made before."""
    assert generator.name, "a generator needs a name"
    assert generator.about, "a generator needs a line about it"
    first = [generator.make(seed, index) for index in range(cases)]
    made = [generated_case for generated_case in first if generated_case is not None]
    assert len(made) * 4 >= cases, f"{len(made)} of {cases} cases were made: three of four may fail at most"
    for index in reversed(range(cases)):
        again, before = generator.make(seed, index), first[index]
        same = again is before or (again is not None and before is not None and again.model == before.model)
        assert same, f"case {index} is another one when it is made again"
    for generated_case in made:
        model = onnx.load_from_string(generated_case.model)
        onnx.checker.check_model(model, full_check=True)
        assert {value.name for value in model.graph.input} == {*generated_case.inputs}, (
            "inputs that nothing reads, or that nobody feeds"
        )
    for index in range(8):
        other = generator.make(seed + 1, index)
        assert other is None or _bytes(other) != _bytes(first[index]), f"case {index} is the same with another seed"


def _bytes(case: GeneratedCase | None) -> list[bytes]:
    return [] if case is None else [case.model, *(case.inputs[name].tobytes() for name in sorted(case.inputs))]
