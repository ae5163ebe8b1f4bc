"""An answer that is none of its protocol is one sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from assay.errors import EndpointBroke


def json_value(content: bytes) -> Any:
    """Raises ValueError for what is none, or is nested too deeply."""
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None


@contextmanager
def readable(address: str, protocol: str) -> Iterator[None]:
    """Raises EndpointBroke for a ValidationError: lists for tables, texts for numbers, numbers out of their range."""
    try:
        yield
    except msgspec.ValidationError as error:
        raise EndpointBroke(
            f"{address} gave an answer that cannot be read ({error}): is it {protocol} that it speaks?"
        ) from None
