"""An answer that is none of its protocol is one sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from assay.core.note import noted
from assay.core.refusals.endpoint_codes import EndpointCode
from assay.errors import AssayError, EndpointBroke


def json_value(content: bytes) -> Any:
    """Raises ValueError for what is none, or is nested too deeply."""
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError(str(error)) from None


class UnreadableAnswer(AssayError):
    """An answer of the right form that makes no sense: what `readable` looks for, too."""


@contextmanager
def readable(address: str, protocol: str) -> Iterator[None]:
    """Raises EndpointBroke for an UnreadableAnswer, and a ValidationError: lists for tables, numbers out of their range."""
    try:
        yield
    except (msgspec.ValidationError, UnreadableAnswer) as error:
        reason = error.reason if isinstance(error, UnreadableAnswer) else str(error)
        raise EndpointBroke(
            noted(EndpointCode.ANSWER_UNREADABLE, address=address, error=reason, protocol=protocol)
        ) from None
