"""Inputs of few bits that stand for real numbers have all that their type holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from planned_models import made, planned

from assay.models.input_plan.graph import read_graph
from assay.models.input_plan.plan import alternatives
from assay.models.input_plan.type_ranges import type_ranges
from assay.models.onnx_file import describe
from assay.models.random_inputs import random_inputs

SCALE = {"s": np.asarray(0.5, np.float32)}


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("g (uint8[N, 3, 8, 8] x) => (float[N, 3, 8, 8] y) { y = Cast <to=1> (x) }", (0, 255)),
        ("g (int8[4, 4] x) => (float[4, 4] y) { y = DequantizeLinear (x, s) }", (-128, 127)),
        (
            "g (int8[4, 4] x) => (float[2, 8] y) { t = Transpose (x)\n shape = Constant <value_ints=[2, 8]> ()\n"
            "  r = Reshape (t, shape)\n y = DequantizeLinear (r, s) }",
            (-128, 127),
        ),
        ("g (uint8[4] x) => (float[4] y, int64[4] z) { y = Cast <to=1> (x)\n z = Cast <to=7> (x) }", None),
        ("g (int8[4] x) => (float[4] y) { t = Add (x, x)\n y = Cast <to=1> (t) }", None),
        ("g (int8[4] x) => (int8[4] y) { y = Identity (x) }", None),
        ("g (int32[4] x) => (float[4] y) { y = Cast <to=1> (x) }", None),
    ],
)
def test_what_reads_them_makes_real_numbers_of_them(
    tmp_path: Path, text: str, held: tuple[float, float] | None
) -> None:
    path = made(tmp_path, text, SCALE if "s)" in text else None)
    plan = planned(path)
    one = plan.ranges.get("x")
    assert (None if one is None else (one.low, one.high)) == held
    if held is not None:
        samples = random_inputs(describe(path), seed=0, samples=9, batch=1, plan=plan)
        values = np.concatenate([sample["x"].ravel() for sample in samples])
        assert values.min() < held[0] + 0.2 * (held[1] - held[0])
        assert values.max() > held[1] - 0.2 * (held[1] - held[0])


def test_where_that_is_too_much_small_ones_are_tried_first(tmp_path: Path) -> None:
    path = made(tmp_path, "g (uint8[4] x) => (float[4] y) { r = Cast <to=1> (x)\n y = Exp (r) }")
    first = next(alternatives(planned(path), describe(path)))
    samples = random_inputs(describe(path), seed=0, samples=4, batch=1, plan=first)
    assert max(one["x"].max() for one in samples) <= 9


def test_long_chains_and_values_that_are_read_twice_take_no_time(tmp_path: Path) -> None:
    doubled = "\n".join(f"c{at + 1} = Concat <axis=0> (c{at}, c{at})" for at in range(40))
    moved = "\n".join(f"i{at + 1} = Identity (i{at})" for at in range(2000))
    text = (
        f"g (int8[1] c0, int8[1] i0) => (float[?] y, float[?] z) {{ {doubled}\n {moved}\n"
        "  y = Cast <to=1> (c40)\n z = Cast <to=1> (i2000) }"
    )
    path = made(tmp_path, text)
    found = type_ranges(read_graph(onnx.load(path)), describe(path))
    assert [*found] == ["c0", "i0"]
