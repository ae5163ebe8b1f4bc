"""Shares that take equally long, and cases that no last run knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.case import Case
from assay.core.model import Model
from assay.errors import UsageError
from assay.pipeline.shares import balanced, read_shares, write_shares
from assay.pipeline.suite_select import Selection, select, share_of


def test_shares_are_balanced_by_what_each_case_took(tmp_path: Path) -> None:
    seconds = {f"suite/{number}": float(number) for number in range(1, 41)}
    found = balanced(list(seconds), seconds, 3)
    sums = [sum(took for name, took in seconds.items() if found[name] == number) for number in (1, 2, 3)]
    assert max(sums) <= 1.05 * min(sums)
    new = balanced([*seconds, "suite/new"], {**seconds, "suite/gone": 100.0}, 3)
    assert new.keys() == {*seconds, "suite/new"}
    assert set(balanced(["a", "b", "c"], {}, 3).values()) == {1, 2, 3}, "no share is empty where there are cases enough"
    write_shares(tmp_path / "shares.json", found)
    assert read_shares(tmp_path / "shares.json") == found
    (tmp_path / "other").write_text("[1]")
    with pytest.raises(UsageError, match="other does not say which share a case is in"):
        read_shares(tmp_path / "other")


def test_a_case_that_no_run_knows_goes_by_its_digest() -> None:
    cases = [Case(f"suite/{number}", Model("m", "m.onnx", "")) for number in range(20)]
    shares = {"suite/3": 2, "suite/4": 1}
    kept = [[one.name for one in select(cases, Selection(shard=(number, 2), shares=shares))] for number in (1, 2)]
    assert sorted(kept[0] + kept[1]) == sorted(case.name for case in cases)
    assert "suite/3" in kept[1]
    assert "suite/4" in kept[0]
    assert select(cases, Selection(shard=(3, 3), shares=dict.fromkeys((one.name for one in cases), 1))) == []
    assert all(name in kept[share_of(name, 2) - 1] for name in kept[0] + kept[1] if name not in shares)
