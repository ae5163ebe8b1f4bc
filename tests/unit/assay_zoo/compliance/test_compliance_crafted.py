"""Every crafted model is refused, in its own place and for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from crafted_models import CASES, built

from assay_zoo.compliance.request import Request
from assay_zoo.compliance.steps import examine


@pytest.mark.parametrize("name", CASES)
def test_is_told_in_its_place(name: str, tmp_path: Path) -> None:
    area, kind, _ = CASES[name]
    folder = tmp_path / "submission"
    folder.mkdir()
    path = built(name, folder)
    found = [one for one in examine(Request(str(path))) if not one.remark]
    assert (area, kind) in {(one.area.value, one.kind) for one in found}
    assert {one.area.value for one in found} == {area}
    assert all(str(tmp_path) not in one.sentence for one in found)
