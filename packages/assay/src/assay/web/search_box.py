"""One box: a commit, a model by name or digest, a code (outcome, cause, finding, warning), a case or operator, a text of an error."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from assay.errors import UsageError
from assay.ports import RunSearch, RunSummary
from assay.ports.browsing import CellQuery, JobState
from assay.web.answer import Answer
from assay.web.site import Site

SHOWN = 20
LOOKED_AT = 1000
"""Jobs that are not ok now, of which words are looked through."""
LONGEST = 200
HEADER = ("found_by", "run", "case", "flow", "text")


class Hit(msgspec.Struct, frozen=True):
    """A job that said it."""

    job: JobState
    line: str


class Found(msgspec.Struct, frozen=True):
    """By each way in which it was looked for."""

    text: str
    by_commit: tuple[RunSummary, ...] = ()
    by_model: tuple[RunSummary, ...] = ()
    by_code: tuple[RunSummary, ...] = ()
    cases: tuple[str, ...] = ()
    said: tuple[Hit, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.by_commit or self.by_model or self.by_code or self.cases or self.said)


def search(site: Site, query: Mapping[str, str]) -> Answer:
    """Raises UsageError for a text that is too long."""
    text = query.get("q", "").strip()
    if len(text) > LONGEST:
        raise UsageError(f"what is searched for has {len(text)} characters; it may have {LONGEST}")
    answer = site.moving.get(("search", text), lambda: _look(site, text)) if text else Found("")
    values = {"found": answer, "shown": SHOWN, "looked_at": LOOKED_AT}
    return Answer("search.html.j2", values, answer, HEADER, _rows(answer))


def _look(site: Site, text: str) -> Found:
    runs = site.store.runs
    return Found(
        text,
        by_commit=tuple(runs(SHOWN, RunSearch(commit=text.lower()))) if re.fullmatch("[0-9a-fA-F]{4,40}", text) else (),
        by_model=tuple(runs(SHOWN, RunSearch(model=text))),
        by_code=tuple(runs(SHOWN, RunSearch(code=text.lower().replace(" ", "_"))))
        or tuple(runs(SHOWN, RunSearch(code=text))),
        cases=site.store.matrix(CellQuery(case=text), 0, SHOWN, 0, 1).cases,
        said=tuple(Hit(*fields) for fields in site.store.said(text, LOOKED_AT, SHOWN)),
    )


def _rows(answer: Found) -> list[Sequence[object]]:
    ways = (("commit", answer.by_commit), ("model", answer.by_model), ("code", answer.by_code))
    rows: list[Sequence[object]] = [(way, run.id, "", "", run.commit) for way, runs in ways for run in runs]
    rows += [("case", "", case, "", "") for case in answer.cases]
    rows += [("text", hit.job.run, hit.job.case, hit.job.flow, hit.line) for hit in answer.said]
    return rows
