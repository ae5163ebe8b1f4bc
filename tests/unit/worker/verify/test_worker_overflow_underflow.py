"""What flushing numbers to zero explains is no error where the flow declares it, and proves nothing where it does not."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from onnx import parser

from assay.core.case import Contract
from assay.core.golden import GoldenLock
from assay.judge.words.finding_text import finding_text
from assay.models.goldens import Golden
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.numerics.tolerance.derive import derive
from assay.ports import Tensor
from assay.testing.builders import make_flow, make_job, make_model
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.overflow_underflow import excuse_overflow
from assay.worker.verify.reference_comparison import ReferenceComparison

SCALED = """<ir_version: 10, opset_import: ["" : 21]>
g (float[64] x) => (float[64] y) {
  down = Constant <value_float = 1e-30> () low = Constant <value_float = 1e-9> () high = Constant <value_float = 1e9> ()
  up = Constant <value_float = 1e30> ()
  a = Mul (x, down) b = Mul (a, low) c = Mul (b, high) d = Mul (c, up) y = Add (d, x)
}"""
X = np.geomspace(1, 1000, 64).astype(np.float32)
LOCK = GoldenLock("0" * 64, "scaled", 1, 0, "oracle", "1", "us", "a test", "2026-01-01", ())
FLUSHED = np.where(X < 11.7, X, 2 * X)  # 1e-39 x is below the normal numbers there


def _held(folder: Path, actual: Tensor, *allowances: str) -> tuple[ReferenceComparison, ToleranceComparator]:
    path = folder / "scaled.onnx"
    onnx.save(parser.parse_model(SCALED), path)
    profile = derive(path, [{"x": X}], "float32")
    judging = ToleranceComparator(Contract(), profile)
    golden = Golden(LOCK, [{"x": X}], profile.oracle, {})
    job = make_job()
    case = msgspec.structs.replace(job.case, model=make_model(source=str(path)))
    job = msgspec.structs.replace(job, case=case, flow=make_flow(allowances=allowances))
    compare = partial(judging.compare, declared={"y": "float32"})
    return excuse_overflow(job, [{"y": actual}], golden, TransformedModel(path), judging, compare, compare), judging


def test_flushed_numbers_are_the_flows_own_where_it_declares_it(tmp_path: Path) -> None:
    held, _ = _held(tmp_path, FLUSHED, "flush-to-zero")
    assert held.given[1] == ()
    assert not held.given[0][0].degenerate
    assert "lose digits in every engine" in finding_text(held.given[0][0].excused[0])


def test_flushed_numbers_prove_nothing_where_the_flow_does_not_declare_it(tmp_path: Path) -> None:
    held, _ = _held(tmp_path, FLUSHED)
    assert held.given[1] == ()
    assert "declare the allowance flush-to-zero" in finding_text(held.given[0][0].degenerate)


@pytest.mark.parametrize("allowances", [(), ("flush-to-zero",)])
def test_another_error_stays_one(tmp_path: Path, allowances: tuple[str, ...]) -> None:
    wrong = FLUSHED.copy()
    wrong[40] *= 1.001
    held, _ = _held(tmp_path, wrong, *allowances)
    assert [finding.kind for finding in held.given[1]] == ["values"]
    assert not held.given[0][0].degenerate
