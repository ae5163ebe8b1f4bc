"""Facts of another version of Assay are told, and do not end a report."""

from __future__ import annotations

import pytest

from assay.core.finding import Finding, FindingCode, facts
from assay.core.model_finding import Area, ModelFinding
from assay.core.model_finding_note import model_finding_note
from assay.core.model_finding_text import sentence
from assay.core.model_part import MODEL
from assay.core.note import Note, NoteCode, noted
from assay.core.refusals.usage_codes import UsageCode
from assay.judge.words.finding_text import finding_text
from assay.judge.words.note_text import note_text


@pytest.mark.parametrize("code", [NoteCode.DEFECTS_NOT_SEEN, NoteCode.DERIVED_ON_FIRST])
def test_a_note_with_other_facts_is_told_by_its_code(code: NoteCode) -> None:
    text = note_text(noted(code, other=("a", "b"), number=3))
    assert text == f"{code.replace('_', ' ')} (other: a, b, number: 3), as another version of Assay recorded it"


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (
            noted(NoteCode.UNREADABLE_FILE, file="m.onnx", finding="truncated", values=("7",)),
            "unreadable file (file: m.onnx, finding: truncated, values: 7), as another version of Assay recorded it",
        ),
        (
            noted(NoteCode.TOO_FEW_CORES, cores="one"),
            "too few cores (cores: one), as another version of Assay recorded it",
        ),
        (
            noted(NoteCode.NO_INPUTS, tried=1, dimensions=2, sizes=3, ranges=4, stated=5),
            "no inputs (tried: 1, dimensions: 2, sizes: 3, ranges: 4, stated: 5), as another version of Assay recorded it",
        ),
    ],
)
def test_a_note_with_fewer_values_or_of_another_type_is_told_by_its_code(note: Note, text: str) -> None:
    assert note_text(note) == text


def test_words_that_an_earlier_version_recorded_are_shown_as_they_are() -> None:
    old = noted(UsageCode.MUTATION_NEEDS, operator="drop-bias", site="c1", needs="nodes of old")
    assert note_text(old) == "mutation 'drop-bias' does not apply at 'c1'; it needs nodes of old"


def test_what_is_made_of_facts_weighs_more_than_a_word_that_was_recorded() -> None:
    own = noted(NoteCode.MESSAGES_IGNORED, count=1)
    assert note_text(noted(NoteCode.MESSAGES_IGNORED, count=1, messages="some")) == note_text(own)


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (ModelFinding(Area.MODEL, "no-such-rule", MODEL, (3,)), "no-such-rule (about: the model, 0: 3), as another"),
        (ModelFinding(Area.MODEL, "truncated", MODEL, (3,)), "truncated (about: the model, 0: 3), as another version"),
        (ModelFinding(Area.MODEL, "unreadable", MODEL, ("is empty (0 bytes)",)), "is empty (0 bytes)"),
    ],
)
def test_a_finding_of_a_model_that_another_version_recorded_is_told(finding: ModelFinding, text: str) -> None:
    assert sentence(finding).startswith(text)
    assert note_text(model_finding_note(finding)) == sentence(finding)


def test_a_finding_with_other_facts_is_told_by_its_code() -> None:
    text = finding_text(Finding("degenerate", "y", FindingCode.REFERENCE_CONSTANT, facts(other=1)))
    assert text == "reference constant (other: 1), as another version of Assay recorded it"
