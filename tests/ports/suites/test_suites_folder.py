"""A folder of a third party's models: what breaks, hangs or swells while it is read is named, and costs no other model."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from assay.core.limits import Limits
from assay.errors import UsageError
from assay.suites.folder import Folder

NESTED = "[" * 100_000
LARGE_BYTES = 8 << 30
"""Of a file without content: it takes no room on a disk."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))


def _model(folder: Path) -> Path:
    """Relu, and a data set without files yet."""
    sides = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], folder.name, [sides[0]], [sides[1]])
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "model.onnx"
    )
    return data


def _whys(suite: Folder) -> dict[str, str]:
    return {case.name: why for case, why in suite.make(list(suite.cases(seed=0)), workers=1)}


def _complete(data: Path) -> None:
    for side in ("input", "output"):
        (data / f"{side}_0.pb").write_bytes(onnx.numpy_helper.from_array(np.ones(2, np.float32)).SerializeToString())


def _written(cache: Path, models: str) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in cache.rglob("golden.lock") if path.parent.name in models}


def test_what_breaks_its_reader_is_named_read_again_and_costs_no_other(tmp_path: Path) -> None:
    root = tmp_path / "zoo"
    _complete(_model(root / "a"))
    broken = _model(root / "b")
    _complete(broken)
    (root / "b" / "data.json").write_text(NESTED)
    large = _model(root / "c")
    _complete(large)
    with (large / "input_0.pb").open("wb") as file:
        file.truncate(LARGE_BYTES)
    _complete(_model(root / "d"))

    suite = Folder(root, Limits(memory_bytes=2 << 30))
    reason_of = _whys(suite)
    assert list(reason_of) == ["zoo/a", "zoo/b", "zoo/c", "zoo/d"]
    assert (reason_of["zoo/a"], reason_of["zoo/d"]) == ("", "")
    assert reason_of["zoo/b"].startswith(f"{root / 'b' / 'model.onnx'} and its data cannot be read: RecursionError")
    assert reason_of["zoo/c"].endswith("cannot be read: it needs more memory than the limit of 2147 MB")

    kept = _written(tmp_path / "cache", "ad")
    assert len(kept) == 2
    assert _whys(suite) == reason_of
    assert _written(tmp_path / "cache", "ad") == kept


def test_a_file_that_never_ends_is_stopped(tmp_path: Path) -> None:
    data = _model(tmp_path / "zoo" / "pipe")
    os.mkfifo(data / "input_0.pb")
    (reason,) = _whys(Folder(tmp_path / "zoo", Limits(timeout_s=1.0))).values()
    assert reason.endswith("cannot be read: it took more than 1 s")


def test_two_models_that_would_be_one_case_are_refused(tmp_path: Path) -> None:
    for name in ("a|b", "a_b"):
        _model(tmp_path / "zoo" / name)
    with pytest.raises(UsageError, match="would be one case, 'a_b'; rename one of them"):
        list(Folder(tmp_path / "zoo").cases(seed=0))
