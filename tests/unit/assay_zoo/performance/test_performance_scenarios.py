"""The scenarios that a new zoo begins with: each can be followed as it is written."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from assay.task_metrics.registry import check_task
from assay_zoo.policy import Scenario

SHIPPED = sorted((files("assay_zoo") / "data" / "scenarios").iterdir(), key=lambda path: path.name)


def test_there_is_one_for_each_use() -> None:
    names = [path.name for path in SHIPPED]
    assert names == [
        "audio-classification.toml", "image-classification.toml", "object-detection.toml", "semantic-segmentation.toml",
        "speech-recognition.toml",
        "tabular-classification.toml", "tabular-regression.toml",
        "text-classification.toml",
    ]  # fmt: skip


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_it_can_be_followed(path) -> None:  # type: ignore[no-untyped-def]
    scenario = Scenario.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    assert f"{scenario.name}.toml" == path.name
    if scenario.task:
        check_task(scenario.task, scenario.task_options)
    assert scenario.minimum is not None
    assert {"latency_ms", "size_bytes"} <= {measure.metric for measure in scenario.measures}
    assert all((measure.at_most is None) != (measure.at_least is None) for measure in scenario.measures)
