"""The example zoo: what it serves is what its checks still promote, byte for byte."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from assay.launch.sandbox.bubblewrap import Bubblewrap
from assay_zoo.check import EXECUTING, CheckOutcome
from assay_zoo.decision import Answer
from assay_zoo.index import index_trouble
from assay_zoo.inspect import inspect
from assay_zoo.manifest import read_manifest
from assay_zoo.repository import read_policy, read_scenarios
from assay_zoo.services import open_tools

ZOO = Path(__file__).parents[2] / "examples" / "zoo"
SERVED = {name: entry.versions[-1] for name, entry in read_manifest(ZOO).models.items()}


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """The same zoo, before it served anything."""
    here = Bubblewrap().available()
    if not here.available:
        if os.environ.get("ASSAY_REQUIRE_SANDBOX"):
            pytest.fail(here.reason)
        pytest.skip(here.reason)
    root = tmp_path / "zoo"
    for name in ("scenarios", "datasets"):
        shutil.copytree(ZOO / name, root / name)
    shutil.copyfile(ZOO / "zoo.toml", root / "zoo.toml")
    return root


def test_it_has_the_three_models_and_its_index_lists_them() -> None:
    assert set(SERVED) == {"digit-classifier", "digit-detector", "digit-segmenter"}
    assert index_trouble(ZOO) == ""
    assert {served.scenario for served in SERVED.values()} == set(read_scenarios(ZOO))
    assert read_policy(ZOO).demand_sandbox
    for served in SERVED.values():
        assert served.decision == "promote"
        assert served.accuracy.measured == pytest.approx(served.accuracy.claimed, abs=1e-4)
        assert all("latency_ms" in figures for figures in served.performance.values())


def test_it_stays_small() -> None:
    files = [path for path in ZOO.rglob("*") if path.is_file() and ".assay" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 3_000_000


# In CI the robot promotes the classifier, with the same digest (tests/robot).
@pytest.mark.slow
@pytest.mark.parametrize("name", ["digit-classifier", "digit-detector", "digit-segmenter"])
def test_a_served_model_is_promoted_again(name: str, zoo: Path) -> None:
    version = SERVED[name]
    shutil.copytree(ZOO / "models" / name / version.version, zoo / "submissions" / name)
    with open_tools(zoo) as tools:
        inspection = inspect(name, zoo, tools)
    bad = {check.name: check.sentence for check in inspection.checks if check.outcome is not CheckOutcome.PASSED}
    assert inspection.decision.answer is Answer.PROMOTE, (inspection.decision.reasons, bad)
    assert inspection.digest == version.digest
    assert {check.group for check in inspection.checks if check.executed} >= set(EXECUTING)
    recomputed = next(check for check in inspection.checks if check.name == "accuracy.recomputed")
    assert recomputed.executed >= 96
