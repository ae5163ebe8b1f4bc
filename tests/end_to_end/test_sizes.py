"""Sizes beside those of the samples: verified where the backend claims to take them all."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from digits_checks import checked, here, recorded
from onnx import parser

from assay.core.case import Inputs
from assay.core.outcome import Cause, Outcome
from assay.judge.words.note_text import note_text
from assay.options.sizes import Sizes
from assay.plugins import find_flow


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The history of a check lies where it is called."""
    monkeypatch.chdir(tmp_path)


def test_every_size_is_verified_where_it_is_claimed() -> None:
    (result,) = checked("onnxruntime", dims={"batch": Sizes(1, 4, 16)}).results
    assert [(comparison.at, comparison.shape) for comparison in result.comparisons] == [
        ("", (1, 10)),
        ("batch=1", (1, 10)),
        ("batch=4", (4, 10)),
        ("batch=16", (16, 10)),
    ]


def test_inputs_are_drawn_at_the_usual_size_that_an_engine_of_fixed_sizes_is_built_for(tmp_path: Path) -> None:
    path = tmp_path / "wide.onnx"
    text = "g (float[1, 3, 8, w] x) => (float[1, 3, 8, w] y) { y = Relu(x) }"
    onnx.save(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}'), path)
    inputs = Inputs(seed=1, samples=2, dims={"w": (4, 6, 32)})
    reference = recorded(path, inputs)
    for flow in ("onnxruntime", "ncnn-f32"):
        result = here(path, inputs, find_flow(flow), reference)
        assert (result.outcome, result.comparisons[0].shape) == (Outcome.OK, (1, 3, 8, 6)), result.detail


def test_a_wrong_answer_at_one_size_only_is_a_mismatch() -> None:
    run = checked("faulty-wrong_above_8", dims={"batch": Sizes(1, 1, 16, (1, 9, 16))})
    (result,) = run.results
    assert result.outcome is Outcome.MISMATCH
    assert result.detail.startswith("at batch=9: ")
    assert run.judgement.exit_code == 1


def test_a_size_that_neither_the_engine_nor_the_reference_takes_is_no_fault_of_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "eights.onnx"
    text = "g (float[n, 4] x) => (float[m, 8] y) { s = Constant<value_ints=[-1, 8]>() y = Reshape(x, s) }"
    onnx.save(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}'), path)
    inputs = Inputs(seed=1, samples=2, batch=2, dims={"n": (2, 2, 9)}, sizes={"n": (2, 9)})
    result = here(path, inputs, find_flow("onnxruntime"), recorded(path, inputs))
    assert (result.outcome, result.cause) == (Outcome.ERROR, Cause.WRONG_USAGE)
    assert note_text(result.ended).startswith("at n=9 neither the engine nor the reference takes the inputs: ")
    assert note_text(result.ended).endswith("give other sizes with --dim")
