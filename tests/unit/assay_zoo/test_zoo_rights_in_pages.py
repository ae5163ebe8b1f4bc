"""What pages and scripts say of licences: of the data, of others' code, or of the model itself."""

from __future__ import annotations

import pytest

from assay_zoo.artifacts.alike import odd_word, rare_word
from assay_zoo.artifacts.restricted_use import rights_in_page


@pytest.mark.parametrize(
    ("text", "less"),
    [
        ("This model may be used for non-commercial purposes only.", "non-commercial"),
        ("You may not use it for commercial purposes.", "not use it for commercial"),
        ("You must not redistribute the weights.", "must not redistribute"),
        ("Use requires a paid subscription.", "requires a paid subscription"),
        ("Weights under CC-BY-NC-4.0 license.", "CC-BY-NC"),
        ("Commercial and non-commercial use are welcome.", ""),
        ("It should not be used for medical decisions.", ""),
        ("[UNK]\nnoncommercial\nproprietary\nlicense", ""),
        ("It reads digits only.", ""),
    ],
)
def test_words_that_keep_a_use_to_some(text: str, less: str) -> None:
    assert [words for _, words, is_less in rights_in_page(text) if is_less] == ([less] if less else [])


def test_rights_that_are_reserved_above_free_code_are_no_restriction() -> None:
    header = "# Copyright (c) 2026 The Authors. All rights reserved.\n# Licensed under the MIT license.\n"
    assert [less for *_, less in rights_in_page(header, code=True)] == [False]
    assert [less for *_, less in rights_in_page("Copyright 2026 Example Ltd. All rights reserved.")] == [True]


@pytest.mark.parametrize(
    ("word", "is_odd", "is_rare"),
    [
        ("\ua4e2mall", True, True),
        ("\ua4e2\ua4f2", False, True),
        ("\u0441at", True, False),
        ("\u043a\u043e\u0442", False, False),
        ("AI\u6a21\u578b", False, False),
        ("10\u00b5m", False, False),
        ("caf\u00e9", False, False),
        ("\u03b2VAE", True, False),
    ],
)
def test_letters_that_few_know(word: str, is_odd: bool, is_rare: bool) -> None:
    assert (bool(odd_word(word)), bool(rare_word(word))) == (is_odd, is_rare)
