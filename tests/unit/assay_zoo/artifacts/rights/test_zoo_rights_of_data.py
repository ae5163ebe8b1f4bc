"""Words of rights in data are no words about the model; those in notices and in outputs of notebooks are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay_zoo.artifacts.published import inspect_published
from assay_zoo.artifacts.rights.restricted_use import rights_in_page
from assay_zoo.license_families import families_of


def test_labels_that_are_names_of_licences_say_nothing() -> None:
    labels = "MIT\nApache-2.0\nGPL-3.0\nCC-BY-NC-4.0\nproprietary\n"
    assert not list(rights_in_page(labels))
    assert list(rights_in_page(labels.replace("CC-BY", "License: CC-BY")))
    assert list(rights_in_page("# License\n\nCC-BY-NC-4.0\n"))


_RECORDS = [{"text": "You must not sell the weights.", "label": 1}, {"name": "CC-BY-NC-SA License", "id": 2}]


@pytest.mark.parametrize(
    ("name", "document", "is_heard"),
    [
        ("a.json", {"images": [], "licenses": _RECORDS}, False),
        ("a.json", {"license": _RECORDS[0]["text"]}, True),
        ("a.json", [{"license": "CC-BY-NC-4.0", "weights": "a"}], True),
        ("a.jsonl", _RECORDS[0], False),
        ("a.jsonl", {"usage": "You must not sell the weights."}, True),
    ],
)
def test_records_of_data_are_no_words_about_the_model(
    tmp_path: Path, name: str, document: object, is_heard: bool
) -> None:
    (tmp_path / name).write_text(json.dumps(document))
    item = {"kind": "settings" if name == "a.json" else "page", "path": name, "copy": str(tmp_path / name)}
    assert any(less for *_, less in inspect_published(item)["rights"]) is is_heard


def test_a_notice_names_a_licence_and_an_output_says_terms(tmp_path: Path) -> None:
    (tmp_path / "NOTICE").write_text("It contains software licensed under the GNU General Public License v3.0.\n")
    ((_, words, less),) = inspect_published({"kind": "page", "path": "NOTICE", "copy": str(tmp_path / "NOTICE")})[
        "rights"
    ]
    assert (families_of(words), less) == ({"gnu"}, False)
    output = {"output_type": "stream", "text": ["You must not sell the weights.\n"]}
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": [{"cell_type": "code", "source": "", "outputs": [output]}]}))
    item = {"kind": "notebook", "path": "n.ipynb", "copy": str(tmp_path / "n.ipynb"), "root": str(tmp_path)}
    assert [less for *_, less in inspect_published(item)["rights"]] == [True]
