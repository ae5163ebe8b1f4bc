"""An answer that is none of its protocol is one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from assay.errors import EndpointBroke


@contextmanager
def readable(address: str, protocol: str) -> Iterator[None]:
    """Raises EndpointBroke for a ValidationError: lists for tables, texts for numbers, numbers out of their range."""
    try:
        yield
    except msgspec.ValidationError as error:
        raise EndpointBroke(
            f"{address} gave an answer that cannot be read ({error}): is it {protocol} that it speaks?"
        ) from None
