from __future__ import annotations

import shlex

import pytest
from msgspec.structs import replace

from assay.core.case import Case, Contract, Inputs, Original, Tolerance
from assay.core.input_plan import InputRange
from assay.core.limits import Limits, Measuring
from assay.options.repro import config_of, repro_line
from assay.testing.builders import make_flow, make_job, make_model, make_result, make_run

START = "assay check models/digits-classifier.onnx --flow onnxruntime"


def test_a_golden_job() -> None:
    assert (
        repro_line(make_run(), make_job()) == f"{START} --golden golden/digits-classifier --seed 0 --only-kind verify"
    )


def test_a_result_is_looked_up_by_its_key() -> None:
    assert repro_line(make_run(), make_result()) == repro_line(make_run(), make_job())


def test_a_result_of_no_planned_job_repeats_the_run() -> None:
    run = make_run(jobs=())
    assert repro_line(run, make_result()) == run.command


def test_seed_samples_batch_options_limits_and_measuring_are_spelled_out() -> None:
    job = replace(
        make_job(kind="measure"),
        case=Case(name="digits-classifier", model=make_model(), inputs=Inputs(seed=7, samples=2, batch=3)),
        flow=make_flow(options={"optimization": "all", "fused": True}),
        limits=Limits(timeout_s=12.5, memory_bytes=4000),
        measuring=Measuring(seconds=2.0, batches=(1, 8), threads=2),
    )
    assert repro_line(make_run(), job) == (
        f"{START} --option fused=true --option optimization=all --seed 7 --samples 2 --batch 3 --only-kind measure "
        "--measure-seconds 2.0 --measure-batch 1 --measure-batch 8 --threads 2 --timeout 12.5 --memory 4000"
    )


@pytest.mark.parametrize(("seed", "words"), [(0, ""), (5, " --seed 5")])
def test_inputs_of_a_user_need_no_seed_unless_one_was_given(seed: int, words: str) -> None:
    case = Case(name="digits-classifier", model=make_model(), inputs=Inputs(given="own.npz", seed=seed))
    assert (
        repro_line(make_run(), replace(make_job(), case=case)) == f"{START} --inputs own.npz{words} --only-kind verify"
    )


def test_tolerance_answers_and_policy() -> None:
    job = make_job()
    contract = Contract(tolerances={"*": Tolerance(rtol=1e-3)}, task_metric="classification")
    job = replace(job, case=replace(job.case, contract=contract))
    run = make_run(command="assay check m.onnx --policy=limits.toml")
    assert repro_line(run, job).endswith(
        "--task-metric classification --rtol 0.001 --only-kind verify --policy limits.toml"
    )


def test_hostile_names_stay_one_word() -> None:
    source = "models/a b'; rm -rf $HOME #.onnx"
    job = replace(make_job(), case=replace(make_job().case, model=make_model(source=source)))
    assert shlex.split(repro_line(make_run(), job))[2] == source


def test_a_file_that_looks_like_an_option() -> None:
    job = replace(make_job(), case=replace(make_job().case, model=make_model(source="-x.onnx")))
    assert shlex.split(repro_line(make_run(), job))[2] == "./-x.onnx"


def test_what_only_a_configuration_says_is_repeated_by_narrowing_the_run() -> None:
    narrowed = "--only 'digits-classifier|onnxruntime|verify'"
    for command in ("assay check", "assay check --config other.toml models/digits-classifier.onnx"):
        assert repro_line(make_run(command=command), make_job()) == f"{command} {narrowed}"
    per_output = replace(make_job().case, contract=Contract(tolerances={"scores": Tolerance(atol=1.0)}))
    run = make_run()
    assert repro_line(run, replace(make_job(), case=per_output)) == f"{run.command} {narrowed}"


