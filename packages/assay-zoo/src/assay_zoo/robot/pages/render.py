"""Templates to answers: everything is escaped, and the browser is told to run and load nothing but our own style and picture."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from starlette.responses import Response

from assay.web.responses import environment_of, respond
from assay_zoo.robot.pages.format import FILTERS

HERE = Path(__file__).parent
STATIC = HERE / "static"
PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page(template: str, values: Mapping[str, object], status: int = 200) -> Response:
    """A page of the robot."""
    made = environment_of(HERE / "templates")
    made.filters.update(FILTERS)
    text = made.get_template(template).render({"now": time.time(), **values})
    return respond(text, "text/html", PAGE_POLICY, status)
