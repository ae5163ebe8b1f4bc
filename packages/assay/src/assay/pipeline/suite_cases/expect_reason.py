"""One reason for each cause of a known outcome: what the flow said, without what differs from case to case."""

from __future__ import annotations

import re
import textwrap

from msgspec.structs import replace

from assay.core.finding import Fact
from assay.core.note import Note
from assay.core.outcome import FAILS_BY_DEFAULT, Outcome
from assay.core.result import Result
from assay.core.result_parts import ComparedResult, comparisons_of
from assay.judge.outcome_table import COMPARED, OUTCOMES, REFUSALS, outcome_words
from assay.judge.words.note_text import note_text

OF_THE_MODEL = frozenset(("kinds", "operators", "node", "tensor", "input", "output", "dtype", "file", "expression"))
"""Facts of a refusal that list what the one model has, or say where in it. Names of what an engine lacks are none of these: another one is
another reason."""
WHERE = frozenset(("operator",))
"""A fact that says where, if what was wrong there is a note of its own."""
TAILS = (" While executing %", " Original traceback:", " There are a few things to try:")
"""What torch puts behind an error: the node, its lines, advice."""
LONGEST = 160
_SYMBOL = r"-?\b(?![us](?:4|8|16|32|64)\b)z?[us]f?\d+\b"
"""A size or a condition that torch's tracer does not know: u0, s77, zuf0. u8 and s64 are XLA's names of element types."""
_QUOTED = r"'[^']*'|\"[^\"]*\""


def reason_of(result: Result) -> str:
    """Alike for cases that end in one way for one reason, as far as the flow says it."""
    if result.outcome in COMPARED & set(FAILS_BY_DEFAULT):
        return _difference(result)
    if result.outcome is Outcome.OTHER_PRECISION:
        return OUTCOMES[result.outcome].meaning
    return textwrap.shorten(_without_counts(_without_addresses(result), _QUOTED), LONGEST, placeholder=" …")


def cause_of(result: Result) -> str:
    """All that the flow said, names in quotes with it: alike only where words that a person put for one speak of the other, too."""
    return _without_counts(_without_addresses(result))


def _without_addresses(result: Result) -> str:
    text = result.detail
    if result.ended is not None and result.observed is None:
        text = note_text(without_places(result.ended))
    return re.sub(r"\b[a-z]+://\S+|/\S+|0x[0-9a-f]+", "…", text or outcome_words(result.outcome))


def _without_counts(text: str, *more: str) -> str:
    return re.sub("|".join((*more, _SYMBOL, r"\b\d+(?:\.\d+)?\b")), "…", text)


def says_cause(result: Result) -> bool:
    """Whether equal words are one cause: a refusal says what it does not take; a wrong answer, a signal or another precision may have
    many causes."""
    return result.outcome in REFUSALS


def without_places(note: Note) -> Note:
    """Without what is of the one model, in the note and in those that led to it."""
    led = any(isinstance(fact, Note) for fact in note.facts.values())
    blank = OF_THE_MODEL | WHERE if led else OF_THE_MODEL
    return replace(note, facts={name: _fact(name, fact, blank) for name, fact in note.facts.items()})


def _fact(name: str, fact: Fact | Note, blank: frozenset[str]) -> Fact | Note:
    if isinstance(fact, Note):
        return without_places(fact)
    if name in blank and fact:
        return ("…",) if isinstance(fact, tuple) else "…"
    if isinstance(fact, str):
        for tail in TAILS:
            fact = fact.partition(tail)[0]
    return fact


def _difference(result: Result) -> str:
    """By the kind that the verdict names first."""
    kinds = [finding.kind for comparison in comparisons_of(result) for finding in comparison.findings]
    if not kinds and isinstance(result, ComparedResult):
        kinds = [finding.kind for finding in result.findings]
    words = outcome_words(result.outcome)
    return f"{words} in {kinds[0].replace('_', ' ')}" if kinds else words