def test_an_option_of_several_flows_is_repeated_with_all_of_them() -> None:
    """Spelled out alone, for a flow that does not take it, the command would be refused before anything runs."""
    for given in ("--option optimization=basic", "--option=optimization=basic", "--threads 2"):
        command = f"assay check models/digits-classifier.onnx --flow onnxruntime --flow reference {given}"
        line = repro_line(make_run(command=command), make_job())
        assert line == f"{command} --only 'digits-classifier|onnxruntime|verify'"
    alone = "assay check models/digits-classifier.onnx --flow onnxruntime --option optimization=basic"
    assert "--only " not in repro_line(make_run(command=alone), make_job())


def test_what_is_compared_with_is_looked_for_in_the_same_history() -> None:
    command = "assay check models/digits-classifier.onnx --flow onnxruntime --history h"
    compared = make_job(kind="compare_speed")
    assert repro_line(make_run(command=f"{command} --baseline"), compared).startswith(f"{command} --baseline --only ")
    assert repro_line(make_run(command=f"{command} --baseline"), make_job()).startswith(f"{command} --baseline --only ")
    assert repro_line(make_run(command=f"{command} --compare-run last"), make_job()).startswith(
        f"{command} --compare-run last --only "
    )
    assert "--history" not in repro_line(make_run(command=command), make_job())


@pytest.mark.parametrize("task", ["verify", "measure", "compare_speed"])
def test_every_job_beside_a_baseline_is_repeated_beside_it(task: str) -> None:
    """Its metrics are compared with the approved engine's: without it the same job would pass."""
    command = "assay check models/digits-classifier.onnx --flow onnxruntime --baseline"
    line = repro_line(make_run(command=command), make_job(kind=task))
    assert line.endswith(f" --baseline --only 'digits-classifier|onnxruntime|{task}'")
    assert "--only-kind" not in line


def test_a_run_started_from_python_is_spelled_out() -> None:
    assert repro_line(make_run(command="python nightly.py"), make_job()).startswith(START)


def test_transforms_sizes_calibration_and_requirements() -> None:
    flow = make_flow("onnxruntime+mutant:drop@/a+b+int8-qdq", transforms=("mutant:drop@/a+b", "int8-qdq"))
    inputs = Inputs(golden="g", calibration=8, dims={"batch": (1, 4, 16)})
    job = replace(make_job(), flow=flow, case=replace(make_job().case, inputs=inputs))
    run = make_run(command="assay check m.onnx --require 'casts <= 4' --require=undelegated==0")
    assert repro_line(run, job) == (
        "assay check models/digits-classifier.onnx --flow onnxruntime --transform mutant:drop@/a+b --transform int8-qdq "
        "--golden g --seed 0 --calibration 8 --dim batch=1:4:16 --only-kind verify --require 'casts <= 4' --require undelegated==0"
    )


def test_listed_sizes_and_stated_values_are_repeated() -> None:
    ranges = {"mask": InputRange(0, 1), "rate": InputRange(8000, 16000, choices=(8000, 16000))}
    inputs = Inputs(dims={"h": (64, 64, 160), "x[2]": (1, 2, 3)}, sizes={"h": (64, 160)}, ranges=ranges)
    line = repro_line(make_run(), replace(make_job(), case=replace(make_job().case, inputs=inputs)))
    assert "--dim h=64,160 --dim 'x[2]=1:2:3' --input-range mask=0:1 --input-value rate=8000,16000" in line


@pytest.mark.parametrize(
    ("command", "config"),
    [
        ("assay check net.onnx --config own/assay.toml --flow mine", "own/assay.toml"),
        ("assay check --config=own.toml", "own.toml"),
        ("assay check net.onnx --flow onnxruntime", ""),
        ("assay check --flow mine", "assay.toml"),
        ("assay run onnx-node", ""),
    ],
)
def test_the_configuration_that_a_command_names(command: str, config: str) -> None:
    assert config_of(make_run(command=command)) == config


def test_a_run_of_the_python_api_names_its_reference_and_no_configuration() -> None:
    run = make_run(command="assay.check")
    job = make_job()
    job = replace(job, case=replace(job.case, original=Original(make_model("old"))))
    assert config_of(run) == ""
    assert "--reference models/old.onnx" in repro_line(run, job)
