"""Whole numbers that stand for numbers are negative and large, too; places, sizes, lengths and masks are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from planned_models import answers, made, planned, rows

from assay.core.input_plan import InputRange, RangeSource
from assay.models.input_plan.draw_plan import alternatives
from assay.models.input_plan.graph import read_graph
from assay.models.input_plan.number_ranges import number_ranges
from assay.models.onnx_file import describe
from assay.models.random_inputs import random_inputs
from assay.numerics.shapes.needed_values import MAGNITUDE

SCALE = {"s": np.asarray(0.5, np.float32)}
NUMBERS = (RangeSource.TYPE, RangeSource.NUMBERS)


def _number(path: Path, name: str = "x") -> tuple[float | None, float | None] | None:
    input_range = planned(path).ranges.get(name)
    return None if input_range is None or input_range.source not in NUMBERS else (input_range.low, input_range.high)


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
        ("g (int16[N, 160] x) => (float[N, 160] y) { y = Cast <to=1> (x) }", (-32768, 32767)),
        ("g (uint16[N, 160] x) => (float[N, 160] y) { y = Cast <to=1> (x) }", (0, 32767)),
        ("g (uint8[4] x) => (float[4] y, int64[4] z) { y = Cast <to=1> (x)\n z = Cast <to=7> (x) }", (0, 255)),
        ("g (int8[4] x) => (float[4] y) { t = Add (x, x)\n y = Cast <to=1> (t) }", (-9, 9)),
        ("g (uint8[4] x) => (uint8[4] y) { y = Add (x, x) }", None),
        ("g (int8[4] x) => (int8[4] y) { y = Identity (x) }", None),
    ],
)
def test_few_bits_that_become_real_hold_all_of_their_type(
    tmp_path: Path, text: str, held: tuple[float, float] | None
) -> None:
    path = made(tmp_path, text, SCALE if "s)" in text else None)
    assert _number(path) == held


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize(
    ("body", "most"),
    [
        ("y = Abs (x)", 32767),
        ("y = Neg (x)", 32767),
        ("y = Add (x, x)", 32767),
        ("y = Max (x, c)", 32767),
        ("y = Clip (x, c)", 32767),
        ("y = Mul (x, x)", 9),
        ("y = Div (x, c)", 32767),
        ("y = Mod (x, c)", 32767),
        ("y = ReduceSum (x)", 9),
        ("l = Less (x, c)\n y = Where (l, x, c)", 32767),
        ("b = Constant <value_int=1> ()\n l = Equal (b, b)\n n = Abs (c)\n y = Sub (x, n)", 32767),
        ("y = Cast <to=1> (x)", 255),
        ("n = Neg (x)\n y = Cast <to=1> (n)", 255),
        ("f = Cast <to=1> (x)\n g = Neg (f)\n y = Cast <to=7> (g)", 255),
        ("y = ArgMax (x)", 32767),
        ("t = Transpose (x)\n y = Relu (t)", 32767),
    ],
)
def test_wide_ones_that_are_numbers_are_negative_and_large(tmp_path: Path, kind: str, body: str, most: float) -> None:
    onnx_type = {"int32": np.int32, "int64": np.int64}[kind]
    path = made(tmp_path, f"g ({kind}[4, 4] x) => (float y) {{ {body} }}", {"c": np.asarray(3, onnx_type)})
    assert planned(path).ranges["x"] == InputRange(-most, most, MAGNITUDE, source=RangeSource.NUMBERS)


@pytest.mark.parametrize(
    "body",
    [
        "y = Gather (table, x)",
        "n = Add (x, one)\n m = Min (n, one)\n a = Abs (m)\n y = Gather (table, a)",
        "f = Cast <to=1> (x)\n g = Floor (f)\n i = Cast <to=7> (g)\n y = Gather (table, i)",
        "n = Add (x, x)\n p = ReduceSum <keepdims=1> (n)\n y = Expand (table, p)",
        "y = ConstantOfShape (x)",
        "a = Abs (x)\n r = Reshape (a, flat)\n s = Concat <axis=0> (r, flat)\n y = Reshape (table, s)",
        "length = Unsqueeze (x, flat)\n l = Less (row, length)\n y = Cast <to=1> (l)",
        "f = Cast <to=1> (x)\n l = Less (frow, f)\n y = Cast <to=1> (l)",
        "z = Constant <value_int=0> ()\n o = Constant <value_int=1> ()\n r = Range (z, o, o)\n l = Less (r, x)\n y = Cast <to=1> (l)",
        "h = MatMul (table, table2)\n m = Cast <to=1> (x)\n y = Mul (h, m)",
        "y = Equal (x, one)",
        "y = Identity (x)",
        "n = Abs (x)\n y = Cast <to=3> (n)",
        "l = Less (x, one)\n n = NonZero (l)\n y = Cast <to=1> (n)",
        "a = Abs (x)\n y = com.microsoft.Nobody (a)",
    ],
)
def test_what_may_be_a_place_a_size_a_length_or_a_mask_is_none(tmp_path: Path, body: str) -> None:
    weights = {
        "table": rows(4, 4),
        "table2": rows(4, 4),
        "one": np.asarray(1, np.int64),
        "flat": np.asarray([-1], np.int64),
        "row": np.arange(4),
        "frow": np.arange(4, dtype=np.float32),
    }
    used = {
        name: array
        for name, array in weights.items()
        if name in body.replace("(", " ").replace(",", " ").replace(")", " ").split()
    }
    assert _number(made(tmp_path, f"g (int64[4] x) => (float y) {{ {body} }}", used)) is None


def test_sums_of_squares_stay_inside_their_type(tmp_path: Path) -> None:
    """Beyond it engines wrap around, or stay at the bound."""
    path = made(tmp_path, "g (int32[1, 224, 224] x) => (int32 y) { q = Mul (x, x)\n y = ReduceSum (q) }")
    low, high = _number(path) or (0.0, 0.0)
    assert low is not None
    assert high is not None
    assert low < 0
    assert 224 * 224 * max(high, -low) ** 2 < 2**31
    eighth = made(tmp_path, "g (int8[4] x) => (int8[4] y) { q = Mul (x, x)\n y = Mul (q, x) }")
    assert _number(eighth) == (-5, 5)


@pytest.mark.parametrize("op", ["Div", "Mod", "Pow"])
def test_what_a_divisor_or_an_exponent_is_made_of_is_never_negative(tmp_path: Path, op: str) -> None:
    body = f"a = Add (x, k)\n d = Add (a, c)\n y = {op} (z, d)"
    text = f"g (int64[8, 16] x, int64[8, 16] k, int64[8, 16] z) => (int64[8, 16] y) {{ {body} }}"
    path = made(tmp_path, text, {"c": np.asarray(1, np.int64)})
    assert [_number(path, name) for name in ("x", "k")] == [None, None]
    assert op == "Pow" or _number(path, "z") == (-32767, 32767)


def test_what_a_branch_or_a_loop_goes_by_is_none(tmp_path: Path) -> None:
    text = (
        "g (int64[1] x) => (float y) { n = Add (x, one)\n l = Greater (n, one)\n"
        "  y = If (l) <then_branch = t () => (float a) { a = Identity (c) }, else_branch = e () => (float b) { b = Neg (c) }> }"
    )
    assert _number(made(tmp_path, text, {"one": np.asarray([1], np.int64), "c": SCALE["s"]})) is None


def test_every_size_of_number_is_drawn_and_both_signs(tmp_path: Path) -> None:
    path = made(tmp_path, "g (int32[64] x, int64[1] s) => (int32[64] y, int64[1] z) { y = Neg (x)\n z = Abs (s) }")
    samples = random_inputs(describe(path), seed=0, samples=4, batch=1, plan=planned(path))
    values = np.concatenate([sample["x"] for sample in samples])
    assert values.min() < -5000
    assert values.max() > 5000
    assert 0.08 < np.mean(np.abs(samples[1]["x"]) <= 9) < 0.45
    assert [np.abs(sample["x"]).max() <= 9 for sample in samples] == [True, False, False, True]
    assert all(sample["x"].min() < 0 < sample["x"].max() for sample in samples)
    assert np.any(values == 0)
    assert [sample["s"][0] < 0 for sample in samples] == [False, True, False, True]


def test_where_that_is_too_much_small_ones_are_tried_first(tmp_path: Path) -> None:
    for kind in ("uint8", "int64"):
        path = made(tmp_path, f"g ({kind}[4] x) => (float[4] y) {{ r = Cast <to=1> (x)\n y = Exp (r) }}")
        first = next(alternatives(planned(path), describe(path)))
        samples = random_inputs(describe(path), seed=0, samples=4, batch=1, plan=first)
        assert max(sample["x"].max() for sample in samples) <= 9
        assert min(sample["x"].min() for sample in samples) >= 0


def test_a_miscompiled_relu_of_whole_numbers_shows(tmp_path: Path) -> None:
    right = made(tmp_path, "g (int64[2, 8] x) => (int64[2, 8] y) { y = Max (x, zero) }", {"zero": np.asarray(0)})
    plan = planned(right)
    wanted = answers(right, plan)
    wrong = made(tmp_path, "g (int64[2, 8] x) => (int64[2, 8] y) { y = Identity (x) }")
    assert not all(np.array_equal(a, b) for a, b in zip(wanted, answers(wrong, plan), strict=True))


def test_long_chains_and_values_that_are_read_twice_take_no_time(tmp_path: Path) -> None:
    doubled = "\n".join(f"c{at + 1} = Concat <axis=0> (c{at}, c{at})" for at in range(40))
    moved = "\n".join(f"i{at + 1} = Identity (i{at})" for at in range(2000))
    text = (
        f"g (int8[1] c0, int8[1] i0) => (float[?] y, float[?] z) {{ {doubled}\n {moved}\n"
        "  y = Cast <to=1> (c40)\n z = Cast <to=1> (i2000) }"
    )
    path = made(tmp_path, text)
    ranges = number_ranges(read_graph(onnx.load(path)), {}, describe(path))
    assert [*ranges] == ["c0", "i0"]
