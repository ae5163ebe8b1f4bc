"""A sum of halves that is accumulated in halves is coarse, and the standard allows it; any other answer of halves may be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
from msgspec.structs import replace
from onnx import numpy_helper, parser

from assay import plugins
from assay.core.flow import Flow
from assay.core.screening import Screened, Unspecified
from assay.generators.case_values import CaseValues
from assay.generators.comparison import coarse_sum, far_of
from assay.generators.screen import _Screener
from assay.generators.sweep import Sweep
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase
from screening import screening_job

GRAPH = """<ir_version: 8, opset_import: ["" : 13]>
g (float16[256] x) => (float16[1] y) { y = ReduceSumSquare(x) }"""


def _in_halves(x: Tensor) -> np.float16:
    total = np.float16(0)
    for number in x:
        total = np.float16(total + number * number)
    return total


@pytest.mark.parametrize(("off", "due"), [(0, (Unspecified.COARSE_SUM,)), (300, ())])
def test_a_sum_accumulated_in_halves_is_left_open(off: int, due: tuple[Unspecified, ...]) -> None:
    x = np.asarray(np.round(np.random.default_rng(0).uniform(-3, 3, 256) * 2) / 2, np.float16)
    values = CaseValues(GeneratedCase(parser.parse_model(GRAPH).SerializeToString(), {"x": x}))
    values.evaluate()
    given = np.asarray([_in_halves(x) - off], np.float16)
    assert abs(float(given[0]) - float(values.wide["y"][0])) > 1
    assert coarse_sum({"y": given}, values, plugins.find_flow("onnxruntime"), 0) == due


@pytest.mark.parametrize(("size", "right"), [(1e-27, True), (1e-15, False)])
def test_a_norm_of_numbers_whose_squares_vanish_may_be_nothing(size: float, *, right: bool) -> None:
    """Of 1e-27 the square is 1e-54, which float32 does not hold; that of 1e-15 it does."""
    text = '<ir_version: 8, opset_import: ["" : 13]> g (float[1, 2] x) => (float[1, 1] y) { y = ReduceL2 <axes = [1]> (x) }'
    x = np.asarray([[size, -size]], np.float32)
    values = CaseValues(GeneratedCase(parser.parse_model(text).SerializeToString(), {"x": x}))
    values.evaluate()
    far = far_of({"y": np.zeros((1, 1), np.float32)}, values, Flow("onnxruntime", "onnxruntime"), 7)
    assert (far.kind == "") is right


class _CoarseTanh:
    """An engine whose Tanh is 4e-6 off, which is less than the screen looks at and more than is allowed."""

    accepts, options = "onnx", ()

    def lower(self, model: Path, flow: Flow) -> _CoarseTanh:
        self._model = onnx.load(model)
        return self

    def run(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        values = {**inputs, **{tensor.name: numpy_helper.to_array(tensor) for tensor in self._model.graph.initializer}}
        for node in self._model.graph.node:
            x = values[node.input[0]]
            values[node.output[0]] = (
                np.tanh(x) + np.float32(4e-6) if node.op_type == "Tanh" else np.cumsum(x, dtype="f4")
            )
        return {value.name: values[value.name] for value in self._model.graph.output}


def test_updates_that_do_not_fit_are_no_case_at_the_first_sizes_either(tmp_path: Path) -> None:
    """onnx's checker takes one number of each row where four are due, and an engine reads four."""
    text = """<ir_version: 8, opset_import: ["" : 16]>
    g (float[8, 4] x, int64[2, 1] i, float[2, 1] u) => (float[8, 4] y) { y = ScatterND (x, i, u) }"""
    fed = {"x": np.ones((8, 4), np.float32), "i": np.array([[1], [2]]), "u": np.ones((2, 1), np.float32)}
    screener = _Screener(screening_job(tmp_path), cast(Any, _CoarseTanh()), Sweep())
    trial = screener._trial(GeneratedCase(parser.parse_model(text).SerializeToString(), fed))
    assert trial.became is Screened.INVALID


def test_a_part_that_is_nearer_than_the_screen_looks_is_blamed_by_its_tolerance(tmp_path: Path) -> None:
    """Tanh alone is what is wrong, and not Tanh and CumSum together."""
    text = """<ir_version: 8, opset_import: ["" : 14]>
    g (float[4] x) => (float[4] y) <int64 axis = {0}> { t = Tanh (x)  y = CumSum (t, axis) }"""
    x = np.asarray([2.05, -2.27, 2.79, -0.61], np.float32)
    job = replace(screening_job(tmp_path), scratch=str(tmp_path))
    screener = _Screener(job, cast(Any, _CoarseTanh()), Sweep())
    trial = screener._trial(GeneratedCase(parser.parse_model(text).SerializeToString(), {"x": x}))
    assert trial.became is Screened.SUSPECT
    best, _ = screener._narrowed(trial)
    assert [name.partition("@")[0] for name in best.values.operators] == ["Tanh"]
