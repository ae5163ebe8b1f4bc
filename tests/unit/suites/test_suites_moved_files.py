"""Files of a model are listed where they lie, wherever they were made."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.case import Case, Inputs
from assay.core.model import Model
from assay.suites.build_cases import _placed
from assay.suites.cache import read_index, write_index


def test_what_was_made_elsewhere_is_listed_in_its_own_folder() -> None:
    made = Model("m", "/made/model.pt2", "a graph", format="torch", files={"/made/model.pt2": "12"})
    assert _placed(made, "/kept").files == {"/kept/model.pt2": "12"}


@pytest.mark.parametrize("name", ["a", "b"])
def test_an_index_that_is_moved_lists_what_lies_beside_it(name: str, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / name
    first.mkdir()
    files = {f"{first}/model.onnx": "12", f"{first}/model.data": "34"}
    write_index(
        first / "index.msgpack", [Case("s/m", Model("m", f"{first}/model.onnx", "a list", files=files), Inputs())]
    )
    if first != second:
        first.rename(second)
    (case,) = read_index(second / "index.msgpack") or ()
    assert case.model.source == f"{second}/model.onnx"
    assert case.model.files == {f"{second}/model.onnx": "12", f"{second}/model.data": "34"}
