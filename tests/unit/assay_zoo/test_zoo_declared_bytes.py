"""The length that a request says its body has."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from assay_zoo.robot.app import declared_bytes


@pytest.mark.parametrize(
    ("declared", "length"), [("7", 7), ("", None), ("\u00b2", None), ("-1", None), ("1_0", None), ("9" * 5000, None)]
)
def test_a_length_that_is_no_number_is_none(declared: str, length: int | None) -> None:
    headers = [(b"content-length", declared.encode("latin-1"))]
    assert declared_bytes(Request({"type": "http", "headers": headers})) == length
