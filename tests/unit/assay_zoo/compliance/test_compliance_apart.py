"""The child: whatever a model does to it is told of the model, and the caller goes on."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from onnx import helper

from assay.testing.broken_models import built
from assay.testing.broken_models.craft import relu, text, with_weight
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.compliance import subprocess_check
from assay_zoo.compliance.check_compliance import check_compliance
from assay_zoo.compliance.subprocess_check import ChildLimits
from assay_zoo.policy import ZooPolicy
from assay_zoo.submission import SubmissionContext, SubmissionServices

TOOLS = cast(SubmissionServices, SimpleNamespace())
AREAS = ["compliance.model", "compliance.graph", "compliance.node", "compliance.attribute", "compliance.function"]


def checked(folder: Path, limits: ChildLimits = ChildLimits()) -> list[Check]:
    place = SubmissionContext(folder=folder, root=folder, policy=ZooPolicy(name="zoo"), metadata=None)
    return check_compliance(place, TOOLS, limits=limits)


def test_a_sound_model_passes_every_part(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(relu().SerializeToString())
    *checks, claims = checked(tmp_path)
    assert [check.name for check in checks] == AREAS
    assert (claims.name, claims.outcome) == ("compliance.claims", CheckOutcome.SKIPPED), "there are no metadata"
    assert all(check.outcome is CheckOutcome.PASSED and check.executed == 1 for check in checks)
    assert (tmp_path / "model.onnx").read_bytes() == relu().SerializeToString()


def test_a_broken_model_fails_its_part_alone(tmp_path: Path) -> None:
    built("nan_weights", tmp_path)
    failed = [check for check in checked(tmp_path) if check.outcome is CheckOutcome.FAILED]
    assert [check.name for check in failed] == ["compliance.graph"]
    assert "'w'" in failed[0].sentence
    assert failed[0].path == "model.onnx"


def test_a_missing_model_is_a_finding(tmp_path: Path) -> None:
    failed = [check for check in checked(tmp_path) if check.outcome is CheckOutcome.FAILED]
    assert [check.name for check in failed] == ["compliance.model"]
    assert "does not exist" in failed[0].sentence


@pytest.mark.heavy
def test_a_model_that_eats_the_memory_is_told(tmp_path: Path) -> None:
    model = with_weight(np.ones((2, 3), np.float32))
    tensor = model.graph.initializer.add()
    tensor.name, tensor.data_type, tensor.raw_data = "big", 1, b"\0" * 160_000_000
    tensor.dims.append(40_000_000)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    checks = checked(tmp_path, limits=ChildLimits(memory_bytes=420_000_000))
    sentences = [check.sentence for check in checks if check.outcome is CheckOutcome.FAILED]
    assert any("ran out of memory" in sentence or "crashed" in sentence for sentence in sentences)
    assert not [check for check in checks if check.outcome is CheckOutcome.PASSED]


@pytest.mark.heavy
def test_a_model_that_takes_for_ever_is_told(tmp_path: Path) -> None:
    model = text("g (float[4] x) => (float[4] y) { [s] y = Relu(x) }")
    node = helper.make_node("Relu", ["x"], ["v000000"]).SerializeToString()
    nodes = (node.replace(b"v000000", b"v%06d" % number) for number in range(400_000))
    # As bytes, each with the tag of the graph's field and its length: to make them one by one takes seconds.
    model.graph.MergeFromString(b"".join(b"\n%c%b" % (len(node_bytes), node_bytes) for node_bytes in nodes))
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    checks = checked(tmp_path, limits=ChildLimits(seconds=1))
    failed = next(check for check in checks if check.outcome is CheckOutcome.FAILED)
    assert "did not end within 1 s of processor time" in failed.sentence


ENDLESS = """#!{python} -I
from assay_zoo.compliance import steps
from assay_zoo.limited_process_main import main


def endless(look):
    while True:
        pass
    yield


steps.STEPS = {{**steps.STEPS, "structure": endless}}
main()
"""


@pytest.mark.heavy
def test_a_later_step_that_takes_for_ever_is_told_and_the_others_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text(ENDLESS.format(python=sys.executable))
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    built("nan_weights", tmp_path)
    checks = checked(tmp_path, limits=ChildLimits(seconds=1))
    failed = {check.name: check.sentence for check in checks if check.outcome is CheckOutcome.FAILED}
    assert "did not end within 1 s of processor time on it (step 'structure')" in failed["compliance.model"]
    assert "'w'" in failed["compliance.graph"]
    assert not [check for check in checks if check.outcome is CheckOutcome.PASSED]


def test_a_child_that_cannot_be_started_blames_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(relu().SerializeToString())
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    (check,) = checked(tmp_path)
    assert check.outcome is CheckOutcome.INFRASTRUCTURE
    assert "cannot be started" in check.sentence


def test_a_child_that_dies_before_it_begins_blames_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(relu().SerializeToString())
    monkeypatch.setattr(subprocess_check, "TARGET", "assay_zoo.compliance.no_such_module:look")
    (check,) = checked(tmp_path)
    assert check.outcome is CheckOutcome.INFRASTRUCTURE
    assert "could not be started" in check.sentence
