"""What people and programs read of the robot: the queue, and each submission in the words of its comment, both also as JSON."""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from assay.errors import StoreError
from assay.web.responses import BARE_POLICY, data, respond
from assay_zoo.robot import report
from assay_zoo.robot.queries import Queries
from assay_zoo.robot.queue_records import Counts, State, Submission, Whole
from assay_zoo.robot.redact import Hides, redact
from assay_zoo.robot.sanitize import markdown, sanitize

_LOG = logging.getLogger("assay.robot.pages")
AWAY = (
    "The robot's database does not answer just now. Nothing is lost: what was handed in is looked at when it is back."
)
SHOWN_MOST = 200
"""Of those that wait or run; a longer queue says how many there are."""
PAGE = 40
"""Submissions that are closed, on one page."""
LARGEST_ID = 2**31 - 1
"""What the column of the database holds: a larger number is nobody's."""
_POLICY = f"{BARE_POLICY}; style-src 'self'"
_STYLE = (
    "body{max-width:75em;margin:1em auto;padding:0 1em;font:16px sans-serif}"
    "td,th{border:1px solid #ccc;padding:.3em .6em;text-align:left;vertical-align:top}table{border-collapse:collapse}"
)
_AGAIN = '<meta http-equiv="refresh" content="10">'


class QueueView(msgspec.Struct, frozen=True, kw_only=True):
    """`waiting` with the next one first; `closed` are decided, superseded or withdrawn, the newest first; `older` is the
    id before which the next page begins, 0 for no more."""

    counts: Counts
    running: tuple[Submission, ...]
    waiting: tuple[Submission, ...]
    closed: tuple[Submission, ...]
    older: int


def page_routes(
    reading: Queries, title: Callable[[], str] = lambda: "Model zoo", hides: Hides = str
) -> list[BaseRoute]:
    """Routes for an application: GET only, no cookie, no state. Sync functions: Starlette runs them in its threads, so
    that a slow database holds up no other answer. `title` names the zoo on every page; what is shown has gone through `hides`."""
    pages = _Pages(reading, title, hides)
    answers = {
        "/": pages.queue,
        "/queue.json": pages.queue_json,
        "/submissions/{identity}.json": pages.submission_json,
        "/submissions/{identity}": pages.submission,
        "/style.css": lambda _: respond(_STYLE, "text/css", BARE_POLICY),
    }
    return [Route(address, pages.or_away(answer)) for address, answer in answers.items()]


class _Pages:
    def __init__(self, reading: Queries, title: Callable[[], str], hides: Hides) -> None:
        self._reading, self._title, self._hides = reading, title, hides

    def or_away(self, answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
        """The same, and a sentence while the database does not answer: its address is the operators', in the log."""

        def answered(request: Request) -> Response:
            try:
                return answer(request)
            except StoreError as error:
                _LOG.error("%s", error)
            is_data = request.url.path.endswith(".json")
            return data({"error": AWAY}, 503) if is_data else self._page("Not now", AWAY, code=503)

        return answered

    def queue(self, request: Request) -> Response:
        before = _number(request.query_params.get("before", ""))
        return self._page("Queue", "\n".join(_queue_lines(self._queue(before))), again=not before)

    def queue_json(self, request: Request) -> Response:
        return data(self._queue(_number(request.query_params.get("before", ""))))

    def submission(self, request: Request) -> Response:
        whole = self._whole(request)
        if whole is None:
            return self._page("Not found", "There is no such submission.", code=404)
        is_open = whole.submission.state in (State.QUEUED, State.RUNNING)
        return self._page(whole.submission.name, "\n".join(_submission_lines(whole)), again=is_open)

    def submission_json(self, request: Request) -> Response:
        whole = self._whole(request)
        return data(whole) if whole else data({"error": "there is no such submission"}, 404)

    def _whole(self, request: Request) -> Whole | None:
        identity = _number(str(request.path_params["identity"]))
        whole = self._reading.whole(identity) if identity else None
        return redact(whole, self._hides) if whole else None

    def _queue(self, before: int) -> QueueView:
        return redact(queue_view(self._reading, before), self._hides)

    def _page(self, heading: str, text: str, *, again: bool = False, code: int = 200) -> Response:
        """A browser is told to run and load nothing but our own style; words of others are escaped in `text`."""
        top = f'<!doctype html><html lang="en"><meta charset="utf-8">{_AGAIN if again else ""}<link rel="stylesheet" href="/style.css">'
        title = html.escape(sanitize(f"{heading} · {self._title()}"))
        return respond(f"{top}<title>{title}</title>\n{_shown(text)}</html>", "text/html", _POLICY, code)


def queue_view(reading: Queries, before: int = 0) -> QueueView:
    """The queue as it is now. One more than fits is asked for, to know whether there is another page."""
    states = (State.DECIDED, State.SUPERSEDED, State.WITHDRAWN)
    closed = [each for state in states for each in reading.submissions(state=state, limit=PAGE + 1, before=before)]
    newest = sorted(closed, key=lambda submission: submission.id, reverse=True)
    return QueueView(
        counts=reading.counts(),
        running=tuple(reading.submissions(state=State.RUNNING, limit=SHOWN_MOST)),
        waiting=tuple(reversed(reading.submissions(state=State.QUEUED, limit=SHOWN_MOST))),
        closed=tuple(newest[:PAGE]),
        older=newest[PAGE - 1].id if len(newest) > PAGE else 0,
    )


def _queue_lines(view: QueueView) -> Iterator[str]:
    running, waiting = view.counts.running, view.counts.queued
    for heading, submissions in (
        (f"## {running} running", view.running),
        (f"## {waiting} waiting", view.waiting),
        ("## Closed", view.closed),
    ):
        yield heading
        yield from ("", *_rows(submissions), "")
    if view.older:
        yield f"[older](/?before={view.older})"


def _rows(submissions: Sequence[Submission]) -> Iterator[str]:
    if submissions:
        yield from ("| model | commit | of | stands | since |", "|---|---|---|---|---|")
    for each in submissions:
        who = markdown(f"{each.branch} {each.author}", 200)
        at = _moment(each.decided_at or each.started_at or each.queued_at)
        yield f"| [{markdown(each.name)}](/submissions/{each.id}) | {each.sha[:12]} | {who} | {_standing(each)} | {at} |"


def _standing(submission: Submission) -> str:
    if submission.promoted:
        return "in the zoo"
    if submission.trouble:
        return "accepted, but not promoted"
    return submission.answer if submission.state is State.DECIDED and submission.answer else submission.state.value


def _submission_lines(whole: Whole) -> Iterator[str]:
    """The comment with all its findings, the decisions of earlier rounds and the log."""
    yield report.page(whole)
    earlier = whole.decisions if whole.decision is None else whole.decisions[1:]
    yield from ("", "### Earlier rounds" if earlier else "", "")
    yield from (f"- {_moment(each.at)}: {each.answer}, {markdown('; '.join(each.reasons))}" for each in earlier)
    yield from ("", "### Log", "")
    yield from (f"- {_moment(line.at)} {markdown(line.text)}" for line in whole.log)
    yield from ("", "[queue](/)")


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at else ""


def _shown(text: str) -> str:
    return str(_markdown().render(text))


@cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _number(text: str) -> int:
    """A number of a query, 0 for what is none."""
    return int(text) if re.fullmatch(r"[0-9]{1,10}", text) and int(text) <= LARGEST_ID else 0
