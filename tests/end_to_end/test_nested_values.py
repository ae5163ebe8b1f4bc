"""Classifiers with maps, missing features, and sequences: checked against the oracle, and kept in goldens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime

import assay
from assay.commands.check import run_check
from assay.core.note import NoteCode
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.models.flatten import flatten
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model
from assay.options.check import CheckOptions
from ml_models import classifier, dict_vectorizer, sequence_model


def checked(path: Path, golden: Path | None = None) -> Result:
    found = assay.check(path, flows=["onnxruntime"], golden=golden, measure=False, history=path.parent / "h")
    (result,) = found.results
    return result


def golden(path: Path, folder: Path, inputs: list[dict], outputs: list[dict]) -> Path:  # type: ignore[type-arg]
    write_golden(
        folder, model=open_model(path), inputs=inputs, outputs=outputs, seed=0, producer="given", producer_version="",
        who="t", reason="t", created_at="",
    )  # fmt: skip
    return folder


def test_a_classifier_with_maps_is_judged_in_double(tmp_path: Path) -> None:
    result = checked(classifier(tmp_path / "m.onnx"))
    assert result.outcome is Outcome.OK
    assert [comparison.output for comparison in result.comparisons] == [
        "label",
        "probabilities[]{keys}",
        "probabilities[]{values}",
    ]
    assert not {NoteCode.REFERENCE_BY_ITSELF, NoteCode.REFERENCE_BY_ANOTHER} & {note.code for note in result.notes}


def test_a_golden_holds_missing_features_and_maps(tmp_path: Path) -> None:
    path = classifier(tmp_path / "m.onnx")
    x = np.array([[np.nan, 1.0, np.inf, np.nan], [0.1, np.nan, 0.3, 0.4]], np.float32)
    label, maps = onnxruntime.InferenceSession(path).run(None, {"x": x})
    right = {"label": label, **flatten("probabilities", maps)}
    assert checked(path, golden(path, tmp_path / "g", [{"x": x}], [right])).outcome is Outcome.OK
    maps[1]["dog"] += 0.01
    wrong = {"label": label, **flatten("probabilities", maps)}
    result = checked(path, golden(path, tmp_path / "wrong", [{"x": x}], [wrong]))
    assert result.outcome is Outcome.MISMATCH
    assert "probabilities[]{values}" in result.detail


def test_maps_and_sequences_of_any_length_are_fed(tmp_path: Path) -> None:
    path = dict_vectorizer(tmp_path / "d.onnx")
    inputs = [flatten("x", {"cat": 2.0, "eel": 1.0}), flatten("x", {"dog": -1.0})]
    outputs = [{"y": np.array([[2, 0, 1]], np.float32)}, {"y": np.array([[0, -1, 0]], np.float32)}]
    assert checked(path, golden(path, tmp_path / "g", inputs, outputs)).outcome is Outcome.OK

    path = sequence_model(tmp_path / "s.onnx")
    vectors = [np.array([-1, 2], np.float32), np.array([3], np.float32)]
    inputs, outputs = [], []
    for count in (1, 2):
        given = vectors[:count]
        inputs.append(flatten("s", given) | {"i": np.array(count - 1)})
        y = np.maximum(given[-1], 0)
        outputs.append({"y": y} | flatten("t", [*given, y]))
    assert checked(path, golden(path, tmp_path / "h2", inputs, outputs)).outcome is Outcome.OK


def test_nodes_with_maps_are_no_missing_outputs(tmp_path: Path) -> None:
    options = CheckOptions(models=(classifier(tmp_path / "m.onnx"),), only_kind="per_node", history=str(tmp_path / "h"))
    (result,) = run_check(options).results
    assert result.outcome is not Outcome.MISMATCH
