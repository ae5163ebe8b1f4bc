"""Goldens that suites write say in which coarse types their model multiplies, so that a quantized model is held to them."""

from __future__ import annotations

import ast
from pathlib import Path

from msgspec import UNSET

import assay
import assay_zoo
from assay.models.goldens import read_lock
from assay.models.model_precision import readable_coarse_types
from assay.suites.regressions import build_regressions
from assay.suites.regressions.declare import Regression

SOURCES = Path(assay.__file__).parent
QUANTIZED = "(float[2,4] x, int8[4,3] w, float s) => (float[2,3] y) { d = DequantizeLinear (w, s)  y = MatMul (x, d) }"


def test_a_regression_on_a_grid_says_so(tmp_path: Path) -> None:
    case = Regression(
        "name", "finding", 17, QUANTIZED, inputs={"x": 1}, constants={"w": [[1, 2, 3]] * 4, "s": 0.5}, outputs={"y": 1}
    )
    build_regressions._case(case, tmp_path)
    assert read_lock(tmp_path / "golden").coarse == ("int8",)


def test_every_suite_says_it() -> None:
    """Each call names the types: what is unset leaves open whether the model is quantized."""
    silent = []
    folders = (SOURCES / "suites", SOURCES / "mutation", Path(assay_zoo.__file__).parent)
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "write_golden":
                names = {keyword.arg for keyword in node.keywords}
                silent += [] if "coarse" in names else [f"{path.name}:{node.lineno}"]
    assert silent == []


def test_what_cannot_be_read_is_no_model_in_float32(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    assert readable_coarse_types(tmp_path / "model.onnx") is UNSET
