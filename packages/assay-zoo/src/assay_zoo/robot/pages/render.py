"""Templates to answers: everything is escaped, and the browser is told to run and load nothing but our own style and picture."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from assay_zoo.robot.pages.format import FILTERS

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent
STATIC = HERE / "static"
_COMMON = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_ALWAYS = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
PAGE_POLICY = f"default-src 'none'; style-src 'self'; img-src 'self'; {_ALWAYS}"
BARE_POLICY = f"default-src 'none'; {_ALWAYS}"
"""For what is no page: a picture or data, should somebody open it as one."""


@cache
def environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters.update(FILTERS)
    return made


def page(template: str, values: Mapping[str, object], status: int = 200) -> Response:
    """A page of the robot."""
    text = environment().get_template(template).render({"now": time.time(), **values})
    return _answer(text, "text/html", PAGE_POLICY, status)


def data(value: object, status: int = 200) -> Response:
    """The same as JSON."""
    return _answer(msgspec.json.encode(value), "application/json", BARE_POLICY, status)


def picture(svg: str, status: int = 200) -> Response:
    return _answer(svg, "image/svg+xml", BARE_POLICY, status)


def _answer(content: str | bytes, media_type: str, policy: str, status: int = 200) -> Response:
    headers = {**_COMMON, "Content-Security-Policy": policy}
    return Response(content, status_code=status, media_type=media_type, headers=headers)
