"""The committed digits example keeps its promises: size, samples, goldens, accuracy, and two files a model that agree."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime
import pytest

from assay.config.assay_toml import load_config
from assay.models.golden_samples import Array, Golden
from assay.models.goldens import read_golden, verify_golden
from assay.models.onnx_file import open_model
from assay.task_metrics.scoring import score

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
MODELS = ("classifier", "detector", "segmenter")


def _accuracy_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("digits_accuracy", DIGITS / "accuracy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


accuracy = _accuracy_module()


@cache
def golden(name: str) -> Golden:
    return read_golden(DIGITS / "goldens" / name, model=open_model(DIGITS / "models" / f"{name}.onnx"))


def stacked(samples: list[dict[str, Array]]) -> dict[str, Array]:
    return {name: np.concatenate([sample[name] for sample in samples]) for name in samples[0]}


def reached(name: str, outputs: dict[str, Array], labels: dict[str, Array]) -> float:
    if name == "classifier":
        return float(accuracy.top1(outputs["logits"], labels["label"]))
    if name == "segmenter":
        return float(accuracy.mean_iou(outputs["logits"], labels["mask"]))
    parts = (outputs["boxes"], outputs["scores"], outputs["classes"], labels["boxes"], labels["classes"])
    return float(accuracy.mean_average_precision(*parts))


def ran(file: str, image: Array) -> dict[str, Array]:
    session = onnxruntime.InferenceSession(DIGITS / "models" / file, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"image": image}), strict=True))


def assert_close(actual: dict[str, Array], expected: dict[str, Array]) -> None:
    """Float32 against float32: 1e-4 is ten times the largest difference seen between evaluators, and a thousandth of
    what a wrong layer makes."""
    assert set(actual) == set(expected)
    for name, array in expected.items():
        assert actual[name].dtype == array.dtype
        if array.dtype.kind == "i":
            np.testing.assert_array_equal(actual[name], array)
        else:
            np.testing.assert_allclose(actual[name], array, rtol=1e-4, atol=1e-4)


def test_everything_committed_is_under_three_megabytes() -> None:
    files = [path for path in DIGITS.rglob("*") if path.is_file() and not {"__pycache__", ".assay"} & set(path.parts)]
    assert {path.name for path in files} >= {f"{name}{kind}.onnx" for name in MODELS for kind in ("", "-static")}
    assert sum(path.stat().st_size for path in files) < 3_000_000


@pytest.mark.parametrize("name", MODELS)
def test_golden_has_enough_labelled_samples_and_no_problem(name: str) -> None:
    assert verify_golden(DIGITS / "goldens" / name, open_model(DIGITS / "models" / f"{name}.onnx")) == []
    assert golden(name).lock.samples >= 64
    assert golden(name).labels
    assert all(len(label) == golden(name).lock.samples for label in golden(name).labels.values())


@pytest.mark.parametrize("name", MODELS)
def test_reference_outputs_meet_the_promised_accuracy(name: str) -> None:
    assert reached(name, stacked(golden(name).outputs), golden(name).labels) >= accuracy.FLOORS[name]


@pytest.mark.parametrize("name", MODELS)
def test_accuracy_falls_when_the_samples_are_mixed_up(name: str) -> None:
    other = {output: np.roll(array, 1, axis=0) for output, array in stacked(golden(name).outputs).items()}
    assert reached(name, other, golden(name).labels) < 0.5


@pytest.mark.parametrize("name", MODELS)
def test_onnxruntime_agrees_with_the_golden_and_is_as_accurate(name: str) -> None:
    outputs = ran(f"{name}.onnx", stacked(golden(name).inputs)["image"])
    assert_close(outputs, stacked(golden(name).outputs))
    assert reached(name, outputs, golden(name).labels) >= accuracy.FLOORS[name]


@pytest.mark.parametrize("name", MODELS)
def test_static_and_dynamic_files_agree(name: str) -> None:
    samples = golden(name).inputs[:8]
    dynamic = ran(f"{name}.onnx", stacked(samples)["image"])
    assert_close(stacked([ran(f"{name}-static.onnx", sample["image"]) for sample in samples]), dynamic)


@pytest.mark.parametrize("name", MODELS)
def test_models_are_what_every_backend_can_read(name: str) -> None:
    dynamic, static = (open_model(DIGITS / "models" / f"{name}{kind}.onnx") for kind in ("", "-static"))
    assert {dynamic.opsets[""], static.opsets[""]} <= {17, 18}
    assert max(dynamic.ir_version, static.ir_version) <= 10
    assert all(isinstance(spec.shape[0], str) for spec in (*dynamic.inputs, *dynamic.outputs))
    assert all(spec.shape[0] == 1 for spec in (*static.inputs, *static.outputs))
    for spec, other in zip((*dynamic.inputs, *dynamic.outputs), (*static.inputs, *static.outputs), strict=True):
        assert (spec.name, spec.dtype, spec.shape[1:]) == (other.name, other.dtype, other.shape[1:])
        assert all(isinstance(size, int) for size in spec.shape[1:])


def test_detector_and_segmenter_are_judged_by_one_truth() -> None:
    """Same scenes, and the digits of the boxes are those of the mask."""
    boxes, mask = golden("detector").labels["classes"], golden("segmenter").labels["mask"]
    for kinds, cells in zip(boxes, mask, strict=True):
        assert set(np.unique(cells)) - {0} == set(kinds[kinds >= 0] + 1)
    for sample, other in zip(golden("detector").inputs, golden("segmenter").inputs, strict=True):
        np.testing.assert_array_equal(sample["image"], other["image"])


@pytest.mark.parametrize(
    ("name", "task", "metric"),
    [
        ("classifier", "classification", "top1_accuracy"),
        ("detector", "detection", "map50"),
        ("segmenter", "segmentation", "mean_iou"),
    ],
)
def test_policy_demands_the_floors_of_figures_that_are_recorded(name: str, task: str, metric: str) -> None:
    """Two implementations, the example's and Assay's, agree on the metric; 0.01 is for COCO's 101 recall points."""
    config = load_config(DIGITS / "assay.toml")
    (goal,) = [goal for goal in config.policy.goals if goal.metric == f"task.{metric}"]
    assert (goal.case, goal.min, goal.flow) == (name, accuracy.FLOORS[name], "*")
    assert {entry.name: entry.contract.task_metric for entry in config.models}[name] == task
    samples = golden(name)
    figures = score(task, samples.outputs, samples.outputs, samples.labels, {})
    assert figures[metric] == pytest.approx(reached(name, stacked(samples.outputs), samples.labels), abs=0.01)
