"""Licences by a name of their own, columns of licences, and sentences that keep nothing to some."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_zoo.artifacts.published import inspect_published
from assay_zoo.artifacts.rights.restricted_use import rights_in_page


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("This model is licensed under the Llama 3 Community License.", "Llama 3 Community License"),
        ("Use of the weights is subject to the Acme Model Agreement.", "Acme Model Agreement"),
        ("The weights are released under OpenRAIL-M.", "OpenRAIL"),
    ],
)
def test_a_licence_of_ones_own_name_asks(text: str, name: str) -> None:
    assert (3, name, True) in list(rights_in_page(f"# Model\n\n{text}\n"))


def test_a_column_of_licences(tmp_path: Path) -> None:
    def rights(text: str) -> list[list[object]]:
        (tmp_path / "a.csv").write_text(text)
        return inspect_published({"kind": "table", "copy": str(tmp_path / "a.csv"), "path": "a.csv"})["rights"]

    assert any(less for *_, less in rights("file,licence\nmodel.onnx,CC-BY-NC-4.0\n"))
    assert list(rights("id,class\n1,commercial\n2,non-commercial\n")) == []
