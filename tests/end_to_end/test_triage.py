"""From a red verdict to its cause: on a backend that rewrites graphs wrongly, and on a real defect of ONNX Runtime."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from msgspec.structs import replace
from onnx import ModelProto, helper, numpy_helper

from assay.commands.check import run_check
from assay.commands.composition import open_services
from assay.commands.triage import run_triage
from assay.core.error_case import ErrorCase
from assay.core.job import VerifyJob
from assay.core.outcome import Outcome
from assay.core.result import VerifyResult
from assay.errors import UsageError
from assay.options.check import CheckOptions
from assay.options.triage import TriageOptions
from assay.testing.faulty_rewrites import KERNELS, REWRITES
from assay.testing.planted_nets import PlantedNet
from assay.triage.cause import Doubt, Where
from assay.triage.triage import RedVerdict, triage_verdict
from assay.triage.triage_text import lines, title_of
from triaged import NODES, causes_of


@pytest.mark.parametrize("fault", [*REWRITES, *KERNELS])
def test_a_planted_fault_is_named_with_its_pass(fault: str, tmp_path: Path) -> None:
    net = PlantedNet(NODES, seed=3)
    pattern = net.sites[fault][0]
    (cause,) = causes_of(net.model, tmp_path, "miscompiler", fault=fault, site=pattern[-1])
    assert [node.partition(" ")[0] for node in cause.nodes] == pattern
    assert cause.where is (Where.NODE if len(pattern) == 1 else Where.COMBINATION)
    assert cause.explains is not None
    assert cause.explains > 0.99
    if fault in KERNELS:
        assert cause.kernel
        assert not cause.cures
    else:
        assert cause.cures[0].names == (fault,)
        assert cause.whole_cured


def test_a_fault_that_no_tap_may_see_is_found_all_the_same(tmp_path: Path) -> None:
    net = PlantedNet(NODES, seed=3)
    pattern = net.sites["swapped_scale"][0]
    (cause,) = causes_of(net.model, tmp_path, "miscompiler", fault="swapped_scale", site=pattern[-1], untapped=True)
    assert [node.partition(" ")[0] for node in cause.nodes] == pattern


def test_a_cause_that_is_known_is_told_of_another_model_without_a_search(tmp_path: Path) -> None:
    (first,) = causes_of(padded(), tmp_path, "onnxruntime")
    other = padded()
    other.graph.node[0].op_type = "Softsign"
    onnx.save(other, tmp_path / "other.onnx")
    asked = TriageOptions(
        target=str(tmp_path / "other.onnx"),
        flows=("onnxruntime",),
        history=str(tmp_path / "history"),
        output=tmp_path / "triage",
    )
    (second,) = run_triage(asked).causes
    assert (second.known_as, second.operators) == (first.known_as, first.operators)
    (again,) = run_triage(asked).causes
    assert again.known_as == second.known_as, "by its own script, not by the page that was made of it"


@pytest.mark.slow
def test_a_crash_is_reduced_to_what_crashes(tmp_path: Path) -> None:
    net = PlantedNet(NODES, seed=3)
    pattern = net.sites["cancelled_transposes"][0]
    (cause,) = causes_of(net.model, tmp_path, "miscompiler", fault="crash", site=pattern[-1])
    assert [node.partition(" ")[0] for node in cause.nodes] == pattern
    assert cause.symptom.kind == "crash SIGSEGV"


def padded() -> ModelProto:
    """A pattern of docs/findings/onnxruntime-pad-before-max-pool.py inside of other nodes."""
    weights = [
        numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1]), "pads"),
        numpy_helper.from_array(np.array(0, np.float32), "value"),
        numpy_helper.from_array(np.array(3, np.float32), "three"),
    ]
    nodes = [
        helper.make_node("Tanh", ["x"], ["t"]),
        helper.make_node("Sub", ["t", "three"], ["s"]),
        helper.make_node("Pad", ["s", "pads", "value"], ["p"]),
        helper.make_node("MaxPool", ["p"], ["m"], kernel_shape=[2, 2]),
        helper.make_node("Sigmoid", ["m"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "padded",
        [helper.make_tensor_value_info("x", 1, [1, 4, 8, 8])],
        [helper.make_tensor_value_info("y", 1, [1, 4, 9, 9])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def test_a_real_defect_ends_in_a_script_that_fails_with_it_and_passes_without(tmp_path: Path) -> None:
    (cause,) = causes_of(padded(), tmp_path, "onnxruntime")
    assert cause.operators == ("Pad", "MaxPool")
    assert cause.known_as == "docs/findings/onnxruntime-pad-before-max-pool.py"
    assert cause.healing_taps == ("p",)
    assert cause.cures[0].names == ("Pad_Fusion",)
    assert not cause.doubts
    for arm, code in (("fails", 1), ("cured", 0)):
        assert subprocess.run([sys.executable, cause.script, arm], check=False).returncode == code
    assert "--option disabled_optimizers=Pad_Fusion" in (Path(cause.folder) / "cause.md").read_text()
    page = (Path(cause.folder) / "cause.md").read_text()
    assert "- **machine**: " in page
    assert "expected [0.0, 0.0, 0.0, 0.0]\n  got      [-1.0, -1.0, -1.0, -1.0]" in page
    small = onnx.load(Path(cause.folder) / "smallest" / "model.onnx")
    assert [dim.dim_value for dim in small.graph.input[0].type.tensor_type.shape.dim] == [1, 1, 1, 1]


def test_what_does_not_fail_again_is_said_with_how_often_it_was_tried(tmp_path: Path) -> None:
    once = str(tmp_path / "once")
    (cause,) = causes_of(padded(), tmp_path, "faulty", fault="lie", once_file=once)
    assert (cause.doubts, cause.failed, cause.tries) == ((Doubt.NOT_REPEATED,), 0, 8)
    assert any("0 of 8 tries failed" in line for line in lines(cause))


def test_a_run_without_a_red_job_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no red job"):
        causes_of(PlantedNet(NODES, seed=3).model, tmp_path, "miscompiler")


def test_a_run_of_the_history_is_triaged_by_its_job(tmp_path: Path) -> None:
    causes_of(padded(), tmp_path, "onnxruntime")
    history, output = str(tmp_path / "history"), tmp_path / "again"
    (cause,) = run_triage(
        TriageOptions(target="last", job="net|onnxruntime|verify", history=history, output=output)
    ).causes
    assert cause.operators == ("Pad", "MaxPool")
    with pytest.raises(UsageError, match="has no job 'other'"):
        run_triage(TriageOptions(target="last", job="other", history=history, output=output))


def test_a_job_that_was_lost_or_asks_no_answer_is_named_and_the_others_are_triaged(tmp_path: Path) -> None:
    causes_of(padded(), tmp_path, "onnxruntime")
    history = str(tmp_path / "history")
    with open_services(history) as services:
        run = services.store.run("last")
        (result,) = services.store.results(run.id)
        (job,) = run.jobs
        assert isinstance(job, VerifyJob)
        lost = replace(job, case=replace(job.case, name="lost"))
        misused = replace(job, case=replace(job.case, name="misused", misuse=ErrorCase("missing", "x")))
        killed = replace(run, id="20991231T000000-000000", jobs=(lost, job, misused), status="running")
        services.store.open_run(killed)
        wrong_use = replace(result, job_key=misused.key, case="misused", outcome=Outcome.CRASH, signal="SIGSEGV")
        services.store.record(killed.id, [result, wrong_use])
    triaged = run_triage(TriageOptions(target=killed.id, history=history, output=tmp_path / "again"))
    assert [cause.job_key for cause in triaged.causes] == [job.key]
    assert len(triaged.left) == 2
    assert re.search(r"lost.* is red \(lost: .*`assay resume`\): there is no answer to look into yet", triaged.left[0])
    assert triaged.left[1].endswith("this one asks what comes of a wrong use")
    asked = TriageOptions(target=killed.id, job=lost.key, history=history, output=tmp_path / "again")
    assert "`assay resume`" in run_triage(asked).left[0]


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        ("born_nan", "nan", "a NaN is born by Softplus"),
        ("born_infinity", "range", "an infinity on one side by Softplus"),
        ("unsteady", "values", "wrong values (answers differ from run to run) by Softplus"),
    ],
)
def test_what_is_no_steady_number_is_told_at_the_node_where_it_is_born(
    fault: str, kind: str, message: str, tmp_path: Path
) -> None:
    net = PlantedNet(NODES, seed=3)
    ((born,), *_) = net.sites["wrong_function"]
    (cause,) = causes_of(net.model, tmp_path, "miscompiler", fault=fault, site=born)
    assert [node.partition(" ")[0] for node in cause.nodes] == [born]
    assert (cause.symptom.kind, cause.where) == (kind, Where.NODE)
    assert message in title_of(cause)


def test_without_time_the_best_so_far_is_told(tmp_path: Path) -> None:
    net = PlantedNet(2 * NODES, seed=3)
    onnx.save(net.model, tmp_path / "net.onnx")
    moments: list[float] = []
    asked = TriageOptions(
        target=str(tmp_path / "net.onnx"), flows=("miscompiler",), options={"fault": "lost_middle"}, time_limit_s=1.0,
        history=str(tmp_path / "history"), output=tmp_path / "triage",
    )  # fmt: skip
    (cause, *_) = run_triage(asked, tell=lambda text: moments.append(time.monotonic())).causes
    assert Doubt.OUT_OF_TIME in cause.doubts
    assert time.monotonic() - moments[0] < 15.0, "no question goes on beyond it"


def test_what_more_instructions_of_the_processor_make_wrong_is_the_hardware_s(tmp_path: Path) -> None:
    net = PlantedNet(NODES, seed=3)
    ((site,), *_) = net.sites["wrong_slope"]
    (cause,) = causes_of(net.model, tmp_path, "miscompiler", fault="wide", site=site)
    assert [node.partition(" ")[0] for node in cause.nodes] == [site]
    assert [(cure.kind, cure.names) for cure in cause.cures] == [("hardware", ("env.MISCOMPILER_MAX_ISA=avx",))]
    assert (cause.whole_cured, cause.kernel) == (True, False)
    assert any(
        "instructions of the processor: it is right with env.MISCOMPILER_MAX_ISA=avx" in line for line in lines(cause)
    )


@pytest.mark.parametrize("fault", ["swapped_scale", "wrong_slope"])
def test_what_fails_in_every_second_engine_is_triaged_by_its_share(fault: str, tmp_path: Path) -> None:
    net = PlantedNet(NODES, seed=3)
    pattern = net.sites[fault][0]
    onnx.save(net.model, tmp_path / "net.onnx")
    history = str(tmp_path / "history")
    options = {"fault": fault, "site": pattern[-1]}
    asked = CheckOptions(
        models=(tmp_path / "net.onnx",), flows=("miscompiler",), options=options, history=history, only_kind="verify"
    )
    checked = run_check(asked)
    job, result = checked.run.jobs[0], checked.results[0]
    assert isinstance(job, VerifyJob)
    seldom = replace(job, flow=replace(job.flow, options={**job.flow.options, "turns": str(tmp_path / "turns")}))
    with open_services(history, workers=1) as services:
        (cause,) = triage_verdict(
            RedVerdict(seldom, result), services, tmp_path / "triage", math.inf, lambda text: None
        )
    assert [node.partition(" ")[0] for node in cause.nodes] == pattern
    brought = [] if fault in KERNELS else [(fault,)]
    assert (cause.kernel, [cure.names for cure in cause.cures][:1]) == (fault in KERNELS, brought)
    assert 0 < cause.failed < cause.tries
    assert any("it fails rarely: " in line for line in lines(cause))


def test_where_runs_part_is_found_of_answers_that_are_within_tolerance(tmp_path: Path) -> None:
    net = PlantedNet(NODES, seed=3)
    ((born,), *_) = net.sites["wrong_function"]
    onnx.save(net.model, tmp_path / "net.onnx")
    history = str(tmp_path / "history")
    asked = CheckOptions(
        models=(tmp_path / "net.onnx",),
        flows=("miscompiler",),
        options={"fault": "unsteady", "site": born},
        history=history,
        only_kind="verify",
    )
    checked = run_check(asked)
    job, result = checked.run.jobs[0], checked.results[0]
    assert isinstance(job, VerifyJob)
    assert isinstance(result, VerifyResult)
    steady = replace(result, comparisons=(), findings=())
    with open_services(history) as services:
        (cause,) = triage_verdict(RedVerdict(job, steady), services, tmp_path / "triage", math.inf, lambda text: None)
    assert [node.partition(" ")[0] for node in cause.nodes] == [born]
    assert (cause.symptom.kind, cause.where) == ("unstable", Where.NODE)
    assert cause.asked < 40


def test_a_fault_that_one_choice_of_the_quantizer_decides_is_the_quantizer_s(tmp_path: Path) -> None:
    net = PlantedNet(NODES, seed=3)
    onnx.save(net.model, tmp_path / "net.onnx")
    asked = TriageOptions(
        target=str(tmp_path / "net.onnx"), flows=("miscompiler",), options={"fault": "first_scale"},
        transforms=("int8-qdq:per-channel",), history=str(tmp_path / "history"), output=tmp_path / "triage",
    )  # fmt: skip
    cause = run_triage(asked).causes[0]
    assert cause.right_transforms == ("int8-qdq:per-tensor", "int8-qdq:per-tensor-symmetric")
    assert cause.cost is not None
    (told,) = (line for line in lines(cause) if "workaround" in line)
    place = "--transform int8-qdq:per-tensor in place of this int8-qdq"
    assert re.search(rf"{place} \(the whole model is right with it, and .*(fast|long)", told)
