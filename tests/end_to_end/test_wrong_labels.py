"""A label or an option of a task that cannot be right is bad input, whoever's answers are compared: no engine is blamed for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

import assay
from assay.core.result_parts import LossResult
from assay.errors import BadInputs, UsageError
from assay.options.task_metric import MetricChoice

MODEL = '<ir_version: 8, opset_import: ["" : 17]> g (float[1, 3] x) => (float[1, 3] logits) { logits = Identity(x) }'
RIGHT = (0, 1, 2)


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(parser.parse_model(MODEL), "m.onnx")


def check(labels: tuple[int, ...], task: MetricChoice, flow: str = "onnxruntime", **outputs: bool) -> assay.Checked:
    rows = np.eye(3, dtype=np.float32)[:, None]
    Path("data").mkdir(exist_ok=True)
    for number, label in enumerate(labels):
        answer = {"logits": rows[number]} if outputs else {}
        np.savez(f"data/{number}.npz", x=rows[number], label=label, **answer)
    return assay.check("m.onnx", flows=[flow], inputs="data", measure=False, task_metric=task)


def test_before_any_engine_where_the_reference_is_computed() -> None:
    with pytest.raises(BadInputs, match="label 'label' holds 7, which is none of the 3 classes"):
        check((0, 1, 7), MetricChoice("classification"), "faulty-segfault")


def test_where_the_reference_is_there_already() -> None:
    check(RIGHT, MetricChoice("classification"))
    with pytest.raises(BadInputs, match="'ranking' reads 'label_relevance' of the labels, and there is 'label'"):
        check(RIGHT, MetricChoice("ranking"))


def test_where_there_is_a_golden_whatever_engines_do() -> None:
    check(RIGHT, MetricChoice("classification"))
    record = [
        sys.executable,
        "-m",
        "assay",
        "golden",
        "record",
        "m.onnx",
        "golden",
        "--inputs",
        "data",
        "--reason",
        "new",
    ]
    subprocess.run(record, check=True, capture_output=True)
    with pytest.raises(UsageError, match="'ranking' reads 'label_relevance' of the labels, and there is 'label'"):
        assay.check(
            "m.onnx",
            flows=["faulty-segfault"],
            golden="golden",
            measure=False,
            task_metric=MetricChoice("ranking"),
        )


def test_where_the_answers_were_given() -> None:
    with pytest.raises(BadInputs, match="label 'label' holds 7, which is none of the 3 classes"):
        check((0, 1, 7), MetricChoice("classification"), given=True)


def test_the_original_of_a_changed_model_may_name_its_outputs_otherwise() -> None:
    onnx.save(parser.parse_model(MODEL.replace("logits", "scores")), "old.onnx")
    np.savez("x.npz", x=np.eye(3, dtype=np.float32)[:1], label=0)
    task = MetricChoice("classification", {"output": "logits"})
    checked = assay.check(
        "m.onnx",
        reference="old.onnx",
        map_outputs={"logits": "scores"},
        flows=["onnxruntime"],
        inputs="x.npz",
        measure=False,
        task_metric=task,
    )
    assert {result.task_metrics["top1_agreement"] for result in checked.results if isinstance(result, LossResult)} == {
        1.0
    }


def test_an_option_is_known_to_be_wrong_before_anything_runs() -> None:
    with pytest.raises(UsageError, match="must be logits or probabilities, not 'softmax'"):
        check(RIGHT, MetricChoice("classification", {"scores": "softmax"}), "faulty-segfault")
