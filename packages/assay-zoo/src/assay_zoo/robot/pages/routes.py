"""The addresses of the pages. Each has a twin for a machine at the same address with `.json` behind it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from assay.errors import StoreError
from assay.web.responses import data, respond
from assay_zoo.robot.pages import badge, render
from assay_zoo.robot.pages.views import PAGE, QueueView, groups, newest_decision, queue_view
from assay_zoo.robot.queries import Queries
from assay_zoo.robot.queue_records import Submission, Whole
from assay_zoo.robot.redact import Hides, redact

_LOG = logging.getLogger("assay.robot.pages")
AWAY = (
    "The robot's database does not answer just now. Nothing is lost: what was handed in is looked at when it is back."
)
Serves = Callable[[str, str], bool]
"""(name of a model, digest of a submission, "" for whatever it is): whether the zoo serves it now."""
LARGEST_ID = 2**31 - 1
"""What the column of the database holds: a larger number is nobody's."""


def page_routes(
    reading: Queries,
    title: Callable[[], str] = lambda: "Model zoo",
    hides: Hides = str,
    serves: Serves = lambda name, digest: True,
) -> list[BaseRoute]:
    """Routes for an application: GET only, no cookie, no state. Sync functions: Starlette runs them in its threads, so
    that a slow database holds up no other answer. `title` names the zoo on every page; what is shown has
    gone through `hides`; `serves` tells what the zoo has now."""
    pages = _Pages(reading, title, hides, serves)
    answers = {
        "/": pages.queue,
        "/queue.json": pages.queue_json,
        "/submissions/{identity}.json": pages.submission_json,
        "/submissions/{identity}": pages.submission,
        "/badge/{name:path}.svg": pages.badge_svg,
        "/badge/{name:path}.json": pages.badge_json,
    }
    return [
        *(Route(address, pages.or_away(answer)) for address, answer in answers.items()),
        Mount("/static", StaticFiles(directory=render.STATIC), name="static"),
    ]


class _Pages:
    def __init__(self, reading: Queries, title: Callable[[], str], hides: Hides, serves: Serves) -> None:
        self._reading, self._title, self._hides, self._serves = reading, title, hides, serves

    def or_away(self, answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
        """The same, and a sentence while the database does not answer: its address is the operators', in the log."""

        def answered(request: Request) -> Response:
            try:
                return answer(request)
            except StoreError as error:
                _LOG.error("%s", error)
            if request.url.path.endswith(".json"):
                return data({"error": AWAY}, 503)
            return self._without("Not now", AWAY, 503)

        return answered

    def queue(self, request: Request) -> Response:
        before = _number(request.query_params.get("before", ""))
        return self._page("queue.html.j2", view=self._queue(before), before=before, page=PAGE)

    def queue_json(self, request: Request) -> Response:
        return data(self._queue(_number(request.query_params.get("before", ""))))

    def submission(self, request: Request) -> Response:
        whole = self._whole(request)
        if whole is None:
            return self._missing("There is no such submission.")
        return self._page("submission.html.j2", **_page_values(whole))

    def submission_json(self, request: Request) -> Response:
        whole = self._whole(request)
        return data(whole) if whole else _no_data("there is no such submission")

    def badge_svg(self, request: Request) -> Response:
        shown = self._badge(request)
        return respond(badge.as_svg(shown), "image/svg+xml", code=200 if shown else 404)

    def badge_json(self, request: Request) -> Response:
        shown = self._badge(request)
        return data(badge.as_json(shown), 200 if shown else 404)

    def _badge(self, request: Request) -> Submission | None:
        """What is served, where the zoo has the model: what somebody submits now does not change that, and a version that was
        rolled back is promoted no more."""
        name, submissions = self._model(request)
        promoted = [submission for submission in submissions if submission.promoted]
        for submission in promoted:
            if self._serves(name, self._reading.promoted_digest(submission.id)):
                return submission
        if promoted and not self._serves(name, ""):
            return msgspec.structs.replace(promoted[0], promoted="", answer="rolled back")
        return promoted[0] if promoted else submissions[0] if submissions else None

    def _model(self, request: Request) -> tuple[str, list[Submission]]:
        name = str(request.path_params["name"])
        submissions = self._reading.submissions(name=name) if "\x00" not in name else []
        return name, [redact(submission, self._hides) for submission in submissions]

    def _whole(self, request: Request) -> Whole | None:
        identity = _number(str(request.path_params["identity"]))
        whole = self._reading.whole(identity) if identity else None
        return redact(whole, self._hides) if whole else None

    def _queue(self, before: int) -> QueueView:
        return redact(queue_view(self._reading, before), self._hides)

    def _page(self, template: str, **values: object) -> Response:
        return render.page(template, {"title": self._title(), **values})

    def _missing(self, sentence: str) -> Response:
        return self._without("Not found", sentence, 404)

    def _without(self, heading: str, sentence: str, status: int) -> Response:
        return render.page(
            "missing.html.j2", {"title": self._title(), "heading": heading, "sentence": sentence}, status
        )


def _page_values(whole: Whole) -> dict[str, object]:
    decided = newest_decision(whole)
    return {
        "submission": whole.submission,
        "decided": decided,
        "stands": whole.decision is not None,
        "earlier": whole.decisions[1:],
        "groups": groups(decided.checks) if decided else [],
        "lines": whole.log,
    }


def _no_data(sentence: str) -> Response:
    return data({"error": sentence}, 404)


def _number(text: str) -> int:
    """A number of a query, 0 for what is none."""
    return int(text) if re.fullmatch(r"[0-9]{1,10}", text) and int(text) <= LARGEST_ID else 0
