"""Every generator that comes with Assay keeps the promises of the port; its cases are the same on every machine."""

from __future__ import annotations

import hashlib

import onnx
import pytest

from assay import plugins
from assay.generators.operators import forms
from assay.generators.schemas import LATEST, NotMade, changes_of, schema_at
from assay.generators.sweep import Sweep
from assay.testing.generator_checks import check_generator

DIGESTS = {
    "equalities": (3, "37d03bb3a13ec9e6"),
    "near-misses": (3, "82b958e99a18b875"),
    "operator-pairs": (2, "b9b2142c3be901e8"),
    "patterns": (3, "c38f2466ba93f046"),
    "qdq-graphs": (3, "6cf06b33f8dd32a7"),
    "random-graphs": (3, "f8f563f739c18300"),
    "sweep": (4, "8af0520cf8088d4f"),
}
"""Version and digest of a hundred cases."""


@pytest.mark.parametrize("name", plugins.names("assay.generators"))
def test_a_generator_keeps_its_promises(name: str) -> None:
    check_generator(plugins.load("assay.generators", name)())


@pytest.mark.parametrize("name", plugins.names("assay.generators"))
def test_cases_are_the_same_byte_for_byte(name: str) -> None:
    """Where this fails, a case is another one than before: raise the version of the generator."""
    generator = plugins.load("assay.generators", name)()
    whole = hashlib.sha256()
    for index in range(100):
        if (case := generator.make(7, index)) is not None:
            whole.update(case.model)
            for key in sorted(case.inputs):
                whole.update(case.inputs[key].tobytes())
    assert (name, generator.version, whole.hexdigest()[:16]) == (name, *DIGESTS[name])


def test_the_sweep_makes_every_form_of_every_operator() -> None:
    grid = [(name, opset) for name in forms() for opset in changes_of(name)]
    sweep, made = Sweep(), set()
    for index in range(12 * len(grid)):
        if grid[index % len(grid)] not in made and sweep.make(7, index) is not None:
            made.add(grid[index % len(grid)])
    assert sorted({*grid} - made) == NEVER


NEVER: list[tuple[str, int]] = [
    ("GreaterOrEqual", 12),
    ("GroupNormalization", 21),
    ("LessOrEqual", 12),
    ("MeanVarianceNormalization", 9),
    ("MeanVarianceNormalization", 13),
    ("Resize", 10),
]


def test_an_operator_is_made_in_the_form_of_its_opset() -> None:
    made = Sweep().make(7, 0)
    assert made is not None
    model = onnx.load_from_string(made.model)
    assert all(
        schema_at(node.op_type, model.opset_import[0].version).since_version <= LATEST for node in model.graph.node
    )
    with pytest.raises(NotMade):
        schema_at("Gelu", 19)
