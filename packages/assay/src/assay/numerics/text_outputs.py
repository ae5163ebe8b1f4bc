"""Outputs of text: equal or not, element by element; a real number may be spelled in several ways (ONNX Cast-21 fixes none)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Context, Decimal
from typing import Any

import numpy as np

from assay.ports import Tensor

_DIGITS = 8
"""A float32 may be written with so many: the rest of its digits in double is what its binary fraction happens to be."""
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_REAL = re.compile(r"[.eE]")


def differences(actual: Sequence[Tensor], expected: Sequence[Tensor]) -> list[tuple[int, str, str]]:
    """(position in the stream, expected, actual) of every element that differs. Bytes are read as UTF-8. "1", "1.0" and "1e+00" are one
    number; "1" and "01" are two texts."""
    texts: list[tuple[int, str, str]] = []
    start = 0
    for left, right in zip(actual, expected, strict=True):
        for at, (element, other) in enumerate(zip(left.reshape(-1).tolist(), right.reshape(-1).tolist(), strict=True)):
            if _plain(element) != _plain(other) and not _same_number(_plain(element), _plain(other)):
                texts.append((start + at, _plain(other), _plain(element)))
        start += left.size
    return texts


def _same_number(first: str, other: str) -> bool:
    """Whether both spell a number, at least one of them a real one, and it is the same to the digits of the shorter: zeros at its end are
    not written."""
    if not (_NUMBER.fullmatch(first) and _NUMBER.fullmatch(other) and (_REAL.search(first) or _REAL.search(other))):
        return False
    left, right = Decimal(first), Decimal(other)
    digits = max(_DIGITS, min(len(each.as_tuple().digits) for each in (left, right)))
    return left == right or _rounded(left, digits) == _rounded(right, digits)


def _rounded(number: Decimal, digits: int) -> Decimal:
    return Context(prec=digits).plus(number)


def _plain(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes | np.bytes_) else str(value)
