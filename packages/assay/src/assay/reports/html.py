"""One self-contained HTML file: no network, a content security policy by hash, untrusted names only ever as text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.reports.html_detail import detail
from assay.reports.html_head import head
from assay.reports.html_index import index
from assay.reports.rows import rows

if TYPE_CHECKING:
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = ("elements.js", "plots.js", "detail.js", "table.js", "page.js")
ROWS_PER_BLOCK = 50
"""Details are compressed in blocks of that many rows; the page inflates one block when one of its rows is opened."""


_COPIED = re.compile("`([^`]+)`")


class Html:
    """The head is plain HTML and readable without a script; table and details are drawn from embedded JSON."""

    name = "html"
    suffix = ".html"

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:
        """The whole page. What is embedded is inert: `<` never appears inside the data."""
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        table_rows = rows(run, results, judgement)
        script = "".join((TEMPLATES / name).read_text("utf-8") for name in SCRIPTS)
        script = f'(() => {{\n"use strict";\n{script}}})();\n'
        style = (TEMPLATES / "report.css").read_text("utf-8")
        pages = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        pages.filters["prose"] = prose
        return pages.get_template("report.html.j2").render(
            **head(run, results, judgement, table_rows),
            script=script,
            style=style,
            script_hash=_hash(script),
            style_hash=_hash(style),
            index=embedded(index(table_rows, ROWS_PER_BLOCK)),
            details="\n".join(blocks([detail(run, row) for row in table_rows])),
        )


def prose(text: object) -> Markup:
    """What stands in backticks is to be copied: it is set as code. All of it is escaped."""
    from markupsafe import Markup, escape

    return Markup(_COPIED.sub(r"<code>\1</code>", str(escape(text))))


def embedded(value: object) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def blocks(details: Sequence[object]) -> Iterable[str]:
    """A line of base64 for each block: zlib over a JSON array."""
    for start in range(0, len(details), ROWS_PER_BLOCK):
        block = json.dumps(details[start : start + ROWS_PER_BLOCK], separators=(",", ":"), allow_nan=False)
        yield base64.b64encode(zlib.compress(block.encode("utf-8"), 6)).decode("ascii")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
