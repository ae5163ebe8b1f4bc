"""A flow with a tie rule of its own: every answer of the rule is right, and nothing between them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from onnx import ModelProto, numpy_helper
from small_graphs import budget, parsed

from assay.models.tolerance_file import read_header, read_tolerance, write_tolerance
from assay.numerics.oracle.tie_rules import otherwise
from assay.numerics.tolerance.derive import derive_each, derive_model
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.deriving import Deriving
from assay.numerics.tolerance.simulate.tie_choices import is_alike, may_meet_ties
from assay.ports import Tensor

AFTER = "ties-after-zero-point"
TIES = np.arange(-9, 9, dtype=np.float32).reshape(1, 18) / 4
EVEN, RULE = np.rint(TIES * 2) / 2, (np.rint(TIES * 2 + 3) - 3) / 2


def _net(grids: int = 1) -> ModelProto:
    """`grids` rows of their own grid each, with an odd zero point."""
    rows = "\n".join(
        f"m{one} = Mul(d, s{one})\nw{one} = QuantizeLinear(m{one}, half, zero)\ny{one} = DequantizeLinear(w{one}, half, zero)"
        for one in range(grids)
    )
    names = ", ".join(f"y{one}" for one in range(grids))
    model = parsed(
        f"""g (float[1, 18] x) => (float[{grids}, 18] y) {{
            q = QuantizeLinear(x, quarter, none)
            d = DequantizeLinear(q, quarter, none)
            {rows}
            y = Concat<axis=0>({names})
        }}"""
    )
    stored = {"quarter": np.float32(0.25), "none": np.int8(0), "half": np.float32(0.5), "zero": np.int8(3)}
    stored |= {f"s{one}": np.ones((1, 1), np.float32) for one in range(grids)}
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(one), name) for name, one in stored.items())
    return model


def _used(profile: DerivedTolerance, *rows: Tensor) -> float:
    return budget(profile, {"y": np.concatenate(rows).astype(np.float32)})


def _derived(model: ModelProto, *allowances: str) -> DerivedTolerance:
    return derive_model(model, [{"x": TIES}], "float32", allowances=allowances)


def test_every_grid_follows_the_rule_or_the_standard() -> None:
    profile = _derived(_net(2), AFTER)
    assert len(profile.others) == 3
    for rows in ((EVEN, EVEN), (EVEN, RULE), (RULE, EVEN), (RULE, RULE)):
        assert _used(profile, *rows) == 0.0


def test_a_grid_that_follows_neither_at_some_of_its_ties_is_wrong() -> None:
    profile = _derived(_net(2), AFTER)
    mixed = RULE.copy()
    mixed[0, np.flatnonzero(RULE != EVEN)[0]] = EVEN[0, np.flatnonzero(RULE != EVEN)[0]]
    for rows in ((mixed, EVEN), (RULE, mixed)):
        assert _used(profile, *rows) > 1.0


def test_of_more_grids_than_can_be_evaluated_the_ties_are_left_open() -> None:
    profile = _derived(_net(7), AFTER)
    assert profile.others == []
    for rows in ([EVEN] * 7, [RULE] * 7, [*[EVEN, RULE] * 3, EVEN]):
        assert _used(profile, *rows) <= 1.0
    assert _used(profile, *[EVEN + 0.5] * 7) > 1.0


def test_without_a_tie_that_the_rule_decides_there_is_one_answer() -> None:
    assert _derived(_net()).others == []
    quiet = derive_model(_net(), [{"x": TIES * 0 + 1}], "float32", allowances=(AFTER,))
    assert quiet.others == []


def test_a_golden_of_the_flow_is_no_suspect() -> None:
    from assay.numerics.tolerance.judge.judge_outputs import judge_outputs, suspects

    profile = _derived(_net(), AFTER)
    golden = [{"y": RULE.astype(np.float32)}]
    assert suspects(golden, profile) == {}
    assert judge_outputs(golden, golden, profile)["y"].metrics["budget_used"] <= 1.0
    assert suspects([{"y": (EVEN + 0.5).astype(np.float32)}], profile)


def test_away_from_zero_may_mean_before_or_after_the_zero_point() -> None:
    steps = TIES * 2
    away = np.copysign(np.floor(np.abs(steps) + 0.5), steps)
    after = np.copysign(np.floor(np.abs(steps + 3) + 0.5), steps + 3) - 3
    profile = _derived(_net(), "ties-away-from-zero")
    for whole in (np.rint(steps), away, after):
        assert _used(profile, whole / 2) == 0.0
    assert _used(profile, RULE) > 1.0


def test_the_side_that_a_rule_takes() -> None:
    steps = np.array([-1.5, -0.5, 0.5, 1.5, 0.25])
    assert otherwise(steps, np.float64(0), "away").tolist() == [0, -1, 1, 0, 0]
    assert otherwise(steps, np.float64(3), "even-after-zero-point").tolist() == [1, -1, 1, -1, 0]


def test_other_answers_are_kept_and_a_changed_one_is_seen(tmp_path: Path) -> None:
    profile = _derived(_net(2), AFTER)
    write_tolerance(tmp_path, profile)
    kept = read_tolerance(tmp_path)
    assert kept is not None
    assert len(kept.others) == 3
    assert _used(kept, RULE, EVEN) == 0.0
    assert _used(kept.first(1).only(("y",)), RULE, EVEN) == 0.0
    part = tmp_path / "other-01" / "oracle.safetensors"
    part.write_bytes(part.read_bytes()[:-1] + b"\x7f")
    assert read_header(tmp_path) is None


@pytest.mark.parametrize("grids", [2, 7])
def test_flows_of_several_rules_have_the_tolerances_that_each_would_have_alone(
    grids: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, each = _net(grids), [(AFTER,), (), ("ties-away-from-zero",)]
    alone = [_derived(model, *one) for one in each]
    drawn: list[str] = []
    samples = Deriving.samples

    def counted(deriving: Deriving, inputs: list[dict[str, Tensor]]) -> object:
        drawn.append(deriving.arithmetic.ties)
        return samples(deriving, inputs)

    monkeypatch.setattr(Deriving, "samples", counted)
    together = derive_each(model, [{"x": TIES}], "float32", each)
    for one, other in zip(together, alone, strict=True):
        assert [len(found.others) for found in (one, other)] == [len(other.others)] * 2
        assert msgspec.structs.replace(one.header, seconds={}) == msgspec.structs.replace(other.header, seconds={})
        assert all(is_alike(*pair) for pair in zip([one, *one.others], [other, *other.others], strict=True))
    # Half to even once, the answers of the rules, and of seven grids all of them open.
    assert drawn.count("") == 1 + sum(len(one.others) for one in together)
    assert len(drawn) - drawn.count("") == (2 if grids == 7 else 0)


def test_only_scales_that_are_powers_of_two_or_not_stored_meet_ties() -> None:
    model = _net()
    assert may_meet_ties(model.graph)
    for one in model.graph.initializer:
        if one.name in ("quarter", "half"):
            one.CopyFrom(numpy_helper.from_array(np.asarray(np.float32(0.3)), one.name))
    assert not may_meet_ties(model.graph)
    stored = [one for one in model.graph.initializer if one.name != "half"]
    del model.graph.initializer[:]
    model.graph.initializer.extend(stored)
    assert may_meet_ties(model.graph)
