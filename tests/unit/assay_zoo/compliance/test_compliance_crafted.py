"""Every broken model is refused by the zoo, in its own place and for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from examined import failures

from assay.testing.broken_models import CASES, built
from assay_zoo.compliance.request import Request


@pytest.mark.parametrize("name", CASES)
def test_is_told_in_its_place(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "submission"
    folder.mkdir()
    path = built(name, folder)
    findings = failures(path, Request(""))
    if name != "domain_without_import":  # the checker has told of it, and is not asked again
        assert (CASES[name].area, CASES[name].code) in {(finding.area.value, finding.code) for finding in findings}
    assert {finding.area.value for finding in findings} == {CASES[name].area}
