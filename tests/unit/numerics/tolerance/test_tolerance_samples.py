"""Several samples: of one shape together, of several in groups, and how many draws they take."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper
from small_graphs import float32, network, noise, parsed

from assay.core.note import NoteCode
from assay.judge.words.finding_text import finding_text
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.judge.output_judgement import OutputJudgement


def test_samples_of_different_shapes_are_judged_together() -> None:
    model = parsed("g (float[N, 8] x) => (float[N, 8] y) { y = Softmax<axis=-1>(x) }")
    samples = [{"x": noise(rows, 8)} for rows in (3, 7, 5)]
    profile = derive_model(model, samples, "float32")
    right = [float32(model, sample) for sample in samples]
    (judged,) = judge_outputs(right, None, profile).values()
    assert judged.metrics["budget_used"] < 1
    right[1] = {"y": right[1]["y"] * np.float32(1 + 2**-17)}
    (judged,) = judge_outputs(right, None, profile).values()
    assert judged.metrics["budget_used"] > 1


def test_many_samples_at_once_say_what_each_says_alone() -> None:
    model = parsed("g (float[N, 8] x) => (float[N, 8] y) { e = Exp(x)\n y = Softmax<axis=-1>(e) }")
    samples = [{"x": noise(1, 8, seed=seed)} for seed in range(12)]
    together = derive_model(model, samples, "float32")
    for number, sample in enumerate(samples):
        alone = derive_model(model, [sample], "float32")
        assert np.allclose(together.oracle[number]["y"], alone.oracle[0]["y"], rtol=1e-12)
    assert len(together.deviation) == 12


def test_rows_that_depend_on_each_other_are_not_evaluated_together() -> None:
    model = parsed("g (float[N, 8] x) => (float[N, 8] y) { m = ReduceMean<keepdims=1>(x, axes)\n y = Sub(x, m) }")
    model.graph.initializer.append(numpy_helper.from_array(np.array([0]), "axes"))
    samples = [{"x": noise(2, 8, seed=seed)} for seed in range(6)]
    profile = derive_model(model, samples, "float32")
    for sample, oracle in zip(samples, profile.oracle, strict=True):
        x = sample["x"].astype(np.float64)
        assert np.allclose(oracle["y"], x - x.mean(axis=0), rtol=1e-12)


def test_samples_of_several_shapes_are_derived_in_groups() -> None:
    model = parsed("g (float[N, 16] x) => (float[N, 16] y) { y = Softmax<axis=-1>(x) }")
    inputs = [{"x": noise(rows, 16, seed=seed)} for seed, rows in enumerate((1, 1, 1, 2, 1, 2, 3))]
    profile = derive_model(model, inputs, "float32")
    assert [sample["y"].shape[0] for sample in profile.oracle] == [1, 1, 1, 2, 1, 2, 3]
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


def squares_less(close: float) -> dict[str, np.ndarray]:
    """Inputs of `x * x - b`: where the two are close, rounding the product is most of the answer."""
    x = noise(64) + np.float32(4)
    return {"x": x, "b": x * x * np.float32(close)} if close else {"x": x / 16, "b": noise(64)}


def test_a_sample_that_proves_nothing_leaves_the_verdict_to_the_others() -> None:
    model = parsed("g (float[64] x, float[64] b) => (float[64] y) { m = Mul(x, x)\n y = Sub(m, b) }")
    feeds = [squares_less(0.98), squares_less(0.0)]
    profile = derive_model(model, feeds, "bfloat16")
    right = [float32(model, feed) for feed in feeds]
    loud = right[0]["y"] * np.float32(1.3)

    def judged(*answers: np.ndarray) -> OutputJudgement:
        return judge_outputs([{"y": answer} for answer in answers], None, profile)["y"]

    passed = judged(loud, right[1]["y"])
    assert (passed.degenerate, passed.findings) == (None, ())
    assert any(note.code == NoteCode.SAMPLES_SET_ASIDE and note.facts["numbers"] == (0,) for note in passed.notes)
    assert passed.metrics["noise_share"] < 0.01
    wrong = judged(right[0]["y"], right[1]["y"] * np.float32(1.05))
    assert wrong.metrics["budget_used"] > 1, "the noise of the other sample hides nothing of this one"
    alone = derive_model(model, feeds[:1], "bfloat16")
    assert "too ill-conditioned" in finding_text(judge_outputs([{"y": loud}], None, alone)["y"].degenerate)


@pytest.mark.parametrize("close", [0.96, 0.99])
def test_an_answer_far_closer_than_its_noise_is_trusted_though_the_noise_is_large(close: float) -> None:
    model = parsed("g (float[64] x, float[64] b) => (float[64] y) { m = Mul(x, x)\n y = Sub(m, b) }")
    feeds = squares_less(close)
    profile = derive_model(model, [feeds], "bfloat16")
    assert bool(profile.header.blind) == (close == 0.99)
    right = float32(model, feeds)["y"]
    for factor, trusted in ((1.005, True), (1.05, False)):
        judged = judge_outputs([{"y": right * np.float32(factor)}], None, profile)["y"]
        assert judged.metrics["noise_share"] > 0.1
        assert (judged.degenerate is None) == trusted, factor


def test_what_lies_between_two_types_is_not_called_a_finer_one() -> None:
    model = parsed("g (float[64] x, float[64] b) => (float[64] y) { m = Mul(x, x)\n y = Sub(m, b) }")
    feeds = squares_less(0.98)
    profile = derive_model(model, [feeds], "bfloat16")
    right = float32(model, feeds)["y"]
    share = judge_outputs([{"y": right}], None, profile)["y"].metrics["noise_share"]
    for width, is_blamed in ((5e-3, False), (2e-5, True)):
        (judged,) = judge_outputs([{"y": right * np.float32(1 + width * share)}], None, profile).values()
        assert any(note.code == NoteCode.CLOSER_THAN_TYPE for note in judged.notes) == is_blamed, width
