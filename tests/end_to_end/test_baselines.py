"""A baseline is an engine: approved, found again, run beside the next one; and what cannot be compared says why."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main
from assay.commands.baseline import damaged_baselines, kept_baselines, remove_baseline, set_baselines
from assay.commands.check import run_check
from assay.core.baseline import Baseline
from assay.core.verdict import VerdictStatus
from assay.errors import UsageError
from assay.options.check import CheckOptions
from assay.pipeline.open_run import Checked
from small_models import linear_model
from statistical import three_tries

FLOW = "onnxruntime"


def _options(folder: Path) -> CheckOptions:
    model = folder / "m.onnx"
    return CheckOptions(models=(model,), flows=(FLOW,), baseline=True, history=str(folder / "h"), measure_seconds=0.05)


@pytest.fixture
def options(tmp_path: Path) -> CheckOptions:
    linear_model(tmp_path / "m.onnx")
    return _options(tmp_path)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and a history that holds its baseline, "release 1". Read only: a test works on a copy."""
    folder = tmp_path_factory.mktemp("release")
    linear_model(folder / "m.onnx")
    set_baselines(_options(folder), "release 1")
    return folder


@pytest.fixture
def released(release: Path, tmp_path: Path) -> CheckOptions:
    return _options(Path(shutil.copytree(release, tmp_path / "release")))


def _speed_verdict(checked: Checked) -> tuple[VerdictStatus, str]:
    (found,) = [verdict for verdict in checked.judgement.verdicts if verdict.job_key.endswith("|compare_speed")]
    return found.word, found.reason


def _current(history: str) -> list[Baseline]:
    return [kept.baseline for kept in kept_baselines(history) if kept.id == "current"]


def _file(options: CheckOptions) -> Path:
    (path,) = Path(options.history).glob("baselines/*/*/*/baseline.json")
    return path


@three_tries
def test_the_same_engine_is_not_slower_than_its_baseline(options: CheckOptions) -> None:
    (approved,) = set_baselines(options, "release 1")
    assert (approved.case, approved.flow.name, approved.reason) == ("m", FLOW, "release 1")
    assert [baseline.reason for baseline in _current(options.history)] == ["release 1"]
    checked = run_check(options)
    word, reason = _speed_verdict(checked)
    assert word in (VerdictStatus.PASS, VerdictStatus.INCONCLUSIVE)
    assert "the baseline of onnxruntime of 2" in reason
    (result,) = [answer for answer in checked.results if answer.kind == "compare_speed"]
    assert result.speeds
    assert len(result.speeds[0].launches) >= 4


def test_without_a_baseline_nothing_is_said_for_it_or_against_it(options: CheckOptions) -> None:
    checked = run_check(options)
    assert checked.judgement.exit_code == 3
    word, reason = _speed_verdict(checked)
    assert word is VerdictStatus.INCONCLUSIVE
    said, _, command = reason.partition("m has no baseline on onnxruntime; approve one here: `")
    assert said == "not comparable: "
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command.rstrip("`"))[1:])
    assert ended.value.code == 0
    assert [(baseline.case, baseline.flow.name) for baseline in _current(options.history)] == [("m", FLOW)]


@pytest.mark.slow
def test_the_command_that_is_proposed_approves_for_these_inputs_and_batches(options: CheckOptions) -> None:
    asked = replace(options, seed=3, batch=2, measure_batches=(4,))
    command = _speed_verdict(run_check(asked))[1].partition("approve one here: `")[2]
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command.rstrip("`"))[1:])
    assert ended.value.code == 0
    (approved,) = _current(options.history)
    assert [measurement.batch for measurement in approved.result.measurements] == [4]
    record = json.loads(_file(options).read_bytes())
    _gone(record)
    _file(options).write_text(json.dumps(record))
    assert "samples kept of the baseline" in _speed_verdict(run_check(asked))[1]
    wider = _speed_verdict(run_check(replace(asked, measure_batches=(8,))))[1]
    assert "the batch was 4 and now is 8" in wider


@pytest.mark.parametrize("task", ["verify", "measure"])
def test_a_job_alone_is_held_against_the_figures_of_the_baseline(released: CheckOptions, task: str) -> None:
    """As its repro line runs it: what other jobs would record is not asked of it."""
    alone = replace(released, only=f"m|{FLOW}|{task}")
    kept = _file(released).read_text()
    assert [candidate.word for candidate in run_check(alone).judgement.verdicts] == [VerdictStatus.PASS]
    record = json.loads(kept)
    record["result"]["facts"]["artifact_bytes"] = 100
    _file(released).write_text(json.dumps(record))
    (verdict,) = run_check(alone).judgement.verdicts
    assert verdict.word is VerdictStatus.FAIL
    assert re.fullmatch(r"artifact.bytes is [0-9,]+ bytes where the baseline run has 100 bytes, .*", verdict.reason)


