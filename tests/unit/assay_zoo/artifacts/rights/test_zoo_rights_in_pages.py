"""What pages and scripts say of licences: of the data, of others' code, or of the model itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay_zoo.artifacts.pages.alike import odd_word, rare_word
from assay_zoo.artifacts.pages.shown_text import shown_text
from assay_zoo.artifacts.published import inspect_published
from assay_zoo.artifacts.rights.restricted_use import (
    is_of_license,
    less_allowed,
    notice_restriction,
    rights_in_page,
)
from assay_zoo.license_families import families_of

TERMS = Path(__file__).parent


@pytest.mark.parametrize(
    ("text", "less"),
    [
        ("This model may be used for non-commercial purposes only.", "non-commercial"),
        ("You may not use it for commercial purposes.", "commercial"),
        ("You must not redistribute the weights.", "must not redistribute"),
        ("Use requires a paid subscription.", "subscription"),
        ("Weights under CC-BY-NC-4.0 license.", "CC-BY-NC"),
        ("It should not be used for medical decisions.", ""),
        ("[UNK]\nnoncommercial\nproprietary\nlicense", ""),
        ("It reads digits only.", ""),
    ],
)
def test_words_that_keep_a_use_to_some(text: str, less: str) -> None:
    assert [words for _, words, is_less in rights_in_page(text) if is_less] == ([less] if less else [])


@pytest.mark.parametrize(
    "text",
    [
        "The weights are AGPL-3.0.",
        "This model is GPL v3.",
        "All code is under the GNU GPL.",
        "License: GPL-3.0",
        "Everything is **LGPL-2.1**.",
        "The weights are MIT.",
        "This model is `MIT`, and free for all.",
    ],
)
def test_a_licence_by_its_name_alone(text: str) -> None:
    ((_, words, is_less),) = rights_in_page(text)
    assert families_of(words) in ({"gnu"}, {"lgpl"}, {"mit"})
    assert not is_less


@pytest.mark.parametrize("text", (TERMS / "asked.txt").read_text(encoding="utf-8").splitlines())
def test_a_sentence_about_who_may_use_it_asks(text: str) -> None:
    assert any(is_less for *_, is_less in rights_in_page(f"# Model\n\nIt reads digits.\n\n{text}\n"))
    assert less_allowed(text) or "evaluation" in text or "CC" in text


@pytest.mark.parametrize("text", (TERMS / "ordinary.txt").read_text(encoding="utf-8").splitlines())
def test_ordinary_sentences_of_a_readme(text: str) -> None:
    assert not any(is_less for *_, is_less in rights_in_page(f"# Model\n\nIt reads digits.\n\n{text}\n"))


_DRESSED = (
    "Non\u2011commercial use of the weights.", "Non\u2010commercial use of the weights.", "Non\u2013commercial use of the weights.",
    "Non-com\u00admercial use of the weights.", "N\u043en-c\u043emmercial use of the weights.", "**Non**-commercial use of the weights.",
    "The weights may *not* be redistributed.", "The weights may _not_ be redistributed.", "The weights may not<br>be redistributed.",
    "The weights may&nbsp;not be redistributed.", "The weights may n&#111;t be redistributed.", "<b>Non</b>-commercial use of the weights.",
    "\uff2eon-commercial use of the weights.", "Non\\-commercial use of the weights.",
    "\u4ec5\u4f9b\u7814\u7a76\u4f7f\u7528", "\u4ec5\u4f9b\u7814\u7a76\u3002", "\u5546\u7528\u4e0d\u53ef",
    "\u5546\u7528\u7981\u6b62\u3002",
)  # fmt: skip


@pytest.mark.parametrize("text", _DRESSED)
def test_words_are_read_as_they_are_shown(text: str) -> None:
    assert {less for *_, less in rights_in_page(f"# Model\n\nIt reads digits.\n\n{text}\n")} == {True}


@pytest.mark.parametrize("text", [text for text in _DRESSED if text.isascii() or text[0] in "N\uff2e"])
def test_words_of_data_and_notices_are_read_as_they_are_shown(text: str) -> None:
    assert less_allowed(text)
    assert notice_restriction(text)


def test_what_is_shown_stands_where_it_was() -> None:
    text = "a &#10; b <i\n>c</i>\u2029d <https://x.y/z> x_1 * 2\ne"
    assert len(shown_text(text).splitlines()) == len(text.splitlines())
    assert "<https://x.y/z> x_1" in shown_text(text)


def test_entries_of_a_list_of_words_in_chinese_say_nothing() -> None:
    assert not list(rights_in_page("\u7814\u7a76\n\u7981\u6b62\u5546\u7528\n\u5b66\u4e60\n"))


@pytest.mark.parametrize(
    ("words", "license", "is_its_own"),
    [
        ("CC BY-NC", "CC-BY-NC-4.0", True),
        ("non-commercial", "CC-BY-NC-4.0", True),
        ("must not redistribute the weights", "CC-BY-NC-4.0", False),
        ("CC-BY-ND", "CC-BY-ND-4.0", True),
        ("CC-BY-ND", "CC-BY-NC-4.0", False),
        ("CC BY-NC", "CC-BY-4.0", False),
        ("non-commercial", "Apache-2.0", False),
    ],
)
def test_words_that_the_licence_says_itself(words: str, license: str, is_its_own: bool) -> None:
    assert is_of_license(words, license) is is_its_own


def test_words_behind_those_of_the_licence_are_heard_too() -> None:
    text = "The weights are CC BY-NC 4.0. You must not sell the weights."
    assert [words for _, words, _ in rights_in_page(text)][:2] == ["CC BY-NC", "must not sell"]


def test_rights_that_are_reserved_above_free_code_are_no_restriction() -> None:
    header = "# Copyright (c) 2026 The Authors. All rights reserved.\n# Licensed under the MIT license.\n"
    assert [less for *_, less in rights_in_page(header, code=True)] == [False]
    assert [less for *_, less in rights_in_page("Copyright 2026 Example Ltd. All rights reserved.")] == [True]


def test_a_function_for_internal_use_is_no_model_for_internal_use() -> None:
    assert not list(rights_in_page("# A helper, for internal use only.\ndef _f(): ...\n", code=True))
    assert list(rights_in_page("# These weights are for internal use only.\nx = 1\n", code=True))


@pytest.mark.parametrize("kind", ["markdown", "raw", "code"])
def test_each_cell_of_a_notebook_is_read(kind: str, tmp_path: Path) -> None:
    source = ["x = 1\n", "# You must not sell the weights.\n", 'TERMS = "The weights are AGPL-3.0."\n']
    notebook = tmp_path / "n.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": kind, "source": source}]}))
    rights = inspect_published({"kind": "notebook", "path": "n.ipynb", "copy": str(notebook), "root": str(tmp_path)})[
        "rights"
    ]
    assert [less for *_, less in rights] == [True, False]
    assert rights[0][1] == "must not sell"


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
