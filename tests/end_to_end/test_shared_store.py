"""Two machines with one history on PostgreSQL and one store on an S3 server."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.commands.check import run_check
from assay.commands.composition import open_services
from assay.commands.store import collect
from assay.options.check import CheckOptions
from assay.pipeline.baselines.approvals import approvals
from assay.pipeline.baselines.find_baseline import baselines
from assay.pipeline.rejudge import rejudge
from assay.stores.object_blobs import ObjectBlobs
from databases import postgresql, postgresql_server
from object_server import bucket, object_server
from small_models import linear_model

__all__ = ["bucket", "object_server", "postgresql", "postgresql_server"]

FLOW = "onnxruntime"

pytestmark = pytest.mark.slow
"""The mechanism is tested without servers and engines, in test_shared_files."""


@pytest.fixture
def machines(tmp_path: Path, bucket: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders to work in. Of a machine, nothing else differs."""
    monkeypatch.setenv("ASSAY_STORE", bucket)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        linear_model(tmp_path / name / "m.onnx")
    return tmp_path / "one", tmp_path / "two"


def _objects(bucket: str) -> dict[str, int]:
    return {blob.digest: blob.size_bytes for blob in ObjectBlobs(bucket).every()}


def test_references_and_logs_of_one_machine_are_on_the_other(
    machines: tuple[Path, Path], postgresql: str, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = CheckOptions(models=(Path("m.onnx"),), flows=(FLOW,), only_kind="verify", history=postgresql, workers=1)
    monkeypatch.chdir(machines[0])
    first = run_check(options)
    assert first.judgement.exit_code == 0
    assert first.notes == ()
    references = {path.name: path.read_bytes() for path in Path(".assay/oracle").rglob("*") if path.is_file()}
    before = _objects(bucket)
    monkeypatch.chdir(machines[1])
    with open_services(postgresql) as services:
        again = rejudge(first.run.id, None, services)
    (log,) = [Path(result.log_file) for result in again.results]
    assert log.is_relative_to(".assay/logs")
    assert first.run.id in log.read_text()
    second = run_check(options)
    assert second.judgement.exit_code == 0
    brought = {path.name: path.read_bytes() for path in Path(".assay/oracle").rglob("*") if path.is_file()}
    assert brought == references, "the reference was computed again"
    new = _objects(bucket).keys() - before.keys()
    assert len(new) == len(second.results), "more than the log of each job was sent"
    assert collect(postgresql, remove=True, grace_s=-60).digests == ()


def test_a_baseline_of_one_machine_is_compared_with_on_the_other(
    machines: tuple[Path, Path], postgresql: str, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = CheckOptions(
        models=(Path("m.onnx"),), flows=(FLOW,), baseline=True, history=postgresql, measure_seconds=0.05, workers=1
    )
    monkeypatch.chdir(machines[0])
    with pytest.raises(SystemExit) as ended:
        main(["baseline", "set", "m.onnx", "--flow", FLOW, "--reason", "release 1", "--history", postgresql])
    assert ended.value.code == 0
    monkeypatch.chdir(machines[1])
    with open_services(postgresql) as services:
        (approved,) = baselines(services)
        (made,) = approvals(services)
    assert (approved.reason, made.reason) == ("release 1", "release 1")
    checked = run_check(options)
    (compared,) = [verdict for verdict in checked.judgement.verdicts if verdict.job_key.endswith("|compare_speed")]
    assert "the baseline of onnxruntime of 2" in compared.reason
    before = _objects(bucket)
    monkeypatch.chdir(machines[0])
    again = run_check(options)
    new = _objects(bucket).keys() - before.keys()
    assert len(new) == len(again.results), "more than the log of each job was sent"
    with pytest.raises(SystemExit) as ended:
        main(["baseline", "remove", "m", "--flow", FLOW, "--history", postgresql])
    assert ended.value.code == 0
    monkeypatch.chdir(machines[1])
    with open_services(postgresql) as services:
        assert list(baselines(services)) == []
        assert [approval.action.value for approval in approvals(services)] == ["set", "remove"]
