"""Whole runs on real backends: from the command line to the verdict, and every way in which an engine can lie."""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec
import pytest

import assay
from assay.core.note import NoteCode
from assay.core.outcome import Outcome
from assay.core.verdict import VerdictStatus
from assay.models.onnx_file import open_model
from assay.testing.faults import LIES
from command_line import run_assay
from small_models import golden_for, linear_model

ONE_OUTPUT = ("swap_outputs", "reorder_outputs", "extra_output", "nondeterministic")
"""Lies that need two outputs, or that another test tells."""


@pytest.fixture
def here(linear: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(linear.parent)
    return linear.parent


def test_two_real_backends_pass_against_goldens_and_against_the_oracle(here: Path, golden: Path) -> None:
    flows = ["onnxruntime", "openvino-f32", "reference"]
    for reference in (golden, None):
        checked = assay.check("linear.onnx", flows=flows, golden=reference)
        assert checked.judgement.exit_code == 0, checked.judgement.run.reason
        assert len(checked.results) == 6
        verified = [result for result in checked.results if result.kind == "verify"]
        assert all(result.comparisons[0].metrics["budget_used"] < 1 for result in verified)
        measured = [result for result in checked.results if result.kind == "measure"]
        assert all(len(result.measurements[0].wall_s) >= 5 for result in measured)
        assert all(result.memory.run_peak_bytes > 1e6 for result in measured)
        assert all(result.memory.held_bytes[-1] >= result.memory.live_bytes[-1] > 1e6 for result in measured)
        assert all(result.memory.soak_peak_bytes >= result.memory.soak_bytes[-1] > 1e6 for result in measured)
        assert all(result.facts.artifact_bytes > 0 for result in checked.results)


def test_a_flow_in_double_answers_in_double_and_is_judged_in_it(here: Path, golden: Path) -> None:
    """Against a golden, against the oracle, and against a golden that another model wrote."""
    linear_model(here / "other.onnx", scale=1.001)
    golden_for(here / "other.onnx", here / "other")
    lock = (here / "other" / "golden.lock").read_text()
    digests = {name: open_model(here / f"{name}.onnx").digest for name in ("other", "linear")}
    (here / "other" / "golden.lock").write_text(lock.replace(digests["other"], digests["linear"]))
    models = {"given": 'golden = "golden"', "oracle": "", "wrong": 'golden = "other"'}
    entries = [f'[[model]]\nname = "{name}"\npath = "linear.onnx"\n{line}\n' for name, line in models.items()]
    (here / "assay.toml").write_text("".join(entries))
    types = {"reference-f64": "float64", "torch-eager-f64": "float64", "torch-eager": "float32"}
    checked = assay.check(flows=list(types), measure=False)
    results = {(result.case, result.flow): result for result in checked.results}
    for flow, dtype in types.items():
        for model in ("given", "oracle"):
            assert results[model, flow].outcome is Outcome.OK, results[model, flow].detail
            assert results[model, flow].comparisons[0].dtype == dtype
    for flow in ("reference-f64", "torch-eager-f64"):
        assert results["wrong", flow].outcome is Outcome.MISMATCH


def test_a_flow_of_a_gpu_is_measured_in_blocks_and_says_what_was_not_seen(here: Path, golden: Path) -> None:
    (here / "assay.toml").write_text('[flow.mine]\nbackend = "reference"\ndevice = "cuda"\n')
    checked = assay.check("linear.onnx", flows=["mine"], golden=golden, config="assay.toml")
    measured = next(result for result in checked.results if result.kind == "measure")
    (taken,) = measured.measurements
    assert len(taken.wall_s) >= 5
    assert taken.device_s == ()
    assert taken.gpu is not None
    assert taken.gpu.untold is not None
    assert taken.gpu.untold.code in (NoteCode.NVML_NOT_INSTALLED, NoteCode.NVML_SAYS)
    reason = next(verdict.reason for verdict in checked.judgement.verdicts if verdict.job_key == measured.job_key)
    assert "by the wall clock: this engine does not hand out its stream" in reason
    assert "not seen: n" in reason.casefold()


@pytest.mark.parametrize("lie", [lie for lie in LIES if lie not in ONE_OUTPUT])
def test_no_lie_passes(lie: str, here: Path, golden: Path) -> None:
    checked = assay.check("linear.onnx", flows=[f"faulty-{lie}"], golden=golden, measure=False)
    (result,) = checked.results
    assert result.outcome is Outcome.MISMATCH, (lie, result.detail)
    assert checked.judgement.exit_code == 1


def test_an_extra_output_and_an_unrepeatable_answer_do_not_pass(here: Path, golden: Path) -> None:
    checked = assay.check(
        "linear.onnx", flows=["faulty-extra_output", "faulty-nondeterministic"], golden=golden, measure=False
    )
    assert {result.outcome for result in checked.results} <= {Outcome.MISMATCH, Outcome.NONDETERMINISTIC}
    assert checked.judgement.exit_code == 1


def test_an_honest_faulty_backend_passes(here: Path, golden: Path) -> None:
    """Without this, the tests above could be red for a reason of their own."""
    checked = assay.check("linear.onnx", flows=["faulty"], golden=golden, measure=False)
    assert checked.judgement.exit_code == 0, checked.judgement.run.reason


def test_rejudging_under_a_tighter_policy_runs_nothing(here: Path) -> None:
    assert run_assay("check", "linear.onnx", "--only-kind", "verify", cwd=here).returncode == 0
    (here / "tight.toml").write_text('[[goal]]\nmetric = "max_abs"\nmax = 0.0\n')
    again = run_assay("rejudge", "last", "--policy", "tight.toml", cwd=here)
    assert again.returncode in (0, 1)
    (here / "impossible.toml").write_text('[[goal]]\nmetric = "artifact.bytes"\nmax = 1\n')
    again = run_assay("rejudge", "last", "--policy", "impossible.toml", cwd=here)
    assert again.returncode == 1, again.stdout
    assert "artifact.bytes" in again.stdout


def test_the_repro_line_of_a_failure_repeats_exactly_that_job(here: Path, golden: Path) -> None:
    first = run_assay(
        "check",
        "linear.onnx",
        "--flow",
        "faulty-lie",
        "--flow",
        "reference",
        "--golden",
        "golden",
        "--report",
        "json=out.json",
        cwd=here,
    )
    assert first.returncode == 1, first.stderr
    (line,) = [text.strip() for text in first.stdout.splitlines() if text.strip().startswith("assay check")]
    second = run_assay(*shlex.split(line)[1:], cwd=here)
    assert second.returncode == 1, second.stderr
    assert "1 of 1 jobs" in second.stdout


def test_exit_codes_of_nothing_and_of_unavailable(here: Path) -> None:
    assert run_assay("check", "linear.onnx", "--only", "no|such|job", cwd=here).returncode == 2
    models = '[[model]]\npath = "linear.onnx"\n[flows]\nuse = ["onnxruntime"]\n'
    config = models + '[policy]\nminimum-cases = { "*" = 5 }\n[measure]\nenabled = false\n'
    (here / "assay.toml").write_text(config)
    few = run_assay("check", cwd=here)
    assert few.returncode == 1
    assert "5" in few.stdout


def test_all_reports_are_written_and_a_run_can_be_reported_again(here: Path) -> None:
    names = {
        "html": "o.html",
        "json": "o.json",
        "junit": "o.xml",
        "markdown": "o.md",
        "csv": "o.csv",
        "terminal": "o.txt",
    }
    wanted = [word for name, path in names.items() for word in ("--report", f"{name}={path}")]
    assert run_assay("check", "linear.onnx", *wanted, cwd=here).returncode == 0
    assert all((here / path).stat().st_size > 100 for path in names.values())
    again = run_assay("report", "last", "--format", "csv", cwd=here)
    assert again.stdout == (here / "o.csv").read_text()
    assert msgspec.json.decode((here / "o.json").read_bytes())


def test_golden_life_cycle(here: Path) -> None:
    recorded = run_assay("golden", "record", "linear.onnx", "g", "--reason", "first", cwd=here)
    assert recorded.returncode == 0, recorded.stderr
    assert run_assay("golden", "verify", "g", "--model", "linear.onnx", cwd=here).returncode == 0
    assert run_assay("golden", "diff", "g", "linear.onnx", cwd=here).returncode == 0
    linear_model(here / "linear.onnx", scale=1.5)
    refused = run_assay("check", "linear.onnx", "--golden", "g", cwd=here)
    assert refused.returncode == 2
    assert "assay golden update" in refused.stderr
    assert run_assay("golden", "diff", "g", "linear.onnx", cwd=here).returncode == 1
    updated = run_assay("golden", "update", "g", "linear.onnx", "--reason", "retrained", "--yes", cwd=here)
    assert updated.returncode == 0, updated.stderr
    assert '"reason": "retrained"' in (here / "g" / "golden.lock").read_text()
    assert run_assay("check", "linear.onnx", "--golden", "g", "--only-kind", "verify", cwd=here).returncode == 0


def test_a_degraded_run_fails_against_its_baseline(here: Path) -> None:
    first = assay.check("linear.onnx", flows=["onnxruntime"])
    (here / "p.toml").write_text('[[goal]]\nmetric = "artifact.bytes"\npercent-max-degradation = 1\nagainst = "run"\n')
    same = run_assay("check", "linear.onnx", "--policy", "p.toml", "--compare-run", first.run.id, cwd=here)
    assert same.returncode == 0, same.stdout
    alone = run_assay("check", "linear.onnx", "--policy", "p.toml", cwd=here)
    assert alone.returncode == 3, alone.stdout
    verdicts = [verdict.word for verdict in first.judgement.verdicts]
    assert set(verdicts) == {VerdictStatus.PASS}
