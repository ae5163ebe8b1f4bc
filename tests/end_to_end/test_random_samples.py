"""`--random-samples`: engines that answer the samples of their golden, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from safetensors.numpy import save_file

from assay.cli.main import main
from assay.commands.check import run_check
from assay.errors import UsageError
from assay.options.check import CheckOptions

CONFIG = """
[flow.sound]
backend = "onnxruntime"
[flow.stale]
backend = "onnxruntime"
transforms = ["mutant:stale-batch@y"]
[flow.clipped]
backend = "onnxruntime"
transforms = ["mutant:relu6-for-relu=2@h"]
[flow.calibrated]
backend = "onnxruntime"
transforms = ["int8-qdq"]
precision = "int8"
[flows]
use = ["sound", "stale", "clipped", "calibrated"]
[[model]]
path = "net.onnx"
golden = "golden"
random-samples = 4
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A net and a golden of batches of one in which no activation is above 2."""
    monkeypatch.chdir(tmp_path)
    net = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]> g (float[n, 8] x) => (float[n, 4] y)
        { a = MatMul(x, v)\n h = Relu(a)\n y = MatMul(h, w) }"""
    )
    draw = np.random.default_rng(4)
    for name, shape in (("v", (8, 8)), ("w", (8, 4))):
        net.graph.initializer.append(numpy_helper.from_array(draw.standard_normal(shape).astype(np.float32), name))
    onnx.save(net, "net.onnx")
    save_file({"x": (draw.standard_normal((4, 1, 8)) / 16).astype(np.float32)}, "small.safetensors")
    with pytest.raises(SystemExit) as left:
        main(["golden", "record", "net.onnx", "golden", "--inputs", "small.safetensors", "--reason", "a test"])
    assert left.value.code == 0
    return tmp_path


def test_what_only_the_golden_does_not_see_fails_on_inputs_drawn_beside_it(here: Path) -> None:
    (here / "assay.toml").write_text(CONFIG)
    checked = run_check(CheckOptions(only_kind="verify"))
    outcomes = {result.job_key: result.outcome.value for result in checked.results}
    assert outcomes.pop("net|calibrated|verify"), "and it is not asked about inputs outside of its range"
    assert outcomes == {
        "net|sound|verify": "ok",
        "net|stale|verify": "nondeterministic",  # samples of one row are asked for as one batch
        "net|clipped|verify": "ok",
        "net-random|sound|verify": "ok",
        "net-random|stale|verify": "mismatch",
        "net-random|clipped|verify": "mismatch",
    }


def test_the_command_line_has_the_last_word_and_nothing_is_drawn_beside_nothing(here: Path) -> None:
    (here / "assay.toml").write_text(CONFIG)
    keys = {result.job_key for result in run_check(CheckOptions(only_kind="verify", random_samples=0)).results}
    assert not any("random" in key for key in keys)
    golden = here / "golden"
    both = run_check(CheckOptions(models=(Path("net.onnx"),), golden=golden, random_samples=2, measure_seconds=0.01))
    assert {result.job_key for result in both.results} == {
        "net|onnxruntime|verify",
        "net|onnxruntime|measure",
        "net-random|onnxruntime|verify",
    }
    with pytest.raises(UsageError, match="there is none: give one"):
        run_check(CheckOptions(models=(Path("net.onnx"),), random_samples=2))
