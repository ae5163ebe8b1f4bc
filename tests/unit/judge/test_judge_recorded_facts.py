"""Facts of another version of Assay are told, and do not end a report."""

from __future__ import annotations

import pytest

from assay.core.finding import Finding, FindingCode, facts
from assay.core.note import NoteCode, noted
from assay.judge.finding_text import finding_text
from assay.judge.note_text import note_text


@pytest.mark.parametrize("code", [NoteCode.DEFECTS_NOT_SEEN, NoteCode.DERIVED_ON_FIRST])
def test_a_note_with_other_facts_is_told_by_its_code(code: NoteCode) -> None:
    told = note_text(noted(code, other=("a", "b"), number=3))
    assert told == f"{code.replace('_', ' ')} (other: a, b, number: 3), as another version of Assay recorded it"


def test_a_finding_with_other_facts_is_told_by_its_code() -> None:
    told = finding_text(Finding("degenerate", "y", FindingCode.REFERENCE_CONSTANT, facts(other=1)))
    assert told == "reference constant (other: 1), as another version of Assay recorded it"
