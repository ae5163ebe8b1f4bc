"""A script or a list of requirements is looked at as Python and pip read it."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from assay_zoo.artifacts.inspect_source import inspect_source
from assay_zoo.artifacts.published import inspect_published

UTF_7 = "# -*- coding: utf-7 -*-\n"
OTHERS = [
    (f"{UTF_7}numpy # +AAo-evil-package".encode(), "utf-7"),
    (f"# ours\n{UTF_7}".encode(), "utf-7"),
    (f" \t{UTF_7}".encode(), "utf-7"),
    (b"# vim: set fileencoding=latin-1 :\n", "latin-1"),
    (b"#\rcoding:\r\rutf-7\n", "utf-7"),
    (codecs.BOM_UTF8 + UTF_7.encode(), "utf-7"),
    ("numpy\n".encode("utf-16"), "utf-16"),
    (codecs.BOM_UTF16_BE + "numpy\n".encode("utf-16-be"), "utf-16"),
    ("numpy\n".encode("utf-32"), "utf-32"),
]
SAME = [
    b"# numpy\n",
    b"# -*- coding: utf-8 -*-\n",
    b"#!/usr/bin/env python3\n# vim: set fileencoding=UTF_8 :\n",
    b"# coding=us-ascii\n",
    codecs.BOM_UTF8 + b"# coding: utf8\n",
    b"# one\n# two\n" + UTF_7.encode(),
    "# größe\n".encode(),
]


def _troubles(tmp_path: Path, name: str, data: bytes) -> list[str]:
    (tmp_path / name).write_bytes(data)
    item = {"copy": str(tmp_path / name), "path": name, "packages": ["numpy"]}
    if name.endswith(".py"):
        source = inspect_source({"kind": "source", **item})
        return [trouble["sentence"].removeprefix("a.py ") for trouble in source["troubles"]]
    return [sentence for _, sentence in inspect_published({"kind": "requirements", **item})["requirements"]]


@pytest.mark.parametrize("name", ["a.py", "requirements.txt", "constraints.txt"])
@pytest.mark.parametrize(("data", "encoding"), OTHERS)
def test_another_encoding_is_refused(tmp_path: Path, name: str, data: bytes, encoding: str) -> None:
    troubles = _troubles(tmp_path, name, data)
    assert troubles[:1] == [f"says that it is written in {encoding!r}: write it in UTF-8, as it is looked at"]


@pytest.mark.parametrize("name", ["a.py", "requirements.txt"])
@pytest.mark.parametrize("data", SAME)
def test_utf_8_and_ascii_are_read(tmp_path: Path, name: str, data: bytes) -> None:
    assert _troubles(tmp_path, name, data) == []


def test_what_a_mark_stands_before_is_read(tmp_path: Path) -> None:
    """Python takes the mark of UTF-8 off, and runs the rest."""
    (tmp_path / "a.py").write_bytes(codecs.BOM_UTF8 + b"import socket\n")
    inspection = inspect_source({"kind": "source", "copy": str(tmp_path / "a.py"), "path": "a.py"})
    assert ["socket" in reached["sentence"] for reached in inspection["reaches"]] == [True]
    assert _troubles(tmp_path, "requirements.txt", codecs.BOM_UTF8 + b"numpy\n") == []