def test_without_measuring_no_memory_is_asked_for_beside_a_baseline(released: CheckOptions) -> None:
    checked = run_check(replace(released, only_kind="verify"))
    (verify,) = [verdict for verdict in checked.judgement.verdicts if verdict.job_key.endswith("|verify")]
    assert verify.word is VerdictStatus.PASS, verify.reason


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda record: record.update(who=""), "nobody approved the baseline"),
        (
            lambda record: (_gone(record), record.pop("samples")),
            "was built by onnxruntime 0.1, and .* is installed, and no samples of it were kept; approve a new one",
        ),
        (
            lambda record: (_gone(record), record["fingerprint"].update(clocks="powersave")),
            "its samples were taken otherwise: the clocks were powersave and now is",
        ),
        (
            lambda record: (_gone(record), record["fingerprint"].update(threads=8)),
            "its samples were taken otherwise: the threads were 8 and now is 1",
        ),
        (lambda record: record["result"]["facts"].update(artifact_digest="0" * 64), "has changed on disk"),
        (lambda record: record["model"]["inputs"][0].update(name="other"), "takes other inputs"),
        (lambda record: record.pop("flow"), "is no baseline that can be read"),
        (lambda record: record.update(version=9), "baseline.json has version 9, this assay knows 1; upgrade assay"),
    ],
)
def test_a_baseline_that_cannot_be_compared_with(released: CheckOptions, change: object, sentence: str) -> None:
    path = _file(released)
    record = json.loads(path.read_bytes())
    change(record)  # type: ignore[operator]
    path.write_text(json.dumps(record))
    word, reason = _speed_verdict(run_check(released))
    assert word is VerdictStatus.INCONCLUSIVE
    assert re.search(sentence, reason), reason


def _gone(record: dict[str, Any]) -> None:
    """As if another version of the backend had built it: its engine cannot be run any more."""
    record["result"]["facts"]["backend_version"] = "0.1"


@three_tries
def test_where_no_engine_is_left_the_samples_that_were_kept_are_compared(options: CheckOptions) -> None:
    (approved,) = set_baselines(options, "release 1")
    assert len(approved.samples) == 12
    path = _file(options)
    record = json.loads(path.read_bytes())
    _gone(record)
    path.write_text(json.dumps(record))
    word, reason = _speed_verdict(run_check(options))
    assert "samples kept of the baseline of onnxruntime of 2" in reason
    assert word is not VerdictStatus.ERROR
    record["samples"] = [seconds / 3 for seconds in record["samples"]]
    path.write_text(json.dumps(record))
    word, reason = _speed_verdict(run_check(options))
    assert (word, reason.startswith("slower: +")) == (VerdictStatus.FAIL, True)
    assert "never measured side by side, so no less than 10 % counts" in reason


def test_an_artifact_changed_on_disk(released: CheckOptions) -> None:
    victim = next(path for path in (_file(released).parent / "artifact").rglob("*") if path.is_file())
    victim.write_bytes(victim.read_bytes() + b"x")
    word, reason = _speed_verdict(run_check(released))
    assert (word, "has changed on disk" in reason) == (VerdictStatus.INCONCLUSIVE, True)


def test_one_of_another_machine(released: CheckOptions) -> None:
    here = _file(released).parent
    record = json.loads((here / "baseline.json").read_bytes())
    record["machine"]["cpu"] = "Another CPU"
    (here / "baseline.json").write_text(json.dumps(record))
    here.rename(here.with_name("0" * 16))
    cut = here.with_name("00-cut")
    cut.mkdir()
    (cut / "baseline.json").write_text("{")
    word, reason = _speed_verdict(run_check(released))
    assert word is VerdictStatus.INCONCLUSIVE
    assert "approved on another machine (Another CPU" in reason


def test_setting_needs_a_measurement(options: CheckOptions) -> None:
    with pytest.raises(UsageError, match=r"nothing is measured here: leave `enabled = false` out of \[measure\]"):
        set_baselines(replace(options, only_kind="verify"), "first")


def test_setting_needs_a_reason_and_an_engine(options: CheckOptions) -> None:
    with pytest.raises(UsageError, match="needs a reason"):
        set_baselines(options, " ")
    with pytest.raises(UsageError, match="cannot be approved, crash in"):
        set_baselines(CheckOptions(models=options.models, flows=("faulty-segfault",), history=options.history), "why")
    assert _current(options.history) == []


def test_a_second_blessing_replaces_the_first_and_removing_forgets_it(released: CheckOptions) -> None:
    set_baselines(released, "release 2")
    assert [baseline.reason for baseline in _current(released.history)] == ["release 2"]
    assert remove_baseline("m", FLOW, released.history) >= 1
    assert _current(released.history) == []
    with pytest.raises(UsageError, match="no baseline of 'm'"):
        remove_baseline("m", FLOW, released.history)
    assert "m has no baseline on onnxruntime" in _speed_verdict(run_check(replace(released, only_kind="measure")))[1]


def test_a_baseline_that_was_approved_and_is_gone_is_named(
    released: CheckOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    assert damaged_baselines(released.history) == []
    shutil.rmtree(_file(released).parent)
    (sentence,) = damaged_baselines(released.history)
    assert re.match(
        r"the baseline of m on onnxruntime that \S+ approved on \S+ \(.*\) is gone from .*: restore it", sentence
    )
    assert _speed_verdict(run_check(replace(released, only_kind="measure"))) == (
        VerdictStatus.INCONCLUSIVE,
        f"not comparable: {sentence}",
    )
    with pytest.raises(SystemExit, match=r"\A0\Z"):
        main(["baseline", "list", "--history", released.history])
    assert capsys.readouterr().out == f"{sentence}\n"
