"""Branches that no sample takes, in words, before what a job warns of itself."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.core.result import UntakenBranch
from assay.judge.warnings_text import warnings_of
from assay.testing.builders import make_result

NO_SAMPLE = "no sample takes the then branch of If 'y': nothing is known of what an engine does there"


@pytest.mark.parametrize(
    ("branch", "text"),
    [
        (UntakenBranch("y", "then"), f"{NO_SAMPLE}; give inputs that take it with --inputs FILE.npz"),
        (
            UntakenBranch("y", "then", tried=80),
            f"{NO_SAMPLE} (80 other values were tried); give inputs that take it with --inputs FILE.npz",
        ),
        (
            UntakenBranch("y", "then", by_sizes=True),
            f"{NO_SAMPLE}; sizes of inputs decide it: check others with --dim NAME=SIZES",
        ),
    ],
)
def test_a_branch_that_no_sample_takes_is_told_with_a_way_out(branch: UntakenBranch, text: str) -> None:
    result = replace(make_result(), untaken_branches=(branch,), warnings=("it is slow",))
    assert warnings_of(result) == (text, "it is slow")
