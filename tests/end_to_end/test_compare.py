"""Two engines side by side, for real."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save_model

from assay.commands.compare import compare_request, run_compare
from assay.commands.composition import open_services
from assay.core.flow import Flow
from assay.core.flow import Option as Value
from assay.core.job import CompareSpeedJob
from assay.core.job_base import Job
from assay.core.limits import Measuring
from assay.core.note import NoteCode, noted
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.core.result import CompareSpeedResult
from assay.core.speed import SpeedRule
from assay.core.verdict import VerdictStatus
from assay.errors import UsageError
from assay.judge.speed import with_baseline_goals
from assay.options.compare import CompareOptions
from assay.pipeline.adapters import Services
from assay.pipeline.compare import CompareRequest, compare, plan_comparison
from assay.pipeline.open_run import Checked
from assay.pipeline.references.ensure_references import ensure_references
from assay.pipeline.two_process_comparison import compare_in_two_processes
from assay.testing.builders import make_job
from assay.testing.faulty_backend import Faulty
from assay.worker.timing.interleaved_timing import CLOCKS, time_interleaved
from small_models import linear_model
from statistical import three_tries


def _chain(path: Path, products: int) -> Path:
    """As much work as it has products of 192 x 192."""
    rng = np.random.default_rng(0)
    weight = numpy_helper.from_array((rng.standard_normal((192, 192)) / 14).astype(np.float32), "w")
    names = ["x", *(f"h{n}" for n in range(1, products)), "y"]
    nodes = [helper.make_node("MatMul", [names[n], "w"], [names[n + 1]]) for n in range(products)]
    shape = [192, 192]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [weight],
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    return path


def _compared(checked: Checked) -> CompareSpeedResult:
    """Beside it both engines were measured alone."""
    (result,) = [answer for answer in checked.results if isinstance(answer, CompareSpeedResult)]
    assert result.speeds
    return result


@three_tries
def test_twice_the_work_is_slower_and_half_of_it_faster(tmp_path: Path) -> None:
    small, large = _chain(tmp_path / "small.onnx", 4), _chain(tmp_path / "large.onnx", 8)
    slower = run_compare(CompareOptions(models=(small, large), flows=("onnxruntime",), history=str(tmp_path / "h")))
    assert slower.judgement.exit_code == 1
    result = _compared(slower)
    assert len(result.speeds[0].launches) >= 4
    firsts = [launch.own_first for launch in result.speeds[0].launches]
    assert firsts[1::2] == [not first for first in firsts[::2]]
    verdict = slower.judgement.verdicts[0]
    assert verdict.word is VerdictStatus.FAIL
    assert verdict.observed == pytest.approx(100, abs=45)
    assert "slower" in verdict.reason
    assert "+4 MatMul" in verdict.reason
    faster = run_compare(CompareOptions(models=(large, small), flows=("onnxruntime",), history=str(tmp_path / "h")))
    assert faster.judgement.exit_code == 0
    assert faster.judgement.verdicts[0].reason.startswith(("faster", "same"))
    assert faster.judgement.verdicts[0].observed == pytest.approx(-50, abs=20)


@three_tries
def test_a_model_against_itself_is_never_slower(tmp_path: Path) -> None:
    model = _chain(tmp_path / "m.onnx", 4)
    options = CompareOptions(models=(model,), flows=("onnxruntime", "onnxruntime"), history=str(tmp_path / "h"))
    checked = run_compare(options)
    assert checked.judgement.exit_code in (0, 3)


def test_the_rival_is_named_by_what_differs(tmp_path: Path) -> None:
    """Two files that hold the same model are two files all the same; of one file on two flows the old flow is told."""
    old, new = linear_model(tmp_path / "old.onnx"), linear_model(tmp_path / "new.onnx")
    with open_services(str(tmp_path / "h")) as services:
        for models, flows, name in (
            ((old, new), ("onnxruntime",), "old"),
            ((old,), ("onnxruntime-basic", "onnxruntime"), "onnxruntime-basic"),
        ):
            request = compare_request(CompareOptions(models=models, flows=flows))
            (job,) = services.jobs.complete(plan_comparison(request, services)).jobs
            assert isinstance(job, CompareSpeedJob)
            assert job.baseline.name == name


def test_other_inputs_cannot_be_compared(tmp_path: Path) -> None:
    model, other = _chain(tmp_path / "m.onnx", 1), tmp_path / "other.onnx"
    graph = helper.make_graph(
        [helper.make_node("Relu", ["a"], ["b"])],
        "g",
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("b", TensorProto.FLOAT, [1])],
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), other)
    with pytest.raises(UsageError, match=r"^not comparable: only one of m and other has an input 'a'$"):
        run_compare(CompareOptions(models=(model, other), flows=("onnxruntime",), history=str(tmp_path / "h")))


def _comparison_job(options: CompareOptions, services: Services) -> Job:
    run = services.jobs.complete(plan_comparison(compare_request(options), services))
    job = msgspec.structs.replace(run.jobs[0], rule=SpeedRule(looks=(4,)))
    assert services.jobs.complete(ensure_references([job], services)) == []
    return job


@three_tries
def test_two_processes_take_turns(tmp_path: Path) -> None:
    small, large = _chain(tmp_path / "small.onnx", 4), _chain(tmp_path / "large.onnx", 12)
    with open_services(str(tmp_path / "h")) as services:
        job = _comparison_job(CompareOptions(models=(large,), flows=("onnxruntime", "onnxruntime-basic")), services)
        result = services.jobs.complete(compare_in_two_processes(job, services))
        assert result.outcome is Outcome.OK, result.detail
        assert result.speeds
        assert (result.speeds[0].processes, len(result.speeds[0].launches)) == (2, 4)
        assert all(launch.quads >= 2 and abs(launch.cpu) < 1.0 for launch in result.speeds[0].launches)
        assert result.speeds[0].own_s > 0
        quick = services.jobs.complete(
            compare_in_two_processes(
                _comparison_job(CompareOptions(models=(small,), flows=("onnxruntime", "onnxruntime")), services),
                services,
            )
        )
        assert quick.speeds
        assert quick.speeds[0].own_s < 0.7 * result.speeds[0].own_s


def test_a_side_that_dies_is_named_and_the_other_does_not_wait_for_ever(tmp_path: Path) -> None:
    model = _chain(tmp_path / "m.onnx", 2)
    with open_services(str(tmp_path / "h")) as services:
        job = _comparison_job(CompareOptions(models=(model,), flows=("faulty-segfault", "onnxruntime")), services)
        result = services.jobs.complete(compare_in_two_processes(job, services))
    assert result.outcome is Outcome.CRASH
    assert result.detail.startswith("faulty-segfault: ")


@pytest.mark.parametrize(
    ("models", "flows", "sentence"),
    [
        (("m",), ("onnxruntime",), "nothing to compare"),
        (("m", "m", "m"), ("onnxruntime",), "at most two models"),
        (("m",), ("onnxruntime", "onnxrutime"), "perhaps you mean"),
    ],
)
def test_what_cannot_be_asked(tmp_path: Path, models: tuple[str, ...], flows: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        run_compare(CompareOptions(models=tuple(map(Path, models)), flows=flows, history=str(tmp_path / "h")))


def test_more_threads_than_cores_cannot_be_compared(tmp_path: Path) -> None:
    model = _chain(tmp_path / "m.onnx", 1)
    options = CompareOptions(
        models=(model,), flows=("onnxruntime", "onnxruntime-basic"), threads=4096, history=str(tmp_path / "h")
    )
    (verdict,) = run_compare(options).judgement.verdicts[:1]
    assert verdict.word is VerdictStatus.INCONCLUSIVE
    assert "not comparable: an engine of 4096 threads was asked for and this process may use" in verdict.reason


def test_a_backend_without_threads_says_so(tmp_path: Path) -> None:
    model = _chain(tmp_path / "m.onnx", 1)
    with pytest.raises(UsageError, match="'reference' has no option 'threads'"):
        run_compare(CompareOptions(models=(model,), flows=("reference", "reference"), threads=2, history=str(tmp_path)))


def test_a_machine_without_a_clock_of_cpu_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.thread_time", lambda: 1.0)
    monkeypatch.setattr("time.process_time", lambda: 1.0)
    monkeypatch.setitem(CLOCKS, "thread", lambda: 1.0)
    backend = Faulty()
    flow = Flow("f", "faulty", {"model": "identity"})
    feed = {"x": np.ones(3, np.float32)}
    seen = time_interleaved(
        lambda: backend.load(tmp_path, flow), lambda: backend.load(tmp_path, flow), feed, make_job(kind="compare_speed")
    )
    assert seen.trouble == noted(NoteCode.CPU_CLOCK_STOPPED)


def test_time_that_runs_out_ends_a_comparison_early(tmp_path: Path) -> None:
    backend = Faulty()
    flow = Flow("f", "faulty", {"model": "identity"})
    feed = {"x": np.ones(3, np.float32)}
    seen = time_interleaved(
        lambda: backend.load(tmp_path, flow),
        lambda: backend.load(tmp_path, flow),
        feed,
        make_job(kind="compare_speed"),
        0.0,
    )
    assert len(seen.launches) == 1
    assert seen.out_of_time


def test_a_sweep_over_batch_sizes_compares_at_each(tmp_path: Path) -> None:
    small = linear_model(tmp_path / "m.onnx")
    options = CompareOptions(
        models=(small,),
        flows=("onnxruntime", "onnxruntime-basic"),
        batches=(4, 1),
        launches=4,
        history=str(tmp_path / "h"),
    )
    result = _compared(run_compare(options))
    assert result.speeds
    assert [speed.batch for speed in result.speeds] == [1, 4]
    assert all(speed.own_wall_s > 0 for speed in result.speeds)


def test_a_batch_size_that_a_model_cannot_take_is_the_users_mistake(tmp_path: Path) -> None:
    model = _chain(tmp_path / "m.onnx", 1)
    options = CompareOptions(
        models=(model,), flows=("onnxruntime", "onnxruntime-basic"), batches=(8,), history=str(tmp_path / "h")
    )
    with pytest.raises(UsageError, match=r"^batch 8 cannot be fed: input 'x' of m is fixed at \[192, 192\]$"):
        run_compare(options)


IDENTITY = {"model": "identity", "output": "y"}


def _planted(tmp_path: Path, old: dict[str, Value], new: dict[str, Value]) -> tuple[int, str]:
    """Two engines of one model that differ in what they cost alone."""
    model = linear_model(tmp_path / "m.onnx")
    flows = [Flow(name, "faulty", options={**IDENTITY, **more}) for name, more in (("old", old), ("new", new))]
    request = CompareRequest(
        old=model,
        new=model,
        old_flow=flows[0],
        new_flow=flows[1],
        policy=with_baseline_goals(Policy(), measured=True),
        measuring=Measuring(seconds=0.05, warmup_s=0.05),
    )
    with open_services(str(tmp_path / "h")) as services:
        checked = compare(request, services)
    assert [result.job_key for result in checked.results if result.flow == "old"] == ["m|old|measure"]
    return checked.judgement.exit_code, " ".join(verdict.reason for verdict in checked.judgement.verdicts)


@three_tries
def test_a_fifth_more_memory_fails(tmp_path: Path) -> None:
    code, said = _planted(tmp_path, {"ballast_bytes": 100_000_000}, {"ballast_bytes": 120_000_000})
    assert code == 1, said
    assert "memory.load_added_bytes is 120" in said


@three_tries
def test_twice_the_time_to_load_fails(tmp_path: Path) -> None:
    code, said = _planted(tmp_path, {"load_s": 0.05}, {"load_s": 0.1})
    assert code == 1, said
    assert "loads slower by" in said


@three_tries
def test_the_same_costs_pass(tmp_path: Path) -> None:
    costs: dict[str, Value] = {"load_s": 0.02, "ballast_bytes": 50_000_000}
    code, said = _planted(tmp_path, costs, costs)
    assert code in (0, 3), said
    assert "allowed is" not in said
