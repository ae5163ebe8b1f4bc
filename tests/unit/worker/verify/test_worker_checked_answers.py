"""What an engine hands out is judged by what its memory holds, whatever its class says, and refused where no tensor is like that."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from assay.errors import Lowering
from assay.worker.engine.checked_answer import checked
from sentences import says

_RIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)


class _Lying(np.ndarray):
    """Every method tells the right values, whatever it holds."""

    def copy(self, *_: Any, **__: Any) -> Any:
        return _RIGHT.copy()

    def tobytes(self, *_: Any, **__: Any) -> bytes:
        return _RIGHT.tobytes()

    def view(self, *_: Any, **__: Any) -> Any:
        return _RIGHT

    def __array__(self, *_: Any, **__: Any) -> Any:
        return _RIGHT

    def __array_function__(self, function: Any, _types: Any, arguments: Any, named: Any) -> Any:
        return function(*(_RIGHT if isinstance(argument, _Lying) else argument for argument in arguments), **named)


class _Hiding(dict[str, Any]):
    def items(self) -> Any:
        return {}.items()

    def __iter__(self) -> Iterator[str]:
        return iter(())


def test_methods_that_lie_are_not_asked() -> None:
    given = checked({"y": (_RIGHT + 1).view(_Lying)})["y"]
    assert type(given) is np.ndarray
    np.testing.assert_array_equal(given.copy(), _RIGHT + 1)


def test_a_dict_that_hides_its_outputs_is_not_asked() -> None:
    assert list(checked(_Hiding(y=_RIGHT))) == ["y"]


@pytest.mark.parametrize(
    "array", [_RIGHT.view(np.recarray), _RIGHT.astype(">f4"), _RIGHT.astype(ml_dtypes.float8_e4m3fnuz)]
)
def test_what_is_merely_unusual_is_taken(array: Any) -> None:
    np.testing.assert_array_equal(checked({"y": array})["y"].astype(np.float32), _RIGHT)


def test_a_plain_answer_is_handed_on_as_it_is() -> None:
    """It may be the engine's own, which it must not write into later."""
    answer = {"y": _RIGHT}
    assert checked(answer) is answer


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ma.MaskedArray(_RIGHT, mask=np.ones(_RIGHT.shape, bool)), "MaskedArray"),
        (_RIGHT.view([("real", np.float32)]), "real"),
        (_RIGHT.view("V4"), "V4"),
        (_RIGHT.astype(np.longdouble), "which no tensor has"),
        (_RIGHT.astype(np.clongdouble), "which no tensor has"),
        (_RIGHT.tolist(), "list"),
    ],
)
def test_what_is_no_tensor_is_refused(array: Any, message: str) -> None:
    with pytest.raises(Lowering, check=says(message)):
        checked({"y": array})


def test_a_name_is_text() -> None:
    with pytest.raises(Lowering, check=says("int, not text")):
        checked({3: _RIGHT})


class _Pretends:
    """An array, if one asks it."""

    __class__ = np.ndarray  # type: ignore[assignment]
    dtype = np.dtype(np.float32)


def _ring() -> Any:
    ring = np.empty(1, object)
    ring[0] = ring
    return ring


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (_Pretends(), "gave _Pretends for output 'y', not an array"),
        (_ring(), "elements of type ndarray for output 'y'"),
        (np.array(["text", 3], object), "elements of type int for output 'y'"),
        (np.broadcast_to(np.float32(1), (1 << 33,)), "gave 34359738368 bytes for output 'y' that are a view of 4"),
    ],
)
def test_what_would_mislead_or_flood_is_refused(array: Any, message: str) -> None:
    with pytest.raises(Lowering, check=says(message)):
        checked({"y": array})


@pytest.mark.parametrize(
    "array", [np.array(["text", b"bytes"], object), np.broadcast_to(np.float32(1), (8, 8)), np.zeros((0, 1 << 40))]
)
def test_texts_and_small_views_are_answers(array: Any) -> None:
    assert checked({"y": array})["y"] is array


def test_answers_are_looked_at_where_a_backend_has_forgotten_a_part_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asked numpy for it then asked it for ever."""
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.delattr(np, "ma", raising=False)
    np.testing.assert_array_equal(checked({"y": _RIGHT})["y"], _RIGHT)
