"""Branches that no sample takes, in words, before what a job warns of itself; the warnings of libraries, by kind."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.core.native_warning import NativeWarning, WarningCode
from assay.core.note import NoteCode, noted
from assay.core.result import UntakenBranch
from assay.judge.named_metrics import metrics
from assay.judge.words.warnings_text import critical_warnings, warning_counts, warnings_of
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
    result = replace(
        make_result(), untaken_branches=(branch,), notes=(noted(NoteCode.LIBRARY_SAID, text="it is slow"),)
    )
    assert warnings_of(result) == (text, "it is slow")


def _native(code: WarningCode, *nodes: str) -> tuple[NativeWarning, ...]:
    return tuple(NativeWarning(code, node, f"words about {node}") for node in nodes)


def test_native_warnings_are_counted_by_kind_where_the_backend_reads_them() -> None:
    native = _native(WarningCode.FUSION_SKIPPED, "a", "b", "c") + _native(WarningCode.DEPRECATED, "old")
    result = replace(
        make_result(),
        native_warnings=native,
        reads_warnings=True,
        notes=(noted(NoteCode.LIBRARY_SAID, text="it is slow"),),
    )
    counts = warning_counts(result)
    assert counts["warnings"] == 5.0
    assert counts["warnings.fusion-skipped"] == 3.0
    assert counts["warnings.node-on-cpu"] == 0.0
    assert set(warning_counts(replace(result, reads_warnings=False))) == {"warnings"}, "nobody knows what was said"
    assert metrics(result)["warnings.deprecated"] == 1.0


def test_critical_warnings_name_the_nodes_and_leave_out_the_rest() -> None:
    native = (*_native(WarningCode.FUSION_SKIPPED, *"abcdefg"), NativeWarning(WarningCode.OTHER, text="chatter"))
    assert critical_warnings(native) == ("fusion skipped for 7 nodes: a, b, c, d, e and 2 more",)
    assert critical_warnings(_native(WarningCode.INITIALIZER_DROPPED, "w")) == ("1 initializer dropped: w",)
