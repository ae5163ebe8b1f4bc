"""Each rollback goes one further back in the order of approvals."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from assay.commands.composition import open_services
from assay.core.baseline import Baseline
from assay.core.case import Case
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import MeasureJob
from assay.core.model import Model
from assay.core.result import MeasureResult
from assay.errors import UsageError
from assay.models.files import folder_digest
from assay.pipeline.adapters import Services
from assay.pipeline.baselines.baseline_history import current_identity, kept_baselines, make_current
from assay.pipeline.baselines.baseline_rollback import rollback
from assay.pipeline.baselines.find_baseline import ARTIFACT, FILE, baseline_folder
from assay.pipeline.provenance import this_machine

FLOW = Flow("onnxruntime", "onnxruntime")
MODEL = Model("m", "m.onnx", "1")
MINUTES = iter(range(60))


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with open_services(str(tmp_path / "h")) as opened:
        yield opened


def _approve(services: Services, reason: str, *, earlier_version: bool = False) -> None:
    """As `assay baseline set` does. An earlier version of it recorded no id and nothing of the one before."""
    machine = this_machine()
    final = baseline_folder(services, "m", FLOW.name, machine)
    staging = services.folder / reason
    (staging / ARTIFACT).mkdir(parents=True)
    (staging / ARTIFACT / "engine").write_text(reason)
    result = empty_result(MeasureJob(Case("m", MODEL), FLOW))
    assert isinstance(result, MeasureResult)
    digest = folder_digest(staging / ARTIFACT)[1]
    result = msgspec.structs.replace(result, facts=msgspec.structs.replace(result.facts, artifact_digest=digest))
    at = f"2026-11-28T12:{next(MINUTES):02}:00+00:00"
    baseline = Baseline("m", MODEL, FLOW, machine, result, "ann", reason, at)
    if not earlier_version:
        baseline = msgspec.structs.replace(baseline, id=reason, replaces=current_identity(final))
    (staging / FILE).write_bytes(msgspec.json.encode(baseline))
    make_current(staging, final)


def _back(services: Services, to: str = "") -> str:
    return rollback(services, "m", FLOW.name, to, "wrong boxes")[0].reason


def _id(services: Services, reason: str) -> str:
    return next(kept.id for kept in kept_baselines(services) if kept.baseline.reason == reason)


@pytest.mark.parametrize("earlier_version", [False, True])
def test_two_rollbacks_do_not_end_where_they_began(services: Services, earlier_version: bool) -> None:
    for reason in ("one", "two", "three"):
        _approve(services, reason, earlier_version=earlier_version)
    assert [_back(services), _back(services)] == ["two", "one"]
    with pytest.raises(
        UsageError,
        match=r"first engine of m on .* that was approved \(.* by ann: one\); name another with --to: .*: three",
    ):
        _back(services)


def test_an_engine_that_was_rolled_back_from_does_not_come_again_by_itself(services: Services) -> None:
    for reason in ("one", "two", "bad"):
        _approve(services, reason)
    assert _back(services) == "two"
    _approve(services, "three")
    assert [_back(services), _back(services)] == ["two", "one"]
    assert _back(services, _id(services, "bad")) == "bad", "where it is named"
    assert _back(services) == "two", "what was current when it was approved"


def test_the_engine_that_was_current_is_named_by_the_id_that_brings_it_again(services: Services) -> None:
    for reason in ("one", "two"):
        _approve(services, reason)
    _, replaced = rollback(services, "m", FLOW.name, "", "wrong boxes")
    assert replaced is not None
    assert (replaced.baseline.reason, _back(services, replaced.id)) == ("two", "two")


def test_what_cannot_be_run_or_is_gone_is_passed_over(services: Services) -> None:
    for reason in ("one", "two", "three", "four"):
        _approve(services, reason)
    kept = {entry.baseline.reason: entry for entry in kept_baselines(services)}
    shutil.rmtree(kept["three"].folder / ARTIFACT)
    shutil.rmtree(kept["two"].folder)
    assert _back(services) == "one"


@pytest.mark.parametrize("gone", [False, True])
def test_a_current_one_that_cannot_be_read_hides_none_before_it(services: Services, gone: bool) -> None:
    for reason in ("one", "two"):
        _approve(services, reason)
    file = baseline_folder(services, "m", FLOW.name, this_machine()) / FILE
    file.unlink() if gone else file.write_bytes(b"{")
    _approve(services, "three")
    assert _back(services) == "one"
