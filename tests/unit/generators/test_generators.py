"""Every generator that comes with Assay keeps the promises of the port; its cases are the same on every machine."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import onnx
import pytest

from assay import plugins
from assay.generators.build import Build
from assay.generators.draws import Draws
from assay.generators.kinds import KINDS
from assay.generators.near_misses import NearMisses
from assay.generators.operators import forms
from assay.generators.schemas import LATEST, NotMade, changes_of, schema_at
from assay.generators.sweep import Sweep
from assay.testing.generator_checks import check_generator

pytestmark = pytest.mark.heavy  # hundreds of cases of each generator

DIGESTS = {
    "arithmetic": (3, "686a4f2978f941a4"),
    "equal-models": (1, "a57ceccd8f110769"),
    "equalities": (9, "0323f25c2f6d5db0"),
    "near-misses": (9, "b88453bebd9709a7"),
    "operator-pairs": (7, "d95fcfc392154c1d"),
    "patterns": (8, "ad831f894c6c9cd7"),
    "qdq-graphs": (7, "25b4d7dd3d599509"),
    "random-graphs": (8, "6f29aabe55d9b004"),
    "sweep": (9, "36380d08c7e2f10e"),
    "used-engines": (5, "5a0e67111602a5c5"),
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


PROCESSES = (
    {"PYTHONHASHSEED": "1", "LC_ALL": "C.utf8", "OMP_NUM_THREADS": "3", "TZ": "Asia/Tokyo"},
    {
        "PYTHONHASHSEED": "4711",
        "LC_ALL": "C",
        "OMP_NUM_THREADS": "1",
        "TZ": "UTC",
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": " ".join(
            np._core._multiarray_umath.__cpu_dispatch__
        ),  # as on the plainest processor
    },
)


def test_cases_do_not_depend_on_the_process_that_makes_them() -> None:
    """Two fresh processes: another order of sets, another locale and time zone, other threads, other vector instructions of numpy and of
    its BLAS."""
    found = [
        subprocess.run(
            [sys.executable, "-c", _DIGEST], env={**os.environ, **process}, check=True, capture_output=True, text=True
        ).stdout
        for process in PROCESSES
    ]
    assert found[0] == found[1] != ""


def test_the_sweep_makes_every_form_of_every_operator() -> None:
    grid = [(name, opset) for name in forms() for opset in changes_of(name)]
    sweep, made = Sweep(), set()
    for index in range(12 * len(grid)):
        if grid[index % len(grid)] not in made and sweep.make(7, index) is not None:
            made.add(grid[index % len(grid)])
    assert sorted({*grid} - made) == NEVER


def test_clips_whose_bounds_cross_are_made_where_the_text_says_what_comes_of_them() -> None:
    """Since opset 13 all becomes the largest; before, nobody says."""
    crossed = set[int]()
    for index in range(400):
        build = Build(Draws("test", 1, 7, index), 9 + index % 15)
        (clip,) = forms()["Clip"](build, "Clip")
        held = {**build.weights, **build.feeds}
        node = next(node for node in build.nodes if clip.name in node.output)
        bounds = [held[name] for name in node.input[1:] if name in held]
        if len(bounds) == 2 and bounds[0] > bounds[1]:
            crossed.add(build.opset)
    assert crossed
    assert min(crossed) >= 13


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


def test_unpooled_places_are_those_of_what_was_pooled() -> None:
    made = 0
    for index in range(60):
        build = Build(Draws("test", 1, 7, index), 22)
        (whole,) = forms()["MaxUnpool"](build, "MaxUnpool")
        made += whole.shape == next(iter(build.feeds.values())).shape
    assert made == 60


def test_three_of_ten_cases_have_few_sizes_so_that_axes_are_taken_for_one_another() -> None:
    builds = [Build(Draws("test", 1, 7, index), 22) for index in range(400)]
    few = [len({size for _ in range(8) for size in build.shape((3,))}) <= 2 for build in builds]
    assert 0.2 < sum(few) / len(few) < 0.4


def test_what_compilers_have_rules_for_stands_side_by_side() -> None:
    """A layer and what it takes in, two moves, the same operator twice: pairs that were seen to be rewritten leave most of these out.
    Weights stand beside what is computed."""
    pairs, weights = Counter[tuple[int, int]](), Counter[bool]()
    twice = 0
    kinds = {name: place for place, kind in enumerate(KINDS) for name in kind}
    for index in range(600):
        case = NearMisses().make(7, index)
        graph = onnx.load_from_string(case.model).graph if case is not None else onnx.GraphProto()
        makers = {name: node.op_type for node in graph.node for name in node.output}
        stored = {tensor.name for tensor in graph.initializer}
        for node in graph.node:
            for name in node.input:
                if (before := kinds.get(makers.get(name, ""))) is None or node.op_type not in kinds:
                    continue
                pairs[before, kinds[node.op_type]] += 1
                twice += node.op_type == makers[name]
                weights[bool(stored.intersection(node.input))] += kinds[node.op_type] == 1
    layer, arithmetic, moves = 0, 1, 3
    assert pairs[layer, arithmetic] + pairs[layer, 2] >= 8
    assert pairs[moves, moves] >= 15
    assert twice >= 30
    assert weights[True] > 0.55 * weights.total()  # 0.62; 0.49 without the weights
