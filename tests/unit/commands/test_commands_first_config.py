"""The assay.toml that is proposed to somebody whose models lie beside it."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock, call

import numpy as np
import pytest

from assay.cli.setup import listed
from assay.commands.first_config import Proposal, config_text, find_models, propose
from assay.config.assay_toml import TEMPLATE, load_config
from assay.models.goldens import write_golden
from assay.models.sources import open_source
from assay.plugins import find_flow
from small_models import golden_for, linear_model, linear_program


def test_models_are_found_below_the_folder_and_not_in_those_of_other_tools(tmp_path: Path) -> None:
    for name in ("b.onnx", "models/a.pt2", ".venv/x.onnx", "node_modules/y.onnx", "notes.txt", "models/.z.onnx"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    assert find_models(tmp_path) == (Path("b.onnx"), Path("models/a.pt2"))


def test_the_proposed_file_is_read_as_it_was_meant(tmp_path: Path) -> None:
    first, second, bad = Path('a "quoted".onnx'), Path("sub/other.onnx"), Path("bad.onnx")
    (tmp_path / "sub").mkdir()
    for path in (first, second, bad):
        (tmp_path / path).write_bytes(b"x")
    proposal = Proposal(
        (first, bad, second),
        {first: ("onnxruntime", "openvino-f32"), second: ("onnxruntime",)},
        {bad: "error: no model"},
    )
    text = config_text(TEMPLATE, proposal)
    (tmp_path / "assay.toml").write_text(text)
    config = load_config(tmp_path / "assay.toml")
    assert config.use == ("onnxruntime",)
    assert {entry.path.relative_to(tmp_path): entry.flows for entry in config.models} == {
        first: ("onnxruntime", "openvino-f32"),
        second: (),
    }
    assert '# no flow ran this one: error: no model\n# [[model]]\n# path = "bad.onnx"' in text
    assert "[limits]" in text


def test_without_a_model_it_is_the_commented_template(tmp_path: Path) -> None:
    assert config_text(TEMPLATE, propose(tmp_path, [find_flow("onnxruntime")], tmp_path)) == TEMPLATE


@pytest.mark.slow
def test_a_flow_is_proposed_for_the_models_that_it_ran(tmp_path: Path) -> None:
    linear_model(tmp_path / "linear.onnx")
    (tmp_path / "bad.onnx").write_text("no model")
    proposal = propose(tmp_path, [find_flow("onnxruntime")], tmp_path / ".assay")
    assert proposal.flows == {Path("linear.onnx"): ("onnxruntime",)}
    assert proposal.common == ("onnxruntime",)
    assert proposal.refused[Path("bad.onnx")].startswith(
        "bad.onnx is not an ONNX model, or damaged: it is no protobuf at byte 0"
    )


@pytest.mark.parametrize(
    ("models", "refused", "sentence"),
    [
        (1, 0, "1 model on a, b; look at it, then run `assay check`"),
        (3, 1, "2 models on a, b; look at it, then run `assay check`"),
        (2, 2, "no model that a flow runs; the reasons stand in it"),
    ],
)
def test_models_that_no_flow_ran_are_not_counted(models: int, refused: int, sentence: str) -> None:
    assert listed(models, refused, ("a", "b")) == sentence


def test_a_golden_of_the_same_file_is_named_beside_the_model(tmp_path: Path) -> None:
    golden_for(linear_model(tmp_path / "linear.onnx"), tmp_path / "golden" / "linear")
    golden_for(linear_model(tmp_path / "later.onnx", scale=2.0), tmp_path / "golden" / "later")
    linear_model(tmp_path / "later.onnx", scale=3.0)
    (tmp_path / "golden" / "damaged").mkdir()
    (tmp_path / "golden" / "damaged" / "golden.lock").write_text("no lock")
    proposal = propose(tmp_path, [], tmp_path)
    assert proposal.goldens == {Path("linear.onnx"): Path("golden/linear")}
    assert 'path = "linear.onnx"\ngolden = "golden/linear"\n' in config_text(TEMPLATE, proposal)


def test_of_two_goldens_of_one_file_none_is_chosen(tmp_path: Path) -> None:
    for name in ("old", "new"):
        golden_for(linear_model(tmp_path / "linear.onnx"), tmp_path / name)
    assert propose(tmp_path, [], tmp_path).goldens == {}


def test_onnx_files_alone_are_read_for_their_golden_and_the_screen_says_so(tmp_path: Path) -> None:
    golden_for(linear_model(tmp_path / "linear.onnx"), tmp_path / "golden")
    (tmp_path / "program.pt2").write_bytes((tmp_path / "linear.onnx").read_bytes())
    screen = Mock()
    assert propose(tmp_path, [], tmp_path, screen).goldens == {Path("linear.onnx"): Path("golden")}
    assert screen.mock_calls == [call.doing("looking for a golden of linear.onnx")]


@pytest.mark.heavy
def test_a_golden_of_an_exported_program_is_named_beside_it(tmp_path: Path) -> None:
    golden_for(linear_model(tmp_path / "linear.onnx"), tmp_path / "golden" / "linear")
    program = linear_program(tmp_path / "program.pt2")
    answers = {"x": np.ones((2, 4), np.float32)}, {"y": np.ones((2, 3), np.float32)}
    write_golden(
        tmp_path / "golden" / "program", model=open_source(program), inputs=[answers[0]], outputs=[answers[1]], seed=1,
        producer="tests", producer_version="1", who="tests", reason="a test", created_at="2026-11-28T00:00:00+00:00",
    )  # fmt: skip
    (tmp_path / "damaged.pt2").write_bytes(b"no program")
    assert propose(tmp_path, [], tmp_path).goldens == {
        Path("linear.onnx"): Path("golden/linear"),
        Path("program.pt2"): Path("golden/program"),
    }
