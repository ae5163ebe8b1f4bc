"""The sentence that the driver makes of what a worker raises."""

from __future__ import annotations

from collections.abc import Callable

from assay.judge.words.note_text import note_text
from assay.worker.describe_exception import reason_of


def sentence_of(error: BaseException) -> str:
    return note_text(reason_of(error))


def says(part: str) -> Callable[[BaseException], bool]:
    """For `pytest.raises(..., check=...)`."""
    return lambda error: part in sentence_of(error)
