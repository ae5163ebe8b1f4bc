"""Inputs that nobody has seen, inputs that prove nothing, and how far a metric may lie from a claim."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import onnx.parser
import pytest

from assay.core.case import Case
from assay.core.model import Model
from assay.task_metrics.scoring import score
from assay_zoo.accuracy.interval import metric_interval
from assay_zoo.check import CheckOutcome
from assay_zoo.functionality.inputs import inputs_alone
from assay_zoo.performance.check_performance import Speed, on_fresh_inputs
from assay_zoo.performance.fresh_inputs import drawn_again, telling_samples
from assay_zoo.performance.measure import Measured
from assay_zoo.performance.value_dependent import depends_on_values

ROWS = np.arange(24, dtype=np.float32).reshape(2, 12)


@pytest.mark.parametrize(
    ("values", "telling"),
    [
        (ROWS, (2, 2)), (ROWS[:1], (1, 1)), (np.zeros_like(ROWS), (0, 2)), (np.ones_like(ROWS), (0, 2)),
        (np.repeat(ROWS[:1], 3, axis=0), (1, 3)), (np.array([[3.0], [4.0]]), (2, 2)), (np.array([[0.0], [4.0]]), (1, 2)),
        (np.concatenate([ROWS, ROWS * np.float32(1.0001)]), (2, 4)), (np.array([[7, 8], [7, 9]]), (2, 2)),
        (np.array([[1.0, 1.0000001], [2.0, 3.0]]), (1, 2)),
    ],
)  # fmt: skip
def test_samples_that_prove_something(values: np.ndarray, telling: tuple[int, int]) -> None:
    assert telling_samples([{"x": values}]) == telling


_DRAWN = np.random.default_rng(5)
_IMAGE = _DRAWN.uniform(0.1, 1.0, (1, 3, 16, 16))


@pytest.mark.parametrize(
    ("values", "telling"),
    [
        (1013.25 + _DRAWN.uniform(-0.3, 0.3, (5, 1)), 5),
        ((1013.25 + _DRAWN.uniform(-0.3, 0.3, (5, 12))).astype(np.float32), 5),
        ((293.15 + _DRAWN.uniform(-0.05, 0.05, (5, 1))).astype(np.float32), 5),
        (np.stack([293.15 + _DRAWN.uniform(-0.05, 0.05, 5), 1013.25 + _DRAWN.uniform(-0.3, 0.3, 5)], axis=1), 5),
        (1.7e9 + 60.0 * np.arange(5).reshape(5, 1), 5),
        (np.stack([1.7e9 + 60.0 * np.arange(5), np.arange(5) + 20.0], axis=1), 5),
        (np.concatenate([1.7e9 + 60.0 * np.arange(5).reshape(5, 1), _DRAWN.uniform(size=(5, 11))], axis=1), 5),
        (np.array([[1.0], [2.0], [3.0], [4.0], [1e9]]), 5),
        (_IMAGE + _DRAWN.uniform(-1e-5, 1e-5, (5, 3, 16, 16)), 1),
        (1013.25 + _IMAGE + _DRAWN.uniform(-1e-5, 1e-5, (5, 3, 16, 16)), 1),
        (np.full((5, 1), 1013.25), 1),
        (np.array([[1013.25], [1013.25 + 1e-13], [1015.0]]), 2),
        (np.array([[1.0, np.nan], [1.0, np.nan], [np.inf, 1.0]]), 2),
        (np.array([[1 + 1j], [1 + 1j], [1 + 2j]]), 2),
    ],
)
def test_how_far_samples_lie_apart_is_seen_from_their_spread(values: np.ndarray, telling: int) -> None:
    assert telling_samples([{"x": values}]) == (telling, len(values))
    assert telling_samples([{"x": value[np.newaxis]} for value in values]) == (telling, len(values)), "a data set each"


def test_a_mask_of_ones_beside_real_values_is_no_fault() -> None:
    assert telling_samples([{"x": ROWS, "mask": np.ones((2, 12), np.int64)}]) == (2, 2)


def test_fresh_inputs_have_values_of_the_published_ones() -> None:
    axis = np.array([3, 1])
    (sample,) = drawn_again([{"x": ROWS, "axis": axis}])
    assert set(sample["x"].reshape(-1)) <= set(ROWS.reshape(-1))
    assert (sample["x"].dtype, sample["x"].shape) == (ROWS.dtype, ROWS.shape)
    assert not np.array_equal(sample["x"], ROWS)
    assert np.array_equal(sample["axis"], axis), "few numbers are a setting, not data"


def test_columns_keep_their_own_values() -> None:
    users_and_items = np.stack([np.arange(100, 120), np.arange(20)], axis=1)
    (sample,) = drawn_again([{"x": users_and_items}], seed=1)
    assert sample["x"][:, 0].min() >= 100
    assert set(sample["x"][:, 1]) <= set(range(20))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["float32", "int64", "float16", "bool", "complex64", "object"])
def test_what_an_input_has_in_any_order_is_another(kind: str, seed: int) -> None:
    values = (np.arange(2000) % 251).astype(kind).reshape(2, 1000)
    (sample,) = drawn_again([{"x": values.astype(str).astype(object) if kind == "object" else values}], seed)
    assert sample["x"].shape == values.shape
    if kind in ("float32", "int64", "float16"):
        assert abs(float(sample["x"].mean(dtype=np.float64)) - 124.5) > 10
        assert 0 < sample["x"].min() < sample["x"].max() < 250


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "values",
    [
        np.eye(1, 10, 3, dtype=np.float32), np.eye(1, 128, dtype=np.int64), (np.arange(128) < 30)[np.newaxis],
        np.array(["yes", "no"] * 8, object), np.zeros((0, 9), np.float32),
    ],
    ids=["one-hot", "mask of one", "mask", "words", "nothing"],
)  # fmt: skip
def test_of_a_few_kinds_there_are_as_many_as_before(values: np.ndarray, seed: int) -> None:
    (sample,) = drawn_again([{"x": values}], seed)
    assert sorted(sample["x"].reshape(-1)) == sorted(values.reshape(-1))
    assert (sample["x"].dtype, sample["x"].shape) == (values.dtype, values.shape)


@pytest.mark.parametrize("seed", range(8))
def test_of_many_each_kind_keeps_its_share_and_their_sum_is_another(seed: int) -> None:
    letters = np.eye(4, dtype=np.float32)[:, np.arange(1000) % 4][np.newaxis]
    (sample,) = drawn_again([{"x": letters}], seed)
    assert np.array_equal(sample["x"].sum(axis=1), np.ones((1, 1000))), "still one letter at each place"
    assert 0 < np.abs(sample["x"].sum(axis=2) - 250).max() <= 250 / 50


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["float32", "uint8", "int64"])
@pytest.mark.parametrize("turned", [False, True])
def test_an_image_of_few_greys_has_another_mean_and_the_same_greys(kind: str, seed: int, turned: bool) -> None:
    greys = np.concatenate([np.zeros(30), np.arange(1, 9), np.arange(1, 9), np.full(16, 3), [12, 15]])
    image = np.random.default_rng(1).permutation(greys).astype(kind).reshape(1, 1, 8, 8)
    (sample,) = drawn_again([{"x": image}], seed, turned=turned)
    assert abs(float(sample["x"].mean()) - float(image.mean())) > 0.1
    assert np.array_equal(np.unique(sample["x"]), np.unique(image))


@pytest.mark.parametrize("seed", range(8))
def test_what_is_there_once_is_there_once_beside_what_is_not(seed: int) -> None:
    words = np.array([[101, 7, 7, 7, 8, 8, 8, 9, 9, 102, *[0] * 22]])
    (sample,) = drawn_again([{"x": words}], seed)
    counts = dict(zip(*np.unique(sample["x"], return_counts=True), strict=True))
    assert counts.keys() == set(words[0].tolist())
    assert counts[101] == counts[102] == 1
    assert counts != dict(zip(*np.unique(words, return_counts=True), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_one_of_two_draws_has_no_more_to_do(seed: int) -> None:
    scores = np.concatenate([np.linspace(0.0, 0.3, 7980), np.full(420, 0.9)])[np.newaxis]
    drawn, turned = (drawn_again([{"x": scores}], seed, turned=way)[0]["x"] for way in (False, True))
    above = sorted(int((each > 0.5).sum()) for each in (drawn, turned))
    assert above[0] <= 420 < above[1]


def test_the_interval_of_a_share_fits_the_number_of_samples() -> None:
    def width(count: int) -> float:
        answered = [{"y": np.zeros((1, 2), np.float32)}] * count
        low, high = metric_interval("classification", "top1_accuracy", answered, {}, {}, 0.9)
        assert low < 0.9 < high
        return high - low

    assert width(1000) < 0.06 < width(100) < 0.25 < width(20)


def test_the_interval_of_another_metric_follows_from_how_much_the_samples_differ() -> None:
    def width(spread: float, count: int = 40) -> float:
        answered = [{"y": np.array([[1.0 + spread * (-1) ** at]], np.float32)} for at in range(count)]
        labels = {"target": np.ones((count, 1), np.float32)}
        value = score("regression", answered, answered, labels, {})["mae"]
        low, high = metric_interval("regression", "mae", answered, labels, {}, value * 1.0001)
        return high - low

    assert width(0.01, 41) < width(0.1, 41)
    assert width(0.1, 1) == np.inf, "one sample says nothing"


@pytest.mark.parametrize(
    ("graph", "depends"),
    [
        ("g (float[n, 4] x) => (float[n, 4] y) { y = Relu(x) }", False),
        ("g (float[n, 4] x) => (float[m, k] y) { s = Shape(x)  y = Expand(x, s) }", False),
        ("g (float[n, 4] x, int64[2] s) => (float[m, k] y) { y = Expand(x, s) }", True),
        ("g (float[n, 4] x) => (float[m, k] y) { z = ReduceSum(x)  i = Cast<to=7>(z)  y = Expand(x, i) }", True),
        ("g (float[4] x) => (int64[m, k] y) { y = NonZero(x) }", True),
        (
            "g (float[4] x, bool c) => (float[4] y) { y = If(c)<then_branch = a () => (float[4] z) { z = Relu(x) }, "
            "else_branch = b () => (float[4] z) { z = Neg(x) }> }",
            True,
        ),
        (
            "g (float[4] x) => (float[4] y) <bool c = {1}> { y = If(c)<then_branch = a () => (float[4] z) { z = Relu(x) }, "
            "else_branch = b () => (float[4] z) { z = Neg(x) }> }",
            False,
        ),
    ],
)
def test_work_that_depends_on_values(graph: str, depends: bool) -> None:
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {graph}')
    assert depends_on_values(model) is depends


def test_a_loop_that_ends_by_what_it_computes() -> None:
    def loop(ends: str) -> onnx.ModelProto:
        body = onnx.parser.parse_graph(
            f"b (int64 i, bool c, float[4] v) => (bool d, float[4] w) {{ w = Relu(v)  s = ReduceMax<keepdims=0>(w)  "
            f"z = Sub(s, s)  d = {ends} }}"
        )
        made = onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["" : 17]> g (float[4] x) => (float[4] y) <int64 m = {3}, bool c = {1}> '
            "{ y = Relu(x) }"
        )
        made.graph.node[0].CopyFrom(onnx.helper.make_node("Loop", ["m", "c", "x"], ["y"], body=body))
        return made

    assert depends_on_values(loop("Greater(s, z)"))
    assert not depends_on_values(loop("Identity(c)"))


def _measured(latency_ms: float | None) -> Measured:
    if latency_ms is None:
        return Measured("onnxruntime", CheckOutcome.FAILED, "onnxruntime: execution failed")
    return Measured("onnxruntime", CheckOutcome.PASSED, "", figures={"latency_ms": latency_ms})


@pytest.mark.parametrize(
    ("fresh_ms", "known_ms", "dependent", "outcome", "counted_ms"),
    [
        ([9.0], 1.0, False, None, 9.0),
        ([1.1], 1.0, True, CheckOutcome.PASSED, 1.1),
        ([9.0, 8.0, 8.5], 1.0, True, CheckOutcome.FAILED, 8.0),
        ([9.0, 1.1], 1.0, True, CheckOutcome.PASSED, 1.1),
        ([9.0, None, 1.1], 1.0, True, CheckOutcome.PASSED, 1.1),
        ([None], 1.0, False, CheckOutcome.SKIPPED, 1.0),
        ([None], 1.0, True, CheckOutcome.UNDECIDED, 1.0),
        ([None], None, True, None, None),
    ],
)
def test_inputs_that_nobody_has_seen_cost_what_the_published_ones_cost(
    fresh_ms: list[float | None],
    known_ms: float | None,
    dependent: bool,
    outcome: CheckOutcome | None,
    counted_ms: float | None,
) -> None:
    case = Case("model", Model(name="model", source="", digest="", ir_version=8, opsets={}, inputs=(), outputs=()))
    published = msgspec.structs.replace(case, name="published")
    left = iter(fresh_ms)
    speed = Speed(case, lambda: [case, case], lambda: published, dependent, 1)
    check_found, check = on_fresh_inputs(
        lambda chosen: _measured(known_ms if chosen is published else next(left)), speed
    )
    assert (check.outcome if check else None) is outcome
    assert check_found.figures.get("latency_ms") == counted_ms


@pytest.mark.heavy
def test_inputs_are_looked_at_where_the_model_cannot_be_run(tmp_path: Path) -> None:
    from onnx import numpy_helper

    data = tmp_path / "test_data_set_0"
    data.mkdir()
    file = data / "input_0.pb"
    for values, names in ((np.zeros((4, 8)), ["functionality.inputs"]), (np.arange(32.0).reshape(4, 8), [])):
        file.write_bytes(numpy_helper.from_array(values.astype(np.float32), "x").SerializeToString())
        assert [tensor.name for tensor in inputs_alone(tmp_path, memory_bytes=4_000_000_000)] == names
    file.write_bytes(b"no tensor")
    assert inputs_alone(tmp_path, memory_bytes=4_000_000_000) == []
