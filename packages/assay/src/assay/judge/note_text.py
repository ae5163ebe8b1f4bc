"""The sentence of each note of a worker: the one place where they become words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.core.finding import Fact
from assay.core.note import Note, NoteCode

Values = Mapping[str, Fact]

_TEXTS = {
    NoteCode.NO_REFERENCE: "{reason}",
    NoteCode.NO_REFERENCE_AT_SIZES: "no reference answers at {sizes}: {error}",
    NoteCode.NO_QUANTIZED_REFERENCE: "the quantized model has no reference answers: {error}",
    NoteCode.REFERENCES_OF_TWO: (
        "the answers differ, and those of the new model are of {new}, those of the model that it is compared with of {old}: not the models "
        "alone may differ; give inputs that both can be evaluated on in double, with --golden or --dim"
    ),
    NoteCode.NO_LOGITS_TOLERANCE: "no tolerance was derived for its logits, and answers of a service need one",
    NoteCode.TOKENS_UNKNOWN: "the service says neither which tokens it generates nor their log-probabilities",
    NoteCode.ANSWERS_EMPTY: "{empty} of {count} answers were empty",
}

_MADE: dict[NoteCode, Callable[[Values], dict[str, object]]] = {}
"""What a sentence says besides the facts themselves."""


def note_text(note: Note | None) -> str:
    """The sentence; "" where there is no note."""
    if note is None:
        return ""
    made = _MADE[note.code](note.facts) if note.code in _MADE else {}
    shown = {
        name: ", ".join(map(str, value)) if isinstance(value, tuple) else value for name, value in note.facts.items()
    }
    return _TEXTS[note.code].format(**shown, **made)
