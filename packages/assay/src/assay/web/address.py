"""Addresses of pages: what is asked for stands in the query, so that a link says everything and lasts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote_plus

_quoted = lru_cache(4096)(quote_plus)
"""A page of the matrix has four hundred links, and few names."""


def address(path: str, /, **asked: object) -> str:
    """`/result?case=digits&flow=openvino`; empty values are left out."""
    given = [
        f"{_quoted(name.rstrip('_'))}={_quoted(str(value))}" for name, value in asked.items() if value not in ("", None)
    ]
    return f"{path}?{'&'.join(given)}" if given else path


def changed(path: str, query: Mapping[str, str], /, **other: object) -> str:
    """The same address with other values in its query."""
    return address(path, **{**query, **other})
