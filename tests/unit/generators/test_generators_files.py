"""A case that was written is the case that is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.core.screening import Use
from assay.generators.files import keep_case, read_case, write_anew
from assay.ports.generator import GeneratedCase


def test_a_case_comes_back(tmp_path: Path) -> None:
    """Inputs may have any name, also those of what writes arrays: `numpy.savez` takes `file` and `allow_pickle` for itself, and numpy 1
    takes the second for an array."""
    fed = {"file": np.float32([1, 2]), "allow_pickle": np.array(3), "a/b": np.zeros((0, 2), bool)}
    other = {name: array[:0] if array.ndim else array for name, array in fed.items()}
    case = GeneratedCase(b"model", fed, (other,), (Use.RELOADED,))
    keep_case(case, tmp_path, "one")
    found = read_case(tmp_path / "one")
    assert (found.model, found.uses) == (b"model", (Use.RELOADED,))
    for kept, given in ((found.inputs, fed), *zip(found.others, (other,), strict=True)):
        assert [*kept] == [*given]
        for name, array in given.items():
            assert (kept[name].dtype, kept[name].shape) == (array.dtype, array.shape)
            np.testing.assert_array_equal(kept[name], array)


def test_objects_are_not_written(tmp_path: Path) -> None:
    """They would be read by pickle."""
    with pytest.raises(ValueError, match="allow_pickle"):
        keep_case(GeneratedCase(b"", {"x": np.array([object()])}), tmp_path, "one")


def test_who_has_the_last_model_open_keeps_it(tmp_path: Path) -> None:
    """An engine may have it mapped; and a file that is cut and filled again goes to the disk at once."""
    place = tmp_path / "case.onnx"
    write_anew(place, b"first")
    with place.open("rb") as last:
        write_anew(place, b"second")
        assert (last.read(), place.read_bytes()) == (b"first", b"second")


def test_a_case_whose_writing_was_interrupted_has_no_model(tmp_path: Path) -> None:
    """A session that was killed there takes it for one that is not kept yet."""
    with pytest.raises(ValueError, match="Object arrays"):
        keep_case(GeneratedCase(b"", {"x": np.array([None])}), tmp_path, "case")
    assert not (tmp_path / "case.onnx").exists()
