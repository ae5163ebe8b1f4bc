"""Answers to responses: a page, JSON or CSV. Everything is escaped, and a browser may load and run nothing but our own files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from assay.reports.sanitize import one_line
from assay.web.answer import Answer
from assay.web.format import FILTERS, GLOBALS

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent
STATIC = HERE / "static"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_ALWAYS = "base-uri 'none'; frame-ancestors 'none'"
PAGE_POLICY = f"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; {_ALWAYS}"
BARE_POLICY = f"default-src 'none'; form-action 'none'; {_ALWAYS}"
"""For what is no page: a picture or data, should somebody open it as one."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet runs a text that begins so."""


@cache
def environment_of(templates: Path) -> Environment:
    """Of a folder of templates, without filters of its own."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(templates), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip


@cache
def environment() -> Environment:
    made = environment_of(HERE / "templates")
    made.filters.update(FILTERS)
    made.globals.update(GLOBALS)
    return made


def page(template: str, values: Mapping[str, Any], code: int = 200) -> Response:
    made = respond(environment().get_template(template).render(values), "text/html", PAGE_POLICY, code)
    made.headers["Cache-Control"] = "private, no-cache"  # it may show who is signed in
    return made


def data(value: object, code: int = 200) -> Response:
    return respond(msgspec.json.encode(value), "application/json", BARE_POLICY, code)


def table(answer: Answer, name: str) -> Response:
    """As CSV, to be saved."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\r\n")
    lines.writerow(answer.header)
    lines.writerows([[_inert(value) for value in row] for row in answer.rows])
    made = respond(written.getvalue(), "text/csv", BARE_POLICY)
    made.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return made


def respond(content: str | bytes, media_type: str, policy: str = BARE_POLICY, code: int = 200) -> Response:
    headers = {**HEADERS, "Content-Security-Policy": policy}
    return Response(content, status_code=code, media_type=media_type, headers=headers)


def _inert(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = one_line(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def pairs_of(names: Sequence[str], values: Sequence[object]) -> dict[str, object]:
    """A row as an object."""
    return dict(zip(names, values, strict=True))
