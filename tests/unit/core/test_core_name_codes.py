"""What is said beside a name that nothing answers to."""

from __future__ import annotations

import pytest

from assay.core.refusals.name_codes import MOST_LISTED, name_hint
from assay.judge.words.note_text import note_text


@pytest.mark.parametrize(
    ("known", "hint"),
    [
        (["onnxruntime", "openvino"], "perhaps you mean 'onnxruntime'"),
        (["red", "blue"], "choose one of red, blue"),
        ([], "choose one of (none)"),
        ([f"colour-{place}" for place in range(MOST_LISTED + 1)], "none of the 41 names that there are is near"),
    ],
)
def test_the_nearest_or_all_or_how_many(known: list[str], hint: str) -> None:
    assert note_text(name_hint("onnxrutime", known)) == hint
