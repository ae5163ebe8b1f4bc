"""Submissions that are broken in one way each: the answer, and that no other check fails."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import onnx
import onnxruntime
import pytest
from onnx import numpy_helper

from assay_zoo.check import EXECUTING, GROUPS, CheckOutcome
from assay_zoo.decision import Answer
from assay_zoo.inspect import Inspection, inspect
from assay_zoo.performance import measure
from assay_zoo.performance.fresh_inputs import drawn_again
from assay_zoo.services import open_tools

pytestmark = pytest.mark.usefixtures("warm_readers")

BROKEN = Path(__file__).parents[2] / "examples" / "zoo" / "broken"
_NAMES = (
    "build",
    "case",
    "claims",
    "data",
    "files",
    "good",
    "graphs",
    "hidden",
    "notebooks",
    "allowed",
    "opened",
    "published",
    "sly",
    "speed",
    "texts",
)


@contextmanager
def _importable() -> Iterator[None]:
    """The builder's modules by their short names, as its own command has them, and nobody else afterwards."""
    sys.path.insert(0, str(BROKEN))
    try:
        yield
    finally:
        sys.path.remove(str(BROKEN))
        for name in _NAMES:
            sys.modules.pop(name, None)


with _importable():
    import good
    from build import build
    from case import TABLE, Broken

RELATIVES = {
    "golden-with-nan", "golden-of-one-sample", "one-input-too-many", "external-data-absolute",
    "external-data-missing", "external-data-linked", "link-to-the-system", "too-many-files", "image-is-program",
    "unproduced-output", "duplicate-tensor", "ir-too-new", "unknown-operator", "weights-too-short", "readme-missing",
    "metadata-of-wrong-type", "no-inference-notebook", "notebook-is-no-notebook", "no-preprocessing",
}  # fmt: skip
"""Near to others in the table: looked at by the slow test only."""
QUICK = [broken for broken in TABLE.values() if not broken.costly and not broken.near and broken.name not in RELATIVES]
BAD = (CheckOutcome.FAILED, CheckOutcome.UNDECIDED, CheckOutcome.INFRASTRUCTURE)


def looked_at(root: Path, case: Broken | None, groups: Iterable[str] = GROUPS) -> Inspection:
    build(root, case)
    with open_tools(root, str(root / ".assay")) as tools:
        return inspect(good.NAME, root, tools, groups=groups)


def held_against(inspection: Inspection) -> dict[str, str]:
    """Every check that is not content, with what it says."""
    return {entry.name: f"{entry.outcome}: {entry.sentence}" for entry in inspection.checks if entry.outcome in BAD}


def check(inspection: Inspection, case: Broken) -> None:
    sentences = held_against(inspection)
    assert {case.check} <= set(sentences) <= {case.check, *case.also}, sentences
    assert inspection.decision.answer == case.answer
    assert any(reason.startswith(f"{case.check}: ") for reason in inspection.decision.reasons)


def test_there_are_enough_and_every_group_has_some() -> None:
    assert len(TABLE) >= 35
    assert {broken.group for broken in TABLE.values()} == set(GROUPS)
    assert set(TABLE) >= RELATIVES
    assert len(QUICK) >= 35


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_a_broken_submission_is_declined_for_its_own_reason(case: Broken, tmp_path: Path) -> None:
    """By the group that must find it; the two that read every file find nothing else."""
    groups = {"files", "artifacts"} if case.group in ("files", "artifacts") else {case.group}
    check(looked_at(tmp_path, case, groups), case)


@pytest.mark.parametrize(
    "name", ["no-test-data", "data-without-expected-outputs", "one-input-too-many", "no-validation-notebook"]
)
def test_a_group_waits_for_the_part_that_it_could_only_stumble_over(name: str, tmp_path: Path) -> None:
    of_notebooks = {"accuracy"} if name == "no-validation-notebook" else set()
    inspection = looked_at(tmp_path, TABLE[name], {"artifacts", "functionality", "performance", *of_notebooks})
    check(inspection, TABLE[name])
    waits = f"not executed: it waits for {TABLE[name].check}, which must hold first"
    assert waits in {entry.sentence for entry in inspection.checks if entry.outcome is CheckOutcome.SKIPPED}


@pytest.mark.slow  # in CI tests/robot/test_robot_end_to_end.py pushes the same one, and asks the same of its checks
def test_the_good_one_from_which_they_are_made_is_promoted(tmp_path: Path) -> None:
    inspection = looked_at(tmp_path, None)
    assert held_against(inspection) == {}
    assert inspection.decision.answer is Answer.PROMOTE, inspection.decision.reasons
    assert {entry.group for entry in inspection.checks if entry.executed} >= set(EXECUTING)


@pytest.mark.parametrize("name", ["claim-too-high", "notebook-opens-network"])
def test_a_notebook_is_executed_and_what_it_says_is_weighed(name: str, tmp_path: Path) -> None:
    check(looked_at(tmp_path, TABLE[name], {"files", "accuracy"}), TABLE[name])


def test_a_scenarios_limit_on_what_is_measured_declines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "SECONDS", 0.05)
    check(looked_at(tmp_path, TABLE["larger-than-scenario"], {"performance"}), TABLE["larger-than-scenario"])


@pytest.mark.parametrize("name", ["quick-on-known-inputs", "quick-on-a-known-mean"])
def test_what_is_quick_on_what_it_knows_is_a_model_that_does_not_know_what_is_drawn(name: str, tmp_path: Path) -> None:
    folder = build(tmp_path, TABLE[name])
    model = onnx.load(folder / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    model.graph.output.append(onnx.helper.make_tensor_value_info("is_known", onnx.TensorProto.BOOL, []))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    image = numpy_helper.to_array(onnx.load_tensor(folder / "test_data_set_0" / "input_0.pb"))
    drawn = [
        drawn_again([{"image": image}], seed, turned=way)[0]["image"] for seed in range(8) for way in (False, True)
    ]
    assert [bool(session.run(["is_known"], {"image": each})[0]) for each in (image, *drawn)] == [True] + 16 * [False]


@pytest.mark.slow
@pytest.mark.parametrize("case", TABLE.values(), ids=lambda case: case.name)
def test_every_broken_submission_with_every_check(
    case: Broken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_ZOO_TEST_SECRET", "a secret of the machine")
    check(looked_at(tmp_path, case), case)
