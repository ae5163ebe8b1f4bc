"""What a worker notes of a job, as a code, numbers and names. `assay.judge.note_text` makes the sentence of it."""

from __future__ import annotations

import enum

import msgspec

from assay.core.finding import Fact


class NoteCode(enum.StrEnum):
    """What is noted. The facts that come with each are the names in its sentence (`assay.judge.note_text`)."""

    NO_REFERENCE = "no_reference"
    NO_REFERENCE_AT_SIZES = "no_reference_at_sizes"
    NO_QUANTIZED_REFERENCE = "no_quantized_reference"
    REFERENCES_OF_TWO = "references_of_two"
    NO_LOGITS_TOLERANCE = "no_logits_tolerance"
    TOKENS_UNKNOWN = "tokens_unknown"
    ANSWERS_EMPTY = "answers_empty"


class Note(msgspec.Struct, frozen=True, eq=False):
    """`facts` are numbers, names, and what others say in their own words: the text of an exception, a line of a log."""

    code: NoteCode
    facts: dict[str, Fact] = {}

    def __eq__(self, other: object) -> bool:
        """Of the same bytes: a NaN among the facts is the same NaN."""
        return isinstance(other, Note) and msgspec.msgpack.encode(self) == msgspec.msgpack.encode(other)

    def __hash__(self) -> int:
        return hash(msgspec.msgpack.encode(self))


def noted(code: NoteCode, **facts: Fact) -> Note:
    """A note with its facts, by name."""
    return Note(code, facts)
