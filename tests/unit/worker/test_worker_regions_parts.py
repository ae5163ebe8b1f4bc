"""A part of a graph that runs alone: which of its values it gives, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from msgspec.structs import replace
from onnx import parser

from assay.core.dtype import numpy_dtype
from assay.core.job import RegionJob, other_kind
from assay.ports import Tensor
from assay.testing.builders import make_job
from assay.worker.regions.build_region import Region, build_region
from assay.worker.regions.value_files import GraphValues, save_values
from assay.worker.regions.verify_region import _apart, _error

POOL = "{ y, i = MaxPool <kernel_shape = [2,1]> (x)  z = Relu (y) }"
X = np.array([3, 1, 2, 0, 9, 4], np.float64).reshape(1, 1, 2, 3)
RIGHT = {"y": np.array([3.0, 9, 4]).reshape(1, 1, 1, 3), "i": np.array([0, 4, 5]).reshape(1, 1, 1, 3)}


def pooled(folder: Path, outputs: str) -> Region:
    """The pool alone, of a graph that gives `outputs`."""
    graph = f"(float[1,1,2,3] x) => ({outputs}) {POOL}"
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 12]> g {graph}')
    save_values(folder, model, {"x": X, **RIGHT, "z": RIGHT["y"]}, {"x": "float32", "y": "float32", "z": "float32"})
    return build_region(GraphValues(folder), [(0,)])


@pytest.mark.parametrize(
    ("outputs", "gives"),
    [
        ("float[1,1,1,3] z", ["y"]),
        ("float[1,1,1,3] z, int64[1,1,1,3] i", ["y", "i"]),
    ],
)
def test_an_output_that_nobody_reads_stays_away(outputs: str, gives: list[str], tmp_path: Path) -> None:
    assert pooled(tmp_path, outputs).windows[0].outputs == gives


@pytest.mark.parametrize(("shape", "kind"), [((1, 1, 3, 1), "shape"), ((1, 1, 1, 3), "")])
def test_a_wrong_shape_is_told_beside_an_output_that_is_right(
    shape: tuple[int, ...], kind: str, tmp_path: Path
) -> None:
    region = pooled(tmp_path, "float[1,1,1,3] z, int64[1,1,1,3] i")
    given: dict[str, Tensor] = {"y": RIGHT["y"].astype(np.float32), "i": RIGHT["i"].reshape(shape)}
    job = replace(other_kind(make_job(), RegionJob, values_dir="", windows=()))
    assert _error(0, region.windows[0], region, given, RIGHT, job).kind == kind


class Counting:
    """Answers with the number of the call in `y`."""

    calls = 0

    def run(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        self.calls += 1
        return {"y": np.array([float(self.calls)]), "nan": np.array([np.nan])}


def test_calls_of_one_engine_are_compared() -> None:
    engine = Counting()
    first = engine.run({})
    assert _apart(engine, {}, first, 1) == {}  # type: ignore[arg-type]
    assert _apart(engine, {}, first, 3) == {"y": 2.0}  # type: ignore[arg-type]


def test_the_same_nan_of_a_narrow_type_is_steady() -> None:
    given = np.array([np.nan, 1.0], numpy_dtype("bfloat16"))
    engine = SimpleNamespace(run=lambda feeds: {"y": given.copy()})
    assert _apart(engine, {}, {"y": given}, 3) == {}  # type: ignore[arg-type]
    other = SimpleNamespace(run=lambda feeds: {"y": given * 2})
    assert _apart(other, {}, {"y": given}, 2) == {"y": pytest.approx(1.0)}  # type: ignore[arg-type]


def test_what_is_judged_of_a_window_is_no_larger_than_the_window(tmp_path: Path) -> None:
    graph = "(float[2] x) => (float[2] c) <float[2] w = {1, 2}, float[2] v = {3, 4}> { a = Add (x, w) b = Mul (a, v) c = Neg (b) }"
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]> g {graph}')
    values = {name: np.ones(2) for name in "xabc"}
    save_values(tmp_path, model, values, dict.fromkeys(values, "float32"))
    region = build_region(GraphValues(tmp_path), [(0,), (1, 2)])
    alone = region.alone(region.windows[1]).graph
    assert [node.op_type for node in alone.node] == ["Mul", "Neg"]
    assert [tensor.name for tensor in alone.initializer] == ["v"]
    assert [value.name for value in alone.output] == region.windows[1].outputs
