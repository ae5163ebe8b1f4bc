"""What TVM, IREE and Inductor do unasked that changes numbers, and that the named option turns it off."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from onnx import parser, save_model

from assay.backends.iree.backend import IREE
from assay.backends.torch.backend import Torch
from assay.backends.torch.cache import VARIABLE
from assay.backends.tvm.backend import TVM
from assay.core.flow import Flow
from assay.core.model import TensorSpec
from assay.models.program import save_program

DOUBLE_INSIDE = """<ir_version: 9, opset_import: ["" : 17]> g (float[4] x) => (float[4] y) {
    one = Constant<value = double[1] {1.0}>()
    wide = Cast<to = 11>(x)
    sum = Add(wide, one)
    rest = Sub(sum, one)
    y = Cast<to = 1>(rest) }"""
PRODUCT = """<ir_version: 9, opset_import: ["" : 17]> g (float[64] a, float[64] b, float[64] c) => (float[64] y) {
    p = Mul(a, b)
    y = Add(p, c) }"""


def _file(text: str, folder: Path) -> Path:
    save_model(parser.parse_model(text), str(folder / "model.onnx"))
    return folder / "model.onnx"


def _product() -> dict[str, Any]:
    """What is left of a product whose rounded value is subtracted: 0, unless both are rounded once."""
    a, b = np.random.default_rng(0).normal(size=(2, 64)).astype(np.float32)
    return {"a": a, "b": b, "c": -(a * b)}


@pytest.mark.parametrize("backend", [TVM(), IREE()], ids=["tvm", "iree"])
def test_a_product_and_a_sum_are_rounded_once(backend: Any, tmp_path: Path) -> None:
    model, fed = _file(PRODUCT, tmp_path), _product()
    engine = backend.lower(model, Flow("x", backend.name))
    contracted = bool(engine.run(fed)["y"].any())
    numeric_defaults = engine.facts().numeric_defaults
    assert [(default.effect, default.option, default.off) for default in numeric_defaults] == (
        [("fused-multiply-add", "cpu", "generic")] if contracted else []
    )
    other = backend.lower(model, Flow("x", backend.name, {"cpu": "generic"}))
    assert not other.run(fed)["y"].any()
    assert other.facts().numeric_defaults == ()


def test_iree_computes_doubles_in_float32_unless_told(tmp_path: Path) -> None:
    model = _file(DOUBLE_INSIDE, tmp_path)
    x = np.full(4, 1e-9, np.float32)
    engine = IREE().lower(model, Flow("x", "iree"))
    assert not engine.run({"x": x})["y"].any()
    defaults = [default for default in engine.facts().numeric_defaults if default.effect == "narrowed-doubles"]
    assert [(default.name, default.option, default.off) for default in defaults] == [
        ("--iree-input-demote-f64-to-f32", "demote_f64_to_f32", False)
    ]
    kept = IREE().lower(model, Flow("x", "iree", {"demote_f64_to_f32": False}))
    np.testing.assert_allclose(kept.run({"x": x})["y"], x, rtol=1e-6)
    assert all(default.effect != "narrowed-doubles" for default in kept.facts().numeric_defaults)


class _Halves(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh((x * 3 + 1) * x) + x


def test_inductor_keeps_float32_between_fused_operators_of_float16(tmp_path: Path) -> None:
    x = torch.randn(64, 64, generator=torch.Generator().manual_seed(0)).half()
    path, spec = tmp_path / "model.pt2", TensorSpec("x", "float16", (64, 64))
    save_program(torch.export.export(_Halves(), (x,)), path, [spec], ["y"])
    fed, eager = {"x": x.numpy()}, _Halves()(x).numpy()
    limit, variables = sys.getrecursionlimit(), os.environ.keys() | {VARIABLE}
    engine = Torch().lower(path, Flow("x", "torch", {"compiler": "inductor"}))
    assert (engine.run(fed)["y"] != eager).any()
    # Compiling leaves nothing behind by which the next job would need a new process.
    assert (sys.getrecursionlimit(), os.environ.keys() | {VARIABLE}) == (limit, variables)
    (default,) = engine.facts().numeric_defaults
    assert (default.effect, default.option, default.off) == ("unrounded-intermediates", "emulate_precision_casts", True)
    other = Torch().lower(path, Flow("x", "torch", {"compiler": "inductor", "emulate_precision_casts": True}))
    assert (other.run(fed)["y"] == eager).all()
    assert other.facts().numeric_defaults == ()
