"""`accuracy.recomputed` where the data set of the scenario does not suit its task: the maintainers' mistake declines nobody."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file
from zoo_place import DATASETS, place

from assay_zoo.accuracy.recompute import recompute
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.services import open_tools
from assay_zoo.submission import SubmissionServices


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SubmissionServices]:
    with open_tools(tmp_path_factory.mktemp("zoo")) as opened:
        yield opened


def digits(root: Path, labels: Mapping[str, np.ndarray], tools: SubmissionServices, **more: object) -> Check:
    """Its inputs, with other labels."""
    folder = root / "datasets" / "digits"
    folder.mkdir(parents=True)
    shutil.copyfile(DATASETS / "digits" / "inputs.safetensors", folder / "inputs.safetensors")
    save_file(dict(labels), folder / "labels.safetensors")
    here = place(root, dataset="datasets/digits", **more)
    (check,) = recompute(here, replace(tools, scratch=root / "scratch"))
    return check


@pytest.mark.parametrize(
    ("labels", "more", "words"),
    [
        ({"digit": (450,)}, {}, "datasets/digits/labels.safetensors has 'digit', and task 'classification' reads 'label'"),
        ({"label": (450,)}, {"task_options": {"label": "digit"}}, "has 'label', and task 'classification' reads 'digit'"),
        ({"label": (7,)}, {}, "label 'label' has 7 entries, and the outputs have 450 rows"),
        ({"label": (450,)}, {"task": "colours"}, "there is no task 'colours'"),
        ({"label": (450,)}, {"task_options": {"scores": "loud"}}, "option 'scores' of task 'classification' must be"),
        ({"label": (450,)}, {"task_options": {"lable": "x"}}, "task 'classification' has no option 'lable'"),
    ],
)  # fmt: skip
def test_labels_that_the_task_does_not_read_are_for_the_maintainers(
    labels: dict[str, tuple[int, ...]], more: dict[str, object], words: str, tools: SubmissionServices, tmp_path: Path
) -> None:
    check = digits(tmp_path, {name: np.zeros(shape, np.int64) for name, shape in labels.items()}, tools, **more)
    assert check.outcome is CheckOutcome.UNDECIDED, check.sentence
    assert words in check.sentence
    assert check.sentence.endswith("; the zoo's maintainers must fix the scenario or datasets/digits")


@pytest.mark.parametrize(
    ("task", "metric", "words"),
    [
        ("language", "perplexity", "task metric 'language' needs logits (batch, positions, vocabulary)"),
        ("detection", "map50", "the task metrics need output 'boxes'"),
    ],
)
def test_outputs_that_the_task_does_not_read_are_the_submissions(
    task: str, metric: str, words: str, tools: SubmissionServices, tmp_path: Path
) -> None:
    check = digits(tmp_path, {"mask": np.zeros(450)}, tools, task=task, metric=metric)
    assert check.outcome is CheckOutcome.FAILED, check.sentence
    assert words in check.sentence


def _language(folder: Path) -> None:
    """Of four tokens: each is followed by the next one, more likely than not."""
    table = numpy_helper.from_array(np.roll(3 * np.eye(4, dtype=np.float32), 1, axis=1), "table")
    tokens = helper.make_tensor_value_info("tokens", TensorProto.INT64, ["rows", "positions"])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["rows", "positions", 4])
    node = helper.make_node("Gather", ["table", "tokens"], ["logits"])
    graph = helper.make_graph([node], "language", [tokens], [logits], [table])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx"
    )


@pytest.mark.parametrize(
    ("shape", "outcome"),
    [((20, 2, 3), CheckOutcome.FAILED), ((20, 3), CheckOutcome.UNDECIDED), ((20,), CheckOutcome.UNDECIDED)],
)
def test_the_tokens_that_followed_have_the_shape_of_each_call(
    shape: tuple[int, ...], outcome: CheckOutcome, tools: SubmissionServices, tmp_path: Path
) -> None:
    """Several rows in each call, of which a data set may make samples: language counts by calls."""
    folder = tmp_path / "datasets" / "words"
    folder.mkdir(parents=True)
    tokens = np.random.default_rng(0).integers(0, 4, (20, 2, 3))
    save_file({"tokens": tokens}, folder / "inputs.safetensors")
    save_file({"next_token": np.resize((tokens + 1) % 4, shape)}, folder / "labels.safetensors")
    declared = {"task": "language", "metric": "perplexity", "direction": "lower", "range": (1.0, 9.0)}
    here = place(tmp_path, _language, dataset="datasets/words", **declared)
    (check,) = recompute(here, replace(tools, scratch=tmp_path / "scratch"))
    assert check.outcome is outcome, check.sentence
    assert check.sentence.startswith(
        "perplexity is 1.14" if len(shape) == 3 else "scenario 'image-classification' cannot"
    )
