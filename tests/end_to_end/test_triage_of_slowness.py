"""From a red verdict about time to its cause: the operator, and what breaks no rule about time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
from msgspec.structs import replace
from onnx import ModelProto, helper, numpy_helper

from assay.commands.check import run_check
from assay.commands.compare import run_compare
from assay.commands.composition import open_services
from assay.commands.triage import run_triage
from assay.core.flow import Option
from assay.core.job import CompareSpeedJob, MeasureJob, VerifyJob, other_kind
from assay.core.measurement import OperatorTime
from assay.core.outcome import Outcome
from assay.core.policy import Goal, Policy
from assay.core.speed import BaselineEngine, PairedRun, SpeedComparison
from assay.options.check import CheckOptions
from assay.options.compare import CompareOptions
from assay.options.triage import TriageOptions
from assay.pipeline.open_run import open_run
from assay.testing.builders import make_result
from assay.testing.planted_nets import PlantedNet
from statistical import three_tries

NODES = 36


def wide_products(extra: int) -> ModelProto:
    """Tanh, then products of one weight: `extra` more of them than one."""
    weight = numpy_helper.from_array(np.eye(256, dtype=np.float32), "w")
    nodes = [helper.make_node("Tanh", ["x"], ["t0"])]
    nodes += [helper.make_node("MatMul", [f"t{at}", "w"], [f"t{at + 1}"], name=f"m{at}") for at in range(extra + 1)]
    x, y = (helper.make_tensor_value_info(name, 1, [256, 256]) for name in ("x", f"t{extra + 1}"))
    graph = helper.make_graph(nodes, "g", [x], [y], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@three_tries
def test_a_red_comparison_of_speed_ends_at_the_operator(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("small.onnx", "large.onnx")]
    for path, extra in zip(paths, (0, 12), strict=True):
        onnx.save(wide_products(extra), path)
    history = str(tmp_path / "history")
    compared = run_compare(CompareOptions(models=tuple(paths), flows=("onnxruntime",), history=history))
    assert compared.judgement.exit_code == 1
    triaged = run_triage(TriageOptions(target="last", history=history, output=tmp_path / "triage"))
    assert triaged.left == ()
    (cause,) = triaged.causes
    assert (cause.symptom.kind, cause.operators) == ("slower", ("MatMul",))
    assert (Path(cause.folder) / "cause.md").is_file()


def red_in_three_ways(tmp_path: Path, *goals: Goal, measured: Outcome = Outcome.OK) -> str:
    """The history of a run of one model on one flow: wrong, measured under these limits, and slower than the engine before."""
    net = PlantedNet(NODES, seed=3)
    onnx.save(net.model, tmp_path / "net.onnx")
    history = str(tmp_path / "history")
    options: dict[str, Option] = {"fault": "swapped_scale", "site": net.sites["swapped_scale"][0][-1]}
    checked = run_check(
        CheckOptions(
            models=(tmp_path / "net.onnx",),
            flows=("miscompiler",),
            options=options,
            history=history,
            only_kind="verify",
        )
    )
    verify = checked.run.jobs[0]
    assert isinstance(verify, VerifyJob)
    before = BaselineEngine("old", verify.flow, verify.case.model)
    jobs = (verify, other_kind(verify, MeasureJob), other_kind(verify, CompareSpeedJob, baseline=before))
    after = (OperatorTime("conv", "Conv", 9e-4),)
    pairs = tuple(PairedRun(0.5 + 1e-4 * at, 0.5, 0.0, quads=10) for at in range(20))
    timed: dict[str, dict[str, Any]] = {
        "measure": {"operator_times": after, "outcome": measured},
        "compare_speed": {
            "operator_times": after,
            "baseline_operator_times": (OperatorTime("conv", "Conv", 4e-4),),
            "speeds": (SpeedComparison("old", pairs, "thread", own_s=1.6e-3, rival_s=1e-3),),
        },
    }
    cell = (verify.case.name, verify.flow.name)
    results = (*checked.results, *(make_result(*cell, kind, **seen) for kind, seen in timed.items()))
    run = replace(checked.run, id="20991231T000000-000000", jobs=jobs, policy=Policy(goals=goals), status="running")
    with open_services(history) as services, open_run(run, services) as opened:
        for result in results:
            opened.add(result)
    return history


def test_what_is_wrong_and_slow_has_a_page_of_each(tmp_path: Path) -> None:
    history = red_in_three_ways(tmp_path, Goal("latency.median_ms", max=1e-6))
    triaged = run_triage(TriageOptions(target="last", history=history, output=tmp_path / "triage"))
    assert [one.job_key.rpartition("|")[2] for one in triaged.causes] == ["verify", "measure", "compare_speed"]
    assert len({one.folder for one in triaged.causes}) == 3
    for cause in triaged.causes:
        page = msgspec.json.decode((Path(cause.folder) / "cause.json").read_bytes())
        assert page["job_key"] == cause.job_key


LATENCY = Goal("latency.median_ms", max=1e-6)
MEMORY = Goal("memory.run_peak_bytes", max=1.0)


@pytest.mark.parametrize(
    ("goals", "measured", "slow"),
    [
        ((MEMORY,), Outcome.OK, False),
        ((MEMORY, LATENCY), Outcome.OK, True),
        ((LATENCY,), Outcome.OTHER_PRECISION, True),
        ((Goal("artifact.bytes", max=1.0),), Outcome.OTHER_PRECISION, False),
        ((), Outcome.ERROR, False),
    ],
)
def test_only_what_breaks_a_rule_about_time_is_slow(
    goals: tuple[Goal, ...], measured: Outcome, slow: bool, tmp_path: Path
) -> None:
    history = red_in_three_ways(tmp_path, *goals, measured=measured)
    asked = TriageOptions(target="last", job="net|miscompiler|measure", history=history, output=tmp_path / "triage")
    triaged = run_triage(asked)
    assert [cause.symptom.kind for cause in triaged.causes] == ["too_slow"] * slow
    is_told = ["broke no limit on the time of a call" in line for line in triaged.left]
    assert is_told == [True] * (not slow)
