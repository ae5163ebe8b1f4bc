"""Every generator that comes with Assay keeps the promises of the port; its cases are the same on every machine."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import onnx
import pytest

from assay import plugins
from assay.generators.operators import forms
from assay.generators.schemas import LATEST, NotMade, changes_of, schema_at
from assay.generators.sweep import Sweep
from assay.testing.generator_checks import check_generator

DIGESTS = {
    "equalities": (4, "a75e57cf01257cbc"),
    "near-misses": (4, "8a16155cd775aa42"),
    "operator-pairs": (3, "93f1035323eabfd4"),
    "patterns": (4, "19862e749b8d1027"),
    "qdq-graphs": (4, "1131374a39e8412b"),
    "random-graphs": (4, "28e697f41c90bcc8"),
    "sweep": (5, "cf8d954b868ee1c4"),
    "used-engines": (1, "67d14880bba9351f"),
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


_DIGEST = """
import hashlib
from assay import plugins

whole = hashlib.sha256()
for name in plugins.names("assay.generators"):
    generator = plugins.load("assay.generators", name)()
    for index in range(40):
        if (case := generator.make(11, index)) is not None:
            whole.update(case.model)
            whole.update(repr([(key, case.inputs[key].tobytes()) for key in case.inputs]).encode())
print(whole.hexdigest())
"""


def test_cases_do_not_depend_on_how_a_process_hashes() -> None:
    """Two fresh processes whose sets are in another order."""
    found = [
        subprocess.run(
            [sys.executable, "-c", _DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "4711")
    ]
    assert found[0] == found[1] != ""


def test_the_sweep_makes_every_form_of_every_operator() -> None:
    grid = [(name, opset) for name in forms() for opset in changes_of(name)]
    sweep, made = Sweep(), set()
    for index in range(12 * len(grid)):
        if grid[index % len(grid)] not in made and sweep.make(7, index) is not None:
            made.add(grid[index % len(grid)])
    assert sorted({*grid} - made) == NEVER


NEVER: list[tuple[str, int]] = [("Resize", 10), ("Scan", 8)]
"""Forms that no node case has and few engines read."""


def test_an_operator_is_made_in_the_form_of_its_opset() -> None:
    made = Sweep().make(7, 0)
    assert made is not None
    model = onnx.load_from_string(made.model)
    assert all(
        schema_at(node.op_type, model.opset_import[0].version).since_version <= LATEST for node in model.graph.node
    )
    with pytest.raises(NotMade):
        schema_at("Gelu", 19)
