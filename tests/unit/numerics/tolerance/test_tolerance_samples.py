"""Several samples: of one shape together, of several in groups, and how many draws they take."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper
from small_graphs import float32, network, noise, parsed

from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs


def test_samples_of_different_shapes_are_judged_together() -> None:
    model = parsed("g (float[N, 8] x) => (float[N, 8] y) { y = Softmax<axis=-1>(x) }")
    samples = [{"x": noise(rows, 8)} for rows in (3, 7, 5)]
    profile = derive_model(model, samples, "float32")
    right = [float32(model, one) for one in samples]
    (judged,) = judge_outputs(right, None, profile).values()
    assert judged.metrics["budget_used"] < 1
    right[1] = {"y": right[1]["y"] * np.float32(1 + 2**-17)}
    (judged,) = judge_outputs(right, None, profile).values()
    assert judged.metrics["budget_used"] > 1


def test_many_samples_at_once_say_what_each_says_alone() -> None:
    model = parsed("g (float[N, 8] x) => (float[N, 8] y) { e = Exp(x)\n y = Softmax<axis=-1>(e) }")
    samples = [{"x": noise(1, 8, seed=seed)} for seed in range(12)]
    together = derive_model(model, samples, "float32")
    for number, one in enumerate(samples):
        alone = derive_model(model, [one], "float32")
        assert np.allclose(together.oracle[number]["y"], alone.oracle[0]["y"], rtol=1e-12)
    assert len(together.deviation) == 12


def test_rows_that_depend_on_each_other_are_not_evaluated_together() -> None:
    model = parsed("g (float[N, 8] x) => (float[N, 8] y) { m = ReduceMean<keepdims=1>(x, axes)\n y = Sub(x, m) }")
    model.graph.initializer.append(numpy_helper.from_array(np.array([0]), "axes"))
    samples = [{"x": noise(2, 8, seed=seed)} for seed in range(6)]
    profile = derive_model(model, samples, "float32")
    for one, oracle in zip(samples, profile.oracle, strict=True):
        x = one["x"].astype(np.float64)
        assert np.allclose(oracle["y"], x - x.mean(axis=0), rtol=1e-12)


def test_samples_of_several_shapes_are_derived_in_groups() -> None:
    model = parsed("g (float[N, 16] x) => (float[N, 16] y) { y = Softmax<axis=-1>(x) }")
    inputs = [{"x": noise(rows, 16, seed=seed)} for seed, rows in enumerate((1, 1, 1, 2, 1, 2, 3))]
    profile = derive_model(model, inputs, "float32")
    assert [one["y"].shape[0] for one in profile.oracle] == [1, 1, 1, 2, 1, 2, 3]
    for feeds, oracle, deviation in zip(inputs, profile.oracle, profile.deviation, strict=True):
        powers = np.exp(feeds["x"].astype(np.float64))
        assert np.allclose(oracle["y"], powers / powers.sum(axis=-1, keepdims=True))
        assert deviation["y"].shape == oracle["y"].shape
        assert deviation["y"].all()


@pytest.mark.parametrize("place", [0, 1, 2, 5])
def test_noise_that_bends_in_one_sample_only_is_found_in_any(place: int) -> None:
    """A constant row: what is divided by is the root of next to nothing, which noise 512 times as loud is not."""
    model = parsed(
        "g (float[2, 64] x) => (float[2, 64] y) { m = ReduceMean<keepdims=1>(x, a)  d = Sub(x, m)  s = Mul(d, d)"
        "  v = ReduceMean<keepdims=1>(s, a)  e = Add(v, tiny)  r = Sqrt(e)  y = Div(d, r) }"
    )
    model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "a"))
    model.graph.initializer.append(numpy_helper.from_array(np.float32(1e-12), "tiny"))
    samples = [{"x": noise(2, 64, seed=seed)} for seed in range(6)]
    samples[place]["x"][1] = np.float32(0.7)
    alone = derive_model(model, [samples[place]], "float32").deviation[0]["y"][1]
    among = derive_model(model, samples, "float32").deviation[place]["y"][1]
    assert alone.mean() > 1e-2
    assert among.mean() > 0.3 * alone.mean()


@pytest.mark.parametrize(("columns", "draws"), [(16, 8), (1023, 8), (1024, 4)])
def test_where_every_output_has_many_elements_fewer_draws_do(columns: int, draws: int) -> None:
    model = parsed(f"g (float[N, {columns}] x) => (float[N, {columns}] y) {{ y = Exp(x) }}")
    assert derive_model(model, [{"x": noise(1, columns)}], "float32").header.draws == draws
    both = f"g (float[N, {columns}] x) => (float[N, {columns}] y, float[N, 1] z) {{ y = Exp(x) z = ReduceSum(y, a) }}"
    model = parsed(both)
    model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "a"))
    assert derive_model(model, [{"x": noise(1, columns)}], "float32").header.draws == 8


def test_single_precision_needs_no_evaluation_of_its_own_to_differ_from(monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = network()
    short = derive_model(model, [feeds], "float32").deviation[0]["y"]
    monkeypatch.setattr("assay.numerics.tolerance.simulate.monte_carlo._SMALL", 0.0)
    long = derive_model(model, [feeds], "float32").deviation[0]["y"]
    assert not np.array_equal(short, long)
    assert np.allclose(short, long, rtol=1e-2, atol=1e-2 * float(np.mean(long)))
