"""A coarse tolerance lets nothing pass that the derived one refuses."""

from __future__ import annotations

import numpy as np
import pytest
from small_graphs import budget, float32, network, noise, parsed

from assay.core.case import Contract
from assay.judge.words.finding_text import finding_text
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.coarse import coarsely, of_one_order
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.deriving import Deriving
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.ports import Tensor


def _both(seed: int) -> tuple[DerivedTolerance, DerivedTolerance, dict[str, Tensor]]:
    model, feeds = network(seed)
    coarse = coarsely(Deriving(model, arithmetic_of("float32"), seed), [feeds], "float32")
    deriving = Deriving(model, arithmetic_of("float32"), seed)
    assert coarse is not None
    assert coarse.header.coarse
    return coarse, deriving.profile(deriving.samples([feeds]), "float32"), float32(model, feeds)


@pytest.mark.parametrize("seed", range(6))
def test_every_element_uses_more_of_it_than_of_the_derived_one(seed: int) -> None:
    coarse, fine, _ = _both(seed)
    for at in np.ndindex(coarse.oracle[0]["y"].shape):
        wrong = coarse.oracle[0]["y"].copy()
        wrong[at] += 1e-3
        assert budget(coarse, {"y": wrong}) > budget(fine, {"y": wrong}) > 1


def test_a_correct_engine_passes_by_it() -> None:
    coarse, fine, answers = _both(3)
    assert 0 < budget(fine, answers) < budget(coarse, answers) < 1


def test_noise_that_is_a_share_of_the_signal_is_asked_of_the_derived_one() -> None:
    """A coarse tolerance shows a part of the noise only: what it lets pass might be mistrusted by the whole of it."""
    coarse, _, _ = _both(3)
    loud = [
        {"y": np.full_like(sample["y"], 0.05 * np.abs(coarse.oracle[0]["y"]).mean())} for sample in coarse.deviation
    ]
    (judged,) = judge_outputs(
        [{"y": coarse.oracle[0]["y"] * 1.03}],
        None,
        DerivedTolerance(coarse.header, coarse.oracle, loud, coarse.margins),
    ).values()
    assert judged.metrics["noise_share"] < 0.1
    assert "ill-conditioned" in finding_text(judged.degenerate)


def test_what_is_rounded_to_a_grid_and_coarse_types_are_derived_at_once() -> None:
    grid = parsed("g (float[4, 8] x) => (float[4, 8] y) { r = Round(x) y = Mul(r, x) }")
    feeds = {"x": noise(4, 8)}
    assert coarsely(Deriving(grid, arithmetic_of("float32"), 0), [feeds], "float32") is None
    model, fed = network()
    assert coarsely(Deriving(model, arithmetic_of("bfloat16"), 0), [fed], "bfloat16") is None
    assert coarsely(Deriving(model, arithmetic_of("float32"), 0), [], "float32") is None


def _two_noises(gap: float, few: int) -> Tensor:
    """What two evaluations leave of the noise of 4000 elements, `few` of them quieter by so many octaves."""
    drawn = np.random.default_rng(5).standard_normal((2, 4000))
    drawn[:, :few] *= 2.0**-gap
    return np.asarray(np.square(drawn).sum(axis=0) / 8)


@pytest.mark.parametrize("few", [40, 400, 2000, 3600, 3960])
def test_elements_that_the_derivation_would_judge_apart_are_seen(few: int) -> None:
    assert not of_one_order(_two_noises(12, few))
    assert of_one_order(_two_noises(0, few))


@pytest.mark.parametrize(("octaves", "one"), [(4, True), (30, False)])
def test_noise_of_all_orders_without_a_gap_is_of_one_as_far_as_a_band_reaches(octaves: int, one: bool) -> None:
    random = np.random.default_rng(5)
    levels = np.exp2(random.uniform(-octaves, 0, 4000))
    assert of_one_order(np.square(random.standard_normal((2, 4000)) * levels).sum(axis=0)) is one


def test_where_samples_are_too_many_both_take_as_many_and_the_others_are_judged_more_strictly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.numerics.tolerance.rules.derivation_cost.MOST", 1)
    model, feeds = network()
    inputs = [feeds, {"x": noise(4, 32, seed=9)}, {"x": noise(4, 32, seed=10)}]
    coarse = coarsely(Deriving(model, arithmetic_of("float32"), 0), inputs, "float32")
    deriving = Deriving(model, arithmetic_of("float32"), 0)
    fine = deriving.profile(deriving.samples(inputs), "float32")
    assert coarse is not None
    assert (coarse.header.coarse, coarse.header.samples, fine.header.samples) == (True, 1, 1)
    exact = [{"y": deriving.drawing.exact(sample)[0]["y"]} for sample in inputs]
    wrong = [*exact[:2], {"y": exact[2]["y"] + 1e-3}]

    def used(profile: DerivedTolerance) -> float:
        (comparison,), _ = ToleranceComparator(Contract(), profile).compare(wrong, exact, {"y": "float64"})
        return comparison.metrics["budget_used"]

    assert used(coarse) > used(fine) > 1
