"""Addresses of pages: what is asked for stands in the query, so that a link says everything and lasts."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode


def address(path: str, /, **asked: object) -> str:
    """`/result?case=digits&flow=openvino`; empty values are left out."""
    given = [(name.rstrip("_"), str(value)) for name, value in asked.items() if value not in ("", None)]
    return f"{path}?{urlencode(given)}" if given else path


def changed(path: str, query: Mapping[str, str], /, **other: object) -> str:
    """The same address with other values in its query."""
    return address(path, **{**query, **other})
