"""A pickle is known by its opcodes, and nothing else is taken for one."""

from __future__ import annotations

import io
import json
import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_zoo.files.pickles import array_of_objects, is_pickle


class Dangerous:
    def __reduce__(self) -> tuple[object, ...]:
        return (os.getcwd, ())


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_one_that_imports_is_known_in_every_protocol(protocol: int) -> None:
    assert is_pickle(pickle.dumps(Dangerous(), protocol))
    assert is_pickle(pickle.dumps([1, Dangerous()], protocol) + b"and what follows")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_plain_data_with_the_mark_of_a_protocol_are_one_too(protocol: int) -> None:
    data = pickle.dumps({"weights": [1.0, 2.0]}, protocol)
    assert is_pickle(data)
    assert is_pickle(data[:-3])


@pytest.mark.parametrize(
    "data", [b"", b".", b"(", b"import os\n", b"cos\n", b"[1, 2]", b"{}", b"\x80", b"\x80\x04", b"(see below).\n"]
)
def test_text_and_what_is_cut_off_are_none(data: bytes) -> None:
    assert not is_pickle(data)


@given(st.recursive(st.none() | st.text() | st.integers(), st.lists) | st.dictionaries(st.text(), st.text()))
def test_json_is_none(value: object) -> None:
    assert not is_pickle(json.dumps(value).encode())


@given(st.text())
def test_words_are_none(text: str) -> None:
    assert not is_pickle(f"# {text}".encode())


def test_an_array_of_objects_is_told_from_one_of_numbers() -> None:
    for array, objects in ((np.zeros(3), False), (np.array([{}], dtype=object), True)):
        file = io.BytesIO()
        np.save(file, array, allow_pickle=True)
        assert array_of_objects(file.getvalue()) is objects
